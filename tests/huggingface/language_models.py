#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tiny language models of transformers as folders, run by onnxruntime-genai and by ONNX Runtime, with the tokens of transformers' generate()
as the truth.

    tests/huggingface/language_models.py --aton build/release/aton [--target onnxruntime] [--report PAGE] [MODEL_TYPE ...]

Each is written by aton_onnx.transformers.export_language_model. Three prompts of different lengths are continued by 64 tokens, each alone and as
one batch: in ONNX Runtime padded on the left, or on the right with the target onnxruntime-genai, and in onnxruntime-genai, which pads itself, on the
right. Exit code 77: a package is missing."""

import argparse
import json
import logging
import os
import pathlib
import sys
import tempfile
import warnings
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "python"), str(ROOT / "tests" / "models")]

import packages  # noqa: E402

# Right everywhere, but for what LIMITED and REFUSED name.
TYPES = """llama mistral qwen2 qwen3 gemma gemma2 gemma3_text phi phi3 phimoe deepseek_v3 lfm2 mixtral qwen2_moe qwen3_moe olmo2 granite gpt2
gpt_neox opt falcon bloom starcoder2 stablelm cohere2 glm4 nemotron smollm3 ernie4_5 gpt_oss exaone4 helium olmoe granitemoe gptj mpt cohere glm
olmo gemma3n_text mamba bart""".split()
FEW = "llama gemma2 deepseek_v3".split()  # of the full tests: grouped heads, windows and soft caps, keys and values of two sizes
TOKENS, LENGTHS, LEAST = 64, (3, 5, 8), 10
# What onnxruntime-genai itself cannot do, with the reason.
LIMITED = {
    "lfm2": "its convolutions see the padding that onnxruntime-genai puts on the right",
    "mpt": "its biases count the padding that onnxruntime-genai puts on the right",
}
REFUSED = "mamba bart".split()
# Fields that tiny_configs leaves as they are.
FIELDS = {
    "nemotron": {"num_key_value_heads": 2, "head_dim": 8},
    "lfm2": {"layer_types": ["conv", "full_attention"]},
    "deepseek_v3": {"v_head_dim": 12},
    "bloom": {"seq_length": 128},
    "mpt": {"max_seq_len": 128},
}


def tiny_model(kind, seed):
    """Windows are shorter than the texts."""
    import tiny_configs
    import torch
    import transformers
    import zoo

    torch.manual_seed(zlib.crc32(kind.encode()) + seed)
    config = tiny_configs.tiny(kind)
    config.max_position_embeddings = 128
    config.bos_token_id, config.eos_token_id, config.pad_token_id = 1, 2, 0
    if getattr(config, "sliding_window", None):
        config.sliding_window = 16
    for name, value in FIELDS.get(kind, {}).items():
        setattr(config, name, value)
    encoder = getattr(config, "is_encoder_decoder", False)
    model = (transformers.AutoModelForSeq2SeqLM if encoder else transformers.AutoModelForCausalLM).from_config(config).eval()
    zoo.randomize(model)
    return model


def lively(kind, prompts):
    """A model that does not repeat its tokens soon, as tiny ones of random weights tend to."""
    import torch

    for seed in range(20):
        model = tiny_model(kind, seed)
        if kind in REFUSED:
            return model
        with torch.no_grad():
            rows = [model.generate(torch.tensor([each]), max_new_tokens=TOKENS, min_new_tokens=TOKENS, do_sample=False)[0] for each in prompts[:1]]
        if min(len(set(row[len(each) :].tolist())) for row, each in zip(rows, prompts)) >= LEAST:
            return model
    return model


def result_of(kind, target, runtimes):
    """What the table says of a type."""
    import torch
    from aton_onnx import AtonError
    from aton_onnx.transformers import compare, export_language_model

    generator = torch.Generator().manual_seed(zlib.crc32(kind.encode()))
    prompts = [torch.randint(3, 99, (length,), generator=generator).tolist() for length in LENGTHS]
    model = lively(kind, prompts)
    found = {"type": kind}
    with tempfile.TemporaryDirectory() as scratch:
        try:
            report = export_language_model(model, scratch, target=target)
        except (AtonError, ValueError) as error:
            return found | {"refused": str(error).splitlines()[0][:300]}
        found |= {"generator": report.generator_type, "nodes": report.nodes}
        for runtime in runtimes:
            compared = compare(scratch, model, prompts, max_new_tokens=TOKENS, runtime=runtime)
            different = [place for place, each in enumerate(compared.results) if each.first_difference is not None]
            found[runtime] = {
                "alone": not any(place < len(prompts) for place in different),
                "batch": len(prompts) not in different,
                "text": compared.text,
                "error": max(each.largest_error for each in compared.results),
                "tokens": min(len(set(row)) for each in compared.results for row in each.tokens),
            }
    return found


def problem_of(found):
    """What is not as the lists above say, or None."""
    if ("refused" in found) != (found["type"] in REFUSED):
        return found.get("refused", "is not refused")
    for runtime in ("onnxruntime", "onnxruntime-genai"):
        each = found.get(runtime)
        limited = found["type"] in LIMITED  # in ONNX Runtime only where the batch is padded on the right, too
        if each is not None and not (each["alone"] and (each["batch"] or limited)):
            return each["text"]
    return None


def table(results, target):
    """The page of the results."""
    import onnxruntime
    import onnxruntime_genai
    import torch
    import transformers

    versions = f"transformers {transformers.__version__}, PyTorch {torch.__version__.split('+')[0]}, ONNX Runtime {onnxruntime.__version__}"
    genai = target == "onnxruntime-genai"
    with_target = f' with `target="{target}"`' if target else ""
    lines = [
        "# Language models with attention for generators\n" if genai else "# Language models that generators run\n",
        f"Tiny models of {versions} and onnxruntime-genai {onnxruntime_genai.__version__}, with random weights in float32 and",
        f"windows of 16, exported as [one graph](../language-models.md){with_target}. Three prompts of {', '.join(map(str, LENGTHS))} tokens are continued by {TOKENS} tokens,",
        f"each alone and as one batch; right: all are those of `generate()`. ONNX Runtime gets the batch padded on the {'right' if genai else 'left'},",
        "onnxruntime-genai pads it on the right. The error is the largest of the logits, relative to the largest logit.\n",
        f"Written by `tests/huggingface/language_models.py --aton build/release/aton{f' --target {target}' if target else ''} "
        f"--report docs/results/language-models{'-genai' if genai else ''}.md`.\n",
        "| model type | `model.type` | nodes | ONNX Runtime | onnxruntime-genai | error |",
        "|---|---|--:|---|---|--:|",
    ]
    words = {(True, True): "right", (True, False): "alone right, batch wrong", (False, True): "batch right, alone wrong"}
    for each in results:
        if "refused" in each:
            continue
        cells = [words.get((each[name]["alone"], each[name]["batch"]), "wrong") for name in ("onnxruntime", "onnxruntime-genai")]
        error = max(each[name]["error"] for name in ("onnxruntime", "onnxruntime-genai"))
        lines.append(f"| {each['type']} | {each['generator']} | {each['nodes']} | {cells[0]} | {cells[1]} | {error:.0e} |")
    run = [each for each in results if "refused" not in each]
    right = sum(all(each[name][how] for name in ("onnxruntime", "onnxruntime-genai") for how in ("alone", "batch")) for each in run)
    lines.append(f"\n{right} of {len(run)} are right everywhere. " + " ".join(f"{kind}: {why}." for kind, why in LIMITED.items()))
    if len(run) < len(results):
        lines.append("\nRefused:\n")
    lines += [f"- {each['type']}: {each['refused']}" for each in results if "refused" in each]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--target", help="a target of export_language_model")
    parser.add_argument("--few", action="store_true", help=f"only {', '.join(FEW)}")
    parser.add_argument("--jsonl", type=pathlib.Path, help="a file to which results are appended; those in it are not tried again")
    parser.add_argument("--report", type=pathlib.Path, help="the page with the table that is written")
    parser.add_argument("types", nargs="*")
    options = parser.parse_args()
    if packages.is_missing("torch", "transformers", "onnxruntime", "onnxscript", "onnxruntime_genai"):
        return 77
    os.environ["ATON_COMMAND"] = str(pathlib.Path(options.aton).resolve())
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import zoo_detection  # noqa: F401  operators that transformers imports with torchvision

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    types = options.types or (FEW if options.few else TYPES)
    known = {}
    if options.jsonl and options.jsonl.is_file():
        known = {each["type"]: each for each in map(json.loads, options.jsonl.read_text().splitlines())}
    results, problems = [], 0
    for kind in types:
        if kind not in known:
            try:
                known[kind] = result_of(kind, options.target, ("onnxruntime", "onnxruntime-genai"))
            except Exception as error:  # a model may raise anything
                known[kind] = {"type": kind, "refused": f"{type(error).__name__}: {str(error).splitlines()[0][:300]}"}
            if options.jsonl:
                with options.jsonl.open("a") as file:
                    file.write(json.dumps(known[kind]) + "\n")
        problem = problem_of(known[kind])
        problems += problem is not None
        results.append(known[kind])
        print(f"{kind}: {problem or known[kind].get('refused') or 'right'}", flush=True)
    if options.report:
        options.report.write_text(table(results, options.target), encoding="utf-8")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
