# SPDX-License-Identifier: MIT
"""Makes the wheel of tools/wheel.sh and tests it as wheel_test.py tests that of a build. Its command needs glibc 2.28 and nothing else.

usage: wheel_manylinux_test.py ATON COMPILER [WHEEL]

Without a wheel, tools/wheel.sh makes one, which takes minutes. As root, the command also runs in a folder that has only glibc. Skipped on other
machines than x86-64.
"""

import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import zipfile

import readme_commands
import wheel_test
from wheel_test import REPOSITORY, demand, run

SKIPPED = 77


def check_alone(folder):
    """The command runs where there is no file but it, its input and glibc."""
    libraries = re.findall(r"(/\S+) \(0x", run("ldd", folder / "aton"))
    names = {pathlib.Path(each).name for each in libraries}
    demand(names <= {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}, f"it needs {names}")
    for each in libraries:
        copy = folder / each.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(each), copy)
    shutil.copy(readme_commands.SAMPLE, folder / "model.pt2")
    (folder / "proc").mkdir()
    for arguments in ("export model.pt2 --verify", "view model.pt2 --verify", "verify model.pt2 model.onnx", "check model.onnx"):
        run("chroot", folder, "/aton", *arguments.split())
    print("the command runs with glibc alone")


def check_variants(program):
    """The command has the kernels of every instruction set, and finds out which of them the CPU has."""
    flags = set(re.search(r"^flags\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1].split())
    variants = {"baseline": set(), "avx2": {"avx2", "fma"}, "avx512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"}}
    for variant, needs in variants.items():
        if needs <= flags:
            run("env", f"ATON_CPU_VARIANT={variant}", program, "verify", "--only", "aten::mm", "--samples", "1")
    said = run("env", "ATON_CPU_VARIANT=none", program, "verify", "--only", "aten::mm", fails=True)
    has = [each for each, needs in variants.items() if needs <= flags]
    demand(f"not one of {', '.join(has)}\n" in said, f"the CPU has kernels for {has}, but: {said}")


def main(aton, compiler, wheel=None):
    if platform.machine() != "x86_64":
        print("skipped: this is not x86-64")
        return SKIPPED
    if wheel is None:
        printed = run("bash", REPOSITORY / "tools" / "wheel.sh")
        wheel = re.search(r"^(dist/\S+\.whl): ", printed, re.MULTILINE)[1]
    wheel = REPOSITORY / wheel
    demand(re.search(r"-py3-none-manylinux_2_28_x86_64\.whl$", wheel.name), f"the wheel is named {wheel.name}")
    demand(wheel.stat().st_size <= 12_000_000, f"the wheel has {wheel.stat().st_size:,} bytes")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with zipfile.ZipFile(wheel) as archive:
            (folder / "aton").write_bytes(archive.read("aton_onnx/bin/aton"))
        (folder / "aton").chmod(0o755)
        check_variants(folder / "aton")
        if os.geteuid() == 0:
            check_alone(folder)
    wheel_test.main(aton, compiler, wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
