#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures the CPU kernels, compared with PyTorch's with as many threads, `memcpy`, and plain Eigen.

    benchmarks/runtime/run.py [--program build/release/runtime_benchmark] [--python python3] [--threads 2] [--runs 5]
    [--elements 16777216] [--only add,exp] [--models a.onnx,b.onnx] [--check]

The target runtime_benchmark builds the program. --python names a Python with torch. Both run in turn; a row has the minimum
seconds of all runs. --models runs models instead, compared with ONNX Runtime: full_size_models.py writes two. --check exits
with 1 if a limit in LIMITS is exceeded.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

CHECKED = ("add", "mul", "relu", "exp", "tanh", "sum", "max", "softmax")
LIMITS = {"torch": 0.7, "eigen": 1 / 1.5, "onnxruntime": 1 / 4}  # throughput, as a multiple of theirs


def lines(command, threads):
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    return [json.loads(line) for line in done.stdout.splitlines()]


def measure(options):
    """{operator: {"bytes": ..., "aton": seconds, "torch": seconds}}"""
    found = {}
    shared = ["--elements", str(options.elements), "--seconds", str(options.seconds)]
    if options.models:
        shared += ["--models", options.models]
    sides = {"aton": [str(options.program), *shared, *(["--only", options.only] if options.only else [])],
             "torch": [options.python, str(HERE / "torch_side.py"), str(options.elements), str(options.seconds),
                       str(options.threads), *([options.only] if options.only else [])]}
    if options.models:
        sides["onnxruntime"] = [options.python, str(HERE / "onnxruntime_side.py"), options.models, str(options.seconds),
                                str(options.threads)]
        del sides["torch"]
    for i in range(options.runs):  # interleaved, so that a slow moment of the machine affects both
        print(f"run {i + 1} of {options.runs}", file=sys.stderr)
        for side, command in sides.items():
            for line in lines(command, options.threads):
                row = found.setdefault(line["operator"], {})
                row.setdefault("bytes", line.get("bytes"))
                row[side] = min(row.get(side, float("inf")), line["seconds"])
    return found


def table(found):
    if any("onnxruntime" in row for row in found.values()):
        return "| model | Aton | ONNX Runtime | ratio of times |\n|---|--:|--:|--:|\n" + "".join(
            f"| {pathlib.Path(name).stem} | {row['aton'] * 1e3:.1f} ms | {row['onnxruntime'] * 1e3:.1f} ms "
            f"| {row['aton'] / row['onnxruntime']:.2f} |\n" for name, row in found.items())
    out = "| operator | Aton | PyTorch | ratio |\n|---|--:|--:|--:|\n"
    for name, row in found.items():
        unit = "GFLOP/s" if "matmul" in name or "conv" in name else "GB/s"
        cells = [f"{row['bytes'] / row[side] / 1e9:.1f} {unit}" if side in row else "" for side in ("aton", "torch")]
        ratio = f"{row['torch'] / row['aton']:.2f}" if "torch" in row else ""
        out += f"| {name} | {cells[0]} | {cells[1]} | {ratio} |\n"
    return out


def problems(found):
    for name in CHECKED:
        row = found.get(name)
        if row and row["torch"] / row["aton"] < LIMITS["torch"]:
            yield f"{name}: {row['torch'] / row['aton']:.2f} of PyTorch's throughput, required {LIMITS['torch']}"
    for name, row in found.items():
        if "onnxruntime" in row and row["onnxruntime"] / row["aton"] < LIMITS["onnxruntime"]:
            yield f"{name}: {row['aton'] / row['onnxruntime']:.2f} x the time of ONNX Runtime, allowed 4"
        alone = found.get(f"eigen_{name}")
        if alone and alone["aton"] / row["aton"] < LIMITS["eigen"]:
            yield f"{name}: {row['aton'] / alone['aton']:.2f} x the time of plain Eigen, allowed 1.5"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build" / "release" / "runtime_benchmark")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--elements", type=int, default=1 << 24)
    parser.add_argument("--seconds", type=float, default=0.2, help="time per operator and run")
    parser.add_argument("--only", default="", help="operators, separated by commas")
    parser.add_argument("--models", default="", help="files, separated by commas")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found = measure(options)
    print(table(found), end="")
    broken = list(problems(found))
    for problem in broken:
        print(problem, file=sys.stderr)
    sys.exit(1 if options.check and broken else 0)


if __name__ == "__main__":
    main()
