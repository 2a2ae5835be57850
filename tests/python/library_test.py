# SPDX-License-Identifier: MIT
"""The package aton_onnx with the library in its process: the same results and errors as with the command, Ctrl-C, progress, memory.

usage: library_test.py LIBRARY ATON has_runtime|no_runtime
"""

import gc
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
LIBRARY, ATON = (str(pathlib.Path(each).resolve()) for each in sys.argv[1:3])
RUNTIME = sys.argv[3] == "has_runtime"
os.environ["ATON_LIBRARY"] = LIBRARY
os.environ["ATON_COMMAND"] = ATON
sys.path.insert(0, str(REPOSITORY / "python"))

import aton_onnx  # noqa: E402
from aton_onnx import _command  # noqa: E402

SAMPLES = REPOSITORY / "tests" / "data" / "pt2"
CUSTOM = REPOSITORY / "tests" / "data" / "plugin" / "custom_op.pt2"


def resident():
    """KiB of this process that are in memory."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024


class InProcess(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.output = pathlib.Path(self.folder.name, "modèle.onnx")

    def no_process(self):
        return mock.patch.object(subprocess, "run", side_effect=AssertionError("a process was started"))

    def test_no_process_is_started(self):
        with self.no_process():
            report = aton_onnx.export(SAMPLES / "linear_relu_dynbatch.pt2", self.output, opset_version=13, dims={("x", 0): "rows"})
            self.assertEqual((report.opset, report.weights), (13, 2))
            self.assertTrue(aton_onnx.check(self.output).ok)
            self.assertEqual(list(aton_onnx.check(self.output, runtime="onnxruntime:1.31").faults), [])
            self.assertIn("%x : Float(rows", aton_onnx.print_graph(self.output))
            self.assertGreater(len(aton_onnx.ops()), 1000)
            self.assertEqual(aton_onnx.unconvertible(SAMPLES / "lstm.pt2"), [])
            if RUNTIME:
                self.assertTrue(aton_onnx.verify(SAMPLES / "linear_relu_dynbatch.pt2", self.output).passed)
                self.assertTrue(aton_onnx.verify(self.output, self.output, samples=1, seed=2).passed)
                done = aton_onnx.verify(self.output, runtime_command="false {model} {outputs}", samples=1, timeout=5)
                self.assertIn("it ends with status 1", done.text)

    def test_results_are_those_of_the_command(self):
        for words in (["ops", "--json"], ["print", str(SAMPLES / "lstm.pt2"), "--json"], ["export", "missing.pt2"], ["--help"], ["nonsense"],
                      ["export", str(CUSTOM), "--json", "-o", str(self.output)], ["export", str(SAMPLES / "tied.pt2"), "--opset=x"], []):
            with self.subTest(words):
                own = _command.run(*words)
                command = subprocess.run([ATON, *words], capture_output=True, text=True)
                self.assertEqual((own.returncode, own.stdout, own.stderr), (command.returncode, command.stdout, command.stderr))

    def test_errors(self):
        with self.no_process():
            with self.assertRaises(aton_onnx.UnconvertibleError) as caught:
                aton_onnx.export(CUSTOM, self.output)
            self.assertEqual((caught.exception.operator, caught.exception.source), ("custom_ops::foo_forward", "make_tiny.py:44 in forward"))
            with self.assertRaisesRegex(aton_onnx.AtonError, "^missing.pt2: no such file$"):
                aton_onnx.export("missing.pt2", self.output)
            with self.assertRaisesRegex(ValueError, "null byte"):
                aton_onnx.export("a\0b.pt2", self.output)
        self.assertFalse(self.output.exists())

    def test_progress(self):
        seen = []
        aton_onnx.export(SAMPLES / "lstm.pt2", self.output, progress=seen.append)
        stages = list(dict.fromkeys(each.stage.rsplit(": ", 1)[1] for each in seen))
        self.assertEqual(stages, ["reading", "converting", "optimizing", "writing"])
        self.assertIn("<progress", seen[-1]._repr_html_())

    def test_an_exception_of_the_callback_cancels(self):
        def fail(now):
            if now.stage.endswith("writing"):
                raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            aton_onnx.export(SAMPLES / "lstm.pt2", self.output, progress=fail)
        self.assertEqual(list(pathlib.Path(self.folder.name).iterdir()), [])

    def interrupt_after(self, seconds):
        timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        self.addCleanup(timer.join)

    def test_control_c_in_the_callback(self):
        with self.assertRaises(KeyboardInterrupt):
            aton_onnx.export(SAMPLES / "lstm.pt2", self.output, progress=lambda now: os.kill(os.getpid(), signal.SIGINT))
        self.assertFalse(self.output.exists())
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    @unittest.skipUnless(RUNTIME, "needs the runtime")
    def test_control_c_during_long_work(self):
        aton_onnx.export(SAMPLES / "lstm.pt2", self.output)
        start = time.monotonic()
        self.interrupt_after(0.5)
        with self.assertRaises(KeyboardInterrupt):
            aton_onnx.verify(SAMPLES / "lstm.pt2", self.output, samples=10000)
        self.assertLess(time.monotonic() - start, 10)

    def test_threads(self):
        failures = []

        def work(number):
            output = pathlib.Path(self.folder.name, f"{number}.onnx")
            try:
                for name in ("lstm", "tied", "kv_cache"):
                    aton_onnx.export(SAMPLES / f"{name}.pt2", output)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        self.assertEqual(failures, [])

    def test_memory_does_not_grow(self):
        def some(count):
            for _ in range(count):
                aton_onnx.export(SAMPLES / "lstm.pt2", self.output)
                with self.assertRaises(aton_onnx.UnconvertibleError):
                    aton_onnx.export(CUSTOM, self.output)
            gc.collect()
            return resident()

        before = some(30)
        self.assertLess(some(60) - before, 2048)

    def test_where_the_library_comes_from(self):
        with mock.patch.dict(os.environ, {"ATON_LIBRARY": str(CUSTOM)}), self.assertRaisesRegex(aton_onnx.AtonError, "cannot be loaded"):
            aton_onnx.ops()
        with mock.patch.dict(os.environ, {"ATON_LIBRARY": ""}), mock.patch.object(subprocess, "run", side_effect=OSError(0, "started")):
            with self.assertRaisesRegex(aton_onnx.AtonError, "started"):  # ATON_COMMAND is another command
                aton_onnx.ops()
        with mock.patch.object(subprocess, "run", side_effect=OSError(0, "started")), self.assertRaisesRegex(aton_onnx.AtonError, "started"):
            aton_onnx.ops(plugins=["mine.so"])  # a mapping that crashes must not end this process


if __name__ == "__main__":
    os.chdir(REPOSITORY)
    unittest.main(argv=sys.argv[:1])
