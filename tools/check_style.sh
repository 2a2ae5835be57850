#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Checks the code with clang-format, and with --tidy also with clang-tidy. Every finding is an error; nothing is changed.
#
#   tools/check_style.sh                    clang-format: seconds
#   tools/check_style.sh --tidy [FOLDER]    also clang-tidy, with FOLDER/compile_commands.json of a build (build/release): minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tracked and written by hand: neither generated/ nor single_include/. The cases of compile_fail keep their own format.
sources() {
    git ls-files -- "$@" | grep -v -e /generated/ -e ^single_include/ -e ^tests/compile_fail/cases/ | while read -r file; do
        if [ -f "$file" ]; then echo "$file"; fi
    done
}

check_format() {
    local files
    mapfile -t files < <(sources '*.hpp' '*.cpp' '*.cu' '*.cuh')
    clang-format-19 --dry-run -Werror "${files[@]}" || {
        echo "not formatted; run clang-format-19 -i FILE" >&2
        return 1
    }
    echo "clang-format: ${#files[@]} files are clean"
}

case "${1:-}" in
    "") check_format ;;
    --tidy)
        check_format
        sources '*.cpp' 'include/*.hpp' | python3 tools/check_tidy "${2:-build/release}"
        ;;
    *) echo "usage: tools/check_style.sh [--tidy [FOLDER]]" >&2; exit 2 ;;
esac
