#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""aton verify --torch: verify_torch_test.py ATON. Half of it is about builds without libtorch; the rest needs aton-verify-torch."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ATON = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "build/release/aton").resolve()
HAS_TORCH = (ATON.parent / "aton-verify-torch").exists()


def run(*words, aton=ATON):
    return subprocess.run([aton, "verify", "--torch", *words], capture_output=True, text=True, timeout=120)


class WithoutTorch(unittest.TestCase):
    def test_a_sentence_says_how_to_get_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("aton", "aton-verify"):
                shutil.copy(ATON.parent / name, folder)
            done = run("--only", "aten::relu", aton=pathlib.Path(folder) / "aton")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("build Aton with -DATON_BUILD_TORCH=ON", done.stderr)

    def test_what_it_cannot_be_combined_with(self):
        for words in (("--rewrites",), ("a.pt2", "a.onnx"), ("--device", "cuda")):
            done = run(*words)
            self.assertEqual(done.returncode, 2)
            self.assertIn("--torch is for mappings, on the CPU", done.stderr)


@unittest.skipUnless(HAS_TORCH, "needs a build with ATON_BUILD_TORCH")
class WithTorch(unittest.TestCase):
    def test_rows_give_torchs_numbers(self):
        done = run("--only", "aten::leaky_relu", "--samples", "2", "--mutants")
        self.assertIn("rows give ATen's numbers", done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr)

    def test_the_reference_is_torch(self):
        # Beside an infinite weight, torch's libraries skip what is padded; the runtime multiplies it, which gives NaN.
        done = run("--only", "aten::conv1d", "--samples", "16")
        self.assertEqual(done.returncode, 1)
        self.assertIn("elements differ", done.stdout)
        plain = subprocess.run([ATON, "verify", "--only", "aten::conv1d", "--samples", "16"], capture_output=True, text=True, timeout=120)
        self.assertEqual(plain.returncode, 0, plain.stdout)

    def test_kernels_that_divide_by_zero_do_not_end_it(self):
        done = run("--only", "aten::lcm", "--samples", "2")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("rows give ATen's numbers", done.stdout)


if __name__ == "__main__":
    unittest.main()
