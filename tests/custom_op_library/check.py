# SPDX-License-Identifier: MIT
"""examples/custom_op_library end to end: what the command says of the plugin, exported models run against recorded numbers, and model.pt2 made again.

usage: check.py ATON PLUGIN
       check.py ATON --again LIBRARY     make model.pt2 with the library in torch; exit code 77 where there is no torch
"""

import base64
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "custom_op_library"
ATON, *REST = sys.argv[1:]
OPERATORS = {"custom_ops::foo_forward": "once", "custom_ops::rms_norm": "2 times", "custom_ops::swiglu": "once"}


def aton(*words):
    return subprocess.run([ATON, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


class Plugin(unittest.TestCase):
    def run_model(self, *options):
        command = [sys.executable, EXAMPLE / "run.py", "--aton", ATON, "--plugin", REST[0], "--", *map(str, options)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(run.stdout.count("as PyTorch"), 4, run.stdout)

    def test_the_plugin_lists_its_operators(self):
        rows = [line for line in aton("ops", "--plugin", REST[0]).stdout.split("\n") if "custom_ops::" in line]
        self.assertEqual(len(rows), len(OPERATORS), rows)
        for name in OPERATORS:
            self.assertTrue(any(line.split()[1].startswith(name + "(") and line.startswith("13-") for line in rows), rows)

    def test_exported_models_run(self):
        for opset in (13, 17, 18, 20, 21, 26):
            with self.subTest(opset=opset):
                self.run_model("--opset", opset)

    def test_with_other_options(self):
        for options in (["--inline-functions"], ["--no-optimize"], ["--inline-functions", "--opset", "13"], ["--weights", "external"]):
            with self.subTest(options=options):
                self.run_model(*options)

    def test_what_the_model_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, "model.onnx")
            for options, functions in (([], 3), (["--inline-functions"], 0)):
                run = aton("export", EXAMPLE / "model.pt2", "-o", target, "--plugin", REST[0], *options)
                self.assertEqual(run.returncode, 0, run.stderr)
                printed = aton("print", target).stdout
                # Two calls of rms_norm have two bodies: one knows a weight, one does not.
                self.assertEqual(printed.count("\nfunction custom_domain::"), functions, printed)
                self.assertEqual("custom_domain 2" in printed.split("\n")[0], functions != 0, printed)

    def test_a_batch_may_be_one_or_nothing(self):
        import numpy
        import onnxruntime

        with tempfile.TemporaryDirectory() as folder, numpy.load(EXAMPLE / "recorded.npz") as recorded:
            target = pathlib.Path(folder, "model.onnx")
            run = aton("export", EXAMPLE / "model.pt2", "-o", target, "--plugin", REST[0], "--dim", "x:0=batch")
            self.assertEqual(run.returncode, 0, run.stderr)
            session = onnxruntime.InferenceSession(target, providers=["CPUExecutionProvider"])
            self.assertEqual([o.shape for o in session.get_outputs()], [["batch", 4, 6], ["batch", 1, 6]])
            for batch in (0, 1):
                results = session.run(["y", "scale"], {"x": recorded["x7"][:batch]})
                for name, got in zip(("y", "scale"), results):
                    numpy.testing.assert_allclose(got, recorded[f"{name}7"][:batch], rtol=1e-4, atol=1e-5, err_msg=name)

    @unittest.skipUnless(pathlib.Path(ATON).with_name("aton-verify").exists(), "built without aton-verify")
    def test_the_mappings_give_the_recorded_results(self):
        run = aton("verify", "--plugin", REST[0], "--calls", EXAMPLE / "calls", "--mutants", "--least-row-power", "100")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("18 recorded calls: 18 give the recorded results", run.stdout)

        with tempfile.TemporaryDirectory() as folder:
            lines = (EXAMPLE / "calls" / "calls.jsonl").read_text().splitlines()
            pathlib.Path(folder, "calls.jsonl").write_text("\n".join(lines).replace("-2.25", "-2.26"))
            run = aton("verify", "--plugin", REST[0], "--calls", folder, "--only", "foo")
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            self.assertIn("4 recorded calls: 1 give the recorded results, 3 do not", run.stdout)
            first = 1 + next(i for i, line in enumerate(lines) if "foo_forward" in line)
            self.assertIn(f"  # recorded in {folder}/calls.jsonl:{first}\n", run.stdout)

            pathlib.Path(folder, "calls.jsonl").write_text("\n".join(lines)[:-20])
            run = aton("verify", "--plugin", REST[0], "--calls", folder)
            self.assertEqual(run.returncode, 1)
            self.assertRegex(run.stderr, rf"^aton: {folder}/calls.jsonl:{len(lines)}: the JSON [^\n]*\n$")

        other = aton("verify", "--plugin", REST[0])
        self.assertIn("record calls of the operator and name their folder with --calls", other.stdout)
        unused = aton("verify", "--only", "aten::neg", "--samples", "1", "--calls", EXAMPLE / "calls")
        self.assertEqual((unused.returncode, unused.stderr.count("\n")), (1, 1))
        self.assertIn("no call is of an operator that is checked", unused.stderr)
        for words in (["--seeds", "1..2"], ["a.pt2", "a.onnx"]):
            self.assertEqual(aton("verify", "--calls", EXAMPLE / "calls", *words).returncode, 2)

    def test_without_the_plugin_every_operator_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder, "model.onnx")
            run = aton("export", EXAMPLE / "model.pt2", "-o", target)
            self.assertEqual(run.returncode, 1)
            self.assertFalse(target.exists())
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
            listed = aton("unconvertible", EXAMPLE / "model.pt2")
            for name, times in OPERATORS.items():
                self.assertIn(name, run.stderr)
                self.assertIn(f"{name}: {times}, no mapping", listed.stdout)
        self.assertEqual(aton("unconvertible", EXAMPLE / "model.pt2", "--plugin", REST[0]).returncode, 0)


class Again(unittest.TestCase):
    def test_the_library_in_torch_gives_the_recorded_calls(self):
        import numpy

        def numbers(call):
            for tensor in call["outputs"]:
                yield tensor["shape"], numpy.frombuffer(base64.b64decode(tensor["base64"]), numpy.float32)

        with tempfile.TemporaryDirectory() as folder:
            packages = os.pathsep.join([str(EXAMPLE.parents[1] / "python"), os.environ.get("PYTHONPATH", "")])
            subprocess.run([sys.executable, EXAMPLE / "record_calls.py", "--library", REST[1], folder], check=True, timeout=600,
                           env=os.environ | {"PYTHONPATH": packages, "ATON_COMMAND": ATON})  # fmt: skip
            lines = [(path / "calls.jsonl").read_text().splitlines() for path in (EXAMPLE / "calls", pathlib.Path(folder))]
            self.assertEqual(*map(len, lines))
            for first, second in zip(*([json.loads(line) for line in each] for each in lines)):
                for name in ("schema", "args", "kwargs"):
                    self.assertEqual(str(first[name]), str(second[name]))  # NaN is not equal to itself
                for (shape, got), (other_shape, other) in zip(numbers(first), numbers(second)):
                    self.assertEqual(shape, other_shape)
                    numpy.testing.assert_allclose(got, other, rtol=1e-4, atol=1e-5)

    def test_the_library_in_torch_gives_the_same_program_and_numbers(self):
        import numpy

        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, EXAMPLE / "make_model.py", "--library", REST[1], folder], check=True, timeout=600)
            again = pathlib.Path(folder, "model.pt2")
            # What is said of the torch release may differ.
            first, second = (aton("print", path).stdout.split("\n")[1:] for path in (EXAMPLE / "model.pt2", again))
            self.assertEqual(first, second)
            self.assertIn("custom_ops::rms_norm", "\n".join(second))
            with numpy.load(EXAMPLE / "recorded.npz") as recorded, numpy.load(pathlib.Path(folder, "recorded.npz")) as other:
                self.assertEqual(set(recorded), set(other))
                for name in recorded:
                    numpy.testing.assert_allclose(recorded[name], other[name], rtol=1e-4, atol=1e-5, err_msg=name)


if __name__ == "__main__":
    again = REST[0] == "--again"
    if again and importlib.util.find_spec("torch") is None:
        print("no torch: skipped")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], "Again" if again else "Plugin"])
