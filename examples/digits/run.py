# SPDX-License-Identifier: MIT
"""Runs the exported classifier in ONNX Runtime on digits that were not used for training.

    run.py [digits.onnx] [--show 6]     prints some digits, and the accuracy next to PyTorch's

The exit code is 1 if the two differ by more than one digit. Needs numpy and onnxruntime."""

import argparse
import json
import pathlib
import sys

import numpy
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
SHADES = " .:-=+*#%@"


def drawn(image):
    """The rows of a digit as text, two characters per pixel."""
    return ["".join(SHADES[min(int(p) * len(SHADES) // 17, 9)] * 2 for p in row) for row in image]


def show(images, labels, found, count):
    """Prints a few digits side by side, misclassified ones first."""
    order = numpy.argsort(found == labels, kind="stable")[:count]
    for rows in zip(*(drawn(images[i]) for i in order)):
        print("   ".join(rows).rstrip())
    print("   ".join(f"is {labels[i]}, says {found[i]}".ljust(16) for i in order).rstrip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="digits.onnx")
    parser.add_argument("--show", type=int, default=5, help="the number of digits to print")
    options = parser.parse_args()

    with numpy.load(HERE / "test_digits.npz") as held_out:
        images, labels = held_out["images"], held_out["labels"]
    recorded = json.loads((HERE / "accuracy.json").read_text(encoding="utf-8"))
    session = onnxruntime.InferenceSession(options.model, providers=["CPUExecutionProvider"])
    pixels = images.astype(numpy.float32)[:, None]
    found = session.run(None, {session.get_inputs()[0].name: pixels})[0].argmax(axis=1)
    right = int((found == labels).sum())

    show(images, labels, found, options.show)
    print(
        f"\nONNX Runtime {onnxruntime.__version__}: {right} of {len(labels)} digits right "
        f"({100 * right / len(labels):.1f} %)"
    )
    print(
        f"PyTorch {recorded['torch']}: {recorded['right']} of {recorded['digits']} ({100 * recorded['accuracy']:.1f} %)"
    )
    return 1 if len(labels) != recorded["digits"] or abs(right - recorded["right"]) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
