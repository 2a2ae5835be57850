#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Greedy decoding of tiny language models in ONNX Runtime, with the words of transformers' generate() as the truth.

    tests/huggingface/test_greedy_decoding.py --aton build/release/aton [--opset 23] [FAMILY ...]

A model is exported twice, as docs/language-models.md describes: without a cache for the prompt, and with past_key_values.0.key, ... as
inputs. Both have present.0.key, ... as outputs. The prompts of a batch differ in length and are padded on the left. The second model alone,
with an empty cache for the prompt, must choose the same words. Exit code 77: transformers or torch is not installed."""

import argparse
import os
import pathlib
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "models"), str(ROOT / "tests" / "oracle")]

import checking  # noqa: E402
import packages  # noqa: E402

FAMILIES = "gpt2 llama mistral qwen2 qwen3 gemma2 phi3 gpt_neox opt falcon bloom olmo2".split()
STEPS = 64
LENGTHS = (3, 5, 8)  # of the prompts
LEAST_WORDS = 12  # different ones, in the text of each prompt


def tiny_model(family, seed):
    """Windows of attention are shorter than what is decoded, and there are groups of heads where the family has them."""
    import torch
    from transformers import AutoModelForCausalLM

    import tiny_configs
    import zoo

    torch.manual_seed(zlib.crc32(family.encode()) + seed)
    config = tiny_configs.tiny(family)
    config.max_position_embeddings = 128
    for name in ("eos_token_id", "bos_token_id"):
        setattr(config, name, None)
    config.pad_token_id, config.tie_word_embeddings = 0, False
    if getattr(config, "sliding_window", None):
        config.sliding_window = 16
    model = AutoModelForCausalLM.from_config(config).eval()
    zoo.randomize(model)
    return model


def decoder(model):
    """The model with the keys and values of each layer as arguments and as results."""
    import torch
    from transformers import DynamicCache

    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, position_ids, past_key_values=()):
            cache = DynamicCache(list(past_key_values)) if past_key_values else DynamicCache()
            positions = {"position_ids": position_ids} if takes_positions(self.model) else {}
            result = self.model(input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True, **positions)
            present = {}
            for i, layer in enumerate(result.past_key_values.layers):
                present |= {f"present.{i}.key": layer.keys, f"present.{i}.value": layer.values}
            return {"logits": result.logits} | present

    return Decoder().eval()


def takes_positions(model):
    import inspect

    return "position_ids" in inspect.signature(model.forward).parameters


def inputs_of(ids, mask, first):
    """Positions count the words that are no padding."""
    positions = (mask.cumsum(1) - 1).clamp(min=0)[:, first:]
    return ids, mask, positions


def export(aton, model, folder, opset):
    """The paths of prompt.onnx and decoder.onnx."""
    import torch

    dynamic = torch.export.Dim.DYNAMIC
    module = decoder(model)
    layers = model.config.num_hidden_layers
    prompt = inputs_of(torch.randint(1, 99, (2, 6)), torch.ones(2, 6, dtype=torch.long), 0)
    with torch.no_grad():
        filled = module(*prompt)
    past = tuple((filled[f"present.{i}.key"], filled[f"present.{i}.value"]) for i in range(layers))
    text = {0: dynamic, 1: dynamic}
    more = inputs_of(torch.randint(1, 99, (2, 3)), torch.ones(2, 9, dtype=torch.long), 6)
    names = [f"past_key_values.{i}.{part}" for i in range(layers) for part in ("key", "value")]
    exported = [f"past_key_values_{i}_{part}" for i in range(layers) for part in (0, 1)]
    jobs = {
        "prompt": (prompt, (text, text, text), []),
        "decoder": ((*more, past), (text, text, text, (({0: dynamic, 2: dynamic},) * 2,) * layers), [f"{a}={b}" for a, b in zip(exported, names)]),
    }
    for name, (args, shapes, renames) in jobs.items():
        with torch.no_grad():
            program = torch.export.export(module, args, dynamic_shapes=shapes, strict=False)
        torch.export.save(program, folder / f"{name}.pt2")
        options = [word for rename in renames for word in ("--rename", rename)]
        checking.aton_export(aton, folder / f"{name}.pt2", folder / f"{name}.onnx", opset, *options)
        checking.node_count(folder / f"{name}.onnx")
    return [checking.open_session(folder / f"{name}.onnx") for name in jobs]


def decode(sessions, ids, mask, layers, head_shape):
    """The words that the largest logits choose. The first session reads the prompt; with one session, it starts with an empty cache."""
    import numpy as np

    cache = {}
    if len(sessions) == 1:
        empty = np.zeros((len(ids), head_shape[0], 0, head_shape[1]), np.float32)
        cache = {f"past_key_values.{i}.{part}": empty for i in range(layers) for part in ("key", "value")}
    words, given = [], ids
    for step in range(STEPS):
        session = sessions[0] if step == 0 else sessions[-1]
        positions = np.maximum(mask.cumsum(1) - 1, 0)[:, -given.shape[1] :]
        feed = {"input_ids": given, "attention_mask": mask, "position_ids": positions} | cache
        wanted = [i.name for i in session.get_inputs()]
        results = dict(zip([o.name for o in session.get_outputs()], session.run(None, {name: feed[name] for name in wanted})))
        given = results["logits"][:, -1].argmax(-1)[:, None]
        mask = np.concatenate([mask, np.ones_like(given)], 1)
        cache = {name.replace("present", "past_key_values"): value for name, value in results.items() if name != "logits"}
        words.append(given)
    return np.concatenate(words, 1)


def truth_of(family):
    """A model that does not repeat itself soon, as tiny ones of random weights tend to, its prompts with their mask, and torch's words."""
    import torch

    longest = max(LENGTHS)
    mask = torch.stack([(torch.arange(longest) >= longest - n).long() for n in LENGTHS])
    for seed in range(40):
        model = tiny_model(family, seed)
        ids = torch.randint(1, 99, mask.shape) * mask
        with torch.no_grad():
            every = model.generate(ids, attention_mask=mask, max_new_tokens=STEPS, do_sample=False, eos_token_id=None, pad_token_id=0)
        words = every[:, longest:].numpy()
        if words.shape[1] == STEPS and min(len(set(row)) for row in words.tolist()) >= LEAST_WORDS:
            return model, ids.numpy(), mask.numpy(), words
    raise checking.Failure("every model repeats its words")


def problem_of(aton, family, opset):
    """What is wrong with the family, or None."""
    model, ids, mask, truth = truth_of(family)
    with tempfile.TemporaryDirectory() as scratch:
        sessions = export(aton, model, pathlib.Path(scratch), opset)
        keys = next(o for o in sessions[1].get_inputs() if o.name == "past_key_values.0.key").shape
        for chosen in (sessions, sessions[1:]):
            words = decode(chosen, ids, mask, model.config.num_hidden_layers, (keys[1], keys[3]))
            same = (words == truth).all(0)
            if not same.all():
                return f"{len(chosen)} models: other words from step {int(same.argmin())} on"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--opset", type=int, default=23)
    parser.add_argument("families", nargs="*", default=FAMILIES)
    options = parser.parse_args()
    if packages.is_missing("torch", "transformers", "onnx", "onnxruntime"):
        return 77
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import logging
    import warnings

    import zoo_detection  # noqa: F401  operators that transformers imports with torchvision

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    problems = 0
    for family in options.families:
        try:
            problem = problem_of(options.aton, family, options.opset)
        except checking.Failure as failure:
            problem = str(failure)
        problems += problem is not None
        print(f"{family}: {problem or f'the words of {STEPS} steps are those of torch'}", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
