# SPDX-License-Identifier: MIT
"""Plants stale mentions and British spelling in a small tree, and checks that each is found."""

import tempfile
import unittest
from pathlib import Path

import check_english
import check_mentions


class Tree(unittest.TestCase):
    def setUp(self):
        self.holder = tempfile.TemporaryDirectory()
        self.addCleanup(self.holder.cleanup)
        self.root = Path(self.holder.name).resolve()

    def write(self, files):
        for name, text in files.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8")

    def test_files_in_comments(self):
        self.write({
            "include/aton/core/budget.hpp": "", "src/ir/print.cpp": "",
            "include/aton/a.hpp": "// limits: core/budget.hpp, aton/core/budget.hpp, budget.hpp\nint a; ///< of dsl/budget.hpp\nauto b = \"gone.hpp\"; // gone.hpp\n",
            "src/b.cpp": "// torch/csrc/schema.cpp, src/ir/print.cpp, made.hpp, model.py:12\n// tests/none_test.cpp, src/ir/print.cu\n",
            "tests/CMakeLists.txt": "# src/ir/gone.cpp\nadd_custom_command(OUTPUT made.hpp)\n"})
        self.assertEqual(check_mentions.problems_of(self.root), [
            "include/aton/a.hpp:2: no such file: dsl/budget.hpp", "src/b.cpp:2: no such file: tests/none_test.cpp",
            "src/b.cpp:2: no such file: src/ir/print.cu", "tests/CMakeLists.txt:1: no such file: src/ir/gone.cpp"])

    def test_tests_and_lists(self):
        self.write({
            "CMakeLists.txt": "aton_test(table_test quick)\npackaging_test(conan)\n", "src/CMakeLists.txt": "file(GLOB rules a/*.rules)\nadd_library(a a.cpp)\n",
            "tests/CMakeLists.txt": "file(GLOB families *_test.cpp)\n",
            "docs/a.md": "The test `table_test`, the tests `packaging_conan` and `table_tests`; a test\n`old_test` too. Its source is listed in `src/CMakeLists.txt`,\n"
                         "its test is listed in `tests/CMakeLists.txt`.\n"})
        self.assertEqual(check_mentions.problems_of(self.root), [
            "a.md: no such test: table_tests", "a.md: no such test: old_test", "a.md: nothing is listed in tests/CMakeLists.txt"])

    def test_front_ends(self):
        self.write({"docs/glossary.md": "| front end | `frontend/pt2` |\n", "src/frontend/pt2/a.hpp": "", "src/frontend/files/a.hpp": "", "src/frontend/calls/a.hpp": ""})
        self.assertEqual(check_mentions.problems_of(self.root), ["glossary.md: no front end `frontend/calls`"])

    def test_folders_in_samples(self):
        trace = '"stack_trace": "  File \\"{}\\", line 3, in forward"'
        self.write({"tests/data/a/good.pt2": trace.format("model.py"), "tests/data/a/torch.pt2": trace.format("torch/nn/linear.py"),
                    "examples/bad.pt2": trace.format("/home/me/model.py")})
        self.assertEqual(check_mentions.problems_of(self.root), [
            "examples/bad.pt2: a stack trace names /home/me/model.py; see tests/data/stack_traces.py"])

    def test_spelling_everywhere(self):
        self.write({
            "CMakePresets.json": '{"displayName": "Optimised; of several"}\n', "src/a.cpp": "// neighbouring seeds\nint a; // optimistic, our, of nothing\n",
            "tests/a_test.py": '"""A net of nearest\nneighbours."""\n', "src/generated/a.hpp": "// behaviour\n", "tests/docs/check_english.py": "behaviour\n"})
        self.assertEqual(check_english.problems_of(self.root, {}), [
            "src/a.cpp:1: 'neighbouring'; write: American spelling", "src/a.cpp:2: 'of nothing'; write: of an empty tensor, of no elements",
            "tests/a_test.py:2: 'neighbours'; write: American spelling", "CMakePresets.json:1: 'Optimised'; write: American spelling: -ize"])


if __name__ == "__main__":
    unittest.main()
