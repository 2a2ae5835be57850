# SPDX-License-Identifier: MIT
"""Weights of every layout and dtype, written in every mode, are read by ONNX's checker, its loader and ONNX Runtime.

usage: weights_run_test.py WRITE_STORED_WEIGHTS TENSORS
"""

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import ml_dtypes
import numpy
import onnx
import onnxruntime
from numpy.lib.stride_tricks import as_strided
from onnx import TensorProto, helper

PLAIN = "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
CAST_FIRST = {  # ONNX Runtime can only return these to Python as another type
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e5m2": ml_dtypes.float8_e5m2,
}
NOT_RUN = {"complex64": numpy.complex64, "complex128": numpy.complex128}
BITS = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64, 16: numpy.complex128}
SOURCE_BYTES = 1 << 21


def numpy_type(name: str) -> numpy.dtype:
    return numpy.dtype(CAST_FIRST.get(name) or NOT_RUN.get(name) or name)


def words(values) -> str:
    return " ".join(map(str, [len(values), *values]))


def random_part(rng: random.Random, sizes: list[int], kind: str) -> tuple[list[int], int, int]:
    """Strides, offset, and the required number of elements."""
    strides = [0] * len(sizes)
    order = list(reversed(range(len(sizes))))
    if kind == "permuted":
        rng.shuffle(order)
    if kind == "channels_last" and len(sizes) == 4:
        order = [1, 3, 2, 0]
    step = 1
    for d in order:
        strides[d] = step
        step *= sizes[d]
        if kind == "gaps":
            step += rng.randrange(1, 5)
    if kind == "windows":
        strides = [rng.randrange(1, 4) for _ in sizes]
    for d in range(len(sizes)):
        if kind == "expanded" and rng.random() < 0.5:
            strides[d] = 0
        if sizes[d] == 1 and rng.random() < 0.5:
            strides[d] = rng.randrange(1000)  # irrelevant
    offset = rng.randrange(40)
    if kind == "backwards":
        offset += sum(strides[d] * (sizes[d] - 1) for d in range(len(sizes)))
        return [-s for s in strides], offset, offset + 1
    reach = 0 if 0 in sizes else sum(st * (si - 1) for st, si in zip(strides, sizes)) + 1
    return strides, offset, offset + reach


def random_tensor(rng: random.Random, source: bytes, name: str, opset: int) -> tuple[str, str, numpy.ndarray]:
    """The specification of a tensor, its dtype and its elements."""
    types = PLAIN + ["bfloat16", *NOT_RUN] + (["float8_e4m3fn", "float8_e5m2"] if opset >= 19 else [])
    type_name = rng.choice(types)
    dtype = numpy_type(type_name)
    rank = rng.choice([0, 1, 2, 2, 3, 4, 4, 5])
    sizes = [rng.choice([1, 2, 3, 5, 7, 11, 19] if rank > 3 else [1, 2, 3, 17, 33, 70]) for _ in range(rank)]
    if rank and rng.random() < 0.05:
        sizes[rng.randrange(rank)] = 0
    parts = rng.choice([1, 1, 1, 1, 1, 2, 3]) if rank else 1
    with_factors = rank > 0 and type_name in ("float32", "float64", "float16") and rng.random() < 0.2
    spec, arrays = [], []
    for _ in range(parts):
        kind = rng.choice("plain plain permuted permuted channels_last gaps expanded windows backwards".split())
        strides, offset, needed = random_part(rng, sizes, kind)
        size = needed * dtype.itemsize
        position = rng.randrange(0, SOURCE_BYTES - size, 64) if rng.random() < 0.8 else rng.randrange(SOURCE_BYTES - size)
        factors = [rng.uniform(-2, 2) for _ in range(sizes[0])] if with_factors else []
        spec.append(f"{position} {size} {offset} {words(sizes)} {words(strides)} {words(factors)}")
        flat = numpy.frombuffer(source, dtype=numpy.uint8, offset=position, count=size).copy().view(BITS[dtype.itemsize])
        view = flat if 0 in sizes else flat[offset:]
        array = as_strided(view, sizes, [s * dtype.itemsize for s in strides]).copy().view(dtype)
        if with_factors:
            with numpy.errstate(all="ignore"):
                array = (array.astype(numpy.float64) * numpy.reshape(factors, [-1] + [1] * (rank - 1))).astype(dtype)
        arrays.append(array)
    whole = numpy.concatenate(arrays) if rank else arrays[0]
    return f"{name} {type_name} {words(whole.shape)} {parts} " + " ".join(spec), type_name, whole


