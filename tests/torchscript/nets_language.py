# SPDX-License-Identifier: MIT
"""transformers: small models of each kind, traced."""

import importlib.util

import torch
from nets import RELEASES, net

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 100, "max_position_embeddings": 32}


def tokens(example):
    mask = torch.ones(2 + example, 7, dtype=torch.int64)
    mask[0, 5:] = 0
    return torch.randint(3, 90, (2 + example, 7)), mask


def language():
    if not importlib.util.find_spec("transformers"):
        return
    import transformers as t
    newest, old = RELEASES[:1], RELEASES[1:]
    both = {0: (0,), 1: (0,)}
    def model(kind, name, **options):
        def build():
            config = getattr(t, f"{name}Config")(**options)
            config.torchscript = True
            config.return_dict = False
            return getattr(t, kind)(config)
        return build
    bert = {"bert": "Bert", "roberta": "Roberta", "electra": "Electra"}
    for name, kind in bert.items():
        net(f"transformers.{name}", model(f"{kind}Model", kind, **SIZES), tokens, dynamic=both)
    net("transformers.bert_tagger", model("BertForTokenClassification", "Bert", **SIZES, num_labels=3), tokens, dynamic=both, releases=old)
    net("transformers.albert", model("AlbertModel", "Albert", **SIZES, embedding_size=16), tokens, dynamic=both, releases=newest)
    net("transformers.distilbert", model("DistilBertForSequenceClassification", "DistilBert", dim=32, n_layers=2, n_heads=4, hidden_dim=64, vocab_size=100), tokens,
        dynamic=both)
    net("transformers.mobilebert", model("MobileBertModel", "MobileBert", **{**SIZES, "hidden_size": 32}, intra_bottleneck_size=16, embedding_size=16), tokens,
        dynamic=both, releases=old)
    net("transformers.gpt2", model("GPT2LMHeadModel", "GPT2", n_embd=32, n_layer=2, n_head=4, vocab_size=100, use_cache=False),
        lambda e: tokens(e)[:1], dynamic={0: (0,)})
    net("transformers.gpt_neo", model("GPTNeoModel", "GPTNeo", hidden_size=32, num_layers=2, num_heads=4, vocab_size=100, attention_types=[[["global", "local"], 1]],
                                      max_position_embeddings=32, window_size=4, use_cache=False), lambda e: tokens(e)[:1], dynamic={0: (0,)}, releases=old)
    net("transformers.opt", model("OPTModel", "OPT", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, vocab_size=100, word_embed_proj_dim=32,
                                  max_position_embeddings=32, use_cache=False), tokens, dynamic=both, releases=old)
    net("transformers.llama", model("LlamaModel", "Llama", **SIZES, use_cache=False), tokens, dynamic=both, releases=RELEASES[:2])
    net("transformers.t5_encoder", model("T5EncoderModel", "T5", d_model=32, d_ff=64, d_kv=8, num_layers=2, num_heads=4, vocab_size=100), tokens, dynamic=both)
    pixels = {"inputs": lambda e: (torch.randn(2 + e, 3, 32, 32),), "dynamic": {0: (0,)}}
    small = {key: value for key, value in SIZES.items() if key not in ("vocab_size", "max_position_embeddings")}
    net("transformers.vit", model("ViTModel", "ViT", **small, image_size=32, patch_size=8), **pixels)
    net("transformers.clip_vision", model("CLIPVisionModel", "CLIPVision", **small, image_size=32, patch_size=8), **pixels, releases=old)
    net("transformers.segformer", model("SegformerForSemanticSegmentation", "Segformer", depths=[1, 1], hidden_sizes=[16, 32], num_encoder_blocks=2, sr_ratios=[2, 1],
                                        patch_sizes=[7, 3], strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=16), **pixels,
        releases=RELEASES[::2])


language()
