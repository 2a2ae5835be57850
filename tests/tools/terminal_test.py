# SPDX-License-Identifier: MIT
"""Progress of the command on a terminal, and nothing of it elsewhere.

usage: terminal_test.py ATON SAMPLES
"""

import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from large_archive import write_large

ATON, SAMPLES = (str(Path(each).resolve()) for each in sys.argv[1:3])
SMALL = Path(SAMPLES, "linear_relu_dynbatch.pt2")
PATIENCE = 1.6  # seconds: longer than it takes until a bar appears
BAR = re.compile(r"\r[^\n\r]*?\[#* *\] +\d+ %, ([^\x1b]*)\x1b\[K")
for each in (signal.SIGINT, signal.SIGTERM):
    signal.signal(each, signal.SIG_DFL)


class Terminal:
    """A terminal that collects what is written to it."""

    def __init__(self):
        self.main, self.side = pty.openpty()
        self.text = b""
        self.thread = threading.Thread(target=self.read)
        self.thread.start()

    def read(self):
        while True:
            try:
                got = os.read(self.main, 65536)
            except OSError:  # the last writer is gone
                return
            if not got:
                return
            self.text += got

    def close(self):
        os.close(self.side)
        self.thread.join()
        os.close(self.main)
        return self.text.decode()


def start(*arguments, stdout=subprocess.PIPE, stderr, term="xterm", **variables):
    environment = {**os.environ, "TERM": term, **variables}
    for name in ("CI", "NO_COLOR"):
        if name not in variables:
            environment.pop(name, None)
    return subprocess.Popen([ATON, *map(str, arguments)], stdout=stdout, stderr=stderr, env=environment, text=True)


class Progress(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.large = Path(cls.folder.name, "large.pt2")
        write_large(SMALL, cls.large, 8)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def slow_export(self, *arguments, seconds=PATIENCE, stop=None, several=False, **variables):
        """Exports into a pipe that nobody reads for a while, after the start; returns what the terminal got, what stdout got, and the exit status."""
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder, "large.onnx")
            os.mkfifo(output)
            keep = os.open(output, os.O_RDWR)
            terminal = Terminal()
            inputs = (self.large, SMALL) if several else (self.large,)
            process = start("export", *inputs, "-o", folder if several else output, *arguments, stderr=terminal.side, **variables)
            got = 0
            while got < 5 << 20:  # progress is reported every 4 MiB
                got += len(os.read(keep, 1 << 16))
            time.sleep(seconds)
            if stop is not None:
                process.send_signal(stop)
            reader = threading.Thread(target=lambda: self.drain(keep, process))
            reader.start()
            printed = process.communicate(timeout=60)[0]
            reader.join()
            os.close(keep)
            left = sorted(path.name for path in Path(folder).iterdir())
            return terminal.close(), printed, process.returncode, left

    @staticmethod
    def drain(pipe, process):
        os.set_blocking(pipe, False)
        while process.poll() is None:
            try:
                os.read(pipe, 1 << 20)
            except BlockingIOError:
                time.sleep(0.005)

    def test_an_export(self):
        text, _, status, _ = self.slow_export()
        self.assertEqual(status, 0)
        shown = BAR.findall(text)
        self.assertGreater(len(shown), 3, text)
        self.assertRegex(shown[0], r"^4\.\d\d MB of 8\.\d\d MB, 1 s$")
        self.assertIn("large.pt2: writing [", text)
        self.assertTrue(text.endswith("\r\x1b[K"), text)
        self.assertLess(max(len(line.split("\x1b")[0]) for line in text.split("\r")), 80)

    def test_several_files(self):
        text, printed, status, _ = self.slow_export("-j", "2", several=True)
        self.assertEqual(status, 0)
        self.assertIn("1 of 2 files", BAR.findall(text)[-1])
        self.assertIn("linear_relu_dynbatch.onnx: 2 nodes", printed)

    def test_colors_are_not_used(self):
        self.assertEqual(set(re.findall(r"\x1b[^a-zA-Z]*[a-zA-Z]", self.slow_export()[0])), {"\x1b[K"})
        self.assertRegex(self.slow_export(NO_COLOR="1")[0], BAR)

    def test_no_bar(self):
        for options, variables in ((["-q"], {}), ([], {"term": "dumb"}), ([], {"term": ""}), ([], {"CI": "true"})):
            with self.subTest(options=options, variables=variables):
                text, _, status, _ = self.slow_export(*options, **variables)
                self.assertEqual((text, status), ("", 0))

    def test_a_short_export_shows_nothing(self):
        terminal = Terminal()
        process = start("export", SMALL, "-o", Path(self.folder.name, "small.onnx"), stderr=terminal.side)
        self.assertIn("2 nodes", process.communicate()[0])
        self.assertEqual(terminal.close(), "")

    def test_elsewhere_nothing_is_shown(self):
        process = start("verify", "--only", "aten::_native_batch_norm_legit", stderr=subprocess.PIPE)
        printed, errors = process.communicate()
        self.assertEqual((process.returncode, errors), (0, ""))
        self.assertIn("rows give", printed)

    def test_verify(self):
        terminal = Terminal()
        process = start("verify", "--threads", "1", stdout=terminal.side, stderr=terminal.side)
        time.sleep(PATIENCE + 1)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), -signal.SIGINT)
        text = terminal.close()
        self.assertRegex(BAR.findall(text)[-1], r"^\d+ of 1\d{3} mappings, 2 s$")
        self.assertTrue(text.endswith("\r\x1b[K"), text[-200:])

    def test_an_interrupt_removes_the_bar(self):
        text, printed, status, left = self.slow_export(stop=signal.SIGTERM)
        self.assertEqual((printed, status, left), ("", -signal.SIGTERM, ["large.onnx"]))
        self.assertRegex(text, BAR)
        self.assertTrue(text.endswith("\r\x1b[K"), text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
