#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Scripts the functions of language_*.py, exports the archives with `aton export`, and compares ONNX Runtime with torch.jit.load. Those of
language_refused.py must be refused with their reasons.

    tests/models/torchscript_language.py --aton build/release/aton [--only NAME,...] [--alone]

Functions are exported many at a time, as one module that calls them all; those of a module that is refused or wrong are then exported
alone, so that the report names them. Exit code 0; 1 if anything is wrong; 77 if torch is not installed."""

import argparse
import importlib
import inspect
import linecache
import pathlib
import sys
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]

import packages  # noqa: E402
import torchscript  # noqa: E402

MODULES = ("language_text", "language_numbers", "language_containers", "language_classes", "language_tensors", "language_constants",
           "language_dynamic")


def example(columns=4):
    import torch
    return torch.arange(3. * columns).reshape(3, columns) * 0.7 - 3


def is_dynamic(name):
    """"dynamic_": the second input has more columns; "same_": it has as many, because torch must get that many."""
    return name.startswith(("dynamic_", "same_"))


def save(functions, path):
    """A module whose forward calls all of the functions. torch.jit.script reads the source of its class from a file."""
    import torch
    calls = ", ".join(f"{name}(x)" for name in functions)
    source = path.with_suffix(".py")
    source.write_text("import torch\n\nclass Functions(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
                      f"        return ({calls},)\n")
    linecache.checkcache(str(source))
    names = dict(functions)
    exec(compile(source.read_text(), str(source), "exec"), names)
    inspect.modulesbyfile.clear()
    torch.jit.script(names["Functions"]()).save(str(path))


def check(aton, functions, folder):
    """"right", or what is wrong"""
    archive, model = folder / "functions.pt", folder / "functions.onnx"
    save(functions, archive)
    other = example(6 if all(name.startswith("dynamic_") for name in functions) else 4)
    dynamic = {"x": (1,)} if all(is_dynamic(name) for name in functions) else {}
    return torchscript.check(aton, archive, model, {"x": example()}, {"x": other.flip(0) * 1.25}, dynamic)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"))
    parser.add_argument("--only", help="only functions whose name contains one of these: text_,dict_order")
    parser.add_argument("--alone", action="store_true", help="each function in an archive of its own")
    options = parser.parse_args(words)
    if packages.is_missing("torch", "onnx", "onnxruntime"):
        return 77
    warnings.filterwarnings("ignore")
    import torch
    torch.set_num_threads(1)
    aton = str(pathlib.Path(options.aton).resolve())
    count, problems = 0, []
    for name in MODULES:
        functions = {key: torch.jit.script(f) for key, f in importlib.import_module(name).functions().items()
                     if not options.only or any(part in key for part in options.only.split(","))}
        count += len(functions)
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            together = [{k: f for k, f in functions.items() if k.startswith(start)} for start in ("dynamic_", "same_")]
            together.append({k: f for k, f in functions.items() if not is_dynamic(k)})
            if not options.alone and all(not part or check(aton, part, place) == "right" for part in together):
                continue
            for key, f in functions.items():
                verdict = check(aton, {key: f}, place)
                if verdict != "right":
                    problems.append(f"{key}: {verdict}")
    import language_refused
    for function, reason in language_refused.cases():
        name = function.__name__
        if options.only and not any(part in name for part in options.only.split(",")):
            continue
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            archive, model = pathlib.Path(folder) / "functions.pt", pathlib.Path(folder) / "functions.onnx"
            save({name: torch.jit.script(function)}, archive)
            verdict = torchscript.check_refusal(aton, archive, model, {"x": example()}, reason, dynamic={"x": (1,)})
        if verdict != "right":
            problems.append(f"{name}: {verdict}")
    print(f"{count} functions, {len(problems)} not right", *problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
