# SPDX-License-Identifier: MIT
"""Writes one call of an operator, as torch.onnx translates it, as a program that the command reads."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ._errors import AtonError

if TYPE_CHECKING:
    import onnx_ir as ir
    import torch

# torch/_export/serde/schema.py: the numbers of its enumerations in a .pt2 file.
_SCALAR_TYPES = {
    "uint8": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "float16": 6, "float32": 7, "float64": 8, "complex64": 10,
    "complex128": 11, "bool": 12, "bfloat16": 13, "uint16": 28, "float8_e4m3fn": 29, "float8_e5m2": 30,
    "float8_e4m3fnuz": 31, "float8_e5m2fnuz": 32, "uint32": 34, "uint64": 35,
}  # fmt: skip
# onnx.TensorProto.DataType, which torch.onnx passes for a dtype.
_ONNX_TYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
    11: "float64", 12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8_e4m3fn",
    18: "float8_e4m3fnuz", 19: "float8_e5m2", 20: "float8_e5m2fnuz",
}  # fmt: skip
_MEMORY_FORMATS = {"contiguous_format": 1, "channels_last": 2, "channels_last_3d": 3, "preserve_format": 4}
_STRIDED = 7
# The types of results in torch's schemas.
TENSORS = ("Tensor", "Optional[Tensor]")
LISTS = ("List[Tensor]",)
#: Numbers: the member of an argument in a .pt2 file, and the table of the graph that describes them.
NUMBERS = {
    "int": ("as_sym_int", "sym_int_values"), "SymInt": ("as_sym_int", "sym_int_values"),
    "float": ("as_sym_float", "sym_float_values"), "SymFloat": ("as_sym_float", "sym_float_values"),
    "bool": ("as_sym_bool", "sym_bool_values"), "SymBool": ("as_sym_bool", "sym_bool_values"),
}  # fmt: skip
#: In the place of the number of tensors: a result that is None, and a float.
ABSENT, FLOAT = -1, -2


@dataclasses.dataclass(frozen=True)
class Call:
    """A program of one node, whose inputs are the values that the call was given."""

    program: str  #: the JSON of a .pt2 file
    inputs: tuple[ir.Value, ...]
    results: tuple[int | None, ...]  #: how many tensors each result is; None: one value; ABSENT; FLOAT

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the program as a .pt2 file without weights."""
        members = {
            "archive_format": "pt2",
            "archive_version": "0",
            "byteorder": "little",
            "models/model.json": self.program,
            "data/weights/model_weights_config.json": '{"config": {}}',
            "data/constants/model_constants_config.json": '{"config": {}}',
        }
        with zipfile.ZipFile(path, "w") as archive:
            for name, text in members.items():
                archive.writestr(f"model/{name}", text)


def onnx_dtype_of(dtype: torch.dtype) -> int | None:
    """The ONNX data type of a dtype of torch; None: ONNX has none."""
    name = str(dtype).removeprefix("torch.")
    return next((number for number, known in _ONNX_TYPES.items() if known == name), None)


