# SPDX-License-Identifier: MIT
"""Models as transformers and timm write them, at small widths."""

import functools
import importlib

from torch import nn

from zoo import Made, dim, ids, images, model, normal

TEXT = {0: dim("batch"), 1: dim("length", 2, 30)}

hugging_face = functools.partial(model, needs="transformers")


class Positional(nn.Module):
    """A model of transformers with tensors by position, and one of its results."""

    def __init__(self, kind, config, names, wanted):
        super().__init__()
        hub = importlib.import_module("transformers")
        config = dict(config)
        attention = config.pop("attention", "sdpa")
        settings = getattr(hub, config.pop("config"))(**config)
        settings._attn_implementation = attention
        self.wrapped, self.names, self.wanted = getattr(hub, kind)(settings), names, wanted

    def forward(self, first, second=None):
        given = {name: tensor for name, tensor in zip(self.names, (first, second)) if tensor is not None}
        found = self.wrapped(**given)
        return tuple(found[name] for name in self.wanted)


SMALL = {
    "vocab_size": 71,
    "hidden_size": 32,
    "initializer_range": 0.2,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
}
CAUSAL = SMALL | {"num_key_value_heads": 2, "use_cache": False, "pad_token_id": 0}
TEXT_MODELS = {  # name: (class, config, results)
    "bert": ("BertModel", {"config": "BertConfig"} | SMALL, ("last_hidden_state", "pooler_output")),
    "roberta": ("RobertaForSequenceClassification", {"config": "RobertaConfig", "num_labels": 5} | SMALL, ("logits",)),
    "electra": ("ElectraForMaskedLM", {"config": "ElectraConfig", "embedding_size": 24} | SMALL, ("logits",)),
    "distilbert": (
        "DistilBertForSequenceClassification",
        {"config": "DistilBertConfig", "vocab_size": 71, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 48},
        ("logits",),
    ),
    "gpt2": (
        "GPT2LMHeadModel",
        {
            "config": "GPT2Config",
            "vocab_size": 71,
            "n_embd": 32,
            "n_layer": 2,
            "n_head": 4,
            "use_cache": False,
            "attention": "eager",
        },
        ("logits",),
    ),
    "llama": ("LlamaForCausalLM", {"config": "LlamaConfig"} | CAUSAL, ("logits",)),
    "mistral": ("MistralForCausalLM", {"config": "MistralConfig", "sliding_window": 3} | CAUSAL, ("logits",)),
    "qwen2": ("Qwen2ForCausalLM", {"config": "Qwen2Config"} | CAUSAL, ("logits",)),
    "gemma": ("GemmaForCausalLM", {"config": "GemmaConfig", "head_dim": 8} | CAUSAL, ("logits",)),
    "gpt_neox": ("GPTNeoXForCausalLM", {"config": "GPTNeoXConfig", "use_cache": False} | SMALL, ("logits",)),
    "phi": ("PhiForCausalLM", {"config": "PhiConfig"} | CAUSAL, ("logits",)),
    "opt": (
        "OPTForCausalLM",
        {
            "config": "OPTConfig",
            "vocab_size": 71,
            "hidden_size": 32,
            "num_hidden_layers": 2,
            "ffn_dim": 48,
            "num_attention_heads": 4,
            "word_embed_proj_dim": 24,
            "init_std": 0.2,
            "use_cache": False,
        },
        ("logits",),
    ),
}


@hugging_face("transformers", parts=list(TEXT_MODELS))
def text_model(name):
    kind, config, wanted = TEXT_MODELS[name]
    module = Positional(kind, config, ("input_ids",), wanted)
    return Made(module, (ids(2, 6, below=71),), (ids(3, 9, below=71),), (TEXT,))


@hugging_face("transformers_t5")
def t5():
    config = {
        "config": "T5Config",
        "vocab_size": 71,
        "d_model": 32,
        "d_kv": 8,
        "d_ff": 48,
        "num_layers": 2,
        "num_heads": 4,
        "use_cache": False,
    }
    module = Positional("T5ForConditionalGeneration", config, ("input_ids", "decoder_input_ids"), ("logits",))
    target = {0: TEXT[0], 1: dim("target", 2, 30)}
    args, other = (ids(2, 6, below=71), ids(2, 4, below=71)), (ids(3, 9, below=71), ids(3, 7, below=71))
    return Made(module, args, other, (TEXT, target))


@hugging_face("transformers_vit")
def vit():
    config = {"config": "ViTConfig", "image_size": 24, "patch_size": 8, **SMALL}
    del config["vocab_size"]
    module = Positional("ViTModel", config, ("pixel_values",), ("last_hidden_state", "pooler_output"))
    return Made(module, (normal(2, 3, 24, 24),), (normal(3, 3, 24, 24),), ({0: TEXT[0]},))


@hugging_face("transformers_whisper_encoder")
def whisper_encoder():
    config = {
        "config": "WhisperConfig",
        "num_mel_bins": 20,
        "d_model": 32,
        "encoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 48,
        "max_source_positions": 15,
    }
    module = Positional("WhisperModel", config, ("input_features",), ("last_hidden_state",))
    module.wrapped = module.wrapped.encoder
    return Made(module, (normal(2, 20, 30),), (normal(3, 20, 30),), ({0: TEXT[0]},))


TIMM_MODELS = {  # name: (what timm calls it, size of the images, options)
    "resnet": ("resnet18", 48, {"channels": (8, 16, 24, 32), "stem_type": "deep", "stem_width": 8, "avg_down": True}),
    "ecaresnet": ("ecaresnet50t", 48, {"layers": [1, 1, 1, 1], "channels": (4, 8, 12, 16)}),
    "deit": ("deit_tiny_distilled_patch16_224", 48, {"embed_dim": 36, "depth": 2}),
    "cait": ("cait_xxs24_224", 48, {"embed_dim": 32, "depth": 2, "num_heads": 4}),
    "poolformer": ("poolformer_s12", 64, {"layers": (1, 1, 1, 1), "embed_dims": (8, 16, 24, 32)}),
    "ghostnet": ("ghostnet_050", 64, {}),
    "xcit": ("xcit_nano_12_p16_224", 48, {"depth": 2, "embed_dim": 32}),
    "res2net": ("res2net50_14w_8s", 64, {"layers": [1, 1, 1, 1]}),
    "edgenext": ("edgenext_xx_small", 64, {}),
    "convit": ("convit_tiny", 48, {"embed_dim": 32, "depth": 3, "local_up_to_layer": 2}),
    "hardcorenas": ("hardcorenas_a", 64, {}),
}


@model("timm", needs="timm", parts=list(TIMM_MODELS))
def timm_model(name):
    import timm

    kind, size, options = TIMM_MODELS[name]
    if kind.split("_")[0] in ("deit", "cait", "xcit", "convit"):
        options = options | {"img_size": size}
    return images(timm.create_model(kind, num_classes=7, **options), size)
