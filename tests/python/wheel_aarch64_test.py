# SPDX-License-Identifier: MIT
"""Cross-compiles the wheel for aarch64, and runs its command under qemu: it writes the same graphs as the command of this build.

usage: wheel_aarch64_test.py ATON [WHEEL]

Without a wheel, tools/wheel.sh makes one, which takes minutes. Skipped without g++-12-aarch64-linux-gnu and qemu-user-static. What auditwheel
checks is left out, with a line that says so, where it is not installed.
"""

import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from wheel_test import DATA, REPOSITORY, demand, run

RUNNER = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"]
SKIPPED = 77


def result_of(*command):
    """The exit status of a command, and what it prints."""
    result = subprocess.run([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return result.returncode, result.stdout


def graph_of(aton, model):
    """The lines of a graph, sorted and without the numbers of unnamed values: compilers evaluate arguments, which may make constants, in
    orders that depend on the architecture."""
    return sorted(re.sub(r"%\d+\b", "%", line) for line in run(aton, "print", model).splitlines())


def check_exports(aton, other, folder):
    """Every sample becomes the same graph, in most cases the same bytes, or is refused with the same words."""
    same = 0
    samples = sorted((DATA / "pt2").glob("*.pt2"))
    for sample in samples:
        ours, theirs = folder / "ours.onnx", folder / "theirs.onnx"
        results = result_of(aton, "export", "-q", sample, "-o", ours), result_of(*RUNNER, other, "export", "-q", sample, "-o", theirs)
        demand(results[0] == results[1], f"{sample.name}: {results[0]} is not {results[1]}")
        if results[0][0] == 0:
            demand(graph_of(aton, ours) == graph_of(aton, theirs), f"{sample.name}: the graphs differ")
            run(*RUNNER, other, "check", theirs)
            same += ours.read_bytes() == theirs.read_bytes()
    demand(same >= len(samples) // 2, f"only {same} of {len(samples)} files have the same bytes")
    print(f"{len(samples)} programs have the same graphs on aarch64, {same} of them the same bytes")


def main(aton, wheel=None):
    missing = [each for each in ("aarch64-linux-gnu-g++-12", RUNNER[0]) if not shutil.which(each)]
    if missing or platform.machine() != "x86_64":
        print(f"skipped: {', '.join(missing) or 'a cross compiler'} is missing, or this is not x86-64")
        return SKIPPED
    if wheel is None:
        printed = run("bash", REPOSITORY / "tools" / "wheel.sh", "--arch", "aarch64")
        wheel = re.search(r"^(dist/\S+\.whl): ", printed, re.MULTILINE)[1]
    wheel = REPOSITORY / wheel
    demand(re.search(r"-py3-none-manylinux_2_\d+_aarch64\.whl$", wheel.name), f"the wheel is named {wheel.name}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
        other = folder / "aton_onnx" / "bin" / "aton"
        other.chmod(0o755)
        demand(run(*RUNNER, other, "--version") == run(aton, "--version"), "the version differs")
        check_exports(aton, other, folder)
    if auditwheel := shutil.which("auditwheel"):
        verdict = run(auditwheel, "show", wheel)
        demand("manylinux_2_" in verdict, verdict)
    else:
        print("auditwheel is not installed: what it checks is left out")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
