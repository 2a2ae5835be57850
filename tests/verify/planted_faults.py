# SPDX-License-Identifier: MIT
"""A model, and faults that are planted into it: a node replaced, an attribute changed, a constant perturbed, an optimization that is wrong."""

from collections.abc import Callable
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


def model() -> onnx.ModelProto:
    draw = numpy.random.default_rng(7)

    def constant(name: str, *sizes: int, positive: bool = False) -> onnx.TensorProto:
        array = draw.uniform(0.5, 1.5, sizes) if positive else draw.uniform(-1, 1, sizes)
        return numpy_helper.from_array(array.astype(numpy.float32), name)

    constants = [constant("w1", 4, 3, 3, 3), constant("b1", 4), constant("w2", 6, 2, 3, 3), constant("scale", 6, positive=True), constant("shift", 6),
                 constant("mean", 6), constant("variance", 6, positive=True), constant("w3", 5, 24), constant("b3", 5), constant("factor", 5),
                 constant("offset", 5), constant("w4", 5, 7), constant("gain", 7, positive=True), constant("bias", 7),
                 numpy_helper.from_array(numpy.array([-1], numpy.int64), "last"), numpy_helper.from_array(numpy.float32(-0.4), "low"),
                 numpy_helper.from_array(numpy.float32(0.3), "high"), numpy_helper.from_array(numpy.array([1, 0, 2, 0], numpy.int64), "rows")]

    def node(op: str, name: str, inputs: list[str], **attributes) -> onnx.NodeProto:
        return helper.make_node(op, inputs, [f"{name}_out"], name=name, **attributes)

    nodes = [node("Conv", "conv1", ["x", "w1", "b1"], pads=[1, 1, 1, 1]),
             node("Relu", "relu1", ["conv1_out"]),
             node("Conv", "conv2", ["relu1_out", "w2"], group=2, strides=[2, 2], pads=[1, 1, 0, 0]),
             node("BatchNormalization", "norm1", ["conv2_out", "scale", "shift", "mean", "variance"], epsilon=1e-3),
             node("LeakyRelu", "leaky", ["norm1_out"], alpha=0.2),
             node("MaxPool", "pool", ["leaky_out"], kernel_shape=[2, 2], strides=[2, 2]),
             node("Flatten", "flat", ["pool_out"], axis=1),
             node("Gemm", "gemm", ["flat_out", "w3", "b3"], transB=1, alpha=0.5),
             node("Mul", "scaled", ["gemm_out", "factor"]),
             node("Add", "shifted", ["scaled_out", "offset"]),
             node("Sigmoid", "gate", ["shifted_out"]),
             node("Mul", "gated", ["shifted_out", "gate_out"]),
             node("MatMul", "product", ["gated_out", "w4"]),
             node("LayerNormalization", "norm2", ["product_out", "gain", "bias"], epsilon=1e-5),
             node("Softmax", "weights", ["norm2_out"], axis=-1),
             node("ReduceMean", "average", ["norm2_out", "last"], keepdims=1),
             node("Sub", "centered", ["norm2_out", "average_out"]),
             node("Clip", "clipped", ["centered_out", "low", "high"]),
             node("Tanh", "bounded", ["clipped_out"]),
             node("Mul", "mixed", ["weights_out", "bounded_out"]),
             node("Gather", "chosen", ["mixed_out", "rows"], axis=1),
             node("Concat", "joined", ["chosen_out", "weights_out"], axis=1)]
    graph = helper.make_graph(nodes, "planted", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])],
                              [helper.make_tensor_value_info("joined_out", TensorProto.FLOAT, ["n", 11])], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def find(graph: onnx.GraphProto, name: str) -> onnx.NodeProto | None:
    return next((n for n in graph.node if n.name == name), None)


def replace(name: str, op: str) -> Callable:
    def plant(graph: onnx.GraphProto) -> None:
        if node := find(graph, name):
            node.op_type = op

    return plant


def change(name: str, **attributes) -> Callable:
    def plant(graph: onnx.GraphProto) -> None:
        if node := find(graph, name):
            kept = [a for a in node.attribute if a.name not in attributes]
            del node.attribute[:]
            node.attribute.extend(kept + [helper.make_attribute(key, value) for key, value in attributes.items()])

    return plant


