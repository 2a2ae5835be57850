# SPDX-License-Identifier: MIT
"""Runs every line `aton ...` of README.md with an installed command, in a folder of small models that have the names in README.md.

Options in brackets are given and left out, and of words such as embed|external each is given once.
"""

import itertools
import pathlib
import re
import shutil
import struct
import subprocess
import zipfile

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = REPOSITORY / "tests" / "data" / "pt2" / "linear_relu_dynbatch.pt2"
CALLS = REPOSITORY / "examples" / "custom_op_library" / "calls" / "calls.jsonl"
LEAST_LINES = 12  # of README.md; if there are fewer, they were not found
# Checks all mappings, which takes minutes: the tests verify_* do.
ALL_MAPPINGS = "aton verify"
# A line in a log after half a minute of work.
PROGRESS = re.compile(r"aton: .*, \d+ s|")

SCRIPTED = """class M(Module):
  __parameters__ = []
  __buffers__ = []
  training : bool
  def forward(self: __torch__.M,
    x: Tensor) -> Tensor:
    return torch.relu(x)
"""


def write_scripted(path):
    """What torch.jit.save writes for a module without weights."""
    name = b"training"
    pickle = b"\x80\x02c__torch__\nM\n)\x81}(X" + struct.pack("<I", len(name)) + name + b"\x89ub."
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in {"data.pkl": pickle, "code/__torch__.py": SCRIPTED, "constants.pkl": b"\x80\x02).", "version": "3\n",
                             "byteorder": "little"}.items():
            archive.writestr(f"m/{member}", data)


def command_lines(text):
    """The lines of code blocks that call the command, without comments and with `aton` as the name of the program."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            inside = not inside
        elif inside and (found := re.match(r"(?:\$ )?(?:build/release/)?(aton [a-z].*)", line)):
            lines.append(re.sub(r" (?:#.*|\.\.\.)$", "", re.sub(r"\s+#.*", "", found[1])).strip())
    return lines


def variants(line):
    """The command with its options in brackets and without, once for each of the words a|b|c: ["export", "model.pt2", ...]."""
    with_options = re.sub(r"(?<= )\[((?:[^\[\]]|\[[^\]]*\])*)\]", r"\1", line)
    without = re.sub(r" \[((?:[^\[\]]|\[[^\]]*\])*)\]", "", line)
    words = [each.split("|") if "|" in each else [each] for each in with_options.split()]
    most = max(map(len, words))
    found = [[each[min(i, len(each) - 1)] for each in words] for i in range(most)]
    if without != with_options:
        found.append(without.split())
    return [each[1:] for each in found]


def written_by(arguments, folder):
    """The files that a command has to write."""
    if arguments[0] not in ("export", "view") and "--report" not in arguments:
        return []
    for option in ("-o", "--report"):
        if option in arguments:
            path = folder / arguments[arguments.index(option) + 1]
            return [path] if path.suffix else [path / f"{each.stem}.onnx" for each in (folder / arguments[1]).iterdir()]
    source = folder / arguments[1]
    return [each.with_suffix(".onnx" if arguments[0] == "export" else ".html")
            for each in ([source] if source.suffix else source.glob("*.pt2"))]


def prepare(folder, lines):
    """Models with the names that the lines have, and recorded calls."""
    names = set(re.findall(r"[\w/]+\.(?:pt2|pt)\b", " ".join(lines))) | {"models/one.pt2", "models/two.pt2"}
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        if name.endswith(".pt"):
            write_scripted(folder / name)
        else:
            shutil.copy(SAMPLE, folder / name)
    shutil.copy(CALLS, folder)


def check(aton, folder, environment):
    """Runs all lines with the program `aton`. Returns how many commands that were; raises AssertionError for the first one that fails."""
    lines = command_lines((REPOSITORY / "README.md").read_text(encoding="utf-8"))
    assert len(lines) >= LEAST_LINES, f"README.md has only the commands {lines}"
    prepare(folder, lines)
    count = 0
    for arguments in itertools.chain.from_iterable(map(variants, lines)):
        line = " ".join(["aton", *arguments])
        if line == ALL_MAPPINGS:
            continue
        for path in written_by(arguments, folder):
            path.unlink(missing_ok=True)
        needed = [folder / each for each in arguments if each.endswith(".onnx")]
        if arguments[0] != "export" and needed and not needed[0].exists():
            subprocess.run([aton, "export", "model.pt2", "-o", needed[0]], cwd=folder, env=environment, check=True, capture_output=True)
        result = subprocess.run([aton, *[each for each in arguments if each != "..."]], cwd=folder, env=environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = [each for each in result.stderr.splitlines() if not PROGRESS.fullmatch(each)]
        assert result.returncode == 0 and not said, f"{line}: exit status {result.returncode}\n{result.stderr}"
        assert result.stdout, f"{line} prints nothing"
        missing = [str(path) for path in written_by(arguments, folder) if not path.stat().st_size]
        assert not missing, f"{line} does not write {missing}"
        count += 1
    return count
