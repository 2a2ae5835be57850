#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes TorchScript archives with several releases of torch, each in an environment of its own in build/torchscript, and runs run_archives.py on
# them: tests/torchscript/zoo.sh --aton build/release/aton --check. An environment is removed once its archives are made, because it has up to
# 5 GB; archives that are there are kept. The archives themselves need 6 GB.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

python="${ATON_PYTHON:-build/venv/bin/python}"
if ! "$python" -c 'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))' torch onnxruntime torchvision timm transformers; then
    echo "skipped: the packages of tests/models/requirements.txt are not installed (ATON_WITH_TORCH=1 . tools/setup.sh)"
    exit 77
fi

# make_with RELEASE PACKAGE...
make_with() {
    local release="$1" venv="build/torchscript/venv-$1" models="build/torchscript/models/$1"
    shift
    if ! cmp -s <(cat tests/torchscript/{make_archives,nets*}.py) "$models/made"; then
        rm -rf "$models" # of another list
        "$python" -m venv --clear "$venv"
        echo "zoo: installing torch $release into $venv"
        "$venv/bin/python" -m pip install -q --disable-pip-version-check "torch==$release" "$@"
        "$venv/bin/python" tests/torchscript/make_archives.py --work "$models" || true # it names what it cannot make
        rm -rf "$venv"
        cat tests/torchscript/{make_archives,nets*}.py >"$models/made"
    fi
}

mkdir -p build/torchscript
# The first release of torchvision and torchaudio for Python 3.11 is that of torch 2.0.
make_with 1.13.1 'numpy<2' transformers==4.26.1
make_with 2.0.1 torchvision==0.15.2 torchaudio==2.0.2 'numpy<2' pillow==13.0.0 timm==0.9.2 transformers==4.30.2
make_with 2.1.2 torchvision==0.16.2 torchaudio==2.1.2 'numpy<2' pillow==13.0.0 timm==0.9.12 transformers==4.36.2
newest=build/torchscript/models/2.13.0
if ! cmp -s <(cat tests/torchscript/{make_archives,nets*}.py) "$newest/made"; then
    rm -rf "$newest"
    "$python" tests/torchscript/make_archives.py --work "$newest" || true
    cat tests/torchscript/{make_archives,nets*}.py >"$newest/made"
fi
exec "$python" tests/torchscript/run_archives.py "$@"
