# SPDX-License-Identifier: MIT
"""Detection and segmentation, also of medical volumes."""

import torch

from nets import BATCH, batched, images, method, net, normal


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


def yolo(name, size=64):
    from ultralytics.nn.tasks import yaml_model_load
    from ultralytics.nn import tasks

    kind = {"-cls": "ClassificationModel", "-seg": "SegmentationModel", "-pose": "PoseModel", "-obb": "OBBModel"}
    kind = next((model for part, model in kind.items() if part in name), "RTDETRDetectionModel" if "rtdetr" in name else "DetectionModel")
    return images(getattr(tasks, kind)(f"{name}.yaml", verbose=False), size)


@net("ultralytics", static=True)
def yolov8n():
    return yolo("yolov8n")


@net("ultralytics", static=True)
def yolov8n_seg():
    return yolo("yolov8n-seg")


@net("ultralytics", static=True)
def yolov8n_pose():
    return yolo("yolov8n-pose")


@net("ultralytics", static=True)
def yolov8n_obb():
    return yolo("yolov8n-obb")


@net("ultralytics", static=True)
def yolov10n():
    return yolo("yolov10n")


def volumes(module, size=32, channels=1):
    return batched(module, (channels, size, size, size), least=1, batch=1, other=2)


@net("monai", static=True)
def unet_3d():
    from monai.networks.nets import UNet

    return volumes(UNet(3, 1, 2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1))


@net("monai", static=True)
def seg_res_net():
    from monai.networks.nets import SegResNet

    return volumes(SegResNet(init_filters=8, in_channels=1, out_channels=2, blocks_down=(1, 1, 1), blocks_up=(1, 1)))


@net("monai")
def dynamic_unet():
    from monai.networks.nets import DynUNet

    return images(DynUNet(2, 3, 2, [3, 3, 3], [1, 2, 2], [2, 2], filters=[4, 8, 16]), 32)


@net("monai", static=True)
def unetr():
    from monai.networks.nets import UNETR

    return volumes(UNETR(1, 2, 32, feature_size=4, hidden_size=24, mlp_dim=32, num_heads=2))


@net("monai")
def attention_unet():
    from monai.networks.nets import AttentionUnet

    return images(AttentionUnet(2, 3, 2, channels=(4, 8, 16), strides=(2, 2)), 32)


@net("monai")
def varautoencoder():
    from monai.networks.nets import VarAutoEncoder

    module = VarAutoEncoder(2, (1, 32, 32), 1, latent_size=6, channels=(4, 8), strides=(2, 2))
    return images(module, 32, channels=1)


@net("monai")
def local_net():
    from monai.networks.nets import LocalNet

    return images(LocalNet(2, 2, 4, [0, 1], out_channels=2, out_activation=None), 32, channels=2)


@net("monai", static=True)
def warp():
    from monai.networks.blocks import DVF2DDF, Warp

    module = torch.nn.ModuleList([DVF2DDF(num_steps=2, mode="bilinear", padding_mode="border"), Warp("bilinear", "border")])

    def move(module, image, field):
        return module[1](image, module[0](field))

    args, other = ((normal(n, 1, 12, 14), normal(n, 2, 12, 14)) for n in (2, 3))
    return method(module, move, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)
