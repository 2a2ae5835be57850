# SPDX-License-Identifier: MIT
"""Violations of the rules of headers, planted in a small tree, and what tools/check_headers must say of each."""
import pathlib
import tempfile


def self_test(table_path, check_tree):
    """Every kind of violation, planted in a small tree of its own, is found; the tree without it is clean.

    `table_path` is the document with the layers; `check_tree(root, compiled)` returns the violations of a tree.
    """
    start = "// SPDX-License-Identifier: MIT\n// For the self-test.\n// Public header.\n#pragma once\n"
    unmarked = start.replace("// Public header.\n", "")
    table = ("## Layers\n\n```text\ncore <- onnx, aten <- ir <- dsl <- mappings    a comment\ncore <- system\nsystem <- model_io\n"
             "dsl <- runtime\n```\n")
    good = {
        table_path: table,
        "include/aton/version.hpp": start + "#define ATON_NAMESPACE aton\n",
        "include/aton/core/a.hpp": start + "#include <aton/version.hpp>\nnamespace ATON_NAMESPACE {\nstruct a {};\n}\n",
        "include/aton/dsl/b.hpp": start + "#include <vector>\n#include <aton/core/a.hpp>\nstruct b : aton::a {};\n",
        "include/aton/runtime/c.hpp": start + "#include <iostream>\n#include <aton/dsl/b.hpp>\n",
        "include/aton/onnx/detail/f.hpp": start.replace("Public", "Internal"),
        "include/aton/onnx/generated/rows.hpp": unmarked + "// a row\n" * 500,
        "include/aton/aton.hpp": start + "#include <aton/dsl/b.hpp>\n",
        "include/aton/mappings/e.hpp": start + "#include <aton/aton.hpp>\n",
        "src/runtime/c.cpp": start.replace("#pragma once\n", "") + '#include <aton/runtime/c.hpp>\n#include "runtime/d.hpp"\n',
        "src/runtime/d.hpp": unmarked,
        "src/system/f.hpp": unmarked,
        "src/model_io/e.cpp": start.replace("#pragma once\n", "") + '#include <aton/core/a.hpp>\n#include "system/f.hpp"\n',
        "tools/aton/main.cpp": start.replace("#pragma once\n", "") + '#include <aton/runtime/c.hpp>\n#include <aton/core/a.hpp>\n#include "system/f.hpp"\n',
        "tests/long.txt": "a line\n" * 500,
    }
    core, dsl, runtime, io = "include/aton/core/a.hpp", "include/aton/dsl/b.hpp", "include/aton/runtime/c.hpp", "src/model_io/e.cpp"
    mapping = "include/aton/mappings/f.hpp"

    def table_of(body):
        return f'inline constexpr auto t =\n    table(symbolic<"aten::abs(self)">(detail::e<"Abs", -1>),\n          symbolic<"aten::relu(self)">({body}), detail::g);\n'

    planted = {  # what is planted -> (part of the sentence that must come, files)
        "breaks the layers": {core: start + "#include <aton/dsl/b.hpp>\n"},
        "to the neighbor": ("breaks the layers", {"include/aton/onnx/d.hpp": start + "#include <aton/aten/e.hpp>\n",
                                                  "include/aton/aten/e.hpp": start}),
        "umbrella": ("breaks the layers", {"include/aton/aton.hpp": start + "#include <aton/runtime/c.hpp>\n"}),
        "in src": ("breaks the layers", {io: start + "#include <aton/dsl/b.hpp>\n"}),
        "in cuda": ("breaks the layers", {"cuda/a.cu": start + "#include <aton/mappings/e.hpp>\n"}),
        "umbrella in src": ("breaks the layers", {io: start + "#include <aton/aton.hpp>\n"}),
        "is a private header of layer runtime": {io: start + '#include "runtime/d.hpp"\n'},
        "to the left of the shared layer": ("is a private header of layer system", {
            "src/core/d.cpp": start + '#include "system/a.hpp"\n', "src/system/a.hpp": unmarked}),
        "private header in a tool": ("is a private header", {"tools/aton/main.cpp": start + '#include "runtime/d.hpp"\n'}),
        "write the path from src/ on": {io: start + '#include "../runtime/d.hpp"\n'},
        "neither beside the file nor in src/": {io: start + '#include "nothing.hpp"\n'},
        "no such layer in src": ("there is no layer", {"src/kernel/a.cpp": start}),
        "include cycle": {core: start + "#include <aton/core/d.hpp>\n", "include/aton/core/d.hpp": start + "#include <aton/core/a.hpp>\n"},
        "fewer than 400": {core: start + "// a line\n" * 396},
        "long script": ("tools/long: 400 lines", {"tools/long": "#!/usr/bin/env python3\n" + "# a line\n" * 399}),
        "long source": ("src/runtime/long.cpp: 400 lines", {"src/runtime/long.cpp": start + "// a line\n" * 396}),
        "long test": ("tests/models/nets.py: 400 lines", {"tests/models/nets.py": "#\n" * 400}),
        "long tool": ("tools/long.py: 400 lines", {"tools/long.py": "#\n" * 400}),
        "long kernel": ("cuda/long.cu: 401 lines", {"cuda/long.cu": start + "// a line\n" * 397}),
        "whose accesses are checked": {"include/aton/mappings/f.hpp": start + "#include <span>\ninline std::span<int> f() { return {}; }\n"},
        "a body in a table": {mapping: start + table_of("[](graph<13> g, value x) { return x; }")},
        "serves one row": {mapping: start + "inline constexpr auto f =\n    [](graph<13> g, value x) { return x; };\n" + table_of("detail::f")},
        "long line": ("126 columns", {mapping: start + "// " + "a" * 123 + "\n"}),
        "does not end at opset 17": {mapping: start + "inline constexpr auto f_until_17 = [](graph<13, 18> g) { return g; };\n"},
        "of a row": ("does not end at opset 17", {
            mapping: start + 'inline constexpr auto f_until_17 =\n    symbolic<"a(self) "\n             "-> b">([](graph<13, 18> g) { return g; });\n'}),
        "without a range": ("does not end at opset 17", {mapping: start + "inline constexpr auto f_until_17 = f<13>;\n"}),
        "too expensive": {dsl: start + "#  include <regex>\n"},
        "behind the umbrella": ("b.hpp: <algorithm> is too expensive", {"include/aton/dsl/b.hpp": start + "#include <algorithm>\n"}),
        "in the IR": ("too expensive", {"include/aton/ir/f.hpp": start + "#include <iostream>\n"}),
        "no installed header exposes": {runtime: start + "#include <google/protobuf/message.h>\n"},
        "libonnx exposed": ("no installed header exposes", {core: start + "#include <onnx/onnx_pb.h>\n"}),
        "does not exist": {dsl: start + "#include <aton/core/nothing.hpp>\n"},
        "umbrella from its own layer": ("breaks the layers", {dsl: start + "#include <aton/aton.hpp>\n"}),
        "write <aton/": {dsl: start + '#include "b.hpp"\n'},
        "there is no layer": {"include/aton/kernel/a.hpp": start},
        "a header outside the layers": {"include/aton/other.hpp": start},
        "SPDX": {core: start[1:]},
        "what the file is for": {core: start.splitlines()[0] + "\n#pragma once\n"},
        "does not end with one of": {core: unmarked},
        "marked below the comment": ("does not end with one of", {core: unmarked + "// Public header.\n"}),
        "marked without a purpose": ("does not end with one of", {core: start.replace("// For the self-test.\n", "")}),
        "in a folder detail": {"include/aton/onnx/detail/f.hpp": start},
        "no #pragma once": {core: start.replace("#pragma once\n", "")},
        "without a version": {core: start + "namespace aton {\n}\n"},
        "without <aton/version.hpp>": {core: start + "namespace ATON_NAMESPACE {\n}\n"},
        "does not compile alone": {core: start + "inline std::vector<int> v;\n"},
        "warns": ("does not compile alone", {core: start + "inline int f(long x) { return x; }\n"}),
        "compares": ("does not compile alone", {core: start + "inline bool f(double x) { return x == 1; }\n"}),
        "an order that matters": ("do not compile together", {
            "include/aton/core/f.hpp": start + "inline int f(long) { return 1; }\ninline int one() { return f(1); }\n",
            "include/aton/core/g.hpp": start + "inline int f(unsigned) { return 2; }\n"}),
        "behind aton.hpp": ("e.hpp: does not compile alone", {"include/aton/mappings/e.hpp": start + "#include <aton/aton.hpp>\ninline std::set<int> s;\n"}),
        "behind the second prefix": ("g.hpp: does not compile alone", {
            "include/aton/mappings/detail/complex.hpp": start.replace("Public", "Internal") + "#include <aton/aton.hpp>\n#include <map>\n",
            "include/aton/mappings/g.hpp": start + "#include <aton/mappings/detail/complex.hpp>\ninline std::map<int, int> m;\ninline std::set<int> s;\n"}),
        "with fewer headers than aton.hpp": ("f.hpp: does not compile alone", {
            "include/aton/mappings/f.hpp": start + "#include <aton/core/a.hpp>\ninline std::vector<int> v;\n"}),
    }

    def check(files, compiled):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return check_tree(root, compiled)

    failures = [f"the clean tree fails: {sentence}" for sentence in check(good, True)]
    good_row = 'inline constexpr auto f_until_17 = symbolic<"aten::neg(self)">(\n    [](graph<13, 17> g, value x) { return x; });\n'
    shared = "inline constexpr auto f = [](graph<13> g, value x) { return x; };\n"
    for text in (good_row + table_of("detail::h"), shared + table_of('detail::f), symbolic<"aten::neg(self)">(detail::f')):
        failures += [f"the clean table fails: {sentence}" for sentence in check(good | {mapping: start + text}, False)]
    for kind, plant in planted.items():
        expected, files = plant if isinstance(plant, tuple) else (kind, plant)
        found = check(good | files, "compile" in expected)
        if not any(expected in sentence for sentence in found):
            failures.append(f"planted '{kind}', found only {found}")
    return failures
