#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures exports of AlexNet, ResNet-50, ViT-B/16 and GPT-2 small, each straight from torch.export.export.

    benchmarks/export/run.py [--aton build/release/aton] [--only alexnet] [--runs 5] [--peers 1] [--large] [--check]
    [--json FILE]

Seconds of whole processes, medians in one run, of cp to a new file and of aton export with --weights embed, external
and reference; the peak of anonymous memory (RssAnon); the number of nodes. For comparison torch.onnx.export (dynamo=True
on the same .pt2, and dynamo=False on the module), also as whole processes that import torch. These are slow: their
results are kept in the work folder until the models or torch change; --peers N measures them again N times, --peers 0
omits them unless results are kept. --large exports a temporary model of 2.4 GB in external and reference mode, and
compares ONNX Runtime with torch.

--check exits with 1 if a limit in LIMITS is exceeded. A weight counts as rewritten if its bytes are not in the .pt2.
Needs torch, torchvision, onnx, onnxruntime and numpy; the peers also need onnxscript."""

import argparse
import hashlib
import importlib.metadata
import importlib.util
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import zipfile

import measure

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TORCH_SIDE = HERE / "torch_side.py"
MODELS = {"alexnet": 20, "resnet50": 20, "vit_b_16": 20, "gpt2_small": 20}  # milliseconds allowed in reference mode
MODES = ("embed", "external", "reference")
PEERS = ("dynamo", "torchscript")
LIMITS = {"copied": 1.2, "rewritten": 1.8, "memory": 24, "faster": 50}


def torch_side(*words):
    return [sys.executable, str(TORCH_SIDE), *map(str, words)]


def fingerprint(name):
    """Changes with the model and with torch."""
    found = hashlib.sha256(TORCH_SIDE.read_bytes())
    for file in ("zoo.py", "zoo_vision.py", "zoo_language.py"):
        found.update((ROOT / "tests" / "models" / file).read_bytes())
    for package in ("torch", "torchvision"):
        found.update(importlib.metadata.version(package).encode())
    return found.hexdigest() + name


def prepared(name, work):
    """The .pt2, and the kept results of the peers: {"dynamo": [[seconds, MiB], ...], "dynamo_nodes": ...}"""
    source, notes = work / name / f"{name}.pt2", work / name / "kept.json"
    wanted = fingerprint(name)
    kept = json.loads(notes.read_text()) if notes.exists() and source.exists() else {}
    if kept.get("fingerprint") != wanted:
        shutil.rmtree(work / name, ignore_errors=True)
        (work / name).mkdir(parents=True)
        print(f"{name}: made by torch", file=sys.stderr)
        measure.seconds(torch_side("make", name, source))
        kept = {"fingerprint": wanted}
        notes.write_text(json.dumps(kept))
    return source, kept


def measure_peers(name, source, kept, count):
    for kind in PEERS:
        if count == 0 or (count == 1 and kind in kept):
            continue
        target, found = source.with_name(f"{kind}.onnx"), []
        for _ in range(count):
            print(f"{name}: torch.onnx.export, {kind}", file=sys.stderr)
            found.append(measure.peak_resident(torch_side("export", name, source, target, kind)))
        if all(found):
            kept[kind], kept[f"{kind}_nodes"] = found, len(load(target).graph.node)
        for path in source.parent.glob(f"{kind}.onnx*"):
            path.unlink()
    (source.parent / "kept.json").write_text(json.dumps(kept))


def load(path):
    import onnx

    return onnx.load(str(path), load_external_data=False)


def commands(aton, source):
    """{name: (command, the files it makes)}; reference mode writes next to its .pt2."""
    found = {"cp": (["cp", str(source), str(source.with_name("copy.pt2"))], [source.with_name("copy.pt2")])}
    for mode in MODES:
        target = source.with_name(f"{mode}.onnx")
        command = [aton, "export", str(source), "-o", str(target), "--weights", mode]
        found[mode] = command, [target, source.with_name(f"{mode}.onnx.data")]
    return found


def payload_digests(source):
    """The payloads of all members of the archive; each storage is a member."""
    with zipfile.ZipFile(source) as archive:
        return {
            hashlib.sha256(archive.read(info)).digest()
            for info in archive.infolist()
            if "/data/weights/" in info.filename
        }


def rewritten_share(source, external):
    """The share of the bytes in an external data file that are not in the .pt2."""
    known, total, rewritten = payload_digests(source), 0, 0
    for tensor in load(external).graph.initializer:
        where = {e.key: e.value for e in tensor.external_data}
        if not where:
            continue
        with open(external.with_name(where["location"]), "rb") as data:
            data.seek(int(where.get("offset", 0)))
            content = data.read(int(where["length"]))
        total += len(content)
        rewritten += 0 if hashlib.sha256(content).digest() in known else len(content)
    return rewritten / total if total else 0.0


def measure_model(name, options):
    source, kept = prepared(name, options.work)
    measure_peers(name, source, kept, options.peers)
    todo = commands(options.aton, source)
    source.read_bytes()  # into the page cache, for all of them
    row = {"name": name, "megabytes": source.stat().st_size / 1e6, "seconds": measure.medians(todo, options.runs)}
    row["memory"] = {mode: measure.peak_anonymous(*todo[mode]) for mode in MODES}
    row["nodes"] = {mode: len(load(source.with_name(f"{mode}.onnx")).graph.node) for mode in MODES}
    row["rewritten"] = rewritten_share(source, source.with_name("external.onnx"))
    row["peers"] = {kind: statistics.median(t for t, _ in kept[kind]) for kind in PEERS if kind in kept}
    row["peers_memory"] = {kind: max(m for _, m in kept[kind]) for kind in PEERS if kind in kept}
    row["peers_nodes"] = {kind: kept[f"{kind}_nodes"] for kind in PEERS if kind in kept}
    for _, made in todo.values():
        measure.remove(*made)
    return row


def broken_limits(row):
    """A message for each exceeded limit."""
    found, times, name = [], row["seconds"], row["name"]
    kind = "rewritten" if row["rewritten"] > 0.5 else "copied"
    ratio = times["embed"] / times["cp"]
    if ratio > LIMITS[kind]:
        found.append(
            f"{name}: embed takes {ratio:.2f} x cp, allowed {LIMITS[kind]} ({100 * row['rewritten']:.0f} % rewritten)"
        )
    if 1000 * times["reference"] > MODELS[name]:
        found.append(f"{name}: reference takes {1000 * times['reference']:.0f} ms, allowed {MODELS[name]}")
    for mode, memory in row["memory"].items():
        if memory > LIMITS["memory"]:
            found.append(f"{name}: {mode} takes {memory:.0f} MiB of RssAnon, allowed {LIMITS['memory']}")
    for peer, time in row["peers"].items():
        if time / times["embed"] < LIMITS["faster"]:
            found.append(
                f"{name}: embed is {time / times['embed']:.0f} x faster than {peer}, required {LIMITS['faster']}"
            )
    if not row["peers"]:
        found.append(f"{name}: no results of torch.onnx.export; --peers 1 measures it")
    limit = row["peers_nodes"].get("dynamo")
    for mode in ("embed", "external"):
        if limit is not None and row["nodes"][mode] > limit:
            found.append(f"{name}: {row['nodes'][mode]} nodes in {mode} mode, dynamo writes {limit}")
    return found


def speed_table(rows):
    out = "| model | MB | cp | embed | external | reference | embed / cp | rewritten | dynamo | TorchScript |\n"
    out += "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"
    for row in rows:
        times = row["seconds"]
        cells = [row["name"], f"{row['megabytes']:.0f}"] + [f"{1000 * times[k]:.0f} ms" for k in ("cp", *MODES)]
        cells += [f"{times['embed'] / times['cp']:.2f}", f"{100 * row['rewritten']:.0f} %"]
        for kind in PEERS:
            taken = row["peers"].get(kind)
            cells.append(f"{taken:.1f} s ({taken / times['embed']:.0f} x)" if taken else "")
        out += "| " + " | ".join(cells) + " |\n"
    return out


def size_table(rows):
    out = "| model | RssAnon embed | external | reference | dynamo resident | TorchScript resident "
    out += "| nodes embed | external "
    out += "| reference | dynamo | TorchScript |\n|---|" + "--:|" * 10 + "\n"
    for row in rows:
        cells = [row["name"]] + [f"{row['memory'][mode]:.1f} MiB" for mode in MODES]
        cells += [f"{row['peers_memory'][k]:.0f} MiB" if k in row["peers_memory"] else "" for k in PEERS]
        cells += [str(row["nodes"][mode]) for mode in MODES] + [str(row["peers_nodes"].get(k, "")) for k in PEERS]
        out += "| " + " | ".join(cells) + " |\n"
    return out


def run_large_model(path, source):
    """The maximum error in ONNX Runtime, relative to the largest value."""
    import numpy
    import onnxruntime

    with numpy.load(source.with_suffix(".npz")) as case:
        x, y = case["x"], case["y"]
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    got = session.run(None, {session.get_inputs()[0].name: x})[0]
    return float(numpy.abs(got - y).max() / numpy.abs(y).max())


def measure_large(options):
    """Prints the results for a model of more than 2 GiB; returns problems."""
    folder, found = options.work / "large", []
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "large.pt2"
    try:
        print("large: made by torch", file=sys.stderr)
        measure.seconds(torch_side("make-large", source))
        for mode in ("external", "reference"):
            command, made = commands(options.aton, source)[mode]
            measure.settle()
            took, memory = measure.seconds(command), measure.peak_anonymous(command, made, runs=1)
            error = run_large_model(made[0], source)
            print(
                f"large, {source.stat().st_size / 1e9:.1f} GB, {mode}: {took:.2f} s, RssAnon {memory:.1f} MiB, "
                f"error {error:.1g}"
            )
            if memory > LIMITS["memory"] or not error <= 1e-4:
                found.append(f"large: {mode} takes {memory:.0f} MiB of RssAnon, error {error:.2g}")
            measure.remove(*made)
        command, made = commands(options.aton, source)["embed"]
        refused = subprocess.run(command, capture_output=True, text=True)
        print(f"large, embed: exit code {refused.returncode}, {refused.stderr.strip()}")
        if refused.returncode != 1 or any(path.exists() for path in made):
            found.append("large: embed is not refused")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"), help="the aton command")
    parser.add_argument(
        "--work", type=pathlib.Path, default=ROOT / "build/benchmark_export", help="where .pt2 files are kept"
    )
    parser.add_argument("--only", help=f"of {','.join(MODELS)}")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument(
        "--peers", type=int, default=1, metavar="N", help="runs of each torch.onnx.export; 1: only if no result is kept"
    )
    parser.add_argument("--large", action="store_true", help="also export a model of 2.4 GB")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a limit is exceeded")
    parser.add_argument("--json", type=pathlib.Path, help="write all results")
    options = parser.parse_args()
    for package in ("torch", "torchvision", "onnx", "onnxruntime"):
        if importlib.util.find_spec(package) is None:
            print(f"skipped: {package} is not installed for {sys.executable}")
            return 77
    names = [n for n in MODELS if not options.only or n in options.only.split(",")]
    rows, wrong = [], []
    for name in names:
        try:
            rows.append(measure_model(name, options))
            wrong += broken_limits(rows[-1])
        except measure.Failed as failed:
            wrong.append(f"{name}: {failed}")
    print(speed_table(rows) + "\n" + size_table(rows))
    if options.large:
        try:
            wrong += measure_large(options)
        except measure.Failed as failed:
            wrong.append(f"large: {failed}")
    print("\n".join(wrong) if wrong else "within all limits")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 1 if wrong and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
