# SPDX-License-Identifier: MIT
"""Runs an .onnx file with ONNX Runtime on reproducible inputs and prints the outputs.

Usage: run_onnx.py model.onnx [input.npy ...]
"""
import sys

import numpy
import onnxruntime

TYPES = {"float": "float32", "double": "float64", "bool": "bool"}


def made_up(meta, index):
    """Reproducible random values around zero; dimension i without a number has size i + 2."""
    shape = [dim if isinstance(dim, int) else position + 2 for position, dim in enumerate(meta.shape)]
    element = meta.type.removeprefix("tensor(").removesuffix(")")
    values = numpy.random.default_rng(index).normal(size=shape) * 2
    return values.astype(TYPES.get(element, element))


def main():
    path, *arrays = sys.argv[1:]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    inputs = session.get_inputs()
    given = [numpy.load(array) for array in arrays]
    given += [made_up(meta, index) for index, meta in enumerate(inputs)][len(given):]
    feeds = {meta.name: array for meta, array in zip(inputs, given)}
    numpy.set_printoptions(precision=4, suppress=True, threshold=40, linewidth=110)
    for name, array in feeds.items():
        print(f"input  {name}: {array.dtype}{list(array.shape)}\n{array}")
    for meta, array in zip(session.get_outputs(), session.run(None, feeds)):
        array = numpy.asarray(array)
        print(f"output {meta.name}: {array.dtype}{list(array.shape)}\n{array}")


if __name__ == "__main__":
    main()
