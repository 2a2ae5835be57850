#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Saves the archives of nets.py with the torch that runs this, each with two examples of its inputs, and what the module returns for them:

    python make_archives.py --work build/torchscript/models/2.1.2 [--only resnet,lstm]

NAME.pt is the archive, NAME.npz has the arrays `0/in/x`, `0/in/pair.0`, `0/out/0`, ..., and NAME.json the rest.

Rounding must not decide an example: untrained networks may amplify it, and order boxes by scores that are all but equal. One whose result
another rounding of the inputs changes is replaced by the next one."""

import argparse
import json
import pathlib
import sys
import traceback
import warnings
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE)]

STABLE = 2.5e-5 # relative to the largest element: a quarter of what run_archives.py allows
DRAWS = 10


def named(name, value):
    """pair=(a, b) -> {"pair.0": a, "pair.1": b}"""
    if isinstance(value, dict):
        return {f"{name}.{key}": each for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return {f"{name}.{number}": each for number, each in enumerate(value)}
    return {name: value}


def leaves(x):
    import torch
    if isinstance(x, (list, tuple)):
        return [leaf for each in x for leaf in leaves(each)]
    if hasattr(x, "items"):
        return [leaf for each in x.values() for leaf in leaves(each)]
    return [] if x is None else [torch.as_tensor(x).detach()]


def copied(x):
    if isinstance(x, dict):
        return {key: copied(each) for key, each in x.items()}
    return type(x)(copied(each) for each in x) if isinstance(x, (list, tuple)) else x.clone()


def rounded_otherwise(x, random):
    """The inputs, floats as if they had been rounded once more."""
    import torch
    if isinstance(x, dict):
        return {key: rounded_otherwise(each, random) for key, each in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(rounded_otherwise(each, random) for each in x)
    if not x.is_floating_point():
        return x.clone()
    return x + x * torch.finfo(x.dtype).eps * (torch.rand(x.shape, generator=random) - 0.5)


def are_close(wanted, found):
    import torch
    for want, got in zip(wanted, found):
        if want.shape != got.shape:
            return False
        if not want.is_floating_point() or not want.numel():
            if not torch.equal(want, got):
                return False
            continue
        finite = want.isfinite()
        if not torch.equal(finite, got.isfinite()):
            return False
        if finite.any() and (want - got)[finite].abs().max() > STABLE * want[finite].abs().max():
            return False
    return len(wanted) == len(found)


def is_decided(run, example):
    """Whether the result is that of the example, not of its rounding."""
    import torch
    random = torch.Generator().manual_seed(1)
    wanted = run(example)
    return all(are_close(wanted, run(rounded_otherwise(example, random))) for _ in range(3))


def make(net, folder):
    import numpy
    import torch
    path = folder / f"{net.full_name}.pt"
    torch.manual_seed(zlib.crc32(net.name.encode()))
    module = net.build().eval()
    examples = [net.inputs(0), net.inputs(1)]
    with torch.no_grad():
        if net.way == "scripted":
            script = torch.jit.script(module)
        else:
            script = torch.jit.trace(module, copied(examples[0]), check_trace=False, strict=False)
        torch.jit.save(script, str(path))
        script = torch.jit.load(str(path))

        def run(example):
            return leaves(torch.jit.load(str(path))(*copied(example)))

        for number in range(2):
            draws = 0
            while not is_decided(run, examples[number]):
                if (draws := draws + 1) == DRAWS:
                    raise ValueError(f"rounding decides each of {DRAWS} examples")
                examples[number] = net.inputs(number)
        script_names = [each.name for each in script.forward.schema.arguments[1:]]
        arrays = {}
        for number, example in enumerate(examples):
            for name, value in zip(script_names, example):
                arrays.update({f"{number}/in/{key}": each.numpy() for key, each in named(name, value).items()})
            for index, each in enumerate(run(example)):
                arrays[f"{number}/out/{index}"] = each.numpy()
    numpy.savez(path.with_suffix(".npz"), **arrays)
    kinds = {name: type(value).__name__ for name, value in zip(script_names, examples[0])}
    axes = {name: list(net.dynamic.get(position, ())) for position, name in enumerate(kinds)}
    dynamic = {key: axes[name] for (name, value) in zip(kinds, examples[0]) for key in named(name, value)}
    parameters = sum(each.numel() for each in module.parameters())
    about = {"kinds": kinds, "dynamic": dynamic, "way": net.way, "torch": torch.__version__.split("+")[0], "parameters": parameters}
    path.with_suffix(".json").write_text(json.dumps(about))


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args(words)
    import torch
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    import nets
    options.work.mkdir(parents=True, exist_ok=True)
    problems = 0
    for each in nets.load(torch.__version__.split("+")[0]):
        if not any(part in each.full_name for part in options.only.split(",")):
            continue
        if (options.work / f"{each.full_name}.json").exists():
            continue
        try:
            make(each, options.work)
        except Exception as e:  # whatever a package raises
            (options.work / f"{each.full_name}.pt").unlink(missing_ok=True)
            where = traceback.extract_tb(e.__traceback__)[-1]
            print(f"{each.full_name}: torch {torch.__version__} cannot make it: {type(e).__name__}: {str(e).strip()[-300:]} ({where.filename}:{where.lineno})")
            problems += 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
