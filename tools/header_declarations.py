# SPDX-License-Identifier: MIT
"""Reads the public declarations of Aton's headers, with their `///` comments, for generate_reference.py and tests/docs/check_reference.py.

Public is what a header with the line `// Public header.` declares outside of private sections and of namespaces whose name ends in
`detail`.
"""
import dataclasses
import pathlib
import re

from header_scanner import Scanner

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE = ROOT / "include"


def is_public(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    top = next((number for number, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return "generated" not in path.parts and lines[top - 1] == "// Public header."


def public_headers(include=INCLUDE):
    return [path for path in sorted((include / "aton").rglob("*.hpp")) if is_public(path)]


def purpose(path):
    """What the comment at the top says that the header is for; code in it is left out."""
    return " ".join(line for line in purpose_lines(path) if not line.startswith("  ")).strip()


def purpose_lines(path):
    """The comment at the top, between the license and the last line. Code in it is indented."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if not line.startswith("//") or line == "// Public header.":
            break
        lines.append(line[2:].removeprefix(" "))
    return lines


def read(path, include=INCLUDE):
    """The public declarations of a header, in its order. Of a family of mappings or rewrites it is the table, which the first comment describes."""
    found = Scanner(path.relative_to(include).as_posix(), path.read_text(encoding="utf-8")).scan(())
    if is_family(path):
        found = [dataclasses.replace(d, doc=[purpose(path)]) for d in found if d.name == path.stem]
    return found


def is_family(path):
    """Whether the header is that of a family of mappings or rewrites: it has a table of its own name."""
    return path.parent.name in ("mappings", "fusions") and f"\ninline constexpr auto {path.stem} =" in path.read_text(encoding="utf-8")


def overload_sets(declarations):
    """Declarations of one name that follow each other are one set: its comment is that of the first. Routine ones are left out."""
    sets = []
    for each in declarations:
        if each.is_routine:
            continue
        same = sets and each.kind in ("function", "constructor") and sets[-1][0].kind == each.kind and sets[-1][0].name == each.name
        if same and not each.doc:
            sets[-1].append(each)
        else:
            sets.append([each])
    return sets


SITE = re.compile(r"(?:, )?detail::call_site at = detail::call_site::here\(\)")  # which a call does not give
LISTED_TYPES = re.compile(r'( = "")?(?:, class [A-I](?: = detail::not_given)?){8,}(?:, class\.\.\. Rest)?')
LISTED_PARAMETERS = re.compile(r"(?:[A-I] const& [a-i](?: = [A-I]\(\))?(?:, )?){8,}(?:Rest const&\.\.\. rest)?")


def as_called(text):
    """The declaration as it is called: without the line of the call, and with a pack for parameters that stand for one."""
    return LISTED_PARAMETERS.sub("Args const&... args", LISTED_TYPES.sub(", class... Args", SITE.sub("", text)))
