# SPDX-License-Identifier: MIT
"""Time series and tables."""

import torch

from nets import BATCH, Made, batched, dim, ids, method, net, normal


@net("pytorch-tcn")
def tcn():
    from pytorch_tcn import TCN

    module = TCN(num_inputs=5, num_channels=[8, 8], kernel_size=3, causal=True, use_skip_connections=True, output_projection=4)
    return Made(module, (normal(2, 5, 20),), (normal(3, 5, 27),), ({0: BATCH, 2: dim("length", 8, 512)},))


def tsai(name, *words, **options):
    import tsai.models.all as models

    return batched(getattr(models, name)(*words, **options), (3, 24))


@net("itransformer")
def inverted():
    from iTransformer import iTransformer

    module = iTransformer(num_variates=5, lookback_len=16, dim=24, depth=1, heads=2, dim_head=12, pred_length=(4, 8))
    return method(module, lambda m, x: list(m(x).values()), normal(2, 16, 5), dynamic=({0: BATCH},), other=(normal(3, 16, 5),))


@net("pytorch-forecasting")
def gated_residual():
    from pytorch_forecasting.models.temporal_fusion_transformer.sub_modules import GatedResidualNetwork, InterpretableMultiHeadAttention

    module = torch.nn.ModuleList([GatedResidualNetwork(12, 16, 12, dropout=0.0), InterpretableMultiHeadAttention(2, 12)])

    def attend(module, x):
        hidden = module[0](x)
        return module[1](hidden, hidden, hidden)

    return method(module, attend, normal(2, 9, 12), dynamic=({0: BATCH, 1: dim("length", 2, 99)},), other=(normal(3, 11, 12),))


@net("rtdl-num-embeddings")
def periodic():
    from rtdl_num_embeddings import PeriodicEmbeddings

    return batched(PeriodicEmbeddings(6, 8, n_frequencies=4, lite=False), (6,))


@net("pytorch-widedeep")
def tab_perceiver():
    from pytorch_widedeep.models import TabPerceiver

    columns = ["a", "b", "c", "d", "e"]
    module = TabPerceiver({c: i for i, c in enumerate(columns)}, cat_embed_input=[("a", 5), ("b", 4)], continuous_cols=columns[2:], input_dim=16,
                          n_latents=4, latent_dim=16, n_latent_heads=2, n_latent_blocks=1, n_perceiver_blocks=1)
    return wide(module)


def wide(module):
    def call(module, categories, numbers):
        return module(torch.cat((categories.float(), numbers), 1))

    args, other = ((torch.stack([ids(n, below=4) + 1, ids(n, below=3) + 1], 1), normal(n, 3)) for n in (4, 6))
    return method(module, call, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


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
