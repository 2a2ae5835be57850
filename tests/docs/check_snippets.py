#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the C++ of the documentation: a block that is shown as right must compile, one that is shown as wrong must be refused as told.

What a fenced block says after its ```:
    cpp                declarations, or a whole program; blocks of one document do not see each other
    cpp body           statements inside `void f(graph<13> g, value x, value y, optional_value o, std::span<value const> list, sym_int n)`;
                       `cpp body graph<11, 12>` gives g another range
    cpp wrong          declarations that the compiler must refuse; `cpp wrong body` statements. The ```text block that follows says what must
                       be in the errors: each of its lines that starts with a letter is looked for; one that starts with "..." says it in other
                       words, where compilers differ
    cpp excerpt        part of something; not compiled
All blocks of a document are one translation unit, each in a namespace of its own unless it opens namespace aton; all wrong ones another.

    check_snippets.py [--compiler "g++ -std=c++20"] [--include include] [FILE.md ...]
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "compile_fail"))
from run import plain  # noqa: E402: joins the pieces in which Clang prints a sentence

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-Wno-unused"]
PARAMETERS = "[[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o, " \
             "[[maybe_unused]] std::span<value const> list, [[maybe_unused]] sym_int n"
FENCE = re.compile(r"^```(.*)$")
INCLUDE = re.compile(r"^\s*#\s*include\b")
USING = "using namespace aton::dsl;"


def read_blocks(path):
    """Every fenced block: what stands after the fence, its first line number, its lines."""
    blocks, current = [], None
    for number, line in enumerate(path.read_text().split("\n"), 1):
        fence = FENCE.match(line)
        if fence and current is None:
            current = (fence.group(1).strip(), number + 1, [])
        elif fence:
            blocks.append(current)
            current = None
        elif current is not None:
            current[2].append(line)
    if current is not None:
        raise ValueError(f"{path}: the block of line {current[1]} has no end")
    return blocks


def unit_of(path, blocks):
    """One translation unit of many blocks; compilers name the document's lines."""
    includes, code = ["#include <aton/aton.hpp>"], []
    for info, first, lines in blocks:
        includes += [line for line in lines if INCLUDE.match(line) and line not in includes]
        library = any(line.startswith("namespace aton") for line in lines)  # stands where it says
        code += [] if library else [f"namespace block_{first} {{", USING]
        body = re.search(r"\bbody\b *(.*)", info)
        if body:
            code.append(f"inline void f([[maybe_unused]] {body.group(1) or 'graph<13>'} g, {PARAMETERS}) {{")
        code.append(f'#line {first} "{path.name}"')
        code += ["" if INCLUDE.match(line) else line for line in lines]
        code += ["}" if body else "", "" if library else "}"]
    return "\n".join(includes + code) + "\n"


def compile_text(arguments, text):
    command = arguments.compiler.split() + ["-fsyntax-only", "-x", "c++", "-I", arguments.include, *WARNINGS, "-"]
    if "clang" in arguments.compiler:
        command.insert(-1, "-ferror-limit=0")
    run = subprocess.run(command, input=text, capture_output=True, text=True, timeout=900)
    return run.returncode, run.stderr


def expected_sentences(blocks, index):
    info, first, lines = blocks[index + 1] if index + 1 < len(blocks) else ("", 0, [])
    return lines if info == "text" else []


def check(arguments, path):
    problems = []
    blocks = read_blocks(path)
    kind = [info.split()[1:] for info, _, _ in blocks]
    cpp = [info.split()[:1] == ["cpp"] and "excerpt" not in k for (info, _, _), k in zip(blocks, kind)]
    right = [b for b, k, c in zip(blocks, kind, cpp) if c and "wrong" not in k]
    wrong = [i for i, (k, c) in enumerate(zip(kind, cpp)) if c and "wrong" in k]
    if right:
        code, output = compile_text(arguments, unit_of(path, right))
        if code != 0 or output.strip():
            problems.append("does not compile silently:\n" + output[:4000])
    if wrong:
        code, output = compile_text(arguments, unit_of(path, [blocks[i] for i in wrong]))
        said = plain(output)
        for i in wrong:
            _, first, lines = blocks[i]
            sentences = expected_sentences(blocks, i)
            named = any(first <= int(n) < first + len(lines) for n in re.findall(re.escape(path.name) + r":(\d+)", output))
            if not sentences:
                problems.append(f"line {first}: no text block after the wrong program says what is expected")
            if code == 0 or not named:
                problems.append(f"line {first}: the wrong program compiles")
            problems += [f"line {first}: no error says: {s}" for s in sentences if s[:1].isalpha() and s not in said]
        if problems and arguments.verbose:
            problems.append(said)
    return len(right), len(wrong), problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++ -std=c++20")
    parser.add_argument("--include", default=str(ROOT / "include"))
    parser.add_argument("--verbose", action="store_true", help="show the compiler's output about wrong blocks")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()

    failed = right = wrong = 0
    for path in arguments.files or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        start = time.monotonic()
        good, bad, problems = check(arguments, path)
        right += good
        wrong += bad
        failed += bool(problems)
        for problem in problems:
            print(f"{path.name}: {problem}")
        if good + bad:
            print(f"{path.name}: {good} blocks, {bad} wrong ones, {time.monotonic() - start:.1f} s")
    if right == 0:
        sys.exit("docs: no blocks found")
    print(f"{right} blocks compile, {wrong} are refused as told, {failed} documents failed ({arguments.compiler})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
