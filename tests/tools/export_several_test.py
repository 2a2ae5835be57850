# SPDX-License-Identifier: MIT
"""aton export of several files and folders, and aton export --verify.

usage: export_several_test.py ATON SAMPLES WRONG_PLUGIN

SAMPLES is a folder of .pt2 files. WRONG_PLUGIN has a rewrite that changes numbers.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ATON, SAMPLES, WRONG_PLUGIN = (str(Path(each).resolve()) for each in sys.argv[1:4])
ORDER = ["a.pt2", "b/c/deep.pt2", "b/x.pt2", "b.pt2", "z.pt2"]  # by folders and names


def aton(*arguments, cwd):
    return subprocess.run([ATON, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)


def files(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if not path.is_dir())


def times(text):
    return re.sub(r"[\d.]+ m?s\b", "TIME", text)


class Several(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.models = self.root / "models"

    def aton(self, *arguments):
        return aton(*arguments, cwd=self.root)

    def add(self, path, sample="tied"):
        target = self.models / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(SAMPLES, f"{sample}.pt2"), target)

    def fails(self, run, *words):
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertTrue(run.stderr.startswith("aton: "), run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)

    def refused_before_anything_is_written(self, *arguments, words):
        before = files(self.root)
        run = self.aton("export", *arguments)
        self.fails(run, *words)
        self.assertEqual((run.stdout, run.stderr.count("\n"), files(self.root)), ("", 1, before))

    def make_tree(self):
        for each in ORDER:
            self.add(each)

    def test_a_folder(self):
        self.make_tree()
        (self.models / "notes.txt").touch()
        run = self.aton("export", "models")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = times(run.stdout).splitlines()
        self.assertEqual([line.split(":")[0] for line in lines[:-1]], ["models/" + each.replace(".pt2", ".onnx") for each in ORDER])
        self.assertEqual(lines[-1], "5 files exported, 0 failed, TIME")
        written = [path for path in files(self.models) if path.endswith(".onnx")]
        self.assertEqual(written, sorted(each.replace(".pt2", ".onnx") for each in ORDER))

    def test_relative_paths_in_another_folder(self):
        self.make_tree()
        self.add("../other/a2.pt2", "lstm")
        run = self.aton("export", "models", "other/a2.pt2", "-o", "new/out", "--opset", "17", "-j", "3")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(files(self.root / "new/out"), sorted([*(each.replace(".pt2", ".onnx") for each in ORDER), "a2.onnx"]))
        self.assertFalse([path for path in files(self.models) if path.endswith(".onnx")])
        self.assertIn("opset 17", self.aton("print", "new/out/b/c/deep.onnx").stdout)
        single = self.aton("export", "other/a2.pt2", "-o", "single.onnx", "--opset", "17")
        self.assertEqual(single.returncode, 0)
        self.assertEqual((self.root / "single.onnx").read_bytes(), (self.root / "new/out/a2.onnx").read_bytes())

    def test_the_output_does_not_depend_on_the_jobs(self):
        for i in range(40):
            self.add(f"{i:02}.pt2", ("tied", "lstm", "multi_model", "sdpa")[i % 4])
        runs = [self.aton("export", "models", "-o", f"out{jobs}", "-j", jobs) for jobs in (1, 7)]
        for run in runs:
            self.assertEqual(run.returncode, 1)
            self.assertEqual(run.stderr.splitlines()[-1], "aton: 10 of 40 files failed")
        self.assertEqual(times(runs[0].stdout), times(runs[1].stdout.replace("out7", "out1")))
        self.assertEqual(runs[0].stderr, runs[1].stderr)
        self.assertEqual(files(self.root / "out1"), files(self.root / "out7"))
        for path in files(self.root / "out1"):
            self.assertEqual((self.root / "out1" / path).read_bytes(), (self.root / "out7" / path).read_bytes())

    def test_failures_do_not_stop_the_rest(self):
        self.add("a.pt2")
        self.add("c.pt2")
        (self.models / "b.pt2").write_bytes(b"not an archive")
        (self.models / "bb.pt2").symlink_to("nowhere")
        shutil.copy(Path(SAMPLES).parent / "plugin" / "custom_op.pt2", self.models / "bbb.pt2")
        run = self.aton("export", "models", "missing.pt2")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(files(self.models), ["a.onnx", "a.pt2", "b.pt2", "bb.pt2", "bbb.pt2", "c.onnx", "c.pt2"])
        errors = run.stderr.splitlines()
        for line, words in zip(errors, ["models/b.pt2: ", "models/bb.pt2: ", "models/bbb.pt2: 1 operator cannot be converted", "missing.pt2: "]):
            self.assertTrue(line.startswith("aton: " + words), line)
        self.assertEqual(errors[-1], "aton: 4 of 6 files failed")
        self.assertEqual(len(errors), 5)
        self.assertEqual(len(run.stdout.splitlines()), 2)
        quiet = self.aton("export", "models", "-q")
        self.assertEqual((quiet.returncode, quiet.stdout), (1, ""))
        self.assertEqual(quiet.stderr.splitlines(), [*errors[:3], "aton: 3 of 5 files failed"])

    def test_a_failure_names_its_file(self):
        self.add("a.pt2")
        self.add("b.pt2", "lstm")
        run = self.aton("export", "models", "--dim", "nobody:0=n")
        for line, name in zip(run.stderr.splitlines(), ["a.pt2", "b.pt2"]):
            self.assertIn(f"models/{name}", line)
            self.assertIn("nobody", line)

    def test_warnings_precede_the_line_of_their_file(self):
        self.add("a.pt2", "guard_scale")
        self.add("b.pt2")
        run = self.aton("export", "models", "-j", "2")
        self.assertRegex(run.stderr, r"^aton: warning: models/a.pt2: dimension 0 .*\n$")
        self.assertEqual(self.aton("export", "models", "-q").stderr, "")
        self.fails(self.aton("export", "models", "--werror"), "warnings are errors", "1 of 2 files failed")

    def test_one_output_of_two_inputs(self):
        self.add("a.pt2")
        self.add("b/a.pt2")
        self.refused_before_anything_is_written("models/a.pt2", "models/b/a.pt2", "-o", "out", words=["models/a.pt2 and models/b/a.pt2: ", "out/a.onnx"])
        self.refused_before_anything_is_written("models/b", "models/a.pt2", "-o", "out", words=["out/a.onnx"])
        (self.root / "link").symlink_to("models")
        self.refused_before_anything_is_written("models/a.pt2", "models/b/../b/a.pt2", "-o", "link", words=["link/a.onnx"])
        self.add("a.pt")
        self.refused_before_anything_is_written("models/a.pt2", "models/a.pt", words=["models/a.onnx"])
        # one input that is named twice is one input
        run = self.aton("export", "models", "models/a.pt2", "./models/../models/b/a.pt2")
        self.assertEqual((run.returncode, len(run.stdout.splitlines())), (0, 3))

    def test_an_output_that_is_an_input(self):
        self.add("a.pt2")
        self.add("a.onnx")
        self.refused_before_anything_is_written("models/a.pt2", "models/a.onnx", words=["a.onnx: is also an input"])
        self.refused_before_anything_is_written("models/a.pt2", "new.onnx", words=["give it as -o "])

    def test_outputs_that_are_no_folder(self):
        self.make_tree()
        (self.root / "file").touch()
        self.refused_before_anything_is_written("models", "-o", "file", words=["file: is not a folder"])
        run = self.aton("export", "models/a.pt2", "models/z.pt2", "-o", "file/below")
        self.fails(run, "file/below: cannot be created: ", "2 of 2 files failed")

    def test_one_file_into_a_folder(self):
        self.add("a.pt2")
        for folder in ("new/out/", "models/"):
            self.assertEqual(self.aton("export", "models/a.pt2", "-o", folder).returncode, 0)
            self.assertIn("a.onnx", files(self.root / folder))
        self.fails(self.aton("export", "models/a.pt2", "-o", "models"), "models: is a folder, not a file")

    def test_folders_without_models(self):
        self.models.mkdir()
        (self.models / "a.txt").touch()
        self.add("../other/a.pt2")
        self.refused_before_anything_is_written("models", words=["models: has no .pt2 file", "--input"])
        self.refused_before_anything_is_written("other", "models", words=["models: has no .pt2 file"])

    def test_links_to_folders_are_not_followed(self):
        self.add("a.pt2")
        (self.models / "again").symlink_to(".")
        self.assertEqual(len(self.aton("export", "models").stdout.splitlines()), 2)

    @unittest.skipIf(os.geteuid() == 0, "root reads every folder")
    def test_a_folder_that_cannot_be_read(self):
        self.add("a.pt2")
        (self.models / "b").mkdir(mode=0)
        run = self.aton("export", "models")
        self.assertIn("models/b: cannot be read: ", run.stderr)
        self.assertIn("1 of 2 files failed", run.stderr)
        self.assertTrue((self.models / "a.onnx").exists())

    def test_strange_names(self):
        name = "line\nbreak \033[31m \udcff.pt2"
        self.add(name)
        self.add("-q.pt2")
        run = subprocess.run([ATON, "export", "models"], cwd=self.root, capture_output=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        self.assertEqual(run.stdout.count(b"\n"), 3)
        self.assertNotIn(b"\033", run.stdout)
        listed = self.aton("export", "models", "--json").stdout
        self.assertEqual(len(json.loads(listed)), 2)

    def test_external_weights(self):
        self.add("a.pt2", "conv_bn_channels_last")
        self.add("b.pt2")
        self.assertEqual(self.aton("export", "models", "-o", "out", "--weights", "external", "-j", "2").returncode, 0)
        self.assertEqual(self.aton("check", "out").returncode, 0)
        self.fails(self.aton("export", "models", "-o", "out", "--weights", "reference"), "must be in the folder of", "2 of 2 files failed")

    def test_json(self):
        self.add("a.pt2", "guard_scale")
        self.add("b.pt2", "multi_model")
        run = self.aton("export", "models", "-o", "out", "--json", "-j", "2")
        self.assertEqual(run.returncode, 1)
        good, bad = json.loads(run.stdout)
        self.assertEqual((good["input"], good["output"], good["ok"], good["error"]), ("models/a.pt2", "out/a.onnx", True, None))
        self.assertEqual([each["kind"] for each in good["warnings"]], ["pinned_dimension"])
        self.assertEqual(set(bad), {"input", "output", "ok", "error", "unconvertible"})
        self.assertEqual((bad["ok"], bad["input"]), (False, "models/b.pt2"))
        self.assertIn("'decode', 'prefill'", bad["error"])
        refused = self.aton("export", "models/a.pt2", "models/../models/nothing", "models/a.onnx", "-o", "models/a.pt2", "--json")
        self.assertEqual(refused.returncode, 1)
        self.assertEqual([each["ok"] for each in json.loads(refused.stdout)], [False])

    def test_torchscript_archives(self):
        self.add("a.pt2")
        with zipfile.ZipFile(self.models / "checkpoint.pt", "w") as archive:  # as torch.save writes it
            archive.writestr("checkpoint/data.pkl", b"\x80\x02}.")
        make_script(self.models / "script.pt")
        run = self.aton("export", "models", "-o", "out")
        self.assertEqual((run.returncode, files(self.root / "out")), (0, ["a.onnx"]))
        run = self.aton("export", "models", "-o", "out", "--input", "x:float32[batch,4]")
        self.assertEqual((run.returncode, run.stderr, files(self.root / "out")), (0, "", ["a.onnx", "script.onnx"]))
        self.assertIn("%x : Float(batch, 4)", self.aton("print", "out/script.onnx").stdout)
        run = self.aton("export", "models/script.pt", "--input", "x:float32[batch,4]", "--rename", "x=y", "--verify")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.endswith("the same on 3 samples\n"), run.stdout)
        os.remove(self.models / "script.pt")
        self.refused_before_anything_is_written("models", "--input", "x:float32[2]", words=["none of the files is a TorchScript archive"])

    def test_usage(self):
        self.assertEqual(self.aton("export", "a.pt2", "-j", "0").returncode, 2)
        self.assertEqual(self.aton("export", "a.pt2", "-j", "many").returncode, 2)

    def test_unconvertible_of_several(self):
        self.add("a.pt2", "dtypes")
        self.add("b.pt2")
        (self.models / "c.pt2").write_bytes(b"")
        run = self.aton("unconvertible", "models", "--opset", "13")
        self.fails(run, "models/c.pt2")
        lines = run.stdout.splitlines()
        self.assertEqual(lines[0], "models/a.pt2:")
        self.assertTrue(lines[1].startswith("aten::to.dtype: once, "))
        self.assertRegex(lines[-1], r"^models/b\.pt2: all \d+ nodes can be converted at opset 13$")
        a, b, c = json.loads(self.aton("unconvertible", "models", "--opset", "13", "--json").stdout)
        self.assertEqual([each["op"] for each in a["unconvertible"]], ["aten::to.dtype"])
        self.assertEqual(b, {"file": "models/b.pt2", "error": None, "unconvertible": []})
        self.assertIn("c.pt2", c["error"])


def make_script(path):
    """A TorchScript archive of a module that returns its argument, as torch.jit.save writes it."""
    code = """class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  _is_full_backward_hook : Optional[bool]
  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
    return torch.relu(x)
