#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the backend tests of the installed onnx as files: the node tests, which onnx computes when it is asked for them, and the
models with data that its wheel carries.

    make_node_tests.py --out build/release/tests/node_tests

NAME/model.onnx and NAME/test_data_set_K/{input,output}_I.pb for each case, as in ONNX's repository: TensorProto, SequenceProto or
OptionalProto, whichever the input or output is. Input I is the I-th that has no initializer. index.tsv has a line per case:

    name, kind, operator, rtol, atol, check

`operator` is what the case is about, or its kind where it is about several. `check` is how outputs are compared: `values`, or
`bernoulli` and `dropout` where the case draws random numbers, and its recorded ones are one draw of many.

Nothing is written where the folder has been made by this script with this version of onnx."""

import argparse
import hashlib
import shutil
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import onnx  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402
from onnx.backend.test import loader  # noqa: E402
from onnx.backend.test.case import node as node_cases  # noqa: E402

FOLDERS = ("simple", "pytorch-operator", "pytorch-converted")
LEAST_NODE_CASES = 1500
INDEX = "index.tsv"


def stamp():
    """The first line of the index: a folder that has another one is stale."""
    return f"# onnx {onnx.__version__}, numpy {np.__version__}, {hashlib.sha256(Path(__file__).read_bytes()).hexdigest()}"


def is_current(folder):
    try:
        with open(folder / INDEX, encoding="utf-8") as f:
            return f.readline().rstrip("\n") == stamp()
    except OSError:
        return False


def graphs_of(graph):
    """The graph and those nested in it."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in [attribute.g, *attribute.graphs] if attribute.type in (5, 10) else []:
                yield from graphs_of(inner)


def operator_name(node):
    return f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type


def operator_of(model, kind):
    """The only operator beside Constant; the kind where there are several."""
    names = {operator_name(node) for node in model.graph.node if node.op_type != "Constant"}
    return names.pop() if len(names) == 1 else kind


def check_of(model, inputs):
    """How the outputs can be compared; `inputs` by name."""
    nodes = [node for graph in graphs_of(model.graph) for node in graph.node]
    if any(node.op_type.startswith(("Bernoulli", "Random", "Multinomial")) for node in nodes):
        return "bernoulli"
    for node in nodes:
        if node.op_type == "Dropout" and len(node.input) > 2:
            ratio, training = (inputs.get(name) for name in node.input[1:3])
            if training is not None and bool(training) and (ratio is None or float(ratio) != 0):
                return "dropout"
    return "values"


def to_proto(value, value_info):
    kind = value_info.type.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, value_info.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, value_info.name)
    if kind != "tensor_type":
        raise TypeError(f"{value_info.name} is a {kind}")
    return value if isinstance(value, onnx.TensorProto) else numpy_helper.from_array(np.asarray(value), value_info.name)


class Writer:
    def __init__(self, folder):
        self.folder = folder
        self.rows = []

    def case(self, name, kind, operator, tolerances, check):
        self.rows.append((name, kind, operator, *map(repr, tolerances), check))
        (self.folder / name).mkdir()
        return self.folder / name

    def write_index(self):
        lines = ["\t".join(row) for row in sorted(self.rows, key=lambda row: (row[1] != "node", row[1], row[0]))]
        (self.folder / INDEX).write_text("\n".join([stamp(), *lines, ""]), encoding="utf-8")


def write_node_cases(writer):
    """Importing their modules makes them, with numpy's seed set before each."""
    asked = node_cases._existing_names  # the node that a case is about, for those that are not an expanded function
    for case in node_cases.collect_testcases(None):
        graph = case.model.graph
        first = {v.name: x for v, x in zip(graph.input, case.data_sets[0][0]) if not isinstance(x, (list, onnx.TensorProto))}
        about = asked.get(case.name) or asked[case.name[: case.name.rindex("_expanded")]]
        folder = writer.case(
            case.name, "node", operator_name(about), (case.rtol, case.atol), check_of(case.model, first)
        )
        (folder / "model.onnx").write_bytes(case.model.SerializeToString(deterministic=True))
        for k, (inputs, outputs) in enumerate(case.data_sets):
            data = folder / f"test_data_set_{k}"
            data.mkdir()
            for what, infos, values in (("input", graph.input, inputs), ("output", graph.output, outputs)):
                for i, (info, value) in enumerate(zip(infos, values, strict=True)):
                    bytes_of = to_proto(value, info).SerializeToString(deterministic=True)
                    (data / f"{what}_{i}.pb").write_bytes(bytes_of)


def write_stored_cases(writer, kind):
    for case in loader.load_model_tests(kind=kind):
        source = Path(case.model_dir)
        model = onnx.load(source / "model.onnx")
        folder = writer.case(case.name, kind, operator_of(model, kind), (case.rtol, case.atol), check_of(model, {}))
        shutil.copyfile(source / "model.onnx", folder / "model.onnx")
        for data in sorted(source.glob("test_data_set_*")):
            shutil.copytree(data, folder / data.name)


def write_light_cases(writer):
    """Nets with constants for weights. What onnx's runner feeds them: i / n for element i of n."""
    root = Path(loader.DATA_DIR)
    for case in loader.load_model_tests(kind="real"):
        path = root / case.url.removeprefix("onnx/backend/test/data/")
        model = onnx.load(path)
        folder = writer.case(case.name, "light", "light", (case.rtol, case.atol), check_of(model, {}))
        shutil.copyfile(path, folder / "model.onnx")
        data = folder / "test_data_set_0"
        data.mkdir()
        known = {i.name for i in model.graph.initializer}
        (free,) = (v for v in model.graph.input if v.name not in known)
        shape = [d.dim_value for d in free.type.tensor_type.shape.dim]
        count = np.prod(shape)
        given = (np.arange(count).reshape(shape) / count).astype(np.float32)
        (data / "input_0.pb").write_bytes(to_proto(given, free).SerializeToString(deterministic=True))
        for i in range(len(model.graph.output)):
            shutil.copyfile(f"{path.with_suffix('')}_output_{i}.pb", data / f"output_{i}.pb")


def make(folder):
    """The number of cases."""
    fresh, old = folder.with_name(folder.name + ".new"), folder.with_name(folder.name + ".old")
    for leftover in (fresh, old):
        shutil.rmtree(leftover, ignore_errors=True)
    fresh.mkdir(parents=True)
    writer = Writer(fresh)
    write_node_cases(writer)
    if len(writer.rows) < LEAST_NODE_CASES:
        sys.exit(f"only {len(writer.rows)} node tests found")
    for kind in FOLDERS:
        write_stored_cases(writer, kind)
    write_light_cases(writer)
    writer.write_index()
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)
    return len(writer.rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, type=Path, help="the folder, which is replaced where it is stale")
    folder = parser.parse_args().out
    if is_current(folder):
        print(f"{folder} is there")
    else:
        print(f"{make(folder)} cases in {folder}")


if __name__ == "__main__":
    main()
