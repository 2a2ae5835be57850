# SPDX-License-Identifier: MIT
"""The static executable in a root file system that has it and a model, and nothing else: it writes the same bytes as the command of this build.

usage: static_test.py --aton ATON --static EXECUTABLE

Skipped if tools/static.sh has not built the executable, or where a process may not change its root.
"""

import argparse
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SKIPPED = 77
DATA = REPOSITORY / "tests" / "data"
SAMPLE = DATA / "pt2" / "linear_relu_dynbatch.pt2"
LARGEST = 16 << 20
PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
ET_DYN, DT_NEEDED = 3, 1
options = argparse.Namespace()


def in_root(root, *command):
    """The exit status and both streams of a command whose root folder, and working folder, is this one."""
    words = ["unshare", "--map-root-user", "--root", str(root), "--wd", "/", *(str(each) for each in command)]
    result = subprocess.run(words, capture_output=True, timeout=300, env={})
    return result.returncode, result.stdout, result.stderr


def elf_parts(path):
    """The type of an ELF file, the types of its segments, and the tags of its dynamic section."""
    data = path.read_bytes()
    (kind,) = struct.unpack_from("<H", data, 16)
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    segments, tags = set(), set()
    for at in range(table, table + size * count, size):
        segment, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", data, at)
        segments.add(segment)
        if segment == PT_DYNAMIC:
            tags = {tag for tag, _ in struct.iter_unpack("<qQ", data[offset : offset + length])}
    return kind, segments, tags


class StaticTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copy(options.static, self.root / "aton")

    def expect_same(self, model, *arguments):
        """Exports a model in the root, and beside it with the other command."""
        shutil.copy(model, self.root)
        names = ["-q", model.name, *arguments, "-o"]
        status, printed, said = in_root(self.root, "/aton", "export", *names, "static.onnx")
        other = subprocess.run([options.aton, "export", *names, "other.onnx"], cwd=self.root, capture_output=True, timeout=300)
        self.assertEqual((status, printed, said), (other.returncode, other.stdout, other.stderr), model.name)
        if status == 0:
            self.assertEqual((self.root / "static.onnx").read_bytes(), (self.root / "other.onnx").read_bytes(), model.name)
        for each in self.root.glob("*.onnx"):
            each.unlink()
        return status

    def test_needs_no_file(self):
        kind, segments, tags = elf_parts(options.static)
        self.assertEqual(kind, ET_DYN)  # its addresses are random
        self.assertIn(PT_LOAD, segments)
        self.assertNotIn(PT_INTERP, segments)
        self.assertNotIn(DT_NEEDED, tags)
        self.assertLessEqual(options.static.stat().st_size, LARGEST)

    def test_same_bytes(self):
        models = sorted(DATA.glob("pt2/*.pt2")) + sorted(DATA.glob("pt2_control_flow/*.pt2"))
        done = [model for model in models if self.expect_same(model) == 0]
        self.assertGreaterEqual(len(done), 20)
        for mode in ("external", "reference"):
            self.assertEqual(self.expect_same(SAMPLE, "--opset", "15", "--weights", mode), 0)

    def test_other_commands(self):
        shutil.copy(SAMPLE, self.root / "model.pt2")
        self.assertEqual(in_root(self.root, "/aton", "export", "-q", "model.pt2", "-o", "model.onnx")[0], 0)
        for arguments in (["print", "model.pt2"], ["print", "model.onnx"], ["check", "model.onnx"], ["ops", "aten::add.Tensor"],
                          ["unconvertible", "model.pt2"], ["print", "none.pt2"], ["--version"], ["export", "--help"]):
            other = subprocess.run([options.aton, *arguments], cwd=self.root, capture_output=True, timeout=300)
            self.assertEqual(in_root(self.root, "/aton", *arguments), (other.returncode, other.stdout, other.stderr), arguments)

    def test_plugins_are_refused(self):
        shutil.copy(SAMPLE, self.root / "model.pt2")
        (self.root / "rows.so").write_bytes(b"\x7fELF")
        before = sorted(path.name for path in self.root.iterdir())
        status, printed, said = in_root(self.root, "/aton", "export", "model.pt2", "-o", "model.onnx", "--plugin", "rows.so")
        self.assertEqual((status, printed, said.count(b"\n")), (1, b"", 1), said)
        self.assertIn(b"rows.so", said)
        self.assertIn(b"this program is a static executable, which loads no libraries; use a dynamically linked aton", said)
        self.assertEqual(sorted(path.name for path in self.root.iterdir()), before)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--aton", type=Path, required=True)
    parser.add_argument("--static", type=Path, required=True)
    parser.add_argument("cases", nargs="*")
    parser.parse_args(namespace=options)
    options.aton, options.static = options.aton.resolve(), options.static.resolve()
    if not options.static.is_file():
        print(f"skipped: no {options.static}; tools/static.sh builds it and runs this test")
        return SKIPPED
    if shutil.which("unshare") is None or subprocess.run(["unshare", "--map-root-user", "--root", "/", "true"], capture_output=True).returncode:
        print("skipped: a process may not change its root here")
        return SKIPPED
    result = unittest.main(argv=[sys.argv[0], *options.cases], exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
