#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs ONNX's backend tests on Aton's runtime, on ONNX Runtime and on ONNX's reference evaluator, with one comparison for all three:
runtime_node_tests also compares the results of the other two.

    measure_node_tests.py --program build/release/tests/runtime_node_tests --data build/release/tests/node_tests

--write docs/results/node_tests.md writes the page; --check docs/results/node_tests.md only checks whether it is up to date. --only PART measures cases
with this in their name or operator."""

import argparse
import collections
import ctypes
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))

from worker_pool import run_jobs  # noqa: E402

warnings.filterwarnings("ignore")
SECONDS = 60  # per case
KINDS = {
    "node": "node tests: one operator each",
    "simple": "simple: small models",
    "pytorch-operator": "pytorch-operator: exported functions",
    "pytorch-converted": "pytorch-converted: exported layers",
    "light": "light: image nets with constant weights",
}
TOO_NEW = ("Unsupported model IR version", "official released onnx opset versions")  # messages of ONNX Runtime
TOO_SLOW = {"reference": {"light"}}  # convolutions in Python

HEAD = """# ONNX's backend tests

ONNX {onnx} comes with tests of its operators: a model, inputs, and expected outputs. If an operator is a function, a second model
contains its body instead (`_expanded`). This page shows the results of Aton's runtime, ONNX Runtime {ort} (CPU) and ONNX's own
reference evaluator.

One program compares all three in the same way as ONNX's runner: dtypes and sizes exactly, floats within rtol 1e-3 and atol 1e-7
(bfloat16: rtol 2^-6). It is stricter in one respect: integers must be equal. Random results (Bernoulli, Dropout in training) must be
possible and likely. A crash, an error, or no answer within {seconds} seconds is a failure.