"""
    # the object: __torch__.M with {"training": False}
    pickle = b"\x80\x02c__torch__\nM\nq\x00)\x81}(X\x08\x00\x00\x00training\x89X\x16\x00\x00\x00_is_full_backward_hookNub."
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (("data.pkl", pickle), ("code/__torch__.py", code), ("constants.pkl", b"\x80\x02)."), ("version", "3\n")):
            archive.writestr(f"script/{name}", data)


class Verified(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        self.sample = Path(SAMPLES, "linear_relu_dynbatch.pt2")

    def test_the_text_is_that_of_verify(self):
        run = aton("export", self.sample, "-o", "m.onnx", "--verify", cwd=self.root)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        line, rest = run.stdout.split("\n", 1)
        self.assertRegex(line, r"^m\.onnx: 2 nodes, ")
        self.assertEqual(rest, aton("verify", self.sample, "m.onnx", cwd=self.root).stdout)
        quiet = aton("export", self.sample, "-o", "m.onnx", "--verify", "-q", cwd=self.root)
        self.assertEqual((quiet.returncode, quiet.stdout, quiet.stderr), (0, "", ""))

    def test_external_weights_and_other_options(self):
        run = aton("export", Path(SAMPLES, "lstm.pt2"), "-o", "m.onnx", "--verify", "--weights", "external", "--nan", "exact", "--opset", "14",
                   cwd=self.root)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue(run.stdout.endswith("the same on 3 samples\n"), run.stdout)

    def test_a_difference(self):
        arguments = (self.sample, "-o", "m.onnx", "--plugin", WRONG_PLUGIN, "--verify")
        run = aton("export", *arguments, cwd=self.root)
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        compared = aton("verify", self.sample, "m.onnx", cwd=self.root)
        self.assertEqual(compared.returncode, 1)
        *text, wrong = run.stdout.split("\n", 1)[1].splitlines(keepends=True)
        self.assertEqual("".join(text), compared.stdout)
        self.assertRegex(wrong, r"^change \d+ of the passes made the model wrong: rewrite, mine\.wrong at Max .*of aten::relu")
        self.assertIn("the first diverging node: ", run.stdout)
        quiet = aton("export", *arguments, "-q", cwd=self.root)
        self.assertEqual((quiet.returncode, quiet.stdout), (1, compared.stdout + wrong))
        report = json.loads(aton("export", *arguments, "--json", cwd=self.root).stdout)
        self.assertFalse(report["ok"])
        self.assertEqual(report["verification"], json.loads(aton("verify", self.sample, "m.onnx", "--json", cwd=self.root).stdout))
        self.assertIn("differs from the program", report["error"])
        self.assertTrue(report["error"].endswith("; " + wrong.rstrip("\n")), report["error"])

    def test_several_files(self):
        shutil.copy(self.sample, self.root / "a.pt2")
        shutil.copy(Path(SAMPLES, "tied.pt2"), self.root / "b.pt2")
        run = aton("export", ".", "--verify", "-j", "2", cwd=self.root)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual([line.endswith("; the same on 3 samples") for line in run.stdout.splitlines()], [True, True, False])
        run = aton("export", ".", "--verify", "--plugin", WRONG_PLUGIN, cwd=self.root)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, r"^aton: \./a\.onnx: differs from the program: output 'relu': .*; the first diverging node: \./a\.pt2: aten::relu .*\n"
                                     r"aton: 1 of 2 files failed\n$")

    def test_what_cannot_be_compared(self):
        run = aton("export", self.sample, "-o", "/dev/null", "--verify", cwd=self.root)
        self.assertEqual((run.returncode, run.stderr), (1, "aton: /dev/null: is not a regular file, which --verify needs\n"))
        run = aton("export", Path(SAMPLES, "kv_cache.pt2"), "-o", "m.onnx", "--verify", "--state", "inputs", cwd=self.root)
        self.assertEqual(run.returncode, 1)
        self.assertIn("m.onnx: is written, but cannot be compared: ", run.stderr)
        self.assertTrue((self.root / "m.onnx").exists())
        run = aton("export", "missing.pt2", "--verify", cwd=self.root)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
