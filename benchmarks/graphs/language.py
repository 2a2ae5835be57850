# SPDX-License-Identifier: MIT
"""The models of run.py that transformers builds, with a few layers of usual width: heads of language models on a text, and
on one more word after a cache, encoders of text and of sound."""

import copy
import functools

import graphs  # noqa: F401  makes tests/models and tests/huggingface importable
import tiny_models
import torch
from zoo import Made, model

LENGTH, CACHED = 48, 300
WIDTH = {"hidden_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "intermediate_size": 1408}
TEXT = WIDTH | {"vocab_size": 4000}
CAUSAL = TEXT | {"num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 512}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
GPT2 = {"vocab_size": 4000, "n_embd": 512, "n_layer": 4, "n_head": 8, "n_positions": 512} | TOKENS
T5 = {"vocab_size": 4000, "d_model": 256, "d_kv": 64, "d_ff": 768, "num_layers": 3, "num_heads": 4}
SOUND = WIDTH | {"num_hidden_layers": 2, "conv_dim": [96] * 7, "num_conv_pos_embeddings": 32, "num_conv_pos_embedding_groups": 4}
WHISPER = {"d_model": 256, "encoder_layers": 3, "encoder_attention_heads": 4, "encoder_ffn_dim": 768, "decoder_layers": 1,
           "decoder_attention_heads": 4, "max_source_positions": 200, "vocab_size": 4000}  # fmt: skip

# By model type: the class and the fields of its configuration.
CAUSAL_MODELS = {
    "llama": ("LlamaForCausalLM", CAUSAL),
    "qwen3": ("Qwen3ForCausalLM", CAUSAL),
    "gemma": ("GemmaForCausalLM", CAUSAL | TOKENS),
    "gemma2": ("Gemma2ForCausalLM", CAUSAL | TOKENS | {"sliding_window": 64, "query_pre_attn_scalar": 64}),
    "mistral": ("MistralForCausalLM", CAUSAL | {"sliding_window": None}),
    "phi3": ("Phi3ForCausalLM", CAUSAL | TOKENS | {"original_max_position_embeddings": 512}),
    "gpt2": ("GPT2LMHeadModel", GPT2),
}
OTHERS = {
    "bert": ("BertModel", TEXT),
    "deberta-v2": ("DebertaV2Model", TEXT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]}),
    "t5": ("T5ForConditionalGeneration", T5),
    "wav2vec2": ("Wav2Vec2Model", SOUND),
    "wavlm": ("WavLMModel", SOUND),
    "whisper": ("WhisperEncoder", WHISPER),
}


def build(kind, class_name, fields):
    """The model with random weights; no field of its configuration asks for a cache."""
    import transformers
    from transformers.models.auto import CONFIG_MAPPING

    known = CONFIG_MAPPING[kind]
    config = known(**fields)
    config.use_cache = False
    if class_name == "WhisperEncoder":
        from transformers.models.whisper.modeling_whisper import WhisperEncoder

        return WhisperEncoder._from_config(config).eval()
    return getattr(transformers, class_name)._from_config(config).eval()


def made(kind, component, class_name, fields):
    module, make = tiny_models.maker(build(kind, class_name, fields), component)
    length = CACHED if component == "decode" else LENGTH
    args, other = make(1, length), make(1, length + 9)
    auto = torch.export.Dim.AUTO
    dims = tuple({d: auto for d, (a, b) in enumerate(zip(t.shape, o.shape)) if a != b} for t, o in zip(args, other))
    return Made(module, args, other, (dims,), decomposes=False)


net = functools.partial(model, needs="transformers", tested=False, tolerance=1e-3)


@net("graphs_prefill", parts=list(CAUSAL_MODELS))
def prefill(kind):
    return made(kind, "prefill", *CAUSAL_MODELS[kind])


# The cache of gemma2, as a tree of tensors, keeps the length that it had when it was made.
@net("graphs_decode", parts=[kind for kind in CAUSAL_MODELS if kind != "gemma2"])
def decode(kind):
    return made(kind, "decode", *CAUSAL_MODELS[kind])


@net("graphs_encoder", parts=list(OTHERS))
def encoder(kind):
    return made(kind, "base", *OTHERS[kind])


def export_with_transformers(entry, target, opset):
    """The graph of transformers' own exporter, with its fusions for ONNX Runtime's CPU kernels."""
    from transformers.exporters import OnnxConfig, OnnxExporter

    with torch.no_grad():
        of_zoo = entry.make()
    given = {}

    def note(_module, _args, kwargs):
        given.update(copy.deepcopy(kwargs))

    of_zoo.module.wrapped.register_forward_pre_hook(note, with_kwargs=True)
    with torch.no_grad():
        of_zoo.module(*copy.deepcopy(of_zoo.args))
        of_zoo.module.wrapped._forward_pre_hooks.clear()
        of_zoo.module.wrapped._forward_pre_hooks_with_kwargs.clear()
        config = OnnxConfig(dynamic=True, opset_version=opset, ort_fusions="cpu")
        program, _ = OnnxExporter().export_program(of_zoo.module.wrapped, given, config)
    OnnxExporter.save_program(program, target)
