# SPDX-License-Identifier: MIT
"""aton.exe under Wine: it writes the same bytes as the command of this build, and refuses with the same words.

usage: windows_test.py --aton ATON --windows FOLDER

FOLDER has aton.exe, as tools/windows.sh builds it. Skipped without it, without MinGW-w64 or without Wine.
"""

import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "tools"))
from large_archive import write_large  # noqa: E402

SKIPPED = 77
DATA = REPOSITORY / "tests" / "data"
COMPILER = "x86_64-w64-mingw32-g++-posix"
SAMPLE = DATA / "pt2" / "linear_relu_dynbatch.pt2"
# What Windows itself has.
SYSTEM_LIBRARIES = {"kernel32.dll", "msvcrt.dll", "shell32.dll", "advapi32.dll", "user32.dll"}
PLUGIN = """#include <aton/aton.hpp>
#include <aton/plugin.hpp>
using namespace aton::dsl;
inline constexpr auto rows = table(symbolic<"custom_ops::foo_forward(Tensor x, Tensor y, float a, int b) -> Tensor">(
    [](graph<13> g, value x, value y, double a, std::int64_t b) -> value {
        if (b == 0) return g.unsupported("b is 0");
        return g.op<"Add">(g.op<"Mul">(x, a), g.op<"Mul">(y, b));
    }));
ATON_PLUGIN(rows)
"""
options = argparse.Namespace()


def find_wine():
    found = [each for each in (shutil.which("wine64"), "/usr/lib/wine/wine64", shutil.which("wine")) if each and os.access(each, os.X_OK)]
    return found[0] if found else None


def run(*command, cwd=None):
    """The exit status and what is printed on both streams, as bytes."""
    result = subprocess.run([str(each) for each in command], cwd=cwd, capture_output=True, timeout=300)
    return result.returncode, result.stdout, result.stderr


def compile_windows(source, output, *flags):
    subprocess.run([COMPILER, "-std=c++20", *flags, str(source), "-o", str(output), "-static"], check=True)


def names_in(folder):
    return sorted(path.relative_to(folder).as_posix() for path in Path(folder).rglob("*"))


