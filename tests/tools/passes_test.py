# SPDX-License-Identifier: MIT
"""The passes of an export one by one: aton ops --passes, aton export --print-after and --stop-after, and the search of --verify for the change that
makes a model wrong.

usage: passes_test.py ATON SAMPLES WRONG_PLUGIN

SAMPLES is a folder of .pt2 files. WRONG_PLUGIN has a rewrite that gives other numbers, mine.wrong.
"""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ATON, SAMPLES, WRONG_PLUGIN = sys.argv[1:4]


def aton(*arguments):
    return subprocess.run([ATON, *map(str, arguments)], capture_output=True, text=True, check=False)


class Passes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.sample = Path(SAMPLES, "linear_relu_dynbatch.pt2")
        self.target = Path(folder.name, "m.onnx")

    def test_passes_one_by_one(self):
        sample, target = Path(SAMPLES, "tied.pt2"), self.target
        listed = aton("ops", "--passes")
        names = [line.split()[0] for line in listed.stdout.splitlines()]
        self.assertEqual((listed.returncode, listed.stderr, len(names)), (0, "", len(set(names))))
        self.assertEqual([each["pass"] for each in json.loads(aton("ops", "--passes", "--json").stdout)], names)
        self.assertEqual(names[0], "convert")
        written = []
        for options in (["--no-optimize"], [], ["--stop-after", "0"], ["--stop-after", "convert"], ["--stop-after", "1000000"],
                        ["--stop-after", "rewrite-weight"], ["--print-after", "order"]):
            run = aton("export", sample, "-o", target, *options)
            self.assertEqual(run.returncode, 0, run.stderr)
            written.append(target.read_bytes())
            self.assertEqual(run.stderr != "", "--print-after" in options)
        plain, optimized, *stopped, printed = written
        self.assertNotEqual(plain, optimized)
        self.assertEqual(stopped[:3], [stopped[0], stopped[0], optimized])
        self.assertEqual(printed, optimized)
        for name in names:  # each can be named
            run = aton("export", sample, "-o", target, "--print-after", name, "--stop-after", name)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertTrue(not run.stderr or run.stderr.startswith(f"# after {name}\ngraph("), run.stderr)
        for options, words in ((["--stop-after", "fold-constant"], ["did you mean fold-constants?"]),
                               (["--print-after", "nothing_like_it"], ["nothing_like_it", "aton ops --passes"]),
                               (["--stop-after", "9" * 30], ["too large"])):
            run = aton("export", sample, "-o", target, *options)
            self.assertEqual((run.returncode, run.stdout, run.stderr.count("\n")), (1, "", 1))
            for word in words:
                self.assertIn(word, run.stderr)

    def test_a_model_is_right_after_any_number_of_changes(self):
        for changes in range(0, 24):
            run = aton("export", Path(SAMPLES, "guard_twice.pt2"), "-o", self.target, "--verify", "-q", "--stop-after", changes)
            self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""), changes)

    def test_the_named_change_is_the_first_that_is_wrong(self):
        arguments = (self.sample, "-o", self.target, "--plugin", WRONG_PLUGIN)
        run = aton("export", *arguments, "--verify")
        number = int(re.search(r"^change (\d+) of the passes", run.stdout, re.MULTILINE).group(1))
        for changes, passed in ((number - 1, True), (number, False)):
            run = aton("export", *arguments, "--verify", "--stop-after", changes)
            self.assertEqual((run.returncode == 0, run.stderr), (passed, ""))

    def test_without_passes_none_is_named(self):
        run = aton("export", self.sample, "-o", self.target, "--plugin", WRONG_PLUGIN, "--verify", "--no-optimize")
        self.assertEqual((run.returncode, run.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
