#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the nodes of Aton's graphs and of PyTorch's, for the models of tests/models.

    benchmarks/graphs/nodes.py [--aton build/release/aton] [--opset 20] [--only bert,vit] [--work FOLDER] [--cached] [--json FILE]

The programs are the raw ones, straight from torch.export.export; PyTorch's graphs are those of torch.onnx.export with
dynamo=True and optimize=True. Nodes in nested graphs count, and functions are inlined on both sides. The table has the
models whose graph has more nodes in Aton's version, and the operators that it has more of. A graph of PyTorch's exporter
that ONNX Runtime does not run, or whose results are not torch's, is marked and does not count in the last line.

PyTorch's exporter takes seconds for a model: it runs in a process of its own, and what it makes is kept in the work
folder as long as the model and the packages stay the same. --cached only counts models that are kept."""

import argparse
import json
import logging
import os
import pathlib
import random
import sys
import tempfile
import warnings

import graphs
from graphs import ROOT

SECONDS = 120


def read_kept(path):
    """{"bert 20": {"fingerprint": ..., "nodes": {...} or "problem": ...}}"""
    if not path.exists():
        return {}
    return {line["key"]: line for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def count_dynamo(entries, options, path):
    """Adds a line to the file for each model that it does not have."""
    import exported
    from worker_pool import run_jobs

    kept, packages = read_kept(path), graphs.versions()
    wanted = {e.name: f"{exported.fingerprint(e)} {packages}" for e in entries}
    todo = [e for e in entries if kept.get(f"{e.name} {options.opset}", {}).get("fingerprint") != wanted[e.name]]
    random.Random(1).shuffle(todo)  # a run that is stopped has a sample

    def note(entry, found):
        line = {"key": f"{entry.name} {options.opset}", "fingerprint": wanted[entry.name]} | found
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def job(number):
        import onnx
        import torch

        torch.set_num_threads(1)
        entry = todo[number]
        print(f"{number + 1} of {len(todo)}: {entry.name}", file=sys.stderr, flush=True)
        try:
            exported.prepare(entry, options.models / entry.name)
            with tempfile.TemporaryDirectory() as folder:
                target = pathlib.Path(folder) / "dynamo.onnx"
                graphs.export_with_dynamo(options.models / entry.name / "raw.pt2", target, options.opset)
                found = {"nodes": graphs.histogram(onnx.load(target)), "wrong": wrong(entry, target, options)}
        except Exception as e:  # torch may raise anything
            found = {"problem": f"{type(e).__name__}: {' '.join(str(e).split())[:200]}"}
        note(entry, found)

    run_jobs(job, len(todo), lambda number, why: note(todo[number], {"problem": why}), 1, SECONDS, chunk=1)


def wrong(entry, path, options):
    """What is wrong with a graph in ONNX Runtime, or ''."""
    import checking
    import numpy

    try:
        with numpy.load(options.models / entry.name / "cases.npz") as cases:
            error = checking.largest_error(checking.open_session(path), cases)
    except checking.Failure as failure:
        return checking.short(failure)
    return "" if error <= entry.tolerance else f"error {error:.2g}"


def count_aton(name, options):
    import onnx

    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "aton.onnx"
        graphs.export_with_aton(options.aton, options.models / name / "raw.pt2", target, options.opset)
        return graphs.histogram(onnx.load(target))


def rows(entries, options, path):
    """[{"name", "aton", "dynamo": histograms, or "problem"}]"""
    import checking

    found, kept = [], read_kept(path)
    for entry in entries:
        theirs = kept.get(f"{entry.name} {options.opset}")
        if theirs is None:
            continue
        row = {"name": entry.name}
        try:
            row |= {"aton": count_aton(entry.name, options)}
        except checking.Failure as failure:
            row["problem"] = f"Aton: {failure}"
        row |= {"dynamo": theirs["nodes"], "wrong": theirs["wrong"]} if "nodes" in theirs else {"problem": f"PyTorch: {theirs['problem']}"}
        found.append(row)
    return found


def total(histogram):
    return sum(histogram.values())


def table(found):
    """Those with more nodes in Aton's graph, the largest difference first."""
    both = [row for row in found if "problem" not in row]
    larger = [row for row in both if total(row["aton"]) > total(row["dynamo"])]
    larger.sort(key=lambda row: (total(row["dynamo"]) - total(row["aton"]), row["name"]))
    out = "| model | Aton | PyTorch | Aton has more | PyTorch has more |\n|---|--:|--:|---|---|\n"
    for row in larger:
        ours, theirs = row["aton"], row["dynamo"]
        more, less = graphs.more_of(ours, theirs), graphs.more_of(theirs, ours)
        mark = " (wrong)" if row["wrong"] else ""
        out += f"| {row['name']} | {total(ours)} | {total(theirs)}{mark} | {more} | {less} |\n"
    return out


def summary(found):
    both = [(total(row["aton"]), total(row["dynamo"])) for row in found if "problem" not in row and not row["wrong"]]
    if not both:
        return "no model has both graphs"
    ratio = graphs.geometric_mean([a / d for a, d in both if a and d])
    fewer, more = sum(a < d for a, d in both), sum(a > d for a, d in both)
    return (f"{len(both)} models with right graphs of both: {sum(a for a, _ in both)} nodes, PyTorch {sum(d for _, d in both)}; geometric mean of the "
            f"ratios {ratio:.3f}; fewer in {fewer}, more in {more}")  # fmt: skip


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--opset", type=int, default=20)
    parser.add_argument("--only", help="only models whose name contains one of these: bert,vit")
    parser.add_argument("--models", type=pathlib.Path, default=ROOT / "build/models", help="folder of the programs")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/benchmark_graphs", help="where counts are kept")
    parser.add_argument("--cached", action="store_true", help="only models that PyTorch's exporter was run on earlier")
    parser.add_argument("--json", type=pathlib.Path, help="write all histograms")
    options = parser.parse_args(words)
    if graphs.is_missing():
        return 77
    os.nice(10)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    import zoo

    entries = [e for e in zoo.load().values() if e.tested and not e.missing()]
    if options.only:
        entries = [e for e in entries if any(part in e.name for part in options.only.split(","))]
    options.work.mkdir(parents=True, exist_ok=True)
    kept = options.work / "nodes.jsonl"
    if not options.cached:
        count_dynamo(entries, options, kept)
    found = rows(entries, options, kept)
    print(table(found))
    print("\n".join(f"{row['name']}: {row['problem'][:200]}" for row in found if "problem" in row))
    print("\n".join(f"{row['name']}: PyTorch's graph is wrong: {row['wrong']}" for row in found if row.get("wrong")))
    print(summary(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
