# SPDX-License-Identifier: MIT
"""Nets written by hand: encoders and decoders of images, generators, 3-D convolutions, mixers, other norms."""

import torch
import torch.nn.functional as F
from torch import nn

from zoo import Made, dim, images, model, normal

BATCH = dim("batch")


def conv_bn(inputs, outputs, **options):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False, **options), nn.BatchNorm2d(outputs), nn.ReLU(True)
    )


class UNet(nn.Module):
    def __init__(self, bilinear):
        super().__init__()
        self.down = nn.ModuleList([conv_bn(2, 6), conv_bn(6, 10), conv_bn(10, 16)])
        self.up = nn.ModuleList([self.upsample(16, 10, bilinear), self.upsample(10, 6, bilinear)])
        self.join = nn.ModuleList([conv_bn(20, 10), conv_bn(12, 6)])
        self.head = nn.Conv2d(6, 3, 1)

    @staticmethod
    def upsample(inputs, outputs, bilinear):
        if not bilinear:
            return nn.ConvTranspose2d(inputs, outputs, 2, stride=2)
        return nn.Sequential(
            nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True), nn.Conv2d(inputs, outputs, 1)
        )

    def forward(self, x):
        kept = []
        for i, stage in enumerate(self.down):
            x = stage(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        for up, join, skip in zip(self.up, self.join, reversed(kept[:-1])):
            x = join(torch.cat((skip, up(x)), dim=1))
        return self.head(x)


@model("unet", quick=True, parts=["transposed", "bilinear"])
def unet(kind):
    return images(UNet(kind == "bilinear"), (24, 32), channels=2)


@model("unet_dynamic_size")
def unet_dynamic_size():
    height, width = (4 * dim(name, 3, 60) for name in ("height", "width"))
    return Made(UNet(False), (normal(2, 2, 24, 32),), (normal(1, 2, 40, 20),), ({0: BATCH, 2: height, 3: width},))


@model("super_resolution", quick=True)
def super_resolution():
    module = nn.Sequential(
        nn.Conv2d(1, 12, 5, padding=2), nn.PReLU(12), nn.Conv2d(12, 27, 3, padding=1), nn.PixelShuffle(3)
    )
    dims = {0: BATCH, 2: dim("height", 4, 300), 3: dim("width", 4, 300)}
    return Made(module, (normal(2, 1, 9, 11),), (normal(3, 1, 16, 7),), (dims,))


@model("dcgan_generator", quick=True)
def dcgan_generator():
    layers = []
    for inputs, outputs, stride in ((17, 24, 1), (24, 12, 2), (12, 6, 2)):
        layers += [
            nn.ConvTranspose2d(inputs, outputs, 4, stride, stride - 1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(True),
        ]
    module = nn.Sequential(*layers, nn.ConvTranspose2d(6, 3, 3, 2, 1, output_padding=1), nn.Tanh())
    return Made(module, (normal(2, 17, 1, 1),), (normal(5, 17, 1, 1),), ({0: BATCH},))


@model("dcgan_discriminator")
def dcgan_discriminator():
    layers = [
        nn.Conv2d(3, 8, 4, 2, 1, bias=False),
        nn.LeakyReLU(0.2, True),
        nn.Conv2d(8, 16, 4, 2, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.LeakyReLU(0.2, True),
        nn.Conv2d(16, 1, (6, 8)),
        nn.Sigmoid(),
        nn.Flatten(),
    ]
    return images(nn.Sequential(*layers), (24, 32))


class Vae(nn.Module):
    """What it does outside training: mean and log-variance, and the picture of the mean; noise comes from outside."""

    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 8, 3, 2, 1), nn.ELU(), nn.Flatten(), nn.Linear(8 * 6 * 8, 20))
        self.decoder = nn.Sequential(
            nn.Linear(10, 8 * 6 * 8), nn.Unflatten(1, (8, 6, 8)), nn.ELU(), nn.ConvTranspose2d(8, 1, 4, 2, 1)
        )

    def forward(self, x, noise):
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        return torch.sigmoid(self.decoder(mean + noise * torch.exp(0.5 * log_variance))), mean, log_variance


@model("vae")
def vae():
    args, other = (normal(2, 1, 12, 16), normal(2, 10)), (normal(3, 1, 12, 16), normal(3, 10))
    return Made(Vae(), args, other, ({0: BATCH}, {0: BATCH}))


@model("autoencoder")
def autoencoder():
    module = nn.Sequential(
        nn.Linear(30, 11),
        nn.Softplus(beta=2, threshold=3),
        nn.Linear(11, 5),
        nn.SELU(),
        nn.Linear(5, 30),
        nn.Softsign(),
    )
    return Made(module, (normal(2, 4, 30),), (normal(3, 4, 30),), ({0: BATCH},))


@model("mlp_float64")
def mlp_float64():
    module = nn.Sequential(nn.Linear(6, 9), nn.Tanh(), nn.BatchNorm1d(9), nn.Linear(9, 2)).double()
    return Made(module, (normal(3, 6, dtype=torch.float64),), (normal(5, 6, dtype=torch.float64),), ({0: BATCH},))


@model("cnn_float16", tolerance=2e-2)
def cnn_float16():
    module = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)
    ).half()
    return Made(
        module,
        (normal(2, 3, 13, 11, dtype=torch.float16),),
        (normal(3, 3, 13, 11, dtype=torch.float16),),
        ({0: BATCH},),
    )


