#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the zoo's runner, without torch and without a package: what --check objects to, and what the report says."""

import contextlib
import io
import pathlib
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run_zoo
import zoo_report

RIGHT = {"status": "pass", "error": 2e-7, "nodes": 5}
REFUSED = {"status": "fail", "reason": "aton export exited with 1: aton: aten::foo (no mapping)"}
WRONG = {"status": "fail", "reason": "error 0.5, allowed 0.0001", "nodes": 5}
INVALID = {"status": "fail", "reason": "onnx.checker: no such operator"}
CRASHED = {"status": "fail", "reason": "aton export exited with -11: no message"}


def row(raw=RIGHT, decomposed=RIGHT, dynamo=RIGHT):
    return zoo_report.Row("a.net", "a", True, 1234, raw, decomposed, dynamo)


def objections(found, no_dynamo=False):
    return list(run_zoo.failures_of_check(found, types.SimpleNamespace(no_dynamo=no_dynamo)))


class Check(unittest.TestCase):
    def test_all_right(self):
        self.assertEqual(objections([row()] * 10), [])

    def test_a_few_refusals_are_accepted_and_more_are_not(self):
        dynamo = {"status": "fail", "reason": "refused: foo"}
        self.assertEqual(objections([row()] * 97 + [row(raw=REFUSED, dynamo=dynamo)] * 3), [])
        self.assertIn("96 of 100", objections([row()] * 96 + [row(decomposed=REFUSED, dynamo=dynamo)] * 4)[0])

    def test_anything_written_that_is_not_right_is_an_objection(self):
        for result in (WRONG, INVALID, CRASHED):
            self.assertIn("wrong rather than refused: a.net", objections([row()] * 99 + [row(raw=result, dynamo={})])[0])

    def test_pytorch_may_not_be_right_more_often(self):
        found = [row()] * 99 + [row(raw=REFUSED)]
        self.assertEqual(objections(found), ["PyTorch's exporter has more of them right"])
        self.assertEqual(objections(found, no_dynamo=True), [])


class Run(unittest.TestCase):
    def test_a_list_without_models_passes_through_every_step(self):
        nets = types.SimpleNamespace(load=dict)
        with tempfile.TemporaryDirectory() as work, unittest.mock.patch.dict(sys.modules, nets=nets):
            said = io.StringIO()
            with contextlib.redirect_stdout(said):
                self.assertEqual(run_zoo.main(["--aton", "aton", "--work", work]), 0)
        self.assertIn("0 models", said.getvalue())


class Report(unittest.TestCase):
    def test_cells(self):
        self.assertEqual(zoo_report.cell(RIGHT), "1e-6")
        self.assertEqual(zoo_report.cell(REFUSED), "refused: aten::foo (no mapping)")
        self.assertEqual(zoo_report.cell(WRONG), "**wrong**: error 0.5, allowed 0.0001")
        self.assertEqual(zoo_report.dynamo_cell({"status": "fail", "reason": "refused: x"}), "refused")
        self.assertEqual(zoo_report.dynamo_cell(WRONG), "**wrong**")

    def test_a_model_is_right_if_both_programs_are(self):
        self.assertTrue(row().right)
        self.assertFalse(row(raw=REFUSED).right)
        self.assertFalse(row(decomposed=WRONG).right)
        said = zoo_report.summary([row(), row(raw=REFUSED), row(dynamo={})])
        self.assertIn("2 right with Aton; with PyTorch's exporter 2 of 2 are right", said)


if __name__ == "__main__":
    unittest.main()
