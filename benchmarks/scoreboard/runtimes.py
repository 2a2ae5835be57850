# SPDX-License-Identifier: MIT
"""The runtimes of the scoreboard. `run(path, arrays)` returns the outputs in order; the arrays are in the order of forward()."""

import contextlib
import importlib.metadata
import importlib.util
import pathlib
import sys

import ml_dtypes
import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/oracle"))

import calls  # noqa: E402
import engines  # noqa: E402


class Invalid(Exception):
    """ONNX's checker refuses the file."""


class NotRun(Exception):
    """The runtime refuses the file, or has no kernel for it."""


def named_inputs(proto, arrays):
    """Exporters may drop inputs that nothing reads, but keep their order and names."""
    given = {each.name for each in proto.graph.initializer}
    wanted = [each.name for each in proto.graph.input if each.name not in given]
    if len(wanted) == len(arrays):
        return dict(zip(wanted, arrays.values()))
    if not set(wanted) <= set(arrays):
        raise NotRun(f"the inputs {wanted} are not those of the call, {list(arrays)}")
    return {name: arrays[name] for name in wanted}


class OfOnnx:
    """Runs ONNX files that ONNX's checker accepts: `run_model(bytes, proto, feeds)` gives the outputs by name."""

    def run(self, path, arrays):
        model = pathlib.Path(path).read_bytes()
        try:
            proto = engines.to_proto(model)
        except engines.EngineError as e:
            raise Invalid(str(e)) from None
        feeds = named_inputs(proto, arrays)
        try:
            produced = self.run_model(model, proto, feeds)
        except (engines.EngineError, engines.NoKernel) as e:
            raise NotRun(str(e)) from None
        return [produced[each.name] for each in proto.graph.output]


class OnnxRuntime(OfOnnx):
    name = "onnxruntime"

    def version(self):
        return importlib.metadata.version("onnxruntime")

    def run_model(self, model, proto, feeds):
        return engines.run_ort(model, feeds)

    reproduce = (
        "import onnxruntime\n"
        "session = onnxruntime.InferenceSession(path)\n"
        "names = [each.name for each in session.get_inputs()]\n"
        "got = session.run(None, {name: each.numpy() for name, each in zip(names, inputs)})\n"
    )


class Reference(OfOnnx):
    """ONNX's reference evaluator."""

    name = "reference"

    def version(self):
        return f"onnx {importlib.metadata.version('onnx')}"

    def run_model(self, model, proto, feeds):
        return engines.run_reference(proto, feeds)

    reproduce = (
        "import onnx.reference\n"
        "evaluator = onnx.reference.ReferenceEvaluator(path)\n"
        "got = evaluator.run(None, {name: each.numpy() for name, each in zip(evaluator.input_names, inputs)})\n"
    )


class OpenVino:
    """OpenVINO on the CPU, in the precision of the model."""

    name = "openvino"

    def version(self):
        return importlib.metadata.version("openvino")

    def run(self, path, arrays):
        import openvino

        if any(each.dtype == ml_dtypes.bfloat16 for each in arrays.values()):
            raise NotRun("bfloat16 has no numpy dtype in OpenVINO")
        try:
            compiled = openvino.Core().compile_model(
                str(path), "CPU", {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
            )
            if len(compiled.inputs) != len(arrays):
                raise NotRun(f"{len(compiled.inputs)} inputs, {len(arrays)} given")
            found = compiled([each.copy(order="C") for each in arrays.values()])  # OpenVINO does not take read-only arrays
            return [numpy.asarray(found[i]) for i in range(len(compiled.outputs))]
        except Exception as e:  # OpenVINO raises RuntimeError and its own types
            raise NotRun(engines.first_line(e)) from None

    reproduce = (
        "import openvino\n"
        "compiled = openvino.Core().compile_model(path, 'CPU', {'INFERENCE_PRECISION_HINT': 'f32'})\n"
        "found = compiled([each.numpy() for each in inputs])\n"
        "got = [found[i] for i in range(len(compiled.outputs))]\n"
    )


class Pnnx:
    """The module that pnnx writes, run by torch."""

    name = "pnnx"

    def version(self):
        return importlib.metadata.version("pnnx")

    def run(self, path, arrays):
        try:
            spec = importlib.util.spec_from_file_location("call_pnnx", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            with contextlib.chdir(pathlib.Path(path).parent):
                found = module.Model().eval()(*map(calls.to_torch, arrays.values()))
        except Exception as e:  # whatever the written code raises
            raise NotRun(engines.first_line(f"{type(e).__name__}: {e}")) from None
        return [calls.to_numpy(each) for each in (found if isinstance(found, (list, tuple)) else [found])]

    reproduce = "import call_pnnx\ngot = call_pnnx.Model().eval()(*inputs)\n"


def installed():
    found = [OnnxRuntime(), Reference()]
    return found + [each() for each in (OpenVino, Pnnx) if importlib.util.find_spec(each.name)]
