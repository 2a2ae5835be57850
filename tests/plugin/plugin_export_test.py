# SPDX-License-Identifier: MIT
"""The aton command with plugins: operators of custom libraries exported, and run by ONNX Runtime with the numbers of PyTorch.

usage: plugin_export_test.py ATON PLUGINS SAMPLES

PLUGINS contains libcustom_plugin.so, libcustom_plugin_*.so of other compilers, and invalid plugins. SAMPLES contains
NAME.pt2 with NAME.inputs.safetensors and NAME.outputs.safetensors.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
import onnxruntime
from safetensors.numpy import load_file

ATON = str(Path(sys.argv[1]).resolve())
PLUGINS, SAMPLES = (Path(path).resolve() for path in sys.argv[2:4])
CUSTOM = PLUGINS / "libcustom_plugin.so"


def aton(*arguments, cwd=None, env=None):
    return subprocess.run([ATON, *map(str, arguments)], capture_output=True, text=True, check=False, cwd=cwd, env=env)


class Plugins(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.target = Path(self.folder.name, "model.onnx")

    def fails(self, run, *words):
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertTrue(run.stderr.startswith("aton: "), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertFalse(self.target.exists())

    def export(self, name, *options):
        return aton("export", SAMPLES / f"{name}.pt2", "-o", self.target, *options)

    def runs(self, name):
        model = onnx.load(self.target)
        onnx.checker.check_model(model, full_check=True)
        session = onnxruntime.InferenceSession(str(self.target), providers=["CPUExecutionProvider"])
        inputs = load_file(SAMPLES / f"{name}.inputs.safetensors")
        expected = load_file(SAMPLES / f"{name}.outputs.safetensors")
        results = session.run(None, {meta.name: inputs[str(i)] for i, meta in enumerate(session.get_inputs())})
        self.assertEqual(len(results), len(expected))
        for i, result in enumerate(results):
            self.assertEqual(result.dtype, expected[str(i)].dtype)
            numpy.testing.assert_allclose(result, expected[str(i)], rtol=1e-6, atol=1e-6)
        return model

    def test_custom_operators_run_with_the_numbers_of_pytorch(self):
        for plugin in sorted(PLUGINS.glob("libcustom_plugin*.so")):
            for name in ("custom_op", "custom_op_dyn", "custom_function"):
                for opset in (13, 17, 18, 20, 26):
                    with self.subTest(plugin=plugin.name, name=name, opset=opset):
                        run = self.export(name, "--plugin", plugin, "--opset", opset)
                        self.assertEqual((run.returncode, run.stderr), (0, ""))
                        self.runs(name)
                        self.target.unlink()

    def test_an_override_takes_the_place_of_the_built_in_row(self):
        run = self.export("custom_op", "--plugin", CUSTOM, "--no-optimize")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        made = [node.op_type for node in self.runs("custom_op").graph.node if node.op_type != "Constant"]
        self.assertEqual(made[-2:], ["Neg", "Sub"])

    def test_a_row_that_declines_leaves_the_call_to_the_next_plugin_and_to_the_built_in_row(self):
        declining = PLUGINS / "libdeclining_plugin.so"
        made = {}
        for others in ((), (declining,)):
            options = [option for plugin in (*others, CUSTOM) for option in ("--plugin", plugin)]
            for opset in (13, 20):
                run = self.export("custom_op", *options, "--opset", opset, "--no-optimize")
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                model = self.runs("custom_op")
                made.setdefault(opset, []).append(([node.op_type for node in model.graph.node], list(model.opset_import)))
                self.target.unlink()
        for alone, below in made.values():
            self.assertEqual(below, alone)
        listed = aton("unconvertible", SAMPLES / "custom_op.pt2", "--plugin", declining)
        self.assertIn("custom_ops::foo_forward: once, the row leaves the call to the row below (g.next()), but there is none", listed.stdout)
        self.assertEqual(listed.stdout.count("leaves"), 1)

    def test_without_the_plugin_the_operators_are_missing(self):
        self.fails(self.export("custom_op"), "custom_ops::foo_forward (no mapping")
        self.fails(self.export("custom_function"), "mylib::my_relu", "mylib::extremes", "mylib::parts", "mylib::my_clip")
        listed = aton("unconvertible", SAMPLES / "custom_function.pt2")
        self.assertIn("mylib::parts: once, no mapping", listed.stdout)
        listed = aton("unconvertible", SAMPLES / "custom_function.pt2", "--plugin", CUSTOM)
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        self.assertRegex(listed.stdout, r"^all \d+ nodes can be converted at opset 20\n$")

    def test_a_bare_name_is_a_file_of_this_folder(self):
        shutil.copy(CUSTOM, Path(self.folder.name, "libmine.so"))
        run = aton("export", SAMPLES / "custom_op.pt2", "-o", self.target, "--plugin", "libmine.so", cwd=self.folder.name)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.target.unlink()
        self.fails(aton("ops", "--plugin", "libmine.so"), "libmine.so: no such file")

    def test_ops_lists_the_rows_of_a_plugin(self):
        lines = aton("ops", "--plugin", CUSTOM).stdout.splitlines()
        built_in = aton("ops").stdout.splitlines()
        added = [line for line in lines if line.endswith(f"  # {CUSTOM}") or line.endswith(f"  # {CUSTOM}, overrides")]
        self.assertEqual(len(added), 7)
        self.assertEqual([line for line in lines if line not in added], built_in)
        self.assertIn(f"13-17  mylib::extremes(Tensor input, SymInt dim) -> (Tensor, Tensor)  # {CUSTOM}", lines)
        self.assertIn(f"18-    mylib::extremes(Tensor input, SymInt dim) -> (Tensor, Tensor)  # {CUSTOM}", lines)
        rows = json.loads(aton("ops", "--format", "json", "--opset", 17, "--plugin", CUSTOM).stdout)
        mine = [row for row in rows if row.get("plugin") == str(CUSTOM)]
        self.assertEqual([(row["overload"], row["overrides"]) for row in mine],
                         [("aten::add.Tensor", True), ("custom_ops::foo_forward", False), ("mylib::extremes", False),
                          ("mylib::my_clip", False), ("mylib::my_relu", False), ("mylib::parts", False)])
        self.assertIn(f"| `mylib::my_relu` | 13- | `mylib::my_relu(Tensor input) -> Tensor` ({CUSTOM}) |",
                      aton("ops", "--format", "markdown", "--plugin", CUSTOM).stdout.splitlines())

    def test_plugins_that_cannot_be_used_end_every_command(self):
        old, nothing = PLUGINS / "libold_plugin.so", PLUGINS / "libnothing.so"
        for plugin, words in ((old, "built against Aton 0.0.9"), (nothing, "no such file"), (SAMPLES / "custom_op.pt2", "cannot be loaded"),
                              (PLUGINS / "libhostile_9.so", "malformed")):
            with self.subTest(plugin=plugin.name):
                self.fails(self.export("custom_op", "--plugin", CUSTOM, "--plugin", plugin), str(plugin), words)
                self.fails(aton("ops", "--plugin", plugin), str(plugin), words)
                self.fails(aton("unconvertible", SAMPLES / "custom_op.pt2", "--plugin", plugin), str(plugin), words)

    def test_a_plugin_that_hides_rows_is_refused(self):
        self.fails(self.export("custom_op", "--plugin", CUSTOM, "--plugin", CUSTOM),
                   "the row custom_ops::foo_forward of table 1 hides the row of table 2", "override_<...>")
        self.fails(aton("ops", "--plugin", CUSTOM, "--plugin", CUSTOM), "hides the row of table 2")

    def test_rows_of_several_plugins_hold_together(self):
        run = self.export("custom_op", "--plugin", PLUGINS / "libthrowing_plugin.so", "--plugin", CUSTOM)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.runs("custom_op")

    def test_a_row_that_crashes_is_named(self):
        plugin = PLUGINS / "libcrashing_plugin.so"
        for how, what in (("address", "a segmentation fault (SIGSEGV)"), ("zero", "an arithmetic error (SIGFPE)"),
                          ("stack", "a segmentation fault (SIGSEGV)"), ("abort", "abort() (SIGABRT)")):
            with self.subTest(how=how):
                run = aton("export", SAMPLES / "custom_op.pt2", "-o", self.target, "--plugin", plugin, env={**os.environ, "ATON_TEST_CRASH": how})
                self.fails(run, f"aton: {plugin}: the mapping of custom_ops::foo_forward ends the process by {what}")
                self.assertEqual(list(Path(self.folder.name).iterdir()), [])
        self.assertEqual(self.export("custom_op", "--plugin", plugin).returncode, 0)

    def test_a_row_that_does_not_end_is_named(self):
        plugin = PLUGINS / "libcrashing_plugin.so"
        for command in (("export", SAMPLES / "custom_op.pt2", "-o", self.target), ("unconvertible", SAMPLES / "custom_op.pt2")):
            with self.subTest(command=command[0]):
                run = aton(*command, "--plugin", plugin, env={**os.environ, "ATON_TEST_CRASH": "never", "ATON_ROW_SECONDS": "1"})
                self.fails(run, f"aton: {plugin}: the mapping of custom_ops::foo_forward does not end within 1 second;")
                self.assertEqual(list(Path(self.folder.name).iterdir()), [])

    @unittest.skipUnless(Path(ATON).with_name("aton-verify").exists(), "built without aton-verify")
    def test_recorded_outputs_stand_in_for_operators_that_only_their_library_runs(self):
        for name, arrays in (("input", load_file(SAMPLES / "custom_op.inputs.safetensors")),
                             ("output", load_file(SAMPLES / "custom_op.outputs.safetensors"))):
            for i, array in arrays.items():
                Path(self.folder.name, f"{name}_{i}.pb").write_bytes(onnx.numpy_helper.from_array(array).SerializeToString())
        options = ("--plugin", CUSTOM, "--verify", "--recorded", self.folder.name)
        run = self.export("custom_op", *options)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertIn("the same on 1 sample\n", run.stdout)
        again = aton("verify", SAMPLES / "custom_op.pt2", self.target, "--inputs", self.folder.name)
        self.assertEqual((again.returncode, again.stderr), (0, ""), again.stdout)
        first = Path(self.folder.name, "output_0.pb")
        first.write_bytes(onnx.numpy_helper.from_array(2 * load_file(SAMPLES / "custom_op.outputs.safetensors")["0"]).SerializeToString())
        run = self.export("custom_op", *options)
        self.assertEqual((run.returncode, run.stderr), (1, ""), run.stdout)
        self.assertIn("elements differ", run.stdout)
        first.unlink()
        run = self.export("custom_op", *options)
        self.assertEqual(run.returncode, 1)
        self.assertIn("the runtime does not have this operator", run.stderr + run.stdout)

    def test_a_plugin_shows_its_description_and_nothing_of_its_own(self):
        nm = shutil.which("nm")
        if nm is None:
            self.skipTest("no nm")
        listed = subprocess.run([nm, "-D", "--defined-only", "-C", CUSTOM], capture_output=True, text=True, check=True).stdout
        names = [line.split(maxsplit=2)[2] for line in listed.splitlines()]
        self.assertEqual([name for name in names if not name.startswith(("std::", "void std::", "__gnu")) and "std::" not in name and "__" not in name],
                         ["aton_plugin"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
