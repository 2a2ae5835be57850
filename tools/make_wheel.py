#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Packs a built aton command, the package of python/, the single headers and the CMake package into a wheel.

usage: make_wheel.py --aton PROGRAM --dist FOLDER [--library LIBRARY] [--glibc 2.28] [--license NAME=FILE]...
       [--machine aarch64 --binutils aarch64-linux-gnu- --runner qemu-aarch64-static]

`aton verify` must be in the program (ATON_LINK_VERIFY), or in an aton-verify beside it, which is packed too. With --library libaton.so, the package
calls it in its process, and the program is aton-launcher, which does nothing but call it. The platform in the wheel's name
is what the programs need, from their symbol versions and libraries: manylinux_2_X if they need only what every Linux with glibc 2.X has, else
linux, which no index accepts. --glibc fails if they need a later glibc. For programs of another machine, --binutils is the prefix of their
strip and objdump, and --runner what runs them here.
"""

import argparse
import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
SYSTEM_LIBRARIES = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2",
                    "ld-linux-aarch64.so.1"}
WHEEL_LIMIT = 12_000_000  # of one that an index accepts


def output_of(*command):
    return subprocess.run([str(part) for part in command], check=True, stdout=subprocess.PIPE, text=True).stdout


def needs_of(program, objdump):
    """The latest glibc whose symbols the program needs, as (2, 28), and the libraries that it needs beside glibc's."""
    dynamic = output_of(objdump, "-p", program)
    libraries = set(re.findall(r"^  NEEDED +(\S+)$", dynamic, re.MULTILINE))
    versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", dynamic)
    if not libraries or not versions:
        sys.exit(f"{program}: has no needed libraries or symbol versions; is it an ELF program?")
    return max((int(major), int(minor)) for major, minor in versions), sorted(libraries - SYSTEM_LIBRARIES)


def platform_of(programs, limit, machine, objdump):
    newest, names = (0, 0), set()
    packed = {pathlib.Path(name).name for name in programs}
    for program in programs.values():
        glibc, others = needs_of(program, objdump)
        others = [each for each in others if each not in packed]
        text = ".".join(map(str, glibc))
        print(f"{program}: needs glibc {text}" + (f" and {', '.join(others)}" if others else " and no other library"))
        if limit and (others or glibc > tuple(map(int, limit.split(".")))):
            sys.exit(f"{program}: needs more than glibc {limit}")
        newest, names = max(newest, glibc), names | set(others)
    return f"linux_{machine}" if names else f"manylinux_{newest[0]}_{newest[1]}_{machine}"


