# SPDX-License-Identifier: MIT
"""The models of run.py that need no transformers, as entries of the zoo of tests/models, at sizes where a run takes
milliseconds: vision, audio, recurrent nets and single layers."""

import functools

import graphs  # noqa: F401  makes tests/models importable
import torch
import torch.nn.functional as F
import zoo_nets
import zoo_sequence
import zoo_spectral
from torch import nn
from zoo import Apply, Made, dim, ids, images, model, normal
from zoo_vision import torchvision_models

net = functools.partial(model, tested=False, tolerance=1e-3)
vision = functools.partial(net, needs="torchvision")
BATCH = dim("batch")


@vision("graphs_resnet18")
def _resnet18():
    return images(torchvision_models().resnet18(), 112)


@vision("graphs_resnet50")
def _resnet50():
    return images(torchvision_models().resnet50(), 96)


@vision("graphs_mobilenet_v3")
def _mobilenet_v3():
    return images(torchvision_models().mobilenet_v3_large(), 160)


@vision("graphs_efficientnet_b0")
def _efficientnet_b0():
    return images(torchvision_models().efficientnet_b0(), 128)


@vision("graphs_densenet121")
def _densenet121():
    return images(torchvision_models().densenet121(), 96)


@vision("graphs_regnet_y")
def _regnet_y():
    return images(torchvision_models().regnet_y_400mf(), 128)


@vision("graphs_shufflenet_v2")
def _shufflenet_v2():
    return images(torchvision_models().shufflenet_v2_x1_0(), 160)


@vision("graphs_vit")
def _vit():
    module = torchvision_models().VisionTransformer(128, 16, num_layers=6, num_heads=6, hidden_dim=384, mlp_dim=1152)
    return images(module, 128)


@vision("graphs_swin", parts=["v1", "v2"])
def _swin(version):
    from torchvision.models.swin_transformer import PatchMergingV2, SwinTransformer, SwinTransformerBlockV2

    other = {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2} if version == "v2" else {}
    return images(SwinTransformer([4, 4], 96, [2, 2, 2], [3, 6, 12], [7, 7], **other), 112)


@vision("graphs_convnext")
def _convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    settings = [CNBlockConfig(64, 128, 2), CNBlockConfig(128, 256, 2), CNBlockConfig(256, None, 2)]
    return images(ConvNeXt(settings), 96)


@vision("graphs_lraspp")
def _lraspp():
    """A segmentation of images of any size."""
    module = torchvision_models().segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=19)
    dims = {0: BATCH, 2: dim("height", 64, 512), 3: dim("width", 64, 512)}
    return Made(module, (normal(2, 3, 128, 160),), (normal(3, 3, 96, 128),), (dims,))


class RetinaNet(nn.Module):
    """A detector up to its heads: the trunk with feature maps, the classes and the offsets of boxes."""

    def __init__(self, classes=20, anchors=9):
        super().__init__()
        from torchvision.models.detection.backbone_utils import BackboneWithFPN
        from torchvision.models.detection.retinanet import RetinaNetHead

        layers = {f"layer{i}": str(i - 1) for i in (1, 2, 3, 4)}
        self.trunk = BackboneWithFPN(torchvision_models().resnet18(), layers, [64, 128, 256, 512], 64)
        self.head = RetinaNetHead(64, anchors, classes)

    def forward(self, x):
        return self.head(list(self.trunk(x).values()))


@vision("graphs_retinanet")
def _retinanet():
    return images(RetinaNet(), 96)


@net("graphs_deit", needs="timm")
def _deit():
    import timm

    return images(timm.create_model("deit_tiny_distilled_patch16_224", img_size=128, depth=6), 128)


@net("graphs_unet")
def _unet():
    return images(zoo_nets.UNet(True), (192, 256), channels=2)


@net("graphs_super_resolution")
def _super_resolution():
    parts = nn.Conv2d(1, 32, 5, padding=2), nn.PReLU(32), nn.Conv2d(32, 27, 3, padding=1), nn.PixelShuffle(3)
    dims = {0: BATCH, 2: dim("height", 4, 300), 3: dim("width", 4, 300)}
    return Made(nn.Sequential(*parts), (normal(2, 1, 96, 128),), (normal(3, 1, 64, 80),), (dims,))


