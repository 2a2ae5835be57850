# SPDX-License-Identifier: MIT
"""Exports one .pt2 with the aton command and compares ONNX Runtime's outputs with torch's."""

import itertools
import pathlib
import re
import subprocess

import numpy as np

SECONDS = 120
SINCE = re.compile(r"(?:since |from |below |needs |--)opset (\d+)")


class Failure(Exception):
    pass


def aton_export(aton, source, target, opset, *options):
    """Writes the model; returns the opset that a refusal names, or None if the file was written."""
    command = [aton, "export", str(source), "-o", str(target), "--opset", str(opset), *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"aton export took more than {SECONDS} s") from None
    said = done.stderr.strip().replace(f"{source}: ", "")
    if done.returncode == 0:
        if not target.is_file():
            raise Failure("aton export exited with 0 and wrote nothing")
        return None
    if target.exists():
        raise Failure(f"aton export exited with {done.returncode} and left a file: {said}")
    wanted = [int(n) for n in SINCE.findall(said)]
    if done.returncode == 1 and wanted and max(wanted) > opset:
        return max(wanted)
    raise Failure(f"aton export exited with {done.returncode}: {said or 'no message'}")


def relative_error(expected, got):
    """The largest difference, relative to the largest expected value. NaN and infinities must be at the same positions."""
    if expected.dtype != got.dtype:
        raise Failure(f"dtype {got.dtype}, expected {expected.dtype}")
    if expected.shape != got.shape:
        raise Failure(f"shape {list(got.shape)}, expected {list(expected.shape)}")
    if expected.size == 0:
        return 0.0
    if expected.dtype.kind not in "fc":
        wrong = int((expected != got).sum())
        if wrong:
            raise Failure(f"{wrong} of {expected.size} {expected.dtype} values differ")
        return 0.0
    e, g = expected.astype(np.float64), got.astype(np.float64)
    finite = np.isfinite(e)
    if not np.array_equal(e[~finite], g[~finite], equal_nan=True) or not np.isfinite(g[finite]).all():
        raise Failure("NaN or infinities at different positions")
    if not finite.any():
        return 0.0
    largest = np.abs(e[finite]).max()
    error = np.abs(e[finite] - g[finite]).max()
    return float(error / largest) if largest > 0 else float(error)


def compare(expected, got):
    """The largest error of a list of outputs."""
    worst = 0.0
    for i, (e, g) in enumerate(zip(expected, got)):
        try:
            worst = max(worst, relative_error(e, g))
        except Failure as failure:
            raise Failure(f"output {i}: {failure}") from None
    return worst


def compare_states(expected, got):
    """Matches the new values of buffers and arguments, whose order is not fixed."""
    if not expected:
        return 0.0
    found = []
    for order in itertools.permutations(got):
        try:
            found.append(compare(expected, order))
        except Failure:
            pass
    if not found:
        raise Failure("the outputs for mutated buffers and arguments are not their new values")
    return min(found)


def compare_case(outputs, states, got):
    """The results keep their order; new values of buffers and arguments are all after them, or (as run_decompositions()
    puts them) all before them."""
    if len(got) != len(outputs) + len(states):
        changed = f" and {len(states)} for mutated buffers and arguments" if states else ""
        raise Failure(f"{len(got)} outputs, expected {len(outputs)}{changed}")
    orders = [(got[: len(outputs)], got[len(outputs) :])]
    if states:
        orders.append((got[len(states) :], got[: len(states)]))
    found, failures = [], []
    for of_outputs, of_states in orders:
        try:
            found.append(max(compare(outputs, of_outputs), compare_states(states, of_states)))
        except Failure as failure:
            failures.append(failure)
    if not found:
        raise failures[0]
    return min(found)


def check_declared(session, got):
    """The declared static dimensions of outputs must be those of the computed arrays."""
    for meta, array in zip(session.get_outputs(), got):
        static = [d if isinstance(d, int) else None for d in meta.shape]
        if len(static) != array.ndim or any(d not in (None, n) for d, n in zip(static, array.shape)):
            raise Failure(f"output {meta.name} is declared {meta.shape}, computed {list(array.shape)}")