def swap(name: str) -> Callable:
    def plant(graph: onnx.GraphProto) -> None:
        if node := find(graph, name):
            node.input[0], node.input[1] = node.input[1], node.input[0]

    return plant


def perturb(constant: str, element: int, by: float) -> Callable:
    def plant(graph: onnx.GraphProto) -> None:
        for initializer in graph.initializer:
            if initializer.name == constant:
                array = numpy_helper.to_array(initializer).copy()
                array.ravel()[element] += array.dtype.type(by)
                initializer.CopyFrom(numpy_helper.from_array(array, constant))

    return plant


def fuse(first: str, second: str, op: str) -> Callable:
    """An optimization that is wrong: only where the second node is the only one to read the first, whose result is no output."""

    def plant(graph: onnx.GraphProto) -> None:
        one, two = find(graph, first), find(graph, second)
        if one is None or two is None or any(o.name == one.output[0] for o in graph.output):
            return
        if sum(i == one.output[0] for n in graph.node for i in n.input) == 1:
            two.op_type = op

    return plant


#: What is planted, and the node that must be named.
FAULTS: dict[str, tuple[Callable, str]] = {
    "abs_for_relu": (replace("relu1", "Abs"), "relu1"),
    "tanh_for_sigmoid": (replace("gate", "Tanh"), "gate"),
    "add_for_mul": (replace("gated", "Add"), "gated"),
    "max_for_average": (replace("average", "ReduceMax"), "average"),
    "operands_swapped": (swap("centered"), "centered"),
    "sin_for_tanh": (replace("bounded", "Sin"), "bounded"),
    "logsoftmax": (replace("weights", "LogSoftmax"), "weights"),
    "slope": (change("leaky", alpha=0.21), "leaky"),
    "epsilon": (change("norm1", epsilon=1e-2), "norm1"),
    "pads": (change("conv2", pads=[0, 0, 1, 1]), "conv2"),
    "gemm_alpha": (change("gemm", alpha=0.55), "gemm"),
    "axis": (change("weights", axis=0), "weights"),
    "weight": (perturb("w1", 5, 0.02), "conv1"),
    "variance": (perturb("variance", 2, 0.05), "norm1"),
    "limit": (perturb("high", 0, -0.1), "clipped"),
    "index": (perturb("rows", 2, 1), "chosen"),
    "gain": (perturb("gain", 6, 0.01), "norm2"),
    "mul_and_add": (fuse("scaled", "shifted", "Sub"), "shifted"),
    "clip_and_tanh": (fuse("clipped", "bounded", "Identity"), "bounded"),
    "conv_and_relu": (fuse("conv1", "relu1", "Identity"), "relu1"),
}
assert len(FAULTS) == 20


def planted(fault: str, into: onnx.ModelProto) -> onnx.ModelProto:
    out = onnx.ModelProto()
    out.CopyFrom(into)
    FAULTS[fault][0](out.graph)
    return out


def run(fault: str, path: str, inputs: str, outputs: str) -> None:
    """A runtime with one of these faults, as a command of `aton verify --runtime-command`. Other words are no fault."""
    loaded = planted(fault, onnx.load(path)) if fault in FAULTS else onnx.load(path)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(loaded.SerializeToString(), options, providers=["CPUExecutionProvider"])
    names = [i.name for i in session.get_inputs()]
    if inputs.endswith(".npz"):
        feeds = dict(numpy.load(inputs))
    else:
        feeds = {name: numpy_helper.to_array(onnx.load_tensor(f"{inputs}/input_{i}.pb")) for i, name in enumerate(names)}
    results = session.run(None, feeds)
    if outputs.endswith(".npz"):
        numpy.savez_compressed(outputs, **{o.name: r for o, r in zip(session.get_outputs(), results, strict=True)})
    else:
        for i, result in enumerate(results):
            Path(f"{outputs}/output_{i}.pb").write_bytes(numpy_helper.from_array(result).SerializeToString())
