# SPDX-License-Identifier: MIT
"""Compiles every header of include/ alone, and all of them together, with all warnings that users may ask for: part of check_headers."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
OPTIONAL_HEADERS = ("ATen/", "torch/")  # of optional libraries: headers that include them are not compiled here
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Wfloat-equal", "-Wold-style-cast", "-Wundef",
            "-Werror"]
PREFIXES = ("aton/dsl/graph.hpp", "aton/aton.hpp", "aton/mappings/detail/complex.hpp")  # that most headers include, the last one most tables


def headers(root):
    return sorted((root / "include" / "aton").rglob("*.hpp"))


def reached(root, name, seen):
    """All headers of the tree that a header includes, directly and indirectly, with itself."""
    path = root / "include" / name
    if name not in seen and path.is_file():
        seen.add(name)
        for _, target in INCLUDE.findall(path.read_text(encoding="utf-8")):
            reached(root, target, seen)
    return seen


def precompile(root, compiler, folder):
    """A header precompiled for each prefix: the arguments with which a compiler starts where it ends, and the headers that it includes, most first.
    A header that includes all of them anyway compiles alone exactly if it compiles from there."""
    def compiled(number, name):
        prefix = pathlib.Path(folder) / f"prefix{number}.hpp"
        prefix.write_text(f"#include <{name}>\n")
        command = [compiler, "-std=c++20", *WARNINGS, f"-I{root / 'include'}", "-x", "c++-header", str(prefix), "-o", f"{prefix}.gch"]
        if subprocess.run(command, capture_output=True).returncode != 0:
            return None  # the header's own check says why
        return ["-include", str(prefix)], reached(root, name, set())

    found = [compiled(number, name) for number, name in enumerate(PREFIXES) if (root / "include" / name).is_file()]
    return sorted(filter(None, found), key=lambda each: -len(each[1]))


def is_optional(path):
    return any(name.startswith(OPTIONAL_HEADERS) for _, name in INCLUDE.findall(path.read_text(encoding="utf-8")))


def compile_alone(root, compiler, path, prefixes):
    if is_optional(path):
        return None
    name = path.relative_to(root / "include").as_posix()
    needed = reached(root, name, set())
    prefix = next((start for start, included in prefixes if name not in included and included <= needed), [])
    command = [compiler, "-std=c++20", *prefix, "-fsyntax-only", *WARNINGS, f"-I{root / 'include'}", "-x", "c++", "-"]
    result = subprocess.run(command, input=f"#include <{name}>\n#include <{name}>\n", capture_output=True, text=True)
    return None if result.returncode == 0 else f"{name}: does not compile alone\n{result.stderr.strip()[:2000]}"


def compile_backwards(root, compiler):
    """All headers in one source, backwards by name: umbrella headers include them in the other order."""
    names = [path.relative_to(root / "include").as_posix() for path in headers(root)[::-1] if not is_optional(path)]
    command = [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, f"-I{root / 'include'}", "-x", "c++", "-"]
    result = subprocess.run(command, input="".join(f"#include <{name}>\n" for name in names), capture_output=True, text=True)
    return None if result.returncode == 0 else f"the headers do not compile together, backwards by name\n{result.stderr.strip()[:2000]}"


def check_compiled(root, compiler):
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        prefixes = precompile(root, compiler, folder)
        together = pool.submit(compile_backwards, root, compiler)
        results = [*pool.map(lambda path: compile_alone(root, compiler, path, prefixes), headers(root)), together.result()]
        return [result for result in results if result]
