#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the committed sample of the oracle, tests/data/oracle, for use without all recorded cases.

    make_sample.py --cases ../shared/oracle/public --results build/oracle/all/results.json --out tests/data/oracle

For each mapped overload (those in the results of run_oracle.py --json): up to 3 plain cases and 1 hostile case (nan,
inf, empty or a half type), small ones that differ in their arguments. All tensors go into one file. The same
input gives the same bytes."""

import argparse
import collections
import json
import sys
from pathlib import Path

from oracle_data import (
    CaseStore,
    all_tensors,
    arguments_by_name,
    is_plain,
    overload_of,
    tensors_in,
    write_safetensors,
)

PLAIN, HOSTILE = 3, 1
CASE_KEYS = ("case", "op", "overload", "schema", "file", "args", "kwargs", "outputs", "compare", "flags")
LARGE = 128  # bytes of tensors; larger cases only if there is no other


def tensor_bytes(case, tensors):
    return sum(tensors[t["tensor"]].nbytes for t in all_tensors(case))


def size_of(case, tensors):
    """The approximate size of the case in the sample."""
    return tensor_bytes(case, tensors) + len(json.dumps({key: case[key] for key in CASE_KEYS}))


def is_hostile(case):
    flags = set(case["flags"])
    if "complex" in flags:
        return False
    return bool(flags & {"nan", "inf", "empty"}) or any(
        t["dtype"] in ("float16", "bfloat16") for t in all_tensors(case)
    )


def features(case):
    """What makes a case different from another: values of plain arguments, dtypes and ranks of tensors."""
    out = set()
    for name, value in arguments_by_name(case).items():
        found = list(tensors_in(value))
        out |= {(name, t["dtype"], len(t["shape"])) for t in found}
        if not found:
            out.add((name, json.dumps(value, sort_keys=True)))
    return out


def choose(cases, count, tensors):
    """Greedy: the case with the most new features for its size, then the first; none without new features."""
    small = [c for c in cases if tensor_bytes(c, tensors(c)) <= LARGE] or cases
    chosen, seen = [], set()
    while small and len(chosen) < count:
        best = min(small, key=lambda c: (-len(features(c) - seen) / size_of(c, tensors(c)), c["case"]))
        if not features(best) - seen:
            break
        chosen.append(best)
        seen |= features(best)
        small = [c for c in small if c is not best]
    return chosen


def renamed(encoded, names):
    """The same value with the tensors' new names."""
    if isinstance(encoded, dict):
        return (
            encoded | {"tensor": names[encoded["tensor"]]}
            if "tensor" in encoded
            else {k: renamed(v, names) for k, v in encoded.items()}
        )
    return [renamed(v, names) for v in encoded] if isinstance(encoded, list) else encoded


class TensorPool:
    """The tensors of the sample. Cases share equal tensors; within a case every tensor has its own name."""

    def __init__(self):
        self.tensors = {}
        self._names = collections.defaultdict(list)  # by dtype, shape and bytes

    def add(self, tensors):
        """The new names of a case's tensors."""
        names = {}
        for old, array in tensors.items():
            same = self._names[(array.dtype.name, array.shape, array.tobytes())]
            free = [name for name in same if name not in names.values()]
            if not free:
                free = [f"t{len(self.tensors)}"]
                same += free
                self.tensors[free[0]] = array
            names[old] = free[0]
        return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", required=True, help="folder with all recorded cases")
    parser.add_argument(
        "--results", required=True, help="results of run_oracle.py --json: its overloads are the mapped ones"
    )
    parser.add_argument("--out", required=True)
    parser.add_argument("--budget", type=int, default=1_500_000, help="maximum size of the sample in bytes")
    options = parser.parse_args()

    mapped = {r["overload"] for r in json.loads(Path(options.results).read_text(encoding="utf-8"))}
    store = CaseStore(options.cases)
    by_overload = collections.defaultdict(list)
    for case in store.cases.values():
        if overload_of(case) in mapped:
            by_overload[overload_of(case)].append(case)

    lines, kept = [], TensorPool()
    for cases in (by_overload[overload] for overload in sorted(by_overload)):
        plain = choose([c for c in cases if is_plain(c)], PLAIN, store.tensors)
        hostile = choose([c for c in cases if not is_plain(c) and is_hostile(c)], HOSTILE, store.tensors)
        for case in plain + hostile:
            names = kept.add({t["tensor"]: store.tensors(case)[t["tensor"]] for t in all_tensors(case)})
            line = {
                key: renamed(case[key], names) if key in ("args", "kwargs", "outputs") else case[key]
                for key in CASE_KEYS
            }
            lines.append(json.dumps(line | {"file": "tensors.safetensors"}, separators=(",", ":")) + "\n")

    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "cases.jsonl").write_text("".join(lines), encoding="utf-8")
    write_safetensors(out / "tensors.safetensors", kept.tensors)
    size = sum(f.stat().st_size for f in out.iterdir())
    print(f"{len(lines)} cases of {len(by_overload)} overloads, {len(kept.tensors)} tensors, {size} bytes")
    if size > options.budget:
        print(f"more than {options.budget} bytes", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
