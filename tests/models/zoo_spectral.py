# SPDX-License-Identifier: MIT
"""Models with Fourier transforms: spectrograms of speech, operators that learn in the frequency domain, mixing by transforms
instead of attention, and correlations."""

import torch
from torch import nn

from zoo import Apply, Made, dim, model, normal


class LogMel(nn.Module):
    """The input of a speech model, as Whisper computes it: the power of frames, in mel bands, on a clipped log scale."""

    def __init__(self, size=400, hop=160, bands=20):
        super().__init__()
        self.size, self.hop = size, hop
        self.register_buffer("window", torch.hann_window(size))
        centers = torch.linspace(0, 1, bands + 2) ** 1.5 * (size // 2)
        bins = torch.arange(size // 2 + 1).float()
        rising = (bins - centers[:-2, None]) / (centers[1:-1] - centers[:-2])[:, None]
        falling = (centers[2:, None] - bins) / (centers[2:] - centers[1:-1])[:, None]
        self.register_buffer("filters", torch.minimum(rising, falling).clamp(min=0))

    def forward(self, x):
        frames = torch.stft(x, self.size, self.hop, window=self.window, return_complex=True)
        mel = self.filters @ frames[..., :-1].abs() ** 2
        logs = torch.clamp(mel, min=1e-10).log10()
        logs = torch.maximum(logs, logs.amax((1, 2), keepdim=True) - 8)
        return (logs + 4) / 4


@model("spectral_log_mel", quick=True)
def _spectral_log_mel():
    return Made(LogMel(), (normal(2, 1600),), (normal(3, 2400),),
                ({0: dim("batch"), 1: dim("time", 800, 16000)},))


class FourierLayer(nn.Module):
    """A layer of a Fourier neural operator: complex weights for the low frequencies, and a convolution beside them."""

    def __init__(self, channels=4, modes=3):
        super().__init__()
        self.modes = modes
        self.low = nn.Parameter(torch.randn(channels, channels, modes, modes, dtype=torch.complex64) / channels)
        self.high = nn.Parameter(torch.randn(channels, channels, modes, modes, dtype=torch.complex64) / channels)
        self.beside = nn.Conv2d(channels, channels, 1)

    def forward(self, x):
        m = self.modes
        z = torch.fft.rfft2(x)
        y = torch.zeros_like(z)
        y[:, :, :m, :m] = torch.einsum("bixy,ioxy->boxy", z[:, :, :m, :m], self.low)
        y[:, :, -m:, :m] = torch.einsum("bixy,ioxy->boxy", z[:, :, -m:, :m], self.high)
        return torch.nn.functional.gelu(torch.fft.irfft2(y, s=x.shape[-2:]) + self.beside(x))


@model("spectral_fourier_operator", quick=True)
def _spectral_fourier_operator():
    return Made(FourierLayer(), (normal(2, 4, 12, 10),), (normal(3, 4, 12, 10),), ({0: dim("batch")},))


class FourierMixing(nn.Module):
    """A block of FNet: the real part of a transform of tokens and features in the place of attention."""

    def __init__(self, width=24):
        super().__init__()
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = self.before(x + torch.fft.fft2(x).real)
        return self.after(x + self.feed(x))


@model("spectral_mixing", quick=True)
def _spectral_mixing():
    return Made(FourierMixing(), (normal(2, 8, 24),), (normal(3, 11, 24),),
                ({0: dim("batch"), 1: dim("length", 2, 64)},))


def autocorrelation(x):
    """As Autoformer computes it: circular, by a product of spectra, and the lags that matter most; also of all series, not circular."""
    n = x.shape[-1]
    z = torch.fft.rfft(x, dim=-1)
    correlation = torch.fft.irfft(z * z.conj(), n=n, dim=-1, norm="backward")
    padded = torch.fft.fft(torch.fft.fft(x, dim=1), n=2 * n, dim=-1)
    return correlation, torch.topk(correlation, 3, dim=-1).values, torch.fft.ifft2(padded * padded.conj(), dim=(1, 2)).real


@model("spectral_autocorrelation", quick=True)
def _spectral_autocorrelation():
    return Made(Apply(autocorrelation), (normal(2, 4, 18),), (normal(3, 4, 25),),
                ({0: dim("batch"), 2: dim("length", 4, 100)},))


def transforms(x, z):
    """Each kind of transform, with lengths, dimensions and norms, and shifted spectra."""
    return (
        torch.fft.fft(x, n=12, norm="ortho").abs(),
        torch.view_as_real(torch.fft.ifftn(z, dim=(0, 2), norm="forward")),
        torch.fft.hfft(z, n=9, dim=1),
        torch.view_as_real(torch.fft.ihfft2(x, s=(5, 8))),
        torch.fft.irfftn(z, s=(4, 7), dim=(1, 2), norm="ortho"),
        torch.fft.fftshift(x, dim=(1, 2)) + torch.fft.fftfreq(7, 0.5),
        torch.view_as_real(torch.fft.ifftshift(z)),
    )


@model("spectral_transforms", quick=True)
def _spectral_transforms():
    batch = {0: dim("batch", 2, 5)}  # torch compares the batch with the other sizes
    made = lambda n: (normal(n, 6, 7), torch.randn(n, 6, 5, dtype=torch.complex64))
    return Made(Apply(transforms), made(2), made(3), (batch, batch))
