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
#
# Both kinds of --full continue where an earlier run stopped: tests that passed in the same state of the tree are left out (build/passed).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

# Recorded results that do not live in the repository; their tests are added where the folder exists.
export ATON_SHARED_DIR="${ATON_SHARED_DIR:-$ATON_ROOT/../shared}"

# A name for the state of the tree: what passed in it need not run again.
tree_state() {
    git -C "$ATON_ROOT" rev-parse --is-inside-work-tree >/dev/null 2>&1 || { date +%s%N; return; }
    { git -C "$ATON_ROOT" rev-parse HEAD; git -C "$ATON_ROOT" diff HEAD
      git -C "$ATON_ROOT" ls-files -o --exclude-standard -z | xargs -0 -r sha1sum; } 2>/dev/null | sha1sum | cut -c1-16
}

# Builds a preset and runs its tests; prints what ctest says, its closing line last. run_tests PRESET EXCLUDED [ctest's arguments...]
# With CONTINUE set, tests that passed before in this preset and this state of the tree are left out.
run_tests() {
    local preset=$1 excluded=$2 report="$ATON_ROOT/build/ctest-$1.log" passed="" status=0
    shift 2
    if [ "$*" = "-L quick" ]; then aton_build "$preset" aton_quick_tests; else aton_build "$preset"; fi
    if [ -n "${CONTINUE:-}" ]; then
        passed="$ATON_ROOT/build/passed/$(tree_state)-$preset"
        mkdir -p "$(dirname "$passed")"
        touch "$passed"
        if [ -s "$passed" ]; then
            echo "tests: $(wc -l <"$passed") passed before in this state of the tree; they are left out"
            excluded+="${excluded:+|}^($(paste -sd '|' "$passed"))\$"
        fi
    fi
    set -o pipefail
    ctest --preset "$preset" --parallel "$(nproc)" "$@" ${excluded:+-E "$excluded"} 2>&1 |
        aton_progress "tests: preset $preset" "$report" || status=$?
    if [ -n "$passed" ]; then
        sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([A-Za-z0-9_]+) \.* +Passed .*/\1/p' "$report" >>"$passed"
        if grep -q 'No tests were found' "$report"; then echo "100% tests passed, 0 tests failed out of 0"; return; fi
    fi
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
    "") run_tests release "" -L quick ;;
    --full-release)
        aton_install_full
        if command -v nvcc >/dev/null; then run_cuda; fi
        CONTINUE=1 run_tests release "" -L full
        ;;
    --full)
        aton_install_full
        export CONTINUE=1
        run_tests release ""
        # What a test of the release build has compared already, once more under other eyes: the programs, not the scripts.
        run_tests asan 'compile_fail|docs_|oracle_|header' -L 'quick|sanitizers'
        run_tests clang 'compile_fail|docs_|oracle_|header' -L quick
        if command -v nvcc >/dev/null; then run_cuda; fi
        ;;
    *) echo "usage: tools/test.sh [--full | --full-release]" >&2; exit 2 ;;
esac
