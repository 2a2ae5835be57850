# SPDX-License-Identifier: MIT
"""The processes of the benchmark that import torch.

torch_side.py make NAME FILE.pt2             the model of tests/models/zoo*.py, as torch.export.export gives it
torch_side.py make-large FILE.pt2            nine Linear layers, 2.4 GB; FILE.npz gets an input and its output
torch_side.py export NAME FILE.pt2 OUT dynamo|torchscript
                                             torch.onnx.export, dynamo on the program in the file, TorchScript on the
                                             module"""

import pathlib
import sys
import warnings

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "models"))
OPSET = 20  # the newest that the TorchScript exporter knows, and the default of aton export


def zoo_model(name):
    import zoo

    return zoo.load()[name].make()


def make(name, target):
    made = zoo_model(name)
    with torch.no_grad():
        program = torch.export.export(made.module, made.args, dynamic_shapes=made.dynamic)
    torch.export.save(program, target)


def make_large(target, width=8192, layers=9):
    import numpy

    torch.manual_seed(7)
    module = torch.nn.Sequential(*(torch.nn.Linear(width, width) for _ in range(layers))).eval()
    x = torch.randn(2, width)
    with torch.no_grad():
        y = module(x)
        torch.export.save(torch.export.export(module, (x,)), target)
    numpy.savez(pathlib.Path(target).with_suffix(".npz"), x=x.numpy(), y=y.numpy())


def export(name, source, target, kind):
    with torch.no_grad():
        if kind == "dynamo":
            program = torch.export.load(source)
            torch.onnx.export(program, f=target, dynamo=True, opset_version=OPSET, external_data=False, verbose=False)
        else:
            made = zoo_model(name)
            axes = {"input": {axis: str(dim.__name__) for axis, dim in made.dynamic[0].items()}}
            torch.onnx.export(made.module, made.args, target, dynamo=False, opset_version=OPSET, input_names=["input"],
                              dynamic_axes=axes)  # fmt: skip


def main():
    warnings.filterwarnings("ignore")
    command, *arguments = sys.argv[1:]
    {"make": make, "make-large": make_large, "export": export}[command](*arguments)


if __name__ == "__main__":
    main()
