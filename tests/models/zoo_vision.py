# SPDX-License-Identifier: MIT
"""Image models of torchvision, mostly with small widths; AlexNet and ResNet-50 at full size."""

import functools
import importlib.util
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

from zoo import Made, dim, images, model, normal


def declare_missing_operators():
    """torchvision's extension only loads beside the very build of torch that it was made for, and the package wants two
    operators of it when it is imported: they are declared where the extension does not load."""
    folder = pathlib.Path(importlib.util.find_spec("torchvision").origin).parent
    try:
        torch.ops.load_library(str(folder / "_C.so"))
        return None
    except OSError:
        library = torch.library.Library("torchvision", "DEF")
        library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return library


# The declarations live as long as this.
DECLARED = declare_missing_operators() if importlib.util.find_spec("torchvision") else None


def torchvision_models():
    from torchvision import models

    return models


vision = functools.partial(model, needs="torchvision")


@vision("alexnet", full_size=True)
def alexnet():
    return images(torchvision_models().alexnet(), 224, batch=2, other_batch=1)


@vision("resnet50", full_size=True)
def resnet50():
    return images(torchvision_models().resnet50(), 224, batch=2, other_batch=1)


@vision("vit_b_16", full_size=True, tested=False)
def vit_b_16():
    return images(torchvision_models().vit_b_16(), 224, batch=2, other_batch=1)


@vision("alexnet_fixed_batch")
def alexnet_fixed_batch():
    made = images(torchvision_models().AlexNet(num_classes=7), 64, dynamic=False)
    made.module.classifier = nn.Sequential(nn.Dropout(), nn.Linear(9216, 48), nn.ReLU(inplace=True), nn.Linear(48, 7))
    return made


@vision("vgg", parts=["plain", "bn"])
def vgg(kind):
    from torchvision.models.vgg import VGG, make_layers

    layers = make_layers([8, "M", 16, "M", 24, 24, "M", 32, "M"], batch_norm=kind == "bn")
    module = VGG(layers, num_classes=11, init_weights=False)
    module.classifier = nn.Sequential(nn.Linear(32 * 7 * 7, 40), nn.ReLU(True), nn.Dropout(), nn.Linear(40, 11))
    return images(module, (48, 64))


@vision("resnet18_small_images")
def resnet18_small_images():
    from torchvision.models.resnet import BasicBlock, ResNet

    return images(ResNet(BasicBlock, [1, 1, 1, 1], num_classes=9), (40, 56))


@vision("resnext")
def resnext():
    from torchvision.models.resnet import Bottleneck, ResNet

    return images(ResNet(Bottleneck, [1, 1, 1, 1], num_classes=9, groups=4, width_per_group=4), (48, 40))


@vision("resnet_dilated_dynamic_size")
def resnet_dilated_dynamic_size():
    from torchvision.models.resnet import Bottleneck, ResNet

    module = ResNet(
        Bottleneck,
        [1, 2, 1, 1],
        num_classes=5,
        groups=2,
        width_per_group=16,
        replace_stride_with_dilation=[False, True, True],
    )
    dims = {0: dim("batch"), 2: dim("height", 32, 512), 3: dim("width", 32, 512)}
    return Made(module, (normal(2, 3, 64, 48),), (normal(3, 3, 50, 83),), (dims,))


@vision("squeezenet", parts=["1_0", "1_1"])
def squeezenet(version):
    return images(torchvision_models().SqueezeNet(version, num_classes=13), 64)


@vision("mobilenet_v2")
def mobilenet_v2():
    return images(torchvision_models().mobilenet_v2(width_mult=0.25, num_classes=10), 64)


@vision("mobilenet_v3", parts=["small", "large"])
def mobilenet_v3(size):
    build = getattr(torchvision_models(), f"mobilenet_v3_{size}")
    return images(build(width_mult=0.25, num_classes=10), (64, 96))


@vision("efficientnet")
def efficientnet():
    from torchvision.models.efficientnet import EfficientNet, _efficientnet_conf

    settings, last = _efficientnet_conf("efficientnet_b0", width_mult=0.25, depth_mult=0.5)
    return images(EfficientNet(settings, 0.2, last_channel=last, num_classes=10), 64)


@vision("efficientnet_v2")
def efficientnet_v2():
    from torchvision.models.efficientnet import EfficientNet, FusedMBConvConfig, MBConvConfig

    settings = [
        FusedMBConvConfig(1, 3, 1, 8, 8, 1),
        FusedMBConvConfig(4, 3, 2, 8, 16, 2),
        MBConvConfig(4, 3, 2, 16, 24, 2),
    ]
    return images(EfficientNet(settings, 0.2, last_channel=64, num_classes=10), 48)


@vision("densenet")
def densenet():
    module = torchvision_models().DenseNet(
        growth_rate=6, block_config=(2, 3, 2, 2), num_init_features=12, num_classes=10
    )
    return images(module, 64)


@vision("googlenet")
def googlenet():
    module = torchvision_models().GoogLeNet(num_classes=10, aux_logits=False, init_weights=False, transform_input=True)
    return images(module, 96)


@vision("inception_v3")
def inception_v3():
    module = torchvision_models().Inception3(num_classes=10, aux_logits=False, init_weights=False, transform_input=True)
    return images(module, 128, batch=2, other_batch=1)


@vision("shufflenet_v2")
def shufflenet_v2():
    return images(torchvision_models().ShuffleNetV2([2, 3, 2], [12, 16, 32, 64, 96], num_classes=10), 64)