@model("conv3d")
def conv3d():
    module = nn.Sequential(
        nn.Conv3d(2, 6, (3, 3, 3), (1, 2, 2), 1, bias=False),
        nn.BatchNorm3d(6),
        nn.ReLU(True),
        nn.MaxPool3d((1, 2, 2)),
        nn.Conv3d(6, 8, (2, 1, 3), groups=2),
        nn.AdaptiveAvgPool3d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
    )
    return Made(module, (normal(2, 2, 5, 20, 24),), (normal(3, 2, 5, 20, 24),), ({0: BATCH},))


@model("group_norm_net")
def group_norm_net():
    module = nn.Sequential(
        nn.Conv2d(3, 12, 3, padding=1),
        nn.GroupNorm(4, 12, eps=1e-3),
        nn.SiLU(),
        nn.AvgPool2d(2),
        nn.Conv2d(12, 8, 1),
        nn.GroupNorm(1, 8, affine=False),
        nn.Flatten(2),
    )
    return images(module, (10, 14))


@model("style_transfer")
def style_transfer():
    """Reflection padding, InstanceNorm with and without weights, upsampling by nearest neighbors."""
    module = nn.Sequential(
        nn.ReflectionPad2d(2),
        nn.Conv2d(3, 8, 5, 2),
        nn.InstanceNorm2d(8, affine=True),
        nn.ReLU(),
        nn.Upsample(scale_factor=2, mode="nearest"),
        nn.ReplicationPad2d((1, 0, 2, 1)),
        nn.Conv2d(8, 3, 3),
        nn.InstanceNorm2d(3),
    )
    return images(module, (18, 22))


