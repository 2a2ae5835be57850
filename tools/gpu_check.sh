#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# For a machine with a GPU and nvcc: builds the runtime for that GPU, runs its tests, also under compute-sanitizer if it is installed, and
# the benchmark, and writes docs/results/gpu_results.md with the device, the date and the results.
#
#   tools/gpu_check.sh [FILE]      FILE instead of docs/results/gpu_results.md
#
# Exits with 1 if anything failed; the file has the details. For machines where nothing can be installed or built:
#
#   ATON_GPU_PROGRAMS=FOLDER       the programs, as built elsewhere for this GPU, in the folders of a build; nothing is built
#   ATON_ONNX_NODE_TESTS=FOLDER    existing ONNX node tests (tests/runtime/make_node_tests.py)
#   ATON_GPU_MODELS=FOLDER         more programs (.pt2) than those of tests/data/pt2, such as the model zoo's
#   ATON_GPU_SECONDS=3600          the maximum time of a test
#
# If python3 (or $PYTHON) has a PyTorch with CUDA, the benchmark has its times beside Aton's.
set -uo pipefail
ATON_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ATON_ROOT" || exit 1
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || { echo "gpu_check: no GPU found" >&2; exit 1; }

out="${1:-docs/results/gpu_results.md}"
build="${ATON_GPU_PROGRAMS:-build/gpu}"
node_tests="${ATON_ONNX_NODE_TESTS:-build/gpu/tests/node_tests}"
limit=(timeout "${ATON_GPU_SECONDS:-3600}")
failures=0

if [ -z "${ATON_GPU_PROGRAMS:-}" ]; then
    . tools/setup.sh || exit 1
    command -v nvcc >/dev/null || { echo "gpu_check: nvcc not found" >&2; exit 1; }
    capability="$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0 | tr -d '. ')"
    cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DATON_BUILD_CUDA=ON "-DCMAKE_CUDA_ARCHITECTURES=$capability" \
        "-DATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR" "-DPython3_EXECUTABLE=$ATON_PYTHON" >"$build.log" 2>&1 &&
        cmake --build "$build" --target cuda_kernels_test runtime_node_tests aton_verify_command aton_command cuda_benchmark \
            >>"$build.log" 2>&1 ||
        { tail -n 20 "$build.log" >&2; echo "gpu_check: the build failed; the log is $build.log" >&2; exit 1; }
    [ -d "$node_tests" ] || "$ATON_PYTHON" tests/runtime/make_node_tests.py --out "$node_tests" || exit 1
fi
temporary="$(mktemp -d)"
trap 'rm -rf "$temporary"' EXIT

# section TITLE COMMAND...: runs a command and writes its last lines and whether it passed to the report.
section() {
    local title=$1 status=0 text start=$SECONDS
    shift
    text="$("$@" 2>&1)" || status=$?
    echo "gpu_check: $title: exit status $status after $((SECONDS - start)) s" >&2
    [ "$status" -eq 0 ] || failures=$((failures + 1))
    printf '## %s\n\n' "$title"
    if [ "$status" -eq 0 ]; then printf 'Passed.\n\n'; else printf '**Failed**, exit status %s.\n\n' "$status"; fi
    # shellcheck disable=SC2016 # Markdown's own marks
    printf '<!-- not checked: it needs a GPU -->\n```text\n%s\n```\n\n' "$(tail -n 12 <<<"$text")"
}

# Every program in the given folders, with its graph, both computed on the GPU.
models() {
    find "$@" -name '*.pt2' | sort | ATON_PROGRAMS="$build" TEMPORARY="$temporary" xargs -P "$(nproc)" -I{} bash -c '
        graph="$(mktemp -d -p "$TEMPORARY")/model.onnx"
        "$ATON_PROGRAMS/aton" export -q "$1" -o "$graph" 2>/dev/null || { echo "refused $1"; exit 0; }
        if text="$("$ATON_PROGRAMS/aton-verify" --device cuda --samples 1 "$1" "$graph" 2>&1)"; then echo "same $1"
        else echo "DIFFERENT $1: $(tail -n 1 <<<"$text")"; fi
        rm -r "$(dirname "$graph")"' _ {} >"$temporary/models"
    sort "$temporary/models" | grep '^DIFFERENT'
    cut -d ' ' -f 1 "$temporary/models" | sort | uniq -c
    grep -q '^same' "$temporary/models" && ! grep -q '^DIFFERENT' "$temporary/models"
}

{
    echo "# On a GPU"
    echo
    echo "Written by \`tools/gpu_check.sh\`; do not edit."
    echo
    echo "- Date: $(date -u +%Y-%m-%d)"
    echo "- Device: $(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader -i 0)"
    echo
    section "Kernels, compared with those of the CPU" "${limit[@]}" "$build/cuda_kernels_test"
    section "ONNX's node tests, computed on the GPU" "${limit[@]}" "$build/tests/runtime_node_tests" "$node_tests" --device cuda \
        --known tests/runtime/known_node_failures.txt --least 98.5
    section "Programs and their graphs, computed on the GPU" models tests/data/pt2 ${ATON_GPU_MODELS:-}
    section "Every built-in mapping at opset 20, both sides computed on the GPU" "${limit[@]}" "$build/aton-verify" --device cuda --samples 1 --opset 20
    if command -v compute-sanitizer >/dev/null; then
        for tool in memcheck racecheck; do
            section "compute-sanitizer: $tool" "${limit[@]}" compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 1 "$build/cuda_kernels_test"
        done
    else
        printf '## compute-sanitizer\n\nNot run: it is not installed on this machine.\n\n'
    fi
    echo "gpu_check: benchmark" >&2
    printf '## Bandwidth\n\nRequired: 85 %% of the copy for elementwise kernels, 80 %% for reductions.\n\n'
    peer=()
    if "${PYTHON:-python3}" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        "${PYTHON:-python3}" benchmarks/runtime/torch_cuda.py >"$temporary/peer.tsv" && peer=(--peer "$temporary/peer.tsv")
        echo "PyTorch $("${PYTHON:-python3}" -c 'import torch; print(torch.__version__)') on the same GPU is beside it."
        echo
    fi
    "$build/cuda_benchmark" --check "${peer[@]}" || failures=$((failures + 1))
} >"$out.part"
mv "$out.part" "$out"
echo "gpu_check: $failures failed; $out"
[ "$failures" -eq 0 ]
