#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports the TorchScript archive of the package silero-vad at both of its sampling rates, and compares a stream of chunks with torch: the
module keeps its state in attributes, the graph gets it from the call before.

    tests/zoo/run_silero.py --aton build/release/aton [--chunks 20] [--archive silero_vad.jit]

tests/zoo/zoo.sh installs the package. Exit code 0; 1 if anything is wrong; 77 if torch, ONNX Runtime or the package is missing."""

import argparse
import importlib.util
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "models")]

import packages  # noqa: E402

TOLERANCE = 1e-4
RATES = {16000: 512, 8000: 256}  # and the samples of a chunk


def find_archive():
    spec = importlib.util.find_spec("silero_vad")
    folders = [pathlib.Path(each) for each in spec.submodule_search_locations] if spec else []
    folders += (ROOT / "build/zoo/venv").glob("lib/python*/site-packages/silero_vad")
    return next((path for folder in folders if (path := folder / "data" / "silero_vad.jit").exists()), None)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"))
    parser.add_argument("--chunks", type=int, default=20)
    parser.add_argument("--archive", type=pathlib.Path)
    options = parser.parse_args(words)
    if packages.is_missing("torch", "onnxruntime"):
        return 77
    archive = options.archive or find_archive()
    if archive is None:
        print("skipped: the package silero-vad is not installed (tests/zoo/zoo.sh)")
        return 77
    import torch

    from torchscript_state import call_in_turn
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder) / "silero.onnx"
        for rate, samples in RATES.items():
            done = subprocess.run([options.aton, "export", str(archive), "-o", str(model), "-q", "--input", f"x:float32[streams,{samples}]",
                                   "--input", f"sr={rate}"], capture_output=True, text=True, timeout=120)
            if done.returncode != 0:
                problems.append(f"{rate}: {done.stderr.strip()}")
                continue
            for streams in (1, 3):
                torch.manual_seed(rate + streams)
                chunks = [torch.randn(streams, samples) * 0.3 for _ in range(options.chunks)]
                worst = call_in_turn(archive, model, chunks, {}, rate)
                print(f"{rate} Hz, {streams} streams: {options.chunks} chunks, error {worst:.1e}")
                if not worst <= TOLERANCE:
                    problems.append(f"{rate}, {streams} streams: error {worst:.1e}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
