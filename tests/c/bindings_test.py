# SPDX-License-Identifier: MIT
"""A binding of bindings/ with its own tests, on the models of tests/data. Exits with 77 without the toolchain of its language.

usage: bindings_test.py rust|java LIBRARY

LIBRARY is libaton.so.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "tests" / "data"
LIBRARY = pathlib.Path(sys.argv[2]).resolve()


def run(*command, **variables):
    subprocess.run([str(part) for part in command], check=True, env={**os.environ, **{key: str(value) for key, value in variables.items()}})


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            print(f"skipped: {program} is not installed")
            sys.exit(77)


def test_rust(folder):
    need("cargo")
    crate = folder / "crate"
    shutil.copytree(REPOSITORY / "bindings" / "rust", crate, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
    run("cargo", "test", "--offline", "--quiet", "--manifest-path", crate / "Cargo.toml", CARGO_TARGET_DIR=folder / "target",
        ATON_LIBRARY_FOLDER=LIBRARY.parent, ATON_TEST_DATA=DATA)


def test_java(folder):
    need("javac", "java", "gcc")
    source = REPOSITORY / "bindings" / "java"
    home = pathlib.Path(shutil.which("javac")).resolve().parents[1]
    if not (home / "include" / "jni.h").is_file():
        print(f"skipped: {home} has no jni.h")
        sys.exit(77)
    run("javac", "-Xlint:all", "-Werror", "-encoding", "UTF-8", "-d", folder, *sorted((source / "aton").glob("*.java")), source / "ModelsTest.java")
    run("gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O1", "-fPIC", "-shared", "-I", REPOSITORY / "include",
        "-I", home / "include", "-I", home / "include" / "linux", source / "aton_jni.c", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}",
        "-o", folder / "libaton_jni.so")
    work = folder / "work"
    work.mkdir()
    run(home / "bin" / "java", "-Xcheck:jni", f"-Daton.library.folder={folder}", "-cp", folder, "ModelsTest", DATA, work, LC_ALL="C.UTF-8")


with tempfile.TemporaryDirectory() as name:
    {"rust": test_rust, "java": test_java}[sys.argv[1]](pathlib.Path(name))
