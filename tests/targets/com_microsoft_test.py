# SPDX-License-Identifier: MIT
"""The operators that com_microsoft.hpp declares are those that ONNX Runtime registers: inputs, outputs, types, attributes, defaults. What
exports check of its other operators is current, too.

usage: com_microsoft_test.py WRITE_DOMAIN"""
import pathlib
import subprocess
import sys

import onnx
import onnxruntime.capi.onnxruntime_pybind11_state as registry

TYPES = {"AttrType.FLOAT": onnx.AttributeProto.FLOAT, "AttrType.INT": onnx.AttributeProto.INT, "AttrType.STRING": onnx.AttributeProto.STRING,
         "AttrType.FLOATS": onnx.AttributeProto.FLOATS, "AttrType.INTS": onnx.AttributeProto.INTS}


# Declared without defaults, which nodes would name otherwise: a pattern does not match a node with attributes that it does not name.
WITHOUT_DEFAULTS = {"GroupQueryAttention"}


def formals(what, schema):
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    for f in getattr(schema, what + "s"):
        types = frozenset(t.removeprefix("tensor(").removesuffix(")") for t in allowed.get(f.typeStr, [f.typeStr]))
        yield (what, f.name, str(f.option).rpartition(".")[2], types)


def attribute(a):
    default = onnx.AttributeProto.FromString(a._default_value) if a._default_value else onnx.AttributeProto()
    value = onnx.helper.get_attribute_value(default) if default.name else None
    return ("attribute", a.name, TYPES[str(a.type)], a.required, value)


def registered(schema):
    return [*formals("input", schema), *formals("output", schema), *sorted(map(attribute, schema.attributes.values()))]


def declared(text):
    operators = {}
    for line in text.splitlines():
        what, name, *rest = line.split(" ")
        if what == "op":
            parts = operators[(name, int(rest[0]))] = []
        elif what == "attribute":
            kind, need, default = int(rest[0]), rest[1] == "required", rest[2]
            number = {onnx.AttributeProto.FLOAT: float, onnx.AttributeProto.INT: int}.get(kind, str)
            parts.append((what, name, kind, need, number(default) if default else None))
        else:
            parts.append((what, name, rest[0], frozenset(rest[1:])))
    return {k: [*(p for p in v if p[0] != "attribute"), *sorted(p for p in v if p[0] == "attribute")] for k, v in operators.items()}


def same(operator, a, b):
    if a[0] == "attribute" and operator in WITHOUT_DEFAULTS:
        return a[:-1] == b[:-1] and a[-1] is None
    if isinstance(a[-1], float) and isinstance(b[-1], float):
        return a[:-1] == b[:-1] and abs(a[-1] - b[-1]) <= 1e-6 * abs(b[-1])  # defaults are float32
    return a == b


def main():
    schemas = {(s.name, s.since_version): s for s in registry.get_all_operator_schema() if s.domain == "com.microsoft"}
    ours = declared(subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout)
    wrong = 0
    for name, parts in ours.items():
        theirs = registered(schemas[name]) if name in schemas else []
        for a, b in zip(parts + [None] * len(theirs), theirs + [None] * len(parts)):
            if (a is None) != (b is None) or (a is not None and not same(name[0], a, b)):
                wrong += 1
                print(f"{name[0]}: declared {a}, registered {b}")
    print(f"{len(ours)} operators, {wrong} differences")
    generator = pathlib.Path(__file__).resolve().parents[2] / "tools/generate_contrib_operators.py"
    current = subprocess.run([sys.executable, str(generator), "--check"], check=False).returncode in (0, 77)
    return 1 if wrong or len(ours) < 10 or not current else 0


if __name__ == "__main__":
    sys.exit(main())
