# SPDX-License-Identifier: MIT
"""Every subcommand has --help, --json with the members that docs/json.md lists, a manual page and completions.

usage: commands_test.py ATON SAMPLES
"""

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ATON, SAMPLES = (str(Path(each).resolve()) for each in sys.argv[1:3])
PROGRAM, REFUSED = Path(SAMPLES, "linear_relu_dynbatch.pt2"), Path(SAMPLES).parent / "plugin" / "custom_op.pt2"
LIBRARY = next((Path(importlib.util.find_spec("onnxruntime").origin).parent / "capi").glob("libonnxruntime.so*"))

# The title of a section of docs/json.md, and what it describes: `aton export` and so on are commands of their own.
RUNS = {
    "aton export": [["export", PROGRAM, "-o", "m.onnx"], ["export", PROGRAM, "-o", "n.onnx", "--verify"]],
    "aton unconvertible": [["unconvertible", REFUSED]],
    "aton optimize": [["optimize", "m.onnx", "-o", "o.onnx"]],
    "aton check": [["check", "m.onnx", "missing.onnx", "--runtime", "onnxruntime"]],
    "aton record-check": [["record-check", ROOT / "examples/custom_op_library/calls"]],
    "aton ops": [["ops"], ["ops", "--all"]],
    "aton print MODEL.pt2": [["print", PROGRAM]],
    "aton print MODEL.onnx": [["print", "m.onnx"]],
    "aton view": [["view", PROGRAM, "-o", "m.html"]],
    "aton verify": [["verify", "--only", "aten::celu", "--samples", "1"]],
    "aton verify MODEL.pt2 MODEL.onnx": [["verify", PROGRAM, "m.onnx"]],
    "aton verify RIGHT.onnx OTHER.onnx": [["verify", "m.onnx", "o.onnx"]],
    "aton verify MODEL.onnx --runtime": [["verify", "m.onnx", "--samples", "1", "--runtime", "onnxruntime", "--runtime-library", LIBRARY]],
}
OPTIONAL = {"plugin", "overrides", "table", "header", "conditions"}  # the page says when
WRITES_CODE = {"stub"}  # and has no --json


