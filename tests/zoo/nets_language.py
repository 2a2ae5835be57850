# SPDX-License-Identifier: MIT
"""Models of text and blocks of attention."""

import torch

from nets import BATCH, batched, dim, ids, method, net, normal, sequences

LENGTHS = {"length": 12, "other_length": 17}


def x_transformer(**options):
    from x_transformers import Decoder, TransformerWrapper

    decoder = Decoder(dim=32, depth=2, heads=2, attn_dim_head=16, **options)
    return sequences(TransformerWrapper(num_tokens=99, max_seq_len=64, attn_layers=decoder), 99, **LENGTHS)


@net("x-transformers")
def decoder():
    return x_transformer()


@net("x-transformers")
def rotary():
    return x_transformer(rotary_pos_emb=True, ff_glu=True, use_rmsnorm=True)


@net("x-transformers")
def qk_norm():
    return x_transformer(attn_qk_norm=True, attn_kv_heads=1, ff_relu_squared=True, use_scalenorm=True)


@net("x-transformers")
def memory_tokens():
    from x_transformers import Encoder, TransformerWrapper

    encoder = Encoder(dim=32, depth=2, heads=2, attn_dim_head=16, attn_num_mem_kv=3, macaron=True)
    return sequences(TransformerWrapper(num_tokens=99, max_seq_len=64, num_memory_tokens=4, attn_layers=encoder), 99, **LENGTHS)


@net("x-transformers")
def encoder_decoder():
    from x_transformers import XTransformer

    module = XTransformer(dim=32, enc_num_tokens=50, enc_depth=1, enc_heads=2, enc_max_seq_len=32, dec_num_tokens=60,
                          dec_depth=1, dec_heads=2, dec_max_seq_len=32)

    def logits(module, source, target):
        return module.decoder.net(target, context=module.encoder(source, return_embeddings=True))

    args, other = ((ids(n, 10, below=50), ids(n, 7, below=60)) for n in (2, 3))
    return method(module, logits, *args, dynamic=({0: BATCH}, {0: BATCH}), other=other)


@net("linformer")
def linformer_lm():
    from linformer import LinformerLM

    return sequences(LinformerLM(num_tokens=99, dim=32, seq_len=16, depth=2, heads=2, k=8, one_kv_head=True), 99)


@net("performer-pytorch", static=True)
def performer_lm():
    from performer_pytorch import PerformerLM

    module = PerformerLM(num_tokens=99, max_seq_len=32, dim=32, depth=2, heads=2, dim_head=16, causal=False, nb_features=24,
                         generalized_attention=True)
    return sequences(module, 99, length=32)


@net("performer-pytorch", static=True)
def softmax_kernels():
    from performer_pytorch import SelfAttention

    return batched(SelfAttention(dim=32, heads=2, dim_head=16, nb_features=24, causal=False), (20, 32))


@net("reformer-pytorch", static=True)
def full_attention_reformer():
    from reformer_pytorch import Reformer

    module = Reformer(dim=32, depth=2, heads=2, bucket_size=8, n_hashes=2, use_full_attn=True, ff_chunks=2)
    return batched(module, (32, 32))


@net("local-attention")
def local_transformer():
    from local_attention import LocalTransformer

    module = LocalTransformer(num_tokens=99, dim=32, depth=2, max_seq_len=64, local_attn_window_size=8, heads=2, dim_head=16,
                              causal=True)
    return sequences(module, 99, length=32)


@net("routing-transformer")
def routing_lm():
    from routing_transformer import RoutingTransformerLM

    module = RoutingTransformerLM(num_tokens=99, dim=32, heads=2, depth=1, max_seq_len=32, window_size=8, n_local_attn_heads=2)
    return sequences(module, 99, length=32)


@net("sinkhorn-transformer")
def sinkhorn_lm():
    from sinkhorn_transformer import SinkhornTransformerLM

    module = SinkhornTransformerLM(num_tokens=99, dim=32, heads=2, depth=1, max_seq_len=32, bucket_size=8, dim_head=16)
    return sequences(module, 99, length=32)


@net("memorizing-transformers-pytorch")
def knn_free_attention():
    from memorizing_transformers_pytorch.memorizing_transformers_pytorch import Attention

    return batched(Attention(dim=32, heads=2, dim_head=16), (12, 32))


@net("h-transformer-1d")
def h_transformer():
    from h_transformer_1d import HTransformer1D

    module = HTransformer1D(num_tokens=99, dim=32, depth=1, causal=False, max_seq_len=32, heads=2, dim_head=16, block_size=8)
    return sequences(module, 99, length=32)


@net("g-mlp-pytorch")
def g_mlp():
    from g_mlp_pytorch import gMLP

    return sequences(gMLP(num_tokens=99, dim=32, depth=2, seq_len=16, causal=True), 99)


@net("nystrom-attention")
def nystromformer():
    from nystrom_attention import Nystromformer

    module = Nystromformer(dim=32, dim_head=16, heads=2, depth=2, num_landmarks=4, pinv_iterations=4)
    return batched(module, (18, 32))


@net("rotary-embedding-torch")
def rotary_queries():
    from rotary_embedding_torch import RotaryEmbedding

    def rotate(module, query):
        return module.rotate_queries_or_keys(query)

    module = RotaryEmbedding(dim=8)
    return method(module, rotate, normal(2, 3, 10, 16), dynamic=({0: BATCH, 2: dim("length", 2, 64)},),
                  other=(normal(3, 3, 13, 16),))


@net("rotary-embedding-torch")
def axial_frequencies():
    from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

    module = RotaryEmbedding(dim=8, freqs_for="pixel", max_freq=32)

    def rotate(module, x):
        return apply_rotary_emb(module.get_axial_freqs(6, 7), x)

    return method(module, rotate, normal(2, 6, 7, 16), dynamic=({0: BATCH},), other=(normal(3, 6, 7, 16),))


@net("mambapy")
def mamba():
    from mambapy.mamba import Mamba, MambaConfig

    return batched(Mamba(MambaConfig(d_model=16, n_layers=2, d_state=4, pscan=False)), (8, 16))


@net("mambapy")
def mamba_parallel_scan():
    from mambapy.mamba import Mamba, MambaConfig

    return batched(Mamba(MambaConfig(d_model=16, n_layers=1, d_state=4, pscan=True)), (8, 16))


@net("sentence-transformers")
def pooling():
    from sentence_transformers.models import Pooling

    module = Pooling(24, pooling_mode="mean_sqrt_len_tokens")

    def pool(module, tokens, mask):
        return module({"token_embeddings": tokens, "attention_mask": mask})["sentence_embedding"]

    def arguments(n, length):
        return normal(n, length, 24), (torch.arange(length) < torch.arange(1, n + 1)[:, None] * 2).long()

    shape = {0: BATCH, 1: dim("length", 2, 64)}
    return method(module, pool, *arguments(2, 9), dynamic=(shape, shape), other=arguments(3, 11))


@net("sentence-transformers")
def dense_and_norm():
    from sentence_transformers.models import CNN, Dense, LayerNorm, Normalize

    parts = torch.nn.ModuleList([Dense(24, 16), LayerNorm(16), Normalize()])

    def embed(parts, x):
        features = {"sentence_embedding": x}
        for part in parts:
            features = part(features)
        return features["sentence_embedding"]

    return method(parts, embed, normal(2, 24), dynamic=({0: BATCH},), other=(normal(3, 24),))


@net("bitnet")
def bit_linear():
    from bitnet import BitLinear

    return batched(BitLinear(24, 16), (6, 24))
