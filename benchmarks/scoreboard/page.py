# SPDX-License-Identifier: MIT
"""What the scoreboard writes: the page with filters, the reproduction files, and the figures as Markdown."""

import collections
import html
import json
import math
import re

import calls

STATUSES = ("right", "wrong", "invalid", "not run", "refused", "crash")
TITLES = {
    "aton": "Aton",
    "dynamo": "torch.onnx, dynamo",
    "torchscript": "torch.onnx, TorchScript",
    "openvino": "OpenVINO",
    "pnnx": "pnnx",
    "onnxruntime": "ONNX Runtime",
    "reference": "ONNX's reference evaluator",
}


def configuration(record):
    return record["exporter"], record["opset"], record["runtime"]


def counted(records):
    """{configuration: {status: count}}, in the order in which they come."""
    found = {}
    for each in records:
        found.setdefault(configuration(each), collections.Counter())[each["status"]] += 1
    order = list(TITLES)
    return dict(sorted(found.items(), key=lambda c: (order.index(c[0][0]), order.index(c[0][2]), c[0][1] or 0)))


def share(counts):
    return 100 * counts["right"] / sum(counts.values())


INTRODUCTION = """# Exporters beside each other

Recorded calls of ATen, {count} of as many overloads, as modules of torch: each exporter exports them, each runtime that can run the file runs
it, and the results are compared with those that ATen gave. A call is *plain* if its tensors are
float32, int64 or bool, none is empty, and none has NaN, infinities or complex numbers. *Wrong*: another dtype, shape or number. *Invalid*: ONNX's checker refuses the file. *Not run*: the runtime refuses it, or has no kernel. *Refused*: the
exporter raises an exception. *Crash*: the process died, or took longer than 90 seconds; it counts for all runtimes, since one
process runs them (OpenVINO dies at one file of Aton). OpenVINO's own front end and pnnx have no ONNX files.

The calls are those of `tests/data/oracle`, which Aton's own tests run too. Written by
[`benchmarks/scoreboard/run.py --summary docs/results/scoreboard.md`](../../benchmarks/README.md), which also makes a page with filters and a script for each
call that is not right. {versions}.
"""


def to_markdown(records, versions, count):
    plain = counted([each for each in records if each["plain"]])
    named = ", ".join(f"{TITLES[name]} {version}" for name, version in versions.items())
    lines = [
        INTRODUCTION.format(count=count, versions=named),
        "| exporter | runtime | opset | right | right, plain calls | " + " | ".join(STATUSES[1:]) + " |",
        "|---|---|--:|--:|--:|" + "--:|" * len(STATUSES[1:]),
    ]
    for key, counts in counted(records).items():
        exporter, opset, runtime = key
        of_plain = f"{share(plain[key]):.1f} %" if key in plain else ""
        numbers = " | ".join(str(counts[status]) for status in STATUSES[1:])
        lines.append(
            f"| {TITLES[exporter]} | {TITLES[runtime]} | {opset or ''} | {share(counts):.1f} % | {of_plain} | {numbers} |"
        )
    return "\n".join(lines) + "\n"


def literal(tensor):
    """A tensor of torch as Python."""
    import torch

    dtype = str(tensor.dtype)
    if tensor.numel() <= 64:
        text = re.sub(r"\b(nan|inf)\b", r"math.\1", repr(tensor.tolist()))
        if tensor.numel() == 0:
            return f"torch.empty({list(tensor.shape)}, dtype={dtype})"
        return f"torch.tensor({text}, dtype={dtype})"
    raw = tensor.contiguous().view(torch.uint8).numpy().tobytes().hex()
    return f"torch.frombuffer(bytearray.fromhex('{raw}'), dtype={dtype}).reshape({list(tensor.shape)})"


def reproduction(record, case, tensors, exporter, runtime, versions):
    inputs = [literal(calls.to_torch(each)) for each in calls.arrays_of(case, tensors).values()]
    at = f" at opset {record['opset']}" if record["opset"] else ""
    about = (
        f"{case['schema']}\n\n{TITLES[exporter.name]} ({versions[exporter.name]}){at}, "
        f"{TITLES[runtime.name]} ({versions[runtime.name]}): {record['status']}\n{record['reason']}"
    )
    return (
        f"# {about}".replace("\n", "\n# ").replace("# \n", "#\n")
        + "\nimport math\nimport subprocess\n\nimport torch\n\n\n"
        + calls.module_source(case)
        + "\n\nmodule = Call().eval()\ninputs = (\n"
        + "".join(f"    {each},\n" for each in inputs)
        + ")\nprint('expected:', module(*inputs))\n"
        + exporter.reproduce(record["opset"])
        + (CHECK if record["status"] == "invalid" else runtime.reproduce + "print('got:', got)\n")
    )


CHECK = "import onnx\nonnx.checker.check_model(onnx.load(path), full_check=True)\n"


def file_name(record):
    parts = [record["case"].replace("/", "_"), record["exporter"], str(record["opset"] or ""), record["runtime"]]
    return re.sub(r"[^A-Za-z0-9_.-]", "_", "_".join(filter(None, parts))) + ".py"


