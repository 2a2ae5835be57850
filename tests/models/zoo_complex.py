# SPDX-License-Identifier: MIT
"""Programs with complex tensors: rotary embeddings as products of complex numbers, layers with complex weights, and what
spectral models do between two Fourier transforms. Models hold complex tensors as reals with a trailing axis of 2."""

import torch
from torch import nn

from zoo import Apply, Made, dim, model, normal


def complex_normal(*shape, dtype=torch.complex64):
    return torch.randn(*shape, dtype=dtype)


class ComplexRotary(nn.Module):
    """Attention whose queries and keys are turned by complex factors, as in the first Llama."""

    def __init__(self, width=24, heads=3, length=40):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        angles = torch.outer(torch.arange(length).float(), 1e4 ** -torch.linspace(0, 1, width // heads // 2))
        self.register_buffer("turns", torch.polar(torch.ones_like(angles), angles))

    def turned(self, x):
        z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        factors = self.turns[: x.shape[1]].view(1, x.shape[1], 1, -1)
        return torch.view_as_real(z * factors).flatten(3).type_as(x)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (t.view(b, n, self.heads, -1) for t in self.qkv(x).chunk(3, -1))
        q, k, v = (t.transpose(1, 2) for t in (self.turned(q), self.turned(k), v))
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, n, -1))


@model("complex_rotary_attention", quick=True)
def _complex_rotary_attention():
    dynamic = ({0: dim("batch"), 1: dim("length", 2, 40)},)
    return Made(ComplexRotary(), (normal(2, 7, 24),), (normal(3, 11, 24),), dynamic)


class SpectralLayer(nn.Module):
    """The product of a Fourier neural operator with complex weights, which keeps the low frequencies."""

    def __init__(self, channels=5, out=6, modes=4):
        super().__init__()
        self.weight = nn.Parameter(complex_normal(channels, out, modes, 3) / channels)
        self.bias = nn.Parameter(complex_normal(out, 1, 1))

    def forward(self, z):
        kept = torch.einsum("bixy,ioxy->boxy", z[:, :, : self.weight.shape[2], :3], self.weight)
        y = torch.zeros(z.shape[0], self.weight.shape[1], *z.shape[2:], dtype=z.dtype, device=z.device)
        y[:, :, : self.weight.shape[2], :3] = kept + self.bias
        return y


@model("complex_spectral_layer", quick=True)
def _complex_spectral_layer():
    return Made(SpectralLayer(), (complex_normal(2, 5, 8, 7),), (complex_normal(3, 5, 9, 7),),
                ({0: dim("batch"), 2: dim("rows", 5, 64)},))


