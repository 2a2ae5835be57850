#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# On a machine with a GPU and nvcc: builds the runtime for that GPU, runs every test of it there, under compute-sanitizer too where that
# is, and the benchmark, and writes docs/gpu_results.md with the device, the date and the figures.
#
#   tools/gpu_check.sh [FILE]      FILE instead of docs/gpu_results.md
#
# Exits with 1 where anything failed; the file says what. ATON_ONNX_NODE_TESTS=FOLDER: ONNX's node tests where they have been written
# already (tests/runtime/make_node_tests.py), for machines without Python's onnx.
set -uo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh" || exit 1
cd "$ATON_ROOT" || exit 1

command -v nvcc >/dev/null || { echo "gpu_check: there is no nvcc" >&2; exit 1; }
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || { echo "gpu_check: there is no GPU" >&2; exit 1; }

out="${1:-docs/gpu_results.md}"
build=build/gpu
node_tests="${ATON_ONNX_NODE_TESTS:-$build/tests/node_tests}"
capability="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d '. ')"
failures=0

cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DATON_BUILD_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=$capability" \
    "-DATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR" "-DPython3_EXECUTABLE=$ATON_PYTHON" >"$build.log" 2>&1 &&
    cmake --build "$build" --target cuda_kernels_test runtime_node_tests aton_verify_command cuda_benchmark >>"$build.log" 2>&1 ||
    { tail -n 20 "$build.log" >&2; echo "gpu_check: the build failed; $build.log has all of it" >&2; exit 1; }
[ -d "$node_tests" ] || "$ATON_PYTHON" tests/runtime/make_node_tests.py --out "$node_tests" || exit 1

# section TITLE COMMAND...: what it printed last, and whether it passed, into the report.
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
    echo "Written by \`tools/gpu_check.sh\`; not by hand."
    echo
    echo "- Date: $(date -u +%Y-%m-%d), commit $(git rev-parse --short HEAD)"
    echo "- Device: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader -i 0)"
    echo "- Compiler: $(nvcc --version | sed -n 's/.*release \([^,]*\),.*/nvcc \1/p')"
    echo
    section "Kernels, against those of the CPU" "$build/cuda_kernels_test"
    section "ONNX's node tests, computed on the GPU" "$build/tests/runtime_node_tests" "$node_tests" --device cuda \
        --known tests/runtime/known_node_failures.txt --least 98.5
    section "Every built-in mapping, both sides computed on the GPU" "$build/aton-verify" --device cuda --samples 1
    if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck; do
            section "compute-sanitizer: $tool" compute-sanitizer --tool "$tool" --error-exitcode 1 "$build/cuda_kernels_test"
        done
    else
        printf '## compute-sanitizer\n\nNot run: it is not on this machine.\n\n'
    fi
    echo "gpu_check: benchmark" >&2
    printf '## Bandwidth\n\nAsked for: 85 %% of the copy elementwise, 80 %% in reductions.\n\n'
    "$build/cuda_benchmark" --check || failures=$((failures + 1))
} >"$out.part"
mv "$out.part" "$out"
echo "gpu_check: $failures failed; $out"
[ "$failures" -eq 0 ]
