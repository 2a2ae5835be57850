# SPDX-License-Identifier: MIT
"""Models with nested graphs, sequences, optionals and declared operators: they are legal, and ONNX Runtime's results equal numpy's.

usage: language_models_run_test.py WRITE_LANGUAGE_MODELS OPSET...
"""

import itertools
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy
import onnx
import onnxruntime

Arrays = dict[str, numpy.ndarray]
draw = numpy.random.default_rng(11)


def floats(*shape: int) -> numpy.ndarray:
    return numpy.round(draw.uniform(-2, 2, shape), 2).astype("float32")


def flags(names: str) -> Iterator[dict[str, bool]]:
    for values in itertools.product([False, True], repeat=len(names.split())):
        yield dict(zip(names.split(), map(numpy.array, values), strict=True))


def branches() -> Iterator[tuple[Arrays, list]]:
    for case in flags("c"):
        x = floats(2, 3)
        x[1, 2] = numpy.nan
        yield {**case, "x": x}, [numpy.maximum(x, -2), x] if case["c"] else [x / 2, x * numpy.float32(-2)]


def loops() -> Iterator[tuple[Arrays, list]]:
    for case, n, limit in itertools.product(flags("go"), [0, 1, 6], [4.0, 1e6]):
        x = numpy.abs(floats(3)) + numpy.float32(0.25)
        total, steps, shown = numpy.zeros(3, "float32"), 0, []
        keep = bool(case["go"])
        while keep and steps < n:
            turn = numpy.float32(steps)
            total = total + x * turn
            shown.append(total - numpy.float32(limit) if steps % 2 else x + turn)
            steps += 1
            keep = total.sum() < limit
        stacked = numpy.stack(shown) if shown else numpy.zeros((0, 3), "float32")
        feeds = {**case, "x": x, "n": numpy.array(n, "int64"), "limit": numpy.array(limit, "float32")}
        yield feeds, [total, numpy.int64(steps), stacked]


def plain_loops() -> Iterator[tuple[Arrays, list]]:
    for n in (0, 1, 5):
        x = floats(2)
        seen = numpy.array([i * (n - i) for i in range(n)], "int64")
        yield {"n": numpy.array(n, "int64"), "x": x}, [x * numpy.float32(2**n), numpy.int64(0), seen]


def scans() -> Iterator[tuple[Arrays, list]]:
    a, b, xs, ys = floats(3), floats(3), floats(4, 3), floats(3, 4)
    total, product, rows, columns = a, b, [], []
    for x, y in zip(xs[::-1], ys.T, strict=True):
        total = total + x
        rows.append(total - y)
        columns.insert(0, product + b)
        product = product * y
    yield {"a": a, "b": b, "xs": xs, "ys": ys}, [total, product, numpy.stack(rows), numpy.stack(columns, 1)]


def sequences() -> Iterator[tuple[Arrays, list]]:
    for n in (0, 1, 2, -1):
        x, y = floats(2, 3), floats(2, 3)
        three = [x, -x, y]
        less = [each for i, each in enumerate(three) if i != n % 3]
        yield (
            {"x": x, "y": y, "n": numpy.array(n, "int64")},
            [numpy.concatenate(less, 1), numpy.stack(three, -1), numpy.int64(2), numpy.int64(0), y, x[:, :1], x[:, 1:], three[n]],
        )


def mapped() -> Iterator[tuple[Arrays, list]]:
    x, y = floats(4, 2), floats(2)
    yield {"x": x, "y": y}, [x + (y + y), numpy.full(4, 2, "int64")]


def optionals() -> Iterator[tuple[Arrays, list]]:
    x = floats(2, 3)
    yield {"x": x}, [x, numpy.array(True), -x]


def functions() -> Iterator[tuple[Arrays, list]]:
    def scaled(x, bias=None, alpha=0.5, n=1):
        y = x * numpy.float32(alpha) + numpy.float32(n) * x
        return y if bias is None else y - bias

    def twice(x):
        return scaled(numpy.maximum(x, numpy.float32(-0.5)) if case["c"] else x, x, 2.0)

    for case in flags("c"):
        x = floats(2, 3)
        half = scaled(x)
        biased = scaled(x, half, -3.0, 2)
        yield {**case, "x": x}, [half, biased, twice(biased), biased, scaled(x, n=0) if case["c"] else twice(half)]


def shared_functions() -> Iterator[tuple[Arrays, list]]:
    x, w = floats(2, 3), floats(4)
    yield {"x": x, "w": w}, [x * 8, x * 3, w.astype("float64") * 8, x * 8]


MODELS = {f.__name__: f for f in (branches, loops, plain_loops, scans, sequences, mapped, optionals, functions, shared_functions)}


def problems_of(path: Path) -> tuple[int, list[str]]:
    """The number of compared results, and the problems found."""
    found = []
    onnx.checker.check_model(path, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    compared = 0
    for feeds, expected in MODELS[path.stem.rpartition("_")[0]]():
        results = session.run(None, {name: numpy.asarray(array) for name, array in feeds.items()})
        for i, (result, right) in enumerate(zip(results, map(numpy.asarray, expected), strict=True)):
            compared += 1
            if result.dtype != right.dtype or result.shape != right.shape:
                found.append(f"result {i} is {result.dtype}{result.shape}, expected {right.dtype}{right.shape}")
            elif not numpy.allclose(result, right, rtol=1e-5, atol=1e-5, equal_nan=True):
                found.append(f"result {i}: {result.ravel()[:6]}, expected {right.ravel()[:6]}")
    return compared, found


def main() -> int:
    wrong = compared = 0
    seen = set()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, *sys.argv[2:]], check=True)
        models = sorted(Path(folder).glob("*.onnx"))
        for path in models:
            seen.add(path.stem.rpartition("_")[0])
            try:
                count, found = problems_of(path)
            except Exception as error:
                count, found = 0, [" ".join(str(error).split())[:500]]
            compared += count
            wrong += len(found)
            for problem in found:
                print(f"{path.name}: {problem}")
    print(f"{len(models)} models, {compared} results compared, {wrong} wrong")
    return 0 if wrong == 0 and seen == MODELS.keys() else 1


if __name__ == "__main__":
    sys.exit(main())
