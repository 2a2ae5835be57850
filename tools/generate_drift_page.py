#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/drift.md: which ATen overloads differ between releases of torch, and what Aton does with programs that use them.

    generate_drift_page.py [--check]            # the page, from tests/data/aten_releases.tsv; --check: compare only
    generate_drift_page.py --releases FOLDER    # the data, from FOLDER/RELEASE.yaml: native_functions.yaml of each release, which
                                                # torch's wheel has as torchgen/packaged/ATen/native/native_functions.yaml

The data has a line for each schema of a release that is not the built-in one: the overload, the releases, and the schema; "-" where the
release does not have the overload, "+" where there is no built-in schema. The release of the built-in schemas is among the others, since
it lacks the overloads that tools/generate_aten_schemas.py keeps. tests/frontend/releases_test.cpp reads the same lines and demands that
such calls bind.
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import generate_aten_schemas as built_in  # noqa: E402
import operator_index as index  # noqa: E402

DATA = "tests/data/aten_releases.tsv"
PAGE = "docs/drift.md"
RENAMES = "src/frontend/pt2/renamed_arguments.hpp"

INTRODUCTION = """# ATen in other releases of torch

Aton has the schemas of torch {own}, and those of overloads that torch no longer has: {removed}.
A program names the arguments of each call, so it matters which of them another release calls differently. This page compares
`native_functions.yaml` of {count} releases of torch with these schemas: {releases}.

What is read from a program of another release:

- **An argument with another name** is bound to the one that has the same place and meaning: {renamed}.
- **An argument that Aton's schema does not have** is refused by name where a program gives it; programs that leave it at its default are
  not affected.
- **A type that became symbolic** (`int`, then `SymInt`) makes no difference: a mapping takes both.
- **A default that changed** would change the meaning of programs that do not give the argument. There is none among the overloads that
  have a mapping; a test demands that.
- **An overload that was removed** keeps its schema and its mapping. One that was added is refused by name until it has a mapping.

`tools/generate_drift_page.py` writes the page; the tests `drift_page_is_current` and `releases_test` check it and bind a call of each
line.
"""


def order(release):
    return [int(part) for part in release.split(".")]


def parts(schema):
    """([(name, type, default), ...], returns) of "name(arguments) -> returns"."""
    start = depth = 0
    for at, char in enumerate(schema):
        depth += (char == "(") - (char == ")")
        if char == "(" and not start:
            start = at + 1
        if char == ")" and depth == 0:
            break
    arguments = []
    for text in re.split(r",\s*(?![^\[(]*[\])])", schema[start:at]):
        if text.strip() in ("", "*"):
            continue
        declared, _, default = text.strip().partition("=")
        kind, name = declared.rsplit(" ", 1)
        arguments.append((name, kind, default))
    return arguments, schema[at + 1 :].strip()


