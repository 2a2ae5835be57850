# SPDX-License-Identifier: MIT
"""Mappings of Aton as functions for torch.onnx.export(custom_translation_table=...)."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from . import _inspect
from ._call import ABSENT, FLOAT, LISTS, NUMBERS, TENSORS, Call, describe_call, onnx_dtype_of
from ._command import plugin_arguments, run_or_raise
from ._errors import AtonError, UnconvertibleError
from ._operators import find_overload

if TYPE_CHECKING:
    import onnx_ir as ir

    from ._command import Path

#: The newest opset to which torch.onnx converts the nodes of its own functions.
_NEWEST_OF_TORCH = 25


class Translation:
    """The mapping of one overload, as torch.onnx calls it for each node: builds the graph of the row for the types, sizes
    and constants of this call, at the opset that torch.onnx builds, and adds its nodes.

    Raises AtonError, which names the operator, the opset and the reason, and UnconvertibleError if the row refuses the call.
    """

    def __init__(
        self, overload: Any, opsets: Sequence[tuple[int, int]], plugins: tuple[str, ...], nan: str = "fast"
    ) -> None:
        self.overload = overload
        self.opsets = tuple(opsets)  #: the ranges of opsets that have a row
        self.plugins = plugins
        self.nan = nan
        self._built: dict[tuple[str, int], bytes] = {}
        self._calls = 0

    def as_function(self) -> Callable[..., Any]:
        """A function, because torch.onnx inspects what it calls. Its attribute `aton` is this object."""

        def translate(*args: Any, **kwargs: Any) -> Any:
            return self(*args, **kwargs)

        translate.__name__ = translate.__qualname__ = self.overload.name().replace("::", "_").replace(".", "_")
        translate.__doc__ = f"Aton's mapping of {self.overload.name()}."
        translate.__annotations__ = {}
        setattr(translate, "aton", self)  # noqa: B010 (a function has no such attribute)
        return translate

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds the nodes of a call to the graph that torch.onnx builds, and returns its results."""
        from onnxscript import evaluator

        name = self.overload.name()
        recorder: Any = evaluator.default()
        if not hasattr(recorder, "nodes") or not hasattr(recorder, "opset"):
            raise AtonError(f"{name}: Aton's mapping builds nodes only inside torch.onnx.export")
        opset = int(recorder.opset.version)
        if opset > _NEWEST_OF_TORCH:
            raise AtonError(f"{name}: torch.onnx converts its nodes only up to opset {_NEWEST_OF_TORCH}, not to {opset}")
        if not any(since <= opset <= until for since, until in self.opsets):
            ranges = " and ".join(f"{since} to {until}" for since, until in self.opsets)
            raise AtonError(f"{name}: no mapping at opset {opset}, only at {ranges}")
        call = describe_call(self.overload, args, kwargs, expected_results(self.overload, args, kwargs))
        key = (call.program, opset)
        if key not in self._built:
            self._built[key] = self._build(call, opset)
        self._calls += 1
        return add_nodes(self._built[key], call, opset, recorder, name, self._calls)

    def _build(self, call: Call, opset: int) -> bytes:
        """The ONNX model of the call."""
        name = self.overload.name()
        with tempfile.TemporaryDirectory(prefix="aton-") as folder:
            program, model = os.path.join(folder, "call.pt2"), os.path.join(folder, "call.onnx")
            call.save(program)
            options = [f"--output={model}", f"--opset={opset}", f"--nan={self.nan}", "--inline-functions", "--format=json"]
            try:
                run_or_raise("export", program, *options, *plugin_arguments(self.plugins))
            except UnconvertibleError as error:
                raise UnconvertibleError(
                    f"{name}: cannot be converted at opset {opset}: {error.reason}", error.operators
                ) from None
            except AtonError as error:
                raise AtonError(f"{name}: opset {opset}: {str(error).replace(program, 'this call')}") from None
            with open(model, "rb") as file:
                return file.read()


