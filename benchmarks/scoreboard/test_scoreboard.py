#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the scoreboard: planted exporters that are wrong, refuse, write nonsense or die are reported as such.

usage: test_scoreboard.py ATON
"""

import argparse
import collections
import contextlib
import html.parser
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/oracle")]

try:
    import onnxruntime  # noqa: F401
    import torch
except ImportError as e:
    print(f"scoreboard: skipped: {e}")
    sys.exit(77)

import calls
import exporters
import page
import run
import runtimes
from oracle_data import CaseStore, overload_of

ATON = sys.argv.pop(1) if len(sys.argv) > 1 else "aton"
STORE = CaseStore(ROOT / "tests/data/oracle")
COMPARABLE = [case for case in STORE.cases.values() if calls.is_comparable(case)]


class Planted(exporters.Aton):
    """Aton, unless the call is of one of these overloads."""

    name = "dynamo"

    def version(self):
        return "0 </script>"

    def export(self, call, opset, folder):
        target = str(next(node for node in call.program().graph.nodes if node.op == "call_function").target)
        if target == "aten.sub.Tensor":
            call = exporters.Call(Negative(), call.inputs)
        elif target == "aten.mul.Tensor":
            raise ValueError("no </script> <b>today</b>\nsecond line")
        elif target == "aten.relu.default":
            (folder / "nonsense.onnx").write_bytes(b"\x08\x07nonsense")
            return folder / "nonsense.onnx"
        elif target == "aten.exp.default":
            os._exit(3)
        return super().export(call, opset, folder)


class Negative(torch.nn.Module):
    def forward(self, *inputs):
        return -inputs[0]


def settings(folder, **changed):
    values = {"opsets": [18, 23], "work": pathlib.Path(folder), "fresh": False, "workers": 1, "seconds": 120, "per_overload": 1, "ops": None, "every": 1}
    return argparse.Namespace(**(values | changed))


class Rows(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = collections.Counter()

    def handle_starttag(self, tag, attrs):
        self.tags[tag] += 1


class ScoreboardTest(unittest.TestCase):
    def test_calls_are_the_recorded_ones(self):
        for case in COMPARABLE[::60]:
            with self.subTest(case["case"]):
                tensors = STORE.tensors(case)
                inputs = [calls.to_torch(each) for each in calls.arrays_of(case, tensors).values()]
                with contextlib.redirect_stderr(io.StringIO()):
                    got = calls.make_module(case)(*inputs)
                got = got if isinstance(got, (list, tuple)) else [got]
                for recorded, result in zip(case["outputs"], got):
                    expected = calls.to_torch(tensors[recorded["tensor"]])
                    torch.testing.assert_close(result, expected, equal_nan=True, rtol=1e-3, atol=1e-4)

    def test_inputs_of_scripts_are_those_of_the_call(self):
        scope = {"torch": torch, "math": __import__("math")}
        for case in COMPARABLE[::7]:
            for array in calls.arrays_of(case, STORE.tensors(case)).values():
                tensor = calls.to_torch(array)
                again = eval(page.literal(tensor), scope)  # noqa: S307: what a script contains
                torch.testing.assert_close(again, tensor, rtol=0, atol=0, equal_nan=True)

    def test_planted_faults_are_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            options = settings(folder, ops="add.Tensor,sub.Tensor,mul.Tensor,relu,exp")
            cases = run.chosen_cases(STORE, options)
            self.assertEqual(len(cases), 5)
            tools, all_runtimes = [exporters.Aton(ATON), Planted(ATON)], [runtimes.OnnxRuntime()]
            records, versions = run.run_all(STORE, cases, options, tools, all_runtimes)
            self.assertEqual(len(records), 5 * 2 * 2)
            found = {(r["overload"], r["opset"]): r for r in records if r["exporter"] == "dynamo"}
            expected = {"add.Tensor": "right", "sub.Tensor": "wrong", "mul.Tensor": "refused", "relu": "invalid", "exp": "crash"}
            for overload, status in expected.items():
                for opset in options.opsets:
                    self.assertEqual(found["aten::" + overload, opset]["status"], status, found["aten::" + overload, opset])
            self.assertTrue(all(r["status"] == "right" for r in records if r["exporter"] == "aton"))
            self.assertEqual(found["aten::mul.Tensor", 18]["reason"], "ValueError: no </script> <b>today</b>")

            text = page.to_html(records, versions)
            rows = Rows()
            rows.feed(text)
            self.assertEqual(rows.tags["script"], 1)
            self.assertEqual(rows.tags["b"], 0)
            data = json.loads(text.split("const data = ", 1)[1].split(";\n", 1)[0])
            self.assertEqual([r["status"] for r in data], [r["status"] for r in records])
            self.assertIn("| torch.onnx, dynamo | ONNX Runtime | 18 | 20.0 % |", page.to_markdown(records, versions, 5))

            page.write_reproductions(options.work / "repro", records, STORE, tools, all_runtimes, versions)
            scripts = sorted((options.work / "repro").glob("*.py"))
            self.assertEqual({path.name for path in scripts}, {r["file"][6:] for r in data if "file" in r})
            self.assertEqual(len(scripts), 8)
            for path in scripts:
                compile(path.read_text(encoding="utf-8"), path.name, "exec")

    def test_a_run_continues(self):
        with tempfile.TemporaryDirectory() as folder:
            options = settings(folder, ops="add.Tensor", opsets=[18])
            cases = run.chosen_cases(STORE, options)
            tools, all_runtimes = [exporters.Aton(ATON)], [runtimes.OnnxRuntime()]
            first, _ = run.run_all(STORE, cases, options, tools, all_runtimes)
            tools[0].export = None  # is not called again
            self.assertEqual(run.run_all(STORE, cases, options, tools, all_runtimes)[0], first)

    def test_everyday_calls_come_first(self):
        for case in run.chosen_cases(STORE, settings("", ops="add.Tensor,mul.Tensor,softmax.int")):
            self.assertFalse(run.has_small_tensors(case), overload_of(case))


if __name__ == "__main__":
    unittest.main()
