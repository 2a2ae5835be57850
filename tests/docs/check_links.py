#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the links of the documentation without a network: files and headings that links name, paths in `code`, and the
pages of mkdocs.yml.

    check_links.py [--root FOLDER]
"""
import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"(?<!\\)\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
CODE = re.compile(r"(`+)(.+?)\1")


def text_lines(path):
    """Lines outside fenced blocks and comments, as (number, line)."""
    text = re.sub(r"<!--.*?-->", lambda m: "\n" * m.group().count("\n"), path.read_text(encoding="utf-8"), flags=re.DOTALL)
    inside = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside:
            yield number, line


def slug(heading):
    """The anchor of a heading: letters, digits, and hyphens for blanks."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(path):
    found = {}
    for _, line in text_lines(path):
        heading = re.match(r"#{1,6} +(.+?)\s*#*$", line)
        if heading:
            name = slug(heading.group(1))
            found[name] = found.get(name, -1) + 1
    return {name if n == 0 else f"{name}-{n}" for name, count in found.items() for n in range(count + 1)}


def documents(root):
    skipped = {"build", "tests", ".git", ".cache"}
    return [p for p in sorted(root.rglob("*.md")) if p.relative_to(root).parts[0] not in skipped]


def broken_links(root, path):
    for number, line in text_lines(path):
        for target in LINK.findall(CODE.sub("", line)):
            file, _, anchor = target.partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            where = (path.parent / file).resolve() if file else path
            if not where.exists():
                yield f"{path.name}:{number}: no such file: {target}"
            elif not where.is_relative_to(root):
                yield f"{path.name}:{number}: leaves the repository: {target}"
            elif anchor and where.suffix == ".md" and anchor not in anchors(where):
                yield f"{path.name}:{number}: no such heading: {target}"


def missing_paths(root, path):
    """Paths in `code` that start with a folder of the repository, or with aton/ as in includes."""
    folders = {p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith(".")} - {"build"}
    for number, line in text_lines(path):
        for _, code in CODE.findall(line):
            if not re.fullmatch(r"[\w.*-]+(/[\w.*-]+)+/?", code):
                continue
            first = code.split("/")[0]
            if first == "aton" and code.endswith(".hpp"):
                code = "include/" + code
            elif first not in folders:
                continue
            if not any(root.glob(code.rstrip("/"))):
                yield f"{path.name}:{number}: no such path: {code}"


def navigation(root):
    """Missing pages of mkdocs.yml, and pages that it lists twice or not at all."""
    text = (root / "mkdocs.yml").read_text(encoding="utf-8")
    entries = re.findall(r"[:-]\s+(\S+\.md)\s*$", text[text.index("\nnav:"):], re.MULTILINE)
    listed = set(entries)
    there = {p.relative_to(root / "docs").as_posix() for p in (root / "docs").rglob("*.md")}
    return [f"mkdocs.yml: no such page: docs/{p}" for p in sorted(listed - there)] + [
        f"mkdocs.yml: docs/{p} is not in the navigation" for p in sorted(there - listed)] + [
        f"mkdocs.yml: docs/{p} is in the navigation twice" for p in sorted(listed) if entries.count(p) > 1]


def problems_of(root):
    found = navigation(root)
    for path in documents(root):
        found += [*broken_links(root, path), *([] if path.name == "CHANGELOG.md" else missing_paths(root, path))]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    root = parser.parse_args().root.resolve()
    found = problems_of(root)
    print("\n".join(found), end="\n" if found else "")
    count = sum(len(LINK.findall(line)) for path in documents(root) for _, line in text_lines(path))
    print(f"{len(documents(root))} documents, {count} links, {len(found)} problems")
    sys.exit(1 if found or count == 0 else 0)


if __name__ == "__main__":
    main()
