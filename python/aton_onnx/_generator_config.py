# SPDX-License-Identifier: MIT
"""The configuration `genai_config.json`, with which onnxruntime-genai runs a decoder."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._decoder import State

# What onnxruntime-genai 0.18 calls the model types of transformers. It decides whether there are states of convolutions, and
# whether a text of phi3 and phimoe is read again beyond 4,096 tokens, as generate() does. Any other type is a "decoder".
_TYPES = {
    "ernie4_5": "ernie4_5",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3_text": "gemma3_text",
    "gemma4_text": "gemma4_text",
    "gpt_oss": "gptoss",
    "granite": "granite",
    "hunyuan_v1_dense": "hunyuandensev1",
    "lfm2": "lfm2",
    "lfm2_moe": "lfm2",
    "llama": "llama",
    "mistral": "mistral",
    "nemotron": "nemotron",
    "olmo": "olmo",
    "phi": "phi",
    "phi3": "phi3",
    "phimoe": "phimoe",
    "qwen2": "qwen2",
    "qwen3": "qwen3",
    "smollm3": "smollm3",
}
_OTHER = "decoder"
# The names that configurations have for the greatest length, and what is assumed of models without one, as with ALiBi.
_LENGTHS = ("max_position_embeddings", "n_positions", "max_sequence_length", "max_seq_len", "seq_length")
_UNLIMITED = 2048
# Fields of the section `search`, with the default of generate().
_SEARCH = {
    "do_sample": False,
    "length_penalty": 1.0,
    "min_length": 0,
    "no_repeat_ngram_size": 0,
    "num_beams": 1,
    "num_return_sequences": 1,
    "repetition_penalty": 1.0,
    "temperature": 1.0,
    "top_k": 50,
    "top_p": 1.0,
}


def generator_type(model_type: str) -> str:
    """What onnxruntime-genai calls a model type of transformers.

    >>> generator_type("gpt_oss"), generator_type("gpt_neox")
    ('gptoss', 'decoder')
    """
    return _TYPES.get(model_type, _OTHER)


def generator_config(
    config: Any,
    generation: Any,
    inputs: Sequence[str],
    states: Sequence[State],
    *,
    vocabulary: int,
    shares_buffer: bool = False,
) -> dict[str, Any]:
    """The content of `genai_config.json`.

    `config` and `generation` are the configurations of transformers, and `inputs` those that are no states. Past and
    present are one buffer only if `shares_buffer`: Attention writes new keys and values beside the old ones.
    """
    keys = next(each for each in states if each.part == "key")
    length = context_length(config)
    decoder: dict[str, Any] = {
        "session_options": {"log_id": "onnxruntime-genai", "provider_options": []},
        "filename": "model.onnx",
        "head_size": keys.size[-1],
        "hidden_size": config.hidden_size,
        "inputs": {name: name for name in inputs} | _names(states, "past", 0),
        "outputs": {"logits": "logits"} | _names(states, "present", 1),
        "num_attention_heads": config.num_attention_heads,
        "num_hidden_layers": config.num_hidden_layers,
        "num_key_value_heads": keys.size[1],
    }
    convolutions = {each.layer: each.size[-1] for each in states if each.part == "conv"}
    if convolutions or generator_type(config.model_type) == "lfm2":
        layers = range(config.num_hidden_layers)
        decoder["layer_types"] = ["conv" if layer in convolutions else "full_attention" for layer in layers]
        decoder["conv_cache_size"] = next(iter(convolutions.values()), 0)
    model = {
        **_special_tokens(config, generation),
        "context_length": length,
        "decoder": decoder,
        "type": generator_type(config.model_type),
        "vocab_size": vocabulary,
    }
    search = {name: _known(getattr(generation, name, None), default) for name, default in _SEARCH.items()}
    search |= {"early_stopping": True, "max_length": length, "past_present_share_buffer": shares_buffer}
    return {"model": model, "search": dict(sorted(search.items()))}


def context_length(config: Any) -> int:
    """The greatest number of tokens of a text."""
    found = (getattr(config, name, None) for name in _LENGTHS)
    return next((each for each in found if isinstance(each, int) and each > 0), _UNLIMITED)


def appending_attentions(path: pathlib.Path) -> int:
    """The number of nodes of an ONNX file, whose weights are in another, that append to a cache in place."""
    return path.read_bytes().count(b"\x22\x13GroupQueryAttention")  # the field op_type with its length


def _names(states: Sequence[State], time: str, place: int) -> dict[str, str]:
    """The patterns of the names of states, by the keys of the configuration; `time` is past or present."""
    return {f"{time}_{state.part}_names": state.names[place].replace(f".{state.layer}", ".%d", 1) for state in states}


def _special_tokens(config: Any, generation: Any) -> Mapping[str, Any]:
    """Where texts begin and end. Padding that a model does not name is the end of a text, as in generate(). A model that
    names no end has 0, which is what onnxruntime-genai assumes."""

    def named(name: str) -> Any:
        return _known(getattr(generation, name, None), getattr(config, name, None))

    begin, end, padding = named("bos_token_id"), _known(named("eos_token_id"), 0), named("pad_token_id")
    last = end[0] if isinstance(end, list) and end else end
    tokens = {"bos_token_id": begin, "eos_token_id": end, "pad_token_id": _known(padding, last)}
    return {name: value for name, value in tokens.items() if value is not None}


def _known(value: Any, default: Any) -> Any:
    return default if value is None else value
