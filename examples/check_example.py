# SPDX-License-Identifier: MIT
"""Runs an example, then its model with ONNX Runtime, and compares the results with those of PyTorch 2.13.

usage: check_example.py NAME EXECUTABLE     run the example and compare
       check_example.py --torch             compute the recorded numbers again with PyTorch and compare those
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy


def ramp(*shape: int) -> numpy.ndarray:
    """The numbers -1.5, -1, ... 1.5, repeated."""
    count = int(numpy.prod(shape))
    return ((numpy.arange(count) % 7 - 3) / 2).astype(numpy.float32).reshape(shape)


def pattern(torch, *shape: int):
    """The weights of first_model.cpp."""
    count = int(numpy.prod(shape))
    return torch.from_numpy((0.05 * (numpy.arange(count) * 7 % 11 - 5)).astype(numpy.float32).reshape(shape))


def first_model(torch, image):
    y = torch.conv2d(image, pattern(torch, 8, 3, 3, 3), pattern(torch, 8), padding=1).relu()
    y = torch.max_pool2d(y, 4).flatten(1)
    return torch.nn.functional.linear(y, pattern(torch, 10, 512), pattern(torch, 10)).softmax(-1)


# inputs, the same computation in PyTorch, and its results
EXAMPLES = {
    "first_model": (
        {"image": ramp(1, 3, 32, 32)},
        first_model,
        [[0.0547792, 0.0791077, 0.109624, 0.154017, 0.159902, 0.0523033, 0.106518, 0.0722087, 0.070956, 0.140585]],
    ),
    "elu": (
        {"x": ramp(2, 3)},
        lambda torch, x: torch.ops.aten.elu(x, 0.5, 2),
        [[-0.77687, -0.632121, -0.393469], [0.0, 1.0, 2.0]],
    ),
    "addmm": (
        {"self": ramp(4), "mat1": ramp(2, 3), "mat2": ramp(3, 4)},
        lambda torch, c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2),
        [[3.75, 1.0, -1.75, 2.5], [-2.25, -0.5, 1.25, -0.5]],
    ),
    "mul_add_relu": (
        {"x": ramp(4, 3), "y": ramp(3)},
        lambda torch, x, y: x.relu() * x.relu() + y,
        [[-1.5, -1.0, -0.5], [-1.5, -0.75, 0.5], [0.75, -1.0, -0.5], [-1.5, -1.0, -0.25]],
    ),
    "upsample_bilinear2d": (
        {"x": ramp(2, 1, 2, 3)},
        lambda torch, x: torch.ops.aten.upsample_bilinear2d(x, [4, 5], True),
        [[[[-1.5, -1.25, -1.0, -0.75, -0.5], [-1.0, -0.75, -0.5, -0.25, 0.0], [-0.5, -0.25, 0.0, 0.25, 0.5], [0.0, 0.25, 0.5, 0.75, 1.0]]], [[[1.5, 0.0, -1.5, -1.25, -1.0], [0.833333, -0.0833333, -1.0, -0.75, -0.5], [0.166667, -0.166667, -0.5, -0.25, 0.0], [-0.5, -0.25, 0.0, 0.25, 0.5]]]],
    ),
    "custom_library": (
        {"input1": ramp(2, 3), "input2": ramp(2, 3) + 1},
        lambda torch, a, b: 1.5 * a + b**2,
        [[-2.0, -1.5, -0.5], [1.0, 3.0, 5.5]],
    ),
}


def compare(name: str, got: numpy.ndarray) -> bool:
    expected = numpy.array(EXAMPLES[name][2], dtype=numpy.float32)
    if got.shape == expected.shape and numpy.allclose(got, expected, rtol=1e-4, atol=1e-5):
        return True
    print(f"{name}: got {got.tolist()}, PyTorch gave {expected.tolist()}")
    return False


def run_torch() -> bool:
    import torch

    results = [EXAMPLES[name][1](torch, *map(torch.from_numpy, EXAMPLES[name][0].values())) for name in EXAMPLES]
    return all([compare(name, result.numpy()) for name, result in zip(EXAMPLES, results)])


def run_example(name: str, executable: str) -> bool:
    import onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.onnx")
        printed = subprocess.run([executable, path], check=True, capture_output=True, text=True).stdout
        if not printed.startswith("graph(%") or "return (%" not in printed:
            print(f"{name}: printed\n{printed}")
            return False
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return compare(name, session.run(None, EXAMPLES[name][0])[0])


def main() -> int:
    if sys.argv[1:] == ["--torch"]:
        return 0 if run_torch() else 1
    if len(sys.argv) != 3 or sys.argv[1] not in EXAMPLES:
        print(__doc__)
        return 2
    return 0 if run_example(*sys.argv[1:]) else 1


if __name__ == "__main__":
    sys.exit(main())
