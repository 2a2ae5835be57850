#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares exported language models with those of onnxruntime-genai's model builder: nodes, bytes, and latency in ONNX Runtime, as ratios.

    benchmarks/language_models/builder.py --aton build/release/aton [--rounds 40] [--report PAGE] [FAMILY ...]

Both graphs are made from the same small checkpoint of random weights, and are run by turns on one thread. A ratio below 1 is faster, or smaller, than
the builder's. Exit code 77: a package is missing."""

import argparse
import importlib.util
import os
import pathlib
import runpy
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "models")]

SIZES = {"vocab_size": 2048, "hidden_size": 512, "intermediate_size": 1408, "num_hidden_layers": 4, "num_attention_heads": 8,
         "num_key_value_heads": 4, "max_position_embeddings": 1024, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}  # fmt: skip
FAMILIES = {
    "Llama": {},
    "Mistral": {"sliding_window": 64, "head_dim": 64},
    "Qwen2": {},
    "Qwen3": {"head_dim": 64},
    "Gemma2": {"head_dim": 64, "sliding_window": 64},
}
PRECISIONS = ("fp32", "int4")
STEPS = {"decode, past 32": (1, 32), "decode, past 512": (1, 512), "prefill 1": (1, 0), "prefill 128": (128, 0)}
WARM = 3


def make_checkpoint(family, folder):
    """A model of random weights, and a tokenizer, without which the builder writes nothing."""
    import tokenizers
    import torch
    import transformers

    torch.manual_seed(5)
    config = getattr(transformers, f"{family}Config")(**SIZES | FAMILIES[family])
    model = getattr(transformers, f"{family}ForCausalLM")(config).eval()
    for name, parameter in model.named_parameters():
        if "norm" in name:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
        elif name.endswith("bias"):  # the builder leaves out those of zeros
            torch.nn.init.uniform_(parameter, -0.1, 0.1)
    model.save_pretrained(folder)
    words = tokenizers.models.WordLevel({f"w{i}": i for i in range(SIZES["vocab_size"])}, unk_token="w0")
    named = {"unk_token": "w0", "bos_token": "w1", "eos_token": "w2", "pad_token": "w0"}
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(words), **named).save_pretrained(folder)


def run_builder(arguments):
    """The builder in this process, with operators of torchvision that transformers imports."""
    import zoo_detection  # noqa: F401

    import onnxruntime_genai.models.builder as builder

    sys.argv = [builder.__file__, *arguments]
    runpy.run_path(builder.__file__, run_name="__main__")


def build(checkpoint, out, precision):
    command = [sys.executable, __file__, "--builder", "-i", str(checkpoint), "-m", str(checkpoint), "-o", str(out), "-p", precision, "-e", "cpu"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1][:200])


def nodes_of(folder):
    import onnx

    return len(onnx.load(folder / "model.onnx", load_external_data=False).graph.node)


def bytes_of(folder):
    return sum((folder / name).stat().st_size for name in ("model.onnx", "model.onnx.data"))


class Graph:
    """A session on one thread."""

    def __init__(self, folder):
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(folder / "model.onnx", options, providers=["CPUExecutionProvider"])

    def feeds(self, new, past):
        import numpy as np

        draw = np.random.default_rng(1)
        text = {
            "input_ids": draw.integers(3, SIZES["vocab_size"], (1, new)),
            "attention_mask": np.ones((1, past + new), np.int64),
            "position_ids": np.arange(past, past + new)[None],
        }
        made = {}
        for each in self.session.get_inputs():
            sizes = [size if isinstance(size, int) else 1 if place == 0 else past for place, size in enumerate(each.shape)]
            if len(sizes) == 4:
                sizes[3] = SIZES["hidden_size"] // SIZES["num_attention_heads"]
            made[each.name] = text[each.name] if each.name in text else draw.normal(0, 1, sizes).astype(np.float32)
        return made

    def time(self, feeds):
        start = time.perf_counter()
        self.session.run(None, feeds)
        return time.perf_counter() - start