@net("graphs_nearest_upsampling")
def _nearest_upsampling():
    """A decoder of nearest neighbors with a dynamic batch."""
    parts = []
    for inputs, outputs in ((64, 48), (48, 32), (32, 16)):
        parts += [nn.Upsample(scale_factor=2), nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU()]
    return images(nn.Sequential(*parts), 16, channels=64)


@net("graphs_spatial_transformer")
def _spatial_transformer():
    """Pictures rotated by angles that are inputs, as in a pyramid of kornia."""

    def rotate(x, angle):
        zero = torch.zeros_like(angle)
        rows = torch.stack((angle.cos(), -angle.sin(), zero, angle.sin(), angle.cos(), zero), 1)
        return F.grid_sample(x, F.affine_grid(rows.view(-1, 2, 3), list(x.shape), align_corners=False), align_corners=False)

    dims = ({0: BATCH}, {0: BATCH})
    return Made(Apply(rotate), (normal(2, 8, 128, 160), normal(2)), (normal(3, 8, 128, 160), normal(3)), dims)


@net("graphs_wavenet")
def _wavenet():
    return Made(zoo_sequence.WaveNet(48), (normal(2, 1, 1600),), (normal(3, 1, 900),),
                ({0: BATCH, 2: dim("length", 64, 4000)},))  # fmt: skip


@net("graphs_log_mel")
def _log_mel():
    dims = {0: BATCH, 1: dim("time", 800, 64000)}
    return Made(zoo_spectral.LogMel(bands=80), (normal(2, 32000),), (normal(3, 16000),), (dims,))


@net("graphs_lstm")
def _lstm():
    return Made(nn.LSTM(96, 128, num_layers=2, batch_first=True, bidirectional=True), (normal(2, 60, 96),),
                (normal(3, 60, 96),), ({0: BATCH},))  # fmt: skip


@net("graphs_gru")
def _gru():
    return Made(nn.GRU(96, 192, num_layers=2, batch_first=True), (normal(2, 60, 96),), (normal(3, 60, 96),), ({0: BATCH},))


@net("graphs_transformer_decoder")
def _transformer_decoder():
    module = nn.TransformerDecoder(nn.TransformerDecoderLayer(192, 6, 512, batch_first=True), 3)
    target, memory = {0: BATCH, 1: dim("target", 2, 90)}, {0: BATCH, 1: dim("memory", 2, 90)}
    args, other = (normal(2, 40, 192), normal(2, 60, 192)), (normal(3, 30, 192), normal(3, 70, 192))
    return Made(module, args, other, (target, memory))


@net("graphs_mixture_of_experts")
def _mixture_of_experts():
    words = {0: BATCH, 1: dim("length", 2, 90)}
    return Made(zoo_sequence.MixtureOfExperts(96, 6), (normal(2, 50, 96),), (normal(3, 40, 96),), (words,))


