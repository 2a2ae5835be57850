# SPDX-License-Identifier: MIT
"""Runs models in ONNX Runtime on drawn inputs, and compares their results."""

import zlib
from pathlib import Path

import numpy
import onnx
import onnxruntime

RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial", "Dropout"}


def session_of(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def run(path: Path, feeds: dict) -> list:
    session = session_of(path)
    wanted = {i.name for i in session.get_inputs()}
    wanted |= {i.name for i in session.get_overridable_initializers()}
    return session.run(None, {name: numpy.asarray(value) for name, value in feeds.items() if name in wanted})


def is_random(graph: onnx.GraphProto) -> bool:
    for node in graph.node:
        if node.op_type in RANDOM:
            return True
        for a in node.attribute:
            if any(is_random(g) for g in ([a.g] if a.HasField("g") else list(a.graphs))):
                return True
    return False


def draw_inputs(model: onnx.ModelProto, size: int = 0) -> dict | None:
    """Numbers for the inputs without defaults; None if one is not a tensor of numbers. Equal symbols have equal sizes, which differ from
    each other unless `size` is given: that of the last two dimensions, as of images and sounds; the others are 1 then."""
    feeds = {}
    sizes: dict[str, int] = {}
    defaults = {i.name for i in model.graph.initializer}
    for i in model.graph.input:
        if i.name in defaults:
            continue
        if not i.type.HasField("tensor_type"):
            return None
        kind = onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type)
        declared = i.type.tensor_type.shape.dim
        dims = []
        for k, d in enumerate(declared):
            if d.HasField("dim_value") and d.dim_value >= 0:
                dims.append(d.dim_value)
            elif size != 0:
                dims.append(size if k != 0 and k + 2 >= len(declared) else 1)
            else:
                dims.append(sizes.setdefault(d.dim_param or f"{i.name}:{k}", 2 + len(sizes) % 3))
        draw = numpy.random.default_rng(zlib.crc32(i.name.encode()))
        if kind.kind == "b":
            feeds[i.name] = draw.random(dims) < 0.5
        elif kind.kind in "iu":
            feeds[i.name] = draw.integers(0, 3, dims).astype(kind)
        elif kind.kind == "f":
            feeds[i.name] = numpy.round(draw.uniform(-2, 2, dims), 2).astype(kind)
        else:
            return None
    return feeds


def difference(before: object, after: object) -> str | None:
    """How two results of a model differ. Sums may have another order: 2e-5 of the largest number in float32."""
    if isinstance(before, list) or isinstance(after, list):
        if not isinstance(before, list) or not isinstance(after, list) or len(before) != len(after):
            return "another sequence"
        return next((what for a, b in zip(before, after, strict=True) if (what := difference(a, b))), None)
    if before is None or after is None or isinstance(before, dict):
        return None if before == after else f"{before} became {after}"
    before, after = numpy.asarray(before), numpy.asarray(after)
    if before.dtype != after.dtype or before.shape != after.shape:
        return f"{before.dtype}{list(before.shape)} became {after.dtype}{list(after.shape)}"
    if before.dtype.kind != "f":
        return None if numpy.array_equal(before, after) else f"{before.ravel()[:5]} became {after.ravel()[:5]}"
    if not numpy.array_equal(numpy.isnan(before), numpy.isnan(after)):
        return "NaN elsewhere"
    finite = numpy.isfinite(before) & numpy.isfinite(after)
    if not numpy.array_equal(before[~finite], after[~finite], equal_nan=True):
        return "infinity elsewhere"
    if not finite.any():
        return None
    limit = 2e-5 if before.itemsize == 4 else 1e-6 if before.itemsize == 8 else 2e-3
    error = numpy.abs(before[finite].astype("float64") - after[finite].astype("float64")).max()
    largest = max(1.0, float(numpy.abs(before[finite]).max()))
    return None if error <= limit * largest else f"off by {error} of {largest}"
