#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the documentation site in build/site; a broken link or a page outside the navigation is an error.
#
#   tools/site.sh            build
#   tools/site.sh --serve    serve it at http://127.0.0.1:8000 and rebuild it after each change
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ATON_ROOT"

# A separate environment: the packages for the site are independent of those for the tests.
venv="$ATON_ROOT/build/site-venv"
if ! cmp -s docs/requirements.txt "$venv/aton-requirements"; then
    "$ATON_PYTHON" -m venv --clear "$venv"
    "$venv/bin/python" -m pip install -qq --disable-pip-version-check --root-user-action=ignore -r docs/requirements.txt
    cp docs/requirements.txt "$venv/aton-requirements"
fi

export NO_MKDOCS_2_WARNING=1
case "${1:-}" in
    "") "$venv/bin/python" -m mkdocs build --strict --clean ;; # --quiet would hide warnings from --strict
    --serve) "$venv/bin/python" -m mkdocs serve ;;
    *) echo "usage: tools/site.sh [--serve]" >&2; exit 2 ;;
esac
