# SPDX-License-Identifier: MIT
"""Operators that write to their arguments, and forward functions that call them, for mutable_run_test.py.

In each case, a write that reaches too few or too many aliases changes a compared number.
"""
import torch

LIBRARY = torch.library.Library("mut", "DEF")
CASES = {}


def operator(schema, tags=()):
    def add(function):
        LIBRARY.define(schema, tags=tags)
        LIBRARY.impl(schema.split("(")[0], function, "CompositeExplicitAutograd")
        return function

    return add


@operator("bump_(Tensor(a!) x, float by) -> ()")
def bump_(x, by):
    x.add_(by)


INPLACE = (torch.Tag.inplace,) if hasattr(torch.Tag, "inplace") else ()


@operator("scaled_(Tensor(a!) x, float by) -> Tensor(a!)", INPLACE)
def scaled_(x, by):
    return x.mul_(by)


@operator("total(Tensor(a!) x, Tensor y) -> Tensor")
def total(x, y):
    return x.sub_(y).sum()


@operator("swap(Tensor(a!) x, Tensor(b!) y) -> (Tensor, Tensor(b!))")
def swap(x, y):
    old = x.clone()
    x.copy_(y)
    y.copy_(old)
    return -old, y


@operator("swap_(Tensor(a!) x, Tensor(b!) y) -> ()")
def swap_(x, y):
    old = x.clone()
    x.copy_(y)
    y.copy_(old)


@operator("spread(Tensor(a!)? x, Tensor(b!)[] ys, float by=2.0, *, Tensor(c!) out) -> ()")
def spread(x, ys, by=2.0, *, out):
    out.copy_(ys[0].sum() + (0 if x is None else 100))
    if x is not None:
        x.add_(1)
    for i, y in enumerate(ys):
        y.mul_(by + i)


@operator("throws(Tensor(a!) x, str what) -> ()")
def throws(x, what):
    x.neg_()


@operator("unknown(Tensor(a!) x) -> Tensor")
def unknown(x):
    return x.neg_().sum()


m = torch.ops.mut


def case(*shapes, dynamic=(), buffers=None, refused=None, decomposes=True):
    """Registers a forward function as a case. `refused`: a part of the expected error for the original program, or a pair for the
    original and the decomposed program; `decomposes`: whether torch can make it functional."""

    def add(function):
        both = refused if isinstance(refused, tuple) else (refused, None)
        CASES[function.__name__] = dict(function=function, shapes=shapes, dynamic=dynamic, buffers=buffers, refused=both,
                                        decomposes=decomposes)
        return function

    return add


@case((3, 4))
def a_temporary(self, x):
    y = x * 2
    before = y + 0
    m.bump_(y, 3.0)
    return before, y + 1


@case((3, 4))
def twice(self, x):
    y = x * 2
    m.bump_(y, 3.0)
    middle = y * 1
    m.bump_(y, -0.5)
    return middle, y


@case((3, 4), decomposes=bool(INPLACE))
def a_result_that_is_the_argument(self, x):
    y = x * 2
    z = m.scaled_(y, 3.0)
    z.add_(1)
    return y, z - 5


@case((3, 4))
def views_of_a_temporary(self, x):
    y = x * 2
    row, flat = y[1], y.view(-1)
    m.bump_(y[1:, 0], 3.0)
    m.bump_(flat[2:5], 7.0)
    m.bump_(y.t()[3], -2.0)
    return y + 1, row, flat[3:]


@case((4, 6))
def every_kind_of_view(self, x):
    y = x * 2
    m.bump_(y[:, 1:3], 1.0)
    m.bump_(y[::2], 10.0)
    m.bump_(y.diagonal(), 100.0)
    m.bump_(y.view(2, 2, 6)[1, :, 2:], 1000.0)
    m.bump_(y.chunk(3, dim=1)[2], 0.25)
    m.bump_(y.unsqueeze(0), 0.125)
    return y


@case((3, 4), (3, 4))
def a_result_and_a_write(self, x, z):
    y = x * 2
    s = m.total(y, z)
    return y, s * y


@case((3, 4), buffers=lambda: {"state": torch.arange(12.0).reshape(3, 4)})
def a_buffer(self, x):
    m.bump_(self.state, 3.0)
    return x + self.state


@case((3, 4), buffers=lambda: {"state": torch.arange(12.0).reshape(3, 4)})
def a_view_of_a_buffer(self, x):
    m.bump_(self.state[1:, 2], 3.0)
    s = m.total(self.state[0], x[2])
    return x + self.state, s


@case((3, 4))
def an_input(self, x):
    m.bump_(x, 3.0)
    return x + 1


@case((3, 4))
def a_part_of_an_input(self, x):
    s = m.total(x[0], x[1] * 2)
    return x * 2, s


@case((3, 4))
def parts_that_are_apart(self, x):
    y = x * 2
    m.swap_(y[0], y[2])
    m.swap_(y[:, 1], y[:, 3])
    a, b = y.view(-1).split([5, 7])
    m.swap_(a[:2], b[2:4])
    return y


@case((2, 3, 4))
def unbound_parts(self, x):
    y = x * 2
    q, k, v = y.unbind(1)
    m.swap_(q, v)
    m.bump_(k, 0.5)
    return y, q - k


@case((3, 4), decomposes=False)
def one_result_is_an_argument(self, x):
    y, z = x * 2, x * 3
    fresh, same = m.swap(y, z)
    same.add_(1)
    return y, z, fresh, same


@case((3, 4))
def lists_and_none(self, x):
    y, z, o = x * 2, x * 3, torch.zeros(3)
    m.spread(None, [y, z[1]], out=o[2])
    m.spread(y, [z], 1.5, out=o[0])
    return y, z, o


@case((3, 4), refused=("shares memory with its argument y; pass a clone()",) * 2)
def the_same_tensor_twice(self, x):
    y = x * 2
    m.swap_(y, y)
    return y


@case((3, 4), refused=("shares memory with its argument",) * 2)
def parts_that_overlap(self, x):
    y = x * 2
    m.swap_(y[:2], y[1:])
    return y


@case((3, 4), refused=("shares memory with its argument y", None))
def read_while_written(self, x):
    y = x * 2
    return m.total(y, y), y


@case((3, 4), dynamic=(0,))
def a_dynamic_size(self, x):
    y = x * 2
    m.bump_(y[1:], 3.0)
    m.bump_(y[:, 2], 5.0)
    m.bump_(y[1:, 1:3], 7.0)
    return y


@case((3, 4))
def inside_a_branch(self, x):
    def one(x):
        y = x * 2
        m.bump_(y[0], 3.0)
        return y

    def other(x):
        y = x + 1
        m.bump_(y, 3.0)
        return y

    return torch.cond(x.sum() > 0, one, other, (x,))


@case((3, 4), decomposes=False)
def nothing_reads_it(self, x):
    y = x * 2
    m.bump_(y, 3.0)
    return x + 1


@case((3, 4))
def without_gradients(self, x):
    y = x * 2
    with torch.no_grad():
        m.bump_(y, 3.0)
    return y


@case((3, 4))
def beside_operators_of_torch(self, x):
    y = x * 2
    v = y[1]
    v.mul_(3)
    m.bump_(y[:, 0], 3.0)
    v.add_(y[2])
    m.bump_(v, 1.0)
    y.relu_()
    return y, v


@case((3, 4), refused=("mut::unknown (no mapping", "mut::unknown (no mapping"))
def an_unknown_one(self, x):
    y = x * 2
    m.unknown(y)
    return y
