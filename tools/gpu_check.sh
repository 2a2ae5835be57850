#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# For a machine with a GPU and nvcc: builds the runtime for that GPU, runs its tests, also under compute-sanitizer if it is installed, and
# the benchmark, and writes docs/gpu_results.md with the device, the date and the results.
#
#   tools/gpu_check.sh [FILE]      FILE instead of docs/gpu_results.md
#
# Exits with 1 if anything failed; the file has the details. ATON_ONNX_NODE_TESTS=FOLDER: existing ONNX node tests
# (tests/runtime/make_node_tests.py), for machines without the Python package onnx.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh" || exit 1
cd "$ATON_ROOT" || exit 1

command -v nvcc >/dev/null || { echo "gpu_check: nvcc not found" >&2; exit 1; }
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || { echo "gpu_check: no GPU found" >&2; exit 1; }

out="${1:-docs/gpu_results.md}"
build=build/gpu
node_tests="${ATON_ONNX_NODE_TESTS:-$build/tests/node_tests}"
capability="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d '. ')"
failures=0

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DATON_BUILD_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=$capability" \
    "-DATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR" "-DPython3_EXECUTABLE=$ATON_PYTHON" >"$build.log" 2>&1 &&
    cmake --build "$build" --target cuda_kernels_test runtime_node_tests aton_verify_command cuda_benchmark >>"$build.log" 2>&1 ||
    { tail -n 20 "$build.log" >&2; echo "gpu_check: the build failed; the log is $build.log" >&2; exit 1; }
[ -d "$node_tests" ] || "$ATON_PYTHON" tests/runtime/make_node_tests.py --out "$node_tests" || exit 1

# section TITLE COMMAND...: runs a command and writes its last lines and whether it passed to the report.
section() {
    local title=$1 status=0 text
    shift
    echo "gpu_check: $title" >&2
    text="$("$@" 2>&1)" || status=$?
    [ "$status" -eq 0 ] || failures=$((failures + 1))
    printf '## %s\n\n' "$title"
    if [ "$status" -eq 0 ]; then printf 'Passed.\n\n'; else printf '**Failed**, exit status %s.\n\n' "$status"; fi
    # shellcheck disable=SC2016 # Markdown's own marks
    printf '```\n%s\n```\n\n' "$(tail -n 12 <<<"$text")"
}

{
    echo "# On a GPU"
    echo
    echo "Written by \`tools/gpu_check.sh\`; do not edit."
    echo
    echo "- Date: $(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD)"
    echo "- Device: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader -i 0)"
    echo "- Compiler: $(nvcc --version | sed -n 's/.*release \([^,]*\),.*/nvcc \1/p')"
    echo
    section "Kernels, compared with those of the CPU" "$build/cuda_kernels_test"
    section "ONNX's node tests, computed on the GPU" "$build/tests/runtime_node_tests" "$node_tests" --device cuda \
        --known tests/runtime/known_node_failures.txt --least 98.5
    section "Every built-in mapping, both sides computed on the GPU" "$build/aton-verify" --device cuda --samples 1
    if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck; do
            section "compute-sanitizer: $tool" compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/cuda_kernels_test"
        done
    else
        printf '## compute-sanitizer\n\nNot run: it is not installed on this machine.\n\n'
    fi
    echo "gpu_check: benchmark" >&2
    printf '## Bandwidth\n\nRequired: 85 %% of the copy for elementwise kernels, 80 %% for reductions.\n\n'
    "$build/cuda_benchmark" --check || failures=$((failures + 1))
} >"$out.part"
mv "$out.part" "$out"
echo "gpu_check: $failures failed; $out"
[ "$failures" -eq 0 ]
