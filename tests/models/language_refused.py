# SPDX-License-Identifier: MIT
"""Functions that must be refused, with a part of the reason. The second dimension of their argument is dynamic."""

from typing import Optional, Tuple, Union  # noqa: UP035: torch.jit.script reads them

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


def type_of_data(x: Tensor):
    y: Union[int, Tensor] = 3
    if bool(x.sum() > 0):
        y = x
    return x - 1 if isinstance(y, int) else x + 1


def type_of_number(x: Tensor):
    y: Union[int, Tensor] = torch.tensor(5)
    if bool(x.sum() > 0):
        y = 3
    return x - 1 if isinstance(y, int) else x + 1


def type_of_bool(x: Tensor):
    y: Union[bool, Tensor] = bool(x.max() > 1)
    if bool(x.sum() > 0):
        y = x.min() > 3
    return x - 1 if isinstance(y, bool) else x + 1


def float_or_tensor(x: Tensor) -> Union[float, Tensor]:
    if x.dim() == 5:
        return x.mean()
    return 0.5


def type_of_float_in_loop(x: Tensor):
    y = float_or_tensor(x)
    i = 0
    while bool(x.sum() > i):
        y = x.mean()
        i += 4
    return x - 1 if isinstance(y, float) else x + 1


def type_in_tuple(x: Tensor):
    y: Tuple[Union[int, Tensor], int] = (torch.tensor(5), 1)
    if bool(x.sum() > 0):
        y = (3, 2)
    z = y[0]
    return x - 1 if isinstance(z, int) else x + y[1]


def rank_of_data(x: Tensor):
    return x.sum(0) if bool(x.sum() > 0) else x


def text_of_data(x: Tensor):
    s = "a" if bool(x.sum() > 0) else "bc"
    return x * len(s)


def none_of_data(x: Tensor):
    y: Optional[Tensor] = None
    if bool(x.sum() > 0):
        y = x
    return x, y


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
            (type_of_data, "asks for the type of a tensor or an int, which depends on data"),
            (type_of_number, "asks for the type of an int or a tensor, which depends on data"),
            (type_of_bool, "asks for the type of a tensor or a number that the model computes, which depends on data"),
            (type_of_float_in_loop, "the variable 'y0' is a tensor after an iteration that depends on data"),
            (type_in_tuple, "asks for the type of an int or a tensor, which depends on data"),
            (rank_of_data, "a tensor whose dtype or rank depends on data"),
            (text_of_data, "a string that depends on data"),
            (none_of_data, "returns a value that data decides to be None or not"),
            (character_of_size, "an argument of 'chr' depends on a size")]
