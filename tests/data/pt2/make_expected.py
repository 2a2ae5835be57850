#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes legacy_dtypes.pt2 (the container of torch 2.4 to 2.7 with every kind of pickled tensor) and expected.txt: every
tensor of the samples in this folder as torch 2.13 loads it, one per line: file, model, role, name, dtype, sizes, bytes in
row-major order. The other samples are what torch.export.save of torch 2.13 wrote, and legacy_27, legacy_28 the same in the
containers of torch 2.7 and 2.8.

    make_expected.py        needs torch 2.13
"""
import io
import pathlib
import zipfile

import torch
from torch.export.pt2_archive._package import load_pt2

here = pathlib.Path(__file__).parent
old_members = {"weight": "serialized_state_dict.pt", "constant": "serialized_constants.pt"}


def numbers(sizes: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    count = torch.Size(sizes).numel()
    values = torch.arange(count, dtype=torch.float64).reshape(sizes) * 0.75 - 2
    if dtype.is_complex:
        return torch.complex(values, values + 1).to(dtype)
    return values.to(dtype) if dtype.is_signed else values.abs().to(dtype)


def state_dict() -> torch.nn.Module:
    module = torch.nn.Module()  # its state dict is an OrderedDict with attributes
    module.inner = torch.nn.Linear(5, 3)
    module.inner.weight.data = numbers((3, 5), torch.float32)
    module.inner.bias.data = numbers((3,), torch.float32)
    module.transposed = torch.nn.Parameter(numbers((4, 3), torch.float16).t())
    with_attribute = torch.nn.Parameter(numbers((2, 3), torch.float64))
    with_attribute.tag = "kept"
    module.with_attribute = with_attribute
    module.own_buffer = torch.nn.Buffer(numbers((7,), torch.int16))
    for dtype in (torch.uint8, torch.int8, torch.int32, torch.int64, torch.bfloat16, torch.uint16, torch.uint32, torch.uint64,
                  torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz,
                  torch.float8_e5m2fnuz):
        module.register_buffer("a_" + str(dtype).removeprefix("torch."), numbers((2, 3), dtype))
    module.register_buffer("a_bool", torch.tensor([[True], [False], [True]]))
    base = numbers((6, 5), torch.float32)
    module.register_buffer("every_second", base[1::2, 1::3])
    module.register_buffer("same_storage", base[2])
    module.register_buffer("repeated", torch.tensor([1.5, 2.5, -3.5]).reshape(1, 3).expand(4, 3))
    module.register_buffer("empty", torch.zeros(2, 0, 3))
    module.register_buffer("zero_d", torch.tensor(8.25))
    return module.state_dict(keep_vars=True)


def write_legacy_dtypes() -> None:
    with zipfile.ZipFile(here / "legacy_27.pt2") as sample:
        program = sample.read("serialized_exported_program.json")
    with zipfile.ZipFile(here / "legacy_dtypes.pt2", "w") as out:
        def write(name: str, content: bytes) -> None:
            out.writestr(zipfile.ZipInfo(name), content)
        write("serialized_exported_program.json", program)
        for name, protocol, content in (("serialized_state_dict.pt", 4, state_dict()),
                                        ("serialized_constants.pt", 5, {"c": numbers((3, 1), torch.float32)})):
            buffer = io.BytesIO()
            torch.save(content, buffer, pickle_protocol=protocol)
            write(name, buffer.getvalue())
        write("version", b"5.3")


def tensors_of(path: pathlib.Path):
    with zipfile.ZipFile(path) as archive:
        if "version" in archive.namelist():
            for role, member in old_members.items():
                content = torch.load(io.BytesIO(archive.read(member)), weights_only=False)
                yield from (("model", role, name, t) for name, t in content.items())
            return
    for model, program in load_pt2(str(path)).exported_programs.items():
        yield from ((model, "weight", name, t) for name, t in program.state_dict.items())
        yield from ((model, "constant", name, t) for name, t in program.constants.items() if name not in program.state_dict)


def main() -> None:
    write_legacy_dtypes()
    lines = []
    for path in sorted(here.glob("*.pt2")):
        for model, role, name, tensor in sorted(tensors_of(path), key=lambda line: line[:3]):
            plain = tensor.detach().contiguous()
            raw = bytes(plain.reshape(-1).view(torch.uint8).tolist()) if plain.numel() else b""
            sizes = ",".join(map(str, plain.shape))
            lines.append(f"{path.name} {model} {role} {name} {str(plain.dtype).removeprefix('torch.')} [{sizes}] x{raw.hex()}\n")
    (here / "expected.txt").write_text("".join(lines))


if __name__ == "__main__":
    main()
