# SPDX-License-Identifier: MIT
"""tools/where: what it finds of an operator, and what it says about a name that torch does not have."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def where(name, **environment):
    clean = {key: value for key, value in os.environ.items() if key != "ATON_SHARED_DIR"}
    return subprocess.run([sys.executable, ROOT / "tools" / "where", name], capture_output=True, text=True, check=False, env=clean | environment)


def sections(run):
    """{heading: lines}"""
    name, *blocks = run.stdout.split("\n\n")
    parts = [block.splitlines() for block in blocks]
    return name, {lines[0]: [line.strip() for line in lines[1:]] for lines in parts}


class Where(unittest.TestCase):
    def test_every_kind_of_place_has_a_heading(self):
        name, found = sections(where("gelu"))
        self.assertEqual(name, "aten::gelu")
        self.assertEqual(list(found), ["schema", "row", "kernel", "sampling rule", "exclusions", "tests", "recorded cases", "docs", "other sources"])
        self.assertIn("include/aton/mappings/activation.hpp", found["row"][0])
        self.assertIn("src/runtime/aten/activation.cpp", found["kernel"][0])
        self.assertIn("src/verify/rules/activation.rules", found["sampling rule"][0])
        self.assertTrue(any(line.startswith("docs/operators.md:") for line in found["docs"]), found["docs"])

    def test_places_are_lines_that_name_the_operator(self):
        _, found = sections(where("aten::logit"))
        for kind in ("row", "kernel", "sampling rule", "exclusions", "tests", "docs"):
            self.assertNotEqual(found[kind], ["none"], kind)
            for line in found[kind]:
                file, number = re.match(r"([^:]+):(\d+)", line).groups()
                self.assertIn("logit", (ROOT / file).read_text(encoding="utf-8").splitlines()[int(number) - 1])

    def test_an_overload_is_found_alone_and_an_operator_with_all_of_its_overloads(self):
        _, one = sections(where("aten::add.Tensor"))
        self.assertEqual([len(one["schema"]), len(one["row"])], [1, 1])
        _, all_of_them = sections(where("aten::add"))
        self.assertGreater(len(all_of_them["schema"]), 5)
        self.assertEqual(len(all_of_them["row"]), 2)
        self.assertEqual(where("add.Tensor").stdout, where("aten::add.Tensor").stdout)
        self.assertEqual(where("aten::elu.default").stdout, where("elu").stdout)

    def test_what_is_missing_is_none(self):
        _, found = sections(where("aten::linalg_eig"))
        self.assertEqual(found["row"], ["none"])

    def test_recorded_cases_of_the_shared_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            cases = pathlib.Path(folder, "oracle", "public", "cases.jsonl")
            cases.parent.mkdir(parents=True)
            lines = [{"op": "aten::add", "overload": "Tensor"}, {"op": "aten::gelu", "overload": ""}, {"op": "aten::gelu", "overload": ""}]
            cases.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            _, found = sections(where("gelu", ATON_SHARED_DIR=folder))
        self.assertIn(f"{cases}:2-3 (2 cases)", found["recorded cases"])

    def test_an_unknown_name_is_one_sentence_with_the_nearest(self):
        for name, nearest in (("ellu", "aten::elu"), ("aten::add.Tenso", "aten::add.Tensor")):
            run = where(name)
            self.assertEqual((run.returncode, run.stdout), (1, ""))
            self.assertTrue(run.stderr.startswith("where: there is no operator"), run.stderr)
            self.assertEqual(run.stderr.count("\n"), 1)
            self.assertIn(nearest, run.stderr)

    def test_help(self):
        run = where("--help")
        self.assertEqual(run.returncode, 0)
        self.assertIn("aten::add.Tensor", run.stdout)


if __name__ == "__main__":
    unittest.main()
