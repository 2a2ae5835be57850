#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes dist/aton_onnx-VERSION-py3-none-manylinux_2_28_ARCH.whl on Debian 12, x86-64.
#
#   tools/wheel.sh [--arch x86_64|aarch64]
#
# GCC compiles, for x86_64 with the flags of the preset release, so that ccache has the objects; zig only links them, with the symbol
# versions of glibc 2.28. ONNX, protobuf, simdjson, libstdc++ and libgomp are linked statically. tools/make_wheel.py derives the platform in the
# wheel's name from the program that it packs. For aarch64 it needs g++-12-aarch64-linux-gnu, and qemu-user-static to run the command.
# ATON_SIMDJSON_SOURCE_DIR: a folder with the sources of simdjson, in the version of the installed headers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
arch=x86_64
if [ "${1:-}" = --arch ]; then arch="${2:-}"; shift 2; fi
case "$#:$arch" in
    0:x86_64 | 0:aarch64) ;;
    *) echo "usage: tools/wheel.sh [--arch x86_64|aarch64]" >&2; exit 2 ;;
esac
. tools/setup.sh
readonly glibc=2.28 parts="$ATON_ROOT/build/wheel-parts"
if [ "$(uname -m)" != x86_64 ]; then echo "wheel: it is made on x86-64 only, not on $(uname -m)" >&2; exit 1; fi
mkdir -p "$parts/$arch" dist

compiler=g++ binutils="" build=build/wheel cross=() runner=""
if [ "$arch" = aarch64 ]; then
    compiler=aarch64-linux-gnu-g++-12 binutils=aarch64-linux-gnu- build=build/wheel-aarch64
    runner="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
    for program in "$compiler:g++-12-aarch64-linux-gnu" "${binutils}strip:binutils-aarch64-linux-gnu" qemu-aarch64-static:qemu-user-static; do
        command -v "${program%%:*}" >/dev/null || { echo "wheel: ${program%%:*} is missing: apt-get install ${program##*:}" >&2; exit 1; }
    done
    cross=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 "-DCMAKE_CXX_COMPILER=$(command -v "$compiler")"
        "-DProtobuf_LIBRARY=$parts/$arch/protobuf/usr/lib/aarch64-linux-gnu/libprotobuf.a")
fi

# zig
if ! cmp -s packaging/wheel/requirements.txt "$parts/venv/requirements"; then
    "$ATON_PYTHON" -m venv --clear "$parts/venv"
    "$parts/venv/bin/pip" install -qq --disable-pip-version-check -r packaging/wheel/requirements.txt
    cp packaging/wheel/requirements.txt "$parts/venv/requirements"
fi

# protobuf of another architecture, in the version of the installed headers
if [ "$arch" = aarch64 ] && [ ! -d "$parts/$arch/protobuf" ]; then
    aton_apt "$parts/$arch/apt" "deb [arch=arm64]" APT::Architectures::=amd64 APT::Architectures::=arm64
    (cd "$parts/$arch/apt" && "${apt[@]}" download "libprotobuf-dev:arm64=$(dpkg-query -W -f '${Version}' libprotobuf-dev)")
    dpkg-deb -x "$parts/$arch"/apt/libprotobuf-dev_*_arm64.deb "$parts/$arch/protobuf"
fi

# simdjson
export ATON_SIMDJSON_LIBRARY="$parts/$arch/libsimdjson.a"
if [ ! -f "$ATON_SIMDJSON_LIBRARY" ]; then
    sources="${ATON_SIMDJSON_SOURCE_DIR:-}"
    if [ -z "$sources" ]; then
        sources="$parts/simdjson"
        aton_source simdjson libsimdjson-dev "$sources"
    fi
    "$compiler" -std=c++17 -O2 -DNDEBUG -fPIC -I "$sources/include" -I "$sources/src" -c "$sources/src/simdjson.cpp" \
        -o "$parts/$arch/simdjson.o"
    cp "$sources/LICENSE" "$parts/simdjson-license"
    ar rcs "$ATON_SIMDJSON_LIBRARY" "$parts/$arch/simdjson.o"
fi

# The command. Its folder is as deep as those of the presets: ccache hashes relative paths.
zig="$parts/venv/bin/python -m ziglang cc -target $arch-linux-gnu.$glibc"
rule="$zig -O2 -s -Wl,--gc-sections <OBJECTS> -o <TARGET> <LINK_LIBRARIES> $ATON_ROOT/packaging/wheel/glibc_2_28.c"
# libgcc has the atomic operations that GCC calls on aarch64, and what it asks for the features of an x86-64 CPU: zig's own answers "none".
rule+=" $("$compiler" -print-file-name=libstdc++.a) $("$compiler" -print-file-name=libgcc.a) -lunwind -lm -ldl -lpthread"
openmp="$("$compiler" -print-file-name=libgomp.a)"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DATON_UNITY_BUILD=ON -DATON_BUILD_TESTS=OFF -DATON_INSTALL=OFF \
    -DATON_BUILD_RUNTIME=ON -DATON_LINK_VERIFY=ON \
    -DOpenMP_CXX_FLAGS=-fopenmp -DOpenMP_CXX_LIB_NAMES=gomp "-DOpenMP_gomp_LIBRARY=$openmp" \
    "-DATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR" "-Dsimdjson_DIR=$ATON_ROOT/packaging/wheel" -DProtobuf_USE_STATIC_LIBS=ON \
    "-DCMAKE_CXX_LINK_EXECUTABLE=$rule" "${cross[@]}" >"$parts/configure.log"
cmake --build "$build" --target aton_command

"$ATON_PYTHON" tools/make_wheel.py --aton "$build/aton" --glibc "$glibc" --dist dist \
    --machine "$arch" --binutils "$binutils" --runner "$runner" \
    --license "onnx=$(echo "$ATON_ONNX_SOURCE_DIR"/onnx-*.dist-info/licenses/LICENSE)" \
    --license protobuf=/usr/share/doc/libprotobuf-dev/copyright --license "simdjson=$parts/simdjson-license" \
    --license libstdc++-and-libgomp=/usr/share/doc/libstdc++-12-dev/copyright --license eigen=/usr/share/doc/libeigen3-dev/copyright