class _CallWriter:
    """Collects the tables of the program's graph."""

    def __init__(self, operator: str) -> None:
        self.operator = operator
        self.inputs: list[ir.Value] = []
        self.names: dict[int, str] = {}
        self.declared: list[dict[str, Any]] = []
        self.tensors: dict[str, Any] = {}
        self.sym_ints: dict[str, Any] = {}
        self.numbers: dict[str, dict[str, Any]] = {"sym_float_values": {}, "sym_bool_values": {}}

    def refuse(self, reason: str) -> AtonError:
        return AtonError(f"{self.operator}: {reason}")

    def size(self, dim: Any, place: str) -> dict[str, Any]:
        """A size of ir.Shape or of a torch.Tensor: a number, a name or an expression; one of its own if it is unknown."""
        if isinstance(dim, int):
            return {"as_int": dim}
        node = getattr(dim, "node", None)  # a SymInt
        text = str(node) if node is not None else getattr(dim, "value", None)
        if text is None:
            text = place
        return {"as_expr": {"expr_str": f"Symbol('{text}', integer=True)" if text.isidentifier() else text}}

    def describe(self, name: str, scalar_type: int, shape: Sequence[Any]) -> None:
        """Records the type of a tensor. It is contiguous, as every tensor of ONNX."""
        sizes = [self.size(dim, f"{name}_{axis}") for axis, dim in enumerate(shape)]
        self.tensors[name] = {
            "dtype": scalar_type,
            "sizes": sizes,
            "requires_grad": False,
            "device": {"type": "cpu", "index": None},
            "strides": [_product(sizes[axis + 1 :]) for axis in range(len(sizes))],
            "storage_offset": {"as_int": 0},
            "layout": _STRIDED,
        }

    def value(self, given: ir.Value, formal: str, kind: str) -> dict[str, Any]:
        """A value of the graph, which becomes an input of the program."""
        name = self.names.get(id(given))
        is_number = not kind.startswith("Tensor")
        if given.dtype is None or given.shape is None:
            raise self.refuse(f"the argument {formal} has no known type; torch.onnx does not say what it is")
        if is_number and (given.dtype.name != "INT64" or len(given.shape) != 0 or kind not in ("int", "number")):
            raise self.refuse(f"the argument {formal} is computed by the model, but its row needs a number")
        if name is None:
            name = f"x{len(self.inputs)}"
            self.names[id(given)] = name
            self.inputs.append(given)
            self.declared.append({"as_sym_int": {"as_name": name}} if is_number else {"as_tensor": {"name": name}})
            if is_number:
                self.sym_ints[name] = {"as_expr": {"expr_str": f"Symbol('{name}', integer=True)"}}
            else:
                self.describe(name, self.scalar_type(int(given.dtype), formal), given.shape)
        elif is_number == (name in self.tensors):
            raise self.refuse(f"the argument {formal} is both a number and a tensor of this call")
        return {"as_sym_int": {"as_name": name}} if is_number else {"as_tensor": {"name": name}}

    def number_result(self, place: int, kind: str) -> dict[str, Any]:
        """A result that is a number: a symbol of its own."""
        member, table = NUMBERS[kind]
        name = f"r{place}"
        described = {
            "as_expr": {"expr_str": f"Symbol('{name}', integer=True)" if member == "as_sym_int" else f"Symbol('{name}')"}
        }
        (self.sym_ints if member == "as_sym_int" else self.numbers[table])[name] = described
        return {member: {"as_name": name}}

    def scalar_type(self, onnx_type: int, formal: str) -> int:
        if onnx_type not in _ONNX_TYPES:
            raise self.refuse(f"the argument {formal} has the ONNX data type {onnx_type}, which no dtype of torch is")
        return _SCALAR_TYPES[_ONNX_TYPES[onnx_type]]

    def argument(self, given: Any, formal: Any) -> dict[str, Any]:
        """An argument as a .pt2 file has it. `formal` is the argument of torch's schema."""
        kind = str(formal.real_type).removeprefix("Optional[").removesuffix("]")
        if given is None or (kind == "ScalarType" and given == -1):
            return {"as_none": True}
        if hasattr(given, "producer"):
            return self.value(given, formal.name, kind)
        if isinstance(given, (list, tuple)):
            return self.several(given, formal)
        if kind == "ScalarType":
            return {"as_scalar_type": self.scalar_type(int(given), formal.name)}
        if isinstance(given, str):
            return self.word(given, kind, formal.name)
        if isinstance(given, bool):
            return {"as_bool": given}
        if kind == "float" and isinstance(given, (int, float)):
            return {"as_float": _real(float(given))}
        if isinstance(given, int):
            return {"as_int": given}
        if isinstance(given, float):
            return {"as_float": _real(given)}
        if isinstance(given, complex):
            return {"as_complex": {"real": _real(given.real), "imag": _real(given.imag)}}
        raise self.refuse(f"the argument {formal.name} is a {type(given).__name__}, which a row cannot take")

    def word(self, text: str, kind: str, formal: str) -> dict[str, Any]:
        """A string, or what torch.onnx made a string of."""
        if kind == "Device":
            name, _, index = text.partition(":")
            return {"as_device": {"type": name, "index": int(index) if index else None}}
        if kind == "Layout":
            if text != "torch.strided":
                raise self.refuse(f"the argument {formal} is {text}, but ONNX has only strided tensors")
            return {"as_layout": _STRIDED}
        if kind == "MemoryFormat":
            return {"as_memory_format": _MEMORY_FORMATS[text.removeprefix("torch.")]}
        return {"as_string": text}

    def several(self, given: Sequence[Any], formal: Any) -> dict[str, Any]:
        """A list, whose tag depends on what is in it."""
        kind = str(formal.real_type).removeprefix("Optional[").removeprefix("List[").rstrip("]")
        kind = kind.removeprefix("Optional[")
        if kind == "Tensor":
            tensors = [None if each is None else self.value(each, formal.name, kind) for each in given]
            if None not in tensors:
                return {"as_tensors": [each["as_tensor"] for each in tensors if each]}
            return {"as_optional_tensors": [each or {"as_none": True} for each in tensors]}
        if any(hasattr(each, "producer") for each in given):
            items = [
                self.value(each, formal.name, kind)["as_sym_int"] if hasattr(each, "producer") else {"as_int": int(each)}
                for each in given
            ]
            return {"as_sym_ints": items}
        if kind == "str":
            return {"as_strings": list(given)}
        if kind == "bool":
            return {"as_bools": list(given)}
        if kind == "int":
            return {"as_ints": [int(each) for each in given]}
        if kind == "float":
            return {"as_floats": [_real(float(each)) for each in given]}
        raise self.refuse(f"the argument {formal.name} is a list of {kind}, which torch.onnx cannot pass")


