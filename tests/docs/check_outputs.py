#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares every output in the documentation with what is printed, checks shell, CMake and data blocks against the repository, and rejects
blocks that no check covers. documents.py describes the comments before blocks; check_snippets.py checks the C++.

    check_outputs.py --aton build/release/aton --examples build/release [FILE.md ...]
"""
import argparse
import ast
import concurrent.futures
import configparser
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib

import documents
from documents import ROOT

# Programs outside the repository that a shell block may use.
OTHERS = {"cd", "mkdir", "cp", "cat", "ls", "export", "git", "g++", "clang++", "c++", "nvcc", "pip", "conan", "vcpkg", "ccache", "sudo", "apt", "cpack"}


def cmake_text():
    """The text of all CMake files."""
    files = [ROOT / "CMakeLists.txt", *(ROOT / "cmake").rglob("*")]
    for folder in ("src", "tools", "tests", "examples", "benchmarks", "packaging"):
        files += (ROOT / folder).rglob("CMakeLists.txt")
    return "\n".join(path.read_text(encoding="utf-8") for path in files if path.is_file())


class Shell:
    """Checks that what commands name exists: programs, options, files, presets, targets, tests."""

    def __init__(self, aton):
        self.aton = aton
        self.help = {}
        self.cmake = cmake_text()
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        self.presets = {p["name"] for p in presets["configurePresets"] if not p.get("hidden")}
        self.folders = {p.name for p in ROOT.iterdir() if p.is_dir()} - {"build", "dist"}  # what is built is not in there

    def help_of(self, *subcommand):
        if subcommand not in self.help:
            run = subprocess.run([self.aton, *subcommand, "--help"], capture_output=True, text=True, timeout=60)
            self.help[subcommand] = run.stdout if run.returncode == 0 else ""
        return self.help[subcommand]

    def check(self, lines):
        """The problems in the lines of a shell block, each with its offset."""
        problems, end, text, start = [], None, "", 0
        for offset, line in enumerate(lines):
            if end is not None:
                end = None if line.strip() == end else end
                continue
            text, start = (text + line.rstrip("\\"), start) if text else (line.rstrip("\\"), offset)
            if line.endswith("\\"):
                continue
            here = re.search(r"<<-?\s*'?(\w+)'?", text)
            end = here.group(1) if here else None
            for command in re.split(r" && | \|\| | \| |; ", re.sub(r"(^|\s)#.*|<<-?\s*'?\w+'?", "", text)):
                problems += [(start, p) for p in self.check_command(command)]
            text = ""
        return problems

    def check_command(self, command):
        words = [word.strip("[]()") for word in shlex.split(command)]
        words = [word for word in words if word not in ("", "...", "if", "then", "fi")]
        found = []
        while words and re.match(r"\w+=", words[0]):
            name = words.pop(0).split("=")[0]
            if name.startswith("ATON_") and name not in self.cmake and not self.scripts_name(name):
                found.append(f"nothing in the repository reads {name}")
        if words and words[0] in ("bash", "sh", ".", "source", "python", "python3", "nice"):
            words.pop(0)
        if not words or words[0].startswith("$"):
            return found
        program, rest = words[0], words[1:]
        for word in rest + [program]:
            path = word.split("=")[-1].removeprefix("./")
            if "/" in path and path.split("/")[0] in self.folders and not (ROOT / path).exists():
                found.append(f"no such file: {path}")
        options = [word.split("=")[0] for word in rest if re.match(r"--?[a-zA-Z]", word)]
        if pathlib.PurePath(program).name == "aton":
            return found + self.check_aton(rest, options)
        if program == "cmake" or program == "ctest":
            return found + self.check_cmake(rest)
        if (ROOT / program).is_file():
            text = (ROOT / program).read_text(encoding="utf-8", errors="replace")
            return found + [f"{program} has no option {o}" for o in options if o not in text and o != "--help"]
        if program in OTHERS or program.startswith(("./", "build/")):
            return found
        return found + [f"unknown program {program}"]

    def check_aton(self, rest, options):
        subcommand = [rest[0]] if rest and not rest[0].startswith("-") else []
        if subcommand and not re.search(rf"^  {re.escape(subcommand[0])} ", self.help_of(), re.MULTILINE):
            return [f"aton has no command {' '.join(subcommand)}"]
        known = set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", self.help_of(*subcommand))) | {"--help"}
        return [f"aton {' '.join(subcommand)} has no option {o}" for o in options if o not in known]

    def check_cmake(self, rest):
        found = []
        for option, value in zip(rest, rest[1:] + [""]):
            if option == "--preset" and value not in self.presets:
                found.append(f"no preset {value}")
            if option == "--target" and not re.search(rf"\b{re.escape(value)}\b", self.cmake):
                found.append(f"no target {value}")
            if option == "-R" and not any(re.search(value, name) for name in re.findall(r"_test\((\w+)", self.cmake)):
                found.append(f"no test {value}")
            name = re.match(r"-D(ATON_\w+)", option)
            if name and name.group(1) not in self.cmake:
                found.append(f"no option {name.group(1)}")
        return found

    @staticmethod
    def scripts_name(name):
        return any(name in path.read_text(encoding="utf-8") for path in (ROOT / "tools").glob("*.sh"))


class Sessions:
    """The folder in which the sessions of one document run in order."""

    def __init__(self, aton):
        self.aton = pathlib.Path(aton).resolve()
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "aton").symlink_to(ROOT)
        bin_folder = self.path / ".bin"
        bin_folder.mkdir()
        (bin_folder / "aton").symlink_to(self.aton)
        for python in ("python", "python3"):  # the Python of the tests, which has ONNX Runtime
            (bin_folder / python).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
            (bin_folder / python).chmod(0o755)
        python = bin_folder / "python"  # the Python of the tests, with its packages
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        python.chmod(0o755)

    def give(self, name, text):
        (self.path / name).write_text(text, encoding="utf-8")

    def run(self, command):
        environment = {"PATH": f"{self.path}/.bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.path), "LC_ALL": "C.UTF-8"}
        run = subprocess.run(["bash", "-c", command], cwd=self.path, env=environment, text=True, timeout=300,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return run.stdout.split("\n")

    def check(self, block):
        """Runs the block's commands; returns the first difference, or ''."""
        for file in block.marker[1].split():
            if not (ROOT / file).is_file():
                return f"no such file: {file}"
            shutil.copy(ROOT / file, self.path)
        command, quoted, steps = None, [], []
        for line in block.lines:
            if command is not None and command.endswith("\\"):
                command = command[:-1] + line
            elif line.startswith("$ "):
                steps.append((command, quoted))
                command, quoted = line[2:], []
            else:
                quoted.append(line)
        steps.append((command, quoted))
        if steps[0][1] or steps[0][0] is not None:
            return "a session must start with a line `$ command`"
        for command, quoted in steps[1:]:
            differs = documents.difference(quoted, self.run(command))
            if differs:
                return f"$ {command}\n{differs}"
        return ""


