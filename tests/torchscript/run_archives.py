#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports the TorchScript archives that make_archives.py made with several releases of torch, with `aton export --input` and with
PyTorch's own exporter, and compares ONNX Runtime with what torch returned when it saved them.

    tests/torchscript/zoo.sh --aton build/release/aton [--only resnet,lstm] [--no-torch] [--check] [--jobs 2] [--report docs/results/torchscript-zoo.md]

zoo.sh installs the releases of torch, makes the archives and runs this. PyTorch's exporter is torch.onnx.export(dynamo=False) of the newest
release, on the loaded archive; a model with a dynamic dimension gets it in both exporters, and runs at two sizes.

--check exits with 1 if there are fewer than 150 archives, fewer than 95 % of them are right, PyTorch's exporter has more of them right, or a
model is wrong rather than refused."""

import argparse
import dataclasses
import hashlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "oracle")]

from worker_pool import run_jobs  # noqa: E402

LEAST, LEAST_ARCHIVES = 0.95, 150
TOLERANCE = 1e-4
SECONDS = 120
OPSET = 17


@dataclasses.dataclass
class Result:
    status: str  # "right", "refused" or "wrong"
    reason: str = ""
    error: float = 0.0


def first_line(e):
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    return f"{type(e).__name__}: {lines[0] if lines else ''}"[:300]


def compare(model, arrays, outputs):
    """The largest error of all outputs, relative to the largest element."""
    import numpy
    import onnx
    import onnxruntime
    onnx.checker.check_model(str(model), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    worst = 0.0
    for example in "01":
        given = {key.removeprefix(f"{example}/in/").replace(".", "_"): arrays[key] for key in arrays.files if key.startswith(f"{example}/in/")}
        found = session.run(None, {each.name: given[each.name] for each in session.get_inputs()})
        wanted = [arrays[f"{example}/out/{i}"] for i in range(outputs)]
        if len(found) < outputs:
            raise ValueError(f"{outputs} results, but {len(found)} outputs")
        for want, got in zip(wanted, found):
            if want.shape != got.shape or (want.dtype != got.dtype and want.ndim != 0):
                raise ValueError(f"{got.dtype}{list(got.shape)}, torch has {want.dtype}{list(want.shape)}")
            if want.dtype.kind in "biu":
                if not numpy.array_equal(want, got):
                    raise ValueError("other integers")
                continue
            finite = numpy.isfinite(want)
            if not numpy.array_equal(numpy.where(finite, 0, want), numpy.where(finite, 0, got), equal_nan=True):
                raise ValueError("infinities or NaN in other places")
            if finite.any():
                difference = numpy.abs(want[finite].astype(numpy.complex128) - got[finite]).max()
                worst = max(worst, float(difference / max(1e-6, numpy.abs(want[finite]).max())))
    return worst


def judged(model, arrays):
    outputs = sum(key.startswith("0/out/") for key in arrays.files)
    try:
        error = compare(model, arrays, outputs)
    except Exception as e:  # of any package
        return Result("wrong", first_line(e))
    return Result("right", error=error) if error <= TOLERANCE else Result("wrong", f"error {error:.1e}", error)


def input_options(about, arrays):
    out = []
    for name, axes in about["dynamic"].items():
        array = arrays[f"0/in/{name}"]
        sizes = ",".join("n" if axis in axes else str(size) for axis, size in enumerate(array.shape))
        out += ["--input", f"{name}:{array.dtype}[{sizes}]"]
    return out


def with_aton(aton, archive, about, arrays, model):
    command = [aton, "export", str(archive), "-o", str(model), "-q", "--opset", str(OPSET), *input_options(about, arrays)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Result("wrong", f"not done after {SECONDS} s")
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        said = lines[-1].removeprefix("aton: ").replace(f"{archive}: ", "") if lines else ""
        return Result("refused" if done.returncode == 1 and len(lines) == 1 else "wrong", said[:400])
    return judged(model, arrays)


def arguments(about, arrays):
    """The arguments of forward, of the first example."""
    import torch
    out = []
    for name, kind in about["kinds"].items():
        inner = {key.removeprefix(f"0/in/{name}."): torch.from_numpy(arrays[key]) for key in arrays.files if key.startswith(f"0/in/{name}.")}
        if kind == "dict":
            out.append(inner)
        elif kind in ("list", "tuple"):
            out.append((list if kind == "list" else tuple)(inner.values()))
        else:
            out.append(torch.from_numpy(arrays[f"0/in/{name}"]))
    return tuple(out)


def with_torch(archive, about, arrays, model):
    import torch
    torch.set_num_threads(1)
    names = list(about["dynamic"])
    axes = {name.replace(".", "_"): {axis: "n" for axis in axes} for name, axes in about["dynamic"].items() if axes}
    try:
        with torch.no_grad():
            torch.onnx.export(torch.jit.load(str(archive)), arguments(about, arrays), str(model), dynamo=False, opset_version=OPSET,
                              input_names=[name.replace(".", "_") for name in names], dynamic_axes=axes or None)
    except Exception as e:  # its exceptions have no common base class
        return Result("refused", first_line(e))
    return judged(model, arrays)


def kept_with_torch(archive, *rest):
    """PyTorch's result, which is kept beside the archive."""
    kept = archive.with_suffix(".torch.json")
    made_of = [importlib.metadata.version("torch"), importlib.metadata.version("onnxruntime"), hashlib.sha256(archive.read_bytes()).hexdigest()]
    if kept.exists() and (found := json.loads(kept.read_text()))["of"] == made_of:
        return Result(**found["result"])
    result = with_torch(archive, *rest)
    kept.write_text(json.dumps({"of": made_of, "result": dataclasses.asdict(result)}))
    return result


