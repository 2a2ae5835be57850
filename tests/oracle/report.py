#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/results/oracle.md: how many recorded ATen calls the mappings compute correctly, compared with PyTorch's exporters, and every
plain case that fails.

    report.py --results build/oracle/all/results.json --peers ../shared/coverage --out docs/results/oracle.md

--check writes nothing and exits with 1 if the file is not up to date. tests/oracle/oracle.sh --report calls it."""

import argparse
import collections
import csv
import json
import sys
from pathlib import Path

from run_oracle import FAILURES, NOT_COUNTED, score

PEERS = {"dynamo": "`torch.onnx.export(dynamo=True)`", "ts": "`torch.onnx.export(dynamo=False)` (TorchScript)"}
PEER_OPSET = 20
NAMED_BY = ("core", "torchlib", "ts_symbolic")

HEAD = """# Mappings against recorded ATen calls

Every mapping is run on recorded calls of real ATen (torch 2.13.0, CPU): a graph is built from the call's arguments,
checked by ONNX's checker with full inference, run by ONNX Runtime {ort}, and compared with ATen's results. Dtypes,
shapes, NaN, infinities, integers and bools must be equal; floats must agree within {tolerances}.
If ONNX Runtime has no kernel for a case, ONNX's reference evaluator (onnx {onnx}) runs it; the case counts, and is listed
below. A row that starts at a later opset is not counted. *Plain* cases have only float32, int64 and bool tensors, none of
them empty, and no NaN, infinity or complex number.

