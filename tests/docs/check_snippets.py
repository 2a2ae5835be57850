#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles the C++ of the documentation: blocks must compile, blocks marked wrong must be rejected with the messages shown, and programs must
print the output shown.

The info string of a fenced block:
    cpp                declarations, or a whole program; blocks of one document do not see each other
    cpp body           statements inside `void f(graph<13> g, value x, value y, optional_value o, std::span<value const> list, sym_int n)`;
                       `cpp body graph<11, 12>` gives g another range
    cpp wrong          declarations that the compiler must reject; `cpp wrong body`: statements. Each line of the ```text block that follows
                       must appear in the errors, except lines that start with "...", which paraphrase messages that differ between
                       compilers
    cpp file=NAME      check_outputs.py also gives the block as a file to the sessions of the document
    cpp recipe=NAME    cookbook_test.cpp also runs the block, which write_recipes.py copies from the cookbook
All blocks of a document are one translation unit, each in its own namespace unless it opens ATON_NAMESPACE; the wrong ones are another.
documents.py explains the comments `output-of: above` and `error-of: ...`.

    check_snippets.py [--compiler "g++ -std=c++20"] [--include include] [FILE.md ...]
"""
import argparse
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import documents
from documents import ROOT

sys.path.insert(0, str(ROOT / "tests" / "compile_fail"))
from run import add_part_options, part_of, plain, precompile  # noqa: E402: plain joins the pieces in which Clang prints a sentence

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-Wno-unused", "-Wunused-result"]
PARAMETERS = "[[maybe_unused]] value x, [[maybe_unused]] value y, [[maybe_unused]] optional_value o, " \
             "[[maybe_unused]] std::span<value const> list, [[maybe_unused]] sym_int n"
INCLUDE = re.compile(r"^\s*#\s*include\b")
USING = "using namespace aton::dsl;"
KNOWN_WORDS = re.compile(r"cpp( wrong)?( body( graph<[^>]*>)?)?( (file|recipe)=[\w.]+)?$")


def unit_of(blocks):
    """One translation unit of many blocks; #line directives point to the documents."""
    includes, code = ["#include <aton/aton.hpp>"], []
    for block in blocks:
        includes += [line for line in block.lines if INCLUDE.match(line) and line not in includes]
        library = any(line.startswith("namespace ATON_NAMESPACE") for line in block.lines)  # opens its own namespace
        code += [] if library else [f"namespace block_{block.first} {{", USING]
        body = re.search(r"\bbody\b *(graph<[^>]*>)?", block.info)
        if body:
            code.append(f"inline void f([[maybe_unused]] {body.group(1) or 'graph<13>'} g, {PARAMETERS}) {{")
        code.append(f'#line {block.first} "{block.document.name}"')
        code += ["" if INCLUDE.match(line) else line for line in block.lines]
        code += ["}" if body else "", "" if library else "}"]
    return "\n".join(includes + code) + "\n"


def compile_text(arguments, text, *, folder=None, name="mapping.cpp", output=None, quoted=False):
    """Exit code and errors of a translation unit; only its syntax is checked unless there is an output file. `quoted`: a page shows the compiler's
    output, in which files are included from the unit, so that it includes the DSL itself."""
    command = [*arguments.compiler.split(), *(["-o", output] if output else ["-fsyntax-only"]), "-I", arguments.include, *WARNINGS]
    command += [] if quoted else arguments.precompiled
    if "clang" in arguments.compiler:
        command.append("-ferror-limit=0")
    if folder:
        pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        run = subprocess.run([*command, name], cwd=folder, capture_output=True, text=True, timeout=900)
    else:
        run = subprocess.run([*command, "-x", "c++", "-"], input=text, capture_output=True, text=True, timeout=900)
    return run.returncode, re.sub("[‘’]|\\\\'", "'", run.stderr)


def code_above(block):
    """The lines of the last C++ block before this one."""
    return block.code_above.lines if block.code_above else []


def check_right(arguments, blocks):
    code, output = compile_text(arguments, unit_of(blocks)) if blocks else (0, "")
    return ["does not compile without diagnostics:\n" + output[:4000]] if code != 0 or output.strip() else []


def check_wrong(arguments, blocks):
    """`blocks` are all blocks of the document; each wrong one must be rejected with its own errors."""
    wrong = [(b, after) for b, after in zip(blocks, [*blocks[1:], None]) if b.kind() == "cpp" and "wrong" in b.words]
    if not wrong:
        return []
    problems = []
    code, output = compile_text(arguments, unit_of([b for b, _ in wrong]))
    said = plain(output).replace('\\"', '"')
    for block, after in wrong:
        lines = re.findall(re.escape(block.document.name) + r":(\d+)", output)
        if code == 0 or not any(block.first <= int(n) < block.first + len(block.lines) for n in lines):
            problems.append(f"line {block.first}: the wrong program compiles")
        if after is None or after.kind() not in ("sentences", "error"):
            problems.append(f"line {block.first}: no text block with the expected errors after the wrong program")
        elif after.kind() == "sentences":
            problems += [f"line {block.first}: no error contains: {s}" for s in after.lines if not s.startswith("...") and s not in said]
    return problems + ([said] if problems and arguments.verbose else [])


def this_compiler(arguments, wanted):
    """Whether the check runs with the compiler that a marker names; the default is GCC with C++20."""
    standard = re.compile(r"-std=[\w+]+")
    used, asked = (standard.search(text) for text in (arguments.compiler, wanted))
    return ("clang" in arguments.compiler) == ("clang" in wanted) and \
        (used.group() if used else "") == (asked.group() if asked else "-std=c++20")


def check_error(arguments, block):
    """The block quotes the compiler: the parts between `...` must appear in its output in this order, apart from line breaks."""
    where, _, compiler = block.marker[1].partition(" ")
    if where not in ("above", "here"):
        return [f"line {block.first}: error-of: above or here, not '{where}'"]
    if not this_compiler(arguments, compiler):
        return []
    lines = (code_above(block) if where == "above" else []) + block.code_in_comment
    with tempfile.TemporaryDirectory() as folder:
        code, output = compile_text(arguments, "\n".join(lines) + "\n", folder=folder, quoted=True)
    if code == 0:
        return [f"line {block.first}: the wrong program compiles"]
    said = [" ".join(text.split()) for text in (output, plain(output))]
    problems = []
    for quote in [" ".join(block.lines)] if where == "above" else block.lines:
        parts = [re.escape(part.strip()) for part in " ".join(quote.split()).split("...")]
        if not any(re.search(".*".join(parts), text) for text in said):
            problems.append(f"line {block.first}: the compiler does not print: {quote.strip()}")
    return problems + ([output] if problems and arguments.verbose else [])


def check_programs(arguments, blocks):
    """Builds the programs of all documents as one binary, which runs the program whose number it gets."""
    if not blocks:
        return {}
    includes, code, calls = [], [], []
    for index, block in enumerate(blocks):
        lines = code_above(block) + block.code_in_comment
        includes += [line for line in lines if INCLUDE.match(line) and line not in includes]
        code += [f"namespace program_{index} {{", f'#line {block.first} "{block.document.name}"']
        code += ["" if INCLUDE.match(line) else line for line in lines] + ["}"]
        calls.append(f"    if (argv[1][0] == '0' + {index}) return program_{index}::main();")
    code += ["int main(int, char** argv) {", *calls, "    return 1;", "}"]
    problems = {}
    with tempfile.TemporaryDirectory() as folder:
        status, output = compile_text(arguments, "\n".join(includes + code) + "\n", folder=folder, name="programs.cpp", output="programs")
        for index, block in enumerate(blocks):
            if status != 0:
                problems.setdefault(block.document, []).append("a program whose output is shown does not compile:\n" + output[:4000])
                continue
            run = subprocess.run([pathlib.Path(folder, "programs"), chr(ord("0") + index)], capture_output=True, text=True, timeout=60)
            differs = documents.difference(block.lines, (run.stdout + run.stderr).split("\n"))
            if differs or run.returncode != 0:
                problems.setdefault(block.document, []).append(f"line {block.first} (exit status {run.returncode}): {differs}")
    return problems


def check(arguments, path, blocks):
    start = time.monotonic()
    cpp = [b for b in blocks if b.kind() == "cpp"]
    right = [b for b in cpp if "wrong" not in b.words]
    problems = [f"line {b.first}: unknown info string `{b.info}`" for b in cpp if not KNOWN_WORDS.match(b.info)]
    problems += check_right(arguments, right) + check_wrong(arguments, blocks)
    for block in blocks:
        problems += check_error(arguments, block) if block.kind() == "error" else []
    return path, len(right), len(cpp) - len(right), problems, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compiler", default="g++ -std=c++20")
    parser.add_argument("--include", default=str(ROOT / "include"))
    add_part_options(parser, "document, by size")
    parser.add_argument("--verbose", action="store_true", help="show the compiler's output for wrong blocks")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()

    files = part_of(sorted(arguments.files or documents.documents(), key=lambda path: -path.stat().st_size), arguments)
    blocks = {path: documents.read_blocks(path) for path in files}
    programs = [b for each in blocks.values() for b in each if b.kind() == "program"]
    failed = right = wrong = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        arguments.precompiled = precompile(arguments.compiler, arguments.include, WARNINGS, folder)
        printed = pool.submit(check_programs, arguments, programs)
        results = list(pool.map(lambda path: check(arguments, path, blocks[path]), files)) # the longest first
    for path, good, bad, problems, seconds in results:
        problems += printed.result().get(path, [])
        right += good
        wrong += bad
        failed += bool(problems)
        for problem in problems:
            print(f"{path.name}: {problem}")
        if good + bad:
            print(f"{path.name}: {good} blocks, {bad} wrong ones, {seconds:.1f} s")
    if right + wrong == 0:
        sys.exit("docs: no blocks found")
    print(f"{right} blocks compile, {wrong} are rejected as shown, {len(programs)} programs print what is shown, "
          f"{failed} documents failed ({arguments.compiler})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
