#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles wrong programs and requires the right sentence; compiles their correct twins and requires no output.

A case is a C++ file that starts with three lines:
    // rule: name of the broken rule
    // error: the sentence that the compiler must print in its first error
    // twin: wrong token => right token
The twin is the same file with the one token replaced. The compiler must reject the case (non-zero exit code). Its first error must contain the
sentence, and with GCC have at most 8 lines; all output together has at most 12 lines. The twin must compile without a warning.

    run.py --compiler "g++ -std=c++20" --include include [--case NAME] [--show]
"""
import argparse
import concurrent.futures
import functools
import pathlib
import re
import subprocess
import sys
import tempfile

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
LONGEST_FIRST_ERROR = 8
LONGEST_OUTPUT = 12
# In C++26, the sentence is the message of a static_assert, whose condition Clang explains on more lines.
ERRORS_OF_CPP = {"typed_value"}  # rules that C++ itself enforces, in the compiler's own words
THROUGH_THE_LIBRARY = {"absent_in_a_tuple"}  # rules whose sentence compilers print with the way through std::tuple
LIBRARY_NOTE = re.compile(r"\S*/c\+\+/\S+:\d+:\d+: ")  # a line that begins a note in a header of the C++ library
NOTE = re.compile(r"\S+:\d+:\d+: |In file included from ")


def read_case(path):
    lines = path.read_text().split("\n")
    fields = {}
    for line, key in zip(lines, ("rule", "error", "twin")):
        prefix = f"// {key}: "
        if not line.startswith(prefix):
            raise ValueError(f"{path.name}: line '{prefix}...' expected, found '{line}'")
        fields[key] = line[len(prefix):]
    wrong, arrow, right = fields["twin"].partition(" => ")
    body = "\n".join(lines[3:])
    if not arrow or body.count(wrong) != 1:
        raise ValueError(f"{path.name}: the wrong token must occur exactly once in the program: {wrong}")
    return {"name": path.stem, "path": path, **fields, "good": body.replace(wrong, right)}


def plain(text):
    """Compiler output as prose: pieces of a sentence in template arguments are joined, escapes are undone."""
    text = text.replace("\\'", "'")
    return re.sub(r'"\}(?:, (?:aton::)?(?:v[0-9_]+::)?fixed_string<[^<>]*>\{(?:\{)?")', "", text).replace('"}}, {{"', "")


def first_error(output):
    """The output up to the end of the first error, with its source lines."""
    lines = output.split("\n")
    at = next((i for i, line in enumerate(lines) if re.search(r"\berror: ", line)), None)
    if at is None:
        return []
    end = at + 1
    while end < len(lines) and re.match(r"\s", lines[end]):
        end += 1
    return lines[:end]


@functools.cache
def is_gcc(compiler):
    """By its output, not its name: c++ is GCC on most machines."""
    return "Free Software Foundation" in subprocess.run(compiler.split()[:1] + ["--version"], capture_output=True, text=True, timeout=60).stdout


def compile_text(arguments, text, path="-"):
    """A file, or the text. (GCC prints the lines of a program only if it is a file.)"""
    run = subprocess.run(arguments.compiler.split() + [*arguments.precompiled, "-fsyntax-only", "-x", "c++", "-I", arguments.include, *WARNINGS, str(path)],
                         input=text, capture_output=True, text=True, timeout=300)
    return run.returncode, run.stderr


def precompile(compiler, include, warnings, folder):
    """The arguments with which the compiler reads <aton/aton.hpp> once for all programs, with the same output as if each included it: the same
    sentences in as many lines. GCC warns about #pragma once in the file that it precompiles, so it gets a header that includes the DSL."""
    header = pathlib.Path(include).resolve() / "aton" / "aton.hpp"
    made = pathlib.Path(folder) / "first.pch"
    if is_gcc(compiler):
        header = pathlib.Path(folder) / "first.hpp"
        header.write_text("#include <aton/aton.hpp>\n")
        made = header.with_suffix(".hpp.gch")
    command = [*compiler.split(), "-x", "c++-header", "-I", include, *warnings, str(header), "-o", str(made)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit(f"<aton/aton.hpp> does not compile\n{run.stderr}")
    return ["-include", str(header)] if is_gcc(compiler) else ["-include-pch", str(made)]


def length(output, rule):
    """The lines of an output; where the way leads through the C++ library, without Clang's notes there."""
    lines = output.splitlines()
    if rule not in THROUGH_THE_LIBRARY:
        return len(lines)
    count, is_counted = 0, True
    for line in lines:
        if NOTE.match(line):
            is_counted = not LIBRARY_NOTE.match(line)
        count += is_counted
    return count


def check(arguments, case):
    problems = []
    code, output = compile_text(arguments, "", case["path"])
    first = first_error(output)
    lines = length(output, case["rule"])
    if code == 0:
        problems.append("the wrong program compiles")
    elif case["error"] not in plain("\n".join(first)):
        problems.append("the first error does not contain: " + case["error"])
    elif is_gcc(arguments.compiler) and len(first) > LONGEST_FIRST_ERROR and case["rule"] not in THROUGH_THE_LIBRARY:
        problems.append(f"the first error is {len(first)} lines long, at most {LONGEST_FIRST_ERROR} allowed")
    elif lines > LONGEST_OUTPUT and case["rule"] not in ERRORS_OF_CPP and "-std=c++26" not in arguments.compiler:
        problems.append(f"the output is {lines} lines long, at most {LONGEST_OUTPUT} allowed")
    if problems or arguments.show:
        problems.append("\n".join("    | " + line[:400] for line in first))
    return case["name"], problems


def check_twin(arguments, case):
    code, output = compile_text(arguments, case["good"])
    silent = code == 0 and not output.strip()
    lines = "\n".join("    | " + line[:400] for line in output.split("\n")[:12])
    return case["name"], [] if silent else ["the good twin does not compile silently:\n" + lines]


def joined(twins):
    """Correct programs as one, each in its own namespace, after all includes."""
    includes, bodies = [], []
    for case in twins:
        lines = case["good"].split("\n")
        includes += [line for line in lines if line.startswith("#include")]
        body = "\n".join(line for line in lines if not line.startswith("#include"))
        bodies.append(f"namespace twin_{case['name']} {{\n{body}\n}}")
    return "\n".join(list(dict.fromkeys(includes)) + bodies) + "\n"


def check_twins(arguments, twins):
    """Together, to parse the headers only once; one by one if they do not compile silently, to find the wrong one."""
    if len(twins) > 1:
        code, output = compile_text(arguments, joined(twins))
        if code == 0 and not output.strip():
            return [(case["name"], []) for case in twins]
    return [check_twin(arguments, case) for case in twins]


def groups(cases):
    """Cases whose twins can be compiled together: with the same includes, and without definitions that a program may have only once."""
    by_includes = {}
    for case in cases:
        lines = case["good"].split("\n")
        once = case["name"] if any("ATON_PLUGIN" in line or "#define" in line for line in lines) else ""
        by_includes.setdefault((once, *(line for line in lines if line.startswith("#include"))), []).append(case)
    size = 16
    return [some[i:i + size] for some in by_includes.values() for i in range(0, len(some), size)]


def add_part_options(parser, what):
    parser.add_argument("--every", type=int, default=1, help=f"only every nth {what}")
    parser.add_argument("--except-every", type=int, help="only those that --every leaves out")


def part_of(items, arguments):
    rest = arguments.except_every
    return [item for i, item in enumerate(items) if i % arguments.every == 0 and (not rest or i % rest != 0)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).parent
    parser.add_argument("--compiler", default="g++ -std=c++20")
    parser.add_argument("--include", default=str(here.parent.parent / "include"))
    parser.add_argument("--cases", default=str(here / "cases"))
    parser.add_argument("--case", action="append", help="only this case (several allowed)")
    add_part_options(parser, "case")
    parser.add_argument("--show", action="store_true", help="print every first error")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    cases = [read_case(path) for path in sorted(pathlib.Path(arguments.cases).glob("*.cpp"))]
    if arguments.case:
        cases = [case for case in cases if case["name"] in arguments.case]
    cases = part_of(cases, arguments)
    if not cases:
        sys.exit("compile_fail: no cases")
    failed = set()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        needed = any("#include <aton/aton.hpp>" in case["good"] for case in cases)
        arguments.precompiled = precompile(arguments.compiler, arguments.include, WARNINGS, folder) if needed else []
        twins = [pool.submit(check_twins, arguments, some) for some in groups(cases)]
        for name, problems in pool.map(lambda case: check(arguments, case), cases):
            if problems:
                failed |= set() if arguments.show else {name}
                print(f"{name}: " + "\n  ".join(problems))
        for name, problems in (each for future in twins for each in future.result()):
            if problems:
                failed.add(name)
                print(f"{name}: " + "\n  ".join(problems))
    rules = {case["rule"] for case in cases}
    print(f"{len(cases)} wrong programs with their twins, {len(rules)} rules, {len(failed)} failed ({arguments.compiler})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