def latencies(own, other, rounds):
    """For each step, the ratio of the fastest runs, and the largest difference of logits beside the largest logit."""
    import numpy as np

    ratios = {}
    for name, (new, past) in STEPS.items():
        pair = [(graph, graph.feeds(new, past)) for graph in (own, other)]
        times = ([], [])
        for turn in range(rounds + WARM):
            for side in (0, 1) if turn % 2 else (1, 0):
                graph, feeds = pair[side]
                taken = graph.time(feeds)
                if turn >= WARM:
                    times[side].append(taken)
        ratios[name] = min(times[0]) / min(times[1])  # what else runs on the machine only adds to times
    logits = [graph.session.run(["logits"], graph.feeds(7, 0))[0] for graph in (own, other)]
    return ratios, float(np.abs(logits[0] - logits[1]).max() / np.abs(logits[1]).max())


def compared(family, precision, target, rounds, scratch):
    from aton_onnx.transformers import export_language_model

    checkpoint, own, other = scratch / family, scratch / f"{family}-{precision}", scratch / f"{family}-{precision}-builder"
    if not checkpoint.exists():
        make_checkpoint(family, checkpoint)
    export_language_model(checkpoint, own, precision=precision, target=target)
    build(checkpoint, other, precision)
    ratios, error = latencies(Graph(own), Graph(other), rounds)
    return {"family": family, "precision": precision, "nodes": (nodes_of(own), nodes_of(other)), "bytes": bytes_of(own) / bytes_of(other),
            "ratios": ratios, "error": error}  # fmt: skip


def table(results, target):
    import onnxruntime
    import onnxruntime_genai

    lines = [
        "# Language models beside the builder of onnxruntime-genai\n",
        f"Models of 4 layers with random weights, exported with `target=\"{target}\"` and by the builder of onnxruntime-genai "
        f"{onnxruntime_genai.__version__}, both run",
        f"by turns in ONNX Runtime {onnxruntime.__version__} on one thread of the CPU. Bytes and the fastest times are beside the builder's: below 1 is smaller, or faster. The",
        "error is the largest difference of logits beside the largest logit; int4 graphs round their weights differently.\n",
        "Written by `benchmarks/language_models/builder.py --aton build/release/aton --report docs/results/language-model-builder.md`.\n",
        "| model | weights | nodes | the builder's | bytes | " + " | ".join(STEPS) + " | error |",
        "|---|---|--:|--:|--:|" + "--:|" * len(STEPS) + "--:|",
    ]
    for each in results:
        times = " | ".join(f"{ratio:.2f}" for ratio in each["ratios"].values())
        nodes = f"{each['nodes'][0]} | {each['nodes'][1]}"
        lines.append(f"| {each['family']} | {each['precision']} | {nodes} | {each['bytes']:.3f} | {times} | {each['error']:.0e} |")
    for precision in PRECISIONS:
        those = [each for each in results if each["precision"] == precision]
        if those:
            means = (f"{name} {statistics.geometric_mean(each['ratios'][name] for each in those):.2f}" for name in STEPS)
            lines.append(f"\nGeometric means of {precision}: {', '.join(means)}.")
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:2] == ["--builder"]:
        return run_builder(sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--target", default="onnxruntime-genai", help="of export_language_model; default: onnxruntime-genai")
    parser.add_argument("--rounds", type=int, default=40, help="runs of each graph and step; default: 40")
    parser.add_argument("--report", type=pathlib.Path, help="the page with the table that is written")
    parser.add_argument("families", nargs="*", help=f"default: {' '.join(FAMILIES)}")
    options = parser.parse_args()
    missing = [each for each in ("torch", "transformers", "onnx", "onnxruntime", "onnxruntime_genai") if importlib.util.find_spec(each) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} is not installed")
        return 77
    os.environ["ATON_COMMAND"] = str(pathlib.Path(options.aton).resolve())
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import zoo_detection  # noqa: F401  operators that transformers imports with torchvision

    results = []
    with tempfile.TemporaryDirectory() as name:
        for family in options.families or FAMILIES:
            for precision in PRECISIONS:
                try:
                    results.append(compared(family, precision, options.target, options.rounds, pathlib.Path(name)))
                    print(results[-1], flush=True)
                except Exception as error:  # the builder may raise anything
                    print(f"{family}, {precision}: {type(error).__name__}: {str(error).splitlines()[0][:300]}", flush=True)
    if options.report:
        options.report.write_text(table(results, options.target), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
