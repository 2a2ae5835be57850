#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The hooks of .pre-commit-hooks.yaml.

usage: hook.py unconvertible|export|table [OPTION]... FILE...

Options are those of the aton command, or of the compiler; each is one word, such as --opset=17. The first word without a dash is the
first file. The environment variable ATON_COMMAND names the aton command, CXX the compiler.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "single_include"
INCLUDES_ATON = re.compile(rb"^[ \t]*#[ \t]*include[ \t]*<aton/", re.MULTILINE)


def program(variable, default, advice):
    """The path of the program that an environment variable names."""
    name = os.environ.get(variable) or default
    path = shutil.which(name)
    if path is None:
        sys.exit(f"{name}: not found; {advice}")
    return path


def aton(*words):
    """What the command prints, or None if it failed; its errors are printed."""
    command = program("ATON_COMMAND", "aton", "install the wheel of aton-onnx, or set ATON_COMMAND to the command of a build")
    result = subprocess.run([command, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8", check=False)
    return result.stdout if result.returncode == 0 else None


def unconvertible(options, file):
    """Whether every operator of the program can be converted."""
    printed = aton("unconvertible", "--json", *options, "--", file)
    if printed is None:
        return False
    operators = json.loads(printed)
    for each in operators:
        place = f"; at {each['places'][0]}" if each["places"] else ""
        print(f"{file}: {each['op']}, {each['count']} times: {each['reason']}{place}")
    return not operators


def export(options, file):
    """Whether the program can be exported to a file that ONNX's checker accepts."""
    with tempfile.TemporaryDirectory(prefix="aton-") as folder:
        output = os.path.join(folder, "model.onnx")
        if aton("export", "--quiet", *options, "-o", output, "--", file) is None:
            return False
        printed = aton("check", output)
        return printed is not None


def table(options, file):
    """Whether the file compiles, if it includes a header of Aton."""
    path = pathlib.Path(file)
    if not INCLUDES_ATON.search(path.read_bytes()):
        return True
    compiler = program("CXX", "c++", "install a C++20 compiler, or set CXX")
    # A header is included, because compilers warn of a header as main file.
    source = f'#include "{path.resolve().as_posix()}"\n'
    command = [compiler, "-x", "c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-isystem", HEADERS, *options, "-"]
    return subprocess.run(command, input=source, encoding="utf-8", check=False).returncode == 0


def main(words):
    hooks = {each.__name__: each for each in (unconvertible, export, table)}
    if not words or words[0] not in hooks:
        sys.exit(__doc__)
    first = next((at for at, word in enumerate(words[1:], 1) if not word.startswith("-")), len(words))
    options, files = words[1:first], words[first:]
    missing = [each for each in files if not os.path.isfile(each)]
    if missing:
        sys.exit(f"{missing[0]}: no such file; options are single words, such as --opset=17")
    results = [hooks[words[0]](options, file) for file in files]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
