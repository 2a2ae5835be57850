# SPDX-License-Identifier: MIT
"""Every pair of documented features in an operator and its row: legal, and ONNX Runtime's results equal NumPy's, inlined and not.

usage: feature_pairs_run_test.py WRITE_FEATURE_PAIRS OPSET...
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx

from features import BIAS, FEATURES, IMPOSSIBLE, WITHOUT_A_BODY, Case, cases, expected, pairs_of, possible_pairs
from optimized_graphs_run_test import session_of

KINDS = ("plain", "optimized", "inlined", "best")


def problem_of(path: Path, case: Case) -> str:
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    opset = max(i.version for i in model.opset_import if i.domain == "")
    if opset < 21 and model.ir_version >= 10:
        return f"IR {model.ir_version} for opset {opset}"
    if path.name.endswith((".inlined.onnx", ".best.onnx")) and model.functions:
        return "has functions"
    session = session_of(path)
    for x in (numpy.array([[1, -2, 0.5], [-0.25, 3, 1.5]], "float32"), -numpy.array([[1, 2, 0.5], [0.25, -1, 1]], "float32")):
        right = [r for variant in (0, 1) for r in expected(case, x, variant)]
        results = session.run(None, {i.name: {"x": x, "bias": BIAS}[i.name] for i in session.get_inputs()})
        if len(results) != len(right):
            return f"{len(results)} results, expected {len(right)}"
        for i, (found, wanted) in enumerate(zip(results, right, strict=True)):
            if found.dtype != wanted.dtype or found.shape != wanted.shape:
                return f"result {i} is {found.dtype}{found.shape}, expected {wanted.dtype}{wanted.shape}"
            if not numpy.allclose(found, wanted, rtol=1e-4, atol=1e-4):
                return f"result {i}: {found.ravel()[:6]}, expected {wanted.ravel()[:6]}"
    return ""


def main() -> int:
    wrong = checked = 0
    opsets = list(map(int, sys.argv[2:]))
    with tempfile.TemporaryDirectory() as folder:
        written = subprocess.run([sys.argv[1], folder, *sys.argv[2:]], check=False)
        for number, case in enumerate(cases()):
            for opset in (o for o in opsets if o >= max(f.since for f in case)):
                for kind in KINDS:
                    checked += 1
                    try:
                        problem = problem_of(Path(folder, f"{number}_{opset}.{kind}.onnx"), case)
                    except Exception as error:
                        problem = " ".join(str(error).split())[:400]
                    if problem:
                        wrong += 1
                        print(f"{number}, {', '.join(f.name for f in case)}, opset {opset}, {kind}: {problem}")
    for pair, reason in IMPOSSIBLE.items():
        print(f"impossible: {' and '.join(sorted(pair))}: {reason}")
    for what, reason in WITHOUT_A_BODY.items():
        print(f"impossible: {what}: {reason}")
    met = set().union(*map(pairs_of, cases()))
    print(f"{len(FEATURES)} features, {len(met)} pairs in {len(cases())} cases, {checked} models, {wrong} wrong")
    return 0 if wrong == 0 and met == possible_pairs() and written.returncode == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
