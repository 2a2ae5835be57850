#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Manual pages and completions have every command and every option that `--help` prints.

usage: manuals_test.py ATON
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ATON = str(pathlib.Path(sys.argv.pop(1)).resolve())


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


class Manuals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.share = pathlib.Path(cls.folder.name, "share")
        run(sys.executable, ROOT / "tools/make_manuals.py", "--aton", ATON, "--output", cls.folder.name)
        text = run(ATON, "--help")
        cls.commands = re.findall(r"^  ([a-z][\w-]*)  +\S", text.split("Subcommands:")[1], re.MULTILINE)
        cls.options = {name: re.findall(r"^ +(?:-\w,)?(--[\w-]+)", run(ATON, name, "--help"), re.MULTILINE) for name in cls.commands}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_commands_are_found(self):
        self.assertGreaterEqual(set(self.commands), {"export", "print", "ops", "unconvertible", "view", "check", "verify"})
        self.assertIn("--mutants", self.options["verify"])
        self.assertIn("--weights", self.options["export"])

    def test_pages(self):
        for name in self.commands:
            page = (self.share / f"man/man1/aton-{name}.1").read_text().replace("\\-", "-")
            for option in self.options[name]:
                self.assertRegex(page, rf"(?m)^.*\\fB{option}\\fR", f"{name} {option}")
            self.assertIn(f"aton-{name}", (self.share / "man/man1/aton.1").read_text().replace("\\-", "-"))
        page = (self.share / "man/man1/aton-export.1").read_text().replace("\\-", "-")
        self.assertIn("(a number in [7 - 28]; default: 20)", page)
        self.assertIn("\\fIINPUT:AXIS=NAME\\fR", page)
        self.assertIn(".SH EXIT STATUS\n0 success, 1 failure, 2 wrong usage.", page)

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_pages_have_no_warnings(self):
        for page in (self.share / "man/man1").iterdir():
            found = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            self.assertEqual((found.returncode, found.stderr), (0, ""), page.name)

    def completed(self, *words):
        """What bash suggests for the last of the words."""
        script = 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _aton; printf "%s\\n" "${COMPREPLY[@]}"'
        file = self.share / "bash-completion/completions/aton"
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "my model.pt2").touch()
            pathlib.Path(folder, "calls").mkdir()
            return run("bash", "-c", script, file, "aton", *words, cwd=folder).split("\n")[:-1]

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_bash(self):
        self.assertEqual(self.completed("")[: len(self.commands)], self.commands)
        self.assertEqual(self.completed("un"), ["unconvertible"])
        for name in self.commands:
            suggested = self.completed(name, "--")
            self.assertEqual(sorted(suggested), sorted(self.options[name]), name)
        self.assertEqual(self.completed("export", "--weights", ""), ["embed", "external", "reference"])
        self.assertEqual(self.completed("export", "--opset", "20", "--operators", "aten"), ["aten", "aten-fallback"])
        self.assertEqual(self.completed("ops", "--format", ""), ["text", "json", "markdown"])
        self.assertEqual(self.completed("verify", "--device", "c"), ["cpu", "cuda"])
        self.assertEqual(self.completed("export", "my"), ["my model.pt2"])
        self.assertEqual(self.completed("verify", "--calls", ""), ["calls"])
        self.assertEqual(self.completed("export", "--opset", ""), [""])

    def test_other_shells(self):
        zsh = (self.share / "zsh/site-functions/_aton").read_text()
        fish = (self.share / "fish/vendor_completions.d/aton.fish").read_text()
        for name in self.commands:
            part = zsh.split(f"        {name}) _arguments")[1].split(";;")[0]
            for option in self.options[name]:
                self.assertIn(option, part, f"zsh {name}")
                self.assertIn(f"'__fish_seen_subcommand_from {name}' -l {option[2:]} ", fish)

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_its_file(self):
        run("zsh", "-n", self.share / "zsh/site-functions/_aton")

    @unittest.skipUnless(shutil.which("fish"), "fish is not installed")
    def test_fish_reads_its_file(self):
        run("fish", "--no-execute", self.share / "fish/vendor_completions.d/aton.fish")


if __name__ == "__main__":
    unittest.main()
