# SPDX-License-Identifier: MIT
"""Tests of the package aton_onnx that need no torch: paths, errors, examples of docstrings.

usage: package_test.py ATON
"""

import doctest
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
ATON = str(pathlib.Path(sys.argv[1]).resolve())
os.environ["ATON_COMMAND"] = ATON
sys.path.insert(0, str(REPOSITORY / "python"))

import aton_onnx  # noqa: E402

SAMPLES = REPOSITORY / "tests" / "data" / "pt2"
CUSTOM = REPOSITORY / "tests" / "data" / "plugin" / "custom_op.pt2"


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.output = pathlib.Path(self.folder.name, "model.onnx")

    def fake_command(self, script):
        """Makes the package run a shell script as its command."""
        path = pathlib.Path(self.folder.name, "fake")
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        os.environ["ATON_COMMAND"] = str(path)
        self.addCleanup(os.environ.__setitem__, "ATON_COMMAND", ATON)

    def test_examples_in_docstrings(self):
        attempted = 0
        for name in ("_command", "_errors", "_export", "_inspect"):
            result = doctest.testmod(sys.modules[f"aton_onnx.{name}"])
            self.assertEqual(result.failed, 0)
            attempted += result.attempted
        self.assertGreaterEqual(attempted, 10)

    def test_torch_is_not_imported_for_a_path(self):
        aton_onnx.export(SAMPLES / "lstm.pt2", self.output)
        aton_onnx.unconvertible(str(SAMPLES / "lstm.pt2"))
        self.assertFalse("torch" in sys.modules, "torch was imported")

    def test_every_option_reaches_the_command(self):
        report = aton_onnx.export(SAMPLES / "linear_relu_dynbatch.pt2", self.output, opset_version=13, dims={("x", 0): "rows"},
                                  rename={"relu": "probabilities"}, optimize=False)
        self.assertEqual((report.path, report.opset, report.weights), (self.output, 13, 2))
        text = aton_onnx.print_graph(self.output)
        self.assertIn("%x : Float(rows", text)
        self.assertIn("%probabilities", text)
        checked = aton_onnx.check(self.output)
        self.assertEqual((checked.ok, checked.opset, checked.nodes, checked.error), (True, 13, report.nodes, None))

    def test_arguments_become_options(self):
        self.fake_command('echo "aton: $*" >&2; exit 1')
        with self.assertRaises(aton_onnx.AtonError) as caught:
            aton_onnx.export("a.pt2", "b.onnx", opset_version=9, weights="reference", operators="aten", plugins=["c.so", "d.so"],
                             nan="exact", quantization="exact", target="tensorrt", inputs={"x": "float32[n,3]", "y": "int64[]"}, dims={("x:y", 1): "n"}, rename={"p": "q"}, optimize=False)
        self.assertEqual(str(caught.exception), "export a.pt2 --output=b.onnx --format=json --weights=reference --operators=aten "
                         "--opset=9 --nan=exact --quantization=exact --plugin=c.so --plugin=d.so --input=x:float32[n,3] --input=y:int64[] --target=tensorrt --dim=x:y:1=n "
                         "--rename=p=q --no-optimize")
        with self.assertRaises(aton_onnx.AtonError) as caught:
            aton_onnx.verify("a.pt2", "b.onnx", samples=5, seed=7)
        self.assertEqual(str(caught.exception), "verify a.pt2 b.onnx --samples=5 --seed=7")

    def test_an_unconvertible_operator(self):
        with self.assertRaises(aton_onnx.UnconvertibleError) as caught:
            aton_onnx.export(CUSTOM, self.output)
        error = caught.exception
        self.assertEqual((error.operator, error.reason, error.source),
                         ("custom_ops::foo_forward", "no mapping", "make_tiny.py:44 in forward"))
        self.assertEqual([(each.operator, each.count) for each in error.operators], [("custom_ops::foo_forward", 1)])
        self.assertEqual(error.operators, tuple(aton_onnx.unconvertible(CUSTOM)))
        self.assertIsInstance(error, aton_onnx.AtonError)
        self.assertFalse(self.output.exists())
        kept = aton_onnx.export(CUSTOM, self.output, operators="keep")
        self.assertGreater(kept.nodes, 0)

    def test_what_the_command_refuses(self):
        with self.assertRaisesRegex(aton_onnx.AtonError, "^missing.pt2: no such file"):
            aton_onnx.export("missing.pt2", self.output)
        with self.assertRaisesRegex(aton_onnx.AtonError, "--opset"):
            aton_onnx.export(CUSTOM, self.output, opset_version=3)
        with self.assertRaisesRegex(aton_onnx.AtonError, "^missing.so"):
            aton_onnx.export(CUSTOM, self.output, plugins=["missing.so"])
        with self.assertRaisesRegex(aton_onnx.AtonError, "aton-verify|no such file"):
            aton_onnx.verify(CUSTOM, self.output)
        with self.assertRaisesRegex(aton_onnx.AtonError, "not a regular file"):
            aton_onnx.export(SAMPLES / "lstm.pt2", "/dev/null")
        self.assertFalse(self.output.exists())

    def test_arguments_that_do_not_fit_together(self):
        for wrong in ({"args": (1,)}, {"kwargs": {}}, {"dynamic_shapes": ()}, {"plugins": "libmine.so"}):
            with self.subTest(wrong), self.assertRaises(TypeError):
                aton_onnx.export(CUSTOM, self.output, **wrong)
        for wrong in (None, 3, [CUSTOM]):
            with self.subTest(wrong), self.assertRaises(TypeError):
                aton_onnx.export(wrong, self.output)

    def test_names_that_look_like_options(self):
        sample = (SAMPLES / "lstm.pt2").read_bytes()
        pathlib.Path(self.folder.name, "--help").write_bytes(sample)
        script = "import aton_onnx; print(aton_onnx.export('--help', '-x y.onnx').nodes); print(aton_onnx.check('-x y.onnx').ok)"
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
        run = subprocess.run([sys.executable, "-c", script], cwd=self.folder.name, env=environment, capture_output=True, text=True)
        self.assertEqual(run.stdout.split(), ["5", "True"], run.stderr)

    def test_a_command_that_is_stopped_or_says_nothing(self):
        self.fake_command("kill -9 $$")
        with self.assertRaisesRegex(aton_onnx.AtonError, "signal 9"):
            aton_onnx.export(CUSTOM, self.output)
        self.fake_command("exit 3")
        with self.assertRaisesRegex(aton_onnx.AtonError, "exit status 3"):
            aton_onnx.check(self.output)
        os.environ["ATON_COMMAND"] = str(CUSTOM)
        with self.assertRaisesRegex(aton_onnx.AtonError, "custom_op.pt2: cannot be run: "):
            aton_onnx.ops()
        os.environ["ATON_COMMAND"] = os.path.join(self.folder.name, "absent")
        with self.assertRaisesRegex(aton_onnx.AtonError, "no such file; install the wheel"):
            aton_onnx.ops()

    def test_a_verified_export_fails_if_the_numbers_differ(self):
        self.fake_command(f'if [ "$1" = verify ]; then echo different; exit 1; fi; exec {ATON} "$@"')
        with self.assertRaisesRegex(aton_onnx.AtonError, "differs from the program: different"):
            aton_onnx.export(SAMPLES / "lstm.pt2", self.output, verify=True)
        self.fake_command(f'if [ "$1" = verify ]; then echo same; exit 0; fi; exec {ATON} "$@"')
        report = aton_onnx.export(SAMPLES / "lstm.pt2", self.output, verify=True)
        self.assertEqual(report.verification, aton_onnx.Verification(True, "same"))
        self.assertIn("same", report._repr_html_())

    def test_warnings_are_in_the_report_and_escaped_in_its_table(self):
        report = aton_onnx.Report(pathlib.Path("<b>.onnx"), 20, 1, 0, 0, 0, 0.5, (aton_onnx.Warned("unused_input", "a < b"),), (), None)
        self.assertIn("&lt;b&gt;.onnx", report._repr_html_())
        self.assertIn("a &lt; b", report._repr_html_())

    def test_operators(self):
        at_7, at_20 = (aton_onnx.ops(opset_version=opset) for opset in (7, 20))
        self.assertLess(100, len(at_7))
        self.assertLess(len(at_7), len(at_20))
        self.assertTrue(all(each.since <= 7 <= each.until for each in at_7))

    def test_the_module_is_the_command(self):
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "python")}
        for arguments, status, text in ((["--version"], 0, "aton " + aton_onnx.version()), (["nonsense"], 2, "")):
            run = subprocess.run([sys.executable, "-m", "aton_onnx", *arguments], env=environment, capture_output=True, text=True)
            self.assertEqual((run.returncode, run.stdout.strip()), (status, text))


if __name__ == "__main__":
    os.chdir(REPOSITORY)
    unittest.main(argv=sys.argv[:1])
