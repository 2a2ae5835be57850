# SPDX-License-Identifier: MIT
"""Geometry of images and points, losses of metric learning, molecules and proteins."""

import torch

from nets import BATCH, Made, batched, dim, ids, images, method, net, normal


def kornia_images(call, size=(24, 28), channels=3):
    made = images(torch.nn.Identity(), size, channels)
    return method(torch.nn.Identity(), lambda m, x: call(x.sigmoid()), *made.args, dynamic=made.dynamic, other=made.other)


@net("kornia")
def canny():
    import kornia

    return kornia_images(lambda x: kornia.filters.canny(x, hysteresis=False)[0])


@net("kornia")
def blurs():
    from kornia import filters

    return kornia_images(lambda x: (filters.gaussian_blur2d(x, (5, 5), (1.5, 1.0)), filters.median_blur(x, (3, 3)),
                                    filters.bilateral_blur(x, (3, 3), 0.1, (1.5, 1.5)), filters.motion_blur(x, 5, 35.0, 0.5)))


@net("kornia")
def gradients():
    from kornia import filters

    return kornia_images(lambda x: (filters.sobel(x), filters.laplacian(x, 3), filters.spatial_gradient(x, "diff", 2)))


@net("kornia")
def colors():
    from kornia import color

    return kornia_images(lambda x: (color.rgb_to_hsv(x), color.rgb_to_lab(x), color.rgb_to_yuv(x), color.rgb_to_luv(x),
                                    color.rgb_to_hls(x), color.hsv_to_rgb(color.rgb_to_hsv(x)), color.rgb_to_ycbcr(x)))


@net("kornia", static=True)
def enhancement():
    from kornia import enhance

    return kornia_images(lambda x: (enhance.equalize_clahe(x, grid_size=(4, 4)), enhance.adjust_hue(x, 0.3), enhance.sharpness(x, 0.5),
                                    enhance.adjust_gamma(x, 0.7)), size=(32, 32))


@net("kornia")
def histogram():
    from kornia import enhance

    return kornia_images(lambda x: enhance.histogram(x.flatten(1), torch.linspace(0, 1, 16), torch.tensor(0.1)))


@net("kornia")
def morphology():
    from kornia import morphology

    return kornia_images(lambda x: (morphology.dilation(x, torch.ones(3, 3)), morphology.opening(x, torch.ones(3, 3)),
                                    morphology.gradient(x, torch.ones(3, 3))))


