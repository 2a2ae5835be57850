# SPDX-License-Identifier: MIT
"""Exports that are interrupted at random moments leave the old files or the new ones, complete, and nothing else.

usage: interrupt_test.py ATON SAMPLES ROUNDS MEGABYTES

ROUNDS is how many runs of each kind are interrupted. SAMPLES is the folder of linear_relu_dynbatch.pt2, from which a model with weights of this size is made.
"""

import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from large_archive import write_large

ATON, SAMPLES = (str(Path(each).resolve()) for each in sys.argv[1:3])
ROUNDS, MEGABYTES = int(sys.argv[3]), int(sys.argv[4])
SMALL = Path(SAMPLES, "linear_relu_dynbatch.pt2")
for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a test runner in the background ignores some, and so would the command
    signal.signal(each, signal.SIG_DFL)


def state_of(folder):
    """What every file contains, by name; also of hidden ones."""
    return {path.relative_to(folder).as_posix(): hashlib.md5(path.read_bytes()).hexdigest()
            for path in sorted(Path(folder).rglob("*")) if path.is_file()}


class Interrupt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.random = random.Random(23)
        cls.parent = tempfile.TemporaryDirectory()
        cls.inputs = Path(cls.parent.name, "inputs")
        cls.inputs.mkdir()
        for i, transposed in enumerate((False, True)):
            write_large(SMALL, cls.inputs / f"large_{i}.pt2", MEGABYTES, transposed)
        cls.small = Path(cls.parent.name, "small.onnx")

    @classmethod
    def tearDownClass(cls):
        cls.parent.cleanup()

    def export(self, *arguments, prepare=None):
        """Runs the command in an empty folder; returns what is in it then, and the seconds that it took."""
        with tempfile.TemporaryDirectory(dir=self.parent.name) as folder:
            if prepare:
                prepare(folder)
            start = time.monotonic()
            subprocess.run([ATON, "export", *map(str, arguments)], cwd=folder, check=True, capture_output=True)
            return state_of(folder), time.monotonic() - start

    def interrupted(self, stop, delay, *arguments, prepare=None):
        """The state after a run that gets the signal `stop`, and its exit status."""
        with tempfile.TemporaryDirectory(dir=self.parent.name) as folder:
            if prepare:
                prepare(folder)
            before = state_of(folder)
            process = subprocess.Popen([ATON, "export", *map(str, arguments)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            time.sleep(delay)
            process.send_signal(stop)
            errors = process.communicate(timeout=60)[1]
            self.assertEqual(errors, "")
            return before, state_of(folder), process.returncode

    def check(self, *arguments, prepare=None, outputs):
        """`outputs`: groups of files that are written together."""
        complete, seconds = self.export(*arguments, prepare=prepare)
        stopped = runs = 0
        while stopped < ROUNDS:  # some signals come after the end
            runs += 1
            self.assertLess(runs, 20 * ROUNDS, "exports are hardly ever interrupted")
            stop = self.random.choice((signal.SIGINT, signal.SIGTERM))
            before, after, status = self.interrupted(stop, self.random.uniform(0, 1.1 * seconds), *arguments, prepare=prepare)
            self.assertIn(status, (0, -stop))
            stopped += status != 0
            self.assertLessEqual(set(after), set(complete), "a file that no export leaves")
            for group in outputs:
                found = {name: after.get(name) for name in group}
                old = {name: before.get(name) for name in group}
                new = {name: complete.get(name) for name in group}
                self.assertIn(found, (old, new))
                if status == 0:
                    self.assertEqual(found, new)

    def test_one_file(self):
        self.check(self.inputs / "large_0.pt2", "-o", "m.onnx", outputs=[["m.onnx"]])

    def test_external_data_that_replaces_older_files(self):
        def prepare(folder):
            write_large(SMALL, Path(folder, "old.pt2"), 1)
            subprocess.run([ATON, "export", "old.pt2", "-o", "m.onnx", "--weights", "external", "-q"], cwd=folder, check=True)

        for name in ("large_0", "large_1"):
            self.check(self.inputs / f"{name}.pt2", "-o", "m.onnx", "--weights", "external", prepare=prepare, outputs=[["m.onnx", "m.onnx.data"]])

    def test_external_data(self):
        self.check(self.inputs / "large_1.pt2", "-o", "m.onnx", "--weights", "external", outputs=[["m.onnx", "m.onnx.data"]])

    def test_several_files(self):
        groups = [[f"out/large_{i}.onnx", f"out/large_{i}.onnx.data"] for i in range(2)]
        self.check(self.inputs, "-o", "out", "-j", 2, "--weights", "external", outputs=groups)

    def test_a_closed_pipe_leaves_no_half_file(self):
        with tempfile.TemporaryDirectory(dir=self.parent.name) as folder:
            reading, writing = os.pipe()
            os.close(reading)
            models = Path(folder, "models")
            models.mkdir()
            (models / "a.pt2").write_bytes(SMALL.read_bytes())
            (models / "b.pt2").symlink_to(self.inputs / "large_1.pt2")
            run = subprocess.run([ATON, "export", models, "-o", "out", "-j", "2"], cwd=folder, stdout=writing, stderr=subprocess.PIPE, check=False)
            os.close(writing)
            self.assertEqual((run.returncode, run.stderr), (-signal.SIGPIPE, b""))
            self.assertLessEqual(set(state_of(Path(folder, "out"))), {"a.onnx", "b.onnx"})
            for path in Path(folder, "out").rglob("*.onnx"):
                subprocess.run([ATON, "check", path], check=True, stdout=subprocess.DEVNULL)

    def test_a_shell_sees_128_and_the_signal(self):
        for stop, status in (("INT", 130), ("TERM", 143), ("HUP", 129)):
            run = subprocess.run(["timeout", "--preserve-status", "-s", stop, "0.15", ATON, "verify", "--threads", "1"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            self.assertEqual((run.returncode, run.stderr), (status, b""))

    def test_an_ignored_signal_stays_ignored(self):
        with tempfile.TemporaryDirectory(dir=self.parent.name) as folder:
            process = subprocess.Popen([ATON, "export", self.inputs / "large_1.pt2", "-o", "m.onnx"], cwd=folder, stdout=subprocess.PIPE,
                                       preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
            process.send_signal(signal.SIGHUP)
            self.assertIn(b"m.onnx: 2 nodes", process.communicate(timeout=60)[0])
            self.assertEqual(process.returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
