# SPDX-License-Identifier: MIT
"""Diffusion, autoencoders and vector quantization."""

import torch

from nets import BATCH, Made, images, method, net, normal


def noisy(module, size, *more, channels=3):
    """A net of noisy images and times with a dynamic batch."""
    shape = (channels, size, size)
    args, other = ((normal(n, *shape), torch.arange(n) * 37 + 5, *(normal(n, *m) for m in more)) for n in (2, 3))
    return Made(module, args, other, tuple({0: BATCH} for _ in args))


@net("denoising-diffusion-pytorch")
def unet():
    from denoising_diffusion_pytorch import Unet

    return noisy(Unet(dim=16, dim_mults=(1, 2), flash_attn=False), 16)


@net("lpips")
def perceptual_distance():
    import lpips

    module = lpips.LPIPS(net="squeeze", pretrained=False, pnet_rand=True, verbose=False)
    args, other = ((normal(n, 3, 64, 64), normal(n, 3, 64, 64)) for n in (2, 3))
    return Made(module, args, other, ({0: BATCH}, {0: BATCH}))


@net("pytorch-msssim")
def ms_ssim():
    from pytorch_msssim import MS_SSIM

    module = MS_SSIM(data_range=1.0, size_average=False, channel=3, win_size=5)
    return method(module, lambda m, x, y: m(x.sigmoid(), y.sigmoid()), normal(2, 3, 96, 96), normal(2, 3, 96, 96))
