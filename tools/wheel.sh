#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes dist/aton_onnx-VERSION-py3-none-manylinux_2_28_x86_64.whl on Debian 12. GCC compiles, with the flags of the preset release, so that
# ccache has the objects; zig only links them, with the symbol versions of glibc 2.28. ONNX, protobuf, simdjson and libstdc++
# are linked statically. tools/make_wheel.py derives the platform in the wheel's name from the program that it packs.
# ATON_SIMDJSON_SOURCE_DIR: a folder with the sources of simdjson, in the version of the installed headers.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/setup.sh
readonly glibc=2.28 parts="$ATON_ROOT/build/wheel-parts"
if [ "$(uname -m)" != x86_64 ]; then echo "wheel: only x86-64 is supported, not $(uname -m)" >&2; exit 1; fi
mkdir -p "$parts" dist

# zig
if ! cmp -s packaging/wheel/requirements.txt "$parts/venv/requirements"; then
    "$ATON_PYTHON" -m venv --clear "$parts/venv"
    "$parts/venv/bin/pip" install -qq --disable-pip-version-check -r packaging/wheel/requirements.txt
    cp packaging/wheel/requirements.txt "$parts/venv/requirements"
fi

# simdjson
export ATON_SIMDJSON_LIBRARY="$parts/libsimdjson.a"
if [ ! -f "$ATON_SIMDJSON_LIBRARY" ]; then
    sources="${ATON_SIMDJSON_SOURCE_DIR:-}"
    if [ -z "$sources" ]; then
        sources="$parts/simdjson"
        version="$(dpkg-query -W -f '${Version}' libsimdjson-dev)"
        mkdir -p "$parts/apt/lists/partial" "$sources"
        echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$parts/apt/sources.list"
        apt=(apt-get -qq -o "Dir::Etc::sourcelist=$parts/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
            -o "Dir::State::lists=$parts/apt/lists" -o APT::Sandbox::User=root)
        "${apt[@]}" update
        (cd "$parts/apt" && "${apt[@]}" source --download-only "simdjson=$version")
        tar -xf "$parts/apt/simdjson_${version%-*}.orig.tar.gz" -C "$sources" --strip-components=1
    fi
    g++ -std=c++17 -O2 -DNDEBUG -fPIC -I "$sources/include" -I "$sources/src" -c "$sources/src/simdjson.cpp" -o "$parts/simdjson.o"
    cp "$sources/LICENSE" "$parts/simdjson-license"
    ar rcs "$ATON_SIMDJSON_LIBRARY" "$parts/simdjson.o"
fi

# The command. Its folder is as deep as those of the presets: ccache hashes relative paths.
zig="$parts/venv/bin/python -m ziglang cc -target x86_64-linux-gnu.$glibc"
rule="$zig -O2 -s -Wl,--gc-sections <OBJECTS> -o <TARGET> <LINK_LIBRARIES> $ATON_ROOT/packaging/wheel/glibc_2_28.c"
rule+=" $(g++ -print-file-name=libstdc++.a) -lunwind -lm -ldl -lpthread"
cmake -S . -B build/wheel -G Ninja -DCMAKE_BUILD_TYPE=Release -DATON_BUILD_TESTS=OFF -DATON_BUILD_RUNTIME=OFF -DATON_INSTALL=OFF \
    "-DATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR" "-Dsimdjson_DIR=$ATON_ROOT/packaging/wheel" -DProtobuf_USE_STATIC_LIBS=ON \
    "-DCMAKE_CXX_LINK_EXECUTABLE=$rule" >"$parts/configure.log"
cmake --build build/wheel --target aton_command

"$ATON_PYTHON" tools/make_wheel.py --aton build/wheel/aton --glibc "$glibc" --dist dist \
    --license "onnx=$(echo "$ATON_ONNX_SOURCE_DIR"/onnx-*.dist-info/licenses/LICENSE)" \
    --license protobuf=/usr/share/doc/libprotobuf-dev/copyright --license "simdjson=$parts/simdjson-license" \
    --license libstdc++=/usr/share/doc/libstdc++-12-dev/copyright
