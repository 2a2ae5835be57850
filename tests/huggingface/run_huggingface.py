#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports every model type of the installed transformers, in a tiny configuration, and compares ONNX Runtime with torch.

    tests/huggingface/run_huggingface.py --aton build/release/aton [--types bert,gpt2] [--only REGEX] [--shard 1/4]
                                         [--opsets 20,23,26] [--variants] [--decomposed] [--jsonl FILE] [--report FILE] [--recorded] [--keep FOLDER] [--check] [--list]

The components of a type are its model without a head, the head of its main task and, for a causal language model, one more word after
a cache of earlier ones. Each is captured by torch.export with a dynamic batch and length where torch finds them dynamic, and exported and
compared as the models of tests/models are, on two sets of inputs, with the exported program in torch as the reference. A component is

    right       ONNX Runtime computes torch's outputs
    refused     aton export says that it cannot export the program
    wrong       it wrote a model with other outputs, or crashed
    invalid     it wrote a model that ONNX's checker or ONNX Runtime does not accept
    uncaptured  torch.export fails
    unbuilt     the type has no tiny model here that runs in torch

--jsonl records each result at once; components that the file has are not tried again. --keep keeps the programs that are refused, wrong or
invalid. --check exits with 1 if one is, or if a type of --types is not captured. Exit code 77: transformers or torch is not installed."""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "models"), str(ROOT / "tests" / "oracle")]

import checking  # noqa: E402
import packages  # noqa: E402
from model_types import FIRST, TASKS, VARIANTS  # noqa: E402
from tiny_models import Absent, Unbuilt, Uncaptured, prepare  # noqa: E402
from worker_pool import run_jobs  # noqa: E402

SECONDS = 300
NO_KERNEL = re.compile(r"implementation for (Random|Bernoulli|Multinomial)\w*\(22\)")  # in any release of ONNX Runtime
STATES = ("right", "refused", "wrong", "invalid", "uncaptured", "unbuilt")


def components(with_variants=False):
    """[(model type, component, class name)]"""
    from transformers.models.auto import CONFIG_MAPPING, modeling_auto

    heads = {task: getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES") for task in TASKS}
    types = sorted(CONFIG_MAPPING.keys(), key=lambda t: (FIRST.index(t) if t in FIRST else len(FIRST), zlib.crc32(t.encode())))
    found = []
    for kind in types:
        base = modeling_auto.MODEL_MAPPING_NAMES.get(kind)
        if base:
            found.append((kind, "base", base if isinstance(base, str) else base[0]))
        task = next((task for task in TASKS if kind in heads[task]), None)
        if task:
            head = heads[task][kind]
            head = head if isinstance(head, str) else head[0]
            if not base or head != found[-1][2]:
                found.append((kind, task.lower(), head))
            if task == "CAUSAL_LM":
                found.append((kind, "decode", head))
                found += [(kind, variant, head) for variant in VARIANTS if with_variants]
    return found


def state_of(result):
    """The state of what checking.check_opset() gives."""
    if result["status"] == "pass":
        return "right"
    reason = result.get("reason", "")
    if result["status"] == "needs" or reason.startswith("aton export exited with 1: "):
        return "refused"
    return "invalid" if reason.startswith(("onnx.checker", "ONNX Runtime does not load")) else "wrong"


def at_opsets(folder, tolerance, options):
    """The result at the first opset where it is not right, or the largest error. A program may need a later one of the opsets."""
    worst = None
    for opset in options.opsets:
        result = checking.check_opset(options.aton, folder, "raw", opset, tolerance)
        if result["status"] == "needs" and result["opset"] <= max(options.opsets):
            continue
        if NO_KERNEL.search(result.get("reason", "")) and worst:
            continue
        state = state_of(result)
        if state != "right":
            return {"state": state, "at": opset} | {k: v for k, v in result.items() if k in ("reason", "nodes")}
        if worst is None or result["error"] > worst["error"]:
            worst = {"state": state, "error": result["error"], "nodes": result["nodes"]}
    return worst or {"state": "refused", "reason": f"needs opset {result['opset']}"}


def check(kind, component, class_name, options):
    """The result of a component, as --jsonl records it."""
    start = time.monotonic()
    name = f"{kind}.{component}"
    found = {"name": name, "class": class_name}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        try:
            found["dynamic"], same, tolerance = prepare(kind, component, class_name, folder, options.decomposed)
            found["torch_seconds"] = round(time.monotonic() - start, 1)
            found |= at_opsets(folder, tolerance, options)
            if same:
                found["constant"] = True
        except Unbuilt as problem:
            found |= {"state": "unbuilt", "reason": str(problem)}
        except Absent as problem:
            found |= {"state": "absent", "reason": str(problem)}
        except Uncaptured as problem:
            found |= {"state": "uncaptured", "reason": str(problem)}
        except Exception as problem:
            found |= {"state": "uncaptured", "reason": f"{type(problem).__name__}: {checking.short(problem)}"}
        if options.keep and found["state"] in ("refused", "wrong", "invalid"):
            options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copy(folder / "raw.pt2", options.keep / f"{name}.pt2")
            shutil.copy(folder / "cases.npz", options.keep / f"{name}.npz")
    return found | {"seconds": round(time.monotonic() - start, 1)}


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--types", help="only these model types: bert,gpt2")
    parser.add_argument("--only", help="only components, as bert.base, that the expression matches")
    parser.add_argument("--shard", default="1/1", help="every N-th type: 1/4, ..., 4/4")
    parser.add_argument("--opsets", type=lambda text: [int(n) for n in text.split(",")], default=[20, 23, 26])
    parser.add_argument("--variants", action="store_true", help="also other arguments and dtypes of causal language models")
    parser.add_argument("--decomposed", action="store_true", help="the programs after run_decompositions()")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--jsonl", type=pathlib.Path, help="a line for each result; those in the file are kept")
    parser.add_argument("--report", type=pathlib.Path, help="write the table as Markdown")
    parser.add_argument("--recorded", action="store_true", help="only report what the file of --jsonl has")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for programs that are refused, wrong or invalid")
    parser.add_argument("--check", action="store_true", help="exit with 1 if one of them is, or a type of --types is not captured")
    parser.add_argument("--list", action="store_true", help="print the components and exit")
    options = parser.parse_args(words)
    options.aton = str(pathlib.Path(options.aton).resolve())
    return options


def select(found, options):
    part, parts = map(int, options.shard.split("/"))
    types = list(dict.fromkeys(kind for kind, *_ in found))
    chosen = set(types[part - 1 :: parts])
    if options.types:
        chosen &= set(options.types.split(","))
    return [c for c in found if c[0] in chosen and (not options.only or re.search(options.only, f"{c[0]}.{c[1]}"))]


def recorded(path):
    """{name: result}"""
    if not path or not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {result["name"]: result for result in map(json.loads, lines)}


def run(todo, options):
    """The results of components, in their order."""

    def note(result):
        print(f"{result['name']}: {result['state']} {result.get('reason', '')[:200]} {result.get('seconds', '')}", flush=True)
        if options.jsonl:
            with options.jsonl.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result) + "\n")
        return result

    def lost(number, why):
        kind, component, class_name = todo[number]
        return note({"name": f"{kind}.{component}", "class": class_name, "state": "uncaptured", "reason": why})

    return run_jobs(lambda number: note(check(*todo[number], options)), len(todo), lost, options.jobs, SECONDS, chunk=1)


def summary(results):
    counts = collections.Counter(r["state"] for r in results)
    types = len({r["name"].split(".")[0] for r in results})
    return f"{types} model types, {len(results)} components: " + ", ".join(f"{counts[state]} {state}" for state in STATES)


INTRODUCTION = """# Models of transformers

