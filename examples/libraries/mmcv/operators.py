# SPDX-License-Identifier: MIT
"""Deformable attention and the focal loss of mmcv."""

import torch

NAMESPACE = "mmcv"
SCHEMAS = """
ms_deform_attn_forward(Tensor value, Tensor value_spatial_shapes, Tensor value_level_start_index, Tensor sampling_locations, Tensor attention_weights, int im2col_step) -> Tensor
sigmoid_focal_loss_forward(Tensor input, Tensor target, Tensor weight, Tensor(a!) output, float gamma, float alpha) -> ()
"""


def ms_deform_attn_forward(value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights, im2col_step):
    """value: (batch, places of all levels, heads, channels); locations: (batch, queries, heads, levels, points, 2), from 0 to 1;
    weights: (batch, queries, heads, levels, points). The weighted sum of what lies at the locations, (batch, queries, heads * channels)."""
    batch, _, heads, channels = value.shape
    queries, points = sampling_locations.shape[1], sampling_locations.shape[4]
    result = value.new_zeros(batch * heads, channels, queries)
    for level, (height, width) in enumerate(value_spatial_shapes.tolist()):
        begin = int(value_level_start_index[level])
        image = value[:, begin : begin + height * width].permute(0, 2, 3, 1).reshape(batch * heads, channels, height, width)
        grid = (2 * sampling_locations[:, :, :, level] - 1).transpose(1, 2).reshape(batch * heads, queries, points, 2)
        seen = torch.nn.functional.grid_sample(image, grid, align_corners=False)
        weights = attention_weights[:, :, :, level].transpose(1, 2).reshape(batch * heads, 1, queries, points)
        result += (seen * weights).sum(-1)
    return result.view(batch, heads * channels, queries).transpose(1, 2).contiguous()


def ms_deform_attn_forward_fake(value, value_spatial_shapes, value_level_start_index, sampling_locations, attention_weights, im2col_step):
    return value.new_empty(value.shape[0], sampling_locations.shape[1], value.shape[2] * value.shape[3])


def sigmoid_focal_loss_forward(input, target, weight, output, gamma, alpha):
    """-alpha (1 - p)^gamma log(p) at the target of each row, -(1 - alpha) p^gamma log(1 - p) elsewhere; weight may be empty."""
    p = torch.sigmoid(input)
    least = torch.finfo(torch.float32).tiny
    hit = -alpha * (1 - p) ** gamma * p.clamp(min=least).log()
    miss = -(1 - alpha) * p**gamma * (1 - p).clamp(min=least).log()
    loss = torch.where(target.unsqueeze(1) == torch.arange(input.shape[1]), hit, miss)
    output.copy_(loss * weight[target].unsqueeze(1) if weight.numel() else loss)


class Model(torch.nn.Module):
    """Two levels of features, four heads of two channels."""

    def __init__(self):
        super().__init__()
        self.register_buffer("shapes", torch.tensor([[3, 4], [2, 2]]))
        self.register_buffer("starts", torch.tensor([0, 12]))

    def forward(self, value, locations, weights, target):
        y = torch.ops.mmcv.ms_deform_attn_forward(value, self.shapes, self.starts, locations, weights, 64)
        scores = y.mean(1)
        loss = torch.empty_like(scores)
        torch.ops.mmcv.sigmoid_focal_loss_forward(scores, target, scores.new_empty(0), loss, 2.5, 0.75)
        return y, loss


SIZES = (2, 5)
batch, queries = torch.export.Dim("batch", max=100), torch.export.Dim("queries", max=100)
DYNAMIC = {"value": {0: batch}, "locations": {0: batch, 1: queries}, "weights": {0: batch, 1: queries}, "target": {0: batch}}


def inputs(size):
    return {
        "value": torch.randn(size, 16, 4, 2),
        "locations": torch.rand(size, size + 1, 4, 2, 3, 2) * 1.5 - 0.25,
        "weights": torch.rand(size, size + 1, 4, 2, 3),
        "target": torch.randint(0, 8, (size,)),
    }


def calls():
    for shapes in ([[3, 4], [2, 1]], [[2, 5]]):
        sizes = torch.tensor(shapes)
        counts = sizes.prod(1)
        locations = torch.rand(2, 3, 4, len(shapes), 2, 2) * 1.5 - 0.25
        weights = torch.rand(2, 3, 4, len(shapes), 2)
        value = torch.randn(2, int(counts.sum()), 4, 3)
        torch.ops.mmcv.ms_deform_attn_forward(value, sizes, counts.cumsum(0) - counts, locations, weights, 64)
    for rows, classes in ((4, 3), (1, 6)):
        x, target = torch.randn(rows, classes) * 4, torch.randint(0, classes, (rows,))
        for weight in (torch.zeros(0), torch.rand(classes)):
            torch.ops.mmcv.sigmoid_focal_loss_forward(x, target, weight, torch.zeros(rows, classes), 2.5, 0.25)
