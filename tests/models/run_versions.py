#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports programs written by several releases of torch with `aton export` and compares ONNX Runtime with torch's results.

    tests/models/run_versions.py --aton build/release/aton --folder ../shared/formats/versions [--opsets 18,20]
                                 [--only lstm,autocast] [--verbose]

The folder has VERSION/NAME.pt2, VERSION/NAME.decomp.pt2 (after run_decompositions()) and VERSION/NAME.npz: inputs in0,
in1, ... and outputs out0, out1, ..., buf.NAME and mut.inN (new values of buffers and inputs), a second call with the
suffix _2; the names in `bf16` are bfloat16, stored as float32.

Prints one line for each version, and every program with an unexpected result. Exits with 1 if a program is wrong, is refused
without being listed in REFUSED, or is listed there and right."""

import argparse
import collections
import pathlib
import sys
import tempfile

import ml_dtypes
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]

import checking  # noqa: E402
import engines  # noqa: E402
from checking import Failure, short  # noqa: E402

# (version, program): part of the refusal.
REFUSED = {
    # torch 2.5 wrote a signature that its own run refuses: a float32[5] buffer becomes the new value of an int64 one.
    ("2.5.1", "counter_buffer"): "the program is inconsistent: 'acc' is",
}
# After run_decompositions(), torch up to 2.10 returns states of an LSTM with an extra dimension of 1, also when torch
# runs the program.
STACKED = {"lstm.decomp.pt2", "lstm_last.decomp.pt2"}


def arrays(cases, prefix, suffix):
    """prefix0, prefix1, ... of one call, in the model's order."""
    bf16 = set(map(str, cases["bf16"]))
    out = []
    while (name := f"{prefix}{len(out)}") + suffix in cases.files:
        array = cases[name + suffix]
        out.append(array.astype(ml_dtypes.bfloat16) if name in bf16 else array)
    return out


def states(cases, suffix):
    """{name of the output: new value} of mutated buffers and inputs."""
    names = list(map(str, cases["input_names"]))
    out = {}
    for key in cases.files:
        if key.endswith(suffix) and (suffix or not key.endswith("_2")):
            stem = key.removesuffix(suffix)
            if stem.startswith("buf."):
                out[stem.removeprefix("buf.") + ".out"] = cases[key]
            elif stem.startswith("mut.in"):
                out[names[int(stem.removeprefix("mut.in"))] + ".out"] = cases[key]
    return out


def run(target, opset, inputs):
    """Outputs by name; from the reference evaluator if ONNX Runtime has no kernel (bfloat16)."""
    import onnx

    model = target.read_bytes()
    proto = onnx.load_from_string(model)
    if len(proto.graph.input) != len(inputs):
        raise Failure(f"{len(proto.graph.input)} inputs, expected {len(inputs)}")
    feeds = {meta.name: array for meta, array in zip(proto.graph.input, inputs)}
    try:
        return engines.run(model, proto, opset, feeds)[0]
    except engines.EngineError as e:
        raise Failure(short(e)) from None


def error_of(expected, got):
    if expected.dtype != got.dtype:
        raise Failure(f"dtype {got.dtype}, expected {expected.dtype}")
    if expected.dtype == ml_dtypes.bfloat16:
        expected, got = expected.astype(np.float32), got.astype(np.float32)
    return checking.relative_error(expected, got)


def tolerance_of(array, source):
    """Whether the result, or a region of autocast, has half precision."""
    half = array.dtype in (np.float16, ml_dtypes.bfloat16) or source.name.startswith(("autocast", "bf16"))
    return 2e-2 if half else 1e-4


def check(aton, source, cases, opset, target):
    """Raises Failure if the result is wrong; returns the message of a refusal, or None if the result is right."""
    target.unlink(missing_ok=True)
    done = checking.subprocess.run([aton, "export", source, "-o", target, "--opset", str(opset)], capture_output=True,
                                   text=True, timeout=60, check=False)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        if done.returncode != 1 or not lines or target.exists():
            raise Failure(f"exit code {done.returncode}: {short(done.stderr)}")
        return lines[-1].replace(f"{source}: ", "")
    checking.node_count(target)
    for suffix in ("", "_2"):
        if f"in0{suffix}" not in cases.files:
            continue
        got = run(target, opset, arrays(cases, "in", suffix))
        expected, changed = arrays(cases, "out", suffix), states(cases, suffix)
        results = [array for name, array in got.items() if name not in changed]
        if len(results) != len(expected) or not set(changed) <= set(got):
            wanted = ", ".join(changed) or "no states"
            raise Failure(f"outputs {', '.join(got)}; expected {len(expected)}, and {wanted}")
        pairs = [(f"output {i}", *pair) for i, pair in enumerate(zip(expected, results))]
        pairs += [(name, array, got[name]) for name, array in changed.items()]
        for name, wanted, found in pairs:
            if source.name in STACKED and found.ndim == wanted.ndim + 1 and version_key(source.parent) <= [2, 10, 0]:
                found = found[0]
            try:
                error = error_of(wanted, found)
            except Failure as failure:
                raise Failure(f"{name}{suffix}: {failure}") from None
            if not error <= tolerance_of(wanted, source):
                raise Failure(f"{name}{suffix}: error {error:.2g}")
    return None


def version_key(folder):
    return [int(n) for n in folder.name.split(".")]


def programs(folder, only):
    """(file, name, "raw" or "decomp") of one version."""
    for source in sorted(folder.glob("*.pt2")):
        stem = source.name.removesuffix(".pt2")
        name = stem.removesuffix(".decomp")
        if not only or any(word in name for word in only):
            yield source, name, "raw" if name == stem else "decomp"


def verdict_of(aton, source, name, opset, target):
    """("right", "refused" or "wrong", what was said, whether that is expected)"""
    words = REFUSED.get((source.parent.name, name))
    with np.load(source.parent / f"{name}.npz") as cases:
        try:
            said = check(aton, source, cases, opset, target)
        except Failure as failure:
            return "wrong", str(failure), False
    if said is None:
        return "right", "", words is None
    return "refused", said, words is not None and words in said


def run_version(folder, options, target):
    """Prints the table of one version; returns the number of unexpected results."""
    counts, notes, bad = collections.defaultdict(collections.Counter), [], 0
    for source, name, kind in programs(folder, options.only):
        for opset in options.opsets:
            verdict, said, expected = verdict_of(options.aton, source, name, opset, target)
            counts[opset, kind][verdict] += 1
            bad += not expected
            if said or not expected or options.verbose:
                sign = "" if expected else "NOT EXPECTED: "
                notes.append(f"  {sign}{folder.name}/{source.name} at {opset}: {verdict}{said and ': ' + said}")
    for (opset, kind), c in sorted(counts.items()):
        numbers = f"{sum(c.values()):6} {c['right']:5} {c['refused']:7} {c['wrong']:5}"
        print(f"{folder.name:8} {opset:5} {kind:>7} {numbers}")
    for note in notes:
        print(note)
    return bad


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--opsets", default="18,20")
    parser.add_argument("--only", default="", help="only programs whose name contains one of these")
    parser.add_argument("--verbose", action="store_true", help="print every program")
    options = parser.parse_args(words)
    options.only = [word for word in options.only.split(",") if word]
    options.opsets = [int(o) for o in options.opsets.split(",")]
    print("torch    opset    kind  files right refused wrong")
    with tempfile.TemporaryDirectory() as work:
        folders = sorted((f for f in options.folder.iterdir() if f.is_dir()), key=version_key)
        bad = sum(run_version(folder, options, pathlib.Path(work, "model.onnx")) for folder in folders)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
