# SPDX-License-Identifier: MIT
"""Forward functions that address memory by strides, and that write through tensors which repeat no element."""
import torch

from functionalize_case import case

# Strides address the memory of the viewed tensor, whatever the view.

@case((4, 5), dynamic=[0])
def strides_of_a_permuted_tensor(m, x):
    h = (x * 2).t()
    return h.as_strided((2, 3), (1, 2)), h.as_strided((3,), (2,), 1)


@case((4, 5), dynamic=[0])
def strides_of_a_result_with_permuted_strides(m, x):
    return x.t().relu().as_strided((2, 2, 2), (2, 1, 1))


@case((4, 5), dynamic=[0])
def strides_reach_beyond_a_view(m, x):
    h = x * 2
    return h[1].as_strided((2, 3), (4, 1)), h[:, 1:].as_strided((2, 3), (3, 1), 1)


@case((4, 5), dynamic=[0])
def strides_of_a_view_that_repeats_elements(m, x):
    h = x * 2
    wide, windows = h.expand(3, *h.shape), h.unfold(1, 3, 1)
    return wide.as_strided((2, 3), (5, 1)), windows.as_strided((2, 3), (7, 2), 1)


@case((4, 5), dynamic=[0, 1])
def strides_of_a_view_with_symbolic_offset(m, x):
    h = x * 2
    return h[1:].as_strided((2, 3), (4, 1), 1)


@case((4, 5), dynamic=[0])
def a_write_by_strides_of_a_view(m, x):
    h = x * 2
    v = h[1:].t()
    w = v.as_strided((2, 3), (4, 1))
    w.add_(torch.tensor([10.0, 20.0, 30.0]))
    return h, v, w


@case((4, 5))
def a_write_by_strides_of_a_permuted_tensor(m, x):
    h = x.t() * 2
    w = h.as_strided((3,), (2,), 1)
    w.mul_(-3)
    return h, w


# An expanded tensor that repeats no element can be written.

@case((4, 5), (4, 5))
def a_write_to_an_expanded_tensor(m, x, y):
    h = x * 2
    wide = h.expand(1, 1, *h.shape)
    wide.add_(y)
    wide[0].select(-1, 0).neg_()
    return h, wide


@case((4, 5), dynamic=[0])
def a_write_to_a_tensor_broadcast_to_its_sizes(m, x):
    h = x * 2
    h.expand_as(x).mul_(3)
    torch.broadcast_to(h, (1, *h.shape))[0, 1:].zero_()
    return h
