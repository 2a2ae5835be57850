#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures what Aton costs a compiler: user seconds (the minimum of several runs) and template instantiations, and those of the standard headers.

    benchmarks/compile_time/run.py [--compilers g++,clang++-16] [--runs 5] [--check]

Rows: the standard headers alone, <aton/aton.hpp> (the DSL without tables), 400 distinct g.op calls, 200 declared operators with mappings on top of
the DSL, <aton/mappings.hpp> (the whole library) in one translation unit, also for each of its rows. --check exits with 1 if a limit in
LIMITS is exceeded.
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

LIMITS = {  # seconds; for the DSL absolute, or a multiple of the standard headers: either suffices. A row: 18 s for 764 rows.
    "g++": {"dsl": (0.6, 2.5), "per_call": 0.0025, "row": 0.0235, "declared": 3.0},
    "clang++": {"dsl": (0.75, 2.5), "per_call": 0.0025, "row": 0.0235, "declared": 3.0},
}
ROWS = sum(header.read_text().count('symbolic<"') for header in (ROOT / "include/aton/mappings").rglob("*.hpp"))


def distinct_calls(count):
    """A program with `count` g.op calls, no two of the same signature: 40 operators at 10 opset ranges."""
    functions = []
    for i in range(count):
        op, since = UNARY[i % len(UNARY)], 14 + i // len(UNARY)
        functions.append(f'inline auto f{i}(aton::dsl::graph<{since}> g, aton::dsl::value x) {{ return g.op<"{op}">(x); }}')
    return DSL + "\n".join(functions) + "\n"


def declared_operators(count):
    """A program with `count` declared operators of eight shapes in one domain, and as many rows that call them."""
    shapes = [("T X", "value x", "x", ""),
              ("T X, T Y", "value x, value y", "x, y", ""),
              ("T X, T? Y, float alpha", "value x, optional_value y, double a", 'x, y, attr_f<"alpha">(a)', ""),
              ("T X, int n=3, string mode='a'", "value x, std::int64_t n", 'x, attr_i<"n">(n)', ""),
              ("T X, int[] pads=[1, 2], float eps=1e-5", "value x, std::span<std::int64_t const> pads", 'x, attr_i<"pads">(pads)', ""),
              ("tensor(int64) At, T... Xs", "value at, std::span<value const> xs", "at, xs", ""),
              ("T X, T Y, T? B, float alpha, float beta=0.5", "value x, value y, double a", 'x, y, attr_f<"alpha">(a), attr_f<"beta">(2.0)', ""),
              ("T X, float[] scales=[1, 2], int axis=-1", "value x, double s", 'x, attr_f<"scales">({s, 2.0}), attr_i<"axis">(1)', "")]
    schemas = {"value x": "Tensor x", "value y": "Tensor y", "optional_value y": "Tensor? y", "double a": "float a", "double s": "float s",
               "std::int64_t n": "int n", "std::span<std::int64_t const> pads": "int[] pads", "value at": "Tensor at",
               "std::span<value const> xs": "Tensor[] xs"}
    operators, rows = [], []
    for i in range(count):
        inputs, parameters, arguments, _ = shapes[i % len(shapes)]
        rule = "like(X)" if i % 2 == 0 and "X" in inputs.split(",")[0] else ""
        operators.append(f'    op<"Op{i}({inputs}) -> (T Z{" = " + rule if rule else ""})", "T: float16, float, double">')
        schema = ", ".join(schemas[each] for each in parameters.split(", "))
        rows.append(f'    symbolic<"my_ops::op{i}({schema}) -> Tensor">([](graph<13, my_domain> g, {parameters}) -> value '
                    f'{{ return g.op<"my_domain::Op{i}">({arguments}); }})')
    return (DSL + "using namespace aton::dsl;\ninline constexpr auto my_domain = domain<\"my_domain\", 1,\n" + ",\n".join(operators)
            + ">{};\ninline constexpr auto rows = table(\n" + ",\n".join(rows) + ");\n"
            + "auto const* all() { return &rows; }\n")


def user_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def instantiations(compiler, flags, source, folder):
    """The number of instantiated class and function templates, from Clang's time trace."""
    if "clang" not in compiler:
        return None
    output = folder / "trace.o"
    subprocess.run([compiler, *flags, "-ftime-trace", "-ftime-trace-granularity=0", "-c", str(source), "-o", str(output)], check=True)
    events = json.loads(output.with_suffix(".json").read_text())["traceEvents"]
    return sum(event["name"] in ("InstantiateClass", "InstantiateFunction") for event in events)


def measure(compiler, runs, folder):
    flags = ["-std=c++20", "-I", str(ROOT / "include")]
    programs = {"standard": (STANDARD, "-fsyntax-only"), "dsl": (DSL, "-fsyntax-only"), "calls": (distinct_calls(400), "-fsyntax-only"),
                "declared": (declared_operators(200), "-c"), "library": (LIBRARY, "-c")}
    seconds = {name: float("inf") for name in programs}
    for name, (text, _) in programs.items():
        (folder / f"{name}.cpp").write_text(text)
    for i in range(runs):  # interleaved, so that a slow moment of the machine affects all rows
        for name, (_, mode) in programs.items():
            if name in ("calls", "declared", "library") and i >= 2:
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
        (seconds["declared"] - seconds["dsl"] > limits["declared"],
         f"200 declared operators with mappings take {seconds['declared'] - seconds['dsl']:.1f} s"),
        (seconds["library"] > limits["row"] * ROWS,
         f"a row of the library takes {seconds['library'] / ROWS * 1000:.1f} ms ({seconds['library']:.1f} s for {ROWS} rows)")) if broken]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compilers", default="g++,clang++-16,clang++-19")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    problems = []
    print(f"{'':12} {'standard':>10} {'DSL':>8} {'ratio':>6} {'per g.op':>9} {'200 ops':>8} {'library':>8} {'a row':>8}   instantiations: DSL, 400 calls, library")
    for compiler in arguments.compilers.split(","):
        if not shutil.which(compiler):
            print(f"{compiler:12} not installed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            seconds, counts = measure(compiler, arguments.runs, pathlib.Path(folder))
        per_call = (seconds["calls"] - seconds["dsl"]) / 400 * 1000
        shown = ", ".join(str(counts[name]) for name in ("dsl", "calls", "library")) if counts["dsl"] else "-"
        print(f"{compiler:12} {seconds['standard']:8.2f} s {seconds['dsl']:6.2f} s {seconds['dsl'] / seconds['standard']:5.2f}x "
              f"{per_call:6.2f} ms {seconds['declared'] - seconds['dsl']:6.2f} s {seconds['library']:6.1f} s {seconds['library'] / ROWS * 1000:5.1f} ms   {shown}", flush=True)
        problems += [f"{compiler}: {problem}" for problem in judge(compiler, seconds)]
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if arguments.check and problems else 0)


if __name__ == "__main__":
    main()
