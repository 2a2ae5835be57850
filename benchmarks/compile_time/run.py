#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Aton costs a compiler: user seconds (the least of several runs) and template instantiations, beside the standard headers in the same run.

    benchmarks/compile_time/run.py [--compilers g++,clang++-16] [--runs 5] [--check]

Rows: the standard headers alone, <aton/aton.hpp> (the DSL without tables), 400 distinct g.op calls, <aton/mappings.hpp> (the whole library) in one
translation unit. --check exits with 1 above the limits at the end of this file's LIMITS.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]

STANDARD = "#include <string>\n#include <vector>\n#include <span>\n#include <optional>\n"
DSL = "#include <aton/aton.hpp>\n"
LIBRARY = "#include <aton/mappings.hpp>\nauto const* rows() { return &aton::mappings::library()[0]; }\n"

UNARY = ["Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Erf", "Exp", "Floor", "Identity", "IsNaN", "Log", "Neg",
         "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin", "Sinh", "Size", "Shape", "Sqrt", "Softplus", "Softsign", "Tan", "Tanh", "Det",
         "GlobalAveragePool", "GlobalMaxPool", "HardSwish", "Flatten", "LeakyRelu", "Elu", "Selu", "HardSigmoid"]

LIMITS = {  # seconds absolute, or a multiple of the standard headers; either suffices
    "g++": {"dsl": (0.6, 2.5), "per_call": 0.003, "library": 20.0},
    "clang++": {"dsl": (0.8, 2.5), "per_call": 0.003, "library": 20.0},
}


def distinct_calls(count):
    """A program with `count` g.op calls, no two of the same signature: 40 operators at 10 opset ranges."""
    functions = []
    for i in range(count):
        op, since = UNARY[i % len(UNARY)], 14 + i // len(UNARY)
        functions.append(f'inline auto f{i}(aton::dsl::graph<{since}> g, aton::dsl::value x) {{ return g.op<"{op}">(x); }}')
    return DSL + "\n".join(functions) + "\n"


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def instantiations(compiler, flags, source, folder):
    """Class and function templates instantiated, by Clang's own time trace."""
    if "clang" not in compiler:
        return None
    output = folder / "trace.o"
    subprocess.run([compiler, *flags, "-ftime-trace", "-ftime-trace-granularity=0", "-c", str(source), "-o", str(output)], check=True)
    events = json.loads(output.with_suffix(".json").read_text())["traceEvents"]
    return sum(event["name"] in ("InstantiateClass", "InstantiateFunction") for event in events)


def measure(compiler, runs, folder):
    flags = ["-std=c++20", "-I", str(ROOT / "include")]
    programs = {"standard": (STANDARD, "-fsyntax-only"), "dsl": (DSL, "-fsyntax-only"), "calls": (distinct_calls(400), "-fsyntax-only"),
                "library": (LIBRARY, "-c")}
    seconds = {name: float("inf") for name in programs}
    for name, (text, _) in programs.items():
        (folder / f"{name}.cpp").write_text(text)
    for i in range(runs):  # interleaved: a slow moment of the machine meets all rows
        for name, (_, mode) in programs.items():
            if name in ("calls", "library") and i >= 2:
                continue
            command = [compiler, *flags, mode, str(folder / f"{name}.cpp")] + (["-o", os.devnull] if mode == "-c" else [])
            seconds[name] = min(seconds[name], user_seconds(command))
    counts = {name: instantiations(compiler, flags, folder / f"{name}.cpp", folder) for name in programs}
    return seconds, counts


def judge(compiler, seconds):
    limits = LIMITS["clang++" if "clang" in compiler else "g++"]
    absolute, multiple = limits["dsl"]
    per_call = (seconds["calls"] - seconds["dsl"]) / 400
    return [problem for broken, problem in (
        (seconds["dsl"] > absolute and seconds["dsl"] > multiple * seconds["standard"], f"the DSL takes {seconds['dsl']:.2f} s"),
        (per_call > limits["per_call"], f"a g.op call takes {per_call * 1000:.2f} ms"),
        (seconds["library"] > limits["library"], f"the library takes {seconds['library']:.1f} s")) if broken]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="g++,clang++-16,clang++-19")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    problems = []
    print(f"{'':12} {'standard':>10} {'DSL':>8} {'ratio':>6} {'per g.op':>9} {'library':>8}   instantiations: DSL, 400 calls, library")
    for compiler in arguments.compilers.split(","):
        if not shutil.which(compiler):
            print(f"{compiler:12} not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            seconds, counts = measure(compiler, arguments.runs, pathlib.Path(folder))
        per_call = (seconds["calls"] - seconds["dsl"]) / 400 * 1000
        shown = ", ".join(str(counts[name]) for name in ("dsl", "calls", "library")) if counts["dsl"] else "-"
        print(f"{compiler:12} {seconds['standard']:8.2f} s {seconds['dsl']:6.2f} s {seconds['dsl'] / seconds['standard']:5.2f}x "
              f"{per_call:6.2f} ms {seconds['library']:6.1f} s   {shown}", flush=True)
        problems += [f"{compiler}: {problem}" for problem in judge(compiler, seconds)]
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if arguments.check and problems else 0)


if __name__ == "__main__":
    main()
