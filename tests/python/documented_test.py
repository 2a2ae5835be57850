# SPDX-License-Identifier: MIT
"""Runs the Python of docs/torch-onnx.md, block after block. Exits with 77 without torch.

usage: documented_test.py ATON CUSTOM_OPS_PLUGIN
"""

import os
import pathlib
import re
import shutil
import sys
import tempfile
import warnings

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = pathlib.Path(sys.argv[2]).resolve()
os.environ["ATON_COMMAND"] = str(pathlib.Path(sys.argv[1]).resolve())
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "examples" / "custom_op_library")]
try:
    import torch
except ImportError:
    print("skipped: torch is not installed (ATON_WITH_TORCH=1)")
    sys.exit(77)

import make_model  # noqa: E402

PAGE = REPOSITORY / "docs" / "torch-onnx.md"


def main():
    warnings.filterwarnings("ignore")
    library = make_model.declare()
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3, "the page has lost its examples"
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        shutil.copy(PLUGIN, "libcustom_ops_onnx.so")
        names = {"model": make_model.Mixer().eval(), "x": make_model.sample(3, 4, 5)}
        for number, block in enumerate(blocks, 1):
            pathlib.Path("model.onnx").unlink(missing_ok=True)
            print(f"-- block {number} of {PAGE.name}")
            exec(compile(block, f"{PAGE.name}, block {number}", "exec"), names)
            assert pathlib.Path("model.onnx").stat().st_size > 0
        expected = names["model"](names["x"])
        for result, truth in zip(names["results"], expected.values(), strict=True):
            torch.testing.assert_close(result, truth, rtol=1e-4, atol=1e-4)
        os.chdir("/")
    del library


if __name__ == "__main__":
    main()
