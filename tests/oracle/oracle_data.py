# SPDX-License-Identifier: MIT
"""Reads the data of the oracle check: recorded cases, their tensors (safetensors), and containers of models."""

import json
import struct
from pathlib import Path

import ml_dtypes
import numpy as np

SAFETENSORS_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "U16": np.uint16,
    "U32": np.uint32,
    "U64": np.uint64,
    "BOOL": np.bool_,
    "C64": np.complex64,
}
PLAIN_DTYPES = {"float32", "int64", "bool"}


def read_safetensors(path):
    """All tensors of a file: {name: array}."""
    blob = Path(path).read_bytes()
    (header_length,) = struct.unpack("<Q", blob[:8])
    data = 8 + header_length
    out = {}
    for name, entry in json.loads(blob[8:data]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        out[name] = np.frombuffer(blob[data + begin : data + end], dtype=SAFETENSORS_DTYPES[entry["dtype"]]).reshape(
            entry["shape"]
        )
    return out


def write_safetensors(path, tensors):
    """Writes {name: array}, in the order given."""
    names = {np.dtype(dtype): name for name, dtype in SAFETENSORS_DTYPES.items()}
    header, payload = {}, b""
    for name, array in tensors.items():
        raw = array.tobytes()
        header[name] = {
            "dtype": names[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [len(payload), len(payload) + len(raw)],
        }
        payload += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + payload)


def overload_of(case):
    return case["op"] + ("." + case["overload"] if case["overload"] else "")


def tensors_in(encoded):
    """Every tensor entry in an encoded argument or result."""
    if isinstance(encoded, dict):
        if "tensor" in encoded:
            yield encoded
        else:
            for each in encoded.values():
                yield from tensors_in(each)
    elif isinstance(encoded, list):
        for each in encoded:
            yield from tensors_in(each)


def all_tensors(case):
    yield from tensors_in([case["args"], case["kwargs"], case["outputs"], case.get("mutated", {})])


def is_plain(case):
    """All tensors float32, int64 or bool, none empty, no flag nan, inf or complex (the oracle's README)."""
    if {"nan", "inf", "complex", "empty"} & set(case["flags"]):
        return False
    return all(t["dtype"] in PLAIN_DTYPES and 0 not in t["shape"] for t in all_tensors(case))


def argument_names(case):
    """The names of all arguments in schema order."""
    inside = case["schema"].partition("(")[2].rpartition(") -> ")[0]
    names, depth, piece = [], 0, ""
    for c in inside + ",":
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            if piece.strip() not in ("*", ""):
                names.append(piece.split("=")[0].split()[-1])
            piece = ""
        else:
            piece += c
    return names


def arguments_by_name(case):
    """{argument: encoded value} of the whole call."""
    return dict(zip(argument_names(case), case["args"])) | case["kwargs"]


def describe_call(case):
    """The call in one line: self=float32[2, 3], dim=1."""

    def text(v):
        if isinstance(v, dict):
            if "tensor" in v:
                return v["dtype"] + str(v["shape"])
            return str(next(iter(v.values())))
        if isinstance(v, list):
            return "[" + ", ".join(map(text, v)) + "]"
        return repr(v)

    return ", ".join(f"{name}={text(v)}" for name, v in arguments_by_name(case).items())


class CaseStore:
    """The cases of a folder by name, with their tensors; one file is kept open at a time."""

    def __init__(self, folder):
        self.folder = Path(folder)
        with open(self.folder / "cases.jsonl", encoding="utf-8") as lines:
            self.cases = {case["case"]: case for case in map(json.loads, lines)}
        self._file, self._tensors = None, {}

    def tensors(self, case):
        if case["file"] != self._file:
            self._file, self._tensors = case["file"], read_safetensors(self.folder / case["file"])
        return self._tensors


class Container:
    """The output of oracle_models: records in order, models read on demand."""

    def __init__(self, path):
        self.path = path
        self.records = []
        with open(path, "rb") as f:
            self.opset = json.loads(f.readline())["opset"]
            while line := f.readline():
                record = json.loads(line)
                record["offset"] = f.tell()
                f.seek(record["bytes"], 1)
                self.records.append(record)

    def model(self, record):
        with open(self.path, "rb") as f:
            f.seek(record["offset"])
            return f.read(record["bytes"])
