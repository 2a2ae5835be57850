# SPDX-License-Identifier: MIT
"""What a case of functionalize_run_test.py is: a forward function, its inputs and buffers.

Each is written so that a write that reaches too few or too many aliases changes a number that is compared.
"""
import torch

CASES = {}


def case(*shapes, dtypes=None, dynamic=None, buffers=None, low=-3.0, high=3.0, refused=None, empty=False):
    """A forward function as a case. `shapes` are those of its inputs, `dynamic` are the inputs with a dynamic dimension 0,
    `buffers` is a function that creates the buffers, and `refused` is a part of the expected error. With `empty`, it also runs with a dynamic
    dimension of size 0."""

    def add(function):
        CASES[function.__name__] = dict(
            function=function, shapes=shapes, dtypes=dtypes or [torch.float32] * len(shapes), dynamic=dynamic or [],
            buffers=buffers, low=low, high=high, refused=refused, empty=empty)
        return function

    return add