def open_session(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2  # some kernels lose sums when they run in several threads
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as e:  # ONNX Runtime's exceptions have no common base class
        raise Failure(f"ONNX Runtime does not load it: {short(e)}") from None


def short(problem):
    return " ".join(str(problem).split())[:400]


def run_session(session, inputs):
    names = [i.name for i in session.get_inputs()]
    if len(names) != len(inputs):
        raise Failure(f"{len(names)} inputs ({', '.join(names)}), expected {len(inputs)}")
    try:
        return session.run(None, dict(zip(names, inputs)))
    except Exception as e:
        raise Failure(f"ONNX Runtime does not run it: {short(e)}") from None


def numbered(cases, what, number):
    """The arrays input_0_0, input_0_1, ... in their order."""
    prefix = f"{what}_{number}_"
    names = [n for n in cases.files if n.startswith(prefix)]
    return [cases[n] for n in names]


def node_count(path):
    """The number of nodes in the main graph and nested graphs. Also runs ONNX's checker."""
    import onnx

    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception as e:
        raise Failure(f"onnx.checker: {short(e)}") from None
    graphs, count = [onnx.load(str(path), load_external_data=False).graph], 0
    while graphs:
        graph = graphs.pop()
        count += len(graph.node)
        graphs += [a.g for node in graph.node for a in node.attribute if a.HasField("g")]
    return count


def largest_error(session, cases):
    """The largest error of a model on both recorded calls."""
    worst = 0.0
    for number in (0, 1):
        got = run_session(session, numbered(cases, "input", number))
        check_declared(session, got)
        try:
            error = compare_case(numbered(cases, "output", number), numbered(cases, "state", number), got)
        except Failure as failure:
            raise Failure(f"input {number + 1}: {failure}") from None
        worst = max(worst, error)
    return worst


def nan_options(folder):
    """Models that get or give NaN are exported with `--nan exact`, all others with the default."""
    with np.load(folder / "cases.npz") as cases:
        has_nan = any(a.dtype.kind in "fc" and np.isnan(a).any() for a in map(cases.get, cases.files))
    return ("--nan", "exact") if has_nan else ()


def check_opset(aton, folder, kind, opset, tolerance, options=()):
    """{"status": "pass", "error": ..., "nodes": ...}, {"status": "needs", "opset": 18} or {"status": "fail", "reason":
    ...}"""
    target = folder / f"{kind}_{opset}.onnx"
    target.unlink(missing_ok=True)
    try:
        wanted = aton_export(aton, folder / f"{kind}.pt2", target, opset, *nan_options(folder), *options)
        if wanted is not None:
            return {"status": "needs", "opset": wanted}
        nodes, session = node_count(target), open_session(target)
        with np.load(folder / "cases.npz") as cases:
            worst = largest_error(session, cases)
        if not worst <= tolerance:
            return {"status": "fail", "reason": f"error {worst:.2g}, allowed {tolerance:.0g}", "nodes": nodes}
        return {"status": "pass", "error": worst, "nodes": nodes}
    except Failure as failure:
        return {"status": "fail", "reason": short(failure)}
    finally:
        target.unlink(missing_ok=True)


def check(aton, folder, kind, opsets, tolerance, may_refuse=False, options=()):
    """{opset: result}. A graph that runs at no opset is a failure, even if every refusal has a reason, unless `may_refuse`.
    `options`: more options of `aton export`."""
    folder = pathlib.Path(folder)
    results = {opset: check_opset(aton, folder, kind, opset, tolerance, options) for opset in opsets}
    if not may_refuse and all(r["status"] == "needs" for r in results.values()):
        last = max(opsets)
        wanted = results[last]["opset"]
        results[last] = {"status": "fail", "reason": f"refused at every opset: needs {wanted}"}
    return results
