#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs the packages of requirements.txt into build/zoo/venv, beside torch and the packages of build/venv, and runs run_zoo.py there:
# tests/zoo/zoo.sh --aton build/release/aton --only monai. The packages are installed without their dependencies, all of which the list names: many
# demand other versions of torch and numpy than those that Aton is tested with.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

venv=build/zoo/venv
python="${ATON_PYTHON:-build/venv/bin/python}"
needed="torch onnxruntime onnxscript torchvision timm transformers"
if ! "$python" -c 'import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, sys.argv[1:])))' $needed 2>/dev/null; then
    echo "skipped: the packages of tests/models/requirements.txt are not installed (ATON_WITH_TORCH=1 . tools/setup.sh)"
    exit 77
fi
if ! cmp -s tests/zoo/requirements.txt "$venv/installed"; then
    mkdir -p build/zoo
    "$python" -m venv --clear "$venv"
    site="$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
    "$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/aton.pth"
    echo "zoo: installing the packages of tests/zoo/requirements.txt into $venv"
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps -r tests/zoo/requirements.txt
    rm -f "$site"/torchaudio/lib/*.so # made for one build of torch; nothing here needs it
    cp tests/zoo/requirements.txt "$venv/installed"
fi
exec "$venv/bin/python" tests/zoo/run_zoo.py "$@"
