# SPDX-License-Identifier: MIT
"""Programs whose numbers depend on their inputs, as detection models have them: anchors over a grid of dynamic size, boxes
clipped to the image, elements assigned from sizes, ranges and fills of computed numbers."""

import torch
import torch.nn.functional as F
from torch import nn

from zoo import Apply, Made, dim, model, normal

def make_anchors(features, strides, offset=0.5):
    """The points and the strides of all levels, as the heads of YOLO models compute them."""
    points, scales = [], []
    for x, stride in zip(features, strides):
        _, _, h, w = x.shape
        sx = torch.arange(end=w, device=x.device, dtype=x.dtype) + offset
        sy = torch.arange(end=h, device=x.device, dtype=x.dtype) + offset
        sy, sx = torch.meshgrid(sy, sx, indexing="ij")
        points.append(torch.stack((sx, sy), -1).view(-1, 2))
        scales.append(torch.full((h * w, 1), stride, dtype=x.dtype, device=x.device))
    return torch.cat(points), torch.cat(scales)


class Head(nn.Module):
    """Three levels; each box side is the expectation over a distribution of distances."""

    def __init__(self, channels, classes=5, bins=8):
        super().__init__()
        self.classes, self.bins = classes, bins
        self.convs = nn.ModuleList(nn.Conv2d(c, 4 * bins + classes, 1) for c in channels)

    def forward(self, features):
        maps = [conv(x) for conv, x in zip(self.convs, features)]
        points, strides = (t.transpose(0, 1) for t in make_anchors(maps, (8, 16, 32)))
        x = torch.cat([m.flatten(2) for m in maps], 2)
        box, scores = x.split((4 * self.bins, self.classes), 1)
        b, _, a = box.shape
        share = box.view(b, 4, self.bins, a).transpose(2, 1).softmax(1)
        distance = (share * torch.arange(self.bins, dtype=x.dtype).view(1, -1, 1, 1)).sum(1)
        low, high = distance.chunk(2, 1)
        first, last = points.unsqueeze(0) - low, points.unsqueeze(0) + high
        boxes = torch.cat(((first + last) / 2, last - first), 1) * strides
        return torch.cat((boxes, scores.sigmoid()), 1)


class Detector(nn.Module):
    """A small backbone of strides 8, 16 and 32 with a feature pyramid, and the head."""

    def __init__(self, clip=False):
        super().__init__()
        self.clip = clip
        self.stem = nn.Sequential(*(self.block(a, b) for a, b in ((3, 6), (6, 8), (8, 12))))
        self.middle, self.deep = self.block(12, 16), self.block(16, 20)
        self.head = Head((28, 16, 20))

    @staticmethod
    def block(a, b):
        return nn.Sequential(nn.Conv2d(a, b, 3, stride=2, padding=1), nn.BatchNorm2d(b), nn.SiLU())

    def forward(self, x):
        eighth = self.stem(x)
        sixteenth = self.middle(eighth)
        deep = self.deep(sixteenth)
        up = F.interpolate(sixteenth, size=eighth.shape[2:], mode="nearest")
        out = self.head([torch.cat((eighth, up), 1), sixteenth, deep])
        if not self.clip:
            return out
        height, width = x.shape[2], x.shape[3]
        across, down = out[:, 0:4:2].clamp(0, width), out[:, 1:4:2].clamp(min=0, max=height * 0.5)
        return torch.cat((across / width, down, out[:, 4:]), 1)


@model("detector_of_any_size", quick=True)
def detector():
    return wide(Detector())


@model("detector_clipped_to_the_picture")
def clipped_detector():
    return wide(Detector(clip=True))


def wide(module):
    """Sizes that are multiples of 32."""
    dynamic = ({2: 32 * dim("height32", 1, 6), 3: 32 * dim("width32", 1, 6)},)
    return Made(module, (normal(2, 3, 64, 96),), (normal(2, 3, 32, 160),), dynamic)


def rows(function, width=3, other=5):
    """One argument with a dynamic number of rows."""
    return Made(Apply(function), (normal(4, width),), (normal(other, width),), ({0: dim("rows", 3, 12)},))


@model("boxes_clipped_to_sizes", quick=True)
def boxes():
    def clip(x):
        boxes = x.cumsum(1) * 3
        height, width = x.shape[0], x.shape[0] * 0.5
        x1, y1 = boxes[..., 0::2].clamp(min=0, max=width), boxes[..., 1::2].clamp(min=0, max=height)
        return torch.stack((x1, y1), dim=boxes.dim()).reshape(boxes.shape)

    return rows(clip, 4)


@model("elements_assigned_from_sizes", quick=True)
def assigned():
    def assign(x):
        y = x.clone()
        y[0] = x.shape[0]
        y[1:, 1] = x.shape[0] * 0.5
        return y.masked_fill(y > x.shape[0] - 1, -x.shape[0])

    return rows(assign)


@model("numbers_from_data", quick=True)
def from_data():
    def use(x, t, n):
        scale, count = t.item(), n.item()
        torch._check(count >= 0)
        torch._check(count <= 20)
        steps = torch.linspace(0, scale, 5) + torch.arange(count + 2).sum() * scale
        return torch.lerp(x, x * x, scale).clamp(-scale * 3, count), F.elu(x, scale) + steps[:3], x.new_full((2, 3), scale)

    args = normal(4, 3), torch.tensor(0.75), torch.tensor(6)
    return Made(Apply(use), args, (normal(5, 3), torch.tensor(2.5), torch.tensor(11)), ({0: dim("rows", 2, 12)}, None, None))


@model("scaled_sums", quick=True)
def scaled_sums():
    def use(x):
        n, half = x.shape[0], x.shape[0] * 0.5
        square = x.T @ x
        product = torch.addmm(square, square, square, beta=half, alpha=1 / n)
        return product.addcmul(square, square, value=half).sub(square, alpha=n), torch.rsub(x, n, alpha=2)

    return rows(use)


@model("ranges_of_computed_ends", quick=True)
def ranges():
    def use(x):
        n = x.shape[0]
        return (
            torch.arange(n, n * 4, 3) * x[0, 0],
            torch.arange(0.5, n * 0.5 + 3, 0.25) + x[0, 1],
            torch.linspace(-n, n * 0.5, 7) * x[0, 2],
            torch.logspace(0, n * 0.25, 4),
        )

    return rows(use)
