# SPDX-License-Identifier: MIT
"""The operators of runtime_benchmark.cpp in PyTorch, with the same names, sizes and lines. torch_side.py ELEMENTS SECONDS THREADS [ONLY]"""
import sys

import torch
from timing import measure


def operators(elements):
    """{name: (makes the operands, function)}"""
    x, y = torch.rand(elements) * 8 - 4, torch.rand(elements) * 8 - 4
    half = x.half()
    yield from {
        "add": lambda: torch.add(x, y), "mul": lambda: torch.mul(x, y), "relu": lambda: torch.relu(x),
        "exp": lambda: torch.exp(x), "log": lambda: torch.log(x), "tanh": lambda: torch.tanh(x),
        "sigmoid": lambda: torch.sigmoid(x), "erf": lambda: torch.erf(x),
        "gelu": lambda: torch.nn.functional.gelu(x), "silu": lambda: torch.nn.functional.silu(x),
        "sqrt": lambda: torch.sqrt(x), "sin": lambda: torch.sin(x), "to_float16": lambda: x.half(),
        "from_float16": lambda: half.float(), "to_int64": lambda: x.long(),
    }.items()
    rows, columns = max(1, elements // 1024), 1024
    z = torch.rand(rows, columns) * 8 - 4
    few = z[:max(1, rows // 16)]
    at = torch.randint(0, rows * columns, few.shape)
    yield from {
        "sum": lambda: z.sum(), "max": lambda: z.max(), "sum_rows": lambda: z.sum(1), "sum_columns": lambda: z.sum(0),
        "max_rows": lambda: z.amax(1), "argmax": lambda: z.argmax(1), "softmax": lambda: torch.softmax(z, 1),
        "softmax_columns": lambda: torch.softmax(z, 0), "log_softmax": lambda: torch.log_softmax(z, 1),
        "cumsum": lambda: z.cumsum(1), "transpose": lambda: z.T.contiguous(),
        "sort": lambda: torch.sort(few, stable=True, dim=1), "take": lambda: torch.take(z, at),
    }.items()
    for n in (128, 1024):
        a, b = torch.rand(n, n), torch.rand(n, n)
        yield f"matmul_{n}", lambda a=a, b=b: a @ b
        yield f"matmul_{n}_transposed", lambda a=a, b=b: a @ b.T
    batch = torch.rand(256, 64, 64)
    yield "matmul_batched", lambda: batch @ batch
    x, y, z = torch.rand(1, 96, 112, 112), torch.rand(1, 64, 56, 56), torch.rand(1, 64, 112, 112)
    each, full, point = torch.rand(96, 1, 3, 3), torch.rand(64, 64, 3, 3), torch.rand(256, 64, 1, 1)
    f = torch.nn.functional
    yield from {
        "conv_depthwise": lambda: f.conv2d(x, each, padding=1, groups=96), "conv_3x3": lambda: f.conv2d(y, full, padding=1),
        "conv_1x1": lambda: f.conv2d(y, point), "max_pool": lambda: f.max_pool2d(z, 3, 2, 1),
        "max_pool_indices": lambda: f.max_pool2d(z, 3, 2, 1, return_indices=True),
    }.items()


def main():
    elements, seconds, threads, only = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
    torch.set_num_threads(threads)
    with torch.no_grad():
        for name, f in operators(elements):
            if not only or name in only[0].split(","):
                measure(name, seconds, f)


if __name__ == "__main__":
    main()
