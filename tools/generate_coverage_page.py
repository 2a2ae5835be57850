#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/coverage.md: every operator name that some converter of PyTorch programs maps, whether Aton maps it, and if not, why.

    generate_coverage_page.py [--check]

The names are in tests/data/coverage/names.tsv, one a line: the name without overload (in-place and out forms count as the functional
operator), the converters that map it, and the reason why Aton has no row, which counts only while there is none. --check writes
nothing; it exits with 1 if the page is not up to date, if a name has neither a row nor a reason, if a reason is not true, or if more
names are pending than MAX_PENDING. Lower MAX_PENDING when a name is mapped: the page can only get better.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import operator_index as index  # noqa: E402

NAMES = "tests/data/coverage/names.tsv"
PAGE = "docs/coverage.md"
MAX_PENDING = 9
TORCH = ("aten", "prim", "prims", "quantized")  # the namespaces of torch's own schemas

CONVERTERS = {
    "dyn": "PyTorch's dynamo exporter and torchlib", "ts": "PyTorch's TorchScript exporter", "ov": "OpenVINO", "tmlir": "torch-mlir",
    "tmlir_ods": "torch-mlir, declared only", "coreml": "Core ML Tools", "tvm": "TVM", "trt": "Torch-TensorRT", "et": "ExecuTorch",
    "litert": "LiteRT Torch", "pnnx": "ncnn's pnnx", "yobx": "yet-another-onnx-builder", "xla": "PyTorch/XLA",
}
REASONS = {
    "not-torch": "torch does not register the name: an artifact of the converter, or a function of Python",
    "torchscript": "only TorchScript's interpreter runs it; programs of `torch.export` do not contain it",
    "python": "it returns a Python object, which `torch.export` evaluates while it traces",
    "quantized": "its tensors have quantized dtypes, or its parameters are packed, which neither ONNX nor `.pt2` files have",
    "exporter": "the exporter replaces it before rows are looked up",
    "refused": "the exporter refuses it, with a reason",
    "library": "another library registers it; a [plugin](tutorial.md) can map it",
    "pending": "not mapped yet",
}
INTRODUCTION = """# Operators that other converters map

The operator names that some converter of PyTorch programs maps and that Aton did not map at first: what has become of each. In-place
and out forms count as the functional operator. *Mapped* means that there is a row in a built-in table; whether a call is right is
another question, which [verify](verify.md) and [the oracle](results/oracle.md) answer. [Supported operators](operators.md) lists all
overloads with a row.

This page is written by `tools/generate_coverage_page.py` from `{names}`; the test `coverage_page_is_current` checks it, and each
reason.
"""


def read_names(root):
    """[(name, converters, reason), ...]"""
    lines = (root / NAMES).read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]


def mapped_names(root):
    """The names of operators with a row; the functional form for rows of operators that write."""
    return {name for overload in index.rows(root) for name in (index.base(overload), index.base(overload).removesuffix("_"))}


def schemas_by_name(root):
    found = {}
    for overload, (_, schema) in index.schemas(root).items():
        found.setdefault(index.base(overload), []).append(schema)
    return found


def returns_of(schema):
    return schema.rpartition("->")[2].strip()


def fault_of(root, name, reason, schemas):
    """Why a reason is not true; empty if it is."""
    kind, _, detail = reason.partition(" ")
    declared = schemas.get(name, []) + schemas.get(name + "_", [])
    space = name.partition("::")[0]
    if kind not in REASONS:
        return f"unknown reason '{reason}'"
    if kind == "not-torch" and (space not in TORCH or declared):
        return "torch registers this name"
    if kind in ("torchscript", "python") and not declared and space != "prim":
        return "torch does not register this name"
    if kind == "python" and not all(re.fullmatch(r"bool|int|float|str|Device|Scalar|\(\)", returns_of(each)) for each in declared):
        return "an overload returns a tensor or a list"
    if kind == "quantized" and space != "quantized" and not declared:
        return "torch does not register this name"
    if kind in ("exporter", "refused"):
        path = root / detail
        if not path.is_file() or name.partition("::")[2] not in path.read_text(encoding="utf-8"):
            return f"'{detail}' does not name it"
    if kind == "library" and (space in TORCH or not detail):
        return "this is a namespace of torch, or no library is named"
    return ""


def faults(root):
    schemas, rows, out, pending = schemas_by_name(root), mapped_names(root), [], 0
    names = read_names(root)
    for entry in names:
        if len(entry) != 3:
            out.append(f"{entry[0]}: expected a name, converters and a reason")
            continue
        name, converters, reason = entry
        out += [f"{name}: unknown converter '{each}'" for each in converters.split() if each not in CONVERTERS]
        if name in rows:
            continue
        pending += reason == "pending"
        fault = fault_of(root, name, reason, schemas)
        if fault:
            out.append(f"{name}: {fault}")
    if [n[0] for n in names] != sorted({n[0] for n in names}):
        out.append("the names are not sorted, or not distinct")
    if pending > MAX_PENDING:
        out.append(f"{pending} names are pending, at most {MAX_PENDING} may be")
    return out


def text_of(reason):
    kind, _, detail = reason.partition(" ")
    if kind == "library":
        return f"an operator of {detail}"
    if kind in ("exporter", "refused"):
        return f"{'replaced' if kind == 'exporter' else 'refused'} by the exporter, `{detail}`"
    return kind.replace("-", " ")


def page(root):
    rows, names = mapped_names(root), read_names(root)
    state = {name: "mapped" if name in rows else reason.partition(" ")[0] for name, _, reason in names}
    counts = {kind: sum(each == kind for each in state.values()) for kind in ("mapped", *REASONS)}
    lines = [INTRODUCTION.format(names=NAMES), f"## Totals\n\n{len(names)} names.\n", "| state | names | meaning |", "|---|--:|---|",
             f"| mapped | {counts['mapped']} | a built-in table has a row |"]
    lines += [f"| {kind.replace('-', ' ')} | {counts[kind]} | {meaning} |" for kind, meaning in REASONS.items()]
    lines += ["", "Converters: " + "; ".join(f"{key}: {what}" for key, what in CONVERTERS.items()) + "."]
    spaces = {}
    for name, converters, reason in names:
        spaces.setdefault(name.partition("::")[0], []).append((name, converters, reason))
    for space, members in spaces.items():
        lines += ["", f"## {space}", "", "| name | converters | state |", "|---|---|---|"]
        lines += [f"| `{name}` | {converters.replace(' ', ', ')} | {'mapped' if name in rows else text_of(reason)} |" for name, converters, reason in members]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    found = faults(ROOT)
    if found:
        sys.exit("\n".join(found))
    text, path = page(ROOT), ROOT / PAGE
    if not arguments.check:
        path.write_text(text, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE} is not up to date; run tools/generate_coverage_page.py")


if __name__ == "__main__":
    main()
