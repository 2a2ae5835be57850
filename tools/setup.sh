#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prepares a machine for building Aton: missing Debian packages (as root) and a Python environment in build/venv. Source it
# (`. tools/setup.sh`) to get ATON_ROOT, ATON_PYTHON and ATON_ONNX_SOURCE_DIR, or run it. If nothing is missing, it returns at
# once and does not use the network. ATON_WITH_TORCH=1 adds torch and the packages whose models the tests export.

aton_setup() {
    local root missing=() package
    root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)" || return 1

    # Programs from any source; libraries from Debian.
    for package in g++ cmake ninja:ninja-build ccache git python3 protoc:protobuf-compiler; do
        command -v "${package%%:*}" >/dev/null || missing+=("${package##*:}")
    done
    if command -v dpkg >/dev/null; then
        for package in libboost-dev libprotobuf-dev doctest-dev libcli11-dev libeigen3-dev libsimdjson-dev; do
            dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
        done
    fi
    if [ "${#missing[@]}" -gt 0 ]; then aton_install "${missing[@]}" || return 1; fi

    # The python3 in PATH may be pyenv's, which can create environments, or Debian's, which needs python3-venv for that.
    local venv="$root/build/venv"
    if ! "$venv/bin/python" -c '' 2>/dev/null; then
        mkdir -p "$root/build"
        if ! python3 -m venv --clear "$venv" >/dev/null 2>&1; then
            aton_install python3-venv || return 1
            /usr/bin/python3 -m venv --clear "$venv" || return 1
        fi
    fi

    # pip runs once per list of requirements, which is recorded in the environment.
    local wanted
    wanted="$(cat "$root/tools/requirements.txt"; echo "torch: ${ATON_WITH_TORCH:-0}")"
    if [ "${ATON_WITH_TORCH:-0}" = 1 ]; then wanted+="$(cat "$root/tests/models/requirements.txt")"; fi
    if [ "$(cat "$venv/aton-requirements" 2>/dev/null)" != "$wanted" ]; then
        echo "setup: installing Python packages into build/venv"
        local pip=("$venv/bin/python" -m pip install -qq --disable-pip-version-check --root-user-action=ignore)
        if [ "${ATON_WITH_TORCH:-0}" = 1 ]; then # torch first, so that dependent packages do not select another build
            "${pip[@]}" torch==2.13.0 && "${pip[@]}" -r "$root/tests/models/requirements.txt" || return 1
        fi
        "${pip[@]}" -r "$root/tools/requirements.txt" || return 1
        printf '%s\n' "$wanted" >"$venv/aton-requirements"
    fi

    export ATON_ROOT="$root"
    export ATON_PYTHON="$venv/bin/python"
    ATON_ONNX_SOURCE_DIR="$("$ATON_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" || return 1
    export ATON_ONNX_SOURCE_DIR
}

aton_install() {
    local sudo=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || { echo "setup: cannot install missing packages without root or sudo: $*" >&2; return 1; }
        sudo=(sudo)
    fi
    echo "setup: installing $*"
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq update >/dev/null || return 1
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "$@" >/dev/null || return 1
}

# Installs what only the full run of the tests uses: other compilers, checkers, Conan, and a browser, without which its tests are skipped.
aton_install_full() {
    local missing=() program package
    for program in clang++-16:clang-16 clang++-19:clang-19 clang-format-19:clang-format-19 shellcheck:shellcheck; do
        command -v "${program%%:*}" >/dev/null || missing+=("${program##*:}")
    done
    for package in libc++-19-dev musl-dev mingw-w64-x86-64-dev; do # only headers are used: tests/portability
        dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
    done
    if [ "${#missing[@]}" -gt 0 ]; then aton_install "${missing[@]}" || return 1; fi
    command -v chromium >/dev/null || aton_install chromium || echo "setup: no Chromium, so its tests are skipped" >&2

    local packages="$ATON_ROOT/tests/requirements.txt" installed="$ATON_ROOT/build/venv/aton-full-requirements"
    if ! cmp -s "$packages" "$installed"; then
        echo "setup: installing Python packages for the full tests"
        "$ATON_PYTHON" -m pip install -qq --disable-pip-version-check --root-user-action=ignore -r "$packages" || return 1
        cp "$packages" "$installed"
    fi
}

