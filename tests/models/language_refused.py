# SPDX-License-Identifier: MIT
"""Functions that must be refused, with a part of the reason. The second dimension of their argument is dynamic."""

import torch
from torch import Tensor


def hash_of_text(x: Tensor):
    return x * hash(["ab"][x.dim() - 2])


def not_in_text(x: Tensor):
    return x * ["abc"][x.dim() - 2].index("z")


def not_in_list(x: Tensor):
    return x * [x.dim(), 5].index(7)


def not_in_dict(x: Tensor):
    d = {"a": x.dim()}
    return x * d["b"]


def popped_key(x: Tensor):
    d = {"a": x.dim()}
    return x * d.pop("b")


def removed_item(x: Tensor):
    a = [x.dim()]
    a.remove(8)
    return x * a[0]


def order_of_sizes(x: Tensor):
    a = [x.size(1), 5]
    a.sort()
    return x * a[0]


def number_of_parts(x: Tensor):
    return x * len(x.chunk(2, 1))


def last_part(x: Tensor):
    return x.split(2, 1)[-1]


def complex_size(x: Tensor):
    return x * abs(x.size(1) * 1j)


def transposed_layout(x: Tensor):
    return x * x.t().stride(0)


def column_layout(x: Tensor):
    return x if x[:, 1].is_contiguous() else x + 1


def text_of_size(x: Tensor):
    return x + 1 if str(x.size(1)).startswith("1") else x


def unwrapped_none(x: Tensor):
    d = {"a": x}
    return torch.jit._unwrap_optional(d.get("b"))


def character_of_size(x: Tensor):
    return x * len(chr(x.size(1)))


def cases():
    """(function, a part of the message)"""
    return [(hash_of_text, "differs between builds of torch"),
            (not_in_text, "does not contain the other one"),
            (not_in_list, "not in the list"),
            (not_in_dict, "no key 'b'"),
            (popped_key, "no key 'b'"),
            (removed_item, "not in the list"),
            (order_of_sizes, "the order of a list depends on a size"),
            (number_of_parts, "a list whose length the model computes"),
            (last_part, "list of parts along a dynamic dimension"),
            (complex_size, "a complex number"),
            (transposed_layout, "call contiguous() first"),
            (column_layout, "call contiguous() first"),
            (text_of_size, "a string depends on"),
            (unwrapped_none, "is None"),
            (character_of_size, "an argument of 'chr' depends on a size")]
