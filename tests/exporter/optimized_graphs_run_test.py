# SPDX-License-Identifier: MIT
"""Passes do not change results: random graphs are run before and after them, in ONNX Runtime without its own optimizations.

Results have the same dtype and sizes, and the same numbers to 1e-6 of the largest one (2e-5 if sums of products are reordered).

usage: optimized_graphs_run_test.py WRITE_OPTIMIZED_GRAPHS CALL_SEEDS CHAIN_SEEDS OPSET...
"""

import collections
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy
import onnxruntime

TYPES = {"float": "float32", "double": "float64", "bool": "bool"}


def numbers(text: str) -> list[int]:
    return [int(n) for n in text.split(",") if n]


def session_of(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def inputs(session: onnxruntime.InferenceSession) -> dict[str, numpy.ndarray]:
    wanted = session.get_modelmeta().custom_metadata_map
    feeds = {}
    for meta in session.get_inputs():
        sizes, _, values = wanted[meta.name].partition(";")
        element = meta.type.removeprefix("tensor(").removesuffix(")")
        shape = numbers(sizes)
        draw = numpy.random.default_rng(zlib.crc32(meta.name.encode()))
        array = numpy.array(numbers(values) if values else numpy.round(draw.uniform(-3, 3, shape), 2))
        feeds[meta.name] = array.reshape(shape).astype(TYPES.get(element, element))
    return feeds


def difference(before: numpy.ndarray, after: numpy.ndarray) -> str | None:
    if before.dtype != after.dtype or before.shape != after.shape:
        return f"{before.dtype}{list(before.shape)} became {after.dtype}{list(after.shape)}"
    if before.dtype.kind != "f":
        return None if numpy.array_equal(before, after) else f"{before.ravel()[:5]} became {after.ravel()[:5]}"
    if not numpy.array_equal(numpy.isnan(before), numpy.isnan(after)):
        return "NaN elsewhere"
    finite = numpy.isfinite(before) & numpy.isfinite(after)
    if not numpy.array_equal(before[~finite], after[~finite], equal_nan=True):
        return "infinity elsewhere"
    if not finite.any():
        return None
    limit = 2e-5 if before.itemsize == 4 else 1e-6 if before.itemsize == 8 else 2e-3
    error = numpy.abs(before[finite].astype("float64") - after[finite].astype("float64")).max()
    largest = max(1.0, numpy.abs(before[finite]).max())
    return None if error <= limit * largest else f"off by {error} of {largest}"


def main() -> int:
    wrong = compared = nodes_before = nodes_after = 0
    not_run = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, *sys.argv[2:]], check=True)
        models = sorted(Path(folder).glob("*.before.onnx"))
        for path in models:
            if path.name.startswith("creation_"):  # draws random numbers
                continue
            try:
                session = session_of(path)
                feeds = inputs(session)
                expected = session.run(None, feeds)
            except Exception as error:  # an operator without a kernel: nothing to compare with
                not_run[path.name.split("_")[0] + ": " + " ".join(str(error).split())[:160]] += 1
                continue
            after = Path(str(path).replace(".before.", ".after."))
            try:
                optimized = session_of(after)
                wanted = {i.name for i in optimized.get_inputs()}
                results = optimized.run(None, {name: array for name, array in feeds.items() if name in wanted})
            except Exception as error:
                wrong += 1
                print(f"{after.name}: does not run: {' '.join(str(error).split())[:300]}")
                continue
            nodes_before += int(session.get_modelmeta().custom_metadata_map["nodes"])
            nodes_after += int(optimized.get_modelmeta().custom_metadata_map["nodes"])
            for i, (a, b) in enumerate(zip(expected, results, strict=True)):
                compared += 1
                if what := difference(numpy.asarray(a), numpy.asarray(b)):
                    wrong += 1
                    print(f"{after.name}: result {i}: {what}")
    print(
        f"{len(models)} graphs, {compared} results compared, {wrong} wrong; {nodes_before} nodes became {nodes_after}; "
        f"not run: {sum(not_run.values())}"
    )
    for reason, count in not_run.most_common(12):
        print(f"  {count} {reason}")
    enough = sum(not_run.values()) * 8 < len(models) and nodes_after * 2 < nodes_before
    return 0 if wrong == 0 and enough else 1


if __name__ == "__main__":
    sys.exit(main())
