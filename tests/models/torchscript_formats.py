#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Archives of older formats, in which torch.div, torch.full, torch.linspace and torch.logspace had other meanings: `aton export` gives what
torch.jit.load, which applies torch's upgraders, gives.

    tests/models/torchscript_formats.py --aton build/release/aton

Each module is saved by the installed torch; then the version in the archive is replaced, and the code where an old release wrote other
arguments. tests/torchscript has archives that older releases of torch saved. Exit code 0; 1 if anything is wrong; 77 without torch."""

import argparse
import pathlib
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE)]

import packages  # noqa: E402

# The class, the formats to try, what to replace in the code, and for the lowest format whether its numbers differ from those of the newest.
CASES = (
    ("Divisions", (3, 4, 10), {}, True),
    ("InPlace", (3,), {}, False),
    ("Modes", (3, 10), {}, False),
    ("Fulls", (4, 5, 10), {}, True),
    ("Spaces", (7, 8, 9), {"torch.linspace(0, 3, 100)": "torch.linspace(0, 3, None)", "torch.logspace(0, 1, 100)": "torch.logspace(0, 1, None)"}, False),
)


def modules():
    import torch

    class Divisions(torch.nn.Module):
        def forward(self, x, y):
            return torch.div(x, y), torch.div(x, 2), x / 2.0, x.float() / y, x.size(0) / 2, torch.div(x > 0, 2.0)

    class InPlace(torch.nn.Module):
        def forward(self, x, y):
            z = x.clone()
            z.div_(3)
            w = x.clone()
            w /= y
            return z, w

    class Modes(torch.nn.Module):
        def forward(self, x, y):
            return torch.div(x, y, rounding_mode="floor"), torch.div(x, 2, rounding_mode="trunc")

    class Fulls(torch.nn.Module):
        def forward(self, x, y):
            return (torch.full([2, 3], 7), torch.full([2], True), torch.full([2], 0.5), torch.full([2], 7, dtype=torch.int32),
                    torch.full([x.size(0)], x.size(1)))

    class Spaces(torch.nn.Module):
        def forward(self, x, y):
            return torch.linspace(0, 3, 100), torch.logspace(0, 1, 100), torch.linspace(0, 1, 5)

    return locals()


def in_format(archive, version, code):
    """Rewrites an archive: its version, and texts of its code."""
    with zipfile.ZipFile(archive) as old:
        members = {each.filename: old.read(each) for each in old.infolist()}
    with zipfile.ZipFile(archive, "w") as new:
        for name, data in members.items():
            if name.endswith(("/version", "/.data/version")):
                data = f"{version}\n".encode()
            if name.endswith(".py"):
                text = data.decode()
                for before, after in code.items():
                    if before not in text:
                        raise ValueError(f"the code has no {before!r}")
                    text = text.replace(before, after)
                data = text.encode()
            new.writestr(name, data)


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", default=str(ROOT / "build/release/aton"))
    options = parser.parse_args(words)
    if packages.is_missing("torch", "onnx", "onnxruntime"):
        return 77
    import torch
    import torchscript
    aton = str(pathlib.Path(options.aton).resolve())
    x, y = torch.tensor([[-7, 5, 8], [1, -2, 9]]), torch.tensor([[2, -3, 3], [4, 5, -2]])
    more = torch.tensor([[-3, 11, 4]]).repeat(5, 1)
    problems, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, versions, code, differs in CASES:
            results = {}
            for version in versions:
                archive = pathlib.Path(folder) / f"{name}_{version}.pt"
                torch.jit.save(torch.jit.script(modules()[name]()), str(archive))
                in_format(archive, version, code if version == versions[0] else {})
                results[version] = [str(each) for each in torchscript.flatten(torch.jit.load(str(archive))(x, y))]
                for kind, dynamic in (("static", {}), ("dynamic", {"x": (0,), "y": (0,)})):
                    other = {"x": more, "y": more % 7 + 1} if dynamic else {"x": x * 3, "y": y}
                    found = torchscript.check(aton, archive, archive.with_suffix(".onnx"), {"x": x, "y": y}, other, dynamic)
                    tried += 1
                    if found != "right":
                        problems.append(f"{name}, version {version}, {kind}: {found}")
            if (results[versions[0]] != results[versions[-1]]) != differs:
                problems.append(f"{name}: the old format {'does not differ' if differs else 'differs'}")
        archive = pathlib.Path(folder) / "newer.pt"
        torch.jit.save(torch.jit.script(modules()["Modes"]()), str(archive))
        in_format(archive, 11, {})
        found = torchscript.check_refusal(aton, archive, archive.with_suffix(".onnx"), {"x": x, "y": y}, "version 11 of the format")
        if found != "right":
            problems.append(f"version 11: {found}")
    print("\n".join(problems))
    print(f"{tried} exports, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
