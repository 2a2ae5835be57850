#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Demonstrates an export: a classifier of handwritten digits, trained and saved by PyTorch, is exported without Python, printed, checked,
# and run on held-out digits.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

step "build: the aton command (the first time also the ONNX library, some minutes)"
aton_build release aton_command
aton="$ATON_ROOT/build/release/aton"
work="$ATON_ROOT/build/demo"
mkdir -p "$work"
cd "$work"
cp "$ATON_ROOT/examples/digits/digits.pt2" .

step "aton export digits.pt2 --dim image:0=batch"
"$aton" export digits.pt2 --dim image:0=batch

step "aton print digits.onnx"
"$aton" print digits.onnx

step "aton check digits.onnx"
"$aton" check digits.onnx

step "ONNX Runtime runs it on the held-out digits"
"$ATON_PYTHON" "$ATON_ROOT/examples/digits/run.py" digits.onnx --show 5
