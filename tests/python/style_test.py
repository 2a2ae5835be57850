# SPDX-License-Identifier: MIT
"""Runs mypy --strict and ruff, with the settings of python/pyproject.toml, on the package aton_onnx. Exits with 77 without them."""

import importlib.util
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "python"

for name in ("mypy", "ruff"):
    if importlib.util.find_spec(name) is None:
        print(f"skipped: {name} is not installed (tests/requirements.txt)")
        sys.exit(77)
for command in (["mypy", "--cache-dir=/dev/null", "aton_onnx"], ["ruff", "check", "--no-cache", "."]):
    subprocess.run([sys.executable, "-m", *command], cwd=FOLDER, check=True)
