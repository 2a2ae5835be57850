#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports models of many PyPI packages with `aton export` and with PyTorch's own exporter, and compares ONNX Runtime with torch.

    tests/zoo/zoo.sh --aton build/release/aton [--only monai,egnn] [--opset 18] [--no-dynamo] [--check]
                     [--jobs 2] [--work FOLDER] [--report docs/results/zoo.md] [--json FILE] [--list]

zoo.sh installs the packages of requirements.txt into an environment of their own and runs this there. The models are those
of nets_*.py beside this file. They are exported and compared as those of tests/models/run_models.py; PyTorch's exporter
gets the same program, torch.onnx.export(program, dynamo=True), the same opset and the same inputs.

--check exits with 1 if fewer than 97 % of the models are right, raw and decomposed, if PyTorch's exporter has more of them right, or
if a model is wrong rather than refused."""

import argparse
import importlib.metadata
import json
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "models"), str(ROOT / "tests" / "oracle")]

import checking  # noqa: E402
import run_models  # noqa: E402
import zoo_report  # noqa: E402
from worker_pool import run_jobs  # noqa: E402

LEAST = 0.97
DYNAMO_SECONDS = 400


class Results(dict):
    """The arrays of cases.npz but for new values of buffers, which PyTorch's exporter does not give."""

    @property
    def files(self):
        return [name for name in self if not name.startswith("state_")]


def dynamo(folder, opset, tolerance):
    """The result of PyTorch's exporter for the program of a folder, as checking.check_opset() gives it; kept in the folder."""
    import numpy
    import torch

    kept = folder / f"dynamo_{opset}.json"
    made_of = [checking_version(), json.loads((folder / "about.json").read_text())["fingerprint"]]
    if kept.exists() and (found := json.loads(kept.read_text()))["of"] == made_of:
        return found["result"]
    target = folder / f"dynamo_{opset}.onnx"
    try:
        try:
            program = torch.export.load(folder / "raw.pt2")
            torch.onnx.export(program, (), target, dynamo=True, opset_version=opset, external_data=False, verbose=False)
        except Exception as e:  # its exceptions have no common base class
            raise checking.Failure(f"refused: {checking.short(e)}") from None
        nodes, session = checking.node_count(target), checking.open_session(target)
        with numpy.load(folder / "cases.npz") as cases:
            worst = checking.largest_error(session, Results((name, cases[name]) for name in cases.files))
        right = worst <= tolerance
        result = {"status": "pass" if right else "fail", "error": worst, "nodes": nodes, "reason": f"error {worst:.2g}"}
    except checking.Failure as failure:
        result = {"status": "fail", "reason": checking.short(failure)}
    finally:
        target.unlink(missing_ok=True)
    kept.write_text(json.dumps({"of": made_of, "result": result}) + "\n")
    return result


def checking_version():
    return " ".join(importlib.metadata.version(package) for package in ("torch", "onnxscript", "onnxruntime"))


def dynamo_all(entries, work, opset, jobs):
    job = lambda number: dynamo(work / entries[number].name, opset, entries[number].tolerance)  # noqa: E731
    lost = lambda _number, why: {"status": "fail", "reason": why}  # noqa: E731
    return dict(zip((e.name for e in entries), run_jobs(job, len(entries), lost, jobs, DYNAMO_SECONDS, chunk=1)))


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/zoo/models", help="folder for .pt2 files")
    parser.add_argument("--only", help="only models whose name contains one of these: monai,egnn")
    parser.add_argument("--opset", type=int, default=18)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-dynamo", action="store_true", help="without PyTorch's exporter")
    parser.add_argument("--check", action="store_true", help="exit with 1 if too few are right or one is wrong")
    parser.add_argument("--report", type=pathlib.Path, help="write the table as Markdown")
    parser.add_argument("--json", type=pathlib.Path, help="write all results")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    return parser.parse_args(words)


def failures_of_check(found, options):
    """What --check objects to."""
    right, wrong = [row for row in found if row.right], [row for row in found if row.wrong]
    if wrong:
        yield f"{len(wrong)} models are wrong rather than refused: {', '.join(row.name for row in wrong)}"
    if len(right) < LEAST * len(found):
        yield f"{len(right)} of {len(found)} models are right, fewer than {LEAST:.0%}"
    if not options.no_dynamo and len(right) < sum(row.dynamo_right for row in found):
        yield "PyTorch's exporter has more of them right"


def main(words=None):
    options = parse(words)
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    import nets

    entries = list(nets.load().values())
    if options.only:
        entries = [e for e in entries if any(part in e.name for part in options.only.split(","))]
    if options.list:
        print("\n".join(e.name for e in entries))
        return 0
    start = time.monotonic()
    problems = [f"{e.name}: {e.missing()} is not installed" for e in entries if e.missing()]
    entries = [e for e in entries if not e.missing()]
    about = run_models.prepare_all(entries, options.work, options.jobs)
    problems += [f"{e.name}: {about[e.name]['problem']}" for e in entries if "problem" in about[e.name]]
    ready = [e for e in entries if "problem" not in about[e.name]]
    aton = str(pathlib.Path(options.aton).resolve())
    results = run_models.check_all(ready, options.work, aton, (options.opset,), options.jobs)
    other = {} if options.no_dynamo else dynamo_all(ready, options.work, options.opset, options.jobs)
    found = zoo_report.rows(ready, about, results, other, options.opset)
    print(zoo_report.text_table(found))
    problems += failures_of_check(found, options)
    print("\n".join(["", *problems, zoo_report.summary(found) + f"; {time.monotonic() - start:.0f} s"]))
    if options.json:
        kinds = {f"{name} {kind}": result for (name, kind), result in results.items()}
        options.json.write_text(json.dumps({"about": about, "aton": kinds, "dynamo": other}, indent=1) + "\n", encoding="utf-8")
    if options.report:
        options.report.write_text(zoo_report.markdown(found, options.opset), encoding="utf-8")
    return 1 if problems and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
