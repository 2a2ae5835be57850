# SPDX-License-Identifier: MIT
"""Uses Aton from another project, in one of the ways of docs/install.md, and runs the resulting program.

Usage: consume.py WAY --work FOLDER [--compiler g++] [--cmake cmake] [--build FOLDER]
WAY: command_line, find_package, add_subdirectory, fetch_content, exporter, torch, conan, vcpkg, vcpkg_exporter.
FOLDER is emptied first. --build: the build of Aton whose compiled libraries `exporter`, `torch` and `vcpkg_exporter` use.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
HERE = REPOSITORY / "tests" / "packaging"
PRINTED = "%3 : Float(2, batch) = onnx::Mul(%1, %2)   # my_ops::scaled_elu"
HEADERS_ALONE = ["-DATON_BUILD_TOOLS=OFF", "-DATON_BUILD_TESTS=OFF"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
SAMPLE = REPOSITORY / "tests" / "data" / "pt2" / "linear_relu_dynbatch.pt2"
SKIPPED = 77


def run(*command, fails=False, **options):
    """The command's stdout and stderr; it must succeed, or fail if `fails` is set."""
    command = [str(part) for part in command]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if (result.returncode != 0) != fails:
        sys.exit(f"{' '.join(command)}\n{result.stdout[-6000:]}\nexit status {result.returncode}")
    return result.stdout


def demand(condition, sentence):
    if not condition:
        sys.exit(sentence)


def demand_printed(output):
    demand(PRINTED in output, f"the program did not print the expected graph:\n{output}")


def version():
    """The version of the project."""
    return re.search(r"^project\(aton VERSION ([0-9.]+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.MULTILINE)[1]


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


class Way:
    """The folders and programs of one run, and the steps that several ways share."""

    def __init__(self, options):
        self.work = options.work
        self.compiler = options.compiler
        self.cmake = options.cmake
        self.build = options.build
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def configure(self, source, build, *definitions, fails=False):
        ninja = ["-G", "Ninja"] if shutil.which("ninja") else []
        return run(self.cmake, *ninja, "-S", source, "-B", build, f"-DCMAKE_CXX_COMPILER={self.compiler}", *definitions,
                   fails=fails)

    def build_in_repository(self):
        """A folder for a build of Aton itself, next to the other builds, so that ccache can reuse their objects."""
        return REPOSITORY / "build" / f"packaging-{os.getpid()}"

    def onnx_package(self):
        """The CMake package of an installed ONNX: the one that the build found, or one made from the library that it compiled."""
        cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (self.build / "CMakeCache.txt").read_text(), re.MULTILINE))
        if (pathlib.Path(cache["ONNX_DIR"]) / "ONNXConfig.cmake").exists():
            return cache["ONNX_DIR"]
        folder = self.work / "onnx"
        folder.mkdir()
        includes = f"{self.build / 'onnx_generated'};{cache['ATON_ONNX_SOURCE_DIR']}"
        (folder / "ONNXConfig.cmake").write_text(f"""include(CMakeFindDependencyMacro)
find_dependency(Protobuf)
find_dependency(Threads)
if(NOT TARGET onnx)
    add_library(onnx STATIC IMPORTED)
    set_target_properties(onnx PROPERTIES
        IMPORTED_LOCATION "{self.build / 'libaton_onnx.a'}"
        INTERFACE_COMPILE_DEFINITIONS "ONNX_ML=1;ONNX_NAMESPACE=onnx"
        INTERFACE_INCLUDE_DIRECTORIES "{includes}"
        INTERFACE_LINK_LIBRARIES "protobuf::libprotobuf;Threads::Threads")
endif()
""")
        (folder / "ONNXConfigVersion.cmake").write_text('set(PACKAGE_VERSION 1.23.2)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n')
        return folder

    def build_foreign(self, project, *definitions):
        """Builds a project of this folder; returns the path of its program."""
        build = self.work / "foreign"
        warnings = " ".join(WARNINGS)
        self.configure(HERE / project, build, f"-DCMAKE_CXX_FLAGS={warnings}", *definitions)
        run(self.cmake, "--build", build, "--parallel", "2")
        return build / "foreign"

    def moved_installation(self, build):
        """Installs a build, moves the installation, as packages are moved, and returns the new folder."""
        first, second = self.work / "installed", self.work / "moved"
        run(self.cmake, "--install", build, "--prefix", first)
        first.rename(second)
        self.demand_no_paths(second, first, REPOSITORY, build)
        return second

    def demand_no_paths(self, prefix, *folders):
        for path in prefix.rglob("*"):
            if path.suffix in (".cmake", ".hpp", ".inc") or path.name in ("usage", "copyright"):
                for folder in folders:
                    named = re.search(r"(?:-[IL]|(?<![\w.}/-]))" + re.escape(str(folder)) + r"(?![\w.-])", path.read_text())
                    demand(not named, f"{path} contains the path {folder}, which a user does not have")

    def demand_headers_alone(self, prefix, package="lib/cmake/aton", programs=()):
        installed = files_below(prefix)
        for name in ("include/aton/aton.hpp", "include/aton/mappings.hpp", "include/aton/onnx/generated/attributes.inc",
                     f"{package}/atonConfig.cmake", f"{package}/atonConfigVersion.cmake"):
            demand(name in installed, f"{name} is not installed; installed are:\n" + "\n".join(installed))
        for name in set(installed) - set(programs):
            demand(not re.match(r"include/aton/(model_io|program|frontend|passes|exporter|runtime|verify)/|include/aton/torch|bin/|.*\.a$|.*clang-format", name),
                   f"{name} is installed without the exporter")


