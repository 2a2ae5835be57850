# SPDX-License-Identifier: MIT
"""Runs a model on recorded inputs, with ONNX Runtime if it has the kernels, otherwise with ONNX's reference evaluator."""

import ctypes
import functools
import warnings

import ml_dtypes
import numpy as np

NEWEST_ORT_OPSET = 26
NO_KERNEL = ("NOT_IMPLEMENTED", "Could not find an implementation")


class EngineError(Exception):
    """A model did not run; `status` is invalid_model, ort_error or reference_error."""

    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


class NoKernel(Exception):
    """ONNX Runtime lacks a kernel, a dtype or the opset."""


@functools.cache
def onnxruntime():
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    return onnxruntime


def first_line(e):
    return " ".join(str(e).split())[:600]


def to_proto(model):
    """The parsed and fully checked model."""
    import onnx

    try:
        proto = onnx.load_from_string(model)
        onnx.checker.check_model(proto, full_check=True)
    except Exception as e:  # the checker raises several unrelated types
        raise EngineError("invalid_model", first_line(e)) from None
    return proto


def session(model, optimize=True):
    ort = onnxruntime()
    settings = ort.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 4
    if not optimize:
        settings.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, settings, providers=["CPUExecutionProvider"])


def to_ort(array):
    """An OrtValue that shares the array's memory; bfloat16 has no numpy name in ONNX Runtime."""
    import onnx

    ort = onnxruntime()
    if array.dtype == ml_dtypes.bfloat16:
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array.view(np.uint16), onnx.TensorProto.BFLOAT16)
    return ort.OrtValue.ortvalue_from_numpy(array)


def from_ort(v):
    if v.data_type() != "tensor(bfloat16)":
        return v.numpy()
    shape = v.shape()
    count = int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.zeros(shape, dtype=ml_dtypes.bfloat16)
    raw = ctypes.string_at(v.data_ptr(), 2 * count)
    return np.frombuffer(raw, dtype=ml_dtypes.bfloat16).reshape(shape)


def run_ort(model, feeds, optimize=True):
    """Outputs by name. Raises NoKernel or EngineError."""
    try:
        s = session(model, optimize)
        names = [o.name for o in s.get_outputs()]
        kept = {name: np.asarray(array, order="C") for name, array in feeds.items()}
        if any(a.dtype == ml_dtypes.bfloat16 for a in kept.values()) or any(
            "bfloat16" in o.type for o in s.get_outputs()
        ):
            values = s.run_with_ort_values(names, {name: to_ort(array) for name, array in kept.items()})
            return dict(zip(names, map(from_ort, values)))
        return dict(zip(names, s.run(names, kept)))
    except Exception as e:  # ONNX Runtime raises one type per status code, and RuntimeError
        text = first_line(e)
        if any(sign in text for sign in NO_KERNEL):
            raise NoKernel(text) from None
        raise EngineError("ort_error", text) from None


def run_reference(proto, feeds):
    from onnx.reference import ReferenceEvaluator

    try:
        evaluator = ReferenceEvaluator(proto)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outputs = evaluator.run(None, dict(feeds))
    except Exception as e:  # an operator's Python code may raise anything
        raise EngineError("reference_error", first_line(f"{type(e).__name__}: {e}")) from None
    return {name: np.asarray(value) for name, value in zip(evaluator.output_names, outputs)}


def why_not_ort(opset):
    """Why ONNX Runtime cannot load the model; '' otherwise."""
    if opset > NEWEST_ORT_OPSET:
        return f"opset {opset} is newer than ONNX Runtime loads"
    return ""


def run(model, proto, opset, feeds):
    """(outputs by name, engine, why the engine is not ONNX Runtime)."""
    if not proto.graph.output:  # an assertion computes nothing, and ONNX Runtime loads no model without outputs
        return {}, "ort", ""
    reason = why_not_ort(opset)
    if not reason:
        try:
            return run_ort(model, feeds), "ort", ""
        except NoKernel as e:
            reason = str(e)
    try:
        return run_reference(proto, feeds), "reference", reason
    except EngineError as e:
        raise EngineError("no_kernel", f"{reason}; reference evaluator: {e}") from None
