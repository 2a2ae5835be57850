#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Holds the code to .clang-format, and with --tidy to .clang-tidy too. Every finding fails; nothing is changed.
#
#   tools/check_style.sh                    clang-format: seconds
#   tools/check_style.sh --tidy [FOLDER]    clang-tidy as well, with FOLDER/compile_commands.json of a build (build/release): minutes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Tracked and written by hand: neither generated/ nor single_include/. The cases of compile_fail stand as their test wants them.
sources() {
    git ls-files -- "$@" | grep -v -e /generated/ -e ^single_include/ -e ^tests/compile_fail/cases/ | while read -r file; do
        if [ -f "$file" ]; then echo "$file"; fi
    done
}

check_format() {
    local files
    mapfile -t files < <(sources '*.hpp' '*.cpp' '*.cu' '*.cuh')
    clang-format-19 --dry-run -Werror "${files[@]}" || {
        echo "not as .clang-format says; to fix it: clang-format-19 -i FILE" >&2
        return 1
    }
    echo "clang-format: ${#files[@]} files are clean"
}

# Quiet about a file without findings; says what was found otherwise.
tidy_one() {
    local report
    report="$(clang-tidy-19 --quiet -p "$1" "$2" 2>&1)" || { printf '%s:\n%s\n' "$2" "$report" >&2; return 1; }
}
export -f tidy_one

check_tidy() {
    local build=$1 file files=()
    [ -f "$build/compile_commands.json" ] || { echo "no $build/compile_commands.json: build first, with tools/test.sh" >&2; return 1; }
    # Every header of ours is in one of these: tools/aton/ops_command.cpp has all the mappings.
    while read -r file; do
        if grep -qF "/$file\"" "$build/compile_commands.json"; then files+=("$file"); else echo "not in this build: $file"; fi
    done < <(sources '*.cpp')
    [ "${#files[@]}" -gt 0 ] || { echo "$build/compile_commands.json has none of our files" >&2; return 1; }
    printf '%s\n' "${files[@]}" | xargs -P 2 -I '{}' bash -c 'tidy_one "$@"' _ "$build" '{}' || {
        echo "clang-tidy found something; one file again: clang-tidy-19 -p $build FILE (some findings it fixes itself: --fix)" >&2
        return 1
    }
    echo "clang-tidy: ${#files[@]} files and the headers they include are clean"
}

case "${1:-}" in
    "") check_format ;;
    --tidy)
        check_format
        check_tidy "${2:-build/release}"
        ;;
    *) echo "usage: tools/check_style.sh [--tidy [FOLDER]]" >&2; exit 2 ;;
esac
