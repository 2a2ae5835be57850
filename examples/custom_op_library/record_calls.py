# SPDX-License-Identifier: MIT
"""Records calls of the operators with their results, for `aton verify --calls`.

    record_calls.py [--library libcustom_ops.so] [FOLDER]

Without the library, the operators of make_model.py in Python are recorded. Needs torch."""

import argparse
import base64
import json
import pathlib

import torch

import make_model


def written(v):
    if isinstance(v, torch.Tensor):
        raw = v.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes()
        return {"dtype": str(v.dtype), "shape": list(v.shape), "base64": base64.b64encode(raw).decode()}
    return [written(each) for each in v] if isinstance(v, (list, tuple)) else v


def record(file, operator, *args, **kwargs):
    call = {"schema": str(operator._schema), "args": written(args), "kwargs": {k: written(v) for k, v in kwargs.items()}}
    results = operator(*args, **kwargs)
    call["outputs"] = written(results if isinstance(results, tuple) else (results,))
    file.write(json.dumps(call, default=str) + "\n")


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
    options.folder.mkdir(exist_ok=True)
    operators, sample = torch.ops.custom_ops, make_model.sample
    with open(options.folder / "calls.jsonl", "w") as file:
        for size in (1, 4, 7):
            record(file, operators.swiglu.default, sample(3, 2 * size))
            record(file, operators.swiglu.default, sample(2, 3, 2 * size), alpha=-0.5, limit=0.25)
            record(file, operators.foo_forward.default, sample(size, 3), sample(size, 3), -2.25, size)
            record(file, operators.rms_norm.default, sample(2, size, 3), torch.randn(size), dim=1)
            record(file, operators.rms_norm.default, sample(2, size, 3), None, 0.5, -2)
        record(file, operators.swiglu.default, torch.tensor([float("inf"), 1.0, float("nan"), -float("inf")]), limit=float("inf"))
        record(file, operators.foo_forward.default, sample(0, 3), sample(0, 3), 1.0, 2)
        record(file, operators.rms_norm.default, sample(2, 3), eps=1e-3)
    del declared


if __name__ == "__main__":
    main()
