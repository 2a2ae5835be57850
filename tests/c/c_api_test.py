# SPDX-License-Identifier: MIT
"""The C interface: a C99 program with every C compiler that is found, and its ABI, which tests/c/abi.txt records.

usage: c_api_test.py LIBRARY has_runtime|no_runtime [SANITIZERS]
       c_api_test.py LIBRARY --record

LIBRARY is libaton.so. --record writes abi.txt anew. After a change that breaks programs, increment ATON_ABI_VERSION first.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
LIBRARY = pathlib.Path(sys.argv[1]).resolve()
RUNTIME = sys.argv[2:3] == ["has_runtime"]
SANITIZERS = [f"-fsanitize={each}" for each in sys.argv[3:4] if each]
HEADER = REPOSITORY / "include" / "aton" / "c" / "aton.h"
COMPILERS = [each for each in ("gcc", "clang", "clang-19", "clang-16") if shutil.which(each)]
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wstrict-prototypes", "-Werror", "-O1", "-g"]


def output_of(*command):
    run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if run.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def build(compiler, source, program, link=True):
    options = [*SANITIZERS, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-pthread"] if link else []
    output_of(compiler, *STRICT, "-I", REPOSITORY / "include", HERE / source, "-o", program, *options)
    return program


def symbols():
    """What the library exports: names without those of the linker."""
    lines = output_of("nm", "--dynamic", "--defined-only", "--format=posix", LIBRARY).splitlines()
    return sorted(line.split()[0] for line in lines)


def abi(folder):
    """The lines of abi.txt."""
    soname = re.search(r"SONAME +(\S+)", output_of("objdump", "-p", LIBRARY))[1]
    layout = output_of(build(COMPILERS[0], "layout.c", pathlib.Path(folder, "layout"), link=False)).splitlines()
    return [f"soname {soname}", *(f"function {name}" for name in symbols()), *layout]


class CInterface(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def test_the_abi_is_the_recorded_one(self):
        recorded = (HERE / "abi.txt").read_text().splitlines()
        self.assertEqual(abi(self.folder), recorded, "the ABI has changed; if no program breaks, record it with --record")

    def test_the_header_declares_what_the_library_exports(self):
        declared = re.findall(r"^ATON_C_API [^;]*?\b(aton_\w+)\(", HEADER.read_text(), re.MULTILINE)
        self.assertEqual(sorted(declared), symbols())
        for name in declared:
            self.assertRegex((REPOSITORY / "docs" / "c_api.md").read_text(), rf"\b{name}\b")

    def test_every_member_of_the_header_is_recorded(self):
        text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
        recorded = (HERE / "abi.txt").read_text()
        for body, name in re.findall(r"typedef struct \w+ \{(.*?)\} (\w+);", text, re.DOTALL):
            for member in re.findall(r"(\w+);", body):
                self.assertIn(f"member {name}.{member} ", recorded)
        for constant in re.findall(r"\b(ATON_[A-Z_]+) = \d+", text):
            self.assertIn(f"number {constant} ", recorded)

    def test_a_c99_program_with_every_compiler(self):
        self.assertTrue(COMPILERS, "no C compiler")
        for compiler in COMPILERS if not SANITIZERS else ["gcc"]:
            with self.subTest(compiler), tempfile.TemporaryDirectory() as work:
                program = build(compiler, "c_api_test.c", self.folder / compiler)
                arguments = ["verify"] if RUNTIME else []
                self.assertEqual(output_of(program, REPOSITORY / "tests" / "data", work, *arguments), "all passed\n")
                self.assertEqual(list(pathlib.Path(work).iterdir()), [])

    def test_other_versions_of_the_languages_read_the_header(self):
        for language, standard in (("c", "c11"), ("c", "c17"), ("c++", "c++98"), ("c++", "c++20")):
            output_of("gcc", "-x", language, f"-std={standard}", "-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                      *(["-Wno-long-long"] if standard == "c++98" else []), HEADER)


if __name__ == "__main__":
    if sys.argv[2:] == ["--record"]:
        with tempfile.TemporaryDirectory() as folder:
            (HERE / "abi.txt").write_text("\n".join(abi(folder)) + "\n")
    else:
        unittest.main(argv=sys.argv[:1])
