# SPDX-License-Identifier: MIT
"""Speech and music: encoders, codecs, vocoders, filterbanks, source separation."""

import torch

from nets import BATCH, Made, batched, dim, fixed, method, net, normal


def waves(module, length, *, channels=1, other_length=None, least=None):
    """A module of waveforms with a dynamic batch and, with `other_length`, a dynamic length."""
    sizes = {0: BATCH} | ({2: dim("length", least or 64, 1 << 20)} if other_length else {})
    args, other = (normal(2, channels, length),), (normal(3, channels, other_length or length),)
    return Made(module, args, other, (sizes,))


@net("asteroid-filterbanks")
def free_filterbank():
    from asteroid_filterbanks import Decoder, Encoder, FreeFB

    module = torch.nn.Sequential(Encoder(FreeFB(16, 32, stride=8)), Decoder(FreeFB(16, 32, stride=8)))
    return waves(module, 400, other_length=480)


@net("asteroid-filterbanks")
def stft_filterbank():
    from asteroid_filterbanks import Encoder, STFTFB, transforms

    module = Encoder(STFTFB(n_filters=64, kernel_size=64, stride=16))

    def magnitudes(module, x):
        spectrum = module(x)
        return transforms.mag(spectrum), transforms.angle(spectrum)

    return method(module, magnitudes, normal(2, 1, 400), dynamic=({0: BATCH},), other=(normal(3, 1, 400),))


@net("asteroid-filterbanks")
def analytic_filterbank():
    from asteroid_filterbanks import AnalyticFreeFB, Encoder

    return waves(Encoder(AnalyticFreeFB(16, 32, stride=8)), 400)


@net("conformer")
def conformer_block():
    from conformer import ConformerBlock

    module = ConformerBlock(dim=32, dim_head=16, heads=2, ff_mult=2, conv_expansion_factor=2, conv_kernel_size=7)
    return Made(module, (normal(2, 12, 32),), (normal(3, 17, 32),), ({0: BATCH, 1: dim("length", 2, 512)},))


@net("encodec")
def residual_quantizer():
    from encodec.quantization import ResidualVectorQuantizer

    module = ResidualVectorQuantizer(dimension=16, n_q=3, bins=24, kmeans_init=False)
    for layer in module.vq.layers:
        layer._codebook.embed.normal_()
        layer._codebook.inited.fill_(1)

    def codes(module, x):
        found = module.encode(x, 50, bandwidth=None)
        return found, module.decode(found)

    return method(module, codes, normal(2, 16, 20), dynamic=({0: BATCH, 2: dim("frames", 2, 512)},), other=(normal(3, 16, 25),))


@net("vocos")
def vocos_backbone():
    from vocos.models import VocosBackbone

    module = VocosBackbone(input_channels=20, dim=32, intermediate_dim=64, num_layers=2)
    return waves(module, 24, channels=20, other_length=31, least=8)


@net("demucs")
def cross_transformer():
    from demucs.transformer import CrossTransformerEncoder

    module = CrossTransformerEncoder(dim=16, emb="sin", hidden_scale=2.0, num_heads=2, num_layers=2)
    return fixed(module, normal(2, 16, 4, 6), normal(2, 16, 10))


@net("julius")
def resampling():
    import julius

    return waves(julius.ResampleFrac(3, 2), 120)


@net("julius")
def low_passes():
    import julius

    return waves(julius.LowPassFilters([0.1, 0.2], fft=False), 200)


@net("julius")
def band_split():
    import julius

    return waves(julius.SplitBands(sample_rate=8000, n_bands=4, fft=True), 1200)


@net("torchlibrosa")
def log_mel():
    from torchlibrosa.stft import LogmelFilterBank, Spectrogram

    module = torch.nn.Sequential(
        Spectrogram(n_fft=128, hop_length=32), LogmelFilterBank(sr=8000, n_fft=128, n_mels=20, fmin=50, fmax=3000)
    )
    return batched(module, (640,))


@net("nnaudio")
def cqt():
    from nnAudio.features.cqt import CQT1992v2

    return batched(CQT1992v2(sr=8000, hop_length=64, n_bins=24, fmin=220, verbose=False), (1600,))


@net("nnaudio")
def mel():
    from nnAudio.features.mel import MelSpectrogram

    return batched(MelSpectrogram(sr=8000, n_fft=256, n_mels=20, hop_length=64, verbose=False), (1600,))


@net("torchaudio")
def wav2vec2():
    from torchaudio.models import wav2vec2_model

    module = wav2vec2_model("group_norm", [(16, 10, 5), (16, 3, 2)], False, 24, 0.0, 8, 4, 2, 2, 0.0, 48, 0.0, 0.0, True, 0.0, 9)
    return method(module, lambda m, x: m(x)[0], normal(2, 400), dynamic=({0: BATCH, 1: dim("length", 200, 9999)},),
                  other=(normal(3, 530),))
