#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports quantized programs, runs the files in ONNX Runtime and compares them with what the quantized modules computed.

    judge.py --aton FILE --samples FOLDER [--opset N ...] [--json FILE] [--expected FILE] [--update] [NAME ...]

A folder of --samples has model.pt2, dec.pt2 or model.pt, and data.safetensors: inputs "in.NAME", results "out.0". Each file is
exported at every opset, loaded as ONNX Runtime optimizes it and without optimizations, and run. The verdict is the worse of the two:

    exact    every bit          refused   Aton did not convert it, and says why
    close    within 1e-5        no load   ONNX Runtime did not load or run it
    steps    within 5 %, on some elements
    wrong    anything else

--expected lists the verdicts that are not exact or close, each with a reason: another verdict, better or worse, is an error. Exit
status: 0, or 1.
"""
import argparse
import collections
import concurrent.futures
import ctypes
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np
import onnx
import onnxruntime

dtypes = {
    "F32": np.float32,
    "F64": np.float64,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "I64": np.int64,
    "I32": np.int32,
    "BOOL": np.bool_,
    "U8": np.uint8,
    "I8": np.int8,
}
order = ["exact", "close", "steps", "wrong", "no load", "refused"]
fused = ("QLinear", "QGemm", "MatMulInteger", "MatMulNBits", "MatMulBnb4", "ConvInteger", "DynamicQuantize", "QAttention", "FusedMatMul")


def read_data(path: pathlib.Path) -> tuple[dict[str, np.ndarray], list[np.ndarray]]:
    """Inputs by name, and results, of a safetensors file."""
    content = path.read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    inputs, outputs = {}, {}
    for name, each in json.loads(content[8 : 8 + size]).items():
        if name == "__metadata__":
            continue
        first, last = (8 + size + offset for offset in each["data_offsets"])
        array = np.frombuffer(content[first:last], dtypes[each["dtype"]]).reshape(each["shape"])
        (inputs if name.startswith("in.") else outputs)[name.split(".", 1)[1]] = array
    return inputs, [outputs[str(i)] for i in range(len(outputs))]


def session(path: pathlib.Path, optimized: bool, kept: pathlib.Path | None) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    # By default, ONNX Runtime quantizes activations once more: the results move by 1 %.
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "0")
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    if kept is not None:
        options.optimized_model_filepath = str(kept)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def run(path: pathlib.Path, inputs: dict[str, np.ndarray], optimized: bool, kept: pathlib.Path | None = None) -> list[np.ndarray]:
    made = session(path, optimized, kept)
    names = [i.name for i in made.get_inputs()]
    given = inputs if set(names) == set(inputs) else dict(zip(names, inputs.values(), strict=True))
    values = {}
    for name, array in given.items():
        if array.dtype == ml_dtypes.bfloat16:
            make = onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type
            values[name] = make(np.ascontiguousarray(array).view(np.uint16), onnx.TensorProto.BFLOAT16)
        else:
            values[name] = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(array))
    return [to_numpy(v) for v in made.run_with_ort_values(None, values)]


def to_numpy(value: onnxruntime.OrtValue) -> np.ndarray:
    if value.element_type() != onnx.TensorProto.BFLOAT16:
        return value.numpy()
    shape = value.shape()
    count = int(np.prod(shape, dtype=np.int64))
    held = (ctypes.c_uint16 * count).from_address(value.data_ptr())
    return np.array(held, dtype=np.uint16).view(ml_dtypes.bfloat16).reshape(shape)


def compare(got: list[np.ndarray], wanted: list[np.ndarray]) -> tuple[str, str]:
    if len(got) != len(wanted) or any(g.shape != w.shape or g.dtype != w.dtype for g, w in zip(got, wanted)):
        return "wrong", f"results {[(str(g.dtype), g.shape) for g in got]}, expected {[(str(w.dtype), w.shape) for w in wanted]}"
    worst, off, count = 0.0, 0, 0
    for g, w in zip(got, wanted):
        if g.tobytes() == w.tobytes():
            continue
        g, w = g.astype(np.float64), w.astype(np.float64)
        if not np.array_equal(np.isfinite(g), np.isfinite(w)):
            return "wrong", "a result is not finite"
        distance = np.abs(np.nan_to_num(g) - np.nan_to_num(w)) / max(1e-30, np.abs(np.nan_to_num(w)).max())
        worst, off, count = max(worst, distance.max()), off + int((distance > 1e-5).sum()), count + g.size
    detail = f"{worst:.1e}, {off} of {count} elements" if worst else ""
    return ("exact" if not worst else "close" if worst <= 1e-5 else "steps" if worst <= 0.05 else "wrong"), detail


def weights_of(model: onnx.ModelProto) -> str:
    sizes: collections.Counter = collections.Counter()
    for tensor in model.graph.initializer:
        sizes[onnx.TensorProto.DataType.Name(tensor.data_type)] += len(tensor.raw_data)
    return " ".join(f"{name} {size}" for name, size in sorted(sizes.items()) if size)


def judge(aton: str, runtime: str, source: pathlib.Path, opset: int, work: pathlib.Path) -> dict:
    """The verdict for one file at one opset."""
    out = {"name": source.parent.name, "file": source.name, "opset": opset, "source_bytes": source.stat().st_size}
    target = work / f"{source.parent.name}_{source.stem}_{opset}.onnx"
    inputs, wanted = read_data(source.parent / "data.safetensors")
    command = [aton, "export", str(source), "-o", str(target), "--opset", str(opset), "--target", runtime]
    if runtime.startswith("onnxruntime"):
        command += ["--quantization", "fused:accuracy=0"]  # as in session()
    made = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if missing := re.search(r"the argument '(\w+)' of forward", made.stderr):  # an archive without example inputs
        first = next(iter(inputs.values()))
        given = f"{missing[1]}:{first.dtype}[{','.join(map(str, first.shape))}]"
        made = subprocess.run([*command, "--input", given], capture_output=True, text=True, timeout=120)
    if made.returncode != 0:
        lines = [line for line in (made.stderr or made.stdout).splitlines() if ": " in line]
        detail = lines[-1].removeprefix("aton: ").removeprefix(f"{source}: ") if lines else f"exit status {made.returncode}"
        return out | {"verdict": "refused", "detail": detail}
    model = onnx.load(target)
    out |= {"bytes": target.stat().st_size, "nodes": len(model.graph.node), "weights": weights_of(model)}
    kept = target.with_suffix(".optimized.onnx")
    for optimized in (False, True):
        mode = "optimized" if optimized else "plain"
        try:
            out[mode], out[mode + "_detail"] = compare(run(target, inputs, optimized, kept if optimized else None), wanted)
        except Exception as e:  # noqa: BLE001: every way to fail is a verdict
            out[mode], out[mode + "_detail"] = "no load", re.sub(r"\s+", " ", str(e))[:300]
    if kept.exists():
        operators = collections.Counter(n.op_type for n in onnx.load(kept, load_external_data=False).graph.node)
        out["fused"] = {name: n for name, n in sorted(operators.items()) if name.startswith(fused)}
    worse = max(("plain", "optimized"), key=lambda mode: order.index(out[mode]))
    return out | {"verdict": out[worse], "detail": out[worse + "_detail"]}


def table(all_results: list[dict]) -> str:
    """A line per file, and the number of verdicts at each opset."""
    lines = []
    for each in all_results:
        differ = "plain" in each and each["plain"] != each["optimized"]
        modes = f" (plain {each['plain']}, optimized {each['optimized']})" if differ else ""
        size = f"{each['bytes']} bytes [{each['weights']}], {each['nodes']} nodes" if "bytes" in each else ""
        makes = " ".join(f"{k}:{v}" for k, v in each.get("fused", {}).items())
        lines.append(f"{each['name']}/{each['file']} {each['opset']}: {each['verdict']}{modes} {each['detail']} {size} {makes}".rstrip())
    for opset in sorted({each["opset"] for each in all_results}):
        count = collections.Counter(each["verdict"] for each in all_results if each["opset"] == opset)
        lines.append(f"opset {opset}: " + ", ".join(f"{count[v]} {v}" for v in order) + f", {sum(count.values())} files")
    return "\n".join(lines)


def reason_in(detail: str) -> str:
    """What stays the same in a reason: the operator, or its first words."""
    operator = re.search(r"\w+::\w+(\.\w+)?", detail)
    return operator[0] if operator else re.split(r"\d", detail)[0]


def unexpected(all_results: list[dict], expected: pathlib.Path, update: bool) -> list[str]:
    """What differs from the file: lines of a program, opsets, a verdict, and what the reason contains."""
    lines = expected.read_text().splitlines()
    judged = {f"{each['name']}/{each['file']}" for each in all_results}
    opsets = {each["opset"] for each in all_results}
    then = {}
    for name, at, verdict, reason in (line.split("\t") for line in lines if not line.startswith("#")):
        then |= {(name, int(o), verdict): reason for o in at.split(",") if name in judged and int(o) in opsets}
    bad = [each for each in all_results if each["verdict"] not in ("exact", "close")]
    now = {(f"{each['name']}/{each['file']}", each["opset"], each["verdict"]): each["detail"] for each in bad}
    if update:
        rows: dict[tuple[str, str, str], list[int]] = collections.defaultdict(list)
        for (name, opset, verdict), detail in sorted(now.items()):
            rows[name, verdict, reason_in(detail) if verdict in ("refused", "no load") else ""].append(opset)
        body = ["\t".join([name, ",".join(map(str, at)), verdict, reason]) for (name, verdict, reason), at in rows.items()]
        expected.write_text("\n".join([line for line in lines if line.startswith("#")] + body) + "\n")
        return []
    problems = []
    for key, detail in now.items():
        if then.get(key, "\n") not in detail:
            problems.append(f"{key[0]} at opset {key[1]}: {key[2]}: {detail}")
    for name, opset, verdict in sorted(then.keys() - now.keys()):
        problems.append(f"{name} at opset {opset}: no longer {verdict}: write the new verdict with --update")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", required=True)
    parser.add_argument("--target", default="onnxruntime", help="of the export (onnxruntime)")
    parser.add_argument("--samples", required=True, type=pathlib.Path)
    parser.add_argument("--opset", type=int, action="append")
    parser.add_argument("--json", type=pathlib.Path, help="writes all results")
    parser.add_argument("--expected", type=pathlib.Path)
    parser.add_argument("--update", action="store_true", help="rewrites --expected, with the reasons that it has")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    sources = [p for pattern in ("model.pt2", "dec.pt2", "model.pt") for p in arguments.samples.glob(f"*/{pattern}")]
    sources = sorted(p for p in sources if not arguments.names or p.parent.name in arguments.names)
    if not sources:
        print(f"no programs in {arguments.samples}")
        return 1
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        work = [(s, o) for s in sources for o in arguments.opset or [18, 20, 21, 25]]
        all_results = list(pool.map(lambda each: judge(arguments.aton, arguments.target, *each, pathlib.Path(folder)), work))
    print(table(all_results))
    if arguments.json:
        arguments.json.write_text(json.dumps(all_results, indent=1))
    if not arguments.expected:
        return 0
    problems = unexpected(all_results, arguments.expected, arguments.update)
    print("\n".join(problems) or "as expected")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
