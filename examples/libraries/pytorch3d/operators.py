# SPDX-License-Identifier: MIT
"""Point clouds of pytorch3d, as batches of clouds of different lengths."""

import torch

NAMESPACE = "pytorch3d"
SCHEMAS = """
ball_query(Tensor p1, Tensor p2, Tensor lengths1, Tensor lengths2, int K, float radius) -> (Tensor, Tensor)
sample_farthest_points(Tensor points, Tensor lengths, Tensor K, Tensor start_idxs) -> Tensor
"""


def ball_query(p1, p2, lengths1, lengths2, K, radius):
    """For each point of p1 the first K points of p2 within the radius: their indices, or -1, and squared distances, or 0."""
    index = torch.full((*p1.shape[:2], K), -1)
    distances = p1.new_zeros(*p1.shape[:2], K)
    for n in range(p1.shape[0]):
        for i in range(int(lengths1[n])):
            squares = (p1[n, i] - p2[n, : int(lengths2[n])]).square().sum(-1)
            near = (squares < radius * radius).nonzero().view(-1)[:K]
            index[n, i, : near.numel()] = near
            distances[n, i, : near.numel()] = squares[near]
    return index, distances


def ball_query_fake(p1, p2, lengths1, lengths2, K, radius):
    return p1.new_empty(*p1.shape[:2], K, dtype=torch.int64), p1.new_empty(*p1.shape[:2], K)


def sample_farthest_points(points, lengths, K, start_idxs):
    """K[n] indices of each cloud, each the farthest from those before; -1 after the last."""
    index = torch.full((points.shape[0], int(K.max())), -1)
    for n in range(points.shape[0]):
        count = int(lengths[n])
        nearest = torch.full((count,), float("inf"))
        at = int(start_idxs[n])
        for i in range(min(int(K[n]), count)):
            index[n, i] = at
            nearest = torch.minimum(nearest, (points[n, :count] - points[n, at]).square().sum(-1))
            at = int(nearest.argmax())
    return index


def sample_farthest_points_fake(points, lengths, K, start_idxs):
    return lengths.new_empty(points.shape[0], torch.library.get_ctx().new_dynamic_size())


class Model(torch.nn.Module):
    """Groups the neighbors of sampled points."""

    def forward(self, points, lengths, counts):
        ops = torch.ops.pytorch3d
        sampled = ops.sample_farthest_points(points, lengths, counts, torch.zeros_like(lengths))
        index, distances = ops.ball_query(points, points, lengths, lengths, 3, 1.25)
        return sampled * 2, index, distances.sqrt()


SIZES = (6, 11)
batch = torch.export.Dim("batch", max=100)
DYNAMIC = {"points": {0: batch, 1: torch.export.Dim("points", max=1000)}, "lengths": {0: batch}, "counts": {0: batch}}


def inputs(size):
    lengths = torch.tensor([size, size - 2, 3, 1])[: size // 2]
    return {"points": torch.randn(size // 2 if size < 8 else 4, size, 3), "lengths": lengths, "counts": lengths.flip(0) + 1}


def calls():
    ops = torch.ops.pytorch3d
    for size, other in ((5, 7), (8, 3)):
        p1, p2 = torch.randn(2, size, 3), torch.randn(2, other, 3)
        lengths1, lengths2 = torch.tensor([size, 2]), torch.tensor([other - 1, other])
        for K, radius in ((2, 2.0), (5, 1.25), (1, 0.001)):
            ops.ball_query(p1, p2, lengths1, lengths2, K, radius)
        ops.sample_farthest_points(p1, lengths1, torch.tensor([2, 4]), torch.tensor([1, 0]))
        ops.sample_farthest_points(p2, lengths2, torch.tensor([3, 1]), torch.tensor([0, other - 1]))