# apt with sources and lists of its own: aton_apt FOLDER LINE [OPTION=VALUE]...; then "${apt[@]}" download PACKAGE
aton_apt() {
    local folder="$1" line="$2" option
    mkdir -p "$folder/lists/partial"
    echo "$line http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" >"$folder/sources.list"
    apt=(apt-get -qq -o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$folder/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root)
    for option in "${@:3}"; do apt+=(-o "$option"); done
    "${apt[@]}" update
}

# Unpacks the sources of a Debian package, in the version of an installed package, into a folder: aton_source SOURCE PACKAGE FOLDER
aton_source() {
    local apt version folder="$3"
    [ ! -e "$folder/unpacked" ] || return 0
    version="$(dpkg-query -W -f '${Version}' "$2")" || return 1
    mkdir -p "$folder" || return 1
    aton_apt "$folder/../apt" deb-src || return 1
    (cd "$folder/../apt" && "${apt[@]}" source --download-only "$1=$version") || return 1
    tar -xf "$folder/../apt/$1_${version%-*}.orig.tar.gz" -C "$folder" --strip-components=1 || return 1
    touch "$folder/unpacked"
}

# Copies its input to a file. On a terminal it also shows the progress that ninja ("[12/700]") and ctest ("12/151 Test") report.
aton_progress() { # what, file
    if [ ! -t 2 ]; then cat >"$2"; return; fi
    awk -v what="$1" -v file="$2" '
        BEGIN { srand(); start = srand() }
        { print > file; fflush(file) }
        match($0, /^\[[0-9]+\/[0-9]+\]/) || match($0, /^ *[0-9]+\/[0-9]+ Test/) {
            split(substr($0, RSTART, RLENGTH), part, /[^0-9]+/)
            at = part[1] == "" ? 2 : 1
            srand()
            printf "\r%s: %d of %d, %d s ", what, part[at], part[at + 1], srand() - start > "/dev/stderr"
            shown = 1
        }
        END { if (shown) printf "\r%60s\r", "" > "/dev/stderr" }'
}

# Configures and builds a preset: aton_build release [targets...]. Prints nothing but its progress unless it fails. Builds of one preset
# are serialized, since concurrent builds in one folder would overwrite each other's files.
aton_build() {
    local preset="$1" log options=()
    shift
    # The wheel of torch has libtorch.
    if [ "$preset" = release ] && [ "${ATON_WITH_TORCH:-0}" = 1 ]; then options+=(-DATON_BUILD_TORCH=ON); fi
    if [ -n "${ATON_KERNEL_VARIANTS:-}" ]; then options+=("-DATON_KERNEL_VARIANTS=$ATON_KERNEL_VARIANTS"); fi
    log="$ATON_ROOT/build/$preset.log"
    cd "$ATON_ROOT" || return 1
    echo "build: preset $preset (log: build/$preset.log)"
    (
        flock 9
        set -o pipefail
        {
            cmake --preset "$preset" "-DATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR" "-DPython3_EXECUTABLE=$ATON_PYTHON" "${options[@]}" &&
                cmake --build --preset "$preset" ${1:+--target "$@"}
        } 2>&1 | aton_progress "build: preset $preset" "$log" ||
            { tail -n 60 "$log" >&2; echo "build: preset $preset failed" >&2; exit 1; }
    ) 9>"$ATON_ROOT/build/$preset.lock"
}

aton_setup || { echo "setup failed" >&2; return 1 2>/dev/null || exit 1; }
if [ "${BASH_SOURCE[0]}" = "$0" ]; then echo "ATON_ONNX_SOURCE_DIR=$ATON_ONNX_SOURCE_DIR"; fi
