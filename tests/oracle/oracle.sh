#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds and runs the oracle check for one family or for the whole library.
#
#   tests/oracle/oracle.sh --family pooling      # the table aton::mappings::pooling of <aton/mappings/pooling.hpp>
#   tests/oracle/oracle.sh --family slicing --family indexing --ops slice.Tensor --verbose
#   tests/oracle/oracle.sh --tables my_tables.cpp --opsets 13,20
#   tests/oracle/oracle.sh                       # everything
#
# --opsets 13,17,20,26        the default
# --shapes symbolic|unknown   the inputs are declared without static sizes
# --sample                    the committed sample of cases, which is also used if ATON_SHARED_DIR has no cases
# --need-shared               exit with 77 instead of using the sample
# --report, --check-report    writes docs/results/oracle.md from the results; exits with 1 if it is not up to date
# --program FILE              uses an existing oracle_models instead of building it
# --build-only                builds without running
# Other options go to run_oracle.py: --ops, --plain, --verbose, --quiet, --json FILE, --check PERCENT, --workers N.
# Environment: PYTHON, CXX, ATON_SHARED_DIR (default ../shared), ATON_ORACLE_BUILD (default build/oracle).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)

opsets=13,17,20,26
families=()
program=
need_shared=
report=
results=
tables=$here/all_tables.cpp
label=all
ops=
sample=
build_only=
shapes=static
run_options=()
while [ $# -gt 0 ]; do
    case $1 in
        --opsets) opsets=$2; shift 2 ;;
        --tables)
            tables=$(realpath "$2")
            label=tables_$(echo "$tables" | cksum | cut -d' ' -f1)
            shift 2
            ;;
        --family) families+=("$2"); shift 2 ;;
        --ops) ops=$2; run_options+=(--ops "$2"); shift 2 ;;
        --shapes) shapes=$2; shift 2 ;;
        --sample) sample=1; shift ;;
        --need-shared) need_shared=1; shift ;;
        --program) program=$2; shift 2 ;;
        --build-only) build_only=1; shift ;;
        --report | --check-report) report=$1; shift ;;
        --json) results=$2; shift 2 ;;
        --check | --workers) run_options+=("$1" "$2"); shift 2 ;;
        --plain | --verbose | --quiet) run_options+=("$1"); shift ;;
        -h | --help) sed -n '3,19s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
        *) echo "oracle.sh: unknown option $1 (see --help)" >&2; exit 2 ;;
    esac
done

python=${PYTHON:-}
for candidate in "$root/build/venv/bin/python" python3; do
    [ -n "$python" ] && break
    "$candidate" -c 'import onnxruntime, onnx, ml_dtypes' 2>/dev/null && python=$candidate
done
[ -n "$python" ] || { echo "oracle.sh: no Python with onnxruntime, onnx and ml_dtypes; set PYTHON" >&2; exit 2; }

shared=${ATON_SHARED_DIR:-$root/../shared}
data=$shared/oracle/public
if [ -z "$sample" ] && [ ! -f "$data/cases.jsonl" ]; then
    echo "oracle.sh: there is no ${shared##"$root"/}/oracle/public (ATON_SHARED_DIR)${need_shared:+; skipped}" >&2
    [ -z "$need_shared" ] || exit 77
    sample=1
fi
[ -z "$sample" ] || data=$root/tests/data/oracle

# One folder per set of tables: several authors can run at the same time.
[ ${#families[@]} -eq 0 ] || label=$(IFS=+; echo "${families[*]//[^a-zA-Z0-9_]/.}")
out=${ATON_ORACLE_BUILD:-$root/build/oracle}/$label${sample:+_sample}
mkdir -p "$out"
if [ ${#families[@]} -ne 0 ]; then
    tables=$out/tables.cpp
    {
        for f in "${families[@]}"; do echo "#include <aton/mappings/${f%%:*}.hpp>"; done
        echo '#include "oracle_tables.hpp"'
        echo 'std::span<aton::dsl::table_view const> oracle_tables() {'
        echo '    static constexpr aton::dsl::table_view tables[] = {'
        for f in "${families[@]}"; do echo "        aton::mappings::${f##*:},"; done
        echo '    };'
        echo '    return tables;'
        echo '}'
    } >"$tables"
fi

# ONNX's own library comes from the release preset's build; the rest is compiled here, through ccache.
build_program() {
    local build=$root/build/release compiler objects=() source
    if [ ! -f "$build/libaton_onnx.a" ]; then
        (flock 9 && . "$root/tools/setup.sh" && aton_build release aton_onnx) 9>"$root/build/oracle.lock"
    fi
    compiler=("${CXX:-g++}")
    ! command -v ccache >/dev/null || compiler=(ccache "${compiler[@]}")
    local packages flags
    packages=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    flags=(-std=c++20 -O1 -Wall -Wextra -Wpedantic -Wconversion -I "$root/include" -I "$here"
        -DONNX_ML=1 -DONNX_NAMESPACE=onnx -isystem "$build/onnx_generated" -isystem "$packages")
    for source in "$here/oracle_models.cpp" "$tables" "$root"/src/model_io/*.cpp \
        "$root/src/mappings/built_in.cpp" "$root/src/passes/remove_unused.cpp"; do
        objects+=("$out/$(basename "$source" .cpp).o")
        "${compiler[@]}" "${flags[@]}" -c "$source" -o "${objects[-1]}"
    done
    "${CXX:-g++}" "${objects[@]}" "$build/libaton_onnx.a" -lprotobuf -lsimdjson -pthread -o "$out/oracle_models"
    program=$out/oracle_models
}
[ -n "$program" ] || build_program
[ -z "$build_only" ] || exit 0

models=()
for opset in ${opsets//,/ }; do
    # Limits memory, so that a runaway mapping is an error.
    container=$out/models_$opset.bin
    (ulimit -v 8000000 && "$program" --cases "$data/cases.jsonl" --opset "$opset" --shapes "$shapes" \
        --out "$container" ${ops:+--ops "$ops"})
    models+=("$container")
done
results=${results:-$out/results.json}
status=0
"$python" "$here/run_oracle.py" --cases "$data" --json "$results" "${run_options[@]}" "${models[@]}" || status=$?
if [ -n "$report" ]; then
    check=()
    [ "$report" = --report ] || check=(--check)
    "$python" "$here/report.py" --results "$results" --peers "$shared/coverage" \
        --out "$root/docs/results/oracle.md" "${check[@]}" || status=$?
fi
exit "$status"
