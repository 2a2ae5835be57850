# SPDX-License-Identifier: MIT
"""tools/check_commits on repositories with commits that break its rules, in shallow clones, and as a hook."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOOD = "Refuse a pad that is longer than the axis"


class Commits(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        self.origin = self.folder / "origin"
        self.origin.mkdir()
        self.git("init", "-q", "-b", "main")
        shutil.copy(ROOT / ".gitattributes", self.origin)
        self.commit("first commit, from before the rule.", {f"old{i}.txt": "line\n" * 400 for i in range(2)})
        # The script of this repository with its base.
        base, text = self.git("rev-parse", "HEAD"), (ROOT / "tools" / "check_commits").read_text(encoding="utf-8")
        self.script = self.folder / "check_commits"
        self.script.write_text("\n".join(f'BASE = "{base}"' if line.startswith("BASE = ") else line for line in text.split("\n")), encoding="utf-8")
        self.assertIn(base, self.script.read_text(encoding="utf-8"))

    def environment(self, **more):
        return {k: v for k, v in os.environ.items() if not k.startswith("GIT_") and k != "ATON_COMMIT_BASE"} | {
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@b", "GIT_CEILING_DIRECTORIES": str(self.folder), **more}

    def git(self, *words, at=None):
        done = subprocess.run(["git", *words], cwd=at or self.origin, env=self.environment(), capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, message, files):
        for name, text in files.items():
            (self.origin / name).parent.mkdir(parents=True, exist_ok=True)
            (self.origin / name).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message)

    def check(self, *words, at=None, **more):
        done = subprocess.run([sys.executable, self.script, *words], cwd=at or self.origin, env=self.environment(**more), capture_output=True, text=True, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_good_commits(self):
        self.assertEqual(self.check(), (0, "commits: 0 checked, 0 problems\n"))
        self.commit(GOOD, {"a.txt": "line\n" * 499})
        self.commit("Pass on what a reader does not know\n\nWhy: " + "word " * 14 + "\n\n    " + "quoted " * 20 + "\nhttps://" + "a" * 90, {"b.txt": "1\n"})
        self.commit("Regenerate the headers of the language", {"single_include/aton/aton.hpp": "line\n" * 5000, "docs/operators.md": "line\n" * 900})
        self.git("mv", "old0.txt", "new name\t.txt")
        self.commit("Move what old programs had written", {})
        self.commit("Add a picture of the whole page", {"docs/a.png": "\0" * 3000})
        self.assertEqual(self.check(), (0, "commits: 5 checked, 0 problems\n"))

    def test_mistakes(self):
        for message, problem in {
            "Refuse " + "every " * 11 + "pad that is longer": "the subject has 91 characters",
            GOOD + ".": "the subject ends in '.'",
            "Added the refusal of a pad": "the subject starts with 'Added'",
            "Fixing the refusal of a pad": "the subject starts with 'Fixing'",
            "Fixes the refusal of a pad": "the subject starts with 'Fixes'",
            "refuse a pad that is longer": "does not start with a capital letter",
            "feat: refuse a pad that is longer": "the subject has a prefix: 'feat:'",
            "fixup! " + GOOD: "is to be part of another commit",
            "Fix padding": "does not say why, and there is no body",
            "Fix padding\n\n \n": "does not say why, and there is no body",
            GOOD + "\nbecause": "no blank line after the subject",
            GOOD + "\n\n" + "word " * 17: "a line of the body has 85 characters"}.items():
            self.commit(message, {})
            status, said = self.check()
            self.assertEqual(status, 1, message)
            self.assertIn(problem, said)
            self.assertIn("commits: 1 checked, 1 problems", said)
            self.git("reset", "-q", "--hard", "HEAD~")

    def test_large_commits(self):
        self.commit(GOOD, {"a.txt": "line\n" * 300, "src/b.txt": "line\n" * 200})
        self.assertIn("500 changed lines without generated files", self.check()[1])
        self.commit(GOOD, {"a.txt": "other\n" * 250})
        self.assertIn("550 changed lines", self.check()[1])
        self.assertEqual(self.check(ATON_COMMIT_BASE=self.git("rev-parse", "HEAD~"))[1].count("changed lines"), 1)

    def test_large_commits_with_a_reason(self):
        many = {"a.txt": "line\n" * 700}
        self.commit(GOOD + "\n\nLarge: every header has this line, and the check\ndemands it of all.", many)
        self.assertEqual(self.check(), (0, "commits: 1 checked, 0 problems\n"))
        for reason in ("Large: it is", "Large:", "It is Large: one word more than four"):
            self.commit(GOOD + "\n\n" + reason, {"a.txt": "other\n" * 600})
            self.assertIn("changed lines without", self.check()[1])
            self.commit(GOOD + "\n\nLarge: back to what the file was before", many)

    def test_what_is_not_there(self):
        self.commit("Fix padding", {})
        self.commit(GOOD, {"a.txt": "1\n"})
        for depth, checked, problems in (1, 0, 0), (2, 1, 0), (3, 2, 1):
            clone = self.folder / f"clone{depth}"
            self.git("clone", "-q", "--depth", str(depth), f"file://{self.origin}", str(clone))
            status, said = self.check(at=clone)
            self.assertEqual((status, said.split("\n")[-2]), (1 if problems else 0, f"commits: {checked} checked, {problems} problems"))
        other = self.folder / "other"
        other.mkdir()
        self.assertIn("nothing is checked", self.check(at=other)[1])
        self.git("init", "-q", at=other)
        self.assertIn("is not in this history", self.check(at=other)[1])
        self.assertEqual(self.check(at=other)[0], 0)

    def test_the_hook(self):
        message = self.folder / "message"
        message.write_text(f"# comment\n{GOOD}\n# ------------------------ >8 ------------------------\n" + "diff " * 100, encoding="utf-8")
        self.assertEqual(self.check("--message", message), (0, ""))
        message.write_text("Fix padding\n# Please enter the commit message\n", encoding="utf-8")
        self.assertEqual(self.check("--message", message)[0], 1)
        message.write_text("fixup! Fix padding\n", encoding="utf-8")
        self.assertEqual(self.check("--message", message)[0], 0)
        (self.origin / "a.txt").write_text("line\n" * 501, encoding="utf-8")
        self.git("add", "-A")
        message.write_text(GOOD + "\n", encoding="utf-8")
        self.assertIn("501 changed lines", self.check("--message", message)[1])


if __name__ == "__main__":
    unittest.main()
