# SPDX-License-Identifier: MIT
"""Programs whose numbers depend on their inputs, as detection models have them: anchors over a grid of dynamic size, boxes
clipped to the image, elements assigned from sizes, ranges and fills of computed numbers."""

import functools

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


@model("rows_assigned_from_either_end")
def from_either_end():
    """Bounds of slices that only the length of the axis limits."""

    def assign(x):
        y = torch.select_scatter(torch.select_scatter(x, x[1], 0, -1), x[0] * 2, 0, -2)
        y = torch.slice_scatter(y, x[2:90] + 3, 0, 2, 90)
        y = torch.slice_scatter(y, -x[-3:-1], 0, -3, -1)
        return torch.slice_scatter(torch.select_scatter(y, x[-1] / 4, 0, 1), x[:0], 0, 90, 1)

    return Made(Apply(assign), (normal(6, 4),), (normal(9, 4),), ({0: dim("rows", 4, 12)},))


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


ADAPTIVE = {"avg": F.adaptive_avg_pool1d, "max": functools.partial(F.adaptive_max_pool1d, return_indices=True)}


@model("adaptive_pool_of_any_length", quick=True, parts=list(ADAPTIVE))
def any_length(kind):
    """Lengths that the number of windows divides, others, and shorter ones. The square roots have NaN, the logarithms
    infinities."""
    pool = ADAPTIVE[kind]

    def use(x):
        pooled = pool(x, 5), pool(x[0].sqrt(), 7), pool(x.relu().log(), 3), pool(-x.relu().log(), 4)
        return pooled, pool(x.double(), 6), pool(x.half(), 5)

    return Made(Apply(use), (normal(2, 3, 24),), (normal(2, 3, 6),), ({2: dim("length", 2, 200)},))


@model("adaptive_pool_of_any_size", quick=True, parts=["avg", "max"])
def any_size(kind):
    """Planes and volumes of which all sizes, or some, are dynamic."""

    def use(x, v):
        if kind == "max":
            return F.adaptive_max_pool2d(x, (3, 4), True), F.adaptive_max_pool3d(v, (2, 1, 5), True)
        planes = F.adaptive_avg_pool2d(x, (3, 4)), F.adaptive_avg_pool2d(x, (None, 2)), F.adaptive_avg_pool2d(x[0], (1, 3))
        return planes, F.adaptive_avg_pool3d(v, (2, 1, 5))

    args, other = (normal(2, 3, 13, 9), normal(2, 3, 5, 8, 9)), (normal(2, 3, 5, 30), normal(2, 3, 5, 8, 4))
    dynamic = ({2: dim("height", 3, 60), 3: dim("width", 3, 60)}, {4: dim("depth", 3, 60)})
    return Made(Apply(use), args, other, dynamic)


@model("adaptive_pool_to_computed_sizes", quick=True)
def computed_sizes():
    def use(x, n):
        count = n.item()
        torch._check(count >= 0)
        torch._check(count <= 30)
        pool = torch.ops.aten._adaptive_avg_pool2d
        return F.adaptive_avg_pool2d(x, (x.shape[2] + 2, x.shape[1] // 3 + 1)), pool(x, [count, 4])

    dynamic = ({1: dim("height", 6, 60), 2: dim("width", 6, 60)}, None)
    return Made(Apply(use), (normal(3, 13, 9), torch.tensor(5)), (normal(3, 8, 16), torch.tensor(11)), dynamic)


@model("tensor_split_at_computed_indices", quick=True)
def split_at_computed():
    def use(x, at):
        n = x.shape[0]
        pieces = torch.tensor_split(x, at, 0) + torch.tensor_split(x, [1, n - 2, -1], 0)
        return tuple(piece.sum(0) for piece in pieces)

    args, other = (normal(7, 3), torch.tensor([1, 4])), (normal(11, 3), torch.tensor([-3, 20]))
    return Made(Apply(use), args, other, ({0: dim("rows", 6, 40)}, None))


@model("pdist_of_any_number_of_rows", quick=True)
def pairs():
    def use(x):
        return torch.pdist(x), torch.pdist(x, 1.0), torch.pdist(x.double(), 3.0)

    return rows(use, 3, 9)


@model("strided_views_of_computed_sizes", quick=True)
def strided():
    def use(x):
        n = x.shape[0]
        windows = x.as_strided((n, 2, 3), (4, 1, 1)), x.as_strided((3, 2), (n, 2), 1), x.as_strided((n, n), (1, 3), 2)
        return windows, torch.as_strided_scatter(x, x[:, 0] * 2, (n,), (3,), 1), (x * x).sum_to_size(n, 1)

    return rows(use, 12, 9)
