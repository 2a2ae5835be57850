# SPDX-License-Identifier: MIT
"""Forward functions that write results to given tensors (out=), of the same and of other sizes and dtypes."""
import torch

from functionalize_case import case

@case((3, 4), (3, 4))
def out_arguments(m, x, y):
    z = torch.empty_like(x)
    part = torch.zeros(5, 4)
    torch.add(x, y, alpha=2, out=z)
    values, places = torch.empty(3), torch.empty(3, dtype=torch.int64)
    torch.max(x, 1, out=(values, places))
    torch.mul(x[:2], 3, out=part[1:3])
    return z, values, places, part


@case((3, 4), (3, 4))
def resized_out_arguments(m, x, y):
    once, again, cut = torch.empty(0), torch.empty(0), torch.ones(5, 2)
    none = once.view(-1)
    torch.mul(x, 2, out=once)
    once[1] += 5
    torch.add(once.t(), 1, out=again)
    same = torch.sum(x, 1, out=again)
    values, places = torch.max(y, 0, out=(torch.empty(0), torch.empty(7, dtype=torch.int64)))
    torch.cat([x, y], 1, out=cut)
    cut.view(-1)[2] = 9
    return once, same, again, values, places, cut, none


@case((3, 4), (2, 3), dtypes=[torch.float32, torch.int64])
def out_arguments_of_other_dtypes(m, x, n):
    def empty(dtype):
        return torch.empty(0, dtype=dtype)

    f16, f32, f64 = torch.float16, torch.float32, torch.float64
    i8, i32, i64 = torch.int8, torch.int32, torch.int64
    made = [torch.arange(3, out=empty(t)) for t in (f16, f64, i8)]
    made += [torch.full((2, 3), 2.75, out=empty(t)) for t in (f16, i32, i64, torch.uint8)]
    made += [torch.eye(2, 3, out=empty(t)) for t in (i64, torch.bool)]
    made += [torch.zeros(2, out=empty(i8)), torch.ones(2, out=empty(torch.bool)), torch.range(1, 3, out=empty(i64))]
    made += [torch.linspace(0, 7, 4, out=empty(t)) for t in (i32, f64)] + [torch.logspace(0, 2, 3, out=empty(i64))]
    made += [torch.add(n, 3, out=empty(t)) for t in (f32, f64, i8)] + [torch.sin(n, out=empty(t)) for t in (f16, f64)]
    made += [torch.sum(n, 1, out=empty(t)) for t in (i8, f64)] + [torch.mean(x, 0, out=empty(f64))]
    made += [torch.cumsum(n * 100, 1, out=empty(i8)), torch.eq(x, 1, out=empty(f32)), torch.add(x, 1, out=empty(f16))]
    return made


@case((3, 4), refused="has resized")
def a_view_of_an_out_argument_that_is_resized(m, x):
    rows = torch.empty(5, 4)
    part = rows[1:]
    torch.add(x, 1, out=rows)
    return rows, part


@case((3, 4), buffers=lambda: dict(last=torch.empty(0)), refused="the memory of an input or a buffer")
def a_buffer_that_is_resized(m, x):
    torch.mul(x, 2, out=m.last)
    return m.last + 1
