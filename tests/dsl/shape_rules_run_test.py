# SPDX-License-Identifier: MIT
"""Compares the shape rules with real results: runs models of random calls and checks that the results have the declared sizes.

A symbolic size is called by its number in these models ("two" is 2); unknown sizes and ranks agree with everything.

usage: shape_rules_run_test.py WRITE_RANDOM_GRAPHS SEEDS OPSET...
"""

import collections
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
import onnxruntime

SYMBOLS = {"two": 2, "three": 3, "four": 4}
TYPES = {"float": "float32", "double": "float64", "bool": "bool"}


def numbers(text: str) -> list[int]:
    return [int(n) for n in text.split(",") if n]


def inputs(session) -> dict[str, numpy.ndarray]:
    wanted = session.get_modelmeta().custom_metadata_map
    feeds = {}
    for meta in session.get_inputs():
        sizes, _, values = wanted[meta.name].partition(";")
        element = meta.type.removeprefix("tensor(").removesuffix(")")
        shape = numbers(sizes)
        array = numpy.array(numbers(values)) if values else numpy.arange(numpy.prod(shape, dtype=int)) % 3 + 1
        feeds[meta.name] = array.reshape(shape).astype(TYPES.get(element, element))
    return feeds


def contradiction(declared, shape) -> bool:
    """Whether a declared shape (numbers, names, None; or None) contradicts the shape of the result."""
    if declared is None:
        return False
    return len(declared) != len(shape) or any(d is not None and SYMBOLS.get(d, d) != s for d, s in zip(declared, shape))


def declared_shapes(path: Path) -> dict[str, list | None]:
    """The declared shapes, from the file; the session would return those that ONNX Runtime infers."""
    shapes = {}
    for output in onnx.load(path).graph.output:
        tensor = output.type.tensor_type
        dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim]
        shapes[output.name] = dims if tensor.HasField("shape") else None
    return shapes


def main() -> int:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    wrong = checked = 0
    not_run = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, *sys.argv[2:]], check=True)
        models = sorted(Path(folder).iterdir())
        for path in models:
            try:
                session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
                results = session.run(None, inputs(session))
            except Exception as error:  # an operator without a kernel: nothing to compare with
                not_run[path.stem.rsplit("_", 2)[0] + ": " + " ".join(str(error).split())[:160]] += 1
                continue
            for (name, declared), result in zip(declared_shapes(path).items(), results, strict=True):
                checked += 1
                if contradiction(declared, numpy.shape(result)):
                    wrong += 1
                    print(f"{path.name}: {name} is declared {declared}, it is {list(numpy.shape(result))}")
    print(f"{len(models)} models, {checked} results compared, {wrong} contradictions; not run: {sum(not_run.values())}")
    for reason, count in not_run.most_common(20):
        print(f"  {count} {reason}")
    return 0 if wrong == 0 and sum(not_run.values()) * 10 < len(models) else 1


if __name__ == "__main__":
    sys.exit(main())
