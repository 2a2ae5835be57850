# SPDX-License-Identifier: MIT
"""Classifiers of images and their building blocks."""

from nets import batched, images, net

SMALL = {"image_size": 32, "num_classes": 7, "dim": 48, "depth": 2, "heads": 3, "mlp_dim": 64}


@net("vit-pytorch")
def simple_vit():
    from vit_pytorch import SimpleViT

    return images(SimpleViT(patch_size=8, **SMALL), 32)


@net("mlp-mixer-pytorch")
def mixer():
    from mlp_mixer_pytorch import MLPMixer

    return images(MLPMixer(image_size=32, channels=3, patch_size=8, dim=48, depth=2, num_classes=7), 32)


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