class Mixer(nn.Module):
    def __init__(self, tokens=12, width=20):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, 4)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.across = nn.Sequential(nn.Linear(tokens, 18), nn.GELU(), nn.Linear(18, tokens))
        self.along = nn.Sequential(nn.Linear(width, 30), nn.GELU(approximate="tanh"), nn.Linear(30, width))
        self.head = nn.Linear(width, 7)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = x + self.across(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return self.head((x + self.along(self.norm2(x))).mean(dim=1))


@model("mlp_mixer")
def mlp_mixer():
    return images(Mixer(), (12, 16))


class Gated(nn.Module):
    """Squeeze-and-excitation, attention over places, channels shuffled."""

    def __init__(self, width=12):
        super().__init__()
        self.first = nn.Conv2d(3, width, 3, padding=1, padding_mode="circular")
        self.squeeze, self.excite = nn.Conv2d(width, 4, 1), nn.Conv2d(4, width, 1)
        self.place = nn.Conv2d(2, 1, 7, padding=3)
        self.shuffle = nn.ChannelShuffle(3)

    def forward(self, x):
        x = F.mish(self.first(x))
        x = x * F.hardsigmoid(self.excite(F.relu(self.squeeze(x.mean((2, 3), keepdim=True)))))
        both = torch.cat((x.mean(1, keepdim=True), x.amax(1, keepdim=True)), dim=1)
        return self.shuffle(F.hardswish(x * torch.sigmoid(self.place(both))))


@model("attention_gates")
def attention_gates():
    return images(Gated(), (9, 13))


class Unfolded(nn.Module):
    """A convolution by hand: unfold, a matrix product, fold."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(8, 3 * 3 * 2) * 0.3)

    def forward(self, x):
        columns = F.unfold(x, (3, 2), padding=(1, 0), stride=(1, 2))
        return (self.weight @ columns).unflatten(2, (10, 7))


@model("unfold")
def unfold():
    return images(Unfolded(), (10, 14))


class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.place = nn.Linear(2 * 8 * 6, 6)

    def forward(self, x):
        theta = self.place(x.flatten(1)).view(-1, 2, 3) * 0.2 + torch.eye(2, 3)
        grid = F.affine_grid(theta, (x.shape[0], 2, 5, 7), align_corners=False)
        return F.grid_sample(x, grid, padding_mode="border", align_corners=False)


@model("spatial_transformer")
def spatial_transformer():
    return images(SpatialTransformer(), (8, 6), channels=2)


class ChannelsLast(nn.Module):
    """Weights that are not contiguous: channels_last, a transposed one, and two parameters that are one."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1).to(memory_format=torch.channels_last)
        self.mix = nn.Parameter(torch.randn(6, 8).t())
        self.back = nn.Linear(8, 6, bias=False)
        self.again = nn.Linear(8, 6, bias=False)
        self.again.weight = self.back.weight

    def forward(self, x):
        y = self.conv(x).relu().mean((2, 3))
        return self.again(y + self.back(y) @ self.mix.t())


@model("weights_not_contiguous", quick=True)
def weights_not_contiguous():
    return images(ChannelsLast(), (6, 7))


class Counting(nn.Module):
    """Buffers that a call changes: a count, and a mean that is updated in place."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.tensor(3))
        self.register_buffer("mean", torch.randn(5))
        self.layer = nn.Linear(5, 4)

    def forward(self, x):
        self.count += 1
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return self.layer(x - self.mean) * self.count


@model("mutated_buffers", quick=True)
def mutated_buffers():
    return Made(Counting(), (normal(3, 5),), (normal(2, 5),), ({0: BATCH},))


class Rpn(nn.Module):
    """Boxes from a detector's head: scores, the best ones, deltas decoded and clipped. No suppression."""

    def __init__(self):
        super().__init__()
        self.scores, self.deltas = nn.Conv2d(6, 3, 1), nn.Conv2d(6, 12, 1)
        self.register_buffer("anchors", torch.rand(3 * 5 * 7, 4) * 20)

    def forward(self, x):
        scores = self.scores(x).permute(0, 2, 3, 1).flatten(1)
        deltas = self.deltas(x).unflatten(1, (3, 4)).permute(0, 3, 4, 1, 2).flatten(1, 3)
        best, where = scores.topk(9, dim=1)
        delta = deltas.gather(1, where[..., None].expand(-1, -1, 4))
        anchor = self.anchors[where]
        size = anchor[..., 2:] * torch.exp(delta[..., 2:].clamp(max=1.5))
        centre = anchor[..., :2] + delta[..., :2] * anchor[..., 2:]
        boxes = torch.cat((centre - size / 2, centre + size / 2), dim=-1).clamp(0, 24)
        return boxes, best.sigmoid(), best > 0.1


@model("detector_head")
def detector_head():
    return images(Rpn(), (5, 7), channels=6)


class TimeConditioned(nn.Module):
    """A block of a diffusion model: a time embedding of sines, GroupNorm, attention over places."""

    def __init__(self, width=12):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(8, 16), nn.SiLU(), nn.Linear(16, 2 * width))
        self.norm, self.conv = nn.GroupNorm(3, width), nn.Conv2d(width, width, 3, padding=1)
        self.qkv, self.out = nn.Conv2d(width, 3 * width, 1), nn.Conv2d(width, width, 1)
        self.register_buffer("rates", torch.exp(-torch.arange(4) * 0.7))

    def forward(self, x, time):
        angle = time[:, None].float() * self.rates
        scale, shift = self.time(torch.cat((angle.sin(), angle.cos()), dim=-1))[:, :, None, None].chunk(2, dim=1)
        x = x + self.conv(F.silu(self.norm(x) * (1 + scale) + shift))
        query, key, value = self.qkv(x).flatten(2).chunk(3, dim=1)
        weight = torch.bmm(query.transpose(1, 2), key).mul(12**-0.5).softmax(-1)
        return x + self.out(torch.bmm(value, weight.transpose(1, 2)).view_as(x))


@model("diffusion_block")
def diffusion_block():
    args, other = (normal(2, 12, 5, 6), torch.tensor([3, 900])), (normal(3, 12, 5, 6), torch.tensor([1, 20, 400]))
    return Made(TimeConditioned(), args, other, ({0: BATCH}, {0: BATCH}))


class GraphNet(nn.Module):
    """Two rounds of messages along edges, summed with index_add."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(10, 6), nn.Linear(11, 5)

    def forward(self, nodes, edges):
        for _ in range(2):
            source, target = edges[0], edges[1]
            messages = F.relu(self.message(torch.cat((nodes[source], nodes[target]), dim=1)))
            total = torch.zeros(nodes.shape[0], 6).index_add(0, target, messages)
            nodes = torch.tanh(self.update(torch.cat((nodes, total), dim=1)))
        return nodes, nodes.mean(0)


@model("graph_net")
def graph_net():
    args = normal(6, 5), torch.randint(0, 6, (2, 9))
    other = normal(4, 5), torch.randint(0, 4, (2, 13))
    return Made(GraphNet(), args, other, ({0: dim("nodes", 2, 99)}, {1: dim("edges", 2, 99)}))
