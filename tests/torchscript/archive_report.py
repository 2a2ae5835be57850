# SPDX-License-Identifier: MIT
"""The results of run_archives.py as a table: on a terminal, and in docs/results/torchscript-zoo.md."""

import importlib.metadata
import math

INTRODUCTION = """# TorchScript archives of several releases

Modules with random weights, traced and scripted, that PyTorch {releases} saved with `torch.jit.save`, and what became of them: with
`aton export --input`, and with PyTorch's own TorchScript exporter, `torch.onnx.export(dynamo=False)` of release {torch} on the loaded archive, both
at opset {opset}. A model is right if ONNX's checker accepts it with full shape inference and ONNX Runtime {onnxruntime} gives what the
release that saved the archive returned (number of outputs, dtypes, shapes, integers, floats within 1e-4 of the largest) for two inputs, of
different sizes where a dimension is dynamic. PyTorch's exporter cannot load detectors where torchvision's extension does not fit torch, as
here: `torchvision::nms` is missing. The list is in `tests/torchscript/nets*.py`, the packages are in `tests/torchscript/zoo.sh`. Written by:

    tests/torchscript/zoo.sh --aton build/release/aton --report docs/results/torchscript-zoo.md

"""


def cell(result):
    """A bound on the error, or why there is none."""
    if result is None:
        return ""
    if result["status"] == "right":
        return "exact" if result["error"] == 0 else f"1e{math.ceil(math.log10(result['error']))}"
    if result["status"] == "refused":
        return "refused"
    return "**wrong**"


def reason(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def text_table(rows):
    lines = []
    for r in rows:
        lines.append(f"{r['torch']:7} {r['name']:58} {cell(r['aton']).strip('*'):8} {cell(r.get('other')).strip('*'):8}")
        if r["aton"]["status"] != "right":
            lines.append(f"        {r['aton']['reason']}")
    return "\n".join(lines)


def summary(rows):
    def right(which):
        return sum(r[which]["status"] == "right" for r in rows)
    line = f"{len(rows)} archives: {right('aton')} right with Aton"
    if rows and all("other" in r for r in rows):
        wrong = sum(r["other"]["status"] == "wrong" for r in rows)
        line += f"; {right('other')} with PyTorch's exporter, which gets {wrong} wrong"
    return line


def markdown(rows, opset):
    versions = {p: importlib.metadata.version(p).split("+")[0] for p in ("torch", "onnxruntime")}
    releases = sorted({r["torch"] for r in rows}, key=lambda text: [int(each) for each in text.split(".")])
    out = INTRODUCTION.format(opset=opset, releases=", ".join(releases[:-1]) + " and " + releases[-1], **versions)
    out += f"{summary(rows)}.\n\n| archive | torch | dynamic | parameters | Aton | PyTorch's exporter |\n|---|---|---|--:|---|---|\n"
    for r in rows:
        why = f": {reason(r['aton']['reason'])}" if r["aton"]["status"] != "right" else ""
        out += (f"| {r['name']} | {r['torch']} | {'yes' if r['dynamic'] else ''} | {r['parameters']:,} | {cell(r['aton'])}{why} | "
                f"{cell(r.get('other'))} |\n")
    return out
