#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports every model type of the installed transformers, in a tiny configuration, and compares ONNX Runtime with torch.

    tests/huggingface/run_huggingface.py --aton build/release/aton [--types bert,gpt2] [--only REGEX] [--shard 1/4]
                                         [--jsonl FILE] [--report FILE] [--keep FOLDER] [--check] [--list]

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
import contextlib
import copy
import functools
import importlib.util
import inspect
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
from model_types import FIRST, TASKS  # noqa: E402
from worker_pool import run_jobs  # noqa: E402

SECONDS = 300
TOLERANCE = 1e-4
MAX_PARAMETERS = 40_000_000
STATES = ("right", "refused", "wrong", "invalid", "uncaptured", "unbuilt")


def components():
    """[(model type, component, class name)]"""
    from transformers.models.auto import CONFIG_MAPPING, modeling_auto

    heads = {task: getattr(modeling_auto, f"MODEL_FOR_{task}_MAPPING_NAMES") for task in TASKS}
    types = sorted(CONFIG_MAPPING.keys(), key=lambda t: (FIRST.index(t) if t in FIRST else len(FIRST), t))
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
    return found


class Unbuilt(Exception):
    """No tiny model of the type runs in torch."""


class Uncaptured(Exception):
    pass


class Absent(Exception):
    """The type has no such component."""


def build(kind, component, class_name):
    import torch
    import transformers

    from tiny_configs import parts_of, tiny

    config = tiny(kind)
    for part in parts_of(config):
        if getattr(part, "use_cache", None):
            part.use_cache = False
    if component in ("causal_lm", "decode") and hasattr(config, "is_decoder"):
        config.is_decoder = True
    model_class = getattr(transformers, class_name)
    with contextlib.suppress(NotImplementedError, RuntimeError), torch.device("meta"):
        size = sum(p.numel() for p in model_class._from_config(config).parameters())
        if size > MAX_PARAMETERS:
            raise Unbuilt(f"{size} parameters")
    return model_class._from_config(copy.deepcopy(config)).eval()