def _real(number: float) -> float | str:
    return number if math.isfinite(number) else "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _product(sizes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The product of sizes: the stride of the axis before them."""
    numbers = math.prod(max(1, each["as_int"]) for each in sizes if "as_int" in each)
    factors = [f"({each['as_expr']['expr_str']})" for each in sizes if "as_expr" in each]
    return {"as_expr": {"expr_str": "*".join([str(numbers), *factors])}} if factors else {"as_int": numbers}


def _results(writer: _CallWriter, schema: Any, expected: Any) -> tuple[list[Any], list[int | None]]:
    """The results of the node, with the types that torch found for them (`expected`; None: unknown)."""
    values = expected if isinstance(expected, (list, tuple)) and len(schema.returns) > 1 else [expected]
    outputs: list[Any] = []
    counts: list[int | None] = []
    for place, formal in enumerate(schema.returns):
        found = values[place] if place < len(values) else None
        kind = str(formal.real_type)
        each_found = []
        if kind in NUMBERS:
            counts.append(FLOAT if NUMBERS[kind][0] == "as_sym_float" else None)
            outputs.append(writer.number_result(place, kind))
        elif kind == "Optional[Tensor]" and found is None and expected is not None:
            counts.append(ABSENT)
            outputs.append({"as_none": True})
        elif kind in TENSORS:
            counts.append(None)
            outputs.append({"as_tensor": {"name": f"r{place}"}})
            each_found = [(f"r{place}", found)]
        elif isinstance(found, (list, tuple)):
            if len(schema.returns) != 1:
                raise writer.refuse("it returns a list beside other results, which torch.onnx cannot translate")
            counts.append(len(found))
            each_found = [(f"r{place}_{index}", each) for index, each in enumerate(found)]
            outputs.append({"as_tensors": [{"name": name} for name, _ in each_found]})
        else:
            raise writer.refuse("the number of its results is not known; torch.onnx does not say it")
        for name, tensor in each_found:
            number = _SCALAR_TYPES.get(str(getattr(tensor, "dtype", None)).removeprefix("torch."))
            if tensor is not None and number is not None:
                writer.describe(name, number, tensor.shape)
    return outputs, counts


def describe_call(overload: Any, args: Sequence[Any], kwargs: Mapping[str, Any], expected: Any) -> Call:
    """The program of the call. Raises AtonError for an argument that cannot be written, which the text names."""
    schema = overload._schema
    writer = _CallWriter(overload.name())
    formals = list(schema.arguments)
    given = list(zip(formals, args, strict=False))
    given += [(formal, kwargs[formal.name]) for formal in formals[len(args) :] if formal.name in kwargs]
    inputs = [{"name": formal.name, "arg": writer.argument(value, formal), "kind": 1} for formal, value in given]
    outputs, counts = _results(writer, schema, expected)
    flat: list[dict[str, Any]] = []
    for out in outputs:
        flat += (
            [{"as_tensor": each} for each in out["as_tensors"]] if "as_tensors" in out else [] if "as_none" in out else [out]
        )
    node: dict[str, Any] = {
        "target": f"torch.ops.{overload}",
        "inputs": inputs,
        "outputs": outputs,
        "metadata": {},
        "is_hop_single_tensor_return": None,
        "name": "call",
    }
    graph = {
        "inputs": writer.declared,
        "outputs": flat,
        "nodes": [node],
        "tensor_values": writer.tensors,
        "sym_int_values": writer.sym_ints,
        **writer.numbers,
        "custom_obj_values": {},
        "is_single_tensor_return": False,
    }
    signature = {
        "input_specs": [{"user_input": {"arg": each}} for each in writer.declared],
        "output_specs": [{"user_output": {"arg": each}} for each in flat],
    }
    program = {
        "graph_module": {"graph": graph, "signature": signature, "module_call_graph": [], "metadata": {}},
        "opset_version": {"aten": 10},
        "range_constraints": {},
        "schema_version": {"major": 8, "minor": 20},
        "verifiers": [],
        "torch_version": "",
        "guards_code": [],
    }
    return Call(json.dumps(program), tuple(writer.inputs), tuple(counts))