def run(*arguments, cwd=None):
    return subprocess.run([ATON, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)


def documented():
    """The members in the table of each section."""
    sections = {}
    for section in (ROOT / "docs/json.md").read_text().split("\n## ")[1:]:
        title, text = section.split("\n", 1)
        cells = re.findall(r"^\| (`[^|]*`) \|", text.split("\n### ")[0], re.MULTILINE)  # not those of objects in it
        sections[title] = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    return sections


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.commands = re.findall(r"^  ([a-z][\w-]*)  +\S", run("--help").stdout.split("Subcommands:")[1], re.MULTILINE)
        subprocess.run([sys.executable, ROOT / "tools/make_manuals.py", "--aton", ATON, "--output", Path(cls.folder.name, "made")], check=True)
        cls.share = Path(cls.folder.name, "made", "share")
        cls.printed = {title: [run(*each, "--json", cwd=cls.folder.name) for each in runs] for title, runs in RUNS.items()}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_every_command_is_here(self):
        self.assertEqual({title.split()[1] for title in RUNS}, set(self.commands) - WRITES_CODE)
        self.assertEqual(set(documented()), set(RUNS))

    def test_help_manuals_and_completions(self):
        made = {name: (self.share / path).read_text() for name, path in
                (("bash", "bash-completion/completions/aton"), ("zsh", "zsh/site-functions/_aton"), ("fish", "fish/vendor_completions.d/aton.fish"))}
        for name in self.commands:
            with self.subTest(command=name):
                shown = run(name, "--help")
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.assertIn(f"Usage: aton {name}", shown.stdout)
                self.assertIn("--help", shown.stdout)
                if name in WRITES_CODE:
                    continue
                for option in ("--json", "--format"):
                    self.assertRegex(shown.stdout, rf"(?m)^ +(-\w,)?{option}\b")
                self.assertIn("--json", (self.share / f"man/man1/aton-{name}.1").read_text().replace("\\-", "-"))
                self.assertRegex(made["bash"], rf"(?s)        {name}\).*?options='[^']*--json")
                self.assertIn("--json", made["zsh"].split(f"        {name}) _arguments")[1].split(";;")[0])
                self.assertIn(f"'__fish_seen_subcommand_from {name}' -l json ", made["fish"])

    def test_members_are_documented(self):
        names = documented()
        for title, runs in self.printed.items():
            for done in runs:
                with self.subTest(command=title, arguments=done.args):
                    value = json.loads(done.stdout)
                    for each in value if isinstance(value, list) else [value]:
                        self.assertEqual(set(each) - OPTIONAL, set(names[title]) - OPTIONAL)

    def test_stderr_is_for_people(self):
        for title, runs in self.printed.items():
            for done in runs:
                if done.args[1] == "check":
                    self.assertEqual((done.returncode, done.stderr), (1, "aton: missing.onnx: no such file\n"))
                else:
                    self.assertEqual((done.returncode, done.stderr), (0, ""), title)

    def test_format_json_is_the_same(self):
        for arguments in (["ops", "--opset", "17"], ["unconvertible", REFUSED], ["print", PROGRAM]):
            self.assertEqual(run(*arguments, "--json").stdout, run(*arguments, "--format", "json").stdout)

    def test_programs(self):
        value = json.loads(self.printed["aton print MODEL.pt2"][0].stdout)
        linear, relu = value["nodes"]
        self.assertEqual((linear["op"], relu["op"]), ("aten::linear", "aten::relu"))
        self.assertEqual([each["values"] for each in linear["arguments"]], [["x"], ["p_fc_weight"], ["p_fc_bias"]])
        self.assertEqual(value["inputs"], [{"name": "x", "type": "Float(s77, 4)", "dtype": "float32", "shape": ["s77", 4]}])
        self.assertEqual([(each["target"], each["kind"], each["shape"]) for each in value["weights"]],
                         [("fc.weight", "parameter", [3, 4]), ("fc.bias", "parameter", [3])])
        self.assertEqual((relu["results"][0]["name"], value["outputs"]), ("relu", ["%relu"]))
        self.assertEqual((linear["module"], linear["place"]), ("fc", "make_tiny.py:17 in forward"))

    def test_nested_programs(self):
        for path in sorted(Path(SAMPLES).parent.joinpath("pt2_control_flow").glob("*.pt2")):
            with self.subTest(path=path.name):
                value = json.loads(run("print", path, "--json").stdout)
                graphs = [value, *value["subgraphs"]]
                used = [a["subgraph"] for g in graphs for n in g["nodes"] for a in n["arguments"] if "subgraph" in a]
                self.assertLessEqual(set(used), set(range(len(value["subgraphs"]))))
                self.assertTrue(used)

    def test_graphs(self):
        value = json.loads(self.printed["aton print MODEL.onnx"][0].stdout)
        gemm, relu = value["graph"]["nodes"]
        self.assertEqual((gemm["op"], gemm["inputs"], gemm["attributes"]), ("Gemm", ["x", "fc.weight", "fc.bias"], {"transB": 1}))
        self.assertEqual(relu["outputs"], value["graph"]["outputs"])
        self.assertEqual((relu["source_op"], relu["place"]), ("aten::relu", "make_tiny.py:17 in forward"))
        self.assertEqual([each["shape"] for each in value["graph"]["weights"]], [[3, 4], [3]])

    def test_graphs_with_tensors_and_skipped_inputs(self):
        for name, opset in (("lstm", 20), ("sdpa", 13), ("unbacked", 17)):
            target = Path(self.folder.name, f"{name}.onnx")
            self.assertEqual(run("export", Path(SAMPLES, f"{name}.pt2"), "-o", target, "--opset", opset).returncode, 0)
            value = json.loads(run("print", target, "--json").stdout)
            nodes = value["graph"]["nodes"]
            self.assertEqual(len(nodes), json.loads(run("check", target, "--json").stdout)[0]["nodes"])
            if name == "lstm":
                self.assertIn(None, next(n for n in nodes if n["op"] == "LSTM")["inputs"])
            known = {v["name"] for key in ("inputs", "weights") for v in value["graph"][key]}
            for node in nodes:
                self.assertLessEqual(set(node["inputs"]) - {None}, known)
                known |= {each["name"] for each in node["outputs"] if each}

    def test_nested_graphs(self):
        target = Path(self.folder.name, "cond.onnx")
        source = Path(SAMPLES).parent / "pt2_control_flow"
        nested = 0
        for path in sorted(source.glob("*.pt2")):
            if run("export", path, "-o", target, "-q").returncode == 0:
                value = json.loads(run("print", target, "--json").stdout)
                nested += sum(isinstance(a, dict) and "nodes" in a for n in value["graph"]["nodes"] for a in n["attributes"].values())
        self.assertGreater(nested, 3)

    def test_rewrites(self):
        value = json.loads(run("ops", "--rewrites", "--json").stdout)
        self.assertEqual({key for each in value for key in each}, {"rewrite", "since", "until", "pattern"})

    def test_verify_of_seeds_and_rewrites(self):
        value = json.loads(run("verify", "--seeds", "3..4", "--only", "aten::celu", "--samples", "1", "--json").stdout)
        self.assertEqual(value, {"first": 3, "last": 4, "passed": True, "differ": []})
        done = run("verify", "--rewrites", Path(SAMPLES, "sdpa.pt2"), "--opset", "23", "--json")
        value = json.loads(done.stdout)
        self.assertEqual([(each["rewrite"], each["nodes"], each["passed"]) for each in value["graphs"]],
                         [(None, 9, True), ("attention.both_boolean_safe", 1, True)])
        value = json.loads(run("verify", "--rewrites", "--only", "hard_swish", "--mutants", "--samples", "1", "--json").stdout)
        self.assertEqual(set(value["conditions"]), {"needed", "survivors"})

    def test_quiet_verify(self):
        done = run("verify", "--only", "aten::celu", "--samples", "1", "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
