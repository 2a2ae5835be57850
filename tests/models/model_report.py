# SPDX-License-Identifier: MIT
"""The results of run_models.py as a table: on a terminal, and in docs/results/models.md."""

import dataclasses
import importlib.metadata
import math

INTRODUCTION = """# Models

Every model below has random weights, was exported by PyTorch {torch} to a `.pt2` (*raw*: straight from
`torch.export.export`; *decomposed*: after `run_decompositions()`), converted to ONNX by `aton export`, checked by ONNX
{onnx} with full shape inference, and run by ONNX Runtime {onnxruntime} on two inputs, of different sizes if dimensions are
dynamic. The number, dtypes and shapes of the outputs must be PyTorch's. A cell is a bound on the largest error relative to
the largest value of the output (allowed: 1e-4, in float16 2e-2); `exact` means that all values are equal; `needs N` means
that the command refuses the model because an operator's mapping starts at opset N, `no kernel` that ONNX Runtime has none for
an operator's version at that opset.

Nodes are those of the ONNX graph at opset {newest}, or of both graphs if they differ. Models marked * have their full size.
Written by:

    tests/models/run_models.py --aton build/release/aton --report docs/results/models.md

Other pages have the [model types of transformers](huggingface.md) in tiny configurations, and [models of other packages](zoo.md).
Old opsets are checked by `--opsets 11,9 --least 11:95,9:60`; [the state of Aton](../state.md) has the figures.

"""


@dataclasses.dataclass
class Row:
    name: str
    kind: str
    dynamic: bool
    parameters: int
    full_size: bool
    nodes: str
    cells: list
    right: bool


def cell(result):
    """A bound that is the same on every machine, unlike the error itself."""
    if result["status"] == "needs":
        return f"needs {result['opset']}"
    if result["status"] == "skipped":
        return "no kernel"
    if result["status"] == "fail":
        return "**wrong**"
    if result["error"] == 0:
        return "exact"
    return f"1e{max(-7, math.ceil(math.log10(result['error'])))}"


def rows(entries, about, results, opsets):
    found = []
    for entry in entries:
        for kind in ("raw", "decomposed"):
            mine = results[entry.name, kind]
            counts = [mine[o]["nodes"] for o in opsets if "nodes" in mine[o]]
            facts = about[entry.name]
            right = all(r["status"] != "fail" for r in mine.values())
            found.append(
                Row(
                    entry.name,
                    kind,
                    facts["dynamic"],
                    facts["parameters"],
                    entry.full_size,
                    str(counts[-1]) if counts else "",
                    [cell(mine[o]) for o in opsets],
                    right,
                )
            )
    return found


def problems(results):
    """One line per problem; opsets with the same problem share one."""
    lines = []
    for (name, kind), mine in results.items():
        reasons = {}
        for opset, r in mine.items():
            if r["status"] == "fail":
                reasons.setdefault(r["reason"].replace(f" at opset {opset}", ""), []).append(str(opset))
        lines += [f"{name} ({kind}), opset {', '.join(at)}: {reason}" for reason, at in reasons.items()]
    return lines


def share(results, opset):
    """A line, and the percentage of graphs that are right at an opset."""
    all_of_opset = [mine[opset]["status"] for mine in results.values()]
    right, refused = all_of_opset.count("pass"), all_of_opset.count("needs")
    percent = 100 * right / max(len(all_of_opset), 1)
    line = f"opset {opset}: {right} of {len(all_of_opset)} graphs right ({percent:.1f} %)"
    return f"{line}, {refused} refused with the opset that would do", percent


def text_table(found, opsets):
    width = max((len(r.name) for r in found), default=5)
    lines = [f"{'model':{width}}  graph       parameters  nodes  " + "  ".join(f"{o:>8}" for o in opsets)]
    for r in found:
        cells = "  ".join(f"{c.strip('*'):>8}" for c in r.cells)
        lines.append(f"{r.name:{width}}  {r.kind:10}  {r.parameters:>10}  {r.nodes:>5}  {cells}")
    return "\n".join(lines)


def summary(found, wrong, absent):
    models = {r.name for r in found}
    line = f"{len(models)} models, {sum(r.right for r in found)} of {len(found)} graphs right"
    refused = sum(any(c.startswith("needs") for c in r.cells) for r in found)
    line += f", {refused} of them refused at some opset" if refused else ""
    line += f", {len(wrong)} problems" if wrong else ""
    if absent:
        line += f"; {len(absent)} models not tried: {', '.join(sorted(set(absent.values())))} not installed"
    return line


def merged(pair):
    """One row for both graphs of a model if their results are the same."""
    first, second = pair
    if first.cells != second.cells:
        return list(pair)
    nodes = first.nodes if first.nodes == second.nodes else f"{first.nodes} / {second.nodes}"
    return [dataclasses.replace(first, kind="both", nodes=nodes)]


def markdown(found, opsets, absent):
    versions = {
        package: importlib.metadata.version(package).split("+")[0] for package in ("torch", "onnx", "onnxruntime")
    }
    out = INTRODUCTION.format(newest=max(opsets), **versions)
    out += f"{summary(found, [], absent)}.\n\n"
    out += "| model | graph | dynamic | parameters | nodes | " + " | ".join(f"opset {o}" for o in opsets) + " |\n"
    out += "|---|---|---|--:|--:|" + "--:|" * len(opsets) + "\n"
    for pair in zip(found[::2], found[1::2]):
        for r in merged(pair):
            name = r.name + (" *" if r.full_size else "")
            cells = " | ".join(r.cells)
            out += f"| {name} | {r.kind} | {'yes' if r.dynamic else ''} | {r.parameters:,} | {r.nodes} | {cells} |\n"
    return out
