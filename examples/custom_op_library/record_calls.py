# SPDX-License-Identifier: MIT
"""Records calls of the operators with their results, for `aton verify --calls`.

    record_calls.py [--library libcustom_ops.so] [FOLDER]

Without the library, the operators of make_model.py in Python are recorded. Needs torch and aton_onnx."""

import argparse
import pathlib

import aton_onnx
import torch

import make_model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", help="libcustom_ops.so, as library.cpp is built")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent / "calls")
    options = parser.parse_args()
    if options.library:
        torch.ops.load_library(options.library)
        declared = None
    else:
        declared = make_model.declare()

    torch.manual_seed(7)
    ops, sample = torch.ops.custom_ops, make_model.sample
    with aton_onnx.record(options.folder / "calls.jsonl", operators=["custom_ops::*"]):
        for size in (1, 4, 7):
            ops.swiglu(sample(3, 2 * size))
            ops.swiglu(sample(2, 3, 2 * size), alpha=-0.5, limit=0.25)
            ops.foo_forward(sample(size, 3), sample(size, 3), -2.25, size)
            ops.rms_norm(sample(2, size, 3), torch.randn(size), dim=1)
            ops.rms_norm(sample(2, size, 3), None, 0.5, -2)
        ops.swiglu(torch.tensor([float("inf"), 1.0, float("nan"), -float("inf")]), limit=float("inf"))
        ops.foo_forward(sample(0, 3), sample(0, 3), 1.0, 2)
        ops.rms_norm(sample(2, 3), eps=1e-3)
    del declared


if __name__ == "__main__":
    main()
