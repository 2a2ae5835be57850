#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/target-versions.md: what the versions of a runtime differ in, from the tables of data/targets.

    generate_targets_page.py [--check]
"""
import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/results/target-versions.md"
HEAD = ("runtime", "version", "title", "source", "date", "opsets", "types", "typing", "quantization", "sizes", "base")

INTRODUCTION = """# Versions of targets

What each table of `data/targets` adds to the version before it, and what it takes away. `aton ops --target NAME:VERSION` prints a table,
and `tools/generate_targets_page.py` writes this page.
"""


class Table:
    """A file: its head, and per operator the types, the conditions, and the line of the source."""

    def __init__(self, path):
        self.head, self.rows = {}, {}
        for line in path.read_text().splitlines():
            if not line or line.startswith("#"):
                continue
            if "|" in line:
                op, types, when, source = (part.strip() for part in line.split("|", 3))
                self.rows[op] = (types, when, source)
                continue
            key, value = line.split(" ", 1)
            if key not in HEAD:
                raise SystemExit(f"{path}: '{key}' is unknown")
            self.head[key] = value
            if key == "base":
                base = Table(path.with_name(f"{self.head['runtime']}-{value}.target"))
                self.head = {**base.head, **self.head}
                self.rows = dict(base.rows)
        self.name, self.version = self.head["runtime"], self.head["version"]

    def order(self):
        return self.name, [int(part) for part in self.version.split(".")]

    def runs(self):
        return {op: row for op, row in self.rows.items() if row[0] != "none"}


def tables():
    return sorted((Table(path) for path in (ROOT / "data/targets").glob("*.target")), key=Table.order)


def listed(words):
    return ", ".join(f"`{word}`" for word in words)


def changes(old, new):
    before, after = old.runs(), new.runs()
    lines = []
    if added := sorted(after.keys() - before.keys()):
        lines.append(f"- new: {listed(added)}")
    if gone := sorted(before.keys() - after.keys()):
        lines.append(f"- gone: {listed(gone)}")
    for key in ("opsets", "types", "typing"):
        if old.head.get(key) != new.head.get(key):
            lines.append(f"- {key}: {old.head.get(key)}, now {new.head.get(key)}")
    for op in sorted(after.keys() & before.keys()):
        (types, when, _), (types_now, when_now, _) = before[op], after[op]
        what = []
        if set(types.split()) != set(types_now.split()):
            more = [t for t in types_now.split() if t not in types.split()]
            less = [t for t in types.split() if t not in types_now.split()]
            what += [f"also {' '.join(more)}"] if more else []
            what += [f"no longer {' '.join(less)}"] if less else []
        conditions, now = set(filter(None, when.split("; "))), set(filter(None, when_now.split("; ")))
        what += [f"without the condition `{c}`" for c in sorted(conditions - now)] + [f"only if `{c}`" for c in sorted(now - conditions)]
        if what:
            lines.append(f"- `{op}`: {'; '.join(what)}")
    return lines or ["- nothing"]


def page():
    out = [INTRODUCTION, "| target | operators | opsets | typing | source |", "|---|---|---|---|---|"]
    every = tables()
    for t in every:
        out.append(f"| `{t.name}:{t.version}` | {len(t.runs())} | {t.head.get('opsets', 'not stated')} | {t.head.get('typing', 'not stated')} "
                   f"| [{t.head['date']}]({t.head['source']}) |")
    for old, new in zip(every, every[1:]):
        if old.name == new.name:
            out += ["", f"## {new.head['title']} after {old.version}", "", *changes(old, new)]
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        raise SystemExit(f"{PAGE.relative_to(ROOT)} is not current; run tools/generate_targets_page.py")


if __name__ == "__main__":
    sys.exit(main())
