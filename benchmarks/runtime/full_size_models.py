#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes AlexNet and ResNet-50 for run.py --models, with random weights: full_size_models.py FOLDER

In the onnx package, both compute their weights with ConstantOfShape at each run; here they are stored, as in exported models.
"""
import pathlib
import sys

import numpy
import onnx
from onnx import numpy_helper

LIGHT = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
MODELS = {"alexnet": "light_bvlc_alexnet.onnx", "resnet50": "light_resnet50.onnx"}


def weights(node, shape, random):
    """Random weights in the range that is usual for a layer; vectors, such as variances, are positive."""
    filled = numpy_helper.to_array(node.attribute[0].t) if node.attribute else numpy.zeros(1, numpy.float32)
    if filled.dtype != numpy.float32:
        return numpy.full(shape, filled[0])
    numbers = random.standard_normal(shape, numpy.float32) / 20
    return numpy.abs(numbers) + numpy.float32(0.5) if len(shape) == 1 else numbers


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: full_size_models.py FOLDER")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(1)
    for name, light in MODELS.items():
        model = onnx.load(LIGHT / light)
        shapes = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
        left = []
        for node in model.graph.node:
            if node.op_type == "ConstantOfShape":
                made = weights(node, shapes[node.input[0]], random)
                model.graph.initializer.append(numpy_helper.from_array(made, node.output[0]))
            else:
                left.append(node)
        del model.graph.node[:]
        model.graph.node.extend(left)
        onnx.save(model, folder / f"{name}.onnx")


if __name__ == "__main__":
    main()
