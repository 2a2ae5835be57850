#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures how long ONNX Runtime takes for Aton's graphs, compared with those of other exporters.

    benchmarks/graphs/run.py [--aton build/release/aton] [--only swin,decode] [--threads 1,2] [--seconds 3] [--opset 20]
                             [--language-opset 23] [--histograms] [--json FILE] [--check] [--list]

The models are those of models.py and language.py. Each program is straight from torch.export.export; PyTorch's graph is
that of torch.onnx.export with dynamo=True and optimize=True of the same program, at the same opset, and for models of
transformers there is also the graph of its OnnxExporter, fused for ONNX Runtime's CPU kernels. All results are compared
with torch's on two sets of inputs before anything is timed, and the inputs of all graphs have the same dynamic dimensions.

The sessions have ONNX Runtime's default optimizations and run in turn, in the same process, each once in a round, in
another order in the next one; a model that exceeds the limit is measured longer. A ratio is Aton's time divided by the other's; below 1, Aton's graph is faster. Programs and
the graphs of the others are kept in the work folder until the model or the packages change.

--histograms prints the operators that one graph has more of than the other. --check exits with 1 if a graph of Aton is
wrong or refused, or a limit in LIMITS is exceeded. Exit code 77: torch or ONNX Runtime is not installed."""

import argparse
import importlib.util
import json
import logging
import os
import pathlib
import sys
import time
import warnings

import graphs
import tables
from graphs import ROOT

SECONDS = 600
LEAST_ROUNDS = 7
REPEATS = 4


def entries_of(options):
    import zoo

    found = []
    for name in ("models", "language"):
        if name == "language" and importlib.util.find_spec("transformers") is None:
            continue
        source = pathlib.Path(importlib.import_module(name).__file__).resolve()
        found += [e for e in zoo.MODELS.values() if pathlib.Path(e.source).resolve() == source and not e.missing()]
    return [e for e in found if not options.only or any(part in short_name(e) for part in options.only.split(","))]


def short_name(entry):
    return entry.name.removeprefix("graphs_")


def of_transformers(entry):
    return "transformers" in entry.needs


def make_peer(side, entry, folder, opset):
    """Writes the graph of another exporter where it is not kept. Raises checking.Failure, also if that is kept."""
    import checking
    import exported

    target, notes = folder / f"{side}_{opset}.onnx", folder / f"{side}_{opset}.json"
    wanted = f"{exported.fingerprint(entry)} {graphs.versions()} {graphs.digest(graphs.__file__)}"
    kept = graphs.read_json(notes)
    if kept.get("fingerprint") != wanted:
        for path in folder.glob(f"{target.name}*"):
            path.unlink()
        kept = {"fingerprint": wanted}
        try:
            if side == "dynamo":
                graphs.export_with_dynamo(folder / "raw.pt2", target, opset)
            else:
                from language import export_with_transformers

                export_with_transformers(entry, target, opset)
        except Exception as e:  # torch may raise anything
            kept["problem"] = f"{type(e).__name__}: {checking.short(e)}"
        notes.write_text(json.dumps(kept), encoding="utf-8")
    if "problem" in kept:
        raise checking.Failure(kept["problem"])
    return target


def open_session(path, threads):
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.log_severity_level = threads, 4
    # The threads of a session do not spin while another one is measured.
    settings.add_session_config_entry("session.force_spinning_stop", "1")
    return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])


def dynamic_dims(path):
    """The dynamic dimensions of the inputs: [(input, dimension)]. OnnxExporter names some fixed sizes "64"."""
    inputs = open_session(path, 1).get_inputs()
    return [(i, d) for i, each in enumerate(inputs) for d, size in enumerate(each.shape) if not str(size).isdigit()]


def graphs_of(entry, folder, options):
    """{side: file} and {side: problem}; what is in the first is right."""
    import checking
    import numpy

    opset = options.language_opset if of_transformers(entry) else options.opset
    made, problems = {}, {}
    for side in tables.SIDES if of_transformers(entry) else tables.SIDES[:2]:
        try:
            if side == "aton":
                made[side] = folder / f"aton_{opset}.onnx"
                made[side].unlink(missing_ok=True)
                graphs.export_with_aton(options.aton, folder / "raw.pt2", made[side], opset)
            else:
                made[side] = make_peer(side, entry, folder, opset)
            with numpy.load(folder / "cases.npz") as cases:
                error = checking.largest_error(checking.open_session(made[side]), cases)
            if not error <= entry.tolerance:
                raise checking.Failure(f"error {error:.2g}, allowed {entry.tolerance:.0g}")
            if side != "aton" and "aton" in made and dynamic_dims(made[side]) != dynamic_dims(made["aton"]):
                raise checking.Failure("its inputs have other dynamic dimensions")
        except checking.Failure as failure:
            made.pop(side, None)
            problems[side] = checking.short(failure)
    return made, problems


def timed(made, inputs, threads, seconds):
    """{side: [seconds of each round]}"""
    sessions = {side: open_session(path, threads) for side, path in made.items()}
    given = {side: dict(zip((i.name for i in s.get_inputs()), inputs)) for side, s in sessions.items()}
    for side, session in sessions.items():
        session.run(None, given[side])
        session.run(None, given[side])
    order, times = list(sessions), {side: [] for side in sessions}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[order[0]]) < LEAST_ROUNDS:
        for side in order:
            start = time.perf_counter()
            sessions[side].run(None, given[side])
            times[side].append(time.perf_counter() - start)
        order.append(order.pop(0))
    return times


def measure(entry, options):
    """The row of a model."""
    import checking
    import exported
    import numpy
    import onnx

    folder = options.work / entry.name
    row = {"name": short_name(entry), "transformers": of_transformers(entry)}
    try:
        exported.prepare(entry, folder)
    except Exception as e:  # torch may raise anything
        return row | {"problems": {"torch": f"{type(e).__name__}: {' '.join(str(e).split())[:300]}"}}
    made, row["problems"] = graphs_of(entry, folder, options)
    row["nodes"] = {side: graphs.histogram(onnx.load(path, load_external_data=False)) for side, path in made.items()}
    with numpy.load(folder / "cases.npz") as cases:
        inputs = checking.numbered(cases, "input", 0)
    for threads in options.threads if "aton" in made and len(made) > 1 else ():
        times = timed(made, inputs, threads, options.seconds)
        for _ in range(REPEATS):
            row.setdefault("times", {})[str(threads)] = {side: tables.figures(found) for side, found in times.items()}
            if (tables.ratio(row, threads) or 0) <= tables.LIMITS["model"]:
                break
            for side, more in timed(made, inputs, threads, options.seconds).items():
                times[side] += more
    return row


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/benchmark_graphs", help="where programs are kept")
    parser.add_argument("--only", help="only models whose name contains one of these: swin,decode")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2])
    parser.add_argument("--seconds", type=float, default=3, help="for a model and a number of threads")
    parser.add_argument("--opset", type=int, default=20)
    parser.add_argument("--language-opset", type=int, default=23, help="of models of transformers")
    parser.add_argument("--histograms", action="store_true", help="print the operators that one graph has more of")
    parser.add_argument("--json", type=pathlib.Path, help="write all results")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a graph is wrong or a limit is exceeded")
    parser.add_argument("--list", action="store_true", help="print the names and exit")
    return parser.parse_args(words)


def main(words=None):
    options = parse(words)
    if graphs.is_missing():
        return 77
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    from worker_pool import run_jobs

    entries = entries_of(options)
    if options.list or not entries:
        print("\n".join(map(short_name, entries)) or "no such model; --list prints their names")
        return 0 if entries else 2
    options.work.mkdir(parents=True, exist_ok=True)

    def job(number):
        row = measure(entries[number], options)
        print(tables.progress(row, number, len(entries)), file=sys.stderr, flush=True)
        return row

    lost = lambda number, why: {"name": short_name(entries[number]), "problems": {"process": why}}
    rows = run_jobs(job, len(entries), lost, 1, SECONDS, chunk=1)
    print(tables.markdown(rows, options.threads))
    if options.histograms:
        print(tables.histograms(rows))
    for name, side, problem in ((r["name"], *item) for r in rows for item in r["problems"].items()):
        print(f"{name}, {side}: {problem}")
    print(tables.summary(rows, options.threads))
    broken = tables.broken_limits(rows, options.threads)
    print("\n".join(broken) if broken else "within all limits")
    if options.json:
        options.json.write_text(json.dumps({"versions": graphs.versions(), "rows": rows}, indent=1) + "\n", encoding="utf-8")
    return 1 if broken and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
