# SPDX-License-Identifier: MIT
"""The documents of the repository and their fenced blocks, each with the comment that selects its check.

A block is checked by its language, or by the HTML comment directly before it:
    cpp ...                               compiled by check_snippets.py, which describes the info strings
    cpp declaration                       a declaration of a header, in docs/reference/: generate_reference.py --check compares the pages
    text, after `cpp wrong`               errors of the compiler
    <!-- output-of: above -->             what the program of the last C++ block prints; C++ after the first line of the comment completes it
    <!-- error-of: above -->              parts of what the compiler prints about it; `here` instead of `above`: about the C++ in the comment;
                                          `above clang++ -std=c++26`: only if the check runs with that compiler
    <!-- graph-of: above -->              a graph of the last recipe (`cpp recipe=NAME`) in cookbook.md; cookbook_test.cpp compares it
    <!-- output-of: NAME -->              what examples/NAME.cpp prints
    <!-- excerpt-of: FILE -->             lines of a file of the repository, in any language; a line `...` or `// ...` omits some
    <!-- run: COMMAND -->                 what the command prints
    <!-- session: FILE ... -->, console   `$ COMMAND` lines with what they print, in a folder that has copies of these files
    sh, bash                              every program, file, option, preset and target in it exists
    cmake, python, json, toml, ini        it parses; for cmake, the targets and functions of Aton in it exist
    <!-- not checked: REASON -->          nothing
When output is compared, `...` in a line matches anything, a line `...` matches any lines, and durations are ignored.
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
COOKBOOK = "cookbook.md"
# Written by programs; a test checks that each is up to date.
GENERATED = ("oracle.md", "models.md", "operators.md", "scoreboard.md", "torchscript-zoo.md", "zoo.md")
FENCE = re.compile(r"^```(.*)$")
DATA = ("python", "json", "toml", "ini")


@dataclasses.dataclass
class Block:
    document: pathlib.Path
    info: str  # after the fence
    first: int  # the line of its first line
    lines: list
    comment: str  # before the fence, without <!-- and -->
    previous: "Block | None"

    @property
    def words(self):
        return self.info.split()

    @property
    def language(self):
        return self.words[0] if self.words else "text"

    @property
    def marker(self):
        """The word before the colon of the comment's first line, and the rest of that line."""
        word, colon, rest = self.comment.split("\n")[0].partition(":")
        return (word.strip(), rest.strip()) if colon else ("", "")

    @property
    def recipe(self):
        """The name of a block of the cookbook that cookbook_test.cpp runs; '' for other blocks."""
        name = re.search(r"\brecipe=(\w+)", self.info)
        return name.group(1) if name and self.document.name == COOKBOOK else ""

    @property
    def code_above(self):
        """The last C++ block before this one; None if there is none."""
        above = self.previous
        while above is not None and above.language != "cpp":
            above = above.previous
        return above

    @property
    def code_in_comment(self):
        return self.comment.split("\n")[1:]

    def place(self):
        return f"{self.document.name}:{self.first}"

    def kind(self):
        """The check of the block; '' if there is none, which is an error."""
        word, rest = self.marker
        if word == "not checked":
            return "nobody" if rest else ""
        if word == "excerpt-of":
            return "excerpt"
        if self.language == "cpp":
            return "declaration" if "declaration" in self.words else "cpp"
        if self.language == "console":
            return "session" if word == "session" else ""
        if self.language in ("sh", "bash"):
            return "shell"
        if self.language == "cmake" or self.language in DATA:
            return self.language
        if self.language != "text":
            return ""
        if word == "output-of":
            return "program" if rest == "above" else "example"
        if word == "error-of":
            return "error"
        if word == "graph-of":
            return "graph" if rest == "above" and self.code_above and self.code_above.recipe else ""
        if word == "run":
            return "run"
        before = self.previous
        return "sentences" if before and before.kind() == "cpp" and "wrong" in before.words and not word else ""


