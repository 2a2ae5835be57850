#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exporters beside each other: recorded ATen calls x exporters x opsets x runtimes.

    run.py --aton build/release/aton [--calls FOLDER] [--per-overload 1] [--opsets 18,23]

Each call becomes a module of torch. Aton, torch.onnx.export with and without dynamo, and, if they are installed, OpenVINO's front end and
pnnx export it; ONNX Runtime, ONNX's reference evaluator and OpenVINO run the files, and the results are compared with those that
were recorded from ATen. Writes into --work: results.jsonl, index.html with filters, and repro/*.py, a script for every call that is not
right. --summary writes the figures as Markdown. A run continues where it was stopped; --fresh starts again.

Statuses: right; wrong (dtype, shape or number); invalid (ONNX's checker refuses the file); not run (the runtime refuses it or has no
kernel); refused (the exporter raises); crash (the process died, or took longer than --seconds).
"""

import argparse
import collections
import json
import logging
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/oracle")]

import calls  # noqa: E402
import compare  # noqa: E402
import exporters  # noqa: E402
import page  # noqa: E402
import runtimes  # noqa: E402
from oracle_data import CaseStore, all_tensors, is_plain, overload_of  # noqa: E402
from worker_pool import run_jobs  # noqa: E402


def chosen_cases(store, options):
    """The calls to export: per overload first those that are plain, and of them those without sizes of 1 or less and 0-d tensors."""
    wanted = {each.removeprefix("aten::") for each in options.ops.split(",")} if options.ops else None
    groups = collections.defaultdict(list)
    for case in store.cases.values():
        overload = overload_of(case)
        if calls.is_comparable(case) and (wanted is None or overload.removeprefix("aten::") in wanted):
            groups[overload].append(case)
    found = []
    for group in list(groups.values())[:: options.every]:
        found += sorted(group, key=lambda case: (not is_plain(case), has_small_tensors(case)))[: options.per_overload]
    return found


def has_small_tensors(case):
    return any(not t["shape"] or min(t["shape"]) <= 1 for t in all_tensors(case))


def why_wrong(case, tensors, got):
    """Why the results are not those of ATen; '' if they are."""
    if len(got) != len(case["outputs"]):
        return f"{len(got)} results, expected {len(case['outputs'])}"
    for i, (recorded, result) in enumerate(zip(case["outputs"], got)):
        if wrong := compare.compare_tensor(case, tensors, tensors[recorded["tensor"]], result):
            return f"result {i}: {wrong}"
    return ""


def first_line(e):
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    return (f"{type(e).__name__}: " + (lines[0] if lines else ""))[:300]


def run_file(runtime, path, arrays, case, tensors, appends_state):
    try:
        results = runtime.run(path, arrays)
        wrong = why_wrong(case, tensors, results[: len(case["outputs"])] if appends_state else results)
        return ("wrong", wrong) if wrong else ("right", "")
    except runtimes.Invalid as e:
        return "invalid", str(e)[:300]
    except runtimes.NotRun as e:
        return "not run", str(e)[:300]
    except Exception as e:  # a result of an unexpected form, such as a sequence
        return "wrong", first_line(e)


def check(case, tensors, exporter, all_runtimes, opsets):
    """The records of a call and an exporter."""
    import torch

    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    arrays = calls.arrays_of(case, tensors)
    call = exporters.Call(calls.make_module(case).eval(), tuple(calls.to_torch(each) for each in arrays.values()))
    found = []
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        for opset in opsets if exporter.has_opset else [None]:
            path, refusal = None, ""
            try:
                path = exporter.export(call, opset, pathlib.Path(folder))
            except Exception as e:  # exporters raise whatever they like
                refusal = first_line(e)
            for runtime in all_runtimes:
                if runtime.name not in exporter.runtimes:
                    continue
                status = ("refused", refusal) if path is None else run_file(runtime, path, arrays, case, tensors, exporter.appends_state)
                found.append(record(case, exporter, opset, runtime, *status))
    return found


def record(case, exporter, opset, runtime, status, reason):
    return {
        "case": case["case"],
        "overload": overload_of(case),
        "plain": is_plain(case),
        "exporter": exporter.name,
        "opset": opset,
        "runtime": runtime.name,
        "status": status,
        "reason": reason,
    }


def run_all(store, cases, options, tools, all_runtimes):
    """All records; those of earlier runs are read from results.jsonl, to which new ones are appended."""
    results = options.work / "results.jsonl"
    versions = {each.name: each.version() for each in (*tools, *all_runtimes)}
    setting = json.dumps({"versions": versions, "opsets": options.opsets}, sort_keys=True)
    known = {}
    if results.exists() and not options.fresh:
        lines = results.read_text(encoding="utf-8").splitlines()
        if lines and lines[0] == setting:
            for line in lines[1:]:
                one = json.loads(line)
                known.setdefault((one["case"], one["exporter"]), []).append(one)
    jobs = [(case, tool) for case in cases for tool in tools if (case["case"], tool.name) not in known]
    with open(results, "w", encoding="utf-8") as out:
        out.write(setting + "\n")
        for records in known.values():
            out.writelines(json.dumps(each) + "\n" for each in records)

    def job(number):
        case, tool = jobs[number]
        records = check(case, store.tensors(case), tool, all_runtimes, options.opsets)
        with open(results, "a", encoding="utf-8") as out:
            out.write("".join(json.dumps(each) + "\n" for each in records))
        return records

    def lost(number, why):
        case, tool = jobs[number]
        opsets = options.opsets if tool.has_opset else [None]
        return [
            record(case, tool, opset, runtime, "crash", why)
            for opset in opsets
            for runtime in all_runtimes
            if runtime.name in tool.runtimes
        ]

    fresh = run_jobs(job, len(jobs), lost, options.workers, options.seconds, chunk=4)
    wanted = {case["case"] for case in cases}
    kept = [each for records in known.values() for each in records if each["case"] in wanted]
    return kept + [each for records in fresh for each in records], versions


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default="aton", help="the command (default: %(default)s)")
    parser.add_argument("--calls", type=pathlib.Path, default=ROOT / "tests/data/oracle", help="recorded calls")
    parser.add_argument("--ops", help="only these overloads: add.Tensor,elu")
    parser.add_argument("--per-overload", type=int, default=1, metavar="N", help="calls of each (default: %(default)s)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth overload")
    parser.add_argument("--opsets", default="18,23", help="default: %(default)s")
    parser.add_argument("--exporters", help="only these: aton,dynamo,torchscript,openvino,pnnx")
    parser.add_argument("--runtimes", help="only these: onnxruntime,reference,openvino")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/scoreboard")
    parser.add_argument("--summary", type=pathlib.Path, metavar="FILE", help="writes the figures as Markdown")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=90, help="the maximum time of a call and an exporter")
    parser.add_argument("--fresh", action="store_true", help="forgets earlier results")
    options = parser.parse_args(words)
    options.opsets = [int(each) for each in options.opsets.split(",")]
    options.work.mkdir(parents=True, exist_ok=True)

    def only(found, names):
        return [each for each in found if names is None or each.name in names.split(",")]

    tools = only(exporters.installed(options.aton), options.exporters)
    all_runtimes = only(runtimes.installed(), options.runtimes)
    store = CaseStore(options.calls)
    cases = chosen_cases(store, options)
    if not cases or not tools or not all_runtimes:
        parser.error("there are no calls, exporters or runtimes with these names")

    import onnxscript  # noqa: F401: once, before the processes fork
    import torch  # noqa: F401

    records, versions = run_all(store, cases, options, tools, all_runtimes)
    page.write_reproductions(options.work / "repro", records, store, tools, all_runtimes, versions)
    (options.work / "index.html").write_text(page.to_html(records, versions), encoding="utf-8")
    summary = page.to_markdown(records, versions, len(cases))
    if options.summary:
        options.summary.write_text(summary, encoding="utf-8")
    print(summary)
    print(f"{options.work / 'index.html'}: {len(records)} results of {len(cases)} calls")
    return 0


if __name__ == "__main__":
    sys.exit(main())
