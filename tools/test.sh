#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds everything and runs the tests: the quick ones, or all of them. Ends with ctest's closing line.
#
#   tools/test.sh                  quick, release build
#   tools/test.sh --full           everything: all tests of the release build (other compilers, every header alone, fuzzers, style),
#                                  then the quick tests again in the presets asan (there also what is labelled sanitizers), clang and,
#                                  where nvcc is, cuda
#   tools/test.sh --full-release   the first half of that: what is labelled full, in the release build; and, where nvcc is, the kernels
#                                  of the GPU compiled, and tested where a GPU is
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# Recorded results that do not live in the repository; their tests are added where the folder exists.
export ATON_SHARED_DIR="${ATON_SHARED_DIR:-$ATON_ROOT/../shared}"

# Builds a preset and runs its tests; prints what ctest says, its closing line last.
run_tests() {
    local preset=$1 report="$ATON_ROOT/build/ctest-$1.log" status=0
    shift
    aton_build "$preset"
    ctest --preset "$preset" --parallel "$(nproc)" "$@" >"$report" 2>&1 || status=$?
    grep -v '^ *Start ' "$report" | grep -v -e ' tests passed, ' -e ' tests failed out of ' || true
    grep -e ' tests passed, ' -e ' tests failed out of ' "$report" | tail -n 1 || { echo "ctest did not come to its end"; return 1; }
    return "$status"
}

# What nvcc compiles, and its tests: those that need a GPU are skipped where none is.
run_cuda() {
    aton_build cuda aton_cuda cuda_kernels_test dsl_in_cu_file
    ctest --preset cuda -R '^(dsl_in_cu_file|cuda_kernels_test)$'
}

case "${1:-}" in
    "") run_tests release -L quick ;;
    --full-release)
        aton_install_full
        if command -v nvcc >/dev/null; then run_cuda; fi
        run_tests release -L full
        ;;
    --full)
        aton_install_full
        run_tests release
        # What a test of the release build has compared already, once more under other eyes: the programs, not the scripts.
        run_tests asan -L 'quick|sanitizers' -E 'compile_fail|docs_|oracle_|header'
        run_tests clang -L quick -E 'compile_fail|docs_|oracle_|header'
        if command -v nvcc >/dev/null; then run_cuda; fi
        ;;
    *) echo "usage: tools/test.sh [--full | --full-release]" >&2; exit 2 ;;
esac