def programs_of(aton, command, library):
    """What is packed, by name in the package: the command, and the library that it needs, or aton-verify if it is a program of its own. `command`
    runs the former here.
    """
    programs = {"bin/aton": aton}
    beside = aton.with_name("aton-verify")
    if library:
        programs[f"lib/{re.search(r'SONAME +(.+)', output_of('objdump', '-p', library))[1]}"] = library
    elif beside.is_file():
        programs["bin/aton-verify"] = beside
    if subprocess.run([command, "verify", "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit(f"{aton}: cannot run `aton verify`: build it with -DATON_BUILD_RUNTIME=ON")
    return programs


def headers_and_cmake_package(folder):
    """Files of the CMake package, and the single headers in place of those that it installs: {name in the wheel: bytes}."""
    build, prefix = folder / "build", folder / "installed"
    output_of("cmake", "-S", REPOSITORY, "-B", build, "-DATON_BUILD_TOOLS=OFF", "-DATON_BUILD_TESTS=OFF", "-DCMAKE_INSTALL_LIBDIR=lib")
    output_of("cmake", "--install", build, "--prefix", prefix)
    files = {path.relative_to(prefix): path for path in (prefix / "lib").rglob("*") if path.is_file()}
    single = REPOSITORY / "single_include"
    files.update({pathlib.Path("include", path.relative_to(single)): path for path in single.rglob("*.hpp")})
    return {f"aton_onnx/{name.as_posix()}": path.read_bytes() for name, path in files.items()}


def runnable(aton, runner, folder):
    """A program that runs the command here."""
    if not runner:
        return aton.resolve()
    run = folder / "run"
    run.write_text(f'#!/bin/sh\nexec {runner} {aton.resolve()} "$@"\n')
    run.chmod(0o755)
    return run


def manuals(command, folder, prefix):
    """Manual pages and completions, which pip puts into the share folder of the environment: {name in the wheel: bytes}."""
    output_of(sys.executable, REPOSITORY / "tools/make_manuals.py", "--aton", command, "--output", folder / "manuals")
    share = folder / "manuals"
    return {f"{prefix}/{path.relative_to(share).as_posix()}": path.read_bytes() for path in share.rglob("*") if path.is_file()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", type=pathlib.Path, required=True)
    parser.add_argument("--dist", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path)
    parser.add_argument("--glibc")
    parser.add_argument("--machine", default=platform.machine())
    parser.add_argument("--binutils", default="", metavar="PREFIX")
    parser.add_argument("--runner", default="", metavar="COMMAND")
    parser.add_argument("--license", action="append", default=[], metavar="NAME=FILE")
    options = parser.parse_args()

    version = re.search(r"^project\(aton VERSION ([0-9.]+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    info = f"aton_onnx-{version}.dist-info"
    source = REPOSITORY / "python"
    files = {path.relative_to(source).as_posix(): path.read_bytes()
             for path in (source / "aton_onnx").iterdir() if path.suffix in (".py", ".typed")}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command = runnable(options.aton, options.runner, folder)
        programs = programs_of(options.aton, command, options.library)
        tag = f"py3-none-{platform_of(programs, options.glibc, options.machine, f'{options.binutils}objdump')}"
        for name, program in programs.items():
            stripped = folder / "stripped"
            output_of(f"{options.binutils}strip", "-o", stripped, program)
            files[f"aton_onnx/{name}"] = stripped.read_bytes()
        files.update(headers_and_cmake_package(folder))
        files.update(manuals(command, folder, f"aton_onnx-{version}.data/data"))
    files[f"{info}/licenses/LICENSE"] = (REPOSITORY / "LICENSE").read_bytes()
    for name, path in (each.split("=", 1) for each in options.license):
        files[f"{info}/licenses/{name}"] = pathlib.Path(path).read_bytes()
    files[f"{info}/METADATA"] = f"""Metadata-Version: 2.1
Name: aton-onnx
Version: {version}
Summary: PyTorch models to ONNX with a command that needs no Python, and its Python interface
License: MIT
Requires-Python: >=3.10
Description-Content-Type: text/markdown

{(REPOSITORY / "docs" / "python.md").read_text()}""".encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: aton\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\naton = aton_onnx.__main__:main\n"
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
              for name, data in sorted(files.items())]
    files[f"{info}/RECORD"] = ("".join(record) + f"{info}/RECORD,,\n").encode()

    options.dist.mkdir(parents=True, exist_ok=True)
    wheel = options.dist / f"aton_onnx-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(files, key=lambda each: (each.startswith(info), each == f"{info}/RECORD", each)):
            member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = (0o100755 if name.startswith("aton_onnx/bin/") else 0o100644) << 16
            archive.writestr(member, files[name])
    size = wheel.stat().st_size
    if "manylinux" in tag and size > WHEEL_LIMIT:
        wheel.unlink()
        sys.exit(f"{wheel}: has {size:,} bytes, more than {WHEEL_LIMIT:,}")
    sizes = ", ".join(f"{name} {len(files[f'aton_onnx/{name}']) / 1e6:.2f} MB" for name in programs)
    print(f"{wheel}: {size / 1e6:.2f} MB, {sizes}")


if __name__ == "__main__":
    main()
