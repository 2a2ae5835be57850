# SPDX-License-Identifier: MIT
"""Programs that call prims, the operators below ATen's that decompositions are made of. torch decomposes no program that calls a prim
that returns a view, so these call the others."""

import torch

from zoo import Apply, Made, dim, model, normal, rows

P = torch.ops.prims
NEW = {"device": torch.device("cpu"), "requires_grad": False}


@model("prims_elementwise", quick=True)
def prims_elementwise():
    def function(x, y):
        product = P.mul(x, y)
        chosen = P.where(P.lt(product, P.full_like(x, 0.25, dtype=torch.float32, **NEW)), product, P.exp(x))
        quotient = P.div(P.convert_element_type(P.mul(x, 8.0), torch.int64), P.full_like(y, 3, dtype=torch.int64, **NEW))
        return chosen, P.cbrt(P.sub(x, y)), quotient, P.maximum(P.neg(x), y), P.rsqrt(P.add(P.abs(x), 1.0)), P.isfinite(P.reciprocal(y))

    batch = dim("batch")
    return Made(Apply(function), (normal(3, 4), normal(3, 4)), (normal(5, 4), normal(5, 4)), ({0: batch}, {0: batch}))


@model("prims_shapes")
def prims_shapes():
    def function(x):
        doubled = P.cat([x, P.rev(x, [1])], 0)
        flat = P.collapse(doubled, 0, 1)
        places = P.iota(x.shape[0], start=2, step=3, dtype=torch.int64, **NEW)
        return P.reshape(flat, [2, x.shape[0], 6]), places, P.clone(flat), P.fill(x, 0.5), P.copy_strided(x, [1, x.shape[0]])

    return rows(function, 6)


@model("prims_reductions", quick=True)
def prims_reductions():
    def function(x):
        wide = P.convert_element_type(x, torch.float64)
        return P.sum(x, [1]), P.amax(x, [0, 1]), P.amin(x, [0]), P.var(wide, [0, 1], 1.0), P.prod(P.tanh(x), [1]), P.sum(wide, [0])

    return rows(function, 5)
