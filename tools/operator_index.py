# SPDX-License-Identifier: MIT
"""Where the tree names ATen operators: schemas, rows, kernels of the runtime, sampling rules. Used by tools/where and by the tests.

A family is a table of rows in include/aton/mappings/. Its kernels, its sampling rules and its tests are in files of the same name.
"""
import pathlib
import re
from typing import NamedTuple

SCHEMAS = "include/aton/aten/generated/function_schemas.hpp"
MAPPINGS = "include/aton/mappings"
KERNELS = "src/runtime/aten"
RULES = "src/verify/rules"

OVERLOAD = r"\w+::\w+(?:\.\w+)?"
ROW = re.compile(rf'\b(?:symbolic|override_)<\s*"({OVERLOAD})\(')
TABLE = re.compile(r"^inline constexpr auto (\w+) =\s*(?:table\(|\w+ \+)", re.MULTILINE)  # or a sum of tables
KERNEL_LIST = re.compile(r"^rows (\w+)\(\) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
KERNEL = re.compile(r'\{"((?:\w+::)?\w+(?:\.\w+)?)",')


class Place(NamedTuple):
    file: str  # relative to the root
    line: int

    @property
    def stem(self):
        return pathlib.PurePosixPath(self.file).stem


class Rule(NamedTuple):
    place: Place
    operators: list  # as written: with or without aten::, an overload or a whole operator
    arguments: list


def qualified(name):
    """"aten::elu" of "elu"; the overload "default" has no name of its own."""
    name = name if "::" in name else "aten::" + name
    return name.removesuffix(".default")


def base(name):
    """"aten::add" of "aten::add.Tensor"."""
    return name.partition(".")[0]


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def files(root, folder, suffix):
    return [(path, path.relative_to(root).as_posix()) for path in sorted((root / folder).glob("*" + suffix))]


def schemas(root):
    """{overload: (place, schema)}"""
    found = {}
    for number, line in enumerate(read(root / SCHEMAS).splitlines(), 1):
        match = re.match(rf'\s*"(({OVERLOAD})\(.*)"', line)
        if match:
            found[match[2]] = (Place(SCHEMAS, number), match[1])
    return found


def rows(root):
    """{overload: [place of a row, ...]}"""
    found = {}
    for path, name in files(root, MAPPINGS, ".hpp"):
        text = read(path)
        for match in ROW.finditer(text):
            found.setdefault(match[1], []).append(Place(name, line_of(text, match.start())))
    return found


def tables(root):
    """{header: [tables that it defines]} of every header that has rows."""
    return {name: TABLE.findall(read(path)) for path, name in files(root, MAPPINGS, ".hpp") if ROW.search(read(path))}


def kernels(root):
    """{overload: [place in a list of kernels, ...]}"""
    found = {}
    for path, name in files(root, KERNELS, ".cpp"):
        text = read(path)
        for group in KERNEL_LIST.finditer(text):
            for match in KERNEL.finditer(group[2]):
                place = Place(name, line_of(text, group.start(2) + match.start()))
                found.setdefault(qualified(match[1]), []).append(place)
    return found


def rules(root):
    """Every sampling rule, in the format that src/verify/rules.cpp reads. Throws ValueError for a file that has another."""
    found = []
    for path, name in files(root, RULES, ".rules"):
        in_operators = False
        for number, line in enumerate(read(path).splitlines(), 1):
            content = line.strip()
            if not content or line.startswith("#"):
                continue
            indent = len(line) - len(line.lstrip(" "))
            if indent == 0:
                if content == "or":
                    raise ValueError(f"{name}:{number}: 'or' between two alternatives is indented by 4")
                if not in_operators:
                    found.append(Rule(Place(name, number), [], []))
                found[-1].operators.extend(content.split())
            elif not found or found[-1].place.file != name:
                raise ValueError(f"{name}:{number}: an argument before any operator")
            elif indent == 4:
                found[-1].arguments.append(content)
            elif indent > 4 and found[-1].arguments:
                found[-1].arguments[-1] += " " + content
            else:
                raise ValueError(f"{name}:{number}: indented by {indent}; an argument is indented by 4, its continuation by more")
            in_operators = indent == 0
    return found


def rule_of(all_rules, overload):
    """The rule that `aton verify` uses: that of the overload before that of the operator."""
    for wanted in (overload, base(overload)):
        for rule in all_rules:
            if any(qualified(operator) == wanted for operator in rule.operators):
                return rule
    return None
