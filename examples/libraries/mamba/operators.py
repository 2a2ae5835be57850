# SPDX-License-Identifier: MIT
"""The selective scan of Mamba: a linear recurrence whose coefficients depend on the input."""

import torch

NAMESPACE = "mamba"
SCHEMAS = """
selective_scan(Tensor u, Tensor delta, Tensor A, Tensor B, Tensor C, Tensor? D=None, Tensor? z=None, Tensor? delta_bias=None, bool delta_softplus=False) -> Tensor[]
"""


def selective_scan(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False):
    """The result, the last state, and the gated result if z is given. u, delta: (batch, d, length); A: (d, n); B, C: (batch, n, length)."""
    if delta_bias is not None:
        delta = delta + delta_bias.unsqueeze(-1)
    if delta_softplus:
        delta = torch.nn.functional.softplus(delta)
    state, steps = u.new_zeros(u.shape[0], u.shape[1], A.shape[1]), []
    for i in range(u.shape[2]):
        decay = torch.exp(delta[:, :, i, None] * A)
        state = decay * state + (delta * u)[:, :, i, None] * B[:, None, :, i]
        steps.append((state * C[:, None, :, i]).sum(-1))
    y = torch.stack(steps, -1)
    if D is not None:
        y = y + u * D.unsqueeze(-1)
    return [y, state] if z is None else [y, state, y * torch.nn.functional.silu(z)]


def selective_scan_fake(u, delta, A, B, C, D=None, z=None, delta_bias=None, delta_softplus=False):
    results = [torch.empty_like(u), u.new_empty(u.shape[0], u.shape[1], A.shape[1])]
    return results if z is None else [*results, torch.empty_like(u)]


class Model(torch.nn.Module):
    """The inner part of a Mamba block, and a plain scan."""

    def __init__(self):
        super().__init__()
        self.A = torch.nn.Parameter(-torch.rand(4, 3))
        self.D, self.bias = torch.nn.Parameter(torch.randn(4)), torch.nn.Parameter(torch.randn(4))

    def forward(self, u, delta, to_state, to_result, z):
        ops = torch.ops.mamba
        plain, state = ops.selective_scan(u, delta.sigmoid(), self.A, to_state, to_result)
        _, last, gated = ops.selective_scan(plain, delta, self.A, to_state, to_result, self.D, z, self.bias, True)
        return gated, state, last


SIZES = (5, 9)
batch, length = torch.export.Dim("batch", max=100), torch.export.Dim("length", max=1000)
DYNAMIC = {name: {0: batch, 2: length} for name in ("u", "delta", "to_state", "to_result", "z")}


def inputs(size):
    return {name: torch.randn(size // 2, 3 if name.startswith("to") else 4, size) for name in DYNAMIC}


def calls():
    scan = torch.ops.mamba.selective_scan
    for count, d, n, steps in ((2, 3, 4, 5), (1, 2, 1, 7), (3, 1, 2, 1)):
        u, delta, z = (torch.randn(count, d, steps) for _ in range(3))
        B, C, A = torch.randn(count, n, steps), torch.randn(count, n, steps), -torch.rand(d, n)
        D, bias = torch.randn(d), torch.randn(d)
        scan(u, delta.abs(), A, B, C)
        scan(u, delta, A, B, C, D, z, bias, True)
        scan(u, delta.abs(), A, B, C, None, z)
        scan(u, delta, A, B, C, D, delta_softplus=True)
        scan(u, delta.abs(), A, B, C, delta_bias=bias.abs())
