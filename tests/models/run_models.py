#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports every model of the zoo with `aton export`, runs the result in ONNX Runtime on two inputs, and compares with torch.

    tests/models/run_models.py --aton build/release/aton [--quick | --rest] [--only bert,vit] [--opsets 13,17,18,26] [--check]
                               [--target onnxruntime] [--jobs 2] [--work FOLDER] [--report docs/results/models.md] [--json FILE] [--list]
                               [--least 11:90,9:60]

Each model is exported by torch twice: raw, straight from torch.export.export, and after run_decompositions(). The files
are kept in the work folder until the models or torch change. Then these are checked at each opset: the exit code of the
command, onnx.checker with full shape inference, number, dtypes and shapes of the outputs, and the largest error relative
to the output's largest value: at most 1e-4, in float16 2e-2. A refusal is accepted only if the command names an opset
from which on the export works; it appears as "needs N". With --least, graphs may be refused at every opset, as long as
the given percentage is right at each.

Exit code 0; with --check 1 if anything is wrong; 77 if torch is not installed. Models whose package (torchvision,
transformers, timm: requirements.txt) is missing are counted and skipped; with --all-packages that is an error."""

import argparse
import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "oracle")]

import checking  # noqa: E402
import exported  # noqa: E402
import model_report  # noqa: E402
import packages  # noqa: E402
from worker_pool import run_jobs  # noqa: E402

OPSETS = (13, 17, 18, 26)
TORCH_SECONDS = 240
CHECK_SECONDS = 480


def progress(text):
    print(text, file=sys.stderr, flush=True)


def prepare_all(entries, work, jobs):
    """{name: about or {"problem": ...}}"""

    def job(number):
        entry = entries[number]
        start = time.monotonic()
        try:
            about = exported.prepare(entry, work / entry.name)
        except Exception as e:  # torch may raise anything
            return {"problem": f"torch: {type(e).__name__}: {checking.short(e)}"}
        if time.monotonic() - start > 1:
            progress(f"  {entry.name}: exported by torch in {time.monotonic() - start:.1f} s")
        return about

    lost = lambda _number, why: {"problem": f"torch: {why}"}
    found = run_jobs(job, len(entries), lost, jobs, TORCH_SECONDS, chunk=1)
    return dict(zip((e.name for e in entries), found))


def check_all(entries, work, aton, opsets, jobs, may_refuse=False, options=()):
    """{(name, kind): {opset: result}}"""
    pairs = [(entry, kind) for entry in entries for kind in exported.KINDS]

    def job(number):
        entry, kind = pairs[number]
        tried = [opset for opset in opsets if opset <= entry.until]
        found = checking.check(aton, work / entry.name, kind, tried, entry.tolerance, may_refuse, options) if tried else {}
        return {opset: found.get(opset, {"status": "skipped"}) for opset in opsets}

    lost = lambda _number, why: {opset: {"status": "fail", "reason": why} for opset in opsets}
    found = run_jobs(job, len(pairs), lost, jobs, CHECK_SECONDS, chunk=1)
    return {(entry.name, kind): results for (entry, kind), results in zip(pairs, found)}


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/models", help="folder for .pt2 files")
    parser.add_argument("--only", help="only models whose name contains one of these: bert,vit")
    parser.add_argument("--quick", action="store_true", help="a few small models that only need torch")
    parser.add_argument("--rest", action="store_true", help="all models but those of --quick")
    parser.add_argument("--opsets", default=",".join(map(str, OPSETS)))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="exit with 1 if anything is wrong")
    parser.add_argument("--least", help="the percentage of graphs that must be right at an opset: 11:90,9:60")
    parser.add_argument("--target", help="the option of `aton export`: onnxruntime")
    parser.add_argument("--all-packages", action="store_true", help="a model whose package is missing is an error")
    parser.add_argument("--report", type=pathlib.Path, help="write the table as Markdown")
    parser.add_argument("--json", type=pathlib.Path, help="write all results")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    options = parser.parse_args(words)
    options.opsets = tuple(int(o) for o in options.opsets.split(","))
    options.least = dict(map(int, part.split(":")) for part in options.least.split(",")) if options.least else {}
    return options


def select(models, options):
    entries = [e for e in models.values() if e.tested and not (options.quick and not e.quick) and not (options.rest and e.quick)]
    if options.only:
        entries = [e for e in entries if any(part in e.name for part in options.only.split(","))]
    return entries


def main(words=None):
    options = parse(words)
    if packages.is_missing("torch", "onnx", "onnxruntime"):
        return 77
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    import zoo

    entries = select(zoo.load(), options)
    if not entries:
        print("run_models.py: no such model; --list prints their names", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(e.name for e in entries))
        return 0
    absent = {e.name: e.missing() for e in entries if e.missing()}
    entries = [e for e in entries if e.name not in absent]
    start = time.monotonic()
    about = prepare_all(entries, options.work, options.jobs)
    ready = [e for e in entries if "problem" not in about[e.name]]
    aton = str(pathlib.Path(options.aton).resolve())
    results = check_all(ready, options.work, aton, options.opsets, options.jobs, bool(options.least),
                        ("--target", options.target) if options.target else ())
    rows = model_report.rows(ready, about, results, options.opsets)
    print(model_report.text_table(rows, options.opsets))
    problems = [f"{e.name}: {about[e.name]['problem']}" for e in entries if "problem" in about[e.name]]
    problems += model_report.problems(results)
    if options.all_packages:
        problems += [f"{name}: {package} is not installed" for name, package in absent.items()]
    for opset, least in options.least.items():
        line, share = model_report.share(results, opset)
        print(line)
        if share < least:
            problems.append(f"{line}; at least {least} % must be right")
    print("\n".join(["", *problems]) if problems else "")
    print(model_report.summary(rows, problems, absent) + f"; {time.monotonic() - start:.0f} s")
    if options.json:
        found = {f"{name} {kind}": found for (name, kind), found in results.items()}
        options.json.write_text(json.dumps({"about": about, "results": found}, indent=1) + "\n", encoding="utf-8")
    if options.report:
        options.report.write_text(model_report.markdown(rows, options.opsets, absent), encoding="utf-8")
    return 1 if problems and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
