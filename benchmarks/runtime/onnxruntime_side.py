# SPDX-License-Identifier: MIT
"""Runs the models of runtime_benchmark in ONNX Runtime and prints the same lines. onnxruntime_side.py MODEL,MODEL,... SECONDS THREADS"""
import sys

import numpy
import onnxruntime
from timing import measure


def main():
    models, seconds, threads = sys.argv[1].split(","), float(sys.argv[2]), int(sys.argv[3])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    for path in models:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        inputs = {i.name: numpy.random.rand(*(n if isinstance(n, int) else 1 for n in i.shape)).astype(numpy.float32) * 8 - 4
                  for i in session.get_inputs()}
        measure(path, seconds, lambda session=session, inputs=inputs: session.run(None, inputs))


if __name__ == "__main__":
    main()