def command_line(way):
    """Copies the headers and calls a compiler."""
    shutil.copytree(REPOSITORY / "single_include", way.work / "headers")
    shutil.copy(HERE / "main.cpp", way.work / "main.cpp")
    run(way.compiler, "-std=c++20", *WARNINGS, "-I", "headers", "main.cpp", "-o", "foreign", cwd=way.work)
    demand_printed(run(way.work / "foreign"))


def find_package(way):
    """Uses a moved installation; then makes requests that it must refuse, each with its message."""
    build = way.work / "aton"
    way.configure(REPOSITORY, build, *HEADERS_ALONE)
    prefix = way.moved_installation(build)
    way.demand_headers_alone(prefix)
    there = f"-DCMAKE_PREFIX_PATH={prefix}"
    demand_printed(run(way.build_foreign("find_package", there)))

    refused = {
        "-DCOMPONENTS=runtime": "component 'runtime' is not part of this installation, which has: dsl",
        "-DCOMPONENTS=dsl;exporter": "component 'exporter' is not part of this installation, which has: dsl",
        "-DCOMPONENTS=exportr": "there is no component 'exportr'; components are: dsl, mappings, exporter, runtime, verify, torch, tool, c",
        "-DVERSION=0.0.9": f"version: {version()}",
        "-DVERSION=0.3": f"version: {version()}",
    }
    for number, (request, sentence) in enumerate(refused.items()):
        output = way.configure(HERE / "find_package", way.work / f"refused{number}", there, request, fails=True)
        demand(sentence in " ".join(output.split()), f"{request}: '{sentence}' is missing from the output:\n{output}")
    for number, request in enumerate(["-DVERSION=0.2", "-DCOMPONENTS=dsl", "-DOPTIONAL_COMPONENTS=runtime"]):
        way.configure(HERE / "find_package", way.work / f"accepted{number}", there, request)


def demand_nothing_of_aton(way, build):
    """A project with Aton as a subdirectory builds and installs only its own targets."""
    prefix = way.work / "installed"
    run(way.cmake, "--install", build, "--prefix", prefix)
    demand(files_below(prefix) == ["bin/foreign"], f"more than the project's program is installed: {files_below(prefix)}")
    cache = (build / "CMakeCache.txt").read_text()
    demand("Protobuf" not in cache and "doctest" not in cache, "the headers alone search for protobuf or doctest")


def add_subdirectory(way):
    program = way.build_foreign("add_subdirectory", f"-DATON_FOLDER={REPOSITORY}")
    demand_printed(run(program))
    demand_nothing_of_aton(way, way.work / "foreign")
    # With ATON_INSTALL both are installed, and other projects find Aton there.
    prefix = way.work / "both"
    run(way.cmake, "-DATON_INSTALL=ON", way.work / "foreign")
    run(way.cmake, "--install", way.work / "foreign", "--prefix", prefix)
    way.demand_headers_alone(prefix, programs=["bin/foreign"])
    way.configure(HERE / "find_package", way.work / "second", f"-DCMAKE_PREFIX_PATH={prefix}")


