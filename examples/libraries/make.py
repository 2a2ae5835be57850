# SPDX-License-Identifier: MIT
"""What is made with torch: the operators of a library, declared in Python; its model and its results; its recorded calls.

operators.py of a library has

    NAMESPACE, SCHEMAS   the strings of TORCH_LIBRARY, one a line
    a function for each  the operator in terms of torch's own; NAME_fake(...) where its result cannot be traced
    Model                a model that calls every operator
    inputs(size)         its inputs; the sizes of torch.export's example and of a second set are in SIZES
    DYNAMIC              dynamic_shapes of torch.export
    calls()              calls of the operators, for `aton verify`
    CONSTANTS            arguments that are constants of a model, if a row needs to know some: {"my_ops::scale": ["sizes"]}"""

import importlib.util
import pathlib
import sys

import aton_onnx
import numpy
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "custom_op_library"))

from make_model import without_folders  # noqa: E402


def load(name):
    """operators.py of a library, with its operators declared as in C++: TORCH_LIBRARY, TORCH_LIBRARY_IMPL and a fake kernel."""
    spec = importlib.util.spec_from_file_location(f"{name}_operators", HERE / name / "operators.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.library = torch.library.Library(module.NAMESPACE, "DEF")
    for schema in module.SCHEMAS.strip().split("\n"):
        operator = schema.split("(")[0]
        function = getattr(module, operator)
        module.library.define(schema)
        module.library.impl(operator, function, "CPU")
        torch.library.register_fake(f"{module.NAMESPACE}::{operator}", getattr(module, f"{operator}_fake", function), lib=module.library)
    return module


def write(name, folder):
    """model.pt2, recorded.npz (inputs and results of the model) and calls/calls.jsonl of a library."""
    module = load(name)
    torch.manual_seed(3)
    model = module.Model().eval()
    recorded, example = {}, None
    with torch.no_grad():
        for case, size in zip(("first", "second"), module.SIZES):
            given = module.inputs(size)
            example = example or given
            recorded |= {f"{case}/in/{key}": value.numpy() for key, value in given.items()}
            results = torch.utils._pytree.tree_leaves(model(**given))
            recorded |= {f"{case}/out/{i}": value.numpy() for i, value in enumerate(results)}
        program = torch.export.export(
            model, (), dict(example), dynamic_shapes=module.DYNAMIC, prefer_deferred_runtime_asserts_over_guards=True
        )
    torch.export.save(without_folders(program), folder / "model.pt2")
    numpy.savez_compressed(folder / "recorded.npz", **recorded)
    (folder / "calls").mkdir(exist_ok=True)
    operators, constants = [f"{module.NAMESPACE}::*"], getattr(module, "CONSTANTS", None)
    with torch.no_grad(), aton_onnx.record(folder / "calls" / "calls.jsonl", operators, constants=constants):
        module.calls()
