# SPDX-License-Identifier: MIT
"""The shape rules on every model of ONNX's backend node tests: they may leave a shape unknown, but never contradict it.

usage: shape_rules_backend_test.py SHAPE_RULES_ON_MODELS
"""

import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

from onnx.backend.test.case.node import collect_testcases  # noqa: E402


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        count = 0
        for case in collect_testcases(None):
            if case.model is None:
                continue
            Path(folder, f"{case.name}.onnx").write_bytes(case.model.SerializeToString())
            count += 1
        if count < 1000:
            print(f"only {count} node tests found")
            return 1
        return subprocess.run([sys.argv[1], folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
