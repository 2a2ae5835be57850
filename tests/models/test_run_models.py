#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the models' runner, without torch: a correct model passes, and every kind of wrong model planted here is
reported."""

import collections
import math
import pathlib
import sys
import tempfile
import unittest

import numpy as np
from onnx import TensorProto as T
from onnx import helper, save

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import checking
import model_report
import run_models

ONNX = {"float32": T.FLOAT, "float64": T.DOUBLE, "int64": T.INT64, "bool": T.BOOL}
FIRST, SECOND = np.array([[1, -2, 0.5]], np.float32), np.array([[4, 0, -1], [2, 8, 3]], np.float32)


def info(name, dtype="float32", shape=("n", 3)):
    return helper.make_tensor_value_info(name, ONNX[dtype], shape)


def graph(nodes, inputs, outputs, opset=18):
    return helper.make_model(
        helper.make_graph(nodes, "planted", inputs, outputs),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=8,
    )


def doubled(operator="Add", **declared):
    return graph([helper.make_node(operator, ["x", "x"], ["y"])], [info("x")], [info("y", **declared)])


class Planted(unittest.TestCase):
    """A folder as written by exported.py, of a program that computes 2 x, and a shell script in place of the aton
    command."""

    def setUp(self):
        room = tempfile.TemporaryDirectory()
        self.addCleanup(room.cleanup)
        self.folder = pathlib.Path(room.name)
        (self.folder / "raw.pt2").write_bytes(b"a program")
        self.record({})

    def record(self, more, expected=lambda x: 2 * x):
        cases = {f"input_{i}_0": x for i, x in enumerate((FIRST, SECOND))}
        cases |= {f"output_{i}_0": expected(x) for i, x in enumerate((FIRST, SECOND))}
        np.savez(self.folder / "cases.npz", **cases, **more)

    def command(self, script):
        path = self.folder / "aton"
        path.write_text(f"#!/bin/sh\n# $2 the program, $4 the target, $6 the opset\n{script}\n")
        path.chmod(0o755)
        return str(path)

    def check(self, model, opsets=(18,)):
        save(model, str(self.folder / "planted"))
        return checking.check(self.command('cp "${2%/*}/planted" "$4"'), self.folder, "raw", opsets, 1e-4)

    def assert_fails(self, model, *words):
        found = self.check(model)[18]
        self.assertEqual(found["status"], "fail", found)
        for word in words:
            self.assertIn(word, found["reason"])

    def assert_passes(self, model):
        found = self.check(model)[18]
        self.assertEqual(found["status"], "pass", found)

    def test_a_right_model_passes_and_its_file_goes(self):
        found = self.check(doubled())[18]
        self.assertEqual((found["status"], found["nodes"], found["error"]), ("pass", 1, 0.0))
        self.assertEqual(list(self.folder.glob("*.onnx")), [])

    def test_other_values_fail(self):
        self.assert_fails(doubled("Mul"), "error", "allowed 0.0001")

    def test_a_model_that_is_right_for_the_first_input_alone_fails(self):
        self.record({}, lambda x: x * (2 if len(x) == 1 else 3))
        self.assert_fails(doubled(), "error")

    def test_a_fixed_batch_fails_on_the_second_input(self):
        model = graph(
            [helper.make_node("Add", ["x", "x"], ["y"])], [info("x", shape=(1, 3))], [info("y", shape=(1, 3))]
        )
        self.assert_fails(model, "does not run it")

    def test_another_dtype_fails(self):
        nodes = [helper.make_node("Add", ["x", "x"], ["z"]), helper.make_node("Cast", ["z"], ["y"], to=T.DOUBLE)]
        self.assert_fails(graph(nodes, [info("x")], [info("y", "float64")]), "dtype float64, expected float32")

    def test_another_shape_fails(self):
        nodes = [helper.make_node("Add", ["x", "x"], ["z"]), helper.make_node("Transpose", ["z"], ["y"])]
        self.assert_fails(graph(nodes, [info("x")], [info("y", shape=(3, "n"))]), "shape [3, 1], expected [1, 3]")

    def test_a_model_that_the_checker_refuses_fails(self):
        self.assert_fails(doubled("NoSuchOperator"), "onnx.checker")

    def test_one_output_too_many_fails(self):
        nodes = [helper.make_node("Add", ["x", "x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
        self.assert_fails(graph(nodes, [info("x")], [info("y"), info("z")]), "2 outputs, expected 1")

    def test_one_input_too_many_fails(self):
        self.assert_fails(
            graph(doubled().graph.node, [info("x"), info("w")], [info("y")]), "2 inputs (x, w), expected 1"
        )

    def test_nan_at_another_place_fails(self):
        self.record({}, lambda x: np.where(x == x.max(), np.nan, 2 * x).astype(np.float32))
        self.assert_fails(doubled(), "NaN or infinities")

    def states(self, order):
        """Two results of state, -x and x * x, and the output, under the names in `order`."""
        kinds = {"y": "Add", "square": "Mul", "minus": "Sub"}
        nodes = [helper.make_node(kinds[name], ["x", "x"], [name]) for name in order]
        return graph(nodes, [info("x")], [info(name) for name in order])

    def test_new_values_of_buffers_may_come_after_or_before_the_results(self):
        both = {f"state_{i}_{n}": v for i, x in enumerate((FIRST, SECOND)) for n, v in (("a", 0 * x), ("b", x * x))}
        self.record(both)
        for order in (("y", "square", "minus"), ("y", "minus", "square"), ("minus", "square", "y")):
            self.assert_passes(self.states(order))
        self.assert_fails(self.states(("square", "y", "minus")))
        self.assert_fails(doubled(), "1 outputs, expected 1 and 2 for mutated buffers and arguments")

    def refused(self, script, opsets):
        return checking.check(self.command(script), self.folder, "raw", opsets, 1e-4)

    def test_a_refusal_that_names_a_later_opset_is_accepted(self):
        save(doubled(), str(self.folder / "planted"))
        refuse = '[ "$6" -ge 18 ] || { echo "aton: aten::gelu is mapped since opset 20" >&2; exit 1; }'
        script = refuse + '; cp "${2%/*}/planted" "$4"'
        found = self.refused(script, (17, 18))
        self.assertEqual(found[17], {"status": "needs", "opset": 20})
        self.assertEqual(found[18]["status"], "pass")

    def test_other_refusals_are_failures(self):
        for script, word in (
            ("echo 'aton: aten::foo has no mapping' >&2; exit 1", "no mapping"),
            ("echo 'aton: aten::gelu is mapped since opset 13' >&2; exit 1", "since opset 13"),
            ("echo 'aton: aten::gelu is mapped since opset 20' >&2; exit 2", "exited with 2"),
            ("kill -SEGV $$", "exited with -11"),
            ("exit 1", "no message"),
            ("exit 0", "wrote nothing"),
            ('echo half > "$4"; echo "since opset 20" >&2; exit 1', "left a file"),
        ):
            found = self.refused(script, (17,))[17]
            self.assertEqual(found["status"], "fail", script)
            self.assertIn(word, found["reason"])

    def test_a_model_that_no_opset_runs_is_a_failure(self):
        found = self.refused('echo "aton: aten::foo is mapped from opset 28" >&2; exit 1', (13, 26))
        self.assertEqual(found[13]["status"], "needs")
        self.assertEqual(found[26]["status"], "fail")
        self.assertIn("needs 28", found[26]["reason"])


class Selection(unittest.TestCase):
    def test_quick_models_and_the_rest_are_all_models(self):
        entry = collections.namedtuple("entry", "name tested quick")
        models = {name: entry(name, tested, quick) for name, tested, quick in (("a", True, True), ("b", True, False), ("c", False, False))}
        names = lambda *words: [e.name for e in run_models.select(models, run_models.parse(words))]
        self.assertEqual(names(), ["a", "b"])
        self.assertEqual(names("--quick"), ["a"])
        self.assertEqual(names("--rest"), ["b"])


class Figures(unittest.TestCase):
    def test_errors_are_relative_to_the_largest_value(self):
        expected = np.array([100, 0.001], np.float32)
        self.assertTrue(
            math.isclose(checking.relative_error(expected, expected + np.float32(0.01)), 1e-4, rel_tol=0.05)
        )
        self.assertEqual(checking.relative_error(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32)), 0)
        self.assertEqual(checking.relative_error(np.zeros(2, np.float32), np.full(2, 0.5, np.float32)), 0.5)
        with self.assertRaises(checking.Failure):
            checking.relative_error(np.array([1, 2]), np.array([1, 3]))
        with self.assertRaises(checking.Failure):
            checking.relative_error(np.array([1.0, np.inf]), np.array([1.0, -np.inf]))

    def test_cells_are_bounds_that_stay_the_same(self):
        for error, text in ((0.0, "exact"), (3e-7, "1e-6"), (1e-9, "1e-7"), (2e-5, "1e-4")):
            self.assertEqual(model_report.cell({"status": "pass", "error": error}), text)
        self.assertEqual(model_report.cell({"status": "needs", "opset": 18}), "needs 18")

    def test_problems_name_model_graph_and_opsets(self):
        fail = [{"status": "fail", "reason": f"no mapping at opset {opset}: foo"} for opset in (13, 18)]
        found = model_report.problems({("net", "raw"): {13: fail[0], 18: fail[1], 26: {"status": "pass"}}})
        self.assertEqual(found, ["net (raw), opset 13, 18: no mapping: foo"])


if __name__ == "__main__":
    unittest.main()
