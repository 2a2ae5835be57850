# SPDX-License-Identifier: MIT
"""The results of run_zoo.py as a table: on a terminal, and in docs/results/zoo.md."""

import dataclasses
import importlib.metadata

import model_report

INTRODUCTION = """# Models of other packages

Models of {packages} PyPI packages, with random weights: building blocks and whole nets of vision, detection, diffusion, audio, language,
graphs, molecules, time series, tables and physics. PyTorch {torch} exported each to a `.pt2`, raw and decomposed; `aton export` and
PyTorch's own exporter (`torch.onnx.export(dynamo=True)` of the same program, onnxscript {onnxscript}) wrote ONNX models at opset {opset}.
A model is right if ONNX's checker accepts it with full shape inference and ONNX Runtime {onnxruntime} gives PyTorch's outputs (number,
dtypes, shapes, values within 1e-4 of the largest) for two inputs, of different sizes where dimensions are dynamic. The list, with
the exact versions of the packages, is in `tests/zoo/`. Written by:

    tests/zoo/zoo.sh --aton build/release/aton --report docs/results/zoo.md

"""


@dataclasses.dataclass
class Row:
    name: str
    package: str
    dynamic: bool
    parameters: int
    raw: dict
    decomposed: dict
    dynamo: dict

    @property
    def right(self):
        return self.raw["status"] == self.decomposed["status"] == "pass"

    @property
    def wrong(self):
        """Whether a model was written that is not right."""
        return any(r["status"] == "fail" and not refused(r) for r in (self.raw, self.decomposed))

    @property
    def dynamo_right(self):
        return bool(self.dynamo) and self.dynamo["status"] == "pass"


def refused(result):
    """Whether the command said no; anything else that is not right is a fault."""
    return result["reason"].startswith("aton export exited with 1: ")


def rows(entries, about, results, dynamo, opset):
    return [
        Row(
            entry.name,
            entry.needs[0],
            about[entry.name]["dynamic"],
            about[entry.name]["parameters"],
            results[entry.name, "raw"][opset],
            results[entry.name, "decomposed"][opset],
            dynamo.get(entry.name, {}),
        )
        for entry in entries
    ]


def cell(result):
    """A bound on the error, or why there is none."""
    if not result:
        return ""
    if result["status"] != "fail":
        return model_report.cell(result)
    said = result["reason"].removeprefix("aton export exited with 1: ").removeprefix("aton: ").replace("|", "\\|")
    return f"refused: {said}" if refused(result) else f"**wrong**: {said}"


def dynamo_cell(result):
    if not result:
        return ""
    if result["status"] == "pass":
        return model_report.cell(result)
    return "refused" if result["reason"].startswith("refused") else "**wrong**"


def nodes(result):
    return str(result.get("nodes", ""))


def text_table(found):
    width = max((len(r.name) for r in found), default=5)
    lines = [f"{'model':{width}}  parameters  nodes       raw  decomposed   dynamo"]
    for r in found:
        cells = [cell(result).split(":")[0].strip("*") for result in (r.raw, r.decomposed)]
        cells.append(dynamo_cell(r.dynamo).strip("*"))
        lines.append(f"{r.name:{width}}  {r.parameters:>10}  {nodes(r.raw):>5}  {cells[0]:>8}  {cells[1]:>10}  {cells[2]:>8}")
        for kind, result in (("raw", r.raw), ("decomposed", r.decomposed), ("dynamo", r.dynamo)):
            if result and result["status"] == "fail":
                lines.append(f"    {kind}: {result['reason'][:300]}")
    return "\n".join(lines)


def summary(found):
    packages = len({r.package for r in found})
    line = f"{len(found)} models of {packages} packages: {sum(r.right for r in found)} right with Aton"
    if tried := sum(bool(r.dynamo) for r in found):
        line += f"; with PyTorch's exporter {sum(r.dynamo_right for r in found)} of {tried} are right"
    return line


def markdown(found, opset):
    versions = {p: importlib.metadata.version(p).split("+")[0] for p in ("torch", "onnxruntime", "onnxscript")}
    out = INTRODUCTION.format(opset=opset, packages=len({r.package for r in found}), **versions)
    out += f"{summary(found)}.\n\n"
    out += "| model | dynamic | parameters | nodes | raw | decomposed | PyTorch's exporter: nodes | result |\n"
    out += "|---|---|--:|--:|---|---|--:|---|\n"
    for r in sorted(found, key=lambda r: r.name):
        cells = [r.name, "yes" if r.dynamic else "", f"{r.parameters:,}", nodes(r.raw), cell(r.raw), cell(r.decomposed)]
        out += "| " + " | ".join([*cells, nodes(r.dynamo), dynamo_cell(r.dynamo)]) + " |\n"
    return out
