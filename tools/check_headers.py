#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the headers to the rules of docs/development.md: layers, no include cycle, size, first line, self-contained.

Usage: check_headers.py [--compile] [--self-test] [--compiler g++] [--root FOLDER]
Without --compile only the text is read, which takes a blink. --self-test plants a violation of every kind and demands
that each is found.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# Who may include whom, directly; what those may include, they may too.
LAYERS = {
    "core": [],
    "onnx": ["core"],
    "aten": ["core"],
    "dsl": ["core", "onnx", "aten"],
    "mappings": ["dsl"],
    "model_io": ["core", "onnx", "dsl"],
    "program": ["core", "onnx", "aten"],
    "frontend": ["program"],
    "exporter": ["dsl", "mappings", "program", "frontend", "model_io"],
    "runtime": ["core", "onnx", "aten", "dsl", "program", "model_io"],
    "verify": ["dsl", "mappings", "program", "exporter", "runtime"],
}
UMBRELLAS = {"aton.hpp": ["core", "onnx", "aten", "dsl"], "mappings.hpp": ["mappings"]}
LIGHT_LAYERS = ("core", "onnx", "aten", "dsl", "mappings")
HEAVY_HEADERS = ("ranges", "format", "regex", "iostream")
HIDDEN_HEADERS = re.compile(r"^(google/protobuf/|onnx/|simdjson|nlohmann/|boost/json)|\.pb\.h$")
MOST_LINES = 400
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]


def reachable(layer):
    """The layer itself and everything to the left of it."""
    found = {layer}
    for direct in LAYERS[layer]:
        found |= reachable(direct)
    return found


def umbrella_layers(name):
    return set().union(*map(reachable, UMBRELLAS.get(name, LAYERS)))


def headers(root):
    return sorted((root / "include" / "aton").rglob("*.hpp"))


def layer_of(root, path):
    """The layer's name, or None for an umbrella."""
    parts = path.relative_to(root / "include" / "aton").parts
    return parts[0] if len(parts) > 1 else None


def check_text(root):
    """Everything that reading the files can tell: a list of sentences, one for each violation."""
    found = []
    graph = {}
    for path in headers(root):
        name = path.relative_to(root / "include").as_posix()
        text = path.read_text()
        generated = "generated" in path.parts
        layer = layer_of(root, path)
        if layer is not None and layer not in LAYERS:
            found.append(f"{name}: no such layer as '{layer}' (tools/check_headers.py names them)")
            continue
        if layer is None and path.name not in UMBRELLAS:
            found.append(f"{name}: a header that belongs to no layer (only {', '.join(UMBRELLAS)} may)")
            continue
        allowed = reachable(layer) if layer else umbrella_layers(path.name)
        lines = text.splitlines()
        if not lines or lines[0] != "// SPDX-License-Identifier: MIT":
            found.append(f"{name}: the first line is not the SPDX line")
        if len(lines) < 2 or not lines[1].startswith("// "):
            found.append(f"{name}: the second line does not say what the file is for")
        if "#pragma once" not in text:
            found.append(f"{name}: no #pragma once")
        if len(lines) >= MOST_LINES and not generated:
            found.append(f"{name}: {len(lines)} lines; a hand-written header has fewer than {MOST_LINES}")
        graph[name] = []
        for quote, target in INCLUDE.findall(text):
            if quote == '"':
                found.append(f'{name}: #include "{target}": write <aton/...>')
            elif target.startswith("aton/"):
                graph[name].append(target)
                parts = pathlib.PurePosixPath(target).parts
                if not (root / "include" / target).exists():
                    found.append(f"{name}: <{target}> does not exist")
                elif len(parts) == 2:
                    if layer is None or not umbrella_layers(parts[1]) < allowed:
                        found.append(f"{name}: <{target}> is against the layers: it stands right of this header")
                elif parts[1] not in allowed:
                    found.append(f"{name}: <{target}> is against the layers: {layer or path.name} may include "
                                 f"{', '.join(sorted(allowed)) or 'nothing'}")
            elif (layer is None or layer in LIGHT_LAYERS) and target in HEAVY_HEADERS:
                found.append(f"{name}: <{target}> is too heavy for the DSL's include")
            elif HIDDEN_HEADERS.search(target):
                found.append(f"{name}: <{target}>: no public header shows protobuf, libonnx or JSON")
    return found + cycles(graph)