Tiny models of transformers {transformers} with random weights, captured by PyTorch {torch}, exported at opsets {opsets}, with the built-in
rewrites, and compared in ONNX Runtime {onnxruntime} with the exported program in PyTorch, on two sets of inputs. What varies in the
inputs, the batch or the length, is a dynamic dimension where torch.export finds it dynamic. Components are the model without a head
(`base`), the head of its main task, and one more word after a cache (`decode`).{variants}

The largest error may be 1e-4 of the largest value (float16: 2e-2), or four times what it changes by if every weight changes by a rounding
error, at most 1e-2. Random operators have no kernel in ONNX Runtime from opset 22 on; a component with them counts if it is right at an
earlier opset.

Written by `tests/huggingface/run_huggingface.py --aton build/release/aton --variants --jsonl results.jsonl --report docs/results/huggingface.md`.

{tried} of the {all} model types that have a component were tried: the most used ones, then the others in a random order.

{summary}.

"""
OF_VARIANTS = """ Of heads of causal
language models: plain attention (`eager`), with attention weights and hidden states as outputs (`outputs`), with the cache as an output
(`prefill`), texts padded on the left with `position_ids` (`padded`, `padded_decode`), a `StaticCache` (`static`), vectors instead of
words (`embeds`), and `float16`."""
MEANINGS = """`uncaptured`: torch.export fails. `unbuilt`: the tests have no tiny model or no inputs. Neither says anything about Aton.

