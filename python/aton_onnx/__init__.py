# SPDX-License-Identifier: MIT
"""PyTorch models to ONNX with Aton, which this package contains.

    import aton_onnx
    report = aton_onnx.export(module, "model.onnx", args=(example,))
    print(report.nodes, report.seconds)

torch is imported only for a module or an exported program; the path of a `.pt2` file needs nothing else.
"""

from ._command import cmake_dir, executable, include_dir, version
from ._errors import AtonError, Unconvertible, UnconvertibleError
from ._export import DrawnInput, QuantizedWeight, Report, Warned, export
from ._inspect import Checked, Operator, Verification, check, ops, print_graph, unconvertible, verify
from ._library import Progress
from ._record import Recording, record
from ._stub import stub
from ._torch_export import torch_export
from ._translation import TranslationTable, translation_table

__version__ = version()

__all__ = [
    "AtonError",
    "Checked",
    "DrawnInput",
    "Operator",
    "Progress",
    "QuantizedWeight",
    "Recording",
    "Report",
    "TranslationTable",
    "Unconvertible",
    "UnconvertibleError",
    "Verification",
    "Warned",
    "check",
    "cmake_dir",
    "executable",
    "export",
    "include_dir",
    "ops",
    "print_graph",
    "record",
    "stub",
    "torch_export",
    "translation_table",
    "unconvertible",
    "verify",
    "version",
]
