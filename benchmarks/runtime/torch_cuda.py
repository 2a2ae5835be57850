# SPDX-License-Identifier: MIT
"""The kernels of cuda_benchmark.cpp in PyTorch, with the same names and sizes: a line with a tab and milliseconds for each, for its
option --peer. torch_cuda.py [ELEMENTS [RUNS]]"""
import sys
import time

import torch


def best(runs, f):
    seconds = []
    for _ in range(runs + 2):  # two runs to warm up
        torch.cuda.synchronize()
        start = time.perf_counter()
        f()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return min(seconds[2:])


def main():
    elements = int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 28
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    x, y = (torch.rand(max(1, elements // 1024), 1024, device="cuda") * 8 - 4 for _ in range(2))
    to = torch.empty_like(x)
    a = torch.rand(8192, 8192, device="cuda") * 8 - 4
    half = a.half()
    with torch.no_grad():
        for name, f in {
            "copy, device to device": lambda: to.copy_(x),
            "add": lambda: x + y, "mul": lambda: x * y, "relu": lambda: x.relu(), "exp": lambda: x.exp(), "tanh": lambda: x.tanh(),
            "to float16": lambda: x.half(), "sum of all": lambda: x.sum(), "sum of rows": lambda: x.sum(1),
            "sum of columns": lambda: x.sum(0), "max of all": lambda: x.amax(), "argmax of rows": lambda: x.argmax(1),
            "softmax of rows": lambda: x.softmax(1), "cumulative sum of rows": lambda: x.cumsum(1), "transpose": lambda: x.T.contiguous(),
            "add a row to each row": lambda: x + y[0],
        }.items():
            print(f"{name}\t{best(runs, f) * 1e3}")
        for name, m in {"product of float32 matrices": a, "product of float16 matrices": half}.items():
            print(f"{name}\t{best(5, lambda m=m: m @ m) * 1e3}")


if __name__ == "__main__":
    main()
