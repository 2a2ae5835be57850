# SPDX-License-Identifier: MIT
"""The recursive part of torchaudio's lfilter, which writes one sample after another into a tensor of the caller."""

import torch

NAMESPACE = "torchaudio"
SCHEMAS = """
_lfilter_core_loop(Tensor input_signal_windows, Tensor a_coeff_flipped, Tensor(a!) padded_output_waveform) -> ()
"""


def _lfilter_core_loop(input_signal_windows, a_coeff_flipped, padded_output_waveform):
    """(batch, channels, samples), (channels, order), (batch, channels, samples + order - 1): y[i] = x[i] - sum of a * the window before."""
    order = a_coeff_flipped.shape[1]
    for i in range(input_signal_windows.shape[2]):
        window = padded_output_waveform[:, :, i : i + order]
        padded_output_waveform[:, :, i + order - 1] = input_signal_windows[:, :, i] - (window * a_coeff_flipped).sum(-1)


def _lfilter_core_loop_fake(input_signal_windows, a_coeff_flipped, padded_output_waveform):
    return None


class Model(torch.nn.Module):
    """lfilter: a convolution with b, then the recursion over a. One filter for each channel."""

    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.tensor([[1.0, -0.5, 0.25], [1.0, 0.3, -0.4]]))
        self.register_buffer("b", torch.tensor([[0.5, 0.25, -0.5], [1.0, 0.0, 0.75]]))

    def forward(self, waveform):
        order = self.a.shape[1]
        padded = torch.nn.functional.pad(waveform, [order - 1, 0])
        windows = torch.nn.functional.conv1d(padded, self.b.flip(1).unsqueeze(1), groups=2)
        output = torch.zeros_like(padded)
        torch.ops.torchaudio._lfilter_core_loop(windows, self.a.flip(1) * torch.tensor([1.0, 1.0, 0.0]), output)
        return output[:, :, order - 1 :]


SIZES = (4, 11)
DYNAMIC = {"waveform": {0: torch.export.Dim("batch", max=100), 2: torch.export.Dim("samples", max=10000)}}


def inputs(size):
    return {"waveform": torch.randn(size // 2, 2, size)}


def calls():
    for batch, channels, order, samples in ((2, 3, 4, 6), (1, 2, 2, 9), (3, 1, 1, 5)):
        windows, a = torch.randn(batch, channels, samples), torch.randn(channels, order) / order
        for padded in (torch.zeros(batch, channels, samples + order - 1), torch.randn(batch, channels, samples + order - 1)):
            torch.ops.torchaudio._lfilter_core_loop(windows, a, padded)
