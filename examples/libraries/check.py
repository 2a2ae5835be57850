# SPDX-License-Identifier: MIT
"""Checks the plugins of this folder, and makes the files that the checks read.

    check.py LIBRARY ... --plugins FOLDER [--aton aton]   export model.pt2 at several opsets, run it in ONNX Runtime on two input sets,
                                                          compare with torch's results, and verify the rows with recorded calls
    check.py LIBRARY ... --plugins FOLDER --again         the same with models and calls made now; exit code 77 where there is no torch
    check.py LIBRARY ... --make                           write model.pt2, recorded.npz and calls/ (needs torch 2.13, aton_onnx)

A library is a folder: operators.py has the operators in terms of torch's own, a model, its inputs, and calls; mappings.hpp has the rows."""

import argparse
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime

HERE = pathlib.Path(__file__).resolve().parent
OPSETS = (13, 18, 20, 23)


def aton(options, *words):
    run = subprocess.run([options.aton, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)
    if run.returncode != 0:
        raise RuntimeError(f"aton {' '.join(map(str, words))}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def opsets_of(options, plugin):
    """The opsets of OPSETS at which the plugin has all of its rows: a model calls every operator of a library."""
    listed = [line.split()[0] for line in aton(options, "ops", "--all", "--plugin", plugin).splitlines() if str(plugin) in line]
    first = max(int(span.split("-")[0]) for span in listed)
    return [opset for opset in OPSETS if opset >= first]


def differences(model, recorded):
    """What ONNX Runtime computes otherwise than torch, for each set of recorded inputs."""
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    for case in sorted({key.split("/")[0] for key in recorded}):
        feeds = {each.name: recorded[f"{case}/in/{each.name}"] for each in session.get_inputs()}
        expected = [value for key, value in recorded.items() if key.startswith(f"{case}/out/")]
        results = session.run(None, feeds)
        if len(results) != len(expected):
            yield f"{case}: {len(results)} results, not {len(expected)}"
        for output, got, right in zip(session.get_outputs(), results, expected):
            if got.dtype != right.dtype or got.shape != right.shape:
                yield f"{case}: {output.name} is {got.dtype}{got.shape}, not {right.dtype}{right.shape}"
            elif not numpy.allclose(got, right, rtol=1e-4, atol=1e-5, equal_nan=True):
                yield f"{case}: {output.name} has other numbers, by up to {numpy.abs(got - right).max()}"


def check(options, name, data):
    """What is wrong, a line each; `data` holds model.pt2, recorded.npz and calls/."""
    plugin = options.plugins / f"lib{name}_onnx.so"
    with numpy.load(data / "recorded.npz") as file:
        recorded = dict(file)
    wrong = []
    try:
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder, "model.onnx")
            for opset in opsets_of(options, plugin):
                for more in ([], ["--inline-functions"]):
                    aton(options, "export", data / "model.pt2", "-o", model, "--plugin", plugin, "--opset", opset, *more)
                    onnx.checker.check_model(str(model), full_check=True)
                    wrong += [f"{name}, opset {opset}: {' '.join([*more, each])}" for each in differences(model, recorded)]
        # A build without the runtime has no `aton verify`.
        if subprocess.run([options.aton, "verify", "--help"], capture_output=True, check=False).returncode == 0:
            print(aton(options, "verify", "--plugin", plugin, "--calls", data / "calls").splitlines()[1])
    except (RuntimeError, onnx.checker.ValidationError) as error:
        wrong.append(f"{name}: {error}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", nargs="+", metavar="LIBRARY")
    parser.add_argument("--aton", default="aton", help="the command")
    parser.add_argument("--plugins", type=pathlib.Path, help="the folder of the plugins: libvllm_onnx.so, ...")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--make", action="store_true")
    options = parser.parse_args()
    if (options.again or options.make) and importlib.util.find_spec("torch") is None:
        print("no torch: skipped")
        return 77

    wrong = []
    for name in options.libraries:
        with tempfile.TemporaryDirectory() as folder:
            data = pathlib.Path(folder) if options.again else HERE / name
            if options.again or options.make:
                import make

                make.write(name, data)
            if options.plugins:
                found = check(options, name, data)
                print(f"{name}: {'as PyTorch' if not found else 'WRONG'}", flush=True)
                wrong += found
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
