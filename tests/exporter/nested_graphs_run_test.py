# SPDX-License-Identifier: MIT
"""Nested graphs and functions: written models are legal, read back unchanged, and neither passes nor inlining change a result.

usage: nested_graphs_run_test.py WRITE_NESTED_GRAPHS SEEDS OPSET...
"""

import itertools
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx

from optimized_graphs_run_test import difference, session_of


def feeds() -> list[dict[str, numpy.ndarray]]:
    draw = numpy.random.default_rng(5)
    cases = []
    for yes, no, n in itertools.chain(itertools.product([False, True], [False, True], [2]), [(True, False, 0)]):
        x, y = (numpy.round(draw.uniform(-2, 2, [2, 3]), 2).astype("float32") for _ in range(2))
        cases.append({"x": x, "y": y, "yes": numpy.array(yes), "no": numpy.array(no), "n": numpy.array(n, "int64")})
    return cases


def count_nodes(graph: onnx.GraphProto) -> tuple[int, int]:
    """The numbers of all nodes, and of those with nested graphs."""
    nodes = outer = 0
    for node in graph.node:
        inner = [a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
        nodes += 1
        outer += bool(inner)
        for each in inner:
            more, deeper = count_nodes(each)
            nodes, outer = nodes + more, outer + deeper
    return nodes, outer


def of_functions(x: numpy.ndarray, y: numpy.ndarray, yes: numpy.ndarray, **_: numpy.ndarray) -> list[numpy.ndarray]:
    """A second implementation of the operators of function_graph.hpp."""

    def foo(x, y):
        return numpy.tanh(x) * y + numpy.array([0.5, -1, 2], "float32")

    def foo_half(x, y):
        return (x - y) * numpy.float32(0.5)

    def bar(x, y):
        return foo(x, y) if x.sum() > 0 else foo_half(x, y)

    a = foo(x, y)
    b = foo_half(a, y)
    c = b * numpy.float32(-3)
    d = bar(c, y) if yes else numpy.maximum(x * 2, numpy.float32(-0.25))
    return [a, b, y, b, c, d, bar(d, x)]


def run(path: Path, inputs: dict[str, numpy.ndarray]) -> list[numpy.ndarray]:
    session = session_of(path)
    return session.run(None, {i.name: inputs[i.name] for i in session.get_inputs()})


def main() -> int:
    wrong = compared = 0
    sums = {"before": numpy.zeros(2, int), "after": numpy.zeros(2, int)}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, *sys.argv[2:]], check=True)
        models = sorted(Path(folder).glob("*.before.onnx"))
        for path in models:
            stem = path.name.removesuffix(".before.onnx")
            others = {p.name: p for p in Path(folder).glob(f"{stem}.*.onnx") if p != path}
            try:
                for each in (path, *others.values()):
                    onnx.checker.check_model(each, full_check=True)
                if not stem.startswith("nested_"):
                    others["NumPy"] = None
                sums["before"] += count_nodes(onnx.load(path).graph)
                sums["after"] += count_nodes(onnx.load(others[f"{stem}.after.onnx"]).graph)
                for case in feeds():
                    expected = run(path, case)
                    for name, other in others.items():
                        results = run(other, case) if other else of_functions(**case)
                        for i, (a, b) in enumerate(zip(expected, results, strict=True)):
                            compared += 1
                            if what := difference(a, b):
                                wrong += 1
                                print(f"{path.name}, {name}: result {i}: {what}")
            except Exception as error:
                wrong += 1
                print(f"{path.name}: {' '.join(str(error).split())[:500]}")
    before, after = sums["before"], sums["after"]
    print(
        f"{len(models)} graphs, {compared} results compared, {wrong} wrong; {before[0]} nodes became {after[0]}, "
        f"{before[1]} with graphs inside became {after[1]}"
    )
    return 0 if wrong == 0 and before[1] > len(models) and after[0] * 10 < before[0] * 9 else 1


if __name__ == "__main__":
    sys.exit(main())
