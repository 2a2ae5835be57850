# SPDX-License-Identifier: MIT
"""Diffusion, autoencoders and vector quantization."""

import torch

from nets import BATCH, Made, batched, ids, images, method, net, normal


def noisy(module, size, *more, channels=3):
    """A net of noisy images and times with a dynamic batch."""
    shape = (channels, size, size)
    args, other = ((normal(n, *shape), torch.arange(n) * 37 + 5, *(normal(n, *m) for m in more)) for n in (2, 3))
    return Made(module, args, other, tuple({0: BATCH} for _ in args))


@net("denoising-diffusion-pytorch")
def unet():
    from denoising_diffusion_pytorch import Unet

    return noisy(Unet(dim=16, dim_mults=(1, 2), flash_attn=False), 16)


@net("denoising-diffusion-pytorch")
def karras_unet():
    from denoising_diffusion_pytorch.karras_unet import KarrasUnet

    module = KarrasUnet(image_size=16, dim=16, dim_max=32, num_downsamples=1, num_blocks_per_stage=1, attn_res=(8,), attn_dim_head=8,
                        fourier_dim=8)
    args, other = ((normal(n, 4, 16, 16), normal(n)) for n in (2, 3))
    return Made(module, args, other, ({0: BATCH}, {0: BATCH}))


@net("denoising-diffusion-pytorch")
def ddim_step():
    from denoising_diffusion_pytorch import GaussianDiffusion, Unet

    module = GaussianDiffusion(Unet(dim=16, dim_mults=(1, 2), flash_attn=False), image_size=16, timesteps=50)

    def step(module, x, t):
        predicted = module.model_predictions(x, t, clip_x_start=True)
        return module.q_posterior(predicted.pred_x_start, x, t)[:2]

    args, other = ((normal(n, 3, 16, 16), torch.arange(n) * 7 + 5) for n in (2, 3))
    return method(module, step, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("diffusers", static=True)
def unet_2d():
    from diffusers import UNet2DModel

    module = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, block_out_channels=(16, 32), layers_per_block=1,
                         norm_num_groups=4, attention_head_dim=8, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                         up_block_types=("AttnUpBlock2D", "UpBlock2D"))
    args, other = ((normal(n, 3, 16, 16), torch.arange(n) * 37 + 5) for n in (2, 3))
    return method(module, lambda m, x, t: m(x, t).sample, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("diffusers", static=True)
def unet_2d_condition():
    from diffusers import UNet2DConditionModel

    module = UNet2DConditionModel(sample_size=16, in_channels=4, out_channels=4, block_out_channels=(16, 32), layers_per_block=1,
                                  norm_num_groups=4, attention_head_dim=8, cross_attention_dim=24,
                                  down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
                                  up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))
    args, other = ((normal(n, 4, 16, 16), torch.arange(n) * 37 + 5, normal(n, 7, 24)) for n in (2, 3))
    return method(module, lambda m, x, t, c: m(x, t, c).sample, *args, dynamic=({0: BATCH},) * 3, other=other)


@net("diffusers", static=True)
def autoencoder_kl():
    from diffusers import AutoencoderKL

    module = AutoencoderKL(block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=4, latent_channels=4,
                           down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)

    def through(module, x):
        latent = module.encode(x).latent_dist.mode()
        return latent, module.decode(latent).sample

    return method(module, through, normal(2, 3, 16, 16), dynamic=({0: BATCH},), other=(normal(3, 3, 16, 16),))


@net("diffusers")
def vq_model():
    from diffusers import VQModel

    module = VQModel(block_out_channels=(16,), norm_num_groups=4, latent_channels=3, num_vq_embeddings=24)
    return method(module, lambda m, x: m(x).sample, normal(2, 3, 16, 16), dynamic=({0: BATCH},), other=(normal(3, 3, 16, 16),))


@net("diffusers")
def dit():
    from diffusers import DiTTransformer2DModel

    module = DiTTransformer2DModel(num_attention_heads=2, attention_head_dim=8, in_channels=4, out_channels=8, num_layers=2,
                                   sample_size=8, patch_size=2, num_embeds_ada_norm=100, norm_num_groups=4)
    args, other = ((normal(n, 4, 8, 8), torch.arange(n) * 37 + 5, ids(n, below=90)) for n in (2, 3))
    return method(module, lambda m, x, t, c: m(x, timestep=t, class_labels=c).sample, *args, dynamic=({0: BATCH},) * 3, other=other)


@net("diffusers")
def sd3_transformer():
    from diffusers import SD3Transformer2DModel

    module = SD3Transformer2DModel(sample_size=8, patch_size=2, in_channels=4, num_layers=2, attention_head_dim=8,
                                   num_attention_heads=2, joint_attention_dim=24, caption_projection_dim=16,
                                   pooled_projection_dim=20, out_channels=4)
    args, other = ((normal(n, 4, 8, 8), normal(n, 7, 24), normal(n, 20), torch.arange(n) * 37 + 5) for n in (2, 3))
    return method(module, lambda m, x, c, p, t: m(x, c, p, t).sample, *args, dynamic=({0: BATCH},) * 4, other=other)


@net("diffusers")
def flux():
    from diffusers import FluxTransformer2DModel

    module = FluxTransformer2DModel(patch_size=1, in_channels=8, num_layers=1, num_single_layers=1, attention_head_dim=16,
                                    num_attention_heads=2, joint_attention_dim=24, pooled_projection_dim=20,
                                    axes_dims_rope=(4, 4, 8))
    places, words = torch.stack(torch.meshgrid(torch.zeros(1), torch.arange(3.0), torch.arange(4.0), indexing="ij"), -1), torch.zeros(5, 3)

    def call(module, x, c, p, t):
        return module(x, c, p, t, img_ids=places.view(-1, 3), txt_ids=words).sample

    args, other = ((normal(n, 12, 8), normal(n, 5, 24), normal(n, 20), torch.rand(n)) for n in (2, 3))
    return method(module, call, *args, dynamic=({0: BATCH},) * 4, other=other)


@net("vector-quantize-pytorch")
def finite_scalar():
    from vector_quantize_pytorch import FSQ

    return batched(FSQ([8, 5, 5, 5]), (10, 4))


@net("lpips")
def perceptual_distance():
    import lpips

    module = lpips.LPIPS(net="squeeze", pretrained=False, pnet_rand=True, verbose=False)
    args, other = ((normal(n, 3, 64, 64), normal(n, 3, 64, 64)) for n in (2, 3))
    return Made(module, args, other, ({0: BATCH}, {0: BATCH}))


@net("piq")
def similarity_maps():
    from piq import functional

    def measures(module, x, y):
        x, y = functional.rgb2lhm(x.sigmoid()), functional.rgb2lhm(y.sigmoid())
        kernels = torch.stack([functional.prewitt_filter(), functional.prewitt_filter().transpose(-1, -2)])
        gradients = [functional.gradient_map(z[:, :1], kernels) for z in (x, y)]
        return functional.similarity_map(*gradients, 0.01), functional.similarity_map(x, y, 0.1), functional.rgb2xyz(x.sigmoid())

    args, other = ((normal(n, 3, 20, 24), normal(n, 3, 20, 24)) for n in (2, 3))
    return method(torch.nn.Identity(), measures, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("pytorch-msssim")
def ms_ssim():
    from pytorch_msssim import MS_SSIM

    module = MS_SSIM(data_range=1.0, size_average=False, channel=3, win_size=5)
    return method(module, lambda m, x, y: m(x.sigmoid(), y.sigmoid()), normal(2, 3, 96, 96), normal(2, 3, 96, 96))
