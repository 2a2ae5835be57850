# SPDX-License-Identifier: MIT
"""What run.py prints of its rows: {"name", "problems": {side: text}, "nodes": {side: histogram},
"times": {threads: {side: {"min": seconds, "median": seconds, "rounds": count}}}}"""

import statistics

from graphs import geometric_mean, more_of

SIDES = ("aton", "dynamo", "transformers")
LIMITS = {"mean": 0.93, "model": 1.05}  # Aton's minimum time, as a multiple of that of PyTorch's graph


def figures(times):
    return {"min": min(times), "median": statistics.median(times), "rounds": len(times)}


def ratio(row, threads, peer="dynamo", figure="min"):
    """Aton's time divided by the other's; None if one of them was not measured."""
    found = row.get("times", {}).get(str(threads), {})
    if "aton" not in found or peer not in found:
        return None
    return found["aton"][figure] / found[peer][figure]


def ratios(rows, threads, peer="dynamo", figure="min"):
    """{name: ratio} of the models that have one."""
    found = {row["name"]: ratio(row, threads, peer, figure) for row in rows}
    return {name: value for name, value in found.items() if value is not None}


def milliseconds(found, side):
    if side not in found:
        return ""
    return f"{1e3 * found[side]['min']:.2f} / {1e3 * found[side]['median']:.2f}"


def number(value):
    return "" if value is None else f"{value:.2f}"


def nodes(row):
    return " / ".join(str(sum(row["nodes"][side].values())) if side in row.get("nodes", {}) else "-" for side in SIDES).removesuffix(" / -")


def markdown(rows, threads):
    """A table for each number of threads; the slowest model, compared with PyTorch's graph, comes first."""
    out = ""
    for count in threads:
        out += f"Threads: {count}. Milliseconds: minimum / median.\n\n"
        out += "| model | nodes | Aton | PyTorch | ratio | of medians | transformers | ratio |\n|---|--:|--:|--:|--:|--:|--:|--:|\n"
        for row in sorted(rows, key=lambda row: -(ratio(row, count) or 0)):
            found = row.get("times", {}).get(str(count), {})
            cells = [row["name"], nodes(row), *(milliseconds(found, side) for side in SIDES[:2]), number(ratio(row, count))]
            cells += [number(ratio(row, count, figure="median")), milliseconds(found, SIDES[2]), number(ratio(row, count, SIDES[2]))]
            out += "| " + " | ".join(cells) + " |\n"
        out += "\n"
    return out


def histograms(rows):
    """What Aton's graph has more of and less of than each other one."""
    out = ""
    for row in rows:
        ours = row.get("nodes", {}).get("aton")
        for side in SIDES[1:] if ours else ():
            theirs = row["nodes"].get(side)
            if theirs:
                out += f"{row['name']}, beside {side}: more {more_of(ours, theirs) or '-'}; less {more_of(theirs, ours) or '-'}\n"
    return out


def summary(rows, threads):
    out = []
    for count in threads:
        for peer in SIDES[1:]:
            least, medians = (list(ratios(rows, count, peer, figure).values()) for figure in ("min", "median"))
            if least:
                out.append(f"{count} threads, beside {peer}: geometric mean {geometric_mean(least):.3f} of minima, "
                           f"{geometric_mean(medians):.3f} of medians, {len(least)} models")  # fmt: skip
    return "\n".join(out)


def broken_limits(rows, threads):
    """A message for each graph of Aton that is wrong or refused, and for each exceeded limit."""
    found = [f"{row['name']}: {row['problems'][side]}" for row in rows for side in ("aton", "torch", "process") if side in row["problems"]]
    for count in threads:
        measured = ratios(rows, count)
        if not measured:
            found.append(f"{count} threads: nothing was measured")
            continue
        mean = geometric_mean(list(measured.values()))
        if mean > LIMITS["mean"]:
            found.append(f"{count} threads: geometric mean {mean:.3f} of PyTorch's times, allowed {LIMITS['mean']}")
        found += [f"{name}, {count} threads: {value:.2f} of PyTorch's time, allowed {LIMITS['model']}"
                  for name, value in measured.items() if value > LIMITS["model"]]  # fmt: skip
    return found


def progress(row, index, count):
    shown = {threads: number(ratio(row, threads)) for threads in row.get("times", {})}
    return f"{index + 1} of {count}: {row['name']} {shown or ''} {row['problems'] or ''}"