def run_one(archive, options):
    import numpy
    warnings.filterwarnings("ignore")
    about = json.loads(archive.with_suffix(".json").read_text())
    model = archive.with_suffix(".onnx")
    out = {"name": archive.stem, **{key: about[key] for key in ("torch", "way", "parameters")}, "dynamic": any(about["dynamic"].values())}
    with numpy.load(archive.with_suffix(".npz")) as arrays:
        try:
            out["aton"] = dataclasses.asdict(with_aton(options.aton, archive, about, arrays, model))
            if options.torch:
                out["other"] = dataclasses.asdict(kept_with_torch(archive, about, arrays, archive.with_suffix(".torch.onnx")))
        finally:
            for path in (model, archive.with_suffix(".torch.onnx")):
                path.unlink(missing_ok=True)
    return out


def failures_of_check(rows, with_other):
    """What --check objects to."""
    right, wrong = [r for r in rows if r["aton"]["status"] == "right"], [r for r in rows if r["aton"]["status"] == "wrong"]
    if len(rows) < LEAST_ARCHIVES:
        yield f"{len(rows)} archives, fewer than {LEAST_ARCHIVES}"
    if wrong:
        yield f"{len(wrong)} models are wrong rather than refused: {', '.join(r['name'] for r in wrong)}"
    if len(right) < LEAST * len(rows):
        yield f"{len(right)} of {len(rows)} archives are right, fewer than {LEAST:.0%}"
    if with_other and len(right) < sum(r["other"]["status"] == "right" for r in rows):
        yield "PyTorch's exporter has more of them right"


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"))
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/torchscript/models", help="a folder of archives for each release")
    parser.add_argument("--only", default="", help="only archives whose name contains one of these: resnet,lstm")
    parser.add_argument("--no-torch", dest="torch", action="store_false", help="without PyTorch's exporter")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--report", type=pathlib.Path, help="write the table as Markdown")
    options = parser.parse_args(words)
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    options.aton = str(pathlib.Path(options.aton).resolve())
    archives = sorted(path.with_suffix(".pt") for path in options.work.glob("*/*.npz"))
    archives = [path for path in archives if any(part in f"{path.parent.name}/{path.stem}" for part in options.only.split(","))]
    start = time.monotonic()
    def lost(number, why):
        path = archives[number]
        about = json.loads(path.with_suffix(".json").read_text())
        return {"name": path.stem, "torch": about["torch"], "way": about["way"], "parameters": about["parameters"], "dynamic": False,
                "aton": dataclasses.asdict(Result("wrong", why)), "other": dataclasses.asdict(Result("wrong", why))}
    rows = run_jobs(lambda number: run_one(archives[number], options), len(archives), lost, options.jobs, 4 * SECONDS, chunk=1)
    import archive_report
    print(archive_report.text_table(rows))
    problems = list(failures_of_check(rows, options.torch))
    print("\n".join(["", *problems, archive_report.summary(rows) + f"; {time.monotonic() - start:.0f} s"]))
    if options.report:
        options.report.write_text(archive_report.markdown(rows, OPSET), encoding="utf-8")
    return 1 if options.check and problems else 0


if __name__ == "__main__":
    sys.exit(main())
