# SPDX-License-Identifier: MIT
"""Loads in ONNX Runtime what `aton export --target onnxruntime` makes of the built-in rows in every dtype: each model loads, or the
target refuses it.

usage: onnxruntime_rows_test.py WRITE_ROW_MODELS [--of N] [--only PART] [--first OPSET] [--run]

--of N: one of N combinations of row and dtype. --run: also runs each model on zeros, and reports a kernel that lacks something."""
import argparse
import collections
import subprocess
import sys

import ml_dtypes
import numpy as np
import onnxruntime as ort

NUMPY = {"float": np.float32, "double": np.float64, "float16": np.float16, "bool": np.bool_, "bfloat16": ml_dtypes.bfloat16}
BY_ZERO = ("division by zero", "modulo by zero")  # of integers, by a constant, for which ATen raises too
SIGNS = ("not support", "NOT_IMPLEMENTED", "not implemented", "nsupported")  # of a kernel that gives up


def value_of(declared):
    """Zeros of the declared type."""
    name = declared.type.removeprefix("tensor(").removesuffix(")")
    zeros = np.zeros([n if isinstance(n, int) else 2 for n in declared.shape], NUMPY.get(name) or np.dtype(name))
    if name == "bfloat16":
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(zeros.view(np.uint16), 16)
    return ort.OrtValue.ortvalue_from_numpy(zeros)


def fault_of(model, settings, runs):
    """Why ONNX Runtime does not load the model, or does not run it; empty if it does."""
    try:
        session = ort.InferenceSession(model, settings, providers=["CPUExecutionProvider"])
    except Exception as e:  # one type per status code
        text = " ".join(str(e).split())
        return "" if any(sign in text for sign in BY_ZERO) else "does not load: " + text
    if not runs or any(i.type.startswith("seq") for i in session.get_inputs()):
        return ""
    try:
        session.run_with_ort_values(None, {i.name: value_of(i) for i in session.get_inputs()})
    except Exception as e:
        text = " ".join(str(e).split())
        return "does not run: " + text if any(sign in text for sign in SIGNS) else ""
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--run", action="store_true")
    options, rest = parser.parse_known_args()
    ort.set_default_logger_severity(4)
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 4
    writer = subprocess.Popen([options.program, *rest], stdout=subprocess.PIPE)
    count = collections.Counter()
    for line in writer.stdout:
        size, what = line.decode().rstrip("\n").split(" ", 1)
        if size == "0":
            count["refused"] += 1
            if " kernel" not in what or "\n" in what:
                count["wrong"] += 1
                print(f"refused without a reason: {what}")
            continue
        fault = fault_of(writer.stdout.read(int(size)), settings, options.run)
        count["wrong" if fault else "loaded"] += 1
        if fault and count["wrong"] <= 100:
            print(f"{what}: {fault[:400]}")
    print(f"{count['loaded']} models load, {count['refused']} are refused, {count['wrong']} are wrong")
    return 1 if writer.wait() != 0 or count["wrong"] or not count["loaded"] or not count["refused"] else 0


if __name__ == "__main__":
    sys.exit(main())
