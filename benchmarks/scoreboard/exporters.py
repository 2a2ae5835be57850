# SPDX-License-Identifier: MIT
"""The exporters of the scoreboard. Each makes a file of a call and tells the runtimes that can run it.

An exporter is a class with `name`, `has_opset` (whether files have one that can be asked for), `appends_state` (whether new values of
buffers and arguments follow the results), `runtimes` (the names of those that can run its files), `version()` and `export(call, opset, folder)`, which returns the path of the file or raises anything. `reproduce(opset)` is the same as
source for a reproduction file, which has `module` and `inputs` and leaves the file in `path`.
"""

import contextlib
import importlib.metadata
import importlib.util
import io
import subprocess
import warnings


class Call:
    """A module of torch with its inputs; its exported program is made once."""

    def __init__(self, module, inputs):
        self.module = module
        self.inputs = inputs
        self._program = None

    def program(self):
        import torch

        if self._program is None:
            self._program = torch.export.export(self.module, self.inputs, strict=False)
        return self._program


def quietly(function, *args, **named):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        return function(*args, **named)


class OnnxExporter:
    """An exporter of ONNX files, of a given opset."""

    has_opset = True
    appends_state = False
    runtimes = ("onnxruntime", "reference", "openvino")


class Aton(OnnxExporter):
    name = "aton"
    appends_state = True

    def __init__(self, program="aton"):
        self.program = str(program)

    def version(self):
        return subprocess.run([self.program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]

    def export(self, call, opset, folder):
        import torch

        source = folder / "call.pt2"
        if not source.exists():
            torch.export.save(call.program(), source)
        path = folder / "aton.onnx"
        done = subprocess.run(
            [self.program, "export", "-q", "--opset", str(opset), str(source), "-o", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit status {done.returncode}")
        return path

    def reproduce(self, opset):
        return (
            "torch.export.save(torch.export.export(module, inputs, strict=False), 'call.pt2')\n"
            f"subprocess.run(['aton', 'export', '--opset', '{opset}', 'call.pt2', '-o', 'call.onnx'], check=True)\n"
            "path = 'call.onnx'\n"
        )


class TorchOnnx(OnnxExporter):
    """torch.onnx.export."""

    def version(self):
        return f"torch {importlib.metadata.version('torch')}"


class Dynamo(TorchOnnx):
    name = "dynamo"

    def export(self, call, opset, folder):
        import torch

        path = folder / "dynamo.onnx"
        quietly(
            lambda: torch.onnx.export(
                call.program(), call.inputs, dynamo=True, opset_version=opset, verbose=False, external_data=False
            ).save(path)
        )
        return path

    def reproduce(self, opset):
        return (
            f"torch.onnx.export(module, inputs, 'call.onnx', dynamo=True, opset_version={opset}, external_data=False)\n"
            "path = 'call.onnx'\n"
        )


class TorchScript(TorchOnnx):
    name = "torchscript"

    def export(self, call, opset, folder):
        import torch

        path = folder / "torchscript.onnx"
        quietly(torch.onnx.export, call.module, call.inputs, str(path), dynamo=False, opset_version=opset)
        return path

    def reproduce(self, opset):
        return (
            f"torch.onnx.export(module, inputs, 'call.onnx', dynamo=False, opset_version={opset})\n"
            "path = 'call.onnx'\n"
        )


class OpenVino:
    """OpenVINO's own front end for programs of torch, without ONNX."""

    name = "openvino"
    has_opset = False
    appends_state = False
    runtimes = ("openvino",)

    def version(self):
        return importlib.metadata.version("openvino")

    def export(self, call, opset, folder):
        import openvino

        path = folder / "openvino.xml"
        model = quietly(openvino.convert_model, call.program())
        openvino.save_model(model, path, compress_to_fp16=False)
        return path

    def reproduce(self, opset):
        return (
            "import openvino\n"
            "model = openvino.convert_model(torch.export.export(module, inputs, strict=False))\n"
            "openvino.save_model(model, 'call.xml', compress_to_fp16=False)\n"
            "path = 'call.xml'\n"
        )


class Pnnx:
    """pnnx's own form of a program, as the module of torch that it writes: its ONNX file is for viewers only."""

    name = "pnnx"
    has_opset = False
    appends_state = False
    runtimes = ("pnnx",)

    def version(self):
        return importlib.metadata.version("pnnx")

    def export(self, call, opset, folder):
        import pnnx

        quietly(pnnx.export, call.module, str(folder / "call.pt"), call.inputs, fp16=False)
        path = folder / "call_pnnx.py"
        if not path.exists():
            raise RuntimeError("pnnx wrote no module")
        return path

    def reproduce(self, opset):
        return "import pnnx\npnnx.export(module, 'call.pt', inputs, fp16=False)\npath = 'call_pnnx.py'\n"


def installed(aton):
    """All exporters that can be run here."""
    found = [Aton(aton), Dynamo(), TorchScript()]
    found += [each() for each in (OpenVino, Pnnx) if importlib.util.find_spec(each.name)]
    return found
