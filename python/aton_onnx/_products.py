# SPDX-License-Identifier: MIT
"""Products of one operand with several weights as one product: queries, keys and values of an attention."""

from __future__ import annotations

import operator
import os
from collections.abc import Sequence
from typing import Any

#: Fewer products stay: two of them take as many nodes as one and its parts.
_LEAST = 3


def merge_products(program: Any) -> None:
    """Replaces at least three linear layers that take the same operand by one, whose result is split. Their weights must be
    parameters that nothing else uses."""
    import torch

    linear = torch.ops.aten.linear.default
    by_operand: dict[Any, list[Any]] = {}
    for node in program.graph.nodes:
        if node.op == "call_function" and node.target is linear:
            by_operand.setdefault(node.args[0], []).append(node)
    parameters = program.graph_signature.inputs_to_parameters
    for layers in by_operand.values():
        operands = [_weights(layer) for layer in layers]
        alike = len({len(given) for given in operands}) == 1
        owned = all(each.name in parameters and len(each.users) == 1 for given in operands for each in given)
        if len(layers) >= _LEAST and alike and owned:
            _merge(program, layers)
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()


def _weights(layer: Any) -> list[Any]:
    """The weight, and the bias if there is one."""
    return [each for each in layer.args[1:] if each is not None]


def _merge(program: Any, layers: Sequence[Any]) -> None:
    import torch

    first = layers[0]
    groups = list(zip(*map(_weights, layers), strict=True))
    sizes = [layer.args[1].meta["val"].shape[0] for layer in layers]
    joined = [_joined(program, group) for group in groups]
    with program.graph.inserting_before(first):
        made = program.graph.call_function(torch.ops.aten.linear.default, (first.args[0], *joined))
        parts = program.graph.call_function(torch.ops.aten.split_with_sizes.default, (made, sizes, -1))
        each_part = [program.graph.call_function(operator.getitem, (parts, place)) for place in range(len(layers))]
    value = first.meta["val"]
    made.meta = dict(first.meta) | {"val": value.new_empty((*value.shape[:-1], sum(sizes)))}
    parts.meta = dict(first.meta) | {"val": [layer.meta["val"] for layer in layers]}
    for layer, part in zip(layers, each_part, strict=True):
        part.meta = dict(layer.meta)
        layer.replace_all_uses_with(part)
        program.graph.erase_node(layer)
    for group in groups:
        for placeholder in group[1:]:
            program.graph.erase_node(placeholder)


def _joined(program: Any, placeholders: Sequence[Any]) -> Any:
    """The first of the parameters, which becomes all of them, one after the other."""
    import torch

    signature = program.graph_signature
    names = [signature.inputs_to_parameters[each.name] for each in placeholders]
    weights = [program.state_dict.pop(name) for name in names]
    name = _common_name(names)
    program.state_dict[name] = torch.nn.Parameter(torch.cat([each.detach() for each in weights]), requires_grad=False)
    gone = {each.name for each in placeholders[1:]}
    signature.input_specs = [each for each in signature.input_specs if each.arg.name not in gone]
    next(each for each in signature.input_specs if each.arg.name == placeholders[0].name).target = name
    value = placeholders[0].meta["val"]
    placeholders[0].meta["val"] = value.new_empty(program.state_dict[name].shape)
    return placeholders[0]


def _common_name(names: Sequence[str]) -> str:
    """What names have in common, with the parts in which they differ.

    >>> _common_name(["layers.0.q.weight", "layers.0.k.weight", "layers.0.v.weight"])
    'layers.0.q_k_v.weight'
    """
    before = os.path.commonprefix(list(names)).rpartition(".")[0]
    after = os.path.commonprefix([name[::-1] for name in names])[::-1].partition(".")[2]
    start = len(before) + 1 if before else 0
    differing = [name[start : len(name) - len(after) - 1 if after else None] for name in names]
    return ".".join(each for each in (before, "_".join(differing), after) if each)
