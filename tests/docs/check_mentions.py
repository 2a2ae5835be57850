#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what comments and pages mention exists: headers and files in the comments of C++, CMake and Python, tests that pages name, lists that
CMake no longer has, and a front end for each reader. Programs in test data must not mention folders of the machine that made them.

    check_mentions.py [--root FOLDER]
"""
import argparse
import pathlib
import re
import sys

import check_links

ROOT = pathlib.Path(__file__).resolve().parents[2]
CPP = (".hpp", ".cpp", ".cu", ".cuh")
SCRIPTS = (".py", ".cmake", ".sh")
FOLDERS = ("include", "src", "cuda", "tools", "tests", "examples", "benchmarks", "cmake", "python")
COMMENT = {suffix: re.compile(r"^[^\"'\n]*?//(.*)", re.MULTILINE) for suffix in CPP} | {
    suffix: re.compile(r"^\s*#(.*)", re.MULTILINE) for suffix in (*SCRIPTS, ".txt")}
FILE = re.compile(r"(?<![\w./<*{-])((?:[\w-]+/)*[\w-]+\.(hpp|cuh|cpp|cu|py|sh|cmake|md|rules))(?![\w*])")
TEST = re.compile(r"\b[Tt]ests? ((?:`\w+`(?:, | and |, and )?)+)")
ABSOLUTE = re.compile(rb'File \\*"(/[^"\\]+)')  # in a stack trace
LISTED = re.compile(r"\blisted in `([\w/]+/CMakeLists\.txt)`")


def sources(root):
    """Every source that is written by hand."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in COMMENT and not {"generated", "third_party", "__pycache__"} & set(path.parts):
                yield path


def cmake_text(root):
    """All CMake files without their comments."""
    files = [root / "CMakeLists.txt", *(path for folder in FOLDERS for path in (root / folder).rglob("CMakeLists.txt")), *(root / "cmake").rglob("*.cmake")]
    return "\n".join(re.sub(r"#.*", "", path.read_text(encoding="utf-8")) for path in files if path.is_file())


class Tree:
    """Which files the repository has."""

    def __init__(self, root):
        self.root = root
        self.files = {path.relative_to(root).as_posix() for folder in (*FOLDERS, "data", "docs", "single_include", "packaging")
                      for path in (root / folder).rglob("*") if path.is_file()}
        self.ends = {"/".join(parts[i:]) for parts in (name.split("/") for name in self.files) for i in range(len(parts))}
        self.cmake = cmake_text(root)

    def has(self, mention, suffix):
        """Whether the tree has the file: by the end of its path, or as a file that the build writes. Other files than headers are
        only looked for if they are in a folder of the repository: a comment may name a file of torch."""
        first = mention.split("/")[0]
        if suffix not in ("hpp", "cuh") and (first == mention or not (self.root / first).is_dir() or first in ("build", "onnx")):
            return True
        return mention in self.ends or mention.removeprefix("aton/") in self.ends or pathlib.PurePath(mention).name in self.cmake


def stale_comments(tree):
    for path in sources(tree.root):
        text = path.read_text(encoding="utf-8")
        for comment in COMMENT[path.suffix].finditer(text):
            for mention, suffix in FILE.findall(comment.group(1)):
                if not tree.has(mention, suffix):
                    yield f"{path.relative_to(tree.root)}:{text.count(chr(10), 0, comment.start(1)) + 1}: no such file: {mention}"


def stale_tests(tree, pages):
    """Tests that pages name (`the test `x``), and lists that CMake does not have because it finds the files itself."""
    for path in pages:
        lines = list(check_links.text_lines(path))
        text = "\n".join(line for _, line in lines)
        for found in TEST.finditer(text.replace("\n", " ")):
            for name in re.findall(r"`(\w+)`", found.group(1)):
                if "_" in name and not re.search(rf"\b{name.removeprefix('packaging_')}\b", tree.cmake):
                    yield f"{path.name}: no such test: {name}"
        for name in LISTED.findall(text.replace("\n", " ")):
            listing = tree.root / name
            if not listing.is_file() or re.search(r"file\(GLOB [^)]*\.cpp\b", listing.read_text(encoding="utf-8")):
                yield f"{path.name}: nothing is listed in {name}"


def missing_front_ends(tree):
    """Folders of src/frontend that the glossary does not name."""
    glossary = tree.root / "docs" / "glossary.md"
    text = glossary.read_text(encoding="utf-8") if glossary.is_file() else ""
    return [f"glossary.md: no front end `frontend/{path.name}`" for path in sorted((tree.root / "src" / "frontend").glob("*"))
            if path.is_dir() and path.name != "files" and f"`frontend/{path.name}`" not in text]


def folders_in_samples(tree):
    """Saved programs whose stack traces name files by absolute paths."""
    samples = [name for name in sorted(tree.files) if name.endswith((".pt2", ".pt"))]
    return [f"{name}: a stack trace names {found[1].decode(errors='replace')}; see tests/data/stack_traces.py"
            for name in samples if (found := ABSOLUTE.search((tree.root / name).read_bytes()))]


def problems_of(root):
    tree = Tree(root)
    return [*stale_comments(tree), *stale_tests(tree, [path for path in check_links.documents(root) if path.name != "CHANGELOG.md"]),
            *missing_front_ends(tree), *folders_in_samples(tree)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT)
    root = parser.parse_args().root.resolve()
    found = problems_of(root)
    print("\n".join(found), end="\n" if found else "")
    count = sum(1 for _ in sources(root))
    print(f"{count} sources, {len(found)} problems")
    sys.exit(1 if found or count == 0 else 0)


if __name__ == "__main__":
    main()