@vision("mnasnet")
def mnasnet():
    return images(torchvision_models().MNASNet(0.35, num_classes=10), 64)


@vision("regnet", parts=["x", "y"])
def regnet(kind):
    from torchvision.models.regnet import BlockParams, RegNet

    params = BlockParams.from_init_params(6, 16, 12.0, 2.0, 8, se_ratio=0.25 if kind == "y" else None)
    return images(RegNet(params, num_classes=10), 64)


@vision("vit")
def vit():
    module = torchvision_models().VisionTransformer(
        32, 8, num_layers=2, num_heads=3, hidden_dim=48, mlp_dim=80, num_classes=10
    )
    return images(module, 32)


@vision("vit_fixed_batch")
def vit_fixed_batch():
    module = torchvision_models().VisionTransformer(
        24, 8, num_layers=3, num_heads=2, hidden_dim=32, mlp_dim=48, num_classes=6
    )
    return images(module, 24, batch=1, dynamic=False)


@vision("convnext")
def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    settings = [CNBlockConfig(12, 24, 2), CNBlockConfig(24, 40, 1), CNBlockConfig(40, None, 1)]
    return images(ConvNeXt(settings, num_classes=10), (64, 48))


@vision("swin", parts=["v1", "v2"])
def swin(version):
    from torchvision.models.swin_transformer import PatchMergingV2, SwinTransformer, SwinTransformerBlockV2

    other = {"block": SwinTransformerBlockV2, "downsample_layer": PatchMergingV2} if version == "v2" else {}
    return images(SwinTransformer([4, 4], 12, [2, 2], [2, 3], [4, 4], num_classes=10, **other), (48, 40))


@vision("maxvit")
def maxvit():
    module = torchvision_models().MaxVit(
        (64, 64),
        8,
        partition_size=2,
        block_channels=[8, 16],
        block_layers=[1, 1],
        head_dim=4,
        stochastic_depth_prob=0.0,
        num_classes=10,
    )
    for part in module.modules():
        if isinstance(part, (nn.Linear, nn.Conv2d)):
            nn.init.normal_(part.weight, std=0.2)  # 0.02, as the model has it, drowns in the biases
    return images(module, 64)


@vision("fcn")
def fcn():
    from torchvision.models.segmentation.fcn import FCN, FCNHead

    return segmentation(FCN, FCNHead(1024, 5))


@vision("deeplab_v3")
def deeplab_v3():
    from torchvision.models.segmentation.deeplabv3 import DeepLabHead, DeepLabV3

    return segmentation(DeepLabV3, DeepLabHead(1024, 5, atrous_rates=(2, 3, 5)))


def segmentation(kind, head):
    from torchvision.models._utils import IntermediateLayerGetter
    from torchvision.models.resnet import Bottleneck, ResNet

    trunk = ResNet(
        Bottleneck, [1, 1, 1, 1], groups=8, width_per_group=4, replace_stride_with_dilation=[False, True, True]
    )
    module = kind(IntermediateLayerGetter(trunk, {"layer3": "out"}), head)
    dims = {0: dim("batch"), 2: dim("height", 48, 256), 3: dim("width", 48, 256)}
    return Made(module, (normal(2, 3, 64, 72),), (normal(1, 3, 80, 56),), (dims,))


@vision("lraspp")
def lraspp():
    from torchvision.models._utils import IntermediateLayerGetter
    from torchvision.models.segmentation.lraspp import LRASPP

    trunk = torchvision_models().mobilenet_v3_small(width_mult=0.25, dilated=True).features
    trunk = IntermediateLayerGetter(trunk, {"1": "low", "8": "high"})
    shapes = trunk(normal(2, 3, 64, 64))
    return images(LRASPP(trunk, shapes["low"].shape[1], shapes["high"].shape[1], 4, inter_channels=24), (64, 96))


@vision("feature_pyramid")
def feature_pyramid():
    """The trunk and neck of a detector: five maps in a dict."""
    from torchvision.models.detection.backbone_utils import BackboneWithFPN
    from torchvision.models.resnet import BasicBlock, ResNet

    layers = {f"layer{i}": str(i) for i in (1, 2, 3, 4)}
    return images(BackboneWithFPN(ResNet(BasicBlock, [1, 1, 1, 1]), layers, [64, 128, 256, 512], 16), (64, 80))


@vision("video_swin")
def video_swin():
    from torchvision.models.video.swin_transformer import SwinTransformer3d

    module = SwinTransformer3d([2, 4, 4], 12, [2, 2], [2, 3], [2, 4, 4], num_classes=10)
    return Made(module, (normal(1, 3, 4, 32, 40),), (normal(1, 3, 4, 32, 40),))


class PaddedPools(nn.Module):
    """Pools of images that are padded with zeros, as in BiT: their negative maxima become zero at the border."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 1)
        self.pools = nn.ModuleList(
            [
                nn.MaxPool2d((3, 2), (2, 1)),
                nn.MaxPool2d(2, 2, padding=1),
                nn.MaxPool2d(2, dilation=2, ceil_mode=True),
                nn.AvgPool2d(3, 2, padding=1, count_include_pad=False),
            ]
        )
        self.pads = [(1, 0, 2, 1), (0, 1, 0, 1), (4, 4, 4, 4), (3, 0, 1, 3)]

    def forward(self, x):
        x = -self.conv(x).abs() - 0.5
        return [pool(F.pad(x, pads)) for pool, pads in zip(self.pools, self.pads, strict=True)]


@model("padded_pools")
def padded_pools():
    return images(PaddedPools(), (9, 12))
