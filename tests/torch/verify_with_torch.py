# SPDX-License-Identifier: MIT
"""aton verify --torch: torch decides about rows whose operators only torch has, and about built-in ones.

usage: verify_with_torch.py ATON PLUGIN
"""

import subprocess
import sys
import unittest

ATON, PLUGIN = sys.argv[1:3]


def verify(*words):
    return subprocess.run([ATON, "verify", "--samples", "1", *words], capture_output=True, text=True, timeout=120)


class VerifyWithTorch(unittest.TestCase):
    def of_plugin(self, name):
        return verify("--torch", "--opset", "20", "--plugin", PLUGIN, "--only", f"verify_demo::{name}")

    def test_a_right_row_passes(self):
        run = self.of_plugin("right")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("1 of 1 rows", run.stdout)

    def test_without_torch_there_is_no_reference(self):
        run = verify("--plugin", PLUGIN, "--only", "verify_demo::right")
        self.assertEqual(run.returncode, 1)
        self.assertIn("--torch", run.stdout)

    def test_a_wrong_row_differs(self):
        run = self.of_plugin("wrong")
        self.assertEqual(run.returncode, 1)
        self.assertIn("elements differ", run.stdout)

    def test_another_schema_is_reported(self):
        run = self.of_plugin("renamed")
        self.assertEqual(run.returncode, 1)
        self.assertIn("argument 1 is 'y' in the row, but 'x' in the schema", run.stdout)

    def test_an_operator_that_crashes_ends_only_its_call(self):
        run = self.of_plugin("crashes")
        self.assertEqual(run.returncode, 1)
        self.assertIn("torch crashes: Segmentation fault", run.stdout)

    def test_an_operator_that_is_not_registered(self):
        run = self.of_plugin("unknown")
        self.assertEqual(run.returncode, 1)
        self.assertIn("verify_demo::unknown", run.stdout)
        self.assertIn("the reference rejects every sample", run.stdout)

    def test_built_in_rows(self):
        run = verify("--torch", "--opset", "20", "--only", "aten::bitwise_xor.Tensor")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
