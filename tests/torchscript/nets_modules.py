# SPDX-License-Identifier: MIT
"""Small modules of torch.nn and of tensors' operators."""

from typing import Dict, List, Optional, Tuple  # noqa: UP035: older releases of TorchScript read these

import torch
import torch.nn.functional as F
from nets import indices, net, normal
from torch import Tensor, nn

BOTH = "traced scripted"


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(inplace=True),
                                  nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels))

    def forward(self, x):
        return F.relu(x + self.body(x), inplace=True)


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.ModuleList([nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)])
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Conv2d(8, 2, 1)

    def forward(self, x):
        kept = []
        for each in self.down:
            x = F.relu(each(x))
            kept.append(x)
            x = F.max_pool2d(x, 2)
        x = F.interpolate(kept[1], scale_factor=2.0, mode="bilinear", align_corners=False)
        x = F.avg_pool2d(x, 2)
        x = self.up(x)
        return self.last(torch.cat([x, kept[0]], dim=1))


class Upsamples(nn.Module):
    def forward(self, x):
        h, w = x.shape[-2:]
        a = F.interpolate(x, size=(h * 2, w * 3), mode="nearest")
        b = F.interpolate(x, size=[7, 9], mode="bilinear", align_corners=True)
        c = F.interpolate(x, scale_factor=1.5, mode="bicubic", align_corners=False)
        return a, b, c, F.pad(x, [1, 2, 0, 1], mode="reflect"), F.adaptive_avg_pool2d(x, (2, 2))


