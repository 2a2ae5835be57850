#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Saves modules with torch.jit.save, traced and scripted, exports the archives with `aton export --input`, and compares ONNX Runtime with
torch on two inputs; where a dimension is dynamic, the second one has another size.

    tests/models/torchscript.py --aton build/release/aton [--quick | --rest] [--only NAME,...]

Each archive is exported with static sizes and, if the module allows it, with a dynamic batch. ONNX's checker must accept the model. Some
archives must be refused: then the message must have the line of the Python code. Exit code 0; 1 if anything is wrong; 77 if torch is not
installed. Models whose package (torchvision, transformers) is missing are skipped, and counted."""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]

import packages  # noqa: E402

SECONDS = 60
TOLERANCE = 1e-4


def flatten(x):
    import torch
    if isinstance(x, (list, tuple)):
        return [leaf for each in x for leaf in flatten(each)]
    if isinstance(x, dict):
        return [leaf for each in x.values() for leaf in flatten(each)]
    return [] if x is None else [torch.as_tensor(x)]


def input_option(name, tensor, dynamic):
    if isinstance(tensor, (bool, int, float)):
        return ["--input", f"{name}:{type(tensor).__name__}"]
    sizes = ["batch" if axis in dynamic else str(size) for axis, size in enumerate(tensor.shape)]
    return ["--input", f"{name}:{str(tensor.dtype).removeprefix('torch.')}[{','.join(sizes)}]"]


def named_inputs(arguments):
    """{"x": tensor, "pair": (a, b)} -> {"x": tensor, "pair.0": a, "pair.1": b}"""
    out = {}
    for name, each in arguments.items():
        items = each.items() if isinstance(each, dict) else enumerate(each) if isinstance(each, (list, tuple)) else None
        if items is None:
            out[name] = each
        else:
            out.update({f"{name}.{key}": tensor for key, tensor in items})
    return out


def compare(archive, model, inputs):
    """The largest error relative to the largest value; raises AssertionError for anything else that is wrong."""
    import numpy as np
    import onnxruntime
    import torch
    copies = {name: [t.clone() for t in each] if isinstance(each, list) else
              tuple(t.clone() for t in each) if isinstance(each, tuple) else
              {k: t.clone() for k, t in each.items()} if isinstance(each, dict) else each.clone()
              if isinstance(each, torch.Tensor) else each
              for name, each in inputs.items()}
    wanted = flatten(torch.jit.load(str(archive))(**copies))
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    plain = {name.replace(".", "_"): tensor for name, tensor in named_inputs(inputs).items()}
    found = session.run(None, {each.name: np.asarray(plain[each.name]) for each in session.get_inputs()})
    assert len(found) >= len(wanted), f"{len(wanted)} results, but {len(found)} outputs"
    worst = 0.0
    for want, got in zip(wanted, found):
        want = want.detach().numpy()
        assert want.shape == got.shape, f"shape {got.shape}, torch has {want.shape}"
        assert want.dtype == got.dtype or want.ndim == 0, f"dtype {got.dtype}, torch has {want.dtype}"
        finite = np.isfinite(want)
        assert (finite == np.isfinite(got)).all(), "infinities or NaN in other places"
        if finite.any():
            difference = np.abs(want[finite].astype(np.float64) - got[finite].astype(np.float64)).max()
            worst = max(worst, difference / max(1e-6, np.abs(want[finite]).max()))
    return float(worst)


def export(aton, archive, model, inputs, dynamic):
    command = [aton, "export", str(archive), "-o", str(model), "-q"]
    for name, tensor in named_inputs(inputs).items():
        command += input_option(name, tensor, dynamic.get(name, ()))
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, done.stderr.strip()


def check(aton, archive, model, inputs, others, dynamic):
    """"right", or what is wrong"""
    import onnx
    status, message = export(aton, archive, model, inputs, dynamic)
    if status != 0:
        return f"refused: {message}"
    try:
        onnx.checker.check_model(str(model), full_check=True)
        worst = max(compare(archive, model, each) for each in (inputs, others))
    except Exception as e:  # whatever a package raises is a failure of this case
        return f"wrong: {type(e).__name__}: {str(e).splitlines()[0][:200]}"
    return "right" if worst <= TOLERANCE else f"wrong: error {worst:.1e}"


def line_of(text):
    """"torchscript_modules.py:12 in forward (code/__torch__/torchscript_modules" of the only line with a text"""
    found = [(path, number) for path in HERE.glob("torchscript_*.py")
             for number, line in enumerate(path.read_text().splitlines(), 1) if line.strip() == text]
    assert len(found) == 1, text
    path, number = found[0]
    return f"{path.name}:{number} in forward (code/__torch__/{path.stem}"


def check_refusal(aton, archive, model, inputs, wanted, line="", dynamic=None):
    status, message = export(aton, archive, model, inputs, dynamic or {})
    if status == 0 or model.exists():
        return "wrong: it was exported"
    if "\n" in message or wanted not in message or (line and line_of(line) not in message):
        return f"wrong: {message}"
    return "right"


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"))
    parser.add_argument("--quick", action="store_true", help="only modules that need nothing but torch")
    parser.add_argument("--rest", action="store_true", help="only those of other packages")
    parser.add_argument("--only", help="only modules whose name contains one of these: resnet,bert")
    options = parser.parse_args(words)
    if packages.is_missing("torch", "onnx", "onnxruntime"):
        return 77
    warnings.filterwarnings("ignore")
    import torch
    import torchscript_modules
    import torchscript_lists
    import torchscript_state
    import torchscript_symbols
    import torchscript_writes
    torch.set_num_threads(1)
    cases = [] if options.rest else [
        *torchscript_modules.hand_made(), *torchscript_writes.cases(), *torchscript_lists.cases(),
        *torchscript_symbols.cases()]
    skipped = []
    if not options.quick:
        more, skipped = torchscript_modules.of_packages()
        cases += more
    if options.only:
        cases = [case for case in cases if any(part in case.name for part in options.only.split(","))]
    aton = str(pathlib.Path(options.aton).resolve())
    problems, exports, refusals = [], 0, 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            torch.manual_seed(len(case.name))
            module, inputs, others = case.make()
            for way in case.ways:
                archive = pathlib.Path(folder) / f"{case.name}_{way}.pt"
                script = torch.jit.script(module) if way == "scripted" else torch.jit.trace(
                    module, example_kwarg_inputs=inputs, check_trace=False, strict=False)
                torch.jit.save(script, str(archive))
                model = archive.with_suffix(".onnx")
                if case.refused:
                    found, refusals = {"refusal": check_refusal(
                        aton, archive, model, inputs, case.refused, case.line, case.dynamic if case.refused_dynamic else {})}, refusals + 1
                else:
                    runs = {"static": (inputs, {})}
                    if case.dynamic:
                        runs["dynamic"] = (others, case.dynamic)
                    found = {name: check(aton, archive, model, inputs, second, dynamic)
                             for name, (second, dynamic) in runs.items()}
                    exports += len(found)
                for name, result in found.items():
                    if result != "right":
                        problems.append(f"{case.name}, {way}, {name}: {result}")
                for path in (archive, model):
                    path.unlink(missing_ok=True)
        if not options.rest and (not options.only or "state" in options.only):
            problems += torchscript_state.check_all(aton, folder, line_of)
            exports, refusals = exports + len(torchscript_state.KEPT), refusals + len(torchscript_state.REFUSED)
    print("\n".join(problems))
    print(f"{exports} exports and {refusals} refusals, {len(problems)} problems, {len(skipped)} skipped "
          f"({', '.join(skipped) or 'none'}); {time.monotonic() - start:.0f} s")
    return 1 if problems or not exports else 0


if __name__ == "__main__":
    sys.exit(main())
