# SPDX-License-Identifier: MIT
"""Time series and tables."""

import torch

from nets import BATCH, Made, batched, dim, ids, method, net, normal


@net("pytorch-tcn")
def tcn():
    from pytorch_tcn import TCN

    module = TCN(num_inputs=5, num_channels=[8, 8], kernel_size=3, causal=True, use_skip_connections=True, output_projection=4)
    return Made(module, (normal(2, 5, 20),), (normal(3, 5, 27),), ({0: BATCH, 2: dim("length", 8, 512)},))


@net("pytorch-tcn")
def tcn_not_causal():
    from pytorch_tcn import TCN

    module = TCN(num_inputs=5, num_channels=[8, 8], kernel_size=3, causal=False, use_norm="layer_norm", activation="gelu")
    return batched(module, (5, 20))


def forecaster(name, **options):
    """A model of neuralforecast on windows of its input size."""
    import neuralforecast.models as models

    module = getattr(models, name)(h=6, input_size=12, **options)

    def forecast(module, y):
        series = getattr(module, "MULTIVARIATE", False)
        return module({"insample_y": y, "insample_mask": torch.ones_like(y), "futr_exog": None, "hist_exog": None, "stat_exog": None})

    shape = (12, options["n_series"]) if "n_series" in options else (12, 1)
    return method(module, forecast, normal(3, *shape), dynamic=({0: dim("batch", 2)},), other=(normal(5, *shape),))


@net("neuralforecast", static=True)
def nhits():
    return forecaster("NHITS", mlp_units=3 * [[16, 16]])


@net("neuralforecast", static=True)
def dlinear():
    return forecaster("DLinear", moving_avg_window=5)


@net("neuralforecast", static=True)
def autoformer():
    return forecaster("Autoformer", hidden_size=16, conv_hidden_size=16, n_head=2)


@net("neuralforecast", static=True)
def fedformer():
    return forecaster("FEDformer", hidden_size=16, conv_hidden_size=16, n_head=8, modes=4)


@net("neuralforecast")
def patch_tst_of_forecast():
    return forecaster("PatchTST", hidden_size=16, linear_hidden_size=24, n_heads=2, encoder_layers=1, patch_len=4, stride=2)


@net("neuralforecast")
def tsmixer():
    return forecaster("TSMixer", n_series=3, n_block=1, ff_dim=8)


@net("neuralforecast")
def itransformer():
    return forecaster("iTransformer", n_series=3, hidden_size=16, n_heads=2, e_layers=1, d_ff=16)


@net("itransformer")
def inverted():
    from iTransformer import iTransformer

    module = iTransformer(num_variates=5, lookback_len=16, dim=24, depth=1, heads=2, dim_head=12, pred_length=(4, 8))
    return method(module, lambda m, x: list(m(x).values()), normal(2, 16, 5), dynamic=({0: BATCH},), other=(normal(3, 16, 5),))


@net("itransformer")
def inverted_fft():
    from iTransformer import iTransformerFFT

    module = iTransformerFFT(num_variates=5, lookback_len=16, dim=24, depth=1, heads=2, dim_head=12, pred_length=(4,))
    return method(module, lambda m, x: list(m(x).values()), normal(2, 16, 5), dynamic=({0: BATCH},), other=(normal(3, 16, 5),))


@net("pytorch-forecasting")
def gated_residual():
    from pytorch_forecasting.models.temporal_fusion_transformer.sub_modules import GatedResidualNetwork, InterpretableMultiHeadAttention

    module = torch.nn.ModuleList([GatedResidualNetwork(12, 16, 12, dropout=0.0), InterpretableMultiHeadAttention(2, 12)])

    def attend(module, x):
        hidden = module[0](x)
        return module[1](hidden, hidden, hidden)

    return method(module, attend, normal(2, 9, 12), dynamic=({0: BATCH, 1: dim("length", 2, 99)},), other=(normal(3, 11, 12),))


@net("pytorch-forecasting")
def nbeats_blocks():
    from pytorch_forecasting.models.nbeats.sub_modules import NBEATSGenericBlock, NBEATSSeasonalBlock, NBEATSTrendBlock

    module = torch.nn.ModuleList([
        NBEATSGenericBlock(units=16, thetas_dim=6, num_block_layers=2, backcast_length=12, forecast_length=5),
        NBEATSSeasonalBlock(units=16, num_block_layers=2, backcast_length=12, forecast_length=5),
        NBEATSTrendBlock(units=16, thetas_dim=3, num_block_layers=2, backcast_length=12, forecast_length=5),
    ])
    return method(module, lambda m, x: [part(x) for part in m], normal(2, 12), dynamic=({0: BATCH},), other=(normal(3, 12),))