def positional(model, names, rest):
    """The model with tensors by position and its results as a tuple. `rest` makes the arguments that are no tensors of their own."""
    import exported
    import torch

    class Positional(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.wrapped = model

        def forward(self, *args):
            given = dict(zip(names, args))
            return tuple(exported.tensors(dict(model_output(self.wrapped(**given, **rest(args[len(names) :]))))))

    return Positional().eval()


def model_output(result):
    return result if isinstance(result, dict) else {"results": result}


def cache_of(model, given):
    """The tensors of a cache after a call, and the function that makes the argument of them."""
    import torch
    from transformers.exporters.exporter_dynamo import register_cache_pytrees_for_model

    register_cache_pytrees_for_model(model)
    result = model(**given, use_cache=True)
    name = next((n for n in ("past_key_values", "cache_params") if result.get(n) is not None), None)
    if name is None:
        raise Absent("no cache")
    leaves, spec = torch.utils._pytree.tree_flatten(result[name])
    if not leaves or not all(isinstance(leaf, torch.Tensor) for leaf in leaves):
        raise Unbuilt("the cache holds no tensors")
    return leaves, lambda tensors: {name: torch.utils._pytree.tree_unflatten(list(tensors), spec), "use_cache": True}


def places_for(problem):
    """The number of words that a model wants for the vectors of one image or sound, as its message says."""
    found = re.search(r"tokens do not match, tokens: 0, features: (\d+)", str(problem))
    return int(found[1]) // 2 if found else 0


def inputs_that_run(model):
    """The names of the first set of arguments that the model takes, and the function that makes them."""
    import inputs

    problem, images, tried = None, 0, ()
    wanted, parameters = inputs.choices(model)
    for names in wanted:
        for images in (0, None):
            if images is None and not (images := places_for(problem)):
                continue
            given = inputs.arguments(names, model.config, 2, 7, parameters, images)
            if given is None:
                continue
            try:
                model(**given)
                return tuple(given), functools.partial(inputs.arguments, tuple(given), model.config, parameters=parameters, images=images)
            except Exception as e:  # a model may raise anything
                if problem is None or places_for(e) or len(names) >= len(tried):
                    problem, tried = e, names
    raise Unbuilt(f"{tried}: {type(problem).__name__}: {checking.short(problem)}" if problem else f"no inputs for {wanted}")


def maker(model, component):
    """The module with tensors by position, and a function of batch and length that makes the tensors."""
    import inputs

    names, arguments = inputs_that_run(model)
    if component != "decode":
        return positional(model, names, lambda _: {}), lambda batch, length: tuple(arguments(batch=batch, length=length).values())
    parameters = inspect.signature(model.forward).parameters
    if "past_key_values" not in parameters and "cache_params" not in parameters:
        raise Absent("no cache")
    _, rest = cache_of(model, arguments(batch=2, length=7))

    def give(batch, length):
        leaves, _ = cache_of(model, arguments(batch=batch, length=length))
        return (inputs.words(model.config, batch, 1), *leaves)

    return positional(model, ("input_ids",), rest), give


def capture(module, make, model, length):
    """The program of torch.export, and two sets of inputs for it."""
    import torch
    from transformers.exporters.exporter_dynamo import apply_patches

    args = make(2, length)
    others = make(3, length + 4)
    auto = torch.export.Dim.AUTO
    varying = tuple({d: auto for d, (a, b) in enumerate(zip(t.shape, o.shape)) if a != b} or None for t, o in zip(args, others))
    problem = None
    for dynamic, patched in ((True, False), (False, False), (True, True), (False, True)):
        with apply_patches("dynamo") if patched else contextlib.nullcontext():
            try:
                shapes = (varying,) if dynamic else None
                program = torch.export.export(module, copy.deepcopy(args), dynamic_shapes=shapes, strict=False)
            except Exception as e:
                problem = problem or e
                continue
        for batch, other_length in ((3, length + 4), (3, length), (2, length + 4)) if dynamic else ():
            with contextlib.suppress(Exception):  # sizes that the program does not accept
                others = make(batch, other_length)
                program.module()(*copy.deepcopy(others))
                changed = {d for t, o in zip(args, others) for d, (a, b) in enumerate(zip(t.shape, o.shape)) if a != b}
                if not changed:
                    break
                return program, args, others, f"{'batch' if batch == 3 else ''} {'length' if changed - {0} else ''}".strip()
        return program, args, make(2, length), "static"
    raise Uncaptured(f"{type(problem).__name__}: {checking.short(problem)}")


def prepare(kind, component, class_name, folder):
    """Fills a folder as exported.make_folder() does; gives what is dynamic."""
    import exported
    import numpy
    import torch

    import zoo

    torch.set_num_threads(1)
    torch.manual_seed(zlib.crc32(f"{kind} {component}".encode()))
    with torch.no_grad():
        try:
            model = build(kind, component, class_name)
            zoo.randomize(model)
            module, make = maker(model, component)
            zoo.randomize_statistics(module, make(2, 7))
        except (Unbuilt, Absent):
            raise
        except Exception as e:
            raise Unbuilt(f"{type(e).__name__}: {checking.short(e)}") from None
        program, args, others, dynamic = capture(module, make, model, 7)
        cases = {}
        for number, given in enumerate((args, others)):
            cases |= exported.record(program.module(), given, number)
        torch.export.save(program, folder / "raw.pt2")
    numpy.savez(folder / "cases.npz", **cases)
    same = all(numpy.array_equal(cases[n], cases[n.replace("output_0", "output_1")], equal_nan=True) for n in cases if n.startswith("output_0"))
    return dynamic, same


def state_of(result):
    """The state of what checking.check_opset() gives."""
    if result["status"] == "pass":
        return "right"
    reason = result.get("reason", "")
    if result["status"] == "needs" or reason.startswith("aton export exited with 1: "):
        return "refused"
    return "invalid" if reason.startswith(("onnx.checker", "ONNX Runtime does not load")) else "wrong"


def check(kind, component, class_name, options):
    """The result of a component, as --jsonl records it."""
    start = time.monotonic()
    name = f"{kind}.{component}"
    found = {"name": name, "class": class_name}
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        try:
            found["dynamic"], same = prepare(kind, component, class_name, folder)
            found["torch_seconds"] = round(time.monotonic() - start, 1)
            result = checking.check_opset(options.aton, folder, "raw", options.opset, TOLERANCE)
            found |= {"state": state_of(result)} | {k: v for k, v in result.items() if k != "status"}
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
    parser.add_argument("--opset", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--jsonl", type=pathlib.Path, help="a line for each result; those in the file are kept")
    parser.add_argument("--report", type=pathlib.Path, help="write the table as Markdown")
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


def markdown(results):
    import importlib.metadata

    versions = {p: importlib.metadata.version(p).split("+")[0] for p in ("torch", "transformers", "onnxruntime")}
    out = "# Model types of transformers\n\n"
    out += "Tiny models of transformers {transformers}, captured by PyTorch {torch}, in ONNX Runtime {onnxruntime}.\n\n".format(**versions)
    out += f"{summary(results)}.\n\n| component | dynamic | nodes | result |\n|---|---|--:|---|\n"
    for r in sorted(results, key=lambda r: r["name"]):
        said = "right" if r["state"] == "right" else f"{r['state']}: {r.get('reason', '')[:160]}".replace("|", "\\|")
        out += f"| {r['name']} | {r.get('dynamic', '')} | {r.get('nodes', '')} | {said} |\n"
    return out


def problems_of(results, options):
    bad = ("refused", "wrong", "invalid", *(("uncaptured", "unbuilt") if options.types else ()))
    return [f"{r['name']}: {r['state']}: {r.get('reason', '')}" for r in results if r["state"] in bad]


def main(words=None):
    options = parse(words)
    for package in ("torch", "transformers", "onnx", "onnxruntime"):
        if importlib.util.find_spec(package) is None:
            print(f"skipped: {package} is not installed for {sys.executable}")
            return 77
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import logging
    import warnings

    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    import zoo_detection  # noqa: F401  operators that transformers imports with torchvision

    todo = select(components(), options)
    if options.list:
        print("\n".join(f"{kind}.{component} {name}" for kind, component, name in todo))
        return 0
    before = recorded(options.jsonl)
    names = [f"{kind}.{component}" for kind, component, _ in todo]
    fresh = run([c for c, name in zip(todo, names) if name not in before], options)
    results = [r for r in (*(before[name] for name in names if name in before), *fresh) if r["state"] != "absent"]
    if options.report:
        options.report.write_text(markdown(results), encoding="utf-8")
    problems = problems_of(results, options)
    print("\n".join(["", *problems, summary(results)]))
    return 1 if problems and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
