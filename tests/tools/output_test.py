# SPDX-License-Identifier: MIT
"""Where nothing can be written, the command ends in one line, with exit status 1 and no file left behind.

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


class Output(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = Path(held.name)
        self.program = self.folder / "m.pt2"

    def run_aton(self, *arguments, **options):
        given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run([ATON, *map(str, arguments)], cwd=self.folder, text=True, check=False, timeout=60, **given)

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
