#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds everything and runs the quick tests or all of them. The last line of output is ctest's summary.
#
#   tools/test.sh                  quick, release build; a new build folder has the CPU kernels for one instruction set only
#   tools/test.sh --full           everything: all tests of the release build (other compilers, every header alone, fuzzers, style),
#                                  then the quick tests in the presets asan (with those labeled sanitizers), clang and, if nvcc is
#                                  installed, cuda
#   tools/test.sh --full-release   only the tests of the release build that are labeled full; if nvcc is installed, the GPU kernels
#                                  are also compiled, and tested if there is a GPU
#
# Both kinds of --full continue an interrupted run: tests that passed with the same state of the tree (build/passed) are skipped.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# Recorded results that are not part of the repository; their tests are added if the folder exists.
export ATON_SHARED_DIR="${ATON_SHARED_DIR:-$ATON_ROOT/../shared}"

# Prints a hash of the working tree: tests that passed with it need not run again.
tree_state() {
    git -C "$ATON_ROOT" rev-parse --is-inside-work-tree >/dev/null 2>&1 || { date +%s%N; return; }
    { git -C "$ATON_ROOT" rev-parse HEAD; git -C "$ATON_ROOT" diff HEAD
      git -C "$ATON_ROOT" ls-files -o --exclude-standard -z | xargs -0 -r sha1sum; } 2>/dev/null | sha1sum | cut -c1-16
}

# Builds a preset and runs its tests; prints ctest's report with the summary last: run_tests PRESET EXCLUDED [ctest's arguments...]
# If CONTINUE is set, tests of this preset that passed with this state of the tree are skipped.
run_tests() {
    local preset=$1 excluded=$2 report="$ATON_ROOT/build/ctest-$1.log" passed="" status=0
    shift 2
    if [ "$*" = "-L quick" ]; then aton_build "$preset" aton_quick_tests; else aton_build "$preset"; fi
    if [ -n "${CONTINUE:-}" ]; then
        passed="$ATON_ROOT/build/passed/$(tree_state)-$preset"
        mkdir -p "$(dirname "$passed")"
        touch "$passed"
        if [ -s "$passed" ]; then
            echo "tests: $(wc -l <"$passed") passed before with this state of the tree and are skipped"
            excluded+="${excluded:+|}^($(paste -sd '|' "$passed"))\$"
        fi
    fi
    ctest --preset "$preset" --parallel "$(nproc)" "$@" ${excluded:+-E "$excluded"} 2>&1 |
        aton_progress "tests: preset $preset" "$report" || status=$?
    if [ -n "$passed" ]; then
        sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([A-Za-z0-9_]+) \.* +Passed .*/\1/p' "$report" >>"$passed"
        if grep -q 'No tests were found' "$report"; then echo "100% tests passed, 0 tests failed out of 0"; return; fi
    fi
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
    "")
        [ -e "$ATON_ROOT/build/release/CMakeCache.txt" ] || export ATON_KERNEL_VARIANTS="${ATON_KERNEL_VARIANTS:-OFF}"
        run_tests release "" -L quick
        ;;
    --full-release)
        aton_install_full
        export ATON_KERNEL_VARIANTS=ON
        if command -v nvcc >/dev/null; then run_cuda; fi
        CONTINUE=1 run_tests release "" -L full
        ;;
    --full)
        aton_install_full
        export ATON_KERNEL_VARIANTS=ON
        export CONTINUE=1
        run_tests release ""
        # Programs are tested again with sanitizers and with Clang; scripts are not.
        run_tests asan 'compile_fail|docs_|oracle_|header' -L 'quick|sanitizers'
        run_tests clang 'compile_fail|docs_|oracle_|header' -L quick
        if command -v nvcc >/dev/null; then run_cuda; fi
        ;;
    *) echo "usage: tools/test.sh [--full | --full-release]" >&2; exit 2 ;;
esac
