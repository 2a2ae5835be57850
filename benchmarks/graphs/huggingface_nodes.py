#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the nodes of Aton's graphs and of PyTorch's, for tiny models of transformers.

    benchmarks/graphs/huggingface_nodes.py [--aton build/release/aton] [--opset 20] [--sample 100] [--seed 1] [--only bert.base,gpt2]
                                           [--jsonl FILE]

The components are those of tests/huggingface/run_huggingface.py, in a random order that --seed chooses; --sample stops after so many
that both exporters write. PyTorch's graphs are those of torch.onnx.export with dynamo=True and optimize=True of the same program, with
functions inlined on both sides. Each component has a process of its own. --jsonl records the counts at once, and components that the
file has are not tried again. Exit code 77: transformers or torch is not installed."""

import argparse
import json
import logging
import os
import pathlib
import random
import sys
import tempfile
import types
import warnings

import graphs
import nodes
from graphs import ROOT

SECONDS = 240


def count(component, options):
    """{"aton", "dynamo": histograms, "wrong"}, or {"problem"}"""
    import onnx
    import torch
    from tiny_models import Absent, Unbuilt, Uncaptured, prepare

    torch.set_num_threads(1)
    kind, part, class_name = component
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        here = types.SimpleNamespace(aton=options.aton, opset=options.opset, models=folder)
        (folder / "model").mkdir()
        try:
            _, _, tolerance = prepare(kind, part, class_name, folder / "model")
            found = {"aton": nodes.count_aton("model", here)}
            target = folder / "dynamo.onnx"
            graphs.export_with_dynamo(folder / "model" / "raw.pt2", target, options.opset)
            entry = types.SimpleNamespace(name="model", tolerance=tolerance)
            return found | {"dynamo": graphs.histogram(onnx.load(target)), "wrong": nodes.wrong(entry, target, here)}
        except (Absent, Unbuilt, Uncaptured) as problem:
            return {"problem": f"{type(problem).__name__.lower()}: {str(problem)[:200]}"}
        except Exception as problem:  # torch may raise anything
            return {"problem": f"{type(problem).__name__}: {' '.join(str(problem).split())[:200]}"}


def run(components, options, path):
    """Adds a line to the file for each component that it does not have, until enough have both graphs."""
    from worker_pool import run_jobs

    def note(component, found):
        line = {"name": ".".join(component[:2]), "opset": options.opset} | found
        print(f"{line['name']}: {found.get('problem') or 'counted'}", file=sys.stderr, flush=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    known = {(line["name"], line["opset"]) for line in read(path)}
    todo = [c for c in components if (".".join(c[:2]), options.opset) not in known]
    for component in todo:
        if sum("dynamo" in line and line["opset"] == options.opset for line in read(path)) >= options.sample:
            break
        run_jobs(lambda _, c=component: note(c, count(c, options)), 1, lambda _, why, c=component: note(c, {"problem": why}), 1, SECONDS, chunk=1)


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--opset", type=int, default=20)
    parser.add_argument("--sample", type=int, default=100, help="the number of components that both exporters write")
    parser.add_argument("--seed", type=int, default=1, help="of the order of components")
    parser.add_argument("--only", help="only components whose name contains one of these: bert.base,gpt2")
    parser.add_argument("--jsonl", type=pathlib.Path, help="where counts are kept; default: nowhere")
    options = parser.parse_args(words)
    if graphs.is_missing("transformers"):
        return 77
    os.nice(10)
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    import run_huggingface
    import zoo_vision  # noqa: F401: declares operators that torchvision needs

    components = run_huggingface.components()
    random.Random(options.seed).shuffle(components)
    if options.only:
        components = [c for c in components if any(part in ".".join(c[:2]) for part in options.only.split(","))]
    with tempfile.TemporaryDirectory() as scratch:
        path = options.jsonl or pathlib.Path(scratch) / "nodes.jsonl"
        run(components, options, path)
        found = [line for line in read(path) if line["opset"] == options.opset]
    print(nodes.table(found))
    print(nodes.summary(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
