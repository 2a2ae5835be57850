# SPDX-License-Identifier: MIT
"""Operators of fields, flows, ODEs, wavelets, implicit representations, networks of splines."""

import torch

from nets import BATCH, batched, dim, images, method, net, normal


@net("neuraloperator", static=True)
def fno():
    from neuralop.models import FNO

    return images(FNO(n_modes=(6, 6), in_channels=2, out_channels=1, hidden_channels=8, n_layers=2), (16, 20), channels=2)


@net("neuraloperator", static=True)
def tfno():
    from neuralop.models import TFNO

    return images(TFNO(n_modes=(6, 6), in_channels=2, out_channels=1, hidden_channels=8, n_layers=2, rank=0.3), (16, 16), channels=2)


@net("pykan")
def kan():
    from kan.KANLayer import KANLayer

    module = KANLayer(in_dim=4, out_dim=3, num=5, k=3)
    return method(module, lambda m, x: m(x)[0], normal(6, 4), dynamic=({0: BATCH},), other=(normal(8, 4),))


@net("pykan")
def multi_kan():
    from kan import KAN

    module = KAN(width=[4, 3, 1], grid=4, k=3, seed=0, auto_save=False, symbolic_enabled=False, save_act=False)
    return batched(module, (4,), batch=6, other=8)


@net("siren-pytorch")
def siren():
    from siren_pytorch import SirenNet

    return batched(SirenNet(dim_in=2, dim_hidden=16, dim_out=3, num_layers=3, w0_initial=5.0), (2,))


@net("siren-pytorch")
def modulated_siren():
    from siren_pytorch import SirenNet, SirenWrapper

    net_of_places = SirenNet(dim_in=2, dim_hidden=16, dim_out=3, num_layers=2, w0_initial=5.0)
    module = SirenWrapper(net_of_places, latent_dim=8, image_width=9, image_height=7)
    return method(module, lambda m, latent: m(latent=latent), normal(8))


def flow(module, width=4):
    """Densities of points, and both directions of the flow."""
    return method(module, lambda m, x: m.log_prob(x), normal(5, width), dynamic=({0: dim("batch", 2)},), other=(normal(7, width),))


@net("normflows", static=True)
def neural_spline_flow():
    import normflows as nf

    flows = [nf.flows.CoupledRationalQuadraticSpline(4, 1, 16), nf.flows.LULinearPermute(4)]
    return flow(nf.NormalizingFlow(nf.distributions.DiagGaussian(4), flows))


@net("nflows")
def maf():
    from nflows.distributions.normal import StandardNormal
    from nflows.flows.base import Flow
    from nflows.transforms import CompositeTransform, MaskedAffineAutoregressiveTransform, RandomPermutation

    first, second = (MaskedAffineAutoregressiveTransform(4, 16) for _ in range(2))
    transform = CompositeTransform([first, RandomPermutation(4), second])
    return flow(Flow(transform, StandardNormal([4])))


@net("nflows")
def linear_flows():
    from nflows.transforms import LULinear

    module = torch.nn.ModuleList([LULinear(4), LULinear(4, identity_init=False)])
    return method(module, lambda m, x: [part(x) for part in m], normal(5, 4), dynamic=({0: dim("batch", 2)},), other=(normal(7, 4),))


@net("pytorch-wavelets")
def dwt():
    from pytorch_wavelets import DWTForward, DWTInverse

    module = torch.nn.ModuleList([DWTForward(J=2, wave="db2", mode="symmetric"), DWTInverse(wave="db2", mode="symmetric")])

    def transform(module, x):
        low, high = module[0](x)
        return low, high, module[1]((low, [h * 0.5 for h in high]))

    return method(module, transform, normal(2, 3, 24, 28), dynamic=({0: BATCH},), other=(normal(3, 3, 24, 28),))


@net("pytorch-wavelets")
def dual_tree():
    from pytorch_wavelets import DTCWTForward, DTCWTInverse

    module = torch.nn.ModuleList([DTCWTForward(J=2), DTCWTInverse()])

    def transform(module, x):
        low, high = module[0](x)
        return low, high, module[1]((low, [h * 0.5 for h in high]))

    return method(module, transform, normal(2, 3, 24, 32), dynamic=({0: BATCH},), other=(normal(3, 3, 24, 32),))


@net("pytorch-wavelets")
def scattering():
    from pytorch_wavelets import ScatLayer

    return images(ScatLayer(), (24, 32))


@net("ptwt")
def wavelet_packets():
    import ptwt

    def transform(module, x):
        found = ptwt.wavedec(x, "db3", level=2, mode="reflect")
        return found, ptwt.waverec(found, "db3")

    return method(torch.nn.Identity(), transform, normal(2, 40), dynamic=({0: BATCH},), other=(normal(3, 40),))


@net("geotorch")
def orthogonal_and_low_rank():
    import geotorch

    first, second, third = torch.nn.Linear(6, 6), torch.nn.Linear(6, 5), torch.nn.Linear(6, 6)
    geotorch.positive_definite(third, "weight")
    geotorch.low_rank(second, "weight", 2)
    geotorch.orthogonal(first, "weight")
    return batched(torch.nn.Sequential(first, third, second), (6,))


@net("torchdiffeq")
def runge_kutta_steps():
    from torchdiffeq._impl.rk_common import rk4_alt_step_func

    field = torch.nn.Sequential(torch.nn.Linear(4, 12), torch.nn.Tanh(), torch.nn.Linear(12, 4))

    def solve(field, x):
        step = torch.tensor(0.25)
        for i in range(4):
            x = x + rk4_alt_step_func(lambda t, y, perturb=None: field(y) * t, i * step, step, (i + 1) * step, x)
        return x

    return method(field, solve, normal(3, 4), dynamic=({0: BATCH},), other=(normal(5, 4),))
