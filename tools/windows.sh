#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds aton.exe for 64-bit Windows on Debian 12 or later, with MinGW-w64, and tests it with Wine: build/windows/aton.exe.
#
#   tools/windows.sh           what is needed, build, tests
#   tools/windows.sh --build   without the tests, which are those of ctest's windows_test
#
# protobuf and simdjson are built from Debian's source packages (packaging/windows/), ONNX from the sources in its wheel.
# ATON_JOBS: at most this many compilers at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case "$*" in
    "" | --build) ;;
    *) echo "usage: tools/windows.sh [--build]" >&2; exit 2 ;;
esac
. tools/setup.sh
missing=()
command -v x86_64-w64-mingw32-g++-posix >/dev/null || missing+=(g++-mingw-w64-x86-64-posix)
[ -x /usr/lib/wine/wine64 ] || command -v wine64 >/dev/null || missing+=(wine64)
if [ "${#missing[@]}" -gt 0 ]; then aton_install "${missing[@]}"; fi

readonly parts="$ATON_ROOT/build/windows-dependencies"
jobs=(--parallel "${ATON_JOBS:-$(nproc)}")
mkdir -p "$parts"
if [ ! -e "$parts/installed/complete" ]; then
    echo "windows: protobuf and simdjson (log: build/windows-dependencies/log)"
    aton_source protobuf libprotobuf-dev "$parts/protobuf"
    aton_source simdjson libsimdjson-dev "$parts/simdjson"
    {
        cmake -S packaging/windows -B "$parts/build" -G Ninja --toolchain "$ATON_ROOT/cmake/mingw-w64.cmake" -DCMAKE_BUILD_TYPE=Release \
            "-DATON_PROTOBUF_SOURCE_DIR=$parts/protobuf/src" "-DATON_SIMDJSON_SOURCE_DIR=$parts/simdjson" \
            "-DCMAKE_INSTALL_PREFIX=$parts/installed" &&
            cmake --build "$parts/build" "${jobs[@]}" && cmake --install "$parts/build"
    } >"$parts/log" 2>&1 || { tail -n 40 "$parts/log" >&2; exit 1; }
    touch "$parts/installed/complete"
fi

echo "windows: build/windows/aton.exe (log: build/windows.log)"
{
    cmake --preset windows "-DATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR" && cmake --build --preset windows "${jobs[@]}"
} >build/windows.log 2>&1 || { tail -n 40 build/windows.log >&2; exit 1; }
if [ "$*" = --build ]; then exit; fi
aton_build release aton_command
"$ATON_PYTHON" tests/windows/windows_test.py --aton build/release/aton --windows build/windows
