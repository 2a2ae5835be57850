# SPDX-License-Identifier: MIT
"""Classifiers of images and their building blocks."""

from nets import batched, images, net, normal

SMALL = {"image_size": 32, "num_classes": 7, "dim": 48, "depth": 2, "heads": 3, "mlp_dim": 64}


@net("vit-pytorch")
def simple_vit():
    from vit_pytorch import SimpleViT

    return images(SimpleViT(patch_size=8, **SMALL), 32)


@net("vit-pytorch")
def deep_vit():
    from vit_pytorch.deepvit import DeepViT

    return images(DeepViT(patch_size=8, **SMALL), 32)


@net("vit-pytorch")
def cct():
    from vit_pytorch.cct import CCT

    module = CCT(img_size=(32, 48), embedding_dim=48, n_conv_layers=2, num_layers=2, num_heads=3, mlp_ratio=2.0, num_classes=7)
    return images(module, (32, 48))


@net("vit-pytorch")
def cross_vit():
    from vit_pytorch.cross_vit import CrossViT

    module = CrossViT(image_size=64, num_classes=7, depth=2, sm_dim=32, lg_dim=48, sm_patch_size=8, sm_enc_depth=1, sm_enc_heads=2,
                      sm_enc_mlp_dim=64, lg_patch_size=16, lg_enc_depth=1, lg_enc_heads=2, lg_enc_mlp_dim=64)
    return images(module, 64)


@net("vit-pytorch")
def pit():
    from vit_pytorch.pit import PiT

    return images(PiT(image_size=32, patch_size=8, dim=32, num_classes=7, depth=(1, 1), heads=2, mlp_dim=64), 32)


@net("vit-pytorch")
def cvt():
    from vit_pytorch.cvt import CvT

    module = CvT(num_classes=7, s1_emb_dim=16, s1_heads=1, s1_depth=1, s2_emb_dim=24, s2_heads=2, s2_depth=1, s3_emb_dim=32,
                 s3_heads=2, s3_depth=1)
    return images(module, 64)


@net("vit-pytorch")
def max_vit():
    from vit_pytorch.max_vit import MaxViT

    return images(MaxViT(num_classes=7, dim_conv_stem=16, dim=16, dim_head=8, depth=(1, 1), window_size=4), 64)


@net("vit-pytorch")
def xcit():
    from vit_pytorch.xcit import XCiT

    module = XCiT(image_size=32, patch_size=8, num_classes=7, dim=48, depth=2, cls_depth=1, heads=3, mlp_dim=64,
                  local_patch_kernel_size=3)
    return images(module, 32)


@net("vit-pytorch")
def simple_vit_3d():
    from vit_pytorch.simple_vit_3d import SimpleViT

    module = SimpleViT(image_size=32, image_patch_size=8, frames=4, frame_patch_size=2, num_classes=7, dim=48, depth=2, heads=3,
                       mlp_dim=64)
    return batched(module, (3, 4, 32, 32))


@net("vit-pytorch")
def vit_fft():
    from vit_pytorch.simple_vit_with_fft import SimpleViT

    module = SimpleViT(image_size=32, patch_size=8, freq_patch_size=8, num_classes=7, dim=48, depth=2, heads=3, mlp_dim=64)
    return images(module, 32)


@net("vit-pytorch")
def normalized_vit():
    from vit_pytorch.normalized_vit import nViT

    return images(nViT(image_size=32, patch_size=8, num_classes=7, dim=48, depth=2, heads=3, mlp_dim=64), 32)


@net("mlp-mixer-pytorch")
def mixer():
    from mlp_mixer_pytorch import MLPMixer

    return images(MLPMixer(image_size=32, channels=3, patch_size=8, dim=48, depth=2, num_classes=7), 32)


@net("swin-transformer-pytorch")
def swin():
    from swin_transformer_pytorch import SwinTransformer

    module = SwinTransformer(hidden_dim=16, layers=(2, 2, 2, 2), heads=(2, 2, 2, 2), channels=3, num_classes=7, head_dim=8,
                             window_size=2, downscaling_factors=(4, 2, 2, 2), relative_pos_embedding=True)
    return images(module, 64)


@net("bottleneck-transformer-pytorch")
def bottleneck_stack():
    from bottleneck_transformer_pytorch import BottleStack

    module = BottleStack(dim=16, fmap_size=8, dim_out=32, proj_factor=4, downsample=True, heads=2, dim_head=8, rel_pos_emb=True,
                         num_layers=2)
    return images(module, 8, channels=16)


@net("halonet-pytorch")
def halo_attention():
    from halonet_pytorch import HaloAttention

    return images(HaloAttention(dim=16, block_size=4, halo_size=2, dim_head=8, heads=2), 16, channels=16)


@net("lambda-networks")
def lambda_layer():
    from lambda_networks import LambdaLayer

    return images(LambdaLayer(dim=12, dim_out=16, r=5, dim_k=8, heads=4, dim_u=2), 8, channels=12)


@net("axial-attention")
def axial_transformer():
    from axial_attention import AxialImageTransformer

    return images(AxialImageTransformer(dim=16, depth=2, heads=2, reversible=False, axial_pos_emb_shape=(8, 6)), (8, 6), channels=16)


@net("efficientnet-pytorch")
def efficientnet_b0():
    from efficientnet_pytorch import EfficientNet

    return images(EfficientNet.from_name("efficientnet-b0", num_classes=7), 64)


@net("resnest")
def resnest50():
    from resnest.torch import resnest50 as make

    return images(make(pretrained=False, num_classes=7), 64)


@net("facenet-pytorch")
def rnet():
    from facenet_pytorch.models.mtcnn import RNet

    return images(RNet(pretrained=False), 24)


@net("open-clip-torch")
def clip_image_and_text():
    import open_clip
    from nets import BATCH, Made, ids

    module = open_clip.model.CLIP(
        embed_dim=32,
        vision_cfg={"layers": 2, "width": 48, "head_width": 16, "patch_size": 8, "image_size": 32},
        text_cfg={"context_length": 16, "vocab_size": 99, "width": 48, "heads": 3, "layers": 2},
    )
    args, other = ((normal(n, 3, 32, 32), ids(n, 16, below=99)) for n in (2, 3))
    return Made(module, args, other, ({0: BATCH}, {0: BATCH}))


@net("byol-pytorch")
def byol_projector():
    from byol_pytorch.byol_pytorch import MLP, NetWrapper
    from torch import nn

    base = nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 12))
    return images(nn.Sequential(base, MLP(12, 8, 24)), 20)


@net("perceiver-pytorch")
def perceiver():
    from perceiver_pytorch import Perceiver

    module = Perceiver(input_channels=3, input_axis=2, num_freq_bands=3, max_freq=10.0, depth=2, num_latents=8, latent_dim=16,
                       cross_heads=1, latent_heads=2, cross_dim_head=8, latent_dim_head=8, num_classes=7, self_per_cross_attn=1)
    return batched(module, (9, 11, 3))


@net("perceiver-pytorch")
def perceiver_io():
    from nets import Made, BATCH
    from perceiver_pytorch import PerceiverIO

    module = PerceiverIO(dim=16, queries_dim=12, logits_dim=9, depth=2, num_latents=8, latent_dim=16, cross_heads=1,
                         latent_heads=2, cross_dim_head=8, latent_dim_head=8)
    dynamic = ({0: BATCH}, None, {0: BATCH})
    args, other = ((normal(n, 12, 16), None, normal(n, 5, 12)) for n in (2, 3))
    return Made(module, args, other, dynamic)
