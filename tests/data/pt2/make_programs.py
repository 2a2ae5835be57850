#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes programs.txt: the programs of .pt2 files as torch.export.load gives them, in the words of program.hpp.

    python make_programs.py FILE.pt2 ... > programs.txt      (needs torch 2.13)

Sizes are numbers: the symbol s77 is taken for 79, u0 for 102 (two, and a hundred for u, more than in its name).
"""
import math
import operator
import pathlib
import re
import sys
import warnings

import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind
from torch.export.pt2_archive._package import load_pt2

kinds = {InputKind.USER_INPUT: "user", InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer",
         InputKind.CONSTANT_TENSOR: "constant", InputKind.CUSTOM_OBJ: "custom_object", InputKind.TOKEN: "token",
         OutputKind.USER_OUTPUT: "user", OutputKind.BUFFER_MUTATION: "buffer_mutation",
         OutputKind.USER_INPUT_MUTATION: "input_mutation", OutputKind.LOSS_OUTPUT: "loss"}


def size(s) -> str:
    if isinstance(s, int):
        return str(s)
    e = s.node.expr
    numbers = {x: (102 if x.name.startswith("u") else 2) + int(x.name[1:]) for x in e.free_symbols}
    return str(int(e.subs(numbers)))


def typed(name: str, v) -> str:
    if v is None:
        return "None"
    if not isinstance(v, torch.Tensor):
        return name + (":" + size(v) if isinstance(v, torch.SymInt) else "")
    dtype = str(v.dtype).removeprefix("torch.")
    return f"{name}:{dtype}[{','.join(map(size, v.shape))}]/[{','.join(map(size, v.stride()))}]"


def text(a) -> str:
    if isinstance(a, torch.fx.Node):
        return ("@" if a.op == "get_attr" else "%") + (a.target if a.op == "get_attr" else a.name)
    if isinstance(a, bool):
        return str(a).lower()
    if isinstance(a, float):
        return f"{a:.17g}" if math.isfinite(a) else str(a)
    if isinstance(a, str):
        return "'" + a + "'"
    if isinstance(a, (list, tuple)):
        return "[" + ", ".join(map(text, a)) + "]"
    return str(a).removeprefix("torch.")


def operator_name(target) -> str:
    if isinstance(target, torch._ops.OpOverload):
        return target._schema.name + ("" if target._overloadname == "default" else "." + target._overloadname)
    if isinstance(target, torch._ops.HigherOrderOperator):
        return "higher_order::" + target.name()
    module = {"builtins": "math"}.get(target.__module__, target.__module__)
    return module + "." + target.__name__


def arguments(node) -> list[str]:
    names = [""] * len(node.args)
    if isinstance(node.target, torch._ops.OpOverload):
        names = [a.name for a in node.target._schema.arguments]
    elif not isinstance(node.target, torch._ops.HigherOrderOperator):
        names = ["a", "b"]
    return [f"{n}={text(a)}" for n, a in [*zip(names, node.args), *node.kwargs.items()]]


def results(node) -> list[str]:
    if isinstance(node.target, torch._ops.OpOverload) and not node.target._schema.returns:
        return []
    v = node.meta["val"]
    if not isinstance(v, (list, tuple)):
        return [typed(node.name, v)]
    names = {u.args[1]: u.name for u in node.users if u.target is operator.getitem}
    out = [typed(names.get(i, f"{node.name}_unused_{i}"), each) for i, each in enumerate(v)]
    is_list = isinstance(node.target, torch._ops.OpOverload) and isinstance(node.target._schema.returns[0].type, torch.ListType)
    return ["[" + ", ".join(out) + "]"] if is_list else out


def origin(node) -> str:
    path, kind = list((node.meta.get("nn_module_stack") or {"": ("", "")}).values())[-1]
    if path.startswith("_empty"):
        path = kind = ""
    frames = re.findall(r'^\s*File "(.*)", line (\d+), in (.*)\n?(.*)$', node.meta.get("stack_trace") or "", re.MULTILINE)
    own = [f for f in frames if not re.search(r"(^|/)torch/|^<", f[0])]
    if not frames:
        return f"{path}|{kind}||"
    file, line, function, code = (own or frames)[-1]
    return f"{path}|{kind}|{pathlib.Path(file).name}:{line} in {function}|{code.strip()[:60]}"


def print_program(file: str, model: str, ep) -> None:
    print("program", file, model)
    nodes = list(ep.graph.nodes)
    values = {n.name: n.meta.get("val") for n in nodes}
    for spec in ep.graph_signature.input_specs:
        if isinstance(spec.arg, ConstantArgument):
            print("input baked", spec.arg.name)
        else:
            print("input", kinds[spec.kind], spec.target or spec.arg.name, typed(spec.arg.name, values[spec.arg.name]))
    for n in nodes:
        if n.op != "call_function" or n.target is operator.getitem:
            continue
        print(f"node {n.name} {operator_name(n.target)}({', '.join(arguments(n))}) -> {', '.join(results(n))}")
        print("   ", origin(n))
    for spec, given in zip(ep.graph_signature.output_specs, nodes[-1].args[0], strict=True):
        print("output", kinds[spec.kind], spec.target or "-", text(given))


warnings.simplefilter("ignore")
for path in map(pathlib.Path, sys.argv[1:]):
    loaded = {"model": torch.export.load(path)} if path.stem.startswith("legacy") else load_pt2(path).exported_programs
    for model in sorted(loaded):
        print_program(path.name, model, loaded[model])
