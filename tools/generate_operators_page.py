#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/operators.md, every overload with a built-in mapping and the opsets at which it can be exported, from `aton ops` and, for the
families, the headers of the tables.

    generate_operators_page.py --aton build/release/aton [--check]

--check writes nothing and exits with 1 if the page is not up to date.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "operators.md"
ROW = re.compile(r'symbolic<\s*"([\w:.]+)\(')
INTRODUCTION = """# Supported operators

The overloads of the built-in tables, and the opsets of `ai.onnx` that their rows cover. Nothing is exported below opset
{oldest}. *From* is the first opset of the mapping. If a mapping refuses a call (for an argument that ONNX cannot express, or for a
dtype), it gives the reason when a model is exported; [the oracle's results](results/oracle.md) show how many recorded calls of each overload
are right. A family is a file of `include/aton/mappings/`.

`aton ops` prints the same list with schemas, `aton ops --all` includes overloads without a mapping, and
`aton unconvertible MODEL.pt2` lists what a model needs.

This page is written by `tools/generate_operators_page.py`; the test `operators_page_is_current` checks that it is up to date.

## Totals
"""


def ops(aton, *options):
    run = subprocess.run([aton, "ops", "--format", "json", *options], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(run.stdout)


def family_of_overloads():
    """{overload: stem of the header with its row}"""
    found = {}
    for path in sorted((ROOT / "include" / "aton" / "mappings").glob("*.hpp")):
        for overload in ROW.findall(path.read_text(encoding="utf-8")):
            found.setdefault(overload, path.stem)
    return found


def groups(starts, oldest, newest):
    """Ranges of opsets between which no row starts or ends: [(13, 13), (14, 15), ...]."""
    first = sorted({oldest} | {s for s in starts if oldest < s <= newest})
    return list(zip(first, [s - 1 for s in first[1:]] + [newest]))


def span(first, last):
    return str(first) if first == last else f"{first} to {last}"


def joined(ranges):
    """The opsets that the rows of one overload cover: ranges that follow each other are one."""
    out = []
    for since, until in sorted(ranges):
        if out and out[-1][1] + 1 == since:
            since = out.pop()[0]
        out.append((since, until))
    return out


def page(mapped, everything, oldest=13):
    rows = {}
    for entry in mapped:
        rows.setdefault(entry["overload"], []).append((entry["since"], entry["until"]))
    rows = {name: joined(ranges) for name, ranges in rows.items()}
    newest = max(until for ranges in rows.values() for _, until in ranges)
    edges = [edge for ranges in rows.values() for since, until in ranges for edge in (since, until + 1)]
    columns = groups(edges, oldest, newest)
    holds = {name: [any(s <= first and last <= u for s, u in ranges) for first, last in columns] for name, ranges in rows.items()}
    families, by_family = family_of_overloads(), {}
    for name in sorted(rows):
        if name not in families:
            sys.exit(f"generate_operators_page.py: no header of include/aton/mappings has a row of {name}")
        by_family.setdefault(families[name], []).append(name)

    names = [span(*c) for c in columns]
    of_aten = sum(name.startswith("aten::") for name in rows)
    others = sorted({name.partition("::")[0] for name in rows} - {"aten"})
    more = f"; and {len(rows) - of_aten} of " + ", ".join(f"`{each}`" for each in others) if others else ""
    total = len({e["overload"] for e in everything if e["overload"].startswith("aten::")})
    lines = [INTRODUCTION.format(oldest=oldest), f"{of_aten} of the {total} overloads that torch declares in `aten`, out variants and internal ones "
             f"included{more}.", "",
             "| opset | " + " | ".join(names) + " |", "|---|" + "--:|" * len(names),
             "| overloads | " + " | ".join(str(sum(marks[i] for marks in holds.values())) for i in range(len(columns))) + " |", "",
             "| family | overloads |", "|---|--:|"]
    lines += [f"| [{family}](#{family}) | {len(members)} |" for family, members in sorted(by_family.items())]
    for family, members in sorted(by_family.items()):
        lines += ["", f"## {family}", "", "| overload | from | " + " | ".join(names) + " |", "|---|--:|" + ":-:|" * len(names)]
        for name in members:
            since = min(s for s, _ in rows[name])
            lines.append(f"| `{name}` | {max(since, oldest)} | " + " | ".join("yes" if held else "" for held in holds[name]) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", required=True)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    text = page(ops(arguments.aton), ops(arguments.aton, "--all"))
    if not arguments.check:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        sys.exit("docs/operators.md is not up to date; run tools/generate_operators_page.py --aton build/release/aton")


if __name__ == "__main__":
    main()
