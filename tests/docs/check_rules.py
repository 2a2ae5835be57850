#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that docs/errors.md has a section for every compile-time message of Aton: each enumerator of an enum of rules in the headers, each
message of a static_assert in the DSL, each message about the text of a declaration, and each rule of tests/compile_fail.

A section is a heading `### rule_name` with a wrong block and a right one; a comment `<!-- rule: other_name -->` in it names further rules that it
covers.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENUM = re.compile(r"enum class (\w*rule)\b[^{;]*\{([^}]*)\}")
ASSERTION = re.compile(r'static_assert\((?:[^;"]|"(?:[^"\\]|\\.)*"(?=[^;]*,))*?,\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\);')


def headers(root):
    include = root / "include" / "aton"
    return [path for path in sorted(include.rglob("*.hpp")) if path.relative_to(include).parts[0] in ("onnx", "aten", "dsl", "plugin.hpp")]


def enumerators(root):
    """(enum, enumerator, file) of every enum whose name ends in `rule`, except `none`."""
    for path in headers(root):
        for name, body in ENUM.findall(path.read_text(encoding="utf-8")):
            for enumerator in re.findall(r"^\s*(\w+)", re.sub(r"//.*", "", body).replace(",", ",\n"), re.MULTILINE):
                if enumerator != "none":
                    yield name, enumerator, path.name


def assertions(root):
    """(message, file) of every static_assert in the DSL that has a message."""
    for path in headers(root):
        if path.parent.name == "generated":
            continue
        for quoted in ASSERTION.findall(path.read_text(encoding="utf-8")):
            yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', quoted)).replace('\\"', '"'), path.name


def declaration_problems(root):
    """(message, file) of every error of the reader of declarations."""
    for path in headers(root):
        text = path.read_text(encoding="utf-8") if path.name == "read_declaration.hpp" else ""
        for quoted in re.findall(r'(?:\bfail\(|\bexpect\("[^"]*",)\s*"((?:[^"\\]|\\.)*)"', text):
            yield quoted.replace('\\"', '"'), path.name


def case_rules(root):
    """(rule, file) of every wrong program."""
    for path in sorted((root / "tests" / "compile_fail" / "cases").glob("*.cpp")):
        rule = re.match(r"// rule: (\w+)", path.read_text(encoding="utf-8"))
        if rule:
            yield rule.group(1), path.name


def incomplete_sections(page):
    """Sections of rules without a wrong program, or without a correct one after it."""
    for section in re.split(r"^(?=###? )", page, flags=re.MULTILINE):
        name = re.match(r"### (\w+)\n", section)
        blocks = re.findall(r"^```(cpp.*)$", section, re.MULTILINE)
        if name and ("wrong" not in "".join(blocks[:1]) or "wrong" in "".join(blocks[-1:])):
            yield f"section {name.group(1)} does not show a wrong program first and a correct one last"


def missing(root):
    """A message for everything that errors.md lacks."""
    page = (root / "docs" / "errors.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) | {
        name for line in re.findall(r"<!-- rule: ([\w, ]+?) *-->", page) for name in re.split(r",\s*", line)}
    found = [f"{file}: {enum}::{name} has no section" for enum, name, file in enumerators(root) if name not in named]
    found += [f"{file}: nothing quotes the static_assert: {message}" for message, file in sorted(set(assertions(root))) if message not in page]
    found += [f"{file}: nothing quotes the sentence: {text}" for text, file in sorted(set(declaration_problems(root))) if text not in page]
    found += [f"{file}: rule {name} has no section" for name, file in case_rules(root) if name not in named]
    return found + list(incomplete_sections(page)), len(named)


def main():
    found, sections = missing(ROOT)
    counts = [len(list(each(ROOT))) for each in (enumerators, assertions, declaration_problems, case_rules)]
    for line in found:
        print(f"docs/errors.md: {line}; write one, or name it in a comment: <!-- rule: NAME -->")
    print("{} rules, {} static_asserts and {} sentences of the headers, {} wrong programs".format(*counts) +
          f" against {sections} named rules: {len(found)} missing")
    sys.exit(1 if found or 0 in counts else 0)


if __name__ == "__main__":
    main()
