# SPDX-License-Identifier: MIT
"""What the command prints stays short, and where nothing can be written it ends in one line, with exit status 1 and no file left behind.

usage: output_test.py ATON SAMPLE.pt2
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ATON, SAMPLE = (str(Path(each).resolve()) for each in sys.argv[1:3])
MOST_WARNINGS, MOST_BYTES = 64, 500


def members():
    with zipfile.ZipFile(SAMPLE) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


MEMBERS = members()
ROOT = next(iter(MEMBERS)).split("/")[0]


def write_program(path, change):
    """The sample with its program changed by `change`."""
    program = json.loads(MEMBERS[f"{ROOT}/models/model.json"])
    change(program, program["graph_module"]["graph"])
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in MEMBERS.items():
            archive.writestr(name, json.dumps(program) if name.endswith("models/model.json") else data)


def add_nodes(graph, count, target):
    """Nodes that nothing uses; `target` makes the name of each one's operator from its number."""
    for i in range(count):
        node = json.loads(json.dumps(graph["nodes"][-1]))
        node.update(target=target(i), name=f"unused_{i}", outputs=[{"as_tensor": {"name": f"unused_{i}"}}])
        node["metadata"]["stack_trace"] = f'File "model.py", line {i + 1}, in forward\n    use(x)'
        graph["nodes"].insert(-1, node)
        node["inputs"][0]["arg"]["as_tensor"]["name"] = "x"
        graph["tensor_values"][f"unused_{i}"] = graph["tensor_values"]["relu"]


def add_inputs(program, graph, count):
    for i in range(count):
        graph["inputs"].append({"as_tensor": {"name": f"extra_{i}"}})
        graph["tensor_values"][f"extra_{i}"] = graph["tensor_values"]["x"]
        program["graph_module"]["signature"]["input_specs"].append({"user_input": {"arg": {"as_tensor": {"name": f"extra_{i}"}}}})


def add_draws(program, graph, count):
    """Calls of dropout in training, one of the result of another."""
    last = graph["nodes"][-1]
    template = json.dumps(last)
    previous = "relu"
    for i in range(count):
        node = json.loads(template)
        node.update(target="torch.ops.aten.dropout.default", name=f"drop_{i}", outputs=[{"as_tensor": {"name": f"drop_{i}"}}])
        node["inputs"] = [{"name": "input", "arg": {"as_tensor": {"name": previous}}, "kind": 1},
                          {"name": "p", "arg": {"as_float": 0.5}, "kind": 1}, {"name": "train", "arg": {"as_bool": True}, "kind": 1}]
        graph["nodes"].append(node)
        graph["tensor_values"][f"drop_{i}"] = graph["tensor_values"]["relu"]
        previous = f"drop_{i}"
    graph["outputs"] = [{"as_tensor": {"name": previous}}]
    program["graph_module"]["signature"]["output_specs"] = [{"user_output": {"arg": {"as_tensor": {"name": previous}}}}]