"""


def markdown(results, every, opsets):
    """A row for each model type, and the reasons of components that are not right."""
    import importlib.metadata

    versions = {p: importlib.metadata.version(p).split("+")[0] for p in ("torch", "transformers", "onnxruntime")}
    types = {}
    for r in sorted(results, key=lambda r: r["name"]):
        kind, component = r["name"].split(".")
        types.setdefault(kind, {}).setdefault(r["state"], []).append(component)
    named = ", ".join(map(str, opsets[:-1])) + f" and {opsets[-1]}" if len(opsets) > 1 else str(opsets[0])
    variants = OF_VARIANTS if any(r["name"].split(".")[1] in VARIANTS for r in results) else ""
    out = INTRODUCTION.format(**versions, opsets=named, variants=variants, tried=len(types), all=len({kind for kind, *_ in every}), summary=summary(results))
    out += MEANINGS + "| model type | right | other components |\n|---|---|---|\n"
    for kind, states in types.items():
        others = "; ".join(f"{state}: {', '.join(names)}" for state, names in states.items() if state != "right")
        out += f"| {kind} | {', '.join(states.get('right', []))} | {others} |\n"
    bad = [r for r in sorted(results, key=lambda r: r["name"]) if r["state"] in ("refused", "wrong", "invalid")]
    return out + "".join(f"\n- {r['name']}, {r['state']}: {r.get('reason', '')[:200]}" for r in bad) + ("\n" if bad else "")


def problems_of(results, options):
    bad = ("refused", "wrong", "invalid", *(("uncaptured", "unbuilt") if options.types else ()))
    return [f"{r['name']}: {r['state']}: {r.get('reason', '')}" for r in results if r["state"] in bad]


def main(words=None):
    options = parse(words)
    if packages.is_missing("torch", "transformers", "onnx", "onnxruntime"):
        return 77
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import logging
    import warnings

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    import zoo_detection  # noqa: F401  operators that transformers imports with torchvision

    todo = select(components(options.variants), options)
    if options.list:
        print("\n".join(f"{kind}.{component} {name}" for kind, component, name in todo))
        return 0
    before = recorded(options.jsonl)
    names = [f"{kind}.{component}" for kind, component, _ in todo]
    fresh = [] if options.recorded else run([c for c, name in zip(todo, names) if name not in before], options)
    results = [r for r in (*(before[name] for name in names if name in before), *fresh) if r["state"] != "absent"]
    if options.report:
        options.report.write_text(markdown(results, components(), options.opsets), encoding="utf-8")
    problems = problems_of(results, options)
    print("\n".join(["", *problems, summary(results)]))
    return 1 if problems and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
