#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the command as one static executable for Linux, build/static/aton, and tests it in an empty root file system.
#
#   tools/static.sh           what is needed, build, tests
#   tools/static.sh --build   without the tests, which are those of ctest's static_test
#
# simdjson is built from Debian's source package, ONNX from the sources in its wheel.
# ATON_SIMDJSON_SOURCE_DIR: a folder with the sources of simdjson, in the version of the installed headers.
# ATON_JOBS: at most this many compilers at a time.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case "$*" in
    "" | --build) ;;
    *) echo "usage: tools/static.sh [--build]" >&2; exit 2 ;;
esac
. tools/setup.sh

readonly parts="$ATON_ROOT/build/static-dependencies"
mkdir -p "$parts"
if [ ! -e "$parts/libsimdjson.a" ]; then
    sources="${ATON_SIMDJSON_SOURCE_DIR:-}"
    if [ -z "$sources" ]; then
        sources="$parts/simdjson"
        aton_source simdjson libsimdjson-dev "$sources"
    fi
    "${CXX:-c++}" -std=c++17 -O2 -DNDEBUG -fPIC -I "$sources/include" -I "$sources/src" -c "$sources/src/simdjson.cpp" -o "$parts/simdjson.o"
    ar rcs "$parts/libsimdjson.a" "$parts/simdjson.o"
fi

echo "static: build/static/aton (log: build/static.log)"
{
    cmake --preset static "-DATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR" &&
        cmake --build --preset static --target aton_command --parallel "${ATON_JOBS:-$(nproc)}"
} >build/static.log 2>&1 || { tail -n 40 build/static.log >&2; exit 1; }
if [ "$*" = --build ]; then exit; fi
aton_build release aton_command
"$ATON_PYTHON" tests/static/static_test.py --aton build/release/aton --static build/static/aton
