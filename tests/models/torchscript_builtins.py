#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares tests/data/torchscript/builtins.tsv with torch's list of the operators that only TorchScript has, and with the tables of the
reader, and writes it as a table into docs/torchscript.md.

    tests/models/torchscript_builtins.py [--write]

Every operator of torch's TorchScript that is no operator of its dispatcher must be in the file, with yes, or with no and a reason; every
row of the tables in src/frontend/torchscript/builtins_*.cpp must be in a row with yes. Every name with yes must occur in a function of
language_*.py, which are exported and compared with torch, or be listed as untested. Exit code 0; 1 if anything is wrong; 77 if torch is
not installed."""

import argparse
import importlib
import io
import pathlib
import re
import sys
import warnings
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]

import packages  # noqa: E402

DATA = ROOT / "tests/data/torchscript/builtins.tsv"
PAGE = ROOT / "docs/torchscript.md"
START, END = "<!-- builtins: tests/models/torchscript_builtins.py --write -->\n", "<!-- end of builtins -->\n"


def rows():
    """(group, names, supported, note, those that are untested)"""
    lines = DATA.read_text().splitlines()[1:]
    return [(group, names.split(), supported == "yes", note, untested.split()) for group, names, supported, note, untested in
            (line.split("\t") for line in lines)]


def words_of_tests():
    """The names in the code of all functions of language_*.py as torch saves them, and the kinds of their nodes."""
    import torch
    import torchscript_language
    words = set()

    def add_kinds(block):
        for node in block.nodes():
            words.add(node.kind().removeprefix("aten::"))
            for inner in node.blocks():
                add_kinds(inner)

    for module in torchscript_language.MODULES:
        for function in importlib.import_module(module).functions().values():
            script = torch.jit.script(function)
            add_kinds(script.inlined_graph)
            archive = io.BytesIO()
            torch.jit.save(script, archive)
            with zipfile.ZipFile(archive) as files:
                for name in files.namelist():
                    if name.endswith(".py"):
                        code = files.read(name).decode()
                        words |= set(re.findall(r"(?:torch\.)?(\w+)\(", code))
                        words |= {"prim::" + word for word in re.findall(r"ops\.prim\.(\w+)", code)}
    return words


def operators_of_torch():
    """Operators that torch.jit has beside those of the dispatcher, which are operators of a model; those that only make tensors are too."""
    import torch
    dispatched = set(torch._C._dispatch_get_all_op_names())
    out = set()
    for schema in torch._C._jit_get_all_schemas():
        space, name = schema.name.split("::")
        full = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        takes_tensor = any("Tensor" in str(a.type) for a in schema.arguments)
        results = [str(r.type) for r in schema.returns]
        makes_tensors = not takes_tensor and results and all(each == "Tensor" for each in results)
        if space not in ("aten", "prim") or (full in dispatched and takes_tensor) or makes_tensors:
            continue
        if not schema.overload_name.endswith("out"):
            out.add(name if space == "aten" else "prim::" + name)
    return out


def names_of_tables():
    out = set()
    for path in sorted((ROOT / "src/frontend/torchscript").glob("builtins_*.cpp")):
        out |= set(re.findall(r'(?:\{|ATON_\w+\()"(\w+)",', path.read_text()))
    return out


def page_with_table(text):
    table = ["| | | |\n|---|---|---|\n"]
    for group, names, supported, note, untested in rows():
        if untested:
            note += ("; " if note else "") + "not in a test: " + ", ".join(f"`{name.removeprefix('prim::')}`" for name in untested)
        listed = ", ".join(f"`{name.removeprefix('prim::')}`" for name in names)
        if len(names) > 40 and not supported:
            listed = f"{len(names)} of `prim::`"
        table.append(f"| {group}: {listed} | {'yes' if supported else 'no'} | {note} |\n")
    start, end = text.index(START) + len(START), text.index(END)
    return text[:start] + "".join(table) + text[end:]


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the table into docs/torchscript.md")
    options = parser.parse_args(words)
    page = PAGE.read_text()
    if options.write:
        PAGE.write_text(page_with_table(page))
        return 0
    problems = [] if page_with_table(page) == page else ["docs/torchscript.md is not current: run with --write"]
    known = {name for _, names, _, _, _ in rows() for name in names}
    supported = {name.removeprefix("prim::") for _, names, yes, _, _ in rows() if yes for name in names}
    problems += [f"no row has {group!r} with a reason" for group, _, yes, note, _ in rows() if not yes and not note]
    problems += [f"{name} is in a table of the reader, but not in {DATA.name}" for name in sorted(names_of_tables() - supported)]
    if packages.is_missing("torch"):
        print(*problems, sep="\n")
        return 1 if problems else 77
    problems += [f"torch has {name}, which is not in {DATA.name}" for name in sorted(operators_of_torch() - known)]
    warnings.filterwarnings("ignore")
    words = words_of_tests()
    for _, names, yes, _, untested in rows():
        for name in names if yes else ():
            if (name in words) == (name in untested):
                problems.append(f"{name} is {'untested' if name in untested else 'tested'} in {DATA.name}, but it is {'in a' if name in words else 'in no'} function of language_*.py")
    print(f"{len(known)} names, {len(problems)} problems", *problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
