#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports the cases of export_cases, runs the models with ONNX Runtime at both sizes, and compares with what libtorch computed.

Usage: compare.py export_cases [--keep FOLDER]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

TOLERANCE = 1e-5  # relative and absolute
LEAST_CASES = 140


def load(folder, name):
    paths = sorted(folder.glob(f"{name}_*.npy"), key=lambda path: int(path.stem.rsplit("_", 1)[1]))
    return [np.load(path) for path in paths]


def differences(case):
    """Every difference of a case, as text."""
    path = case / "model.onnx"
    if not path.exists():
        return ["was not exported"]
    onnx.checker.check_model(str(path), full_check=True)
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = []
    runs = sorted(folder for folder in case.iterdir() if folder.is_dir())
    if len(runs) != 2:
        return ["has not been run at two sizes"]
    for run in runs:
        given = dict(zip((i.name for i in session.get_inputs()), load(run, "input")))
        expected = load(run, "output")
        got = session.run(None, given)
        if len(got) < len(expected) or not expected:
            found.append(f"batch {run.name}: {len(got)} outputs, expected {len(expected)}")
        for number, (a, b) in enumerate(zip(got, expected)):
            if a.dtype != b.dtype or a.shape != b.shape:
                found.append(f"batch {run.name}, output {number}: {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}")
            elif not np.allclose(a, b, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
                worst = np.max(np.abs(a.astype(np.float64) - b.astype(np.float64)))
                found.append(f"batch {run.name}, output {number}: differs by up to {worst:.3g}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--keep", type=pathlib.Path)
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = words.keep or pathlib.Path(temporary)
        made = subprocess.run([words.program, str(folder)], capture_output=True, text=True)
        print(made.stdout, made.stderr, sep="", end="")
        cases = sorted(path for path in folder.iterdir() if path.is_dir())
        wrong = 0
        for case in cases:
            try:
                found = differences(case)
            except Exception as problem:  # whatever ONNX Runtime throws is a result
                found = [str(problem).splitlines()[0]]
            for each in found:
                print(f"{case.name}: {each}")
            wrong += bool(found)
    print(f"{len(cases) - wrong} of {len(cases)} right")
    return made.returncode != 0 or wrong != 0 or len(cases) < LEAST_CASES


if __name__ == "__main__":
    sys.exit(main())