@net("chronos-forecasting")
def chronos_bolt_patches():
    from chronos.chronos_bolt import InstanceNorm, Patch, ResidualBlock

    module = torch.nn.ModuleList([InstanceNorm(), Patch(8, 8), ResidualBlock(8, 16, 12, "relu")])

    def encode(module, x):
        scaled, scale = module[0](x)
        return module[2](torch.nan_to_num(module[1](scaled))), *scale

    return method(module, encode, normal(2, 37), dynamic=({0: BATCH},), other=(normal(3, 37),))


@net("pytorch-tabnet", static=True)
def tabnet_entmax():
    from pytorch_tabnet.tab_network import TabNetNoEmbeddings

    module = TabNetNoEmbeddings(10, 3, n_d=6, n_a=6, n_steps=2, mask_type="entmax", group_attention_matrix=torch.eye(10))
    return batched(module, (10,))


def table(module, categories, continuous):
    """A module of categories (a column each) and of numbers."""
    args, other = ((torch.stack([ids(n, below=c) for c in categories], 1), normal(n, continuous)) for n in (4, 6))
    return Made(module, args, other, ({0: BATCH}, {0: BATCH}))


@net("tab-transformer-pytorch")
def ft_transformer():
    from tab_transformer_pytorch import FTTransformer

    return table(FTTransformer(categories=(5, 3, 4), num_continuous=6, dim=16, depth=2, heads=2, dim_head=8, dim_out=2), (5, 3, 4), 6)


@net("rtdl-revisiting-models", static=True)
def rtdl_ft_transformer():
    from rtdl_revisiting_models import FTTransformer

    module = FTTransformer(n_cont_features=6, cat_cardinalities=[5, 3], d_out=2, n_blocks=2, d_block=16, attention_n_heads=2,
                           attention_dropout=0.0, ffn_d_hidden_multiplier=2, ffn_dropout=0.0, residual_dropout=0.0)
    made = table(module, (5, 3), 6)
    return Made(module, made.args[::-1], made.other[::-1], made.dynamic)


@net("rtdl-revisiting-models")
def tabular_resnet():
    from rtdl_revisiting_models import ResNet

    return batched(ResNet(d_in=6, d_out=2, n_blocks=2, d_block=16, d_hidden=24, d_hidden_multiplier=None, dropout1=0.0, dropout2=0.0), (6,))


@net("rtdl-num-embeddings")
def periodic():
    from rtdl_num_embeddings import PeriodicEmbeddings

    return batched(PeriodicEmbeddings(6, 8, n_frequencies=4, lite=False), (6,))


@net("rtdl-num-embeddings")
def piecewise_linear():
    from rtdl_num_embeddings import PiecewiseLinearEmbeddings, compute_bins

    module = PiecewiseLinearEmbeddings(compute_bins(normal(60, 6), n_bins=5), 8, activation=True, version="B")
    return batched(module, (6,))


@net("pytorch-widedeep")
def tab_perceiver():
    from pytorch_widedeep.models import TabPerceiver

    columns = ["a", "b", "c", "d", "e"]
    module = TabPerceiver({c: i for i, c in enumerate(columns)}, cat_embed_input=[("a", 5), ("b", 4)],
                          continuous_cols=columns[2:], input_dim=16,
                          n_latents=4, latent_dim=16, n_latent_heads=2, n_latent_blocks=1, n_perceiver_blocks=1)
    return wide(module)


def wide(module):
    def call(module, categories, numbers):
        return module(torch.cat((categories.float(), numbers), 1))

    args, other = ((torch.stack([ids(n, below=4) + 1, ids(n, below=3) + 1], 1), normal(n, 3)) for n in (4, 6))
    return method(module, call, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("pytorch-widedeep")
def saint():
    from pytorch_widedeep.models import SAINT

    columns = ["a", "b", "c", "d", "e"]
    module = SAINT({c: i for i, c in enumerate(columns)}, cat_embed_input=[("a", 5), ("b", 4)], continuous_cols=columns[2:],
                   input_dim=16, n_heads=2, n_blocks=1)
    return wide(module)


@net("deepctr-torch")
def interactions():
    from deepctr_torch.layers.interaction import AFMLayer, CIN, BiInteractionPooling, CrossNet, FM, InteractingLayer, SENETLayer

    module = torch.nn.ModuleList([FM(), BiInteractionPooling(), CrossNet(8), CIN(5, (6, 4)), InteractingLayer(8, 2), SENETLayer(5)])

    def interact(module, x):
        return (module[0](x), module[1](x), module[2](x[:, 0]), module[3](x), module[4](x), module[5](x))

    return method(module, interact, normal(3, 5, 8), dynamic=({0: BATCH},), other=(normal(5, 5, 8),))


@net("coral-pytorch")
def coral():
    from coral_pytorch.dataset import corn_label_from_logits
    from coral_pytorch.layers import CoralLayer

    module = CoralLayer(12, 5)

    def rank(module, x):
        logits = module(x)
        return logits, corn_label_from_logits(logits)

    return method(module, rank, normal(3, 12), dynamic=({0: BATCH},), other=(normal(5, 12),))