def read_yaml(path):
    schemas = re.findall(r"^- func: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {"aten::" + schema[: schema.index("(")]: "aten::" + schema.strip() for schema in schemas}


def collect(folder):
    releases = {path.stem: read_yaml(path) for path in folder.glob("*.yaml")}
    here = releases[built_in.TORCH_RELEASE] | {built_in.qualified_name(schema): schema for schema in built_in.REMOVED}
    lines = {}
    for release in sorted(releases, key=order):
        there = releases[release]
        for name in here.keys() | there.keys():
            if there.get(name) != here.get(name):
                schema = there.get(name, "-") if name in here else "+" + there[name]
                lines.setdefault((name, schema), []).append(release)
    out = ["# overload, releases, schema there; see tools/generate_drift_page.py", "# releases: " + " ".join(sorted(releases, key=order))]
    out += ["\t".join((name, " ".join(where), schema)) for (name, schema), where in sorted(lines.items())]
    (ROOT / DATA).write_text("\n".join(out) + "\n", encoding="utf-8")


def read_data():
    lines = (ROOT / DATA).read_text(encoding="utf-8").splitlines()
    releases = lines[1].removeprefix("# releases: ").split()
    return releases, [tuple(line.split("\t")) for line in lines[2:]]


def read_renames():
    rows = re.findall(r'\{"([^"]+)", "([^"]+)", "([^"]+)"\}', (ROOT / RENAMES).read_text(encoding="utf-8"))
    return {(overload, there): here for overload, there, here in rows}


def differences(overload, there, here, renames):
    (theirs, their_returns), (ours, our_returns) = parts(there), parts(here)
    known = {name: (kind, default) for name, kind, default in ours}
    given = {renames.get((overload, name), name): (name, kind, default) for name, kind, default in theirs}
    out = []
    for name, (theirs_name, kind, default) in given.items():
        if name not in known:
            out.append(f"has `{kind} {theirs_name}`" + (f", `{default}` if not given" if default else ""))
        elif name != theirs_name:
            out.append(f"calls `{name}` `{theirs_name}`")
        elif kind.replace("SymInt", "int") != known[name][0].replace("SymInt", "int"):
            out.append(f"`{name}` is `{kind}`, here `{known[name][0]}`")
        elif kind != known[name][0]:
            out.append(f"`{name}` is `{kind}`")
    out += [f"has no `{name}`" for name in known if name not in given]
    if len(their_returns.split(",")) != len(our_returns.split(",")):
        out.append(f"returns `{their_returns.removeprefix('-> ')}`")
    return "; ".join(out)


def span(where, releases):
    """"2.4.1 to 2.6.0" for consecutive releases."""
    at = [releases.index(release) for release in where]
    if len(at) > 2 and at == list(range(at[0], at[-1] + 1)):
        return f"{where[0]} to {where[-1]}"
    return ", ".join(where)


def page():
    releases, lines = read_data()
    mapped = set(index.rows(ROOT))
    renames = read_renames()
    schemas = {name: schema for name, (_, schema) in index.schemas(ROOT).items()}
    renamed = ",\n  ".join(f"`{there}` of `{overload}` is `{here}`" for (overload, there), here in sorted(renames.items()))
    removed = ", ".join(f"`{built_in.qualified_name(schema)}`" for schema in built_in.REMOVED)
    introduction = INTRODUCTION.format(own=built_in.TORCH_RELEASE, removed=removed, count=len(releases), releases=", ".join(releases), renamed=renamed)
    out = [introduction]
    out += ["## Overloads with a mapping", "", "| overload | torch | difference |", "|---|---|---|"]
    others = {"-": [], "+": [], "~": []}
    for overload, where, schema in lines:
        where = span(where.split(), releases)
        kind = schema[0] if schema[0] in "-+" else "~"
        if overload not in mapped:
            others[kind].append(overload)
            continue
        difference = "does not have it" if kind == "-" else differences(overload, schema, schemas[overload], renames)
        if difference:
            out.append(f"| `{overload}` | {where} | {difference} |")
    out += ["", "## Other overloads", ""]
    titles = {"-": "Not in every release", "+": "Only in other releases", "~": "Another schema in some release"}
    for kind, title in titles.items():
        names = sorted({name for name in others[kind] if not name.endswith((".out", "_out"))})
        out += [f"{title} ({len(names)}, without `out=` forms): " + ", ".join(f"`{name}`" for name in names) + ".", ""]
    return "\n".join(out).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="exit with 1 if the page is not up to date")
    parser.add_argument("--releases", type=pathlib.Path, metavar="FOLDER", help="write the data from FOLDER/RELEASE.yaml")
    arguments = parser.parse_args()
    if arguments.releases:
        collect(arguments.releases)
    text = page()
    if not arguments.check:
        (ROOT / PAGE).write_text(text, encoding="utf-8")
        return 0
    if (ROOT / PAGE).read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE} is not up to date; run tools/generate_drift_page.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
