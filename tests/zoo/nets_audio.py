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
def seanet():
    from encodec.modules import SEANetDecoder, SEANetEncoder

    options = {"dimension": 16, "n_filters": 4, "n_residual_layers": 1, "ratios": [4, 2], "lstm": 1}
    return waves(torch.nn.ModuleList([SEANetEncoder(**options), SEANetDecoder(**options)])[0], 320)


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
def demucs():
    from demucs.demucs import Demucs

    module = Demucs(["drums", "bass"], audio_channels=1, channels=8, depth=2, lstm_layers=1, dconv_mode=0, rescale=0, resample=False)
    return waves(module, module.valid_length(500))


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


@net("speechbrain", static=True)
def ecapa_tdnn():
    from speechbrain.lobes.models.ECAPA_TDNN import ECAPA_TDNN

    module = ECAPA_TDNN(20, channels=[16, 16, 16, 16, 48], attention_channels=8, lin_neurons=12, res2net_scale=4, se_channels=8)
    return batched(module, (30, 20))


@net("speechbrain", static=True)
def crdnn():
    from speechbrain.lobes.models.CRDNN import CRDNN

    module = CRDNN(input_shape=[None, None, 20], cnn_channels=(4, 8), cnn_blocks=2, rnn_layers=1, rnn_neurons=12, dnn_blocks=1,
                   dnn_neurons=16, rnn_bidirectional=True)
    return batched(module, (24, 20))


@net("speechbrain")
def convtasnet_mask():
    from speechbrain.lobes.models.conv_tasnet import MaskNet

    module = MaskNet(N=16, B=12, H=24, P=3, X=2, R=2, C=2, norm_type="gLN")
    return batched(module, (16, 20))


@net("speechbrain")
def filterbank():
    from speechbrain.lobes.features import Fbank

    return batched(Fbank(sample_rate=8000, n_mels=20, n_fft=200), (1600,))


@net("speechbrain")
def branchformer():
    from speechbrain.lobes.models.transformer.Branchformer import BranchformerEncoder
    from speechbrain.nnet.attention import RelPosEncXL

    encoder = BranchformerEncoder(num_layers=1, d_model=24, nhead=2, kernel_size=5, csgu_linear_units=32)
    module = torch.nn.ModuleList([encoder, RelPosEncXL(24)])

    def encode(module, x):
        return module[0](x, pos_embs=module[1](x))[0]

    return method(module, encode, normal(2, 14, 24), dynamic=({0: BATCH},), other=(normal(3, 14, 24),))


@net("speechbrain")
def dual_path():
    from speechbrain.lobes.models.dual_path import Dual_Path_Model, SBRNNBlock

    module = Dual_Path_Model(num_spks=2, in_channels=12, out_channels=12, num_layers=1, K=8,
                             intra_model=SBRNNBlock(12, 8, 1, "LSTM", bidirectional=True),
                             inter_model=SBRNNBlock(12, 8, 1, "LSTM", bidirectional=True))
    return batched(module, (12, 32))


@net("torchaudio")
def wav2vec2():
    from torchaudio.models import wav2vec2_model

    module = wav2vec2_model("group_norm", [(16, 10, 5), (16, 3, 2)], False, 24, 0.0, 8, 4, 2, 2, 0.0, 48, 0.0, 0.0, True, 0.0, 9)
    return method(module, lambda m, x: m(x)[0], normal(2, 400), dynamic=({0: BATCH, 1: dim("length", 200, 9999)},),
                  other=(normal(3, 530),))


@net("torchaudio")
def conv_tasnet():
    from torchaudio.models import ConvTasNet

    module = ConvTasNet(num_sources=2, enc_kernel_size=16, enc_num_feats=16, msk_num_feats=12, msk_num_hidden_feats=24,
                        msk_num_layers=2, msk_num_stacks=2)
    return waves(module, 400)
