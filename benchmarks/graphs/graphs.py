# SPDX-License-Identifier: MIT
"""The ONNX graphs of one program that are compared, and what they consist of."""

import collections
import hashlib
import importlib.metadata
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("models", "huggingface", "oracle")]

import packages  # noqa: E402

PACKAGES = ("torch", "onnx", "onnxscript", "onnxruntime")


def versions(*more):
    return {package: importlib.metadata.version(package).split("+")[0] for package in (*PACKAGES, *more)}


def is_missing(*more):
    """Whether a package that a benchmark needs is not installed, and says which."""
    return packages.is_missing(*PACKAGES, "numpy", *more)


def digest(*files):
    """Changes with the contents of the files."""
    return hashlib.sha256(b"".join(pathlib.Path(file).read_bytes() for file in files)).hexdigest()


def read_json(path):
    """{} if there is no such file, or one that was not written completely."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def export_with_dynamo(source, target, opset):
    """torch.onnx.export's optimized graph of the program in a .pt2."""
    import torch

    with torch.no_grad():
        program = torch.export.load(source)
        torch.onnx.export(program, f=target, dynamo=True, optimize=True, opset_version=opset, external_data=False,
                          verbose=False)  # fmt: skip


def export_with_aton(aton, source, target, opset):
    """Raises checking.Failure if the program is refused."""
    import checking

    wanted = checking.aton_export(aton, source, target, opset)
    if wanted is not None:
        raise checking.Failure(f"aton export needs opset {wanted}")


def histogram(model):
    """{operator: nodes} of the graph and the graphs in it, with the model's own functions inlined."""
    from onnx import inliner

    found, graphs = collections.Counter(), [inliner.inline_local_functions(model).graph]
    while graphs:
        graph = graphs.pop()
        for node in graph.node:
            found[f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type] += 1
            graphs += [a.g for a in node.attribute if a.HasField("g")]
            graphs += [g for a in node.attribute for g in a.graphs]
    return dict(sorted(found.items()))


def more_of(ours, theirs):
    """What the first histogram has more of, the largest difference first: "Cast +3, Where +1"."""
    excess = {name: count - theirs.get(name, 0) for name, count in ours.items()}
    ordered = sorted(((name, n) for name, n in excess.items() if n > 0), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} +{n}" for name, n in ordered)


def geometric_mean(numbers):
    import math

    return math.exp(sum(map(math.log, numbers)) / len(numbers))
