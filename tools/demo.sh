#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# From nothing to a model that runs: builds Aton, lets the example write an .onnx file, prints, checks and runs it.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

step() { printf '\n\033[1m== %s\033[0m\n' "$*"; }

step "build: the aton command and the example (the first time with the ONNX library, some minutes)"
aton_build release aton_command first_model
aton="$ATON_ROOT/build/release/aton"
work="$ATON_ROOT/build/demo"
mkdir -p "$work"
cd "$work"

step "examples/first_model.cpp writes first_model.onnx"
"$ATON_ROOT/build/release/first_model" first_model.onnx

step "aton print first_model.onnx"
"$aton" print first_model.onnx

step "aton check first_model.onnx"
"$aton" check first_model.onnx

step "ONNX Runtime runs it"
"$ATON_PYTHON" "$ATON_ROOT/tools/run_onnx.py" first_model.onnx