class ComplexMlp(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.first = nn.Linear(6, 9, dtype=dtype)
        self.second = nn.Linear(9, 4, dtype=dtype)

    def forward(self, z):
        hidden = self.first(z)
        gate = torch.sigmoid(hidden.abs())
        return self.second(hidden * gate)


@model("complex_linear", parts=("complex64", "complex128"))
def _complex_linear(name):
    dtype = getattr(torch, name)
    return Made(ComplexMlp(dtype), (complex_normal(3, 6, dtype=dtype),), (complex_normal(5, 6, dtype=dtype),),
                ({0: dim("batch")},))


def arithmetic(z, w, x):
    """Complex, complex and real operands, Python numbers of each kind."""
    return (
        z + w - 2 * x,
        z * w + 1j,
        z / (w + (3 - 2j)),
        x / (z + 4),
        (1.5 - 0.5j) * x,
        torch.square(z) - w.conj() * z.reciprocal(),
        -z.conj() + torch.exp(0.3 * w),
    )


@model("complex_arithmetic", quick=True)
def _complex_arithmetic():
    args = complex_normal(3, 5), complex_normal(5), normal(3, 1)
    other = complex_normal(4, 5), complex_normal(5), normal(4, 1)
    n = dim("n")
    return Made(Apply(arithmetic), args, other, ({0: n}, None, {0: n}))


def parts(z, x):
    """Parts, moduli and angles, and the ways back."""
    return (
        z.real * 2 + z.imag,
        z.abs() + z.angle(),
        torch.complex(z.imag, x),
        torch.polar(z.abs(), x),
        torch.view_as_real(z).sum(-1),
        torch.view_as_complex(torch.stack((x, z.real), -1)),
        z.to(torch.complex128) * 2,
        (x > 0).to(torch.complex64) + z,
        torch.sgn(z),
        torch.isfinite(z) & (z != 0),
    )


@model("complex_parts", quick=True)
def _complex_parts():
    n = dim("n")
    return Made(Apply(parts), (complex_normal(4, 3), normal(4, 3)), (complex_normal(6, 3), normal(6, 3)),
                ({0: n}, {0: n}))


def layout(z, w, x):
    """Views, joins, selections and reductions, which treat both parts alike."""
    joined = torch.cat((z, w, x.to(z.dtype)), 1)
    padded = torch.nn.functional.pad(z, (1, 2), value=0.5)
    return (
        joined.transpose(0, 1).reshape(-1, 2).flip(0),
        torch.stack((z, w)).sum(0).mean(1),
        torch.where(x > 0, z, w) + padded[:, 1:-2],
        z.masked_fill(x > 0.5, 2 - 1j).roll(1, 0),
        torch.index_select(w, 1, torch.tensor([2, 0, 0])).repeat(2, 1),
        torch.tril(z[:, :3]).cumsum(1).unsqueeze(0).expand(2, -1, -1),
        torch.cat((z, x), 1),
        z.mT.contiguous().flatten()[::3],
    )


@model("complex_layout", quick=True)
def _complex_layout():
    n = torch.export.Dim("n", min=1, max=32)
    n = 2 * n
    args = complex_normal(4, 5), complex_normal(4, 5), normal(4, 5)
    other = complex_normal(6, 5), complex_normal(6, 5), normal(6, 5)
    return Made(Apply(layout), args, other, ({0: n}, {0: n}, {0: n}))


def products(z, w, x):
    """Matrix products of complex operands."""
    return (
        z @ w.mH,
        torch.bmm(z.unsqueeze(0), w.mT.unsqueeze(0)),
        torch.addmm(x.to(z.dtype), z, w.mT, beta=0.5, alpha=2j),
        torch.einsum("ij,kj,k->i", z, w, w[:, 0]),
        torch.outer(z[0], w[:, 1]),
        torch.vdot(z[0], w[0]),
    )


@model("complex_products")
def _complex_products():
    return Made(Apply(products), (complex_normal(3, 5), complex_normal(4, 5), normal(3, 4)),
                (complex_normal(3, 5), complex_normal(4, 5), normal(3, 4)))


class ComplexState(nn.Module):
    """A linear recurrence with complex state in a buffer, as in state space models."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4, 3, dtype=torch.complex64))
        self.decay = nn.Parameter(complex_normal(3) * 0.5)

    def forward(self, x):
        self.state.mul_(self.decay).add_(x)
        return 2 * self.state.real


@model("complex_state")
def _complex_state():
    return Made(ComplexState(), (complex_normal(4, 3),), (complex_normal(4, 3),))


class ComplexHalf(nn.Module):
    """Complex numbers of float16, in inputs, weights and results; complex64 where they meet float32."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(complex_normal(5, dtype=torch.complex32))

    def forward(self, z, x):
        turned = z * self.weight - 2j * z.conj()
        return (
            torch.view_as_real(turned + (1 + 0.5j) * x),
            torch.cat((turned, x.to(torch.complex32)), 1)[:, ::2],
            torch.where(x > 0, turned, self.weight).abs() + torch.complex(x, z.imag).real,
            z + x.to(torch.complex64),
            (-turned).unsqueeze(0).expand(2, -1, -1),
        )


@model("complex_half", quick=True, tolerance=4e-3)
def _complex_half():
    def args(rows):
        return complex_normal(rows, 5, dtype=torch.complex32), normal(rows, 5).half()

    return Made(ComplexHalf(), args(4), args(6), ({0: dim("n")}, {0: dim("n")}))
