# SPDX-License-Identifier: MIT
"""tools/amalgamate on small trees: what it writes, what it refuses, and that --check finds what is stale."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "amalgamate"
START = "// SPDX-License-Identifier: MIT\n// What it is for.\n#pragma once\n\n"
TREE = {
    "core/a.hpp": START + "#include <vector>\n#include <string>\n\nstruct a {};\n",
    "core/list.inc": "// SPDX-License-Identifier: MIT\nENTRY(one)\nENTRY(two)\n",
    "dsl/b.hpp": START + "#include <boost/hana/tuple.hpp>\n#include <string>\n\n#include <aton/core/a.hpp>\n\n"
                 "#if defined(__clang__)\n#include <cstdlib>\n#endif\n"
                 "#define ENTRY(x) int x##_1;\n#include <aton/core/list.inc>\n#undef ENTRY\n"
                 "#define ENTRY(x) int x##_2;\n#include <aton/core/list.inc>\n#undef ENTRY\n",
    "aton.hpp": START + "#include <aton/core/a.hpp>\n#include <aton/dsl/b.hpp>\n\nstruct whole : a {};\n",
    "dsl/extra.hpp": START + "#include <cstdio>\n\n#include <aton/core/a.hpp>\n\nstruct extra : a {};\n",
    "mappings/detail/below.hpp": START + "#include <cmath>\n\nstruct below {};\n",
    "mappings/detail/both.hpp": START + "#include <aton/aton.hpp>\n#include <aton/mappings/detail/below.hpp>\n\nstruct both : below {};\n",
    "mappings/detail/own.hpp": START + "#include <aton/aton.hpp>\n\nstruct own : a {};\n",
    "mappings/k.hpp": START + "#include <aton/mappings/detail/both.hpp>\n\nstruct k : both {};\n",
    "mappings/m.hpp": START + "#include <aton/dsl/extra.hpp>\n#include <aton/mappings/detail/both.hpp>\n#include <aton/mappings/detail/own.hpp>\n\n"
                      "struct m : extra, own, both {};\n",
    "mappings.hpp": START + "#include <aton/mappings/k.hpp>\n#include <aton/mappings/m.hpp>\n\nstruct n : m {};\n",
    "plugin.hpp": START + "#include <aton/dsl/extra.hpp>\n\nstruct p : extra {};\n",
    "model_io/io.hpp": START + "#include <aton/dsl/b.hpp>\n\nstruct io : a {};\n",
}
failures = []


def expect(condition, sentence):
    if not condition:
        failures.append(sentence)


def amalgamate(root, *arguments):
    return subprocess.run([sys.executable, TOOL, "--root", root, *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)


def planted(folder, files):
    root = pathlib.Path(folder)
    (root / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(aton VERSION 7.8.9 LANGUAGES CXX)\n")
    for name, text in files.items():
        path = root / "include" / "aton" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def written():
    with tempfile.TemporaryDirectory() as folder:
        root = planted(folder, TREE)
        result = amalgamate(root)
        expect(result.returncode == 0, f"refused: {result.stdout}")
        single = root / "single_include" / "aton"
        texts = {path.relative_to(single).as_posix(): path.read_text() for path in single.rglob("*.hpp")}
        expect(sorted(texts) == ["aton.hpp", "dsl/extra.hpp", "mappings.hpp", "mappings/detail/both.hpp", "mappings/k.hpp", "mappings/m.hpp", "plugin.hpp"],
               f"written: {sorted(texts)}")
        base, mappings = texts["aton.hpp"], texts["mappings.hpp"]

        expect(base.startswith("// SPDX-License-Identifier: MIT\n// Aton 7.8.9: "), f"the top is {base[:80]}")
        expect("tools/amalgamate from include/; do not edit" in base, "the file does not say that it is generated")
        expect(base.count("SPDX") == 1 and "#pragma once" not in base, "lines of the parts are left")
        expect(base.count("struct a {}") == 1, "a header is written other than once")
        expect("#include <aton/" not in base, "a header of ours is left to include")
        expect(base.count("ENTRY(two)") == 2, "a list that is read twice is not there twice")
        expect(base.index("#include <string>") < base.index("#include <vector>") < base.index("#include <boost/hana/tuple.hpp>")
               < base.index("struct a"), "the includes are not sorted at the top")
        expect(base.count("#include <string>") == 1, "an include is there twice")
        expect("#if defined(__clang__)\n#include <cstdlib>\n#endif" in base, "an include under a condition has moved")
        expect(mappings.index("#include <aton/aton.hpp>") < mappings.index("#include <aton/mappings/k.hpp>") < mappings.index("struct n"),
               "the base does not come first")
        for part in ("a", "extra", "below", "both", "own", "k", "m", "n"):
            expect(sum(text.count(f"struct {part} ") for text in texts.values()) == 1, f"{part} is written other than once")
        expect("struct own " in texts["mappings/m.hpp"] and "<cmath>" in texts["mappings/detail/both.hpp"], "a header is not in the file that needs it")
        expect("mappings/m.hpp" not in texts["mappings/k.hpp"] and "extra" not in texts["mappings/k.hpp"], "a family includes another one")
        expect("#include <aton/aton.hpp>" in texts["plugin.hpp"], "a file that does not name the base does not include it")

        # All together, in either order, twice, from two units, and through the names in include/.
        forward = root / "forward"
        amalgamate(root, "--forward", forward)
        (root / "include").rename(root / "gone")
        io = forward / "aton" / "model_io" / "io.hpp"
        io.write_text(io.read_text().replace("/include/aton/", "/gone/aton/"))
        names = ["aton/plugin.hpp", "aton/mappings.hpp", "aton/aton.hpp", "aton/mappings/m.hpp", "aton/mappings/detail/below.hpp", "aton/model_io/io.hpp"]
        for order in (names, names[::-1]):
            source = "".join(f"#include <{name}>\n" for name in order * 2) + "int main() { return sizeof(n) + sizeof(p) + two_1 > 99; }\n"
            result = subprocess.run(["g++", "-std=c++20", "-Wall", "-Werror", f"-I{root / 'single_include'}", f"-I{forward}",
                                     "-fsyntax-only", "-x", "c++", "-"], input=source, stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True)
            expect(result.returncode == 0, f"{order} do not compile together:\n{result.stdout}")


def checked():
    with tempfile.TemporaryDirectory() as folder:
        root = planted(folder, TREE)
        result = amalgamate(root, "--check")
        expect(result.returncode == 1 and ": missing" in result.stdout, f"missing files: {result.stdout}")
        amalgamate(root)
        before = (root / "single_include/aton/aton.hpp").stat().st_mtime_ns
        result = amalgamate(root, "--check")
        expect(result.returncode == 0 and not result.stdout, f"current files: {result.stdout}")
        amalgamate(root)
        expect((root / "single_include/aton/aton.hpp").stat().st_mtime_ns == before, "a current file is written again")
        path = root / "include/aton/mappings/m.hpp"
        path.write_text(path.read_text().replace("struct m", "struct m_new"))
        result = amalgamate(root, "--check")
        expect(result.returncode == 1 and "mappings/m.hpp:" in result.stdout and "struct m_new" in result.stdout and
               "run tools/amalgamate" in result.stdout, f"a changed header: {result.stdout}")
        expect("struct m_new" not in (root / "single_include/aton/mappings/m.hpp").read_text(), "--check has written")
        path = root / "include/aton/plugin.hpp"
        path.unlink()
        result = amalgamate(root, "--check")
        expect(result.returncode == 1 and "plugin.hpp: has no counterpart in include/" in result.stdout, f"a file too many: {result.stdout}")
        result = amalgamate(root)
        expect(result.returncode == 0 and "plugin" not in result.stdout, f"a root that is not there: {result.stdout}")
        expect(not (root / "single_include/aton/plugin.hpp").exists(), "a file without a header has stayed")
        expect("struct extra" in (root / "single_include/aton/mappings/m.hpp").read_text(), "a header that one file needs is not in it")


def refused():
    cases = {
        "is included conditionally": {"aton.hpp": START + "#ifdef X\n#include <aton/core/a.hpp>\n#endif\n"},
        "write <aton/...>": {"aton.hpp": START + '#include "core/a.hpp"\n'},
        "has no #pragma once": {"core/list.inc": "#include <aton/core/a.hpp>\n"},
        "include cycle": {"core/a.hpp": START + "#include <aton/dsl/b.hpp>\n"},
        "core/nothing.hpp": {"core/a.hpp": START + "#include <aton/core/nothing.hpp>\n"},
    }
    for sentence, files in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            result = amalgamate(planted(folder, TREE | files))
            expect(result.returncode == 1 and sentence in result.stdout and "Traceback" not in result.stdout,
                   f"planted '{sentence}': {result.stdout}")


written()
checked()
refused()
print("\n".join(failures) or "amalgamate: all as it should be")
sys.exit(1 if failures else 0)