This file is written by `tests/runtime/measure_node_tests.py`; `ctest -R onnx_node_tests_page` fails if it is not up to date.
"""


class Failure(Exception):
    """Why an engine has no outputs."""


def one_line(text):
    return " ".join(str(text).split())[:400]


def read_value(path, info):
    """A protobuf message of the type of the input or output."""
    kind = info.type.WhichOneof("value")
    message = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}.get(kind, onnx.TensorProto)()
    message.ParseFromString(path.read_bytes())
    return message


def to_numpy(message):
    if isinstance(message, onnx.SequenceProto):
        return numpy_helper.to_list(message)
    if isinstance(message, onnx.OptionalProto):
        return numpy_helper.to_optional(message)
    return numpy_helper.to_array(message)


def to_message(value, info):
    """The result of an engine in the form in which it is stored."""
    if info.type.WhichOneof("value") == "optional_type":
        return numpy_helper.from_optional(value)
    if isinstance(value, (list, tuple)):
        return numpy_helper.from_list([np.asarray(v) for v in value])
    if value is None:
        raise Failure("gave nothing for an output")
    return value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value))


def open_inputs(graph):
    known = {i.name for i in graph.initializer}
    return [v for v in graph.input if v.name not in known]


class Reference:
    title = "reference evaluator"

    def __init__(self, model):
        from onnx.reference import ReferenceEvaluator

        self.evaluator = ReferenceEvaluator(model)

    def run(self, feeds):
        with np.errstate(all="ignore"):
            return self.evaluator.run(None, {name: to_numpy(message) for name, message in feeds.items()})


class OnnxRuntime:
    """Tensors of dtypes that numpy does not have are passed as memory."""

    title = "ONNX Runtime"

    def __init__(self, model):
        import onnxruntime

        self.ort = onnxruntime
        onnxruntime.set_default_logger_severity(4)
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        settings.log_severity_level = 4
        self.session = onnxruntime.InferenceSession(
            model.SerializeToString(), settings, providers=["CPUExecutionProvider"]
        )

    def run(self, feeds):
        names = [o.name for o in self.session.get_outputs()]
        infos = [*self.session.get_inputs(), *self.session.get_outputs()]
        unnamed = ("bfloat16", "float8", "float4", "int4", "int2")
        if not any(part in info.type for part in unnamed for info in infos):
            return self.session.run(names, {name: to_numpy(message) for name, message in feeds.items()})
        values = {name: self.to_ort(message) for name, message in feeds.items()}
        return [self.from_ort(v) for v in self.session.run_with_ort_values(names, values)]

    def to_ort(self, message):
        if not isinstance(message, onnx.TensorProto):
            raise Failure("sequences of such tensors cannot be given")
        array = to_numpy(message)
        if array.dtype == object:
            return self.ort.OrtValue.ortvalue_from_numpy(array)
        raw = numpy_helper.from_array(array).raw_data  # packed
        value = self.ort.OrtValue.ortvalue_from_shape_and_type(list(array.shape), message.data_type)
        ctypes.memmove(value.data_ptr(), raw, len(raw))
        return value

    def from_ort(self, value):
        if not value.is_tensor():
            raise Failure("sequences of such tensors are not supported")
        out = onnx.TensorProto(data_type=value.element_type(), dims=value.shape())
        if out.data_type == onnx.TensorProto.STRING:
            return value.numpy()
        bits = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(out.data_type)).itemsize * 8
        for narrow in ("INT4", "FLOAT4", "INT2"):
            if narrow in onnx.TensorProto.DataType.Name(out.data_type):
                bits = int(narrow[-1])
        size = (int(np.prod(out.dims, dtype=np.int64)) * bits + 7) // 8
        out.raw_data = ctypes.string_at(value.data_ptr(), size) if size else b""
        return out


ENGINES = {"onnxruntime": OnnxRuntime, "reference": Reference}


def compute(engine, source, target):
    """Writes the outputs of a case."""
    model = onnx.load(source / "model.onnx")
    run = ENGINES[engine](model).run
    for data in sorted(source.glob("test_data_set_*")):
        feeds = {v.name: read_value(data / f"input_{i}.pb", v) for i, v in enumerate(open_inputs(model.graph))}
        outputs = run(feeds)
        (target / data.name).mkdir()
        for i, (info, value) in enumerate(zip(model.graph.output, outputs, strict=True)):
            (target / data.name / f"output_{i}.pb").write_bytes(to_message(value, info).SerializeToString())


def compute_all(engine, data, cases, folder):
    """One folder per case, with outputs or with error.txt."""
    for case in cases:
        (folder / case["name"]).mkdir(parents=True)

    def job(number):
        name = cases[number]["name"]
        if cases[number]["kind"] in TOO_SLOW.get(engine, ()):
            return "not run"
        try:
            compute(engine, data / name, folder / name)
        except Exception as e:  # engines raise exceptions of any type
            return one_line(f"{type(e).__name__}: {e}") if not isinstance(e, Failure) else str(e)
        return ""

    reasons = run_jobs(job, len(cases), lambda _, why: why, seconds=SECONDS, chunk=8)
    for case, reason in zip(cases, reasons):
        if reason:
            (folder / case["name"] / "error.txt").write_text(reason, encoding="utf-8")


def read_index(data, only):
    cases = []
    for line in (data / "index.tsv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, kind, operator = line.split("\t")[:3]
            if not only or only in name or only in operator:
                cases.append({"name": name, "kind": kind, "operator": operator})
    return cases


def results_of(program, data, only, *words):
    with tempfile.NamedTemporaryFile(suffix=".json") as f:
        command = [program, str(data), "--json", f.name, *(["--only", only] if only else []), *map(str, words)]
        done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode > 1:
            sys.exit(f"{program}: {done.stderr}")
        return [json.loads(line) for line in Path(f.name).read_text(encoding="utf-8").splitlines()]


def measure(program, data, only):
    """{engine: results}"""
    cases = read_index(data, only)
    out = {"aton": results_of(program, data, only)}
    for engine in ENGINES:
        with tempfile.TemporaryDirectory() as folder:
            compute_all(engine, data, cases, Path(folder))
            out[engine] = results_of(program, data, only, "--outputs", folder)
    return out


def share(results):
    passed = sum(r["passed"] for r in results)
    return f"{passed} = {100 * passed / len(results):.1f} %" if results else "-"


def cell(text):
    return " ".join(str(text).replace("|", "\\|").replace("<", "&lt;").split())[:240]


def figures(results):
    lines = ["## Figures", "", "| tests | cases | Aton | ONNX Runtime | reference evaluator |", "|---|---|---|---|---|"]
    for kind, title in KINDS.items():
        columns = [title, sum(r["kind"] == kind for r in results["aton"])]
        for engine, of in results.items():
            columns.append("not run" if kind in TOO_SLOW.get(engine, ()) else share([r for r in of if r["kind"] == kind]))
        if columns[1]:
            lines.append(f"| {' | '.join(map(str, columns))} |")
    failed = [r["reason"] for r in results["onnxruntime"] if r["kind"] == "node" and not r["passed"]]
    newer = sum(any(sign in reason for sign in TOO_NEW) for reason in failed)
    lines += ["", f"Of the {len(failed)} node tests that ONNX Runtime fails, {newer} use models that are too new for it."]
    return lines + [""]


def by_operator(results):
    """The number of an operator's node tests that pass, in bold unless all of them do."""
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for engine, of in results.items():
        for r in of:
            if r["kind"] == "node":
                groups[r["operator"]][engine].append(r["passed"])
    lines = ["## Node tests by operator", "", "| operator | cases | Aton | ONNX Runtime | reference evaluator |"]
    lines.append("|---|---|---|---|---|")
    for operator, group in sorted(groups.items()):
        total = len(group["aton"])
        counts = [sum(group[engine]) for engine in results]
        columns = [str(n) if n == total else f"**{n}**" for n in counts]
        lines.append(f"| {operator} | {total} | {' | '.join(columns)} |")
    return lines + [""]


def failures(results):
    lines = ["## Failures of Aton", ""]
    failed = [r for r in results["aton"] if not r["passed"]]
    if not failed:
        return lines + ["Nothing.", ""]
    passed_by = {engine: {r["name"] for r in of if r["passed"]} for engine, of in results.items()}
    lines += ["| case | reason | passes in |", "|---|---|---|"]
    for r in failed:
        others = [ENGINES[engine].title for engine in ENGINES if r["name"] in passed_by[engine]]
        lines.append(f"| {r['name']} | {cell(r['reason'])} | {', '.join(others) or 'neither'} |")
    return lines + [""]


def page(results):
    import onnxruntime

    head = HEAD.format(onnx=onnx.__version__, ort=onnxruntime.__version__, seconds=SECONDS)
    return "\n".join([head, *figures(results), *by_operator(results), *failures(results)]).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="runtime_node_tests")
    parser.add_argument("--data", required=True, type=Path, help="the folder written by make_node_tests.py")
    parser.add_argument("--only", default="")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--check", type=Path, metavar="PAGE")
    parser.add_argument("--verbose", action="store_true", help="every failure of every engine")
    options = parser.parse_args()

    results = measure(options.program, options.data, options.only)
    print("\n".join(figures(results)))
    if options.verbose:
        for engine, of in results.items():
            for r in of:
                if not r["passed"]:
                    print(f"{engine}: {r['name']}: {r['reason']}")
    text = page(results)
    if options.write:
        options.write.write_text(text, encoding="utf-8")
    if options.check and options.check.read_text(encoding="utf-8") != text:
        print(f"{options.check} is not up to date: run tests/runtime/measure_node_tests.py with --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