def write_reproductions(folder, records, store, exporters, runtimes, versions):
    """A script for every call that is not right."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.py"):
        old.unlink()
    by_name = {each.name: each for each in exporters}, {each.name: each for each in runtimes}
    for record in records:
        if record["status"] == "right":
            continue
        case = store.cases[record["case"]]
        text = reproduction(
            record, case, store.tensors(case), by_name[0][record["exporter"]], by_name[1][record["runtime"]], versions
        )
        (folder / file_name(record)).write_text(text, encoding="utf-8")


def summary_table(records):
    rows = []
    for (exporter, opset, runtime), counts in counted(records).items():
        cells = "".join(f"<td>{counts[status]}</td>" for status in STATUSES)
        rows.append(
            f"<tr><td>{TITLES[exporter]}</td><td>{TITLES[runtime]}</td><td>{opset or ''}</td>"
            f"<td>{math.floor(10 * share(counts)) / 10:.1f} %</td>{cells}</tr>"
        )
    titles = "".join(f"<th scope=col>{each}</th>" for each in ("exporter", "runtime", "opset", "share", *STATUSES))
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def options_of(records, field):
    values = sorted({each[field] for each in records if each[field] is not None}, key=str)
    return "<option value=''>all</option>" + "".join(
        f"<option value='{html.escape(str(v))}'>{html.escape(TITLES.get(v, str(v)))}</option>" for v in values
    )


def to_html(records, versions):
    rows = [each | ({} if each["status"] == "right" else {"file": "repro/" + file_name(each)}) for each in records]
    data = json.dumps(rows, separators=(",", ":")).replace("<", "\\u003c")
    selects = "".join(
        f"<label>{field} <select id={field}>{options_of(records, field)}</select></label>"
        for field in ("exporter", "opset", "runtime", "status")
    )
    made_with = ", ".join(f"{TITLES[name]} {html.escape(version)}" for name, version in versions.items())
    return PAGE.format(summary=summary_table(records), selects=selects, data=data, made_with=made_with)


PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Exporters beside each other</title>
<style>
:root {{ color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }}
body {{ margin: 1.5rem auto; max-width: 78rem; padding: 0 1rem; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; margin: 1rem 0; }}
th, td {{ padding: .25rem .6rem; text-align: left; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); vertical-align: top; }}
label {{ margin-right: 1rem; display: inline-block; }}
code {{ white-space: nowrap; }}
td:nth-child(6) code {{ white-space: normal; overflow-wrap: anywhere; }}
#count {{ margin: .8rem 0; }}
</style>
<h1>Exporters beside each other</h1>
<p>{made_with}.</p>
<div class="wide">{summary}</div>
<h2>Calls</h2>
<form>{selects}<label>plain only <input type="checkbox" id="plain"></label>
<label>only where exporters disagree <input type="checkbox" id="disagree"></label>
<label>overload or reason <input type="search" id="text"></label></form>
<p id="count" role="status"></p>
<div class="wide"><table><thead><tr><th scope=col>call</th><th scope=col>exporter</th><th scope=col>opset</th><th scope=col>runtime</th><th scope=col>status</th>
<th scope=col>reason</th><th scope=col>script</th></tr></thead><tbody id="rows"></tbody></table></div>
<button id="more" type="button">more</button>
<script>
"use strict";
const data = {data};
const fields = ["exporter", "opset", "runtime", "status"];
const of = id => document.getElementById(id);
const disputed = new Set();
const first = new Map();
for (const r of data) {{
  const right = r.status === "right";
  if (!first.has(r.case)) first.set(r.case, right);
  else if (first.get(r.case) !== right) disputed.add(r.case);
}}
let shown = 200;
function cell(row, text, href) {{
  const td = row.insertCell();
  if (href) {{ const a = document.createElement("a"); a.href = href; a.textContent = text; td.append(a); }}
  else {{ const c = document.createElement("code"); c.textContent = text; td.append(c); }}
}}
function show() {{
  const text = of("text").value.toLowerCase();
  const found = data.filter(r => fields.every(f => !of(f).value || String(r[f]) === of(f).value)
    && (!of("plain").checked || r.plain) && (!of("disagree").checked || disputed.has(r.case))
    && (!text || (r.overload + " " + r.case + " " + r.reason).toLowerCase().includes(text)));
  of("count").textContent = `${{found.length}} of ${{data.length}} results`;
  of("rows").replaceChildren();
  for (const r of found.slice(0, shown)) {{
    const row = of("rows").insertRow();
    cell(row, r.case); cell(row, r.exporter); cell(row, r.opset ?? ""); cell(row, r.runtime); cell(row, r.status); cell(row, r.reason);
    if (r.file) cell(row, "reproduce", r.file); else row.insertCell();
  }}
  of("more").hidden = found.length <= shown;
}}
for (const id of [...fields, "plain", "disagree", "text"]) of(id).addEventListener("input", () => {{ shown = 200; show(); }});
of("more").addEventListener("click", () => {{ shown += 200; show(); }});
document.querySelector("form").addEventListener("submit", e => e.preventDefault());
show();
</script>
</html>
"""
