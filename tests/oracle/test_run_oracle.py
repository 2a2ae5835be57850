#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the oracle's runner: correct models pass, and every kind of wrong model planted here is reported as such."""

import contextlib
import io
import json
import os
import sys
import tempfile
import time
import unittest
from pathlib import Path

import ml_dtypes
import numpy as np
from onnx import TensorProto as T
from onnx import helper

sys.path.insert(0, str(Path(__file__).parent))
import compare
import oracle_data
import run_oracle
import worker_pool

ROOM = tempfile.TemporaryDirectory()
ONNX_DTYPE = {
    "float32": T.FLOAT,
    "float64": T.DOUBLE,
    "float16": T.FLOAT16,
    "bfloat16": T.BFLOAT16,
    "int64": T.INT64,
    "bool": T.BOOL,
}
X = np.array([[1.0, -2.0, 3.5], [0.0, 4.0, -1.0]], dtype=np.float32)


def info(name, array, dtype=None, shape=None):
    return helper.make_tensor_value_info(
        name, ONNX_DTYPE[dtype or array.dtype.name], array.shape if shape is None else shape
    )


def model(nodes, inputs, outputs, opset=20):
    graph = helper.make_graph(nodes, "aton", inputs, outputs)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8 if opset < 20 else 10
    ).SerializeToString()