def check_cmake_block(text, known):
    """Problems of CMake code that uses Aton: unbalanced parentheses, unknown targets and functions of Aton."""
    found = [] if text.count("(") == text.count(")") else ["unbalanced parentheses"]
    found += [f"no target {t}" for t in sorted(set(re.findall(r"\baton::\w+", text))) if not re.search(rf"{t}\b|EXPORT_NAME {t[6:]}\b", known)]
    return found + [f"no function {f}" for f in sorted(set(re.findall(r"\b(aton_\w+)\s*\(", text))) if not re.search(rf"(function|macro)\({f}\b", known)]


def parse(language, text):
    """Raises if the text does not parse as the language."""
    if language == "python":
        ast.parse(text)
    elif language == "json":
        json.loads(text)
    elif language == "toml":
        tomllib.loads(text)
    else:
        text = re.sub(r"^include\(\w+\)$", "", text, flags=re.MULTILINE)  # of a Conan profile
        configparser.ConfigParser(allow_no_value=True).read_string(text)


def check(path, arguments, shell):
    """The problems of a document, and the number of checked blocks."""
    blocks = documents.read_blocks(path)
    problems = documents.hidden_blocks(path)
    sessions = Sessions(arguments.aton)
    for number, line in documents.prose(path):
        for command in re.findall(r"`(aton [a-z][^`]*)`", line):
            problems += [f"{path.name}:{number}: {p}" for p in shell.check_command(command)]
    for block in blocks:
        kind, text, found = block.kind(), "\n".join(block.lines), []
        file = re.search(r"\bfile=([\w.]+)", block.info)
        if file:
            sessions.give(file.group(1), text + "\n")
        if kind == "":
            found = [f"no check covers this block (```{block.info}); see tests/docs/documents.py for the comment to put before it"]
        elif kind == "session":
            found = [sessions.check(block)]
        elif kind == "run":
            found = [documents.difference(block.lines, sessions.run(block.marker[1]))]
        elif kind == "excerpt":
            source = ROOT / block.marker[1]
            found = [documents.is_excerpt(block.lines, source.read_text(encoding="utf-8")) if source.is_file() else f"no such file: {block.marker[1]}"]
        elif kind == "example":
            program = pathlib.Path(arguments.examples, block.marker[1])
            if program.is_file():
                run = subprocess.run([program], capture_output=True, text=True, timeout=60)
                found = [documents.difference(block.lines, run.stdout.split("\n"))]
            else:
                found = [f"no example {block.marker[1]} in {arguments.examples}"]
        elif kind == "shell":
            problems += [f"{path.name}:{block.first + offset}: {p}" for offset, p in shell.check(block.lines)]
        elif kind == "cmake":
            found = check_cmake_block(text, shell.cmake)
        elif kind in documents.DATA:
            try:
                parse(kind, text)
            except (ValueError, SyntaxError, configparser.Error) as e:
                found = [f"not {kind}: {e}"]
        problems += [f"{block.place()}: {p}" for p in found if p]
    return problems, [b.kind() for b in blocks]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--aton", required=True, type=pathlib.Path)
    parser.add_argument("--examples", required=True, type=pathlib.Path, help="the folder of the example programs")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    shell = Shell(arguments.aton.resolve())
    problems, kinds = [], []
    paths = [path for path in arguments.files or documents.documents() if path.name not in documents.GENERATED]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found, seen in pool.map(lambda path: check(path, arguments, shell), paths):
            problems += found
            kinds += seen
    print("\n".join(problems), end="\n" if problems else "")
    count = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    print(f"{len(kinds)} blocks: " + ", ".join(f"{n} {kind or 'unknown'}" for kind, n in count.items()) + f"; {len(problems)} problems")
    sys.exit(1 if problems or not kinds else 0)


if __name__ == "__main__":
    main()
