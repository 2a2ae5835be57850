#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds everything and runs the tests: the quick ones, or with --full all of them. Ends with ctest's closing line.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

labels=(-L quick)
case "${1:-}" in
    "") ;;
    --full) labels=() ;;
    *) echo "usage: tools/test.sh [--full]" >&2; exit 2 ;;
esac

# Recorded results that do not live in the repository; their tests are added where the folder exists.
export ATON_SHARED_DIR="${ATON_SHARED_DIR:-$ATON_ROOT/../shared}"

aton_build release
report="$ATON_ROOT/build/ctest.log"
status=0
ctest --preset release --parallel "$(nproc)" "${labels[@]}" >"$report" 2>&1 || status=$?
grep -v '^ *Start ' "$report" | grep -v -e ' tests passed, ' -e ' tests failed out of ' || true
grep -e ' tests passed, ' -e ' tests failed out of ' "$report" | tail -n 1 || { echo "ctest did not come to its end"; exit 1; }
exit "$status"