This file is written by `tests/oracle/oracle.sh --report`; `ctest -R oracle_all` fails if it is not up to date.
"""


def percent(right, total):
    return f"{right} / {total} = {100 * right / total:.1f} %" if total else "-"


def cell(text):
    return " ".join(str(text).replace("|", "\\|").split())


def by_opset(results):
    groups = collections.defaultdict(list)
    for r in results:
        groups[r["opset"]].append(r)
    return dict(sorted(groups.items()))


def figures(groups):
    lines = [
        "## Figures",
        "",
        "| opset | overloads | plain right | all right | by the reference evaluator | with results not produced |",
        "|---|---|---|---|---|---|",
    ]
    for opset, results in groups.items():
        counted = [r for r in results if r["status"] != NOT_COUNTED]
        passed = [r for r in counted if r["status"] == "pass"]
        columns = [
            opset,
            len({r["overload"] for r in counted}),
            percent(*score([r for r in counted if r["plain"]])[:2]),
            percent(*score(counted)[:2]),
            sum(r["engine"] == "reference" for r in passed),
            sum("not_produced" in r for r in passed),
        ]
        lines.append("| " + " | ".join(map(str, columns)) + " |")
    return lines + [""]


def peer_right(row):
    """Peers' cases count like Aton's: the reference evaluator decides if ONNX Runtime has no kernel."""
    return row["status"] == "pass" or (row["status"] == "ort_unsupported" and row["ref"] == "pass")


def named_by_peers(path):
    """The overloads in torchlib, the TorchScript registry or Core ATen."""
    with open(path, newline="", encoding="utf-8") as f:
        return {row["op"] for row in csv.DictReader(f) if any(row[column] == "1" for column in NAMED_BY)}


def peers(groups, folder):
    """Compares only the cases that the peers were run on, at opset 20."""
    named = named_by_peers(folder / "peer_by_op.csv")
    ours = {r["case"]: r for r in groups.get(PEER_OPSET, []) if r["status"] != NOT_COUNTED}
    tried = collections.defaultdict(list)
    with open(folder / "peer_results.csv", newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["status"] != "excluded" and row["case"] in ours:
                tried[row["peer"]].append((peer_right(row), ours[row["case"]]))
    lines = [
        f"## Beside PyTorch's exporters (opset {PEER_OPSET})",
        "",
        "These are the cases of mapped overloads that each exporter was tried on. *Named*: only the overloads that",
        "torchlib, the TorchScript registry or Core ATen names; the others they have to decompose first.",
        "",
        "| exporter | overloads | plain cases: theirs | Aton on the same | all cases: theirs | Aton on the same |",
        "|---|---|---|---|---|---|",
    ]
    for peer, name in PEERS.items():
        for which, pairs in (("named", [t for t in tried[peer] if t[1]["overload"] in named]), ("all", tried[peer])):
            columns = [name, which]
            for group in ([t for t in pairs if t[1]["plain"]], pairs):
                columns.append(percent(sum(right for right, _ in group), len(group)))
                columns.append(percent(sum(r["status"] == "pass" for _, r in group), len(group)))
            lines.append(f"| {' | '.join(columns)} |")
    return lines + [""]


def merged(results, reason):
    """One row per case and reason, with all its opsets."""
    rows = collections.defaultdict(list)
    for r in results:
        rows[(r["case"], r["status"], reason(r))].append(r["opset"])
    return sorted((case, status, text, opsets) for (case, status, text), opsets in rows.items())


def failures(results):
    failed = [r for r in results if r["plain"] and r["status"] in FAILURES]
    # The opset has its own column: the same refusal at four opsets is one row.
    rows = merged(
        failed, lambda r: r["reason"].replace(f"(opset {r['opset']})", "").replace("  ", " ").replace(" :", ":")
    )
    lines = ["## Every plain case that fails", ""]
    if not rows:
        return lines + ["None.", ""]
    lines += ["| case | opsets | status | reason |", "|---|---|---|---|"]
    for case, status, reason, opsets in rows:
        lines.append(f"| {case} | {', '.join(map(str, opsets))} | {status} | {cell(reason)[:300]} |")
    return lines + [""]


def listed(title, explanation, results, columns, row_of):
    rows = collections.defaultdict(lambda: collections.defaultdict(int))
    for r in results:
        rows[row_of(r)][r["opset"]] += 1
    lines = [f"## {title}", "", explanation, ""]
    if not rows:
        return lines + ["None.", ""]
    lines += [f"| {' | '.join(columns)} | cases at opsets |", "|---" * (len(columns) + 1) + "|"]
    for row, counts in sorted(rows.items()):
        lines.append(
            f"| {' | '.join(map(cell, row))} | {', '.join(f'{n} at {opset}' for opset, n in sorted(counts.items()))} |"
        )
    return lines + [""]


def report(results, peer_file):
    import onnx
    import onnxruntime

    from compare import TOLERANCE

    groups = by_opset(results)
    tolerances = ", ".join(
        f"rtol {rtol:g} / atol {atol:g} ({name})"
        for name, (rtol, atol) in TOLERANCE.items()
        if not name.startswith("complex")
    )
    lines = HEAD.format(ort=onnxruntime.__version__, onnx=onnx.__version__, tolerances=tolerances).splitlines() + [""]
    lines += figures(groups) + peers(groups, peer_file) + failures(results)
    lines += listed(
        "Run by the reference evaluator",
        "These cases are right, but ONNX Runtime's CPU provider has no kernel for their models.",
        [r for r in results if r["status"] == "pass" and r["engine"] == "reference"],
        ["overload", "why"],
        lambda r: (
            r["overload"],
            r["why_reference"].split(" Node")[0].split("implementation for ")[-1].split(" node with name")[0][:120],
        ),
    )
    lines += listed(
        "Results that are not produced",
        "The results that the mapping produces are right; an export fails if one of the others is used.",
        [r for r in results if r["status"] == "pass" and "not_produced" in r],
        ["overload", "results"],
        lambda r: (r["overload"], ", ".join(map(str, r["not_produced"]))),
    )
    lines += listed(
        "Rows that start later",
        "A comment at the row in its table gives the reason.",
        [r for r in results if r["status"] == NOT_COUNTED],
        ["overload", "rows"],
        lambda r: (r["overload"], r["reason"]),
    )
    return "\n".join(lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = report(json.loads(Path(options.results).read_text(encoding="utf-8")), Path(options.peers))
    out = Path(options.out)
    if options.check:
        if out.exists() and out.read_text(encoding="utf-8") == text:
            return 0
        print(f"{out.name} is not up to date: run tests/oracle/oracle.sh --report")
        return 1
    out.parent.mkdir(exist_ok=True)
    out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