def fetch_content(way):
    program = way.build_foreign("fetch_content", f"-DFETCHCONTENT_SOURCE_DIR_ATON={REPOSITORY}")
    demand_printed(run(program))
    demand_nothing_of_aton(way, way.work / "foreign")


def demand_export(way, prefix, tool, *definitions):
    """A program exports a sample with the library in `prefix`: the same bytes as from the installed command, whose checker accepts
    them."""
    program = way.build_foreign("exporter", f"-DCMAKE_PREFIX_PATH={prefix}", *definitions)
    demand((way.work / "foreign" / "tool.txt").read_text() == str(prefix / tool), "aton::tool is not the installed command")
    by_library, by_command = way.work / "library.onnx", way.work / "command.onnx"
    report = run(program, SAMPLE, by_library)
    demand(report == "2 nodes, 2 weights\n", f"the library reports '{report}'")
    run(prefix / tool, "export", SAMPLE, "-o", by_command)
    run(prefix / tool, "check", by_library)
    demand(by_library.read_bytes() == by_command.read_bytes(), "library and command write different files")
    plugin = way.work / "foreign" / "libforeign_plugin.so"
    listed = run(prefix / tool, "ops", "--plugin", plugin)
    demand("foreign_ops::twice" in listed, f"the installed command does not list the row of a plugin:\n{listed[-2000:]}")
    error = run(program, way.work / "missing.pt2", by_library, fails=True)
    demand("missing.pt2" in error, f"the error does not name the missing file: '{error}'")


def exporter(way):
    """Installs and moves an existing build."""
    prefix = way.moved_installation(way.build)
    demand_export(way, prefix, "bin/aton", "-DVERIFY=ON")
    run(way.work / "foreign" / "foreign_rows")
    # The linked ONNX library is private: the package has none of its definitions or include folders.
    targets = (prefix / "lib/cmake/aton/aton-exporter-targets.cmake").read_text()
    demand("ONNX_ML" not in targets and "onnx_generated" not in targets, "the installed package exposes ONNX's definitions")
    # As a subdirectory it has the same name, and adds neither tests nor examples.
    subfolder = way.work / "subfolder"
    way.configure(HERE / "add_subdirectory", subfolder, f"-DATON_FOLDER={REPOSITORY}", "-DATON_BUILD_EXPORTER=ON",
                  "-DLIBRARIES=aton::exporter", f"-DONNX_DIR={way.onnx_package()}")
    demand("aton_exporter" in run(way.cmake, "--build", subfolder, "--target", "help"), "the exporter is not a target of the project")
    demand("doctest" not in (subfolder / "CMakeCache.txt").read_text(), "the exporter as a subdirectory adds tests")


