# SPDX-License-Identifier: MIT
"""Four kernels of vllm in terms of torch's operators. All of them write their results into tensors that the caller gives."""

import torch

NAMESPACE = "_C"
SCHEMAS = """
rms_norm(Tensor! result, Tensor input, Tensor weight, float epsilon) -> ()
fused_add_rms_norm(Tensor! input, Tensor! residual, Tensor weight, float epsilon) -> ()
silu_and_mul(Tensor! result, Tensor input) -> ()
rotary_embedding(Tensor positions, Tensor! query, Tensor!? key, int head_size, Tensor cos_sin_cache, bool is_neox) -> ()
"""


def normalized(x, weight, epsilon):
    wide = x.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + epsilon)
    return (wide * scale).to(x.dtype) * weight


def rms_norm(result, input, weight, epsilon):
    result.copy_(normalized(input, weight, epsilon))


def fused_add_rms_norm(input, residual, weight, epsilon):
    residual.add_(input)
    input.copy_(normalized(residual, weight, epsilon))


def silu_and_mul(result, input):
    gate, up = input.chunk(2, -1)
    result.copy_(torch.nn.functional.silu(gate) * up)


def rotated(x, cos_sin, head_size, is_neox):
    heads = x.view(x.shape[0], x.shape[1] // head_size, head_size)
    cos, sin = cos_sin.unsqueeze(1).chunk(2, -1)
    part = heads[..., : cos_sin.shape[-1]]
    first, second = part.chunk(2, -1) if is_neox else (part[..., ::2], part[..., 1::2])
    turned = [first * cos - second * sin, second * cos + first * sin]
    turned = torch.cat(turned, -1) if is_neox else torch.stack(turned, -1).flatten(-2)
    return torch.cat([turned, heads[..., cos_sin.shape[-1] :]], -1).view(x.shape)


def rotary_embedding(positions, query, key, head_size, cos_sin_cache, is_neox):
    cos_sin = cos_sin_cache[positions]
    for x in (query, key):
        if x is not None:
            x.copy_(rotated(x, cos_sin, head_size, is_neox))


class Model(torch.nn.Module):
    """A decoder layer without its attention. Query and key are views of one tensor, as in vllm's models."""

    def __init__(self):
        super().__init__()
        self.qkv, self.up, self.down = torch.nn.Linear(10, 24), torch.nn.Linear(10, 14), torch.nn.Linear(7, 10)
        self.weights = torch.nn.Parameter(torch.linspace(0.5, 1.5, 20).view(2, 10))
        self.register_buffer("cache", torch.randn(9, 4))

    def forward(self, hidden, positions):
        ops = torch.ops._C
        residual = hidden.clone()
        normed = torch.empty_like(hidden)
        ops.rms_norm(normed, hidden, self.weights[0], 1e-3)
        query, key, value = self.qkv(normed).split([12, 6, 6], -1)
        ops.rotary_embedding(positions, query, key, 6, self.cache, True)
        ops.rotary_embedding(positions, value, None, 6, self.cache, False)
        mixed = torch.cat([query[:, :4], key[:, 1:4], value[:, 2:5]], -1)
        ops.fused_add_rms_norm(mixed, residual, self.weights[1], 1e-2)
        gated = self.up(mixed)
        result = gated.new_empty(gated.shape[0], 7)
        ops.silu_and_mul(result, gated)
        return {"y": self.down(result), "residual": residual}


SIZES = (3, 8)
DYNAMIC = {"hidden": {0: torch.export.Dim("tokens", max=1000)}, "positions": {0: torch.export.Dim("tokens", max=1000)}}


def inputs(size):
    return {"hidden": torch.randn(size, 10) * 3, "positions": torch.randint(0, 9, (size,))}


def calls():
    ops = torch.ops._C
    for tokens, width in ((3, 5), (1, 8), (0, 4)):
        x, residual, weight = torch.randn(tokens, width), torch.randn(tokens, width), torch.randn(width)
        ops.rms_norm(torch.zeros(tokens, width), x, weight, 0.25)
        ops.fused_add_rms_norm(x.clone(), residual, weight, 1e-2)
        ops.silu_and_mul(torch.zeros(tokens, width), torch.randn(tokens, 2 * width))
        for is_neox in (True, False):
            query, key, positions = torch.randn(tokens, 3 * 6), torch.randn(tokens, 6), torch.randint(0, 7, (tokens,))
            ops.rotary_embedding(positions, query, key, 6, torch.randn(7, 4), is_neox)
            ops.rotary_embedding(positions, key.clone(), None, 3, torch.randn(7, 2), is_neox)
    extreme = torch.tensor([[float("inf"), 1.0], [float("nan"), -2.0], [1e20, 0.0]])
    ops.rms_norm(torch.zeros(3, 2), extreme, torch.ones(2), 1e-6)
    ops.rms_norm(torch.zeros(2, 3, 4), torch.randn(2, 3, 4), torch.randn(4), 1e-6)
    half = torch.randn(4, 6).half()
    ops.fused_add_rms_norm(half, torch.randn(4, 6).half(), torch.randn(6).half(), 1e-5)
