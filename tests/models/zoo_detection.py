# SPDX-License-Identifier: MIT
"""Parts of detectors: non-maximum suppression, also of several classes and images, and heads on regions of interest. Where torchvision's
extension does not load, its operators are written here in Python."""

import torch
import zoo_vision
from torch import nn

from zoo import Apply, Made, dim, model, normal

LIBRARY = zoo_vision.DECLARED  # None if the extension is there, or torchvision is not installed


def nms(boxes, scores, threshold):
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept = []
    for i in torch.sort(scores, stable=True, descending=True).indices.tolist():
        low, high = torch.maximum(boxes[kept, :2], boxes[i, :2]), torch.minimum(boxes[kept, 2:], boxes[i, 2:])
        both = (high - low).clamp(min=0).prod(1)
        if not bool((both / (area[kept] + area[i] - both) > threshold).any()):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


def bilinear(plane, y, x):
    """Samples [rows, columns] of planes [C, H, W]; 0 outside."""
    height, width = plane.shape[1:]
    inside = ((y >= -1) & (y <= height))[:, None] & ((x >= -1) & (x <= width))[None]
    y, x = y.clamp(0, height - 1), x.clamp(0, width - 1)
    top, left = y.floor().long(), x.floor().long()
    down, across = (y - top)[:, None], (x - left)[None]
    bottom, right = (top + 1).clamp(max=height - 1), (left + 1).clamp(max=width - 1)
    upper = plane[:, top][:, :, left] * (1 - across) + plane[:, top][:, :, right] * across
    lower = plane[:, bottom][:, :, left] * (1 - across) + plane[:, bottom][:, :, right] * across
    return (upper * (1 - down) + lower * down) * inside


def roi_align(features, regions, scale, height, width, ratio, aligned):
    out = features.new_zeros(regions.shape[0], features.shape[1], height, width)
    for k, region in enumerate(regions):
        left, top, right, bottom = (region[1:] * scale - (0.5 if aligned else 0)).tolist()
        sizes = [bottom - top, right - left] if aligned else [max(bottom - top, 1.0), max(right - left, 1.0)]
        points = []
        for start, size, bins in ((top, sizes[0], height), (left, sizes[1], width)):
            count = ratio if ratio > 0 else int(-(-size // bins))
            points.append(start + size / bins * (torch.arange(bins)[:, None] + (torch.arange(count) + 0.5) / max(count, 1)))
        samples = bilinear(features[int(region[0])], points[0].flatten(), points[1].flatten())
        apart = samples.view(features.shape[1], height, points[0].shape[1], width, points[1].shape[1])
        out[k] = apart.sum((2, 4)) / max(points[0].shape[1] * points[1].shape[1], 1)
    return out


def define_operators(library):
    library.define(
        "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor"
    )
    library.impl("nms", nms, "CPU")
    library.impl("roi_align", roi_align, "CPU")
    torch.library.register_fake("torchvision::nms", lambda boxes, scores, threshold: boxes.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64))
    torch.library.register_fake("torchvision::roi_align", lambda x, rois, scale, height, width, ratio, aligned: x.new_empty(rois.shape[0], x.shape[1], height, width))


if LIBRARY is not None:
    define_operators(LIBRARY)


def boxes_of(count):
    corner = torch.rand(count, 2) * 8
    return torch.cat([corner, corner + 1 + torch.rand(count, 2) * 4], 1)


@model("nms", needs="torchvision", quick=True)
def plain_nms():
    def function(boxes, scores):
        kept = torch.ops.torchvision.nms(boxes, scores, 0.3)
        return kept, boxes[kept[:5]], scores[kept]

    count = dim("count", 2)
    return Made(Apply(function), (boxes_of(20), torch.rand(20)), (boxes_of(33), torch.rand(33)), ({0: count}, {0: count}))


@model("nms_of_classes", needs="torchvision")
def nms_of_classes():
    """As torchvision.ops.batched_nms: the boxes of each class are moved apart."""

    def function(boxes, logits):
        scores, classes = torch.softmax(logits, -1).max(-1)
        offsets = classes.to(boxes) * (boxes.max() + 1)
        kept = torch.ops.torchvision.nms(boxes + offsets[:, None], scores, 0.3)[:7]
        return boxes[kept], scores[kept], classes[kept]

    count = dim("count", 10)
    return Made(Apply(function), (boxes_of(30), normal(30, 3)), (boxes_of(41), normal(41, 3)), ({0: count}, {0: count}))


class RegionHead(nn.Module):
    def __init__(self, aligned):
        super().__init__()
        self.stem, self.aligned = nn.Conv2d(3, 4, 3, stride=2, padding=1), aligned
        self.classes = nn.Linear(4 * 3 * 2, 5)

    def forward(self, images, regions):
        features = torch.relu(self.stem(images))
        pooled = torch.ops.torchvision.roi_align(features, regions, 0.5, 3, 2, 2 if self.aligned else -1, self.aligned)
        return self.classes(pooled.flatten(1))


@model("region_head", needs="torchvision", parts=["aligned", "adaptive"])
def region_head(kind):
    def regions(count):
        return torch.cat([torch.randint(0, 2, (count, 1)).float(), boxes_of(count) * 1.5], 1)

    return Made(
        RegionHead(kind == "aligned"),
        (normal(4, 3, 24, 20), regions(6)),
        (normal(4, 3, 24, 20), regions(9)),
        ({}, {0: dim("count")}),
    )