def torch(way):
    """Installs and moves an existing build, and exports a module of libtorch with it."""
    prefix = way.moved_installation(way.build)
    cache = dict(re.findall(r"^(\w+):\w+=(.*)$", (way.build / "CMakeCache.txt").read_text(), re.MULTILINE))
    program = way.build_foreign("torch", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DTorch_DIR={cache['Torch_DIR']}")
    report = run(program, way.work / "linear.onnx")
    demand(report == "2 nodes, 2 weights\n", f"the library reports '{report}'")
    run(prefix / "bin/aton", "check", way.work / "linear.onnx")


def conan(way):
    """conan create with the system's Boost and no remote; builds and runs test_package."""
    program = pathlib.Path(sys.executable).parent / "conan"
    if not program.exists():
        print(f"skipped: {program} is missing (tests/requirements.txt lists it)")
        return SKIPPED
    environment = os.environ | {"CONAN_HOME": str(way.work / "conan"), "CXX": way.compiler}
    run(program, "profile", "detect", env=environment)
    profile = way.work / "profile"
    profile.write_text("include(default)\n[settings]\ncompiler.cppstd=20\nbuild_type=Release\n[platform_requires]\n"
                       "boost/1.74.0\nprotobuf/3.21.12\nsimdjson/3.0.1\nonnx/1.23.2\ncli11/2.1.2\neigen/3.4.0\n"
                       f"[conf]\ntools.cmake.cmake_layout:test_folder={way.work / 'test_package'}\n")
    both = ["--profile:all", profile, "--no-remote"]
    demand_printed(run(program, "create", REPOSITORY, *both, "--build=missing", env=environment))
    # The headers suit every build: the same package serves another build type.
    run(program, "install", f"--requires=aton/{version()}", *both, "-s", "build_type=Debug", "-of", way.work / "debug",
        env=environment)
    # The exporter's requirements are consistent; `vcpkg_exporter` builds it against packages.
    for option in ("exporter", "verify"):
        run(program, "graph", "info", REPOSITORY, *both, "-o", f"aton/*:{option}=True", env=environment)
    return 0


def demand_port_is_consistent(port):
    """The manifest agrees with the project and the portfile."""
    manifest = json.loads((port / "vcpkg.json").read_text())
    demand(manifest["name"] == "aton" and manifest["version"] == version() and manifest["license"] == "MIT",
           "vcpkg.json: name, version or license differs from the project's")
    portfile = (port / "portfile.cmake").read_text()
    passed = re.search(r"FEATURES\n((?:\s+\w+ ATON_\w+)+)\)", portfile)[1].split()
    demand(sorted(passed[::2]) == sorted(manifest["features"]), f"the features of vcpkg.json differ from the portfile's: {passed}")
    options = re.findall(r"^option\((ATON_\w+)", (REPOSITORY / "CMakeLists.txt").read_text(), re.MULTILINE)
    demand(set(passed[1::2]) <= set(options), f"the portfile sets options that CMakeLists.txt does not have: {passed}")
    for holder in (manifest, *manifest["features"].values()):
        names = [each if isinstance(each, str) else each["name"] for each in holder["dependencies"]]
        demand(len(set(names)) == len(names) and holder["description"], f"vcpkg.json: a duplicate dependency, or no description: {names}")


def run_port(way, features, *options):
    """Runs the port's steps, moves the resulting package, and checks vcpkg's rules for packages; returns its folder."""
    port = REPOSITORY / "packaging" / "vcpkg" / "ports" / "aton"
    demand_port_is_consistent(port)
    build, first, prefix = way.build_in_repository(), way.work / "packages", way.work / "moved"
    options = [f"-DCMAKE_CXX_COMPILER={way.compiler}", *options]
    try:
        run(way.cmake, f"-DPORT_FOLDER={port}", f"-DPACKAGES={first}", f"-DBUILD={build}", f"-DFEATURES={';'.join(features)}",
            f"-DOPTIONS={';'.join(options)}", "-P", HERE / "vcpkg_stand_in.cmake")
    finally:
        shutil.rmtree(build, ignore_errors=True)
    first.rename(prefix)
    way.demand_no_paths(prefix, first, REPOSITORY, build)
    installed = files_below(prefix)
    for name in ("share/aton/copyright", "share/aton/usage", "share/aton/atonConfig.cmake"):
        demand(name in installed, f"{name} is not in the package: {installed}")
    for name in installed:
        demand(not re.match(r"debug/|bin/|lib/cmake/|share/(?!aton/)|include/(?!aton/)", name), f"{name} is not allowed in a package")
    for path in prefix.rglob("*"):
        demand(not path.is_dir() or any(path.iterdir()), f"{path} is empty")
    return prefix


def vcpkg(way):
    """The port without features."""
    prefix = run_port(way, [])
    way.demand_headers_alone(prefix, "share/aton")
    demand(not (prefix / "lib").exists(), "the package with headers only has a folder lib")
    demand_printed(run(way.build_foreign("find_package", f"-DCMAKE_PREFIX_PATH={prefix}")))


def vcpkg_exporter(way):
    """The port with the exporter and the command, against an ONNX that find_package finds. Without optimization and several sources at a time, which
    takes a third of the time; the presets `dev`, `asan` and `clang` compile each source alone, as a user of the port does."""
    onnx = way.onnx_package()
    prefix = run_port(way, ["exporter", "tool"], f"-DONNX_DIR={onnx}", "-DATON_UNITY_BUILD=ON", "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DNDEBUG")
    demand(not (prefix / "lib" / "libaton_onnx.a").exists(), "Aton's own ONNX is installed in addition to the one that was found")
    demand_export(way, prefix, "tools/aton/aton", f"-DONNX_DIR={onnx}")


WAYS = {way.__name__: way for way in (
    command_line, find_package, add_subdirectory, fetch_content, exporter, torch, conan, vcpkg, vcpkg_exporter)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--work", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve())
    options = parser.parse_args()
    return WAYS[options.way](Way(options)) or 0


if __name__ == "__main__":
    sys.exit(main())