class Folder:
    """A folder of cases with one container of models, filled by hand."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(dir=ROOM.name))
        (self.path / "tensors").mkdir()
        self.cases, self.tensors, self.records = [], {}, []

    def add(
        self,
        name,
        inputs,
        outputs,
        model_bytes=b"",
        *,
        status="built",
        layout=None,
        flags=(),
        how="values",
        schema="t(Tensor self) -> Tensor",
        extra=(),
    ):
        def entry(key, array):
            if not isinstance(array, np.ndarray):
                return array
            self.tensors[f"{name}.{key}"] = array
            return {"tensor": f"{name}.{key}", "dtype": array.dtype.name, "shape": list(array.shape)}

        self.cases.append(
            {
                "case": name,
                "op": "aten::t",
                "overload": "",
                "schema": "aten::" + schema,
                "file": "tensors/t.safetensors",
                "kwargs": {},
                "args": [entry(f"a{i}", a) for i, a in enumerate(inputs)] + list(extra),
                "outputs": [entry(f"o{i}", a) for i, a in enumerate(outputs)],
                "compare": how,
                "flags": list(flags),
            }
        )
        layout = [f"o{i}" for i in range(len(outputs))] if layout is None else layout
        self.records.append(
            (
                {"case": name, "status": status, "reason": "planted", "outputs": layout, "bytes": len(model_bytes)},
                model_bytes,
            )
        )

    def write(self, opset):
        (self.path / "cases.jsonl").write_text("".join(json.dumps(c) + "\n" for c in self.cases))
        oracle_data.write_safetensors(self.path / "tensors/t.safetensors", self.tensors)
        with open(self.path / "models.bin", "wb") as f:
            f.write(json.dumps({"opset": opset}).encode() + b"\n")
            for record, blob in self.records:
                f.write(json.dumps(record).encode() + b"\n" + blob)

    def run(self, *options, opset=20):
        """{case: result}, exit code, printed text."""
        self.write(opset)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = run_oracle.main(
                [
                    "--cases",
                    str(self.path),
                    "--json",
                    str(self.path / "out.json"),
                    "--workers",
                    "1",
                    *options,
                    str(self.path / "models.bin"),
                ]
            )
        results = {r["case"]: r for r in json.loads((self.path / "out.json").read_text())}
        return results, code, printed.getvalue()


def relu(name, x=X, declared=None, shape=None, op="Relu"):
    return model(
        [helper.make_node(op, [f"{name}.a0"], ["o0"])], [info(f"{name}.a0", x)], [info("o0", x, declared, shape)]
    )


class Planted(unittest.TestCase):
    """Whole runs over planted models."""

    def status(self, folder, opset=20):
        results, _, text = folder.run(opset=opset)
        self.assertEqual(len(results), 1, text)
        return next(iter(results.values()))

    def one(self, *arguments, opset=20, **keywords):
        folder = Folder()
        folder.add("t/000", *arguments, **keywords)
        return self.status(folder, opset)

    def test_right(self):
        r = self.one([X], [np.maximum(X, 0)], relu("t/000"))
        self.assertEqual((r["status"], r["engine"], r["plain"]), ("pass", "ort", True))

    def test_wrong_operator(self):
        r = self.one([X], [np.maximum(X, 0)], relu("t/000", op="Neg"))
        self.assertEqual(r["status"], "mismatch")
        self.assertIn("max error", r["reason"])

    def test_wrong_dtype(self):
        r = self.one([X], [np.maximum(X, 0).astype(np.float64)], relu("t/000"))
        self.assertEqual((r["status"], r["plain"]), ("mismatch", False))
        self.assertIn("dtype float32, expected float64", r["reason"])

    def test_wrong_shape(self):
        self.assertIn(
            "shape [2, 3], expected [1, 2, 3]", self.one([X], [np.maximum(X, 0)[None]], relu("t/000"))["reason"]
        )

    def test_0d_stays_0d(self):
        x = np.array(2.0, np.float32)
        self.assertEqual(self.one([x], [x], relu("t/000", x))["status"], "pass")

    def test_nan_position(self):
        x = np.array([np.nan, 1.0, 2.0], dtype=np.float32)
        r = self.one([x], [np.array([1.0, np.nan, 2.0], dtype=np.float32)], relu("t/000", x), flags=["nan"])
        self.assertEqual((r["status"], r["plain"]), ("mismatch", False))
        self.assertIn("NaN at different positions", r["reason"])

    def test_wrong_declared_shape(self):
        blob = model(
            [helper.make_node("Reshape", ["t/000.a0", "t/000.a1"], ["o0"])],
            [info("t/000.a0", X), helper.make_tensor_value_info("t/000.a1", T.INT64, [1])],
            [info("o0", X, shape=[5])],
        )
        r = self.one([X, np.array([-1])], [X.reshape(-1)], blob, schema="t(Tensor self, Tensor size) -> Tensor")
        self.assertEqual(r["status"], "mismatch")
        self.assertIn("declared", r["reason"])

    def test_invalid_model(self):
        self.assertEqual(self.one([X], [X], relu("t/000", op="NoSuchOp"))["status"], "invalid_model")
        self.assertEqual(self.one([X], [X], b"no model")["status"], "invalid_model")

    def test_wrong_declared_dtype(self):
        self.assertEqual(self.one([X], [X], relu("t/000", declared="int64"))["status"], "invalid_model")

    def test_refused_and_not_counted(self):
        folder = Folder()
        folder.add("t/000", [X], [np.maximum(X, 0)], relu("t/000"))
        folder.add("t/001", [X], [X], status="no_row_at_opset")
        results, code, text = folder.run("--check", "100")
        self.assertEqual((code, results["t/001"]["status"]), (0, "no_row_at_opset"))
        self.assertIn("plain 1/1", text)
        folder.add("t/002", [X], [X], status="refused")
        results, code, text = folder.run("--check", "51")
        self.assertEqual((code, results["t/002"]["status"], results["t/002"]["reason"]), (1, "refused", "planted"))
        self.assertIn("plain 1/2", text)

    def test_nothing_run_is_no_success(self):
        self.assertEqual(Folder().run("--check", "97")[1], 1)

    def test_no_kernel_goes_to_the_reference_evaluator(self):
        half = np.array([1.0, 2.0], dtype=ml_dtypes.bfloat16)
        blob = model(
            [helper.make_node("Sinh", ["t/000.a0"], ["o0"])], [info("t/000.a0", half)], [info("o0", half)], opset=22
        )
        expected = np.sinh(half.astype(np.float32)).astype(ml_dtypes.bfloat16)
        r = self.one([half], [expected], blob, opset=22)
        self.assertEqual((r["status"], r["engine"]), ("pass", "reference"), r)

    def test_newer_opset_goes_to_the_reference_evaluator(self):
        blob = model([helper.make_node("Relu", ["t/000.a0"], ["o0"])], [info("t/000.a0", X)], [info("o0", X)], opset=27)
        self.assertEqual(self.one([X], [np.maximum(X, 0)], blob, opset=27)["engine"], "reference")
        self.assertEqual(self.one([X], [-X], blob, opset=27)["status"], "mismatch")

    def test_bfloat16_through_onnx_runtime(self):
        x = np.array([[1.5, -2.0]], dtype=ml_dtypes.bfloat16)
        r = self.one([x], [x], relu("t/000", x, op="Identity"))
        self.assertEqual((r["status"], r["engine"]), ("pass", "ort"))

    def test_meta_and_nonunique(self):
        self.assertEqual(self.one([X], [X + 1], relu("t/000"), how="meta")["status"], "pass")
        self.assertEqual(self.one([X], [X + 1], relu("t/000"), how="nonunique")["status"], "pass")
        self.assertEqual(self.one([X], [X[0]], relu("t/000"), how="meta")["status"], "mismatch")

    def test_result_not_produced(self):
        r = self.one(
            [X], [np.maximum(X, 0), X], relu("t/000"), layout=["o0", None], schema="t(Tensor self) -> (Tensor, Tensor)"
        )
        self.assertEqual((r["status"], r["not_produced"]), ("pass", [1]))
        self.assertEqual(self.one([X], [X], relu("t/000"), layout=[None])["status"], "mismatch")

    def test_list_of_wrong_length(self):
        r = self.one([X], [[1, 2]], relu("t/000"), layout=[["o0"]])
        self.assertIn("a list of 1, expected 2", r["reason"])


class Compare(unittest.TestCase):
    def test_tolerances(self):
        for dtype, near, far in (("float32", 1 + 5e-5, 1 + 1e-3), ("float64", 1 + 5e-8, 1 + 1e-5)):
            one = np.ones(1, dtype)
            self.assertEqual(compare.difference(one, one * np.array(near, dtype)), "")
            self.assertNotEqual(compare.difference(one, one * np.array(far, dtype)), "")
        half = np.ones(1, np.float16)
        self.assertNotEqual(compare.difference(half, half * np.float16(1.02)), "")

    def test_exact(self):
        self.assertNotEqual(compare.difference(np.array([2**60]), np.array([2**60 + 1])), "")
        self.assertNotEqual(compare.difference(np.array([True]), np.array([False])), "")

    def test_infinities(self):
        inf = np.array([np.inf, -np.inf], np.float32)
        self.assertEqual(compare.difference(inf, inf.copy()), "")
        self.assertNotEqual(compare.difference(inf, -inf), "")
        self.assertNotEqual(compare.difference(inf, np.array([3e38, -3e38], np.float32)), "")
        self.assertNotEqual(compare.difference(np.zeros(2, np.float32), inf), "")

    def test_ties(self):
        keys = np.array([3, 3, 1], np.int64)
        case = {
            "schema": "aten::sort(Tensor self, int dim=-1) -> (Tensor, Tensor)",
            "args": [{"tensor": "x"}, -1],
            "kwargs": {},
            "compare": "values",
            "flags": ["ties"],
        }
        tensors = {"x": keys}
        self.assertEqual(compare.compare_tensor(case, tensors, np.array([2, 0, 1]), np.array([2, 1, 0])), "")
        self.assertNotEqual(compare.compare_tensor(case, tensors, np.array([2, 0, 1]), np.array([0, 2, 1])), "")
        self.assertNotEqual(compare.compare_tensor(case, tensors, np.array([2, 0, 1]), np.array([2, 0, 7])), "")
        self.assertNotEqual(
            compare.compare_tensor(case | {"flags": []}, tensors, np.array([2, 0, 1]), np.array([2, 1, 0])), ""
        )


class Data(unittest.TestCase):
    def test_plain(self):
        t = {"tensor": "a", "dtype": "float32", "shape": [2]}
        case = {"args": [t, [t]], "kwargs": {}, "outputs": [t], "flags": ["promote"]}
        self.assertTrue(oracle_data.is_plain(case))
        for change in (
            {"flags": ["nan"]},
            {"args": [t | {"dtype": "float16"}]},
            {"outputs": [t | {"shape": [2, 0]}]},
            {"kwargs": {"x": t | {"dtype": "int32"}}},
        ):
            self.assertFalse(oracle_data.is_plain(case | change))

    def test_argument_names(self):
        schema = 'aten::f(Tensor(a!)[] self, int[2] k=[1, 2], *, str mode="mean", Tensor? w=None) -> (Tensor, Tensor)'
        self.assertEqual(oracle_data.argument_names({"schema": schema}), ["self", "k", "mode", "w"])

    def test_safetensors_round_trip(self):
        tensors = {
            "a": X,
            "b": np.array(True),
            "c": np.zeros((0, 2), np.int64),
            "d": np.array([1.5], ml_dtypes.bfloat16),
        }
        with tempfile.TemporaryDirectory() as folder:
            oracle_data.write_safetensors(Path(folder) / "t.safetensors", tensors)
            back = oracle_data.read_safetensors(Path(folder) / "t.safetensors")
        for name, array in tensors.items():
            self.assertEqual(
                (back[name].dtype, back[name].shape, back[name].tobytes()), (array.dtype, array.shape, array.tobytes())
            )


class Pool(unittest.TestCase):
    @staticmethod
    def lost(number, why):
        return f"{number}: {why}"

    def test_a_crash_costs_one_job(self):
        results = worker_pool.run_jobs(lambda n: os._exit(9) if n in (3, 4) else n, 50, self.lost, chunk=8)
        self.assertEqual(
            [r for i, r in enumerate(results) if i not in (3, 4)], [i for i in range(50) if i not in (3, 4)]
        )
        self.assertIn("exit code 9", results[3])
        self.assertIn("exit code 9", results[4])

    def test_a_hang_costs_one_job(self):
        results = worker_pool.run_jobs(lambda n: time.sleep(60) if n == 1 else n, 4, self.lost, seconds=2, chunk=2)
        self.assertEqual(results[0::2] + [results[3]], [0, 2, 3])
        self.assertIn("no result", results[1])


if __name__ == "__main__":
    with ROOM:
        unittest.main()
