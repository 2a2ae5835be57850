#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds everything and runs the quick tests or all of them. The last line of output is ctest's summary.
#
#   tools/test.sh                  quick, release build
#   tools/test.sh --full           everything: all tests of the release build (other compilers, every header alone, fuzzers, style),
#                                  then the quick tests in the presets asan (with those labeled sanitizers), clang and, if nvcc is
#                                  installed, cuda
#   tools/test.sh --full-release   only the tests of the release build that are labeled full; if nvcc is installed, the GPU kernels
#                                  are also compiled, and tested if there is a GPU
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# Recorded results that are not part of the repository; their tests are added if the folder exists.
export ATON_SHARED_DIR="${ATON_SHARED_DIR:-$ATON_ROOT/../shared}"

# Builds a preset and runs its tests; prints ctest's report with the summary last.
run_tests() {
    local preset=$1 report="$ATON_ROOT/build/ctest-$1.log" status=0
    shift
    aton_build "$preset"
    ctest --preset "$preset" --parallel "$(nproc)" "$@" >"$report" 2>&1 || status=$?
    grep -v '^ *Start ' "$report" | grep -v -e ' tests passed, ' -e ' tests failed out of ' || true
    grep -e ' tests passed, ' -e ' tests failed out of ' "$report" | tail -n 1 || { echo "ctest did not finish"; return 1; }
    return "$status"
}

# Builds and tests what nvcc compiles; tests that need a GPU are skipped without one.
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
        # Programs are tested again with sanitizers and with Clang; scripts are not.
        run_tests asan -L 'quick|sanitizers' -E 'compile_fail|docs_|oracle_|header'
        run_tests clang -L quick -E 'compile_fail|docs_|oracle_|header'
        if command -v nvcc >/dev/null; then run_cuda; fi
        ;;
    *) echo "usage: tools/test.sh [--full | --full-release]" >&2; exit 2 ;;
esac