@net("graphs_mlp_mixer")
def _mlp_mixer():
    def block(width, inner):
        return nn.Sequential(nn.LayerNorm(width), nn.Linear(width, inner), nn.GELU(), nn.Linear(inner, width))

    class Mixer(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.channels = (nn.ModuleList(block(n, 2 * n) for _ in range(4)) for n in (64, 192))

        def forward(self, x):
            for tokens, channels in zip(self.tokens, self.channels):
                x = x + tokens(x.transpose(1, 2)).transpose(1, 2)
                x = x + channels(x)
            return x

    return Made(Mixer(), (normal(2, 64, 192),), (normal(3, 64, 192),), ({0: BATCH},))


@net("graphs_cdist")
def _cdist():
    rows = {0: dim("rows", 26, 4000)}  # torch computes fewer rows in another way
    return Made(Apply(torch.cdist), (normal(600, 64), normal(800, 64)), (normal(500, 64), normal(800, 64)), (rows, {}))


@net("graphs_weight_norm")
def _weight_norm():
    """Convolutions over time whose weights are normalized, as in TCN."""
    norm = torch.nn.utils.parametrizations.weight_norm
    parts = []
    for i in range(4):
        parts += [norm(nn.Conv1d(64, 64, 3, dilation=2**i, padding=2**i)), nn.ReLU()]
    return Made(nn.Sequential(*parts), (normal(2, 64, 4000),), (normal(3, 64, 4000),), ({0: BATCH},))


@net("graphs_spectral_norm")
def _spectral_norm():
    norm = torch.nn.utils.parametrizations.spectral_norm
    parts = []
    for inputs, outputs in ((3, 32), (32, 64), (64, 96)):
        parts += [norm(nn.Conv2d(inputs, outputs, 4, 2, 1)), nn.LeakyReLU(0.1)]
    return images(nn.Sequential(*parts), 160)


@net("graphs_tiles_written")
def _tiles_written():
    """Tiles of a picture, each scaled by its own range and written back, as in CLAHE."""

    def equalize(x):
        out = torch.zeros_like(x)
        for i in range(4):
            for j in range(4):
                tile = x[..., 96 * i : 96 * i + 96, 96 * j : 96 * j + 96]
                low, high = tile.amin((-2, -1), keepdim=True), tile.amax((-2, -1), keepdim=True)
                out[..., 96 * i : 96 * i + 96, 96 * j : 96 * j + 96] = (tile - low) / (high - low + 1e-6)
        return out

    return images(Apply(equalize), 384)


@net("graphs_axial_rotary")
def _axial_rotary():
    """Rotary positions along two axes, whose tables are made of constants."""

    def rotate(query, key):
        rates = 10000 ** (-torch.arange(0, 16, dtype=torch.float32) / 16)
        rows, columns = torch.meshgrid(torch.arange(24.0), torch.arange(24.0), indexing="ij")
        angles = torch.cat((rows.flatten()[:, None] * rates, columns.flatten()[:, None] * rates), -1)
        cos, sin = angles.cos().repeat_interleave(2, -1), angles.sin().repeat_interleave(2, -1)
        turned = []
        for x in (query, key):
            even, odd = x[..., ::2], x[..., 1::2]
            turned.append(x * cos + torch.stack((-odd, even), -1).flatten(-2) * sin)
        return (turned[0] @ turned[1].transpose(-1, -2) / 8).softmax(-1)

    make = lambda batch: (normal(batch, 4, 576, 64), normal(batch, 4, 576, 64))
    return Made(Apply(rotate), make(2), make(3), ({0: BATCH}, {0: BATCH}))


@net("graphs_embedding_propagation")
def _embedding_propagation():
    """Users and items in a graph, as in LightGCN: sums over edges that are an input."""

    class Propagation(nn.Module):
        def __init__(self, count=2000, width=64):
            super().__init__()
            self.rows = nn.Embedding(count, width)

        def forward(self, edges):
            source, target = edges[0], edges[1]
            degree = torch.zeros(self.rows.weight.shape[0]).index_add(0, target, torch.ones(edges.shape[1]))
            scale = degree.clamp(min=1).rsqrt()
            weight, x, total = (scale[source] * scale[target])[:, None], self.rows.weight, self.rows.weight
            for _ in range(2):
                x = torch.zeros_like(x).index_add(0, target, x[source] * weight)
                total = total + x
            return total / 3

    make = lambda count: (ids(2, count, below=2000),)
    return Made(Propagation(), make(6000), make(5000), ({1: dim("edges", 2, 99999)},))


@net("graphs_sorting_and_ranks")
def _sorting_and_ranks():
    """The best of many scores, and what lies between."""

    def rank(x):
        best, where = x.topk(50, dim=-1)
        middle = x.sort(dim=-1).values[..., x.shape[-1] // 2]
        return best, where, middle, x.amax(-1), x.argmax(-1), torch.remainder(x, 0.7)

    return Made(Apply(rank), (normal(64, 4000),), (normal(48, 4000),), ({0: dim("rows", 2, 100)},))
