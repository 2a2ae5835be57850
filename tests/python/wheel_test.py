# SPDX-License-Identifier: MIT
"""Makes a wheel of a built command, installs it in a fresh environment without torch, runs the commands of README.md, exports, and builds and
loads a plugin.

usage: wheel_test.py ATON COMPILER [LIBRARY]

With LIBRARY, libaton.so, ATON is aton-launcher.

The command of a build needs the protobuf of its system, so this wheel is named linux, not manylinux; tools/wheel.sh makes those.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

import readme_commands

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "tests" / "data"
PLUGIN = """#include <aton/aton.hpp>
#include <aton/plugin.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(symbolic<"custom_ops::foo_forward(Tensor x, Tensor y, float a, int b) -> Tensor">(
    [](graph<13> g, value x, value y, double a, std::int64_t b) -> value {
        if (REFUSED) return g.unsupported("b above 2");
        return g.op<"Add">(g.op<"Mul">(x, a), g.op<"Mul">(y, b));
    }));
ATON_PLUGIN(rows)
"""


def run(*command, fails=False, **options):
    """What the command prints; it must succeed, or fail if `fails` is set."""
    environment = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "ATON_COMMAND")}
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=environment, **options)
    if (result.returncode != 0) != fails:
        sys.exit(f"{command}\n{result.stdout}\nexit status {result.returncode}")
    return result.stdout


def demand(condition, sentence):
    if not condition:
        sys.exit(sentence)


def check_readme(venv, folder):
    """Every command of README.md runs in an environment that has nothing but the wheel and the system's own programs."""
    folder.mkdir()
    start = time.monotonic()
    try:
        count = readme_commands.check(venv / "bin" / "aton", folder, {"PATH": f"{venv / 'bin'}"})
    except AssertionError as fault:
        sys.exit(str(fault))
    print(f"{count} commands of README.md ran in {time.monotonic() - start:.1f} s")


def main(aton, compiler, wheel=None, library=None):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if wheel is None:
            packed = ["--aton", aton, *(["--library", library] if library else [])]
            printed = run(sys.executable, REPOSITORY / "tools" / "make_wheel.py", *packed, "--dist", folder / "dist")
            wheel = next((folder / "dist").iterdir())
            others = re.search(r" and ((?!no other).*)", printed)
            demand(("-linux_" in wheel.name) == (others is not None), f"{wheel.name} is not what the program needs: {printed}")
            run(sys.executable, REPOSITORY / "tools" / "make_wheel.py", *packed, "--dist", folder / "old", "--glibc", "2.3", fails=True)
            demand(not (folder / "old").exists(), "a wheel was made for a glibc that is too old")

        start = time.monotonic()
        venv = folder / "venv"
        run(sys.executable, "-m", "venv", venv)
        python = venv / "bin" / "python"
        installing = time.monotonic()
        run(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", wheel)
        exporting = time.monotonic()
        output = folder / "model.onnx"
        script = "import aton_onnx, sys; report = aton_onnx.export(*sys.argv[1:]); print(report.nodes, 'torch' in sys.modules)"
        demand(run(python, "-c", script, DATA / "pt2" / "linear_relu_dynbatch.pt2", output).split() == ["2", "False"],
               "the export differs")
        end = time.monotonic()
        print(f"environment {installing - start:.1f} s, pip install {exporting - installing:.1f} s, export {end - exporting:.2f} s")

        script = "from aton_onnx import _library; print(_library.load() is not None)"
        has_library = any("/lib/libaton.so" in each for each in zipfile.ZipFile(wheel).namelist())
        demand(has_library >= (library is not None), "the wheel does not have the library")
        demand(run(python, "-c", script).strip() == str(has_library), "the package does not run its library")
        check_readme(venv, folder / "readme")
        script = "import aton_onnx, sys; program, output = sys.argv[1:]\n" \
                 "report = aton_onnx.export(program, output, verify=True)\n" \
                 "print(report.verification.passed, aton_onnx.verify(program, output).passed)"
        demand(run(python, "-c", script, DATA / "pt2" / "linear_relu_dynbatch.pt2", output).split() == ["True", "True"],
               "the package does not verify")

        demand(": ok (2 nodes" in run(venv / "bin" / "aton", "check", output), "the model is not what it should be")
        demand("aton_onnx" in run(python, "-c", "import aton_onnx; print(aton_onnx.executable())"), "another command ran")

        include = run(python, "-c", "import aton_onnx; print(aton_onnx.include_dir())").strip()
        source, library = folder / "plugin.cpp", folder / "plugin.so"
        source.write_text(PLUGIN)
        refusing = folder / "refusing.so"
        for path, refused in ((library, "false"), (refusing, "b > 2")):
            run(compiler, "-std=c++20", "-fPIC", "-shared", "-fno-gnu-unique", f"-DREFUSED={refused}", "-I", include, source, "-o", path)
        program = DATA / "plugin" / "custom_op.pt2"
        demand("no mapping" in run(venv / "bin" / "aton", "export", program, "-o", output, fails=True), "there is a mapping already")
        script = "import aton_onnx, sys; program, library, output = sys.argv[1:]\n" \
                 "aton_onnx.export(program, output, plugins=[library]); print(aton_onnx.print_graph(output))"
        demand("onnx::Add" in run(python, "-c", script, program, library, output), "the plugin was not used")

        script = "import aton_onnx, sys\nprint(aton_onnx.unconvertible(sys.argv[1], plugins=[sys.argv[2]])[0].reason)"
        demand("b above 2" in run(python, "-c", script, program, refusing), "the plugin's refusal was lost")

        cmake = run(python, "-c", "import aton_onnx; print(aton_onnx.cmake_dir())").strip()
        project = folder / "project"
        project.mkdir()
        shutil.copy(source, project)
        (project / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(my_ops LANGUAGES CXX)
find_package(aton REQUIRED)
aton_add_plugin(my_ops plugin.cpp)
target_compile_definitions(my_ops PRIVATE REFUSED=false)
""")
        build = folder / "build"
        run("cmake", "-S", project, "-B", build, f"-Daton_DIR={cmake}", f"-DCMAKE_CXX_COMPILER={compiler}")
        run("cmake", "--build", build)
        rows = json.loads(run(venv / "bin" / "aton", "ops", "--format", "json", "--plugin", build / "libmy_ops.so"))
        demand([row["overload"] for row in rows if "plugin" in row] == ["custom_ops::foo_forward"], "the plugin has other rows")


if __name__ == "__main__":
    main(*sys.argv[1:3], library=sys.argv[3] if len(sys.argv) > 3 else None)
