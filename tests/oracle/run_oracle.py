#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the models that oracle_models built and compares their outputs with the recorded results of ATen.

    run_oracle.py --cases FOLDER models_13.bin models_20.bin [--ops add.Tensor,elu] [--verbose] [--check 97]

Statuses: pass; mismatch; refused (by the mapping); error (the mapping threw something else); invalid_model (ONNX's
checker); ort_error; ort_crash; no_kernel (ONNX Runtime has no kernel, and the reference evaluator fails too);
no_row_at_opset (every row of the overload starts later: listed, not counted). `engine` is "reference" if ONNX
Runtime has no kernel or cannot load the opset."""

import argparse
import collections
import json
import sys

import compare
import engines
from oracle_data import CaseStore, Container, describe_call, is_plain, overload_of
from worker_pool import run_jobs

NOT_COUNTED = "no_row_at_opset"
FAILURES = "mismatch refused error invalid_model ort_error ort_crash no_kernel".split()


def declared_problem(proto, produced):
    """Why an output does not have the dtype or static shape that the model declares (a wrong shape rule); '' if it does."""
    for v in proto.graph.output:
        t, got = v.type.tensor_type, produced[v.name]
        if not t.HasField("shape"):
            continue
        declared = [d.dim_value if d.HasField("dim_value") else None for d in t.shape.dim]
        if len(declared) != got.ndim or any(d not in (None, n) for d, n in zip(declared, got.shape)):
            return f"output {v.name} is declared {declared}, computed {list(got.shape)}"
    return ""


def second_opinion(model, proto, case, tensors, layout, feeds):
    """Whether the reference evaluator and unoptimized ONNX Runtime are right on a case that failed in ONNX Runtime."""
    opinions = []
    for name, runner in (
        ("unoptimized ONNX Runtime", lambda: engines.run_ort(model, feeds, optimize=False)),
        ("the reference evaluator", lambda: engines.run_reference(proto, feeds)),
    ):
        try:
            if not compare.compare_outputs(case, tensors, layout, runner())[0]:
                opinions.append(name)
        except (engines.EngineError, engines.NoKernel):
            pass
    return f" [right with {' and '.join(opinions)}]" if opinions else ""


def check_case(model, opset, layout, case, tensors):
    """The result of one built model, as a dict."""
    proto = engines.to_proto(model)
    given = {i.name for i in proto.graph.initializer}  # also inputs, before IR 4
    feeds = {v.name: compare.as_reals(tensors[v.name]) for v in proto.graph.input if v.name not in given}
    engine, why = "ort", ""
    try:
        produced, engine, why = engines.run(model, proto, opset, feeds)
        problem, missing = compare.compare_outputs(case, tensors, layout, produced)
        problem = problem or declared_problem(proto, produced)
        status = "mismatch" if problem else "pass"
    except engines.EngineError as e:
        status, problem, missing = e.status, str(e), []
    if status in ("mismatch", "ort_error") and engine == "ort":
        problem += second_opinion(model, proto, case, tensors, layout, feeds)
    result = {"status": status, "reason": problem, "engine": engine}
    if why:
        result["why_reference"] = why
    if missing:
        result["not_produced"] = missing
    return result


def make_job(pairs, store):
    def job(number):
        container, record = pairs[number]
        case = store.cases[record["case"]]
        if record["status"] != "built":
            return {"status": record["status"], "reason": record["reason"]}
        try:
            return check_case(container.model(record), container.opset, record["outputs"], case, store.tensors(case))
        except engines.EngineError as e:
            return {"status": e.status, "reason": str(e)}

    return job


def lost(_number, why):
    return {"status": "ort_crash", "reason": why}


def run_containers(containers, store, workers):
    """One dict per record: case, overload, opset, plain, status, reason, engine, ..."""
    pairs = [(container, record) for container in containers for record in container.records]
    out = []
    for (container, record), result in zip(pairs, run_jobs(make_job(pairs, store), len(pairs), lost, workers)):
        case = store.cases[record["case"]]
        out.append(
            {"case": record["case"], "overload": overload_of(case), "opset": container.opset, "plain": is_plain(case)}
            | result
        )
    return out


def score(results):
    counted = [r for r in results if r["status"] != NOT_COUNTED]
    right = sum(r["status"] == "pass" for r in counted)
    return right, len(counted), 100 * right / len(counted) if counted else 100.0


def percent(results):
    return "{}/{} = {:.2f} %".format(*score(results))


def print_summary(opset, results):
    plain = [r for r in results if r["plain"]]
    overloads = len({r["overload"] for r in results if r["status"] != NOT_COUNTED})
    print(f"opset {opset}: {overloads} overloads; plain {percent(plain)}; all {percent(results)}")
    for name, group in (("plain", plain), ("all", results)):
        counts = collections.Counter(r["status"] for r in group)
        parts = [f"{counts[s]} {s}" for s in ["pass", *FAILURES, NOT_COUNTED] if counts[s]]
        passed = [r for r in group if r["status"] == "pass"]
        reference = sum(r["engine"] == "reference" for r in passed)
        partial = sum("not_produced" in r for r in passed)
        print(
            f"  {name:5}: {', '.join(parts)}"
            + (f"; {reference} passes by the reference evaluator" if reference else "")
            + (f"; {partial} passes with results not produced" if partial else "")
        )


def print_failures(results, container, store, verbose, plain_only):
    """Prints for each overload how many of its cases are right, and the failures."""
    by_overload = collections.defaultdict(list)
    for r in results:
        if r["status"] != NOT_COUNTED and (r["plain"] or not plain_only):
            by_overload[r["overload"]].append(r)
    records = {record["case"]: record for record in container.records}
    for overload, group in sorted(by_overload.items()):
        failures = [r for r in group if r["status"] != "pass"]
        if not failures:
            continue
        print(f"  {overload}: {len(group) - len(failures)}/{len(group)}")
        if not verbose:
            kinds = collections.Counter((r["status"], r["reason"][:110]) for r in failures)
            for (status, reason), n in kinds.most_common(6):
                print(f"    {n} x {status}: {reason}")
            continue
        for r in failures:
            case = store.cases[r["case"]]
            print(f"    {r['case']}{' (plain)' if r['plain'] else ''} {r['status']}: {r['reason']}")
            print(f"      call: {describe_call(case)}")
            if r["status"] not in ("refused", "error"):
                print("      " + graph_text(container.model(records[r["case"]])).replace("\n", "\n      "))


def graph_text(model):
    import onnx

    try:
        lines = onnx.printer.to_text(onnx.load_from_string(model).graph).splitlines()
    except Exception as e:  # the printer refuses malformed models
        return f"(not printable: {e})"
    return "\n".join(line for line in lines if line.strip() and not line.lstrip().startswith("<"))


def selected(container, ops, plain, store):
    if ops:
        wanted = {op.removeprefix("aten::") for op in ops.split(",")}
        container.records = [
            r for r in container.records if overload_of(store.cases[r["case"]]).removeprefix("aten::") in wanted
        ]
    if plain:
        container.records = [r for r in container.records if is_plain(store.cases[r["case"]])]
    return container


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", help="containers written by oracle_models, one per opset")
    parser.add_argument("--cases", required=True, help="folder with cases.jsonl and tensors/")
    parser.add_argument("--ops", help="only these overloads: add.Tensor,elu")
    parser.add_argument("--plain", action="store_true", help="only plain cases")
    parser.add_argument("--verbose", action="store_true", help="print every failing case with its call and its graph")
    parser.add_argument("--quiet", action="store_true", help="figures only")
    parser.add_argument("--json", help="write all results here")
    parser.add_argument(
        "--check", type=float, metavar="PERCENT", help="exit with 1 if fewer plain cases are right at any opset"
    )
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args(words)

    store = CaseStore(options.cases)
    containers = [selected(Container(path), options.ops, options.plain, store) for path in options.models]
    every = run_containers(containers, store, options.workers)
    low = []
    for container in containers:
        results = [r for r in every if r["opset"] == container.opset]
        print_summary(container.opset, results)
        if not options.quiet:
            print_failures(results, container, store, options.verbose, options.plain)
        percent = score([r for r in results if r["plain"]])[2]
        if options.check is not None and (percent < options.check or not results):
            low.append(f"opset {container.opset}: {percent:.2f} % of {len(results)} results")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            f.write("[\n" + ",\n".join(json.dumps(r) for r in every) + "\n]\n")
    if low:
        print(f"below {options.check} % of the plain cases: " + "; ".join(low))
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