def same(a: numpy.ndarray, b: numpy.ndarray) -> bool:
    """Bitwise equality, except that all NaNs are equal."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.tobytes() == b.tobytes():
        return True
    with numpy.errstate(all="ignore"):
        return bool(numpy.all((a == b) | ((a != a) & (b != b))))


def loaded(path: Path) -> dict[str, numpy.ndarray]:
    """The values of y0, y1, ...: a model of Identity, and Transpose before it."""
    model = onnx.load(path)
    values = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        value = values[node.input[0]]
        if node.op_type == "Transpose":
            value = numpy.transpose(value, node.attribute[0].ints)
        else:
            assert node.op_type == "Identity", node.op_type
        values[node.output[0]] = value
    return values


def run(path: Path, types: dict[str, str]) -> dict[str, numpy.ndarray]:
    """The results of ONNX Runtime for its dtypes; small floats as float32."""
    model = onnx.load(path, load_external_data=False)
    graph = model.graph
    wanted = [o for o in graph.output if types[o.name] not in NOT_RUN]
    del graph.output[:]
    used = {o.name for o in wanted}
    kept = [n for n in graph.node if n.op_type == "Transpose" or n.output[0] in used]
    read = {i for n in kept if n.op_type == "Identity" for i in n.input}
    kept = [n for n in kept if n.op_type == "Identity" or n.output[0] in read]
    read |= {i for n in kept for i in n.input}
    initializers = [t for t in graph.initializer if t.name in read]
    for output in wanted:
        if types[output.name] in CAST_FIRST:
            kept.append(helper.make_node("Cast", [output.name], [output.name + "_cast"], to=TensorProto.FLOAT))
            graph.output.append(helper.make_tensor_value_info(output.name + "_cast", TensorProto.FLOAT, None))
        else:
            graph.output.append(output)
    for field, values in ((graph.node, kept), (graph.initializer, initializers)):
        copies = [type(v).FromString(v.SerializeToString()) for v in values]
        del field[:]
        field.extend(copies)
    del graph.value_info[:]
    runnable = path.with_name("run.onnx")
    onnx.save(model, runnable)
    session = onnxruntime.InferenceSession(runnable, providers=["CPUExecutionProvider"])
    names = [o.name for o in session.get_outputs()]
    return dict(zip(names, session.run(names, {})))


def check_mode(writer: str, folder: Path, mode: str, opset: int, tensors: list[tuple[str, str, numpy.ndarray]]) -> list[str]:
    (folder / "specification").write_text("\n".join(spec for spec, _, _ in tensors))
    path = folder / "model.onnx"
    for old in folder.glob("*.onnx*"):
        old.unlink()
    command = [writer, folder / "specification", folder / "weights.bin", path, mode, str(opset)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return [f"{mode}: {done.stderr}"]
    count, size, _ = map(int, done.stdout.split())
    faults = []
    if (count, size) != (len(tensors), sum(array.nbytes for _, _, array in tensors)):
        faults.append(f"{mode}: the report says {done.stdout.strip()}")
    onnx.checker.check_model(path, full_check=True)
    written = {p.name for p in folder.glob("*.onnx*")}
    named = {e.value for t in onnx.load(path, load_external_data=False).graph.initializer for e in t.external_data if e.key == "location"}
    # What has to be converted is copied to a file, beside references to others.
    if written != {"model.onnx"} | (named - {"weights.bin"}) or (mode == "embed" and named) or (mode == "external" and named != {"model.onnx.data"}):
        faults.append(f"{mode}: files {sorted(p.name for p in folder.iterdir())}")
    values = loaded(path)
    results = run(path, {f"y{i}": type_name for i, (_, type_name, _) in enumerate(tensors)})
    for i, (spec, type_name, array) in enumerate(tensors):
        if not same(values[f"y{i}"], array):
            faults.append(f"{mode}, as onnx loads it: {spec}")
        if type_name in PLAIN and not same(results[f"y{i}"], array):
            faults.append(f"{mode}, in ONNX Runtime: {spec}")
        if type_name in CAST_FIRST and not same(results[f"y{i}_cast"], array.astype(numpy.float32)):
            faults.append(f"{mode}, in ONNX Runtime: {spec}")
    return faults


def main() -> int:
    writer, count = sys.argv[1], int(sys.argv[2])
    rng = random.Random(5)
    # random bytes also for bools, because bytes of 0 and 1 would not test layouts: numpy and engines copy them
    source = bytes(rng.getrandbits(8) for _ in range(SOURCE_BYTES))
    faults = []
    for opset in (13, 21):
        tensors = [random_tensor(rng, source, f"weight{i}", opset) for i in range(count)]
        with tempfile.TemporaryDirectory(prefix="aton_weights_") as name:
            folder = Path(name)
            (folder / "weights.bin").write_bytes(source)
            for mode in ("embed", "external", "reference"):
                faults += check_mode(writer, folder, mode, opset, tensors)
    for fault in faults[:10]:
        print(fault)
    print(f"{2 * count} tensors in 3 modes, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