def expected_results(overload: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The tensors that torch expects as results: those of the node of the program that makes this call, which is found
    through the node of an argument. None if there is none: then the row is not checked against them."""
    leaves = list(_leaves([args, kwargs]))
    for leaf in leaves:
        if not hasattr(leaf, "producer"):
            continue
        made = leaf if "node" in leaf.meta else leaf.producer()
        node = made.meta.get("node") if made is not None else None
        users = list(getattr(node, "users", ()))
        users += [user for each in users if each.op == "call_function" for user in each.users]  # of a part of a tuple
        for user in users:
            if user.target is overload and _is_call_of(user, leaves):
                return user.meta.get("val")
    return None


def _leaves(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for each in tree:
            yield from _leaves(each)
    else:
        yield tree


def _is_call_of(node: Any, leaves: Sequence[Any]) -> bool:
    """Whether the arguments of a node of torch.fx are these, as torch.onnx converts them."""
    own = list(_leaves([node.args, node.kwargs]))
    return len(own) == len(leaves) and all(_is_same(*both) for both in zip(own, leaves, strict=True))


def _is_same(argument: Any, leaf: Any) -> bool:
    import torch

    if isinstance(argument, torch.fx.Node):
        return hasattr(leaf, "producer") and leaf.name == argument.name
    if isinstance(argument, torch.dtype):
        return bool(leaf == onnx_dtype_of(argument))
    if isinstance(argument, (torch.device, torch.layout, torch.memory_format)):
        return bool(leaf == str(argument))
    return argument is None or (type(argument) is type(leaf) and bool(argument == leaf))


def add_nodes(model: bytes, call: Call, opset: int, recorder: Any, operator: str, number: int) -> Any:
    """Adds the nodes of a model to those that torch.onnx records, with the values of the call as its inputs. `number` makes
    the names of this call differ from those of others."""
    import onnx
    import onnx_ir as ir

    loaded = ir.from_proto(onnx.ModelProto.FromString(model))
    graph = loaded.graph
    if loaded.functions:
        raise AtonError(f"{operator}: opset {opset}: its graph has functions, which torch.onnx cannot take")
    outputs = list(graph.outputs)
    graph.outputs.clear()
    for given, parameter in zip(call.inputs, list(graph.inputs), strict=True):
        outputs = [given if each is parameter else each for each in outputs]
        parameter.replace_all_uses_with(given)
    versions = {"": opset, **loaded.opset_imports}
    constants = [_constant(value, opset) for value in graph.initializers.values()]
    nodes = list(graph)
    for node in nodes:
        graph.remove(node)
    for value, constant in zip(list(graph.initializers.values()), constants, strict=True):
        outputs = [constant.outputs[0] if each is value else each for each in outputs]
        value.replace_all_uses_with(constant.outputs[0])
    known = {dim.value for value in call.inputs for dim in value.shape or () if not isinstance(dim, int)}
    added = [*constants, *nodes]
    prefix = f"{operator.replace('::', '_')}_{number}_"
    for node in added:
        _settle(node, versions, known, prefix)
    recorder.nodes.extend(added)
    # torch.onnx names every result, and its own functions do arithmetic with them: they have to be values that it made.
    results: list[Any] = []
    left = iter(outputs)
    for count in call.results:
        if count == ABSENT:  # torch.onnx needs a value for it, which nothing reads: the program has None there
            results.append(recorder.opset.Constant(value_floats=[0.0]))
        elif count == FLOAT:  # float64 in ATen; torch.onnx says float32 of every such value
            results.append(recorder.opset.Cast(next(left), to=1))
        elif count is None:
            results.append(recorder.opset.Identity(next(left)))
        else:
            results.append([recorder.opset.Identity(next(left)) for _ in range(count)])
    return results[0] if len(results) == 1 else results


def _constant(value: ir.Value, opset: int) -> ir.Node:
    """A node in place of an initializer."""
    import onnx_ir as ir

    made = ir.node("Constant", [], attributes={"value": value.const_value}, version=opset)
    made.outputs[0].type = value.type
    made.outputs[0].shape = value.shape
    return made


def _settle(node: ir.Node, versions: Mapping[str, int], known: set[Any], prefix: str) -> None:
    """Gives a node the opset of its domain. Values of the outer graph lose their names, which torch.onnx gives; those of
    nested graphs get a prefix, because they must differ. Names of sizes that the call does not know mean nothing there."""
    import onnx_ir as ir

    node.version = versions.get(node.domain)
    node.name = None
    for value in node.outputs:
        value.name = None
    for inner in (graph for attribute in node.attributes.values() for graph in _graphs(attribute)):
        for deep in ir.traversal.RecursiveGraphIterator(inner):
            deep.version = versions.get(deep.domain)
            deep.name = f"{prefix}{deep.name}"
            for value in deep.outputs:
                value.name = f"{prefix}{value.name}"
                _forget_sizes(value, known)
        for value in inner.inputs:
            value.name = f"{prefix}{value.name}"
            _forget_sizes(value, known)
    for value in node.outputs:
        _forget_sizes(value, known)


def _graphs(attribute: Any) -> list[Any]:
    if attribute.type.name == "GRAPH":
        return [attribute.as_graph()]
    return list(attribute.as_graphs()) if attribute.type.name == "GRAPHS" else []


def _forget_sizes(value: Any, known: set[Any]) -> None:
    import onnx_ir as ir

    if value.shape is not None:
        dims = (dim if isinstance(dim, int) or dim.value in known else None for dim in value.shape)
        value.shape = ir.Shape(list(dims))


class TranslationTable(dict[Callable[..., Any], Callable[..., Any]]):
    """The table of `translation_table`."""

    left_out: Mapping[str, str]  #: the overloads with a row that torch.onnx cannot use, and why


def translation_table(
    *plugins: Path,
    opset_version: int | None = None,
    operators: Sequence[str] | None = None,
    nan: Literal["fast", "exact"] = "fast",
) -> TranslationTable:
    """What `torch.onnx.export(custom_translation_table=...)` takes: functions that build the graphs of plugins' mappings.

    Without plugins, the table has the built-in mappings, of all overloads that this torch has. `operators` selects overloads
    by name, `["aten::gelu"]`. `opset_version` selects those with a mapping at this opset; the graphs are always built at the
    opset that torch.onnx asks for, which is at least 18. `nan` is that of `export`.

    Rows that torch.onnx cannot use are left out: those of operators that write to their arguments, whose calls it cannot
    translate, and of a list beside other results. The attribute `left_out` of the table says why, for each overload; those
    of plugins are also a warning. `torch_export` converts them all.

    Raises AtonError for a plugin that cannot be loaded, for one of `operators` that would be left out, and for an operator
    of a plugin that torch does not know yet: load the library that registers it first.
    """
    paths = tuple(os.path.abspath(os.fspath(each)) for each in plugins)
    rows: dict[str, list[tuple[int, int]]] = {}
    for row in _inspect.ops(opset_version=opset_version, plugins=paths):
        if bool(paths) == (row.plugin is not None) and (operators is None or row.overload in operators):
            rows.setdefault(row.overload, []).append((row.since, row.until))
    missing = [name for name in operators or () if name not in rows]
    if missing:
        raise AtonError(f"{missing[0]}: no mapping in {' or '.join(paths) if paths else 'the built-in tables'}")
    table, left_out = TranslationTable(), dict[str, str]()
    for name, opsets in rows.items():
        overload = find_overload(name)
        if overload is None and (paths or operators):
            raise AtonError(f"{name}: torch has no such operator; load the library that registers it, and try again")
        reason = "torch has no such operator" if overload is None else _obstacle(overload._schema)
        if reason is None:
            table[overload] = Translation(overload, opsets, paths, nan).as_function()
        elif operators is not None:
            raise AtonError(f"{name}: torch.onnx cannot use its mapping: {reason}")
        else:
            left_out[name] = reason
    table.left_out = left_out
    if paths and left_out:
        all_reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        warnings.warn(f"rows that torch.onnx cannot use are left out: {all_reasons}", UserWarning, stacklevel=2)
    return table


def _obstacle(schema: Any) -> str | None:
    """Why torch.onnx cannot use the row of an operator; None: it can."""
    if schema.is_mutable:
        return "it writes to an argument, and torch.onnx has no translation of such calls; use aton_onnx.torch_export"
    if not schema.returns:
        return "it returns nothing"
    kinds = [str(each.real_type) for each in schema.returns]
    if schema.name.startswith("aten::") and all(kind in NUMBERS for kind in kinds):
        return "torch.onnx computes sizes and other numbers of torch itself"
    for kind in kinds:
        if kind in LISTS and len(kinds) != 1:
            return "it returns a list beside other results, for which torch.onnx has no values; use aton_onnx.torch_export"
        if kind not in LISTS and kind not in TENSORS and kind not in NUMBERS:
            return f"it returns {kind}, which no graph of ONNX has"
    return None