class Windows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.parent = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.parent.name)
        # Wine has a server for each prefix, which ends with its last process.
        os.environ.update(WINEPREFIX=str(cls.folder / "prefix"), WINEDEBUG="-all", WINEDLLOVERRIDES="mscoree,mshtml=")
        cls.exe = options.windows / "aton.exe"
        run(options.wine, cls.exe, "--version")  # makes the prefix
        cls.helper = cls.folder / "helper.exe"
        compile_windows(REPOSITORY / "tests" / "windows" / "helper.cpp", cls.helper)

    @classmethod
    def tearDownClass(cls):
        subprocess.run([str(Path(options.wine).with_name("wineserver")), "-k"], stderr=subprocess.DEVNULL, check=False)
        time.sleep(0.5)
        shutil.rmtree(cls.folder, ignore_errors=True)
        cls.parent.cleanup()

    def linux(self, *arguments, cwd=None):
        return run(options.aton, *arguments, cwd=cwd)

    def windows(self, *arguments, cwd=None):
        status, output, errors = run(options.wine, self.exe, *arguments, cwd=cwd)
        # A service that Wine starts with the first program may fail, and says so here. Had aton.exe failed, the status would tell.
        return status, output, b"".join(line for line in errors.splitlines(True) if not line.startswith(b"wine: "))

    def new_folder(self, name):
        folder = self.folder / name
        folder.mkdir()
        return folder

    def expect_same(self, *arguments, cwd=None):
        ours, theirs = self.linux(*arguments, cwd=cwd), self.windows(*arguments, cwd=cwd)
        self.assertEqual(ours, theirs, arguments)
        return ours

    def test_needs_windows_only(self):
        printed = subprocess.run(["x86_64-w64-mingw32-objdump", "-p", str(self.exe)], capture_output=True, text=True, check=True).stdout
        needed = {each.lower() for each in re.findall(r"DLL Name: (\S+)", printed)}
        self.assertTrue(needed)
        self.assertEqual(needed - SYSTEM_LIBRARIES, set())

    def test_prints_the_same(self):
        for arguments in (["--version"], ["--help"], ["export", "--help"], ["ops", "aten::relu"], ["ops", "--rewrites"],
                          ["print", SAMPLE], ["print", "--format", "json", SAMPLE], ["unconvertible", DATA / "plugin"], ["nothing"]):
            status, printed, _ = self.expect_same(*arguments)
            self.assertNotIn(b"\r", printed)
            self.assertIn(status, (0, 1, 2))

    def test_exports_the_same_bytes(self):
        total = 0
        for samples, *more in ((DATA / "pt2",), (DATA / "pt2_control_flow", "--weights", "external"), (DATA / "pt2", "--opset", "13")):
            ours, theirs = (self.new_folder(f"{system}{total}") for system in ("linux", "windows"))
            statuses = [system("export", "-q", samples, "-o", ".", *more, cwd=folder)
                        for system, folder in ((self.linux, ours), (self.windows, theirs))]
            self.assertEqual(statuses[0], statuses[1])
            self.assertEqual(names_in(ours), names_in(theirs))
            files = [name for name in names_in(ours) if Path(ours, name).is_file()]
            _, different, unread = filecmp.cmpfiles(ours, theirs, files, shallow=False)
            self.assertEqual(different + unread, [])
            total += len(files)
        self.assertGreaterEqual(total, 20)
        print(f"{total} files have the same bytes")
        for name in names_in(theirs)[:3]:
            self.assertEqual(self.windows("check", name, cwd=theirs)[0], 0)

    def test_names_of_every_kind(self):
        reference = self.folder / "reference.onnx"
        self.linux("export", "-q", SAMPLE, "-o", reference)
        long = "/".join(["d" * 60] * 6)
        for place in ("Gewichte ä ☃", "日本語/モデル", "😀", long, f"{long}/日本語"):
            folder = self.folder / "names" / place
            folder.mkdir(parents=True, exist_ok=True)
            model = folder / "modèle 1.pt2"
            shutil.copy(SAMPLE, model)
            runs = [([model, "-o", folder / "a.onnx"], None)]
            if not place.startswith(long):  # Windows starts no process in a folder whose name is longer than MAX_PATH
                runs.append(([model.name, "-o", "a.onnx"], folder))
            for arguments, cwd in runs:
                self.assertEqual(self.windows("export", "-q", *arguments, cwd=cwd), (0, b"", b""), arguments)
                self.assertTrue(filecmp.cmp(folder / "a.onnx", reference, shallow=False))
                self.assertEqual(names_in(folder), ["a.onnx", "modèle 1.pt2"])
                (folder / "a.onnx").unlink()
            self.expect_same("export", "-q", model, "-o", folder / "a.onnx")
            self.expect_same("export", folder / "ä.pt2")

    def test_replaces_and_keeps(self):
        folder = self.new_folder("replaced")
        old = folder / "model.onnx"
        old.write_bytes(b"old")
        broken = folder / "broken.pt2"
        broken.write_bytes(SAMPLE.read_bytes()[:500])
        self.expect_same("export", broken, "-o", old)
        self.assertEqual(old.read_bytes(), b"old")
        for weights in ("embed", "external", "external"):  # over a file, over no data file, over both files
            self.assertEqual(self.windows("export", "-q", SAMPLE, "-o", old, "--weights", weights)[0], 0)
            self.assertEqual(self.linux("check", old)[0], 0)
        self.assertEqual(names_in(folder), ["broken.pt2", "model.onnx"] + (["model.onnx.data"] if (folder / "model.onnx.data").exists() else []))

    def test_hostile_files(self):
        folder = self.new_folder("hostile")
        whole = SAMPLE.read_bytes()
        files = {"empty.pt2": b"", "text.pt2": b"no archive\r\n" * 9, "cut.pt2": whole[:-7], "half.pt2": whole[:len(whole) // 2],
                 "zeros.pt2": bytes(4096), "end.pt2": whole[-22:], "changed.pt2": whole.replace(b"PK\x01\x02", b"PK\x01\x03"),
                 "lfs.safetensors": b"version https://git-lfs.github.com/spec/v1\n"}
        for name, data in files.items():
            Path(folder, name).write_bytes(data)
            status, printed, said = self.expect_same("export", name, "-o", "out.onnx", cwd=folder)
            self.assertEqual((status, printed, said.count(b"\n")), (1, b"", 1), said)
        for arguments in (["export", ".", "-o", "empty.pt2"], ["export", "none.pt2"], ["export", SAMPLE, "-o", folder],
                          ["export", SAMPLE, "-o", "none/../../x/y.onnx"], ["check", "text.pt2"], ["print", "text.pt2"],
                          ["export", SAMPLE, "-o", "out.onnx", "--plugin", "text.pt2"]):
            status, _, said = self.windows(*arguments, cwd=folder)
            self.assertEqual((status, said.count(b"\n") >= 1), (1, True), (arguments, said))
        self.assertEqual(names_in(folder), sorted(files))

    def test_shards_outside_of_their_folder(self):
        inner = self.new_folder("shards") / "inner"
        inner.mkdir()
        (inner.parent / "weights.safetensors").write_bytes(b"\x02\0\0\0\0\0\0\0{}")
        for name in (r"..\\weights.safetensors", r"\\weights.safetensors", "C:weights.safetensors", "Z:/weights.safetensors"):
            index = inner / "model.safetensors.index.json"
            index.write_text('{"weight_map": {"w": "' + name + '"}}')
            status, _, said = self.windows("export", SAMPLE, "-o", "out.onnx", "--weights-from", index, cwd=inner)
            self.assertEqual(status, 1)
            self.assertIn(b"a shard must be in the folder of its index", said)

    def test_sharing_violations(self):
        folder = self.new_folder("shared")
        shutil.copy(SAMPLE, folder / "model.pt2")
        (folder / "model.onnx").write_bytes(b"old")
        exe = os.path.relpath(self.exe, folder)
        for held in ("model.pt2", "model.onnx"):
            status, _, said = run(options.wine, self.helper, "hold", held, exe, "export", "-q", "model.pt2", "-o", "model.onnx", cwd=folder)
            self.assertEqual((status, said.count(b"\n")), (1, 1), said)
            self.assertRegex(said, rb"^aton: " + held.encode() + rb": cannot be (opened|written): ")
            self.assertEqual(names_in(folder), ["model.onnx", "model.pt2"])
        self.assertEqual((folder / "model.onnx").read_bytes(), b"old")

    def test_ctrl_c(self):
        folder = self.new_folder("interrupted")
        write_large(SAMPLE, folder / "large.pt2", 96, True)
        exe = os.path.relpath(self.exe, folder)
        interrupted = 0
        for delay in (0, 1, 3, 10, 30):
            status, _, said = run(options.wine, self.helper, "interrupt", delay, ".aton*", exe, "export", "-q", "large.pt2", "-o",
                                  "out.onnx", cwd=folder)
            if b"no console" in said:
                self.skipTest("Wine has no console here")
            self.assertEqual([name for name in names_in(folder) if name.startswith(".aton")], [], f"status {status}, {said}")
            interrupted += status != 0
            if status == 0:
                self.assertEqual(self.linux("check", folder / "out.onnx")[0], 0)
            (folder / "out.onnx").unlink(missing_ok=True)
        print(f"{interrupted} of 5 exports were interrupted")
        self.assertGreater(interrupted, 0)

    def test_plugin(self):
        folder = self.new_folder("plugin")
        (folder / "rows.cpp").write_text(PLUGIN)
        headers = options.headers or REPOSITORY / "build/windows-dependencies/installed/include"
        compile_windows(folder / "rows.cpp", folder / "rows.dll", "-shared", "-O0", "-Wa,-mbig-obj",
                        "-I", str(REPOSITORY / "single_include"), "-isystem", str(headers))
        program = DATA / "plugin" / "custom_op.pt2"
        self.expect_same("export", program, "-o", folder / "none.onnx")  # no mapping
        for name in ("rows.dll", "./rows.dll", folder / "rows.dll"):
            status, _, said = self.windows("export", "-q", program, "-o", "out.onnx", "--plugin", name, cwd=folder)
            self.assertEqual((status, said), (0, b""))
            self.assertIn(b"onnx::Add", self.linux("print", folder / "out.onnx")[1])
        self.assertIn(b"custom_ops::foo_forward", self.windows("ops", "--plugin", "rows.dll", cwd=folder)[1])
        shutil.copy(self.helper, folder / "other.dll")
        for name, why in (("none.dll", b"no such file"), ("rows.cpp", b"not a DLL"), (".", b"is a folder"), ("other.dll", b"aton_plugin")):
            status, _, said = self.windows("ops", "--plugin", name, cwd=folder)
            self.assertEqual((status, said.count(b"\n")), (1, 1), said)
            self.assertIn(why, said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--aton", type=Path, required=True)
    parser.add_argument("--windows", type=Path, required=True)
    parser.add_argument("--headers", type=Path)
    parser.add_argument("cases", nargs="*")
    parser.parse_args(namespace=options)
    options.aton, options.windows, options.wine = options.aton.resolve(), options.windows.resolve(), find_wine()
    for found, what in ((shutil.which(COMPILER), f"no {COMPILER}"), (options.wine, "no Wine"),
                        ((options.windows / "aton.exe").is_file(), f"no aton.exe in {options.windows}")):
        if not found:
            print(f"skipped: {what}; tools/windows.sh installs what is missing, builds aton.exe and runs this test")
            return SKIPPED
    result = unittest.main(argv=[sys.argv[0], *options.cases], exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
