# SPDX-License-Identifier: MIT
"""Exports model.pt2 with the plugin, runs the ONNX model, and compares the results with PyTorch's.

    run.py --plugin libcustom_ops_onnx.so [--aton aton] [-- options of `aton export`]

The exit code is 1 if the numbers differ. Needs numpy, onnx and onnxruntime."""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent


def run(model):
    """Runs the model on every recorded input, and says for each output whether it equals PyTorch's."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    with numpy.load(HERE / "recorded.npz") as recorded:
        for batch in (3, 7):
            for name, got in zip(names, session.run(names, {"x": recorded[f"x{batch}"]})):
                expected = recorded[f"{name}{batch}"]
                right = got.dtype == expected.dtype and got.shape == expected.shape
                yield f"{name} of a batch of {batch}", right and numpy.allclose(got, expected, rtol=1e-4, atol=1e-5)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default="aton", help="the command")
    parser.add_argument("--plugin", required=True)
    parser.add_argument("options", nargs="*", help="for aton export")
    options = parser.parse_args()

    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        model = str(pathlib.Path(folder, "model.onnx"))
        subprocess.run([options.aton, "export", HERE / "model.pt2", "-o", model, "--plugin", options.plugin, "--quiet",
                        *options.options], check=True)  # fmt: skip
        onnx.checker.check_model(model, full_check=True)
        for what, right in run(model):
            print(f"{what}: {'as PyTorch' if right else 'WRONG'}")
            wrong += not right
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
