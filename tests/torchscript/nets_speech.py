# SPDX-License-Identifier: MIT
"""Speech: models of torchaudio, which older releases of torch have, and of transformers."""

import importlib.util

import torch
from nets import RELEASES, net

BOTH = "traced scripted"


def speech():
    old = RELEASES[1:]
    if importlib.util.find_spec("transformers"):
        import transformers as t
        def wav2vec2():
            return t.Wav2Vec2Model(t.Wav2Vec2Config(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, conv_dim=[16, 16], conv_stride=[5, 2],
                                                    conv_kernel=[10, 3], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, torchscript=True, return_dict=False))
        net("transformers.wav2vec2", wav2vec2, lambda e: (torch.randn(2 + e, 400),), dynamic={0: (0,)}, releases=old)
    if not importlib.util.find_spec("torchaudio") or torch.__version__.startswith(RELEASES[0]):
        return
    import torchaudio
    models = torchaudio.models
    def lengths(n, example):
        return torch.tensor([n, n - 2] + [n - 1] * example)
    def features(example):
        return torch.randn(2 + example, 12, 16), lengths(12, example)
    net("torchaudio.conformer", lambda: models.Conformer(16, 4, 32, 2, 5), features, BOTH, {0: (0,), 1: (0,)}, releases=old)
    net("torchaudio.emformer", lambda: models.Emformer(16, 2, 32, 2, segment_length=4, right_context_length=2, left_context_length=4),
        lambda e: (torch.randn(1, 14, 16), torch.tensor([12])), "traced", releases=old)
    net("torchaudio.wav2letter", lambda: models.Wav2Letter(8, "mfcc", 13), lambda e: (torch.randn(2 + e, 13, 60),), BOTH, {0: (0,)}, releases=old)
    net("torchaudio.deepspeech", lambda: models.DeepSpeech(13, 16, 8), lambda e: (torch.randn(2 + e, 1, 20, 13),), "traced", {0: (0,)}, releases=old)
    net("torchaudio.conv_tasnet", lambda: models.ConvTasNet(2, 8, 16, 3, 8, 16, 2, 2), lambda e: (torch.randn(2 + e, 1, 200),), BOTH, {0: (0,)}, releases=old)
    net("torchaudio.wavernn", lambda: models.WaveRNN([2, 2, 3], 16, 12, n_rnn=16, n_fc=16, kernel_size=5, n_freq=10, n_hidden=12, n_output=12, n_res_block=2),
        lambda e: (torch.randn(2 + e, 1, 12 * 4), torch.randn(2 + e, 1, 10, 8)), "scripted", {0: (0,), 1: (0,)}, releases=old)
    def wav2vec2():
        return models.wav2vec2_model("layer_norm", [[16, 10, 5], [16, 3, 2]], True, 32, 0.0, 8, 4, 2, 4, 0.0, 64, 0.0, 0.0, True, 0.0, 12)
    net("torchaudio.wav2vec2", wav2vec2, lambda e: (torch.randn(2 + e, 400),), BOTH, {0: (0,)}, releases=old)
    net("torchaudio.hdemucs", lambda: models.HDemucs(["a", "b"], audio_channels=1, channels=8, nfft=256, depth=3), lambda e: (torch.randn(1, 1, 2048),), "traced", releases=old[1:])
    net("torchaudio.melspectrogram", lambda: torchaudio.transforms.MelSpectrogram(n_fft=64, n_mels=8), lambda e: (torch.randn(2 + e, 300),), BOTH, {0: (0,)}, releases=old)


speech()