def documents():
    """The pages beside README.md, except the changelog, and those of docs/."""
    return [*(path for path in sorted(ROOT.glob("*.md")) if path.name != "CHANGELOG.md"), *sorted((ROOT / "docs").rglob("*.md"))]


def read_blocks(path):
    """Every fenced block of a document, in order."""
    blocks, current, comment, open_comment = [], None, [], False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        fence = FENCE.match(line)
        if current is not None:
            if fence:
                blocks.append(current)
                current, comment = None, []
            else:
                current.lines.append(line)
        elif fence and not open_comment:
            text = "\n".join(comment).strip().removeprefix("<!--").removesuffix("-->").strip()
            current = Block(path, fence.group(1).strip(), number + 1, [], text, blocks[-1] if blocks else None)
        elif open_comment or line.startswith("<!--"):
            comment = comment + [line] if open_comment else [line]
            open_comment = "-->" not in line
        elif line.strip():
            comment = []
    if current is not None:
        raise ValueError(f"{path}: unterminated block at line {current.first}")
    return blocks


def prose(path):
    """The lines outside blocks and comments, as (number, line)."""
    inside, comment = False, False
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not comment and FENCE.match(line):
            inside = not inside
        elif not inside and (comment or line.startswith("<!--")):
            comment = "-->" not in line
        elif not inside:
            yield number, line


def hidden_blocks(path):
    """Code that no check covers: fences that do not start their line, indented code, <pre>."""
    found, in_list, blank = [], False, True
    for number, line in prose(path):
        if re.match(r"\s*(~~~|<pre\b)|\s+```", line):
            found.append(f"{path.name}:{number}: code must be fenced with ``` at the start of a line")
        if re.match(r"( {4}|\t)\s*\S", line) and blank and not in_list:
            found.append(f"{path.name}:{number}: indented code; put it between ```")
        if line.strip():
            in_list = bool(re.match(r"\s*([-*+]|\d+\.)\s", line)) or (in_list and line.startswith(" "))
        blank = not line.strip()
    return found


def is_excerpt(quoted, text):
    """'' if the lines are in the text in this order, with gaps only at `...`; otherwise the first one that is not."""
    there = [line.rstrip() for line in text.split("\n")]
    at, piece = 0, []
    for line in [*quoted, "..."]:
        if line.strip() not in ("...", "// ...", "# ..."):
            piece.append(line.rstrip())
            continue
        margin = min((len(p) - len(p.lstrip()) for p in piece if p), default=0)
        for start in range(at, len(there) - len(piece) + 1):
            found = there[start:start + len(piece)]
            shift = min((len(f) - len(f.lstrip()) for f in found if f), default=0)
            if [p[margin:] for p in piece] == [f[shift:] for f in found]:
                at = start + len(piece)
                break
        else:
            return f"not in the file, or not in this order:\n    {piece[0] if piece else ''}"
        piece = []
    return ""


DURATION = re.compile(r"\d+(\\\.\d+)?(\\?\ )m?s\b")


def line_pattern(line):
    """The regular expression of a quoted line."""
    escaped = re.escape(line.rstrip()).replace(r"\.\.\.", ".*")
    return DURATION.sub(r"[0-9.]+ m?s", escaped)


def difference(quoted, printed):
    """'' if the quoted lines match the printed ones; otherwise the first difference."""
    wanted, got = [list(lines) for lines in (quoted, printed)]
    while got and not got[-1].strip():
        got.pop()
    while wanted and not wanted[-1].strip():
        wanted.pop()
    at, skipping = 0, False
    for line in wanted:
        if line.strip() == "...":
            skipping = True
            continue
        pattern = re.compile(line_pattern(line) + r"\s*$")
        while skipping and at < len(got) and not pattern.match(got[at]):
            at += 1
        if at == len(got):
            return f"in the document, but not printed:\n    {line}"
        if not pattern.match(got[at]):
            return f"in the document:\n    {line}\nbut printed:\n    {got[at]}"
        at, skipping = at + 1, False
    if at != len(got) and not skipping:
        return f"printed, but not in the document:\n    {got[at]}"
    return ""