class Output(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        self.program = self.folder / "m.pt2"

    def run_aton(self, *arguments, **options):
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run([ATON, *map(str, arguments)], cwd=self.folder, text=True, check=False, timeout=60, **given)

    def check_short(self, result, most_lines):
        lines = result.stderr.splitlines()
        self.assertLessEqual(len(lines), most_lines, result.stderr[:2000])
        for line in lines:
            self.assertLessEqual(len(line.encode()), MOST_BYTES)
        return lines

    def test_many_unknown_operators_are_one_warning(self):
        for name, count, target in (("different", 5000, lambda i: f"torch.ops.aten.newer_{i}.default"),
                                    ("same", 5000, lambda _: "torch.ops.aten.newer.default"),
                                    ("long", 300, lambda i: f"torch.ops.aten.{'n' * 400}_{i}.default"),
                                    ("two", 2, lambda i: f"torch.ops.aten.newer_{i}.default")):
            with self.subTest(name):
                write_program(self.program, lambda _, graph, count=count, target=target: add_nodes(graph, count, target))
                result = self.run_aton("export", "m.pt2")
                self.assertEqual(result.returncode, 0, result.stderr[:1000])
                (line,) = self.check_short(result, 1)
                self.assertRegex(line, r"m\.pt2: aten::n.* is an unknown operator")
                self.assertIn("model.py:1 in forward", line)
                if name == "same":
                    self.assertIn("(5000 times, first at model.py:1 in forward)", line)
                else:
                    self.assertIn(f"(and {count - 1} more: aten::n", line)
                told = json.loads(self.run_aton("export", "m.pt2", "--json").stdout)["warnings"]
                self.assertEqual([(each["kind"], each["count"]) for each in told],
                                 [("unknown_operator", 1 if name == "same" else count)])
                self.assertLessEqual(len(told[0]["text"].encode()), MOST_BYTES)
                self.check_short(self.run_aton("export", "m.pt2", "--werror"), 1)
                viewed = json.loads(self.run_aton("view", "m.pt2", "--json").stdout)["warnings"]
                self.assertEqual(viewed, [each["text"] for each in told])

    def test_each_kind_is_a_warning_of_its_own(self):
        def change(program, graph):
            add_inputs(program, graph, 70)
            add_nodes(graph, 70, lambda i: f"torch.ops.aten.newer_{i}.default")
            add_draws(program, graph, 70)
        write_program(self.program, change)
        result = self.run_aton("export", "m.pt2")
        self.assertEqual(result.returncode, 0, result.stderr[:1000])
        lines = self.check_short(result, 3)
        self.assertEqual(len(lines), 3)
        self.assertIn("input 'extra_0' is not used", lines[0])
        self.assertIn("(and 69 more: 'extra_1', 'extra_2', ", lines[0])
        self.assertIn("draws random numbers", lines[2])
        self.assertIn("(70 times", lines[2])

    def test_warnings_of_many_files_are_bounded(self):
        write_program(self.program, lambda _, graph: add_nodes(graph, 2, lambda i: f"torch.ops.aten.newer_{i}.default"))
        data = self.program.read_bytes()
        (self.folder / "models").mkdir()
        for i in range(MOST_WARNINGS + 6):
            (self.folder / "models" / f"m_{i:02}.pt2").write_bytes(data)
        result = self.run_aton("export", "models", "-o", "onnx")
        self.assertEqual(result.returncode, 0, result.stderr[:1000])
        lines = self.check_short(result, MOST_WARNINGS + 1)
        self.assertEqual(len(lines), MOST_WARNINGS + 1)
        self.assertEqual(lines[-1], "aton: warnings that are not shown: 6")
        self.assertEqual(len(result.stdout.splitlines()), MOST_WARNINGS + 7)

    def test_many_random_inputs_are_counted(self):
        write_program(self.program, lambda program, graph: add_draws(program, graph, 100))
        result = self.run_aton("export", "m.pt2", "--random", "inputs")
        self.assertEqual(result.returncode, 0, result.stderr[:1000])
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 64 + 2)
        self.assertIn("36 more inputs are random numbers", lines[-2])
        told = json.loads(self.run_aton("export", "m.pt2", "--random", "inputs", "--json").stdout)
        self.assertEqual(len(told["drawn_inputs"]), 100)

    def test_many_unconvertible_operators_are_one_line(self):
        def change(_, graph):
            add_nodes(graph, 1000, lambda i: f"torch.ops.mine.op_{i}.default")
        write_program(self.program, change)
        result = self.run_aton("export", "m.pt2")
        self.assertEqual(result.returncode, 1)
        (line,) = self.check_short(result, 1)
        self.assertIn("1000 operators", line)
        self.assertRegex(line, r"; and \d+ more")

    def refused(self, *arguments, says, keeps=("m.pt2",), **options):
        """The command ends in one line that says this, and leaves the files that were there."""
        before = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        result = self.run_aton(*arguments, **options)
        self.assertEqual(result.returncode, 1, result.stderr)
        lines = result.stderr.splitlines() if result.stderr is not None else []
        if result.stderr is not None:
            self.assertEqual(len(lines), 1, result.stderr)
            self.assertRegex(lines[0], says)
        after = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}
        self.assertEqual(after, before)
        self.assertTrue(set(keeps) <= set(after))

    def test_a_limit_on_the_size_of_files(self):
        write_program(self.program, lambda *_: None)
        (self.folder / "old.onnx").write_bytes(b"old")
        (self.folder / "rows.json").write_bytes(b"old")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
        for arguments in (("export", "m.pt2", "-o", "new.onnx"), ("export", "m.pt2", "-o", "old.onnx"),
                          ("export", "m.pt2", "-o", "new.onnx", "--verify"), ("export", "m.pt2", "-o", "new.onnx", "--weights", "external"),
                          ("view", "m.pt2", "-o", "new.html"), ("view", "m.pt2", "-o", "new.html", "--verify"),
                          ("verify", "--only", "aten::celu", "--samples", "1", "--report", "rows.json")):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, says=r"cannot be written: File too large$", preexec_fn=limit)
        with open(self.folder / "printed", "wb") as stream:
            result = self.run_aton("ops", preexec_fn=limit, stdout=stream)
        self.assertEqual((result.returncode, result.stderr), (1, "aton: cannot write to standard output: File too large\n"))

    def test_a_full_device(self):
        write_program(self.program, lambda *_: None)
        self.refused("export", "m.pt2", "-o", "/dev/full", says=r"^aton: /dev/full: cannot be written: No space left on device$")
        self.refused("view", "m.pt2", "-o", "/dev/full", says=r"^aton: /dev/full: cannot be written: No space left on device$")
        for arguments in (("print", "m.pt2"), ("ops",), ("--help",), ("export", "--help"), ("verify", "--help"), ("--version",)):
            with self.subTest(arguments=arguments), open("/dev/full", "wb") as stream:
                self.refused(*arguments, says=r"^aton: cannot write to standard output: No space left on device$", stdout=stream)

    def test_closed_streams(self):
        write_program(self.program, lambda *_: None)
        self.refused("print", "m.pt2", says=r"^aton: cannot write to standard output: Bad file descriptor$", stdout=None,
                     preexec_fn=lambda: os.close(1))

        # The model is not mixed with what would have been printed.
        def close_all():
            for each in (0, 1, 2):
                os.close(each)
        self.run_aton("export", "m.pt2", "-o", "good.onnx")
        wanted = (self.folder / "good.onnx").read_bytes()
        result = self.run_aton("export", "m.pt2", "-o", "closed.onnx", stdout=None, stderr=None, preexec_fn=close_all)
        self.assertEqual(result.returncode, 1)
        self.assertEqual((self.folder / "closed.onnx").read_bytes(), wanted)

    def test_a_reader_that_stops(self):
        write_program(self.program, lambda _, graph: add_nodes(graph, 3000, lambda _: "torch.ops.aten.relu.default"))
        with subprocess.Popen([ATON, "print", "m.pt2"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as printing:
            printing.stdout.readline()
            printing.stdout.close()
            said = printing.stderr.read()
        self.assertEqual((printing.returncode, said), (-13, b""))

    def test_places_where_nothing_can_be_written(self):
        write_program(self.program, lambda *_: None)
        (self.folder / "folder").mkdir()
        (self.folder / "file").write_bytes(b"old")
        for output, says in (("folder", "folder: is a folder, not a file"), ("missing/m.onnx", "missing/m.onnx: cannot be written: No such file"),
                             ("file/m.onnx", "cannot be written: Not a directory"), ("m.pt2", "m.pt2: is also the input"),
                             ("./folder/../m.pt2", "is also the input"), (f"{'n' * 300}.onnx", "cannot be written: File name too long")):
            for command in ("export", "view"):
                with self.subTest(output=output, command=command):
                    self.refused(command, "m.pt2", "-o", output, says=says, keeps=("m.pt2", "file"))
        self.refused("verify", "--only", "aten::celu", "--samples", "1", "--report", "folder/x/r.json", says="cannot be written: No such file")

    def test_inputs_that_cannot_be_read(self):
        (self.folder / "folder").mkdir()
        write_program(self.program, lambda *_: None)
        for name, says in (("gone.pt2", "gone.pt2: no such file"), ("folder", "folder: .*folder|folder: has no"), ("/dev/null", "/dev/null: ")):
            for command in ("export", "print", "unconvertible", "view", "check"):
                with self.subTest(name=name, command=command):
                    self.refused(command, name, says=says)
        if os.geteuid() != 0:  # nothing is forbidden to root
            self.program.chmod(0)
            self.addCleanup(self.program.chmod, 0o600)
            result = self.run_aton("export", "m.pt2")
            self.assertEqual(result.returncode, 1)
            self.assertIn("Permission denied", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