class Indexing(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[..., 0] = 1.0
        y[:, 1:3, ::2] += 2
        mask = y > 0
        order = torch.tensor([2, 0, 1])
        return y, x[:, order], x.masked_fill(mask, -1.0), x[:, -1], torch.gather(x, 1, torch.zeros_like(x, dtype=torch.long)), x[None, ..., None]


class MaskedIndexing(nn.Module):
    def forward(self, x):
        mask = x > 0
        y = x.clone()
        y[mask] = y[mask] * 2
        return x[mask], y, torch.nonzero(x > 0.5), mask.sum(dim=1)


class Einsums(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(4, 3, 5))

    def forward(self, x):
        y = torch.einsum("bij,jkl->bikl", x, self.w)
        return y, torch.bmm(x, x.transpose(1, 2)), torch.matmul(x, self.w[:, :, 0]), torch.baddbmm(torch.zeros(1), x, x.transpose(1, 2))


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.BatchNorm1d(6), nn.GroupNorm(3, 6), nn.InstanceNorm1d(6, affine=True), nn.LayerNorm(5)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return F.normalize(x, dim=1), F.softmax(x, dim=-1), torch.norm(x, dim=1), x.std(dim=1), x.var(dim=(1, 2), unbiased=False)


class Activations(nn.Module):
    def __init__(self):
        super().__init__()
        self.all = nn.ModuleList([nn.GELU(), nn.SiLU(), nn.Hardswish(), nn.ELU(), nn.SELU(), nn.Softplus(), nn.PReLU(), nn.Mish(), nn.LogSigmoid(),
                                  nn.Hardtanh(), nn.ReLU6(), nn.LeakyReLU(0.2), nn.CELU(), nn.Softshrink(), nn.Tanhshrink(), nn.Softsign(), nn.GLU(1)])

    def forward(self, x):
        out: List[Tensor] = []
        for each in self.all:
            out.append(each(x))
        return out


class Arithmetic(nn.Module):
    def forward(self, x, y):
        z = torch.div(x, y + 3, rounding_mode="floor")
        return (z, torch.floor_divide(x, 2), x // 2, x % 3, torch.fmod(x, 2.0), x ** 2, 2 ** x, torch.rsub(x, 1.0), torch.lerp(x, y, 0.3), x / 3,
                torch.addcmul(x, x, y, value=0.5), torch.true_divide(x, 2), torch.clamp(x, -0.5), torch.where(x > y, x, y), -x, torch.sign(x))


class Integers(nn.Module):
    def forward(self, x):
        return (x / 2, x // 3, x % 4, x + 0.5, torch.floor_divide(x, 3), x.float().mean(), x.sum(), (x > 3) & (x < 8), ~(x > 3), x << 1,
                torch.bitwise_and(x, 3), x.to(torch.uint8), x.type(torch.float64), torch.full((2, 3), 7), torch.arange(0, 10, 3), x.cumsum(0))


class Reductions(nn.Module):
    def forward(self, x):
        values, where = x.max(dim=1)
        return (values, where, x.argmin(dim=-1), x.sum([1, 2]), x.amax(dim=(0, 1)), torch.logsumexp(x, 1), x.prod(dim=2), (x > 0).all(dim=1),
                x.median(dim=1)[0], torch.cumsum(x, 2), torch.topk(x, 2, dim=2)[0], torch.sort(x, dim=1)[1], x.mean())


class Shapes(nn.Module):
    def forward(self, x):
        b, c, d = x.shape
        y = x.permute(0, 2, 1).contiguous().view(b, -1)
        z = x.new_zeros(b, d) + torch.arange(d, device=x.device).unsqueeze(0)
        return (y, z.expand(b, d), x.repeat(1, 2, 1), torch.stack([x, x], 1).flatten(1, 2), x.unfold(2, 2, 1), torch.roll(x, 1, 2), x.flip([1]),
                x.squeeze(0), x.reshape(-1, d)[: b * 2], torch.tril(x), x.split(2, dim=1)[0], x.chunk(2, 2)[1], x.size(0) * 2)


class Dictionary(nn.Module):
    def forward(self, x: Tensor) -> Dict[str, Tensor]:
        out: Dict[str, Tensor] = {}
        for name, factor in zip(["a", "b", "c"], [1.0, 2.0, 3.0]):
            out[name] = x * factor
        if "b" in out:
            out["sum"] = out["a"] + out["b"]
        del out["a"]
        return out


class Lists(nn.Module):
    def forward(self, pair: Tuple[Tensor, Tensor], rest: List[Tensor], scale: Optional[Tensor] = None):
        total = pair[0] - pair[1]
        rest = [each * 2 for each in rest] + [total]
        for number, each in enumerate(rest[:-1]):
            total = total + each * number
        if scale is not None:
            total = total * scale
        return torch.stack(rest), total, [each.sum() for each in rest][::-1], len(rest)


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(20, 8, padding_idx=0)
        self.register_buffer("positions", torch.arange(16).expand((1, -1)))
        self.places = nn.Embedding(16, 8)
        self.bag = nn.EmbeddingBag(20, 4, mode="mean")

    def forward(self, ids):
        x = self.tokens(ids) + self.places(self.positions[:, : ids.size(1)])
        return x, self.bag(ids), F.one_hot(ids, 20).float() @ self.tokens.weight


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, 4, c // 4).permute(2, 0, 3, 1, 4).unbind(0)
        mask = torch.triu(torch.full((n, n), float("-inf")), diagonal=1)
        y = (q @ k.transpose(-2, -1)) * (c // 4) ** -0.5 + mask
        return (y.softmax(dim=-1) @ v).transpose(1, 2).reshape(b, n, c)


class Scatter(nn.Module):
    def forward(self, x, index):
        zeros = torch.zeros(x.size(0), 6)
        return (zeros.scatter_add(1, index, x), torch.zeros(x.size(0), 6).scatter_(1, index, 1.0), zeros.index_add(1, index[0].contiguous(), x),
                torch.index_select(x, 1, index[0, :2] // 4), torch.zeros(x.size(0), 6).index_put_((torch.arange(x.size(0)).unsqueeze(1), index), x))


class Vision(nn.Module):
    def forward(self, x, grid):
        theta = torch.tensor([[[1.0, 0.1, 0.0], [0.0, 0.9, 0.2]]]).expand(x.size(0), -1, -1)
        made = F.affine_grid(theta, [x.size(0), x.size(1), 5, 4], align_corners=False)
        return F.grid_sample(x, grid, align_corners=False), F.grid_sample(x, made, padding_mode="border", align_corners=True), F.pixel_shuffle(x, 2), F.unfold(x, 2)


def modules():
    net("modules.mlp", lambda: nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 3), nn.LogSoftmax(dim=1)), ways=BOTH, **normal("n", 6))
    net("modules.residual", lambda: nn.Sequential(Residual(4), Residual(4)), ways=BOTH, **normal("n", 4, 6, 6))
    net("modules.unet", UNet, ways=BOTH, **normal("n", 1, 8, 8))
    net("modules.upsamples", Upsamples, ways=BOTH, **normal("n", 2, 4, 5))
    net("modules.indexing", Indexing, ways=BOTH, **normal("n", 3, 4))
    net("modules.masked_indexing", MaskedIndexing, ways=BOTH, **normal("n", 4))
    net("modules.einsums", Einsums, ways=BOTH, **normal("n", 3, 4))
    net("modules.norms", Norms, ways=BOTH, **normal("n", 6, 5))
    net("modules.activations", Activations, ways=BOTH, **normal("n", 4))
    net("modules.arithmetic", Arithmetic, lambda e: (torch.randn(2 + e, 3), torch.rand(2 + e, 3)), BOTH, {0: (0,), 1: (0,)})
    net("modules.integers", Integers, ways=BOTH, **indices(10, "n", 3))
    net("modules.reductions", Reductions, ways=BOTH, **normal("n", 3, 4))
    net("modules.shapes", Shapes, ways=BOTH, **normal("n", 4, 6))
    net("modules.dictionary", Dictionary, ways="scripted", **normal("n", 4))
    net("modules.lists", Lists, lambda e: ((torch.randn(3), torch.randn(3)), [torch.randn(3), torch.randn(3)], torch.randn(3)), "scripted")
    net("modules.embeddings", Embeddings, ways=BOTH, **indices(20, "n", 5))
    net("modules.attention", Attention, ways=BOTH, **normal("n", 5, 16))
    net("modules.multihead", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2), ways=BOTH, **normal("n", 5, 16))
    net("modules.transformer", lambda: nn.Transformer(16, 2, 1, 1, 32, batch_first=True),
        lambda e: (torch.randn(2 + e, 4, 16), torch.randn(2 + e, 3, 16)), BOTH, {0: (0,), 1: (0,)})
    net("modules.scatter", Scatter, lambda e: (torch.randn(2 + e, 3), torch.tensor([[0, 4, 2]]).expand(2 + e, 3).contiguous()), BOTH, {0: (0,), 1: (0,)})
    net("modules.vision", Vision, lambda e: (torch.randn(2 + e, 4, 6, 6), torch.rand(2 + e, 3, 3, 2) * 2 - 1), BOTH, {0: (0,), 1: (0,)})


modules()