@net("kornia")
def warp_perspective():
    from kornia import geometry

    corners = torch.tensor([[[0.0, 0], [27, 0], [27, 23], [0, 23]]])

    def warp(x, moved):
        transform = geometry.get_perspective_transform(corners.expand(x.shape[0], -1, -1), corners + moved.sigmoid())
        return geometry.warp_perspective(x, transform, (20, 22))

    args, other = ((normal(n, 3, 24, 28), normal(n, 4, 2)) for n in (2, 3))
    return method(torch.nn.Identity(), lambda m, x, c: warp(x, c), *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("kornia")
def rotations():
    from kornia import geometry

    def rotate(x, angle):
        return geometry.rotate(x, angle * 30), geometry.scale(x, angle.sigmoid() + 0.5), geometry.translate(x, angle[:, None].expand(-1, 2))

    args, other = ((normal(n, 3, 24, 28), normal(n)) for n in (2, 3))
    return method(torch.nn.Identity(), lambda m, x, a: rotate(x, a), *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("kornia")
def quaternions():
    from kornia.geometry import conversions

    def convert(axis):
        rotation = conversions.axis_angle_to_rotation_matrix(axis)
        quaternion = conversions.rotation_matrix_to_quaternion(rotation)
        return rotation, quaternion, conversions.quaternion_to_axis_angle(quaternion)

    return method(torch.nn.Identity(), lambda m, x: convert(x), normal(4, 3), dynamic=({0: BATCH},), other=(normal(6, 3),))


@net("kornia")
def hard_net():
    from kornia.feature import HardNet

    return images(HardNet(pretrained=False), 32, channels=1)


@net("kornia")
def losses():
    from kornia import losses

    def loss(x, y):
        target = y[:, 0].abs().mul(2).long() % 3
        return (losses.dice_loss(x, target), losses.focal_loss(x, target, 0.5, reduction="mean"), losses.tversky_loss(x, target, 0.4, 0.6),
                losses.total_variation(x), losses.inverse_depth_smoothness_loss(x[:, :1], y), losses.lovasz_softmax_loss(x, target))

    args, other = ((normal(n, 3, 9, 11), normal(n, 3, 9, 11)) for n in (2, 3))
    return method(torch.nn.Identity(), lambda m, x, y: loss(x, y), *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("pytorch-metric-learning")
def distances():
    from pytorch_metric_learning import distances as of

    parts = of.LpDistance(), of.CosineSimilarity(), of.SNRDistance(), of.DotProductSimilarity(normalize_embeddings=False)
    call = lambda m, x, y: [part.compute_mat(x, y) for part in parts]  # noqa: E731
    return method(torch.nn.Identity(), call, normal(5, 12), normal(7, 12))


@net("point-transformer-pytorch")
def point_transformer():
    from point_transformer_pytorch import PointTransformerLayer

    module = PointTransformerLayer(dim=16, pos_mlp_hidden_dim=8, attn_mlp_hidden_mult=2, num_neighbors=4)
    return batched(module, (10, 16), (10, 3))


@net("egnn-pytorch")
def egnn():
    from egnn_pytorch import EGNN

    return batched(EGNN(dim=16, m_dim=8), (9, 16), (9, 3))


@net("egnn-pytorch")
def egnn_nearest():
    from egnn_pytorch import EGNN

    return batched(EGNN(dim=16, m_dim=8, num_nearest_neighbors=4, norm_coors=True, soft_edges=True), (9, 16), (9, 3))


@net("egnn-pytorch")
def egnn_network():
    from egnn_pytorch import EGNN_Network

    module = EGNN_Network(num_tokens=12, dim=16, depth=2, num_nearest_neighbors=3, m_dim=8)
    args, other = ((ids(n, 9, below=12), normal(n, 9, 3)) for n in (2, 3))
    return Made(module, args, other, ({0: BATCH}, {0: BATCH}))


@net("se3-transformer-pytorch")
def convolution_of_degree_0():
    from se3_transformer_pytorch.se3_transformer_pytorch import LinearSE3, NormSE3
    from se3_transformer_pytorch.se3_transformer_pytorch import Fiber

    fiber = Fiber.create(2, 8)
    module = torch.nn.Sequential(LinearSE3(fiber, fiber), NormSE3(fiber))

    def call(module, x, y):
        return list(module({"0": x, "1": y}).values())

    args, other = ((normal(n, 6, 8, 1), normal(n, 6, 8, 3)) for n in (2, 3))
    return method(module, call, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("invariant-point-attention")
def point_attention():
    from invariant_point_attention import InvariantPointAttention

    module = InvariantPointAttention(dim=16, heads=2, scalar_key_dim=4, scalar_value_dim=4, point_key_dim=2, point_value_dim=2)

    def attend(module, single, pairwise, turn, move):
        return module(single, pairwise, rotations=turn, translations=move)

    args, other = ((normal(n, 7, 16), normal(n, 7, 7, 16), normal(n, 7, 3, 3), normal(n, 7, 3)) for n in (2, 3))
    return method(module, attend, *args, dynamic=({0: BATCH},) * 4, other=other)


@net("enformer-pytorch")
def enformer():
    from enformer_pytorch import Enformer

    module = Enformer.from_hparams(dim=24, depth=1, heads=2, output_heads={"human": 5, "mouse": 3}, target_length=2,
                                   num_downsamples=4, dim_divisible_by=4, attn_dim_key=8)

    def tracks(module, x):
        found = module(x)
        return found["human"], found["mouse"]

    return method(module, tracks, normal(2, 128, 4), dynamic=({0: BATCH},), other=(normal(3, 128, 4),))


@net("e3nn")
def fully_connected_tensor_product():
    from e3nn import o3

    return batched(o3.FullyConnectedTensorProduct("4x0e+2x1o", "2x0e+2x1o", "3x0e+2x1o+1x2e"), (10,), (8,))


@net("e3nn")
def spherical_harmonics():
    from e3nn import o3

    return batched(o3.SphericalHarmonics("1x0e+1x1o+1x2e+1x3o", normalize=True, normalization="component"), (5, 3))


@net("e3nn")
def linear_and_radial():
    from e3nn import o3
    from e3nn.math import soft_one_hot_linspace
    from e3nn.nn import FullyConnectedNet

    module = torch.nn.ModuleList([FullyConnectedNet([10, 16, 6], torch.relu), o3.Linear("6x0e", "4x0e")])

    def radial(module, r):
        basis = soft_one_hot_linspace(r.abs(), 0.0, 3.0, 10, basis="smooth_finite", cutoff=True)
        return module[1](module[0](basis))

    return method(module, radial, normal(9), dynamic=({0: BATCH},), other=(normal(11),))


@net("torchani")
def celu_net():
    from torchani.nn import AtomicNetwork

    return batched(AtomicNetwork(layer_dims=(24, 16, 8, 1)), (24,))
