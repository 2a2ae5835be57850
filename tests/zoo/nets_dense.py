# SPDX-License-Identifier: MIT
"""Detection and segmentation, also of medical volumes."""

from nets import batched, images, net


def segmenter(name, encoder="resnet18", size=64, **options):
    import segmentation_models_pytorch as smp

    return images(getattr(smp, name)(encoder_name=encoder, encoder_weights=None, classes=3, **options), size)


@net("segmentation-models-pytorch")
def unet():
    return segmenter("Unet", decoder_attention_type="scse")


@net("segmentation-models-pytorch")
def deeplab_v3_plus():
    return segmenter("DeepLabV3Plus")


@net("segmentation-models-pytorch")
def pan():
    return segmenter("PAN", size=128)


@net("segmentation-models-pytorch")
def ma_net():
    return segmenter("MAnet")


@net("segmentation-models-pytorch")
def segformer():
    return segmenter("Segformer", "mit_b0")


@net("segmentation-models-pytorch")
def upernet():
    return segmenter("UPerNet")


def volumes(module, size=32, channels=1):
    return batched(module, (channels, size, size, size), least=1, batch=1, other=2)
