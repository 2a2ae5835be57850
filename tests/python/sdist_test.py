# SPDX-License-Identifier: MIT
"""Makes the source distribution, builds its wheel as pip does, and tests the wheel as wheel_test.py tests that of tools/make_wheel.py.

usage: sdist_test.py ATON COMPILER

Skipped where scikit-build-core (tests/requirements.txt) is missing. The build uses the packages of this Python instead of a fresh
environment, and a folder below build/, so that ccache has its objects.
"""

import importlib.util
import os
import pathlib
import re
import sys
import tarfile
import tempfile
import tomllib
import zipfile

import wheel_test
from wheel_test import REPOSITORY, demand, run

SKIPPED = 77


def names_in(wheel):
    """The files of a wheel, without those of its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}


def check_requirements():
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
    onnx = next(each for each in settings["build-system"]["requires"] if each.startswith("onnx"))
    demand(onnx in (REPOSITORY / "tools" / "requirements.txt").read_text().splitlines(), f"tools/requirements.txt has another {onnx}")


def make_sources(folder):
    """The unpacked source distribution."""
    script = "import scikit_build_core.build as b, sys; print(b.build_sdist(sys.argv[1]))"
    name = run(sys.executable, "-c", script, folder, cwd=REPOSITORY).split()[-1]
    with tarfile.open(folder / name) as archive:
        names = archive.getnames()
        archive.extractall(folder, filter="data")
    strangers = [each for each in names if re.match(r"[^/]+/(tests|benchmarks|build|examples|\.)", each)]
    demand(not strangers, f"{name} has {strangers}")
    return folder / name.removesuffix(".tar.gz")


def make_wheel(sources, compiler, dist):
    onnx = pathlib.Path(importlib.util.find_spec("onnx").submodule_search_locations[0]).parent
    environment = pathlib.Path(sys.prefix)
    if onnx.is_relative_to(environment):  # the same relative path as in a build of the repository
        (sources / "build").mkdir()
        (sources / "build" / "venv").symlink_to(environment)
        onnx = sources / "build" / "venv" / onnx.relative_to(environment)
    os.environ["CXX"] = compiler
    os.environ["ATON_ONNX_SOURCE_DIR"] = str(onnx)
    run(sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "-w", dist,
        "--config-settings", "build-dir=build/release", sources)
    return next(dist.iterdir())


def main(aton, compiler):
    if importlib.util.find_spec("scikit_build_core") is None:
        print("skipped: scikit-build-core is missing (tests/requirements.txt lists it)")
        return SKIPPED
    check_requirements()
    (REPOSITORY / "build").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=REPOSITORY / "build", prefix="sdist-") as name:
        folder = pathlib.Path(name)
        wheel = make_wheel(make_sources(folder), compiler, folder / "dist")
        demand(re.fullmatch(r"aton_onnx-[0-9.]+-py3-none-linux_\w+\.whl", wheel.name), f"the wheel is named {wheel.name}")
        run(sys.executable, REPOSITORY / "tools" / "make_wheel.py", "--aton", aton, "--dist", folder / "other")
        other = next((folder / "other").iterdir())
        # The build of the tests has aton verify in a program of its own.
        differing = {each for each in names_in(wheel) ^ names_in(other) if each != "aton_onnx/bin/aton-verify"}
        demand(not differing, f"wheels differ: {sorted(differing)}")
        wheel_test.main(aton, compiler, wheel)
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