def cycles(graph):
    state = {}
    found = []

    def visit(name, path):
        if state.get(name) == "done" or name not in graph:
            return
        if name in path:
            found.append("include cycle: " + " -> ".join(path[path.index(name):] + [name]))
            return
        for target in graph[name]:
            visit(target, path + [name])
        state[name] = "done"

    for name in graph:
        visit(name, [])
    return found


def compile_alone(root, compiler, path):
    name = path.relative_to(root / "include").as_posix()
    command = [compiler, "-std=c++20", "-fsyntax-only", *WARNINGS, f"-I{root / 'include'}", "-x", "c++", "-"]
    result = subprocess.run(command, input=f"#include <{name}>\n#include <{name}>\n", capture_output=True, text=True)
    return None if result.returncode == 0 else f"{name}: does not compile alone\n{result.stderr.strip()[:2000]}"


def check_compiled(root, compiler):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: compile_alone(root, compiler, path), headers(root))
        return [result for result in results if result]


def self_test(compiler):
    """Every kind of violation, planted in a small tree of its own, is found; the tree without it is clean."""
    start = "// SPDX-License-Identifier: MIT\n// For the self-test.\n#pragma once\n"
    good = {
        "core/a.hpp": start + "struct a {};\n",
        "dsl/b.hpp": start + "#include <vector>\n#include <aton/core/a.hpp>\nstruct b : a {};\n",
        "runtime/c.hpp": start + "#include <iostream>\n#include <aton/dsl/b.hpp>\n",
        "onnx/generated/rows.hpp": start + "// a row\n" * 500,
        "aton.hpp": start + "#include <aton/dsl/b.hpp>\n",
        "mappings/e.hpp": start + "#include <aton/aton.hpp>\n",
    }
    planted = {  # what is planted -> (part of the sentence that must come, files)
        "against the layers": {"core/a.hpp": start + "#include <aton/dsl/b.hpp>\n"},
        "to the neighbour": ("against the layers", {"onnx/d.hpp": start + "#include <aton/aten/e.hpp>\n", "aten/e.hpp": start}),
        "umbrella against the layers": ("against the layers", {"aton.hpp": start + "#include <aton/runtime/c.hpp>\n"}),
        "include cycle": {"core/a.hpp": start + "#include <aton/core/d.hpp>\n", "core/d.hpp": start + "#include <aton/core/a.hpp>\n"},
        "fewer than 400": {"core/a.hpp": start + "// a line\n" * 397},
        "too heavy": {"dsl/b.hpp": start + "#  include <regex>\n"},
        "no public header shows": {"runtime/c.hpp": start + "#include <google/protobuf/message.h>\n"},
        "libonnx shown": ("no public header shows", {"core/a.hpp": start + "#include <onnx/onnx_pb.h>\n"}),
        "does not exist": {"dsl/b.hpp": start + "#include <aton/core/nothing.hpp>\n"},
        "umbrella from its own layer": ("against the layers", {"dsl/b.hpp": start + "#include <aton/aton.hpp>\n"}),
        "write <aton/": {"dsl/b.hpp": start + '#include "b.hpp"\n'},
        "no such layer": {"kernel/a.hpp": start},
        "belongs to no layer": {"other.hpp": start},
        "SPDX": {"core/a.hpp": start[1:]},
        "what the file is for": {"core/a.hpp": start.splitlines()[0] + "\n#pragma once\n"},
        "no #pragma once": {"core/a.hpp": start.replace("#pragma once\n", "")},
        "does not compile alone": {"core/a.hpp": start + "inline std::vector<int> v;\n"},
        "warns": ("does not compile alone", {"core/a.hpp": start + "inline int f(long x) { return x; }\n"}),
    }

    def check(files, compiled):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / "include" / "aton" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_text(root) + (check_compiled(root, compiler) if compiled else [])

    failures = [f"the clean tree is refused: {sentence}" for sentence in check(good, True)]
    for kind, plant in planted.items():
        expected, files = plant if isinstance(plant, tuple) else (kind, plant)
        found = check(good | files, expected == "does not compile alone")
        if not any(expected in sentence for sentence in found):
            failures.append(f"planted '{kind}', found only {found}")
    return failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compile", action="store_true", help="compile every header alone as well")
    parser.add_argument("--self-test", action="store_true", help="plant violations and demand that they are found")
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    if options.self_test:
        violations = self_test(options.compiler)
    else:
        violations = check_text(options.root)
        if options.compile:
            violations += check_compiled(options.root, options.compiler)
    for violation in violations:
        print(violation)
    print(f"{len(violations)} violations in {len(headers(options.root))} headers" if not options.self_test
          else f"self-test: {len(violations)} failures")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
