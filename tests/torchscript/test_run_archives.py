#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of run_archives.py: what counts as right, what --check objects to, and the table. Needs neither torch nor the archives."""

import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "oracle")]

import run_archives  # noqa: E402


def row(name, aton="right", other="right", reason="", error=0.0):
    return {"name": name, "torch": "2.1.2", "way": "traced", "parameters": 1234, "dynamic": True,
            "aton": {"status": aton, "reason": reason, "error": error}, "other": {"status": other, "reason": "", "error": 0.0}}


class Check(unittest.TestCase):
    def test_enough_archives_are_right(self):
        rows = [row(f"n{i}") for i in range(200)]
        self.assertEqual(list(run_archives.failures_of_check(rows, True)), [])
        rows[:10] = [row(f"n{i}", "refused", "refused") for i in range(10)]
        self.assertEqual(list(run_archives.failures_of_check(rows, True)), [])

    def test_objections(self):
        rows = [row(f"n{i}") for i in range(200)]
        self.assertIn("fewer than 150", next(run_archives.failures_of_check(rows[:149], True)))
        rows[7] = row("odd", "wrong")
        self.assertEqual(list(run_archives.failures_of_check(rows, False)), ["1 models are wrong rather than refused: odd"])
        self.assertEqual(list(run_archives.failures_of_check(rows, True))[1:], ["PyTorch's exporter has more of them right"])
        rows[:11] = [row(f"n{i}", "refused", "refused") for i in range(11)]
        self.assertEqual(list(run_archives.failures_of_check(rows, True)), ["189 of 200 archives are right, fewer than 95%"])


class Options(unittest.TestCase):
    def test_inputs(self):
        import types
        array = types.SimpleNamespace(shape=(2, 3, 4), dtype="float32")
        about = {"dynamic": {"x": [0, 2], "pair.0": []}}
        wanted = ["--input", "x:float32[n,3,n]", "--input", "pair.0:float32[2,3,4]"]
        self.assertEqual(run_archives.input_options(about, {"0/in/x": array, "0/in/pair.0": array}), wanted)

    def test_first_line_of_an_exception(self):
        self.assertEqual(run_archives.first_line(ValueError("\n  one \ntwo")), "ValueError: one")


class Table(unittest.TestCase):
    def test_cells(self):
        import archive_report
        cells = [archive_report.cell(row("a", *each)["aton"]) for each in (("right", "", "", 0.0), ("refused",), ("wrong",))]
        self.assertEqual(cells, ["exact", "refused", "**wrong**"])
        self.assertEqual(archive_report.cell(row("a", error=3e-7)["aton"]), "1e-6")
        found = archive_report.text_table([row("a", "refused", reason="at line 3: no")])
        self.assertIn("at line 3: no", found)
        self.assertIn("1 with PyTorch's exporter, which gets 0 wrong", archive_report.summary([row("a", "refused")]))
        self.assertIn("1 archives: 0 right with Aton", archive_report.summary([row("a", "refused")]))


if __name__ == "__main__":
    unittest.main()
