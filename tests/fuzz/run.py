#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds every tests/fuzz/*_fuzz.cpp with Clang's libFuzzer and the sanitizers, and runs each for a while.

    run.py [--seconds N] [--jobs N] [--build FOLDER] [--compiler CLANG] [--include FOLDER:FOLDER] [NAME ...]

NAME: "archive" for archive_fuzz.cpp; without one all of them. A target is linked with the sources of src/program and src/frontend.
It starts from seeds (samples of tests/data/pt2 and their members, registered schemas), uses NAME_fuzz.dict,
and keeps its corpus in FOLDER. Exit status: 0 no findings, 1 findings (their inputs are printed), 77 no Clang with libFuzzer.
"""
import argparse
import concurrent.futures
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

here = pathlib.Path(__file__).resolve().parent
root = here.parent.parent
samples = sorted((root / "tests/data/pt2").glob("*.pt2"))
flags = ["-std=c++20", "-O1", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"]
sanitizers = "address,undefined"
limits = ["-rss_limit_mb=512", "-timeout=5"]


def find_compiler(wanted: str, folder: pathlib.Path) -> str | None:
    """The first Clang that links a fuzz target."""
    probe = folder / "probe.cpp"
    probe.write_text('extern "C" int LLVMFuzzerTestOneInput(unsigned char const*, unsigned long) { return 0; }\n')
    for name in [wanted] if wanted else ["clang++-19", "clang++-18", "clang++-17", "clang++-16", "clang++"]:
        if shutil.which(name) is None:
            continue
        command = [name, f"-fsanitize=fuzzer,{sanitizers}", str(probe), "-o", str(folder / "probe")]
        if subprocess.run(command, capture_output=True).returncode == 0:
            return name
    return None


def compile_one(compiler: str, includes: list[str], source: pathlib.Path, to: pathlib.Path) -> None:
    launcher = [shutil.which("ccache")] if shutil.which("ccache") else []
    to.parent.mkdir(parents=True, exist_ok=True)
    command = launcher + [compiler, *flags, f"-fsanitize=fuzzer-no-link,{sanitizers}", *includes, "-c", str(source), "-o", str(to)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{source}: does not compile\n{result.stderr}")


def build(arguments: argparse.Namespace, compiler: str, names: list[str]) -> None:
    includes = [f"-I{f}" for f in [root / "include", root / "src", *filter(None, arguments.include.split(":"))]]
    sources = sorted([*root.glob("src/program/*.cpp"), *root.glob("src/frontend/*/*.cpp")])
    objects = {s: arguments.build / "objects" / s.relative_to(root).with_suffix(".o") for s in sources}
    targets = {here / f"{n}_fuzz.cpp": arguments.build / "objects" / f"{n}_fuzz.o" for n in names}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        work = [pool.submit(compile_one, compiler, includes, s, o) for s, o in {**objects, **targets}.items()]
        for w in work:
            w.result()
    library = arguments.build / "libaton_fuzzed.a"
    library.unlink(missing_ok=True)
    subprocess.run(["ar", "rcs", str(library), *map(str, objects.values())], check=True)
    for name in names:
        link = [compiler, f"-fsanitize=fuzzer,{sanitizers}", str(arguments.build / "objects" / f"{name}_fuzz.o"),
                str(library), *arguments.library, "-o", str(arguments.build / f"{name}_fuzz")]
        subprocess.run(link, check=True)


def programs() -> list[bytes]:
    """The JSON of the models in the samples."""
    out = []
    for path in samples:
        with zipfile.ZipFile(path) as archive:
            wanted = [n for n in archive.namelist() if "/models/" in n or n == "serialized_exported_program.json"]
            out += [archive.read(n) for n in wanted]
    return out


def expressions() -> list[bytes]:
    found: set[str] = set()

    def walk(node: object) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("expr_str"), str):
                found.add(node["expr_str"])
            for child in node.values():
                walk(child)
        elif isinstance(node, list):
            for child in node:
                walk(child)

    for program in programs():
        walk(json.loads(program))
    old = ["s0", "2*s0 + 1", "(s0//2)", "Mod(s0, 3)", "s0**2 - s1", "Max(1, u0)"]
    return [e.encode() for e in sorted(found) + old]


def configs() -> list[bytes]:
    out = []
    for path in samples:
        with zipfile.ZipFile(path) as archive:
            out += [archive.read(n) for n in archive.namelist() if n.endswith("_config.json")]
    return out


def pickles() -> list[bytes]:
    """Of weights, and of weights that are tensors of classes."""
    out = []
    for path in [*samples, *sorted((root / "tests/data/quantized").glob("*/model.pt2"))]:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                content = archive.read(name)
                if content.startswith(b"PK"):
                    with zipfile.ZipFile(io.BytesIO(content)) as saved:
                        out += [saved.read(n) for n in saved.namelist() if n.endswith("data.pkl")]
    return out


def safetensors() -> list[bytes]:
    """Files of two tensors, without tensors, and with one of a dtype that is not supported."""
    two = {"__metadata__": {"format": "pt"}, "a.weight": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]},
           "b": {"dtype": "I64", "shape": [], "data_offsets": [16, 24]}}
    other = {"c": {"dtype": "F4", "shape": [0, 4], "data_offsets": [4, 4]}}
    return [len(text).to_bytes(8, "little") + text + bytes(24) for text in (json.dumps(each).encode() for each in (two, {}, other))]


def schemas() -> list[bytes]:
    text = (root / "include/aton/aten/generated/function_schemas.hpp").read_text()
    found = re.findall(r'^    "(\w+::.*)"', text, re.MULTILINE)
    return [s.encode().decode("unicode_escape").encode("latin-1") for s in found[::20]]


def torchscript() -> list[bytes]:
    """Code of a module (each statement of the language, control flow that depends on data, lists, writes), its data.pkl, and an archive."""
    head = "class M(Module):\n  __parameters__ = [\"w\", ]\n  w : Tensor\n  b : Tensor\n  def forward(self: __torch__.M,\n    x: Tensor,\n    k: int=2) -> Tensor:\n"
    bodies = [
        ["y = torch.mul(x, self.w)", "for i in range(3):", "  y = torch.add(y, [1, i][0])", "return {\"a\": y, \"b\": (y, torch.len([y]))}"],
        ["if bool(torch.sum(x)):", "  y = torch.view(x, [torch.size(x, 0), -1])", "else:", "  y = torch.neg(x)", "return y"],
        ["y = x", "i = 0", "while bool(torch.any(torch.gt(y, 0))):", "  y = torch.sub(y, 1.5)", "  i = torch.add(i, 1)", "return (y, i)"],
        ["out = annotate(List[Tensor], [])", "for n in range(torch.size(x, 0)):", "  z = torch.append(out, torch.select(x, 0, n))", "return torch.stack(out)"],
        ["a, b, = (torch.chunk(x, 2))[0], self.items", "c = torch.slice(b, None, None, -1)", "return torch.add_(torch.zeros_like(x), c[0] if True else 1)"],
        ["s = torch.format(\"{} {}\", k, \"a\\n\")", "d = {\"k\": x}", "y = unchecked_cast(Tensor, d[\"k\"])", "if torch.__isnot__(y, None):", "  pass", "else:",
         "  ops.prim.RaiseException(s)", "return torch.slice(y, 0, torch.__range_length(0, k, 1))"],
        ["n = torch.floordiv(torch.mul(torch.size(x, 0), 2), 3)", "y = torch.zeros([n, 3], dtype=6, layout=0, device=torch.device(\"cpu\"))", "return torch.cat([y, CONSTANTS.c0])"],
    ]
    codes = [(head + "".join(f"    {line}\n" for line in body)).encode() for body in bodies]
    tensor = (b"ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0" b"0X\3\0\0\0cpuK\3tQK\0K\3\x85K\1\x85\x89"
              b"ccollections\nOrderedDict\n)RtR")
    data = b"\x80\2c__torch__\nM\n)\x81}(X\1\0\0\0w" + tensor + b"X\1\0\0\0b" + tensor + b"X\5\0\0\0items](K\1K\2eX\1\0\0\0d}X\1\0\0\0aG?\xf8\0\0\0\0\0\0sub."
    saved = io.BytesIO()
    with zipfile.ZipFile(saved, "w") as archive:
        members = {"data.pkl": data, "data/0": bytes(12), "code/__torch__.py": codes[0], "constants.pkl": b"\x80\2" + tensor + b"\x85.", "constants/0": bytes(12),
                   "version": b"3\n"}
        for name, content in members.items():
            archive.writestr(f"m/{name}", content, zipfile.ZIP_DEFLATED if name.endswith(".py") else zipfile.ZIP_STORED)
    return [*codes, data, saved.getvalue()]


def seeds(name: str) -> list[bytes]:
    known = {"archive": lambda: [p.read_bytes() for p in samples] + configs(), "pickle": pickles, "program": programs,
             "expression": expressions, "safetensors": safetensors, "schema": schemas, "torchscript": torchscript}
    return known.get(name, list)()


def fuzz(arguments: argparse.Namespace, name: str) -> tuple[bool, str]:
    """Runs one target; returns whether it passed, and its report."""
    corpus = arguments.build / "corpus" / name
    findings = arguments.build / "findings" / name
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    for i, seed in enumerate(seeds(name)):
        (corpus / f"seed_{i:04}").write_bytes(seed)
    dictionary = here / f"{name}_fuzz.dict"
    words = [f"-dict={dictionary}"] if dictionary.exists() else []
    command = [str(arguments.build / f"{name}_fuzz"), f"-max_total_time={arguments.seconds}", *limits, *words,
               f"-artifact_prefix={findings}/", "-print_final_stats=1", str(corpus)]
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1")
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
    runs = re.search(r"number_of_executed_units: (\d+)", result.stderr)
    memory = re.search(r"peak_rss_mb: +(\d+)", result.stderr)
    coverage = re.findall(r" cov: (\d+)", result.stderr)
    figures = f"{runs[1] if runs else '?'} runs, {coverage[-1] if coverage else '?'} edges, {memory[1] if memory else '?'} MiB"
    if result.returncode == 0:
        return True, f"{name}_fuzz: {figures}, nothing found"
    return False, f"{name}_fuzz: FAILED after {figures}; its input is in {findings}\n" + "\n".join(result.stderr.splitlines()[-60:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="seconds per target (60)")
    parser.add_argument("--jobs", type=int, default=2, help="targets run at a time (2)")
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/fuzz", help="output folder (build/fuzz)")
    parser.add_argument("--compiler", default="", help="a Clang with libFuzzer; default: the newest found")
    parser.add_argument("--include", default="", help="more include folders, separated by ':'")
    parser.add_argument("--library", action="append", default=None, help="library to link (-lsimdjson)")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    arguments.library = arguments.library or ["-lsimdjson"]
    arguments.build.mkdir(parents=True, exist_ok=True)
    there = sorted(p.name.removesuffix("_fuzz.cpp") for p in here.glob("*_fuzz.cpp"))
    if unknown := set(arguments.names) - set(there):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(there)}")
    names = arguments.names or there
    compiler = find_compiler(arguments.compiler, arguments.build)
    if compiler is None:
        print("skipped: no Clang with libFuzzer")
        return 77
    build(arguments, compiler, names)
    good = True
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for is_good, report in pool.map(lambda name: fuzz(arguments, name), names):
            print(report, flush=True)
            good = good and is_good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
