# SPDX-License-Identifier: MIT
"""Tests of the aton command: output, error messages and exit status (0 success, 1 failure, 2 wrong usage).

usage: aton_command_test.py ATON FIRST_MODEL SAMPLES

SAMPLES is a folder of .pt2 files.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ATON, FIRST_MODEL, SAMPLES, WRONG_PLUGIN = sys.argv[1:5]


def aton(*arguments):
    return subprocess.run([ATON, *map(str, arguments)], capture_output=True, text=True, check=False)


class AtonCommand(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.model = Path(cls.folder.name, "first_model.onnx")
        cls.printed = subprocess.run([FIRST_MODEL, cls.model], capture_output=True, text=True, check=True).stdout

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def file(self, name, content):
        path = Path(self.folder.name, name)
        path.write_bytes(content)
        return path

    def fails(self, run, status, *words):
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertTrue(run.stderr.startswith("aton: "), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)

    def test_print_shows_the_graph_that_the_program_showed(self):
        run = aton("print", self.model)
        self.assertEqual(run.returncode, 0, run.stderr)
        comment, graph = run.stdout.split("\n", 1)
        self.assertRegex(comment, r"^# IR 9, opset 20, made by aton \d+\.\d+\.\d+$")
        self.assertEqual(graph, self.printed)

    def test_check(self):
        run = aton("check", self.model)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn(": ok (10 nodes, IR 9, opset 20", run.stdout)

    def test_check_as_json(self):
        run = aton("check", self.model, "missing.onnx", "--format", "json")
        self.assertEqual(run.returncode, 1)
        good, bad = json.loads(run.stdout)
        self.assertEqual(good, {"file": str(self.model), "ok": True, "nodes": 10, "ir_version": 9, "opset": 20, "error": None})
        self.assertEqual((bad["ok"], bad["nodes"], bad["error"]), (False, None, "missing.onnx: no such file"))

    def test_export_as_json(self):
        written = Path(self.folder.name, "as_json.onnx")
        run = aton("export", Path(SAMPLES, "linear_relu_dynbatch.pt2"), "-o", written, "--opset", 17, "--format", "json")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        report = json.loads(run.stdout)
        self.assertGreater(report.pop("seconds"), 0)
        self.assertEqual(report, {"input": str(Path(SAMPLES, "linear_relu_dynbatch.pt2")), "output": str(written), "ok": True, "error": None,
                                  "unconvertible": [], "opset": 17, "nodes": 2, "weights": 2, "weight_bytes": 60,
                                  "rewritten_bytes": 0, "warnings": [], "drawn_inputs": [], "copied_weights": [], "quantized_weights": [],
                                  "unquantized_weights": [], "quantized_products": [], "verification": None})
        quiet = aton("export", Path(SAMPLES, "linear_relu_dynbatch.pt2"), "-o", written, "-q", "--format", "json")
        self.assertEqual((quiet.returncode, quiet.stdout), (0, ""))

    def test_a_refused_export_as_json(self):
        program = Path(SAMPLES).parent / "plugin" / "custom_op.pt2"
        written = Path(self.folder.name, "refused.onnx")
        run = aton("export", program, "-o", written, "--format", "json")
        self.fails(run, 1, "custom_ops::foo_forward")
        failure = json.loads(run.stdout)
        self.assertEqual("aton: " + failure["error"] + "\n", run.stderr)
        self.assertEqual(failure["unconvertible"], [{"op": "custom_ops::foo_forward", "count": 1, "reason": "no mapping",
                                                     "nearest": None, "places": ["make_tiny.py:44 in forward"]}])
        self.assertFalse(written.exists())
        missing = aton("export", "missing.pt2", "--format", "json")
        self.fails(missing, 1, "missing.pt2")
        self.assertEqual(json.loads(missing.stdout)["unconvertible"], [])

    def test_bad_files(self):
        whole = self.model.read_bytes()
        cut = self.file("cut.onnx", whole[: len(whole) // 2])
        text = self.file("text.onnx", b"hello")
        empty = self.file("empty.onnx", b"")
        for command in ("print", "check"):
            self.fails(aton(command, cut), 1, "cut.onnx", "truncated")
            self.fails(aton(command, text), 1, "text.onnx")
            self.fails(aton(command, empty), 1, "is empty")
            self.fails(aton(command, "nowhere.onnx"), 1, "nowhere.onnx: no such file")

        self.fails(aton("print", self.folder.name), 1, "is a folder")

    def test_folders_are_checked(self):
        folder = Path(self.folder.name, "checked")
        (folder / "deeper").mkdir(parents=True)
        self.fails(aton("check", folder), 1, "checked: has no .onnx file")
        for name in ("b.onnx", "deeper/a.onnx", "c.txt"):
            (folder / name).write_bytes(self.model.read_bytes())
        run = aton("check", folder, folder / "b.onnx")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual([line.split(": ok")[0] for line in run.stdout.splitlines()], [f"{folder}/b.onnx", f"{folder}/deeper/a.onnx"])

    def test_an_illegal_model(self):
        bad = self.file("bad.onnx", self.model.read_bytes().replace(b"Relu", b"Rely"))
        self.fails(aton("check", bad), 1, "bad.onnx", "Rely")
        self.assertEqual(aton("print", bad).returncode, 0)

    def test_several_files_are_all_checked(self):
        run = aton("check", "nowhere.onnx", self.model)
        self.fails(run, 1, "nowhere.onnx")
        self.assertIn("first_model.onnx: ok", run.stdout)

    def test_wrong_usage(self):
        self.fails(aton(), 2, "subcommand")
        self.fails(aton("frobnicate"), 2)
        self.fails(aton("print"), 2, "FILE")
        self.fails(aton("print", self.model, "more"), 2)
        self.fails(aton("ops", "--opset", "99"), 2, "99")
        self.fails(aton("ops", "--format", "xml"), 2, "xml")
        self.fails(aton("ops", "--all", "--mapped"), 2)

    def test_help_and_version(self):
        for arguments in ([], ["ops"], ["print"], ["check"], ["export"], ["unconvertible"]):
            run = aton(*arguments, "--help")
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertIn("Usage: aton", run.stdout)
        self.assertRegex(aton("--version").stdout, r"^aton \d+\.\d+\.\d+\n$")

    def sample(self, name):
        return Path(SAMPLES, name)

    def test_print_shows_a_program(self):
        run = aton("print", self.sample("linear_relu_dynbatch.pt2"))
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        lines = run.stdout.splitlines()
        self.assertRegex(lines[0], r"^# model model, torch 2\.\d+\.\d+.*, 2 nodes$")
        self.assertIn("graph(%x: Float(s77, 4)):", lines)
        self.assertIn("  %p_fc_weight: Float(3, 4) = parameter fc.weight", lines)
        self.assertIn("  return (%relu)", lines)
        self.assertIn("# fc, make_tiny.py:17 in forward", run.stdout)
        self.fails(aton("print", self.model, "--model", "x"), 1, "--model")
        self.fails(aton("print", self.sample("multi_model.pt2")), 1, "prefill", "decode")
        self.assertIn("# model decode of decode prefill", aton("print", self.sample("multi_model.pt2"), "--model", "decode").stdout)

    def test_operators_as_aten_nodes(self):
        target = Path(self.folder.name, "aten.onnx")
        for name, mode, opset, node in (("lstm", "aten", 20, '[batch_first=1, bidirectional=1, dropout=0., has_biases=1, hx=2, num_layers=1, operator="lstm"'),
                                 ("unbacked", "aten", 20, 'operator="nonzero"'), ("dtypes", "aten-fallback", 13, "org.pytorch.aten::ATen[")):
            with self.subTest(name=name, mode=mode):
                run = aton("export", self.sample(f"{name}.pt2"), "-o", target, "--operators", mode, "--opset", opset)
                self.assertEqual((run.returncode, run.stderr), (0, ""))
                self.assertIn("org.pytorch.aten 1", aton("check", target).stdout)
                self.assertIn(node, aton("print", target).stdout)
                target.unlink()
        self.fails(aton("export", self.sample("dtypes.pt2"), "-o", target, "--opset", 13), 1, "aten::")
        run = aton("export", self.sample("lstm.pt2"), "-o", target, "--operators", "aten-fallback")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("ATen", aton("print", target).stdout)  # everything in it has a mapping

    def test_export(self):
        target = Path(self.folder.name, "out.onnx")
        run = aton("export", self.sample("linear_relu_dynbatch.pt2"), "-o", target, "--opset", 17, "--dim", "x:0=batch",
                   "--rename", "relu=probabilities")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"out\.onnx: 2 nodes, opset 17, 2 weights of 60 bytes, [\d.]+ m?s\n$")
        printed = aton("print", target).stdout
        self.assertIn("graph(%x : Float(batch, 4)):", printed)
        self.assertIn("return (%probabilities)", printed)
        self.assertIn("opset 17", printed)

    def test_words_after_repeated_options(self):
        """An option that may be repeated takes one word; the next is the model."""
        target, sample = Path(self.folder.name, "out.onnx"), self.sample("linear_relu_dynbatch.pt2")
        options = (["--rename", "relu=y"], ["--dim", "x:0=n"], ["--no-rewrite", "attention"])
        for option in options:
            run = aton("export", *option, sample, "-o", target)
            self.assertEqual((run.returncode, run.stderr), (0, ""), option)
        run = aton("export", *[word for option in options for word in option], "--rename", "x=input", sample, "-o", target)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("graph(%input : Float(n, 4)):", aton("print", target).stdout)
        self.assertEqual(aton("check", target).returncode, 0)
        self.assertEqual(aton("export", self.sample("tied.pt2"), "-o", target, "-q").stdout, "")

    def test_export_to_stdout_writes_only_the_model(self):
        run = subprocess.run([ATON, "export", self.sample("tied.pt2"), "-o", "/dev/stdout"], capture_output=True, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        copy = self.file("piped.onnx", run.stdout)
        self.assertEqual(aton("check", copy).returncode, 0)

    def test_the_default_output_is_next_to_the_input(self):
        copy = self.file("tied.copy.pt2", self.sample("tied.pt2").read_bytes())
        self.assertEqual(aton("export", copy).returncode, 0)
        self.assertTrue(copy.with_name("tied.copy.onnx").exists())

    def test_warnings(self):
        target = Path(self.folder.name, "guarded.onnx")
        run = aton("export", self.sample("guard_scale.pt2"), "-o", target)
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stderr, r"^aton: warning: .*guard_scale\.pt2: dimension 0 of input 'x' is fixed at 5, .*\n$")
        run = aton("export", self.sample("guard_scale.pt2"), "-o", target, "-q")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        target.unlink()
        self.fails(aton("export", self.sample("guard_scale.pt2"), "-o", target, "--werror"), 1, "is fixed at 5", "warnings are errors")
        self.assertFalse(target.exists())
        self.fails(aton("export", self.sample("guard_scale.pt2"), "-o", target, "--dim", "x:0=batch"), 1, "can only be 5")

    def test_print_shows_guards(self):
        self.assertIn("# guard: (L['x'].size()[0] // 2) == 3\n", aton("print", self.sample("guard_half.pt2")).stdout)

    def test_guards_are_checked_on_request(self):
        target = Path(self.folder.name, "guarded.onnx")
        run = aton("export", self.sample("guard_twice.pt2"), "-o", target)
        self.assertIn("--check-guards", run.stderr)
        self.assertNotIn("onnx::Where", aton("print", target).stdout)
        run = aton("export", self.sample("guard_twice.pt2"), "-o", target, "--check-guards")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("onnx::Where", aton("print", target).stdout)

    def test_wrong_options_of_export(self):
        sample, target = self.sample("tied.pt2"), Path(self.folder.name, "never.onnx")
        for options, words in ((["--opset", "6"], ["--opset", "7"]), (["--opset", "99"], ["99"]),
                               (["--weights", "gone"], ["gone", "embed, external, reference"]),
                               (["--operators", "all"], ["aten, aten-fallback, keep, standard"]), (["--state", "x"], ["inputs, outputs"]),
                               (["--frobnicate"], ["frobnicate"])):
            self.fails(aton("export", sample, "-o", target, *options), 2, *words)
        self.fails(aton("export"), 2, "MODEL.pt2")
        for options, words in ((["--dim", "batch"], ["INPUT:AXIS=NAME"]), (["--dim", "x:one=n"], ["INPUT:AXIS=NAME"]),
                               (["--dim", "nobody:0=n"], ["no input 'nobody'"]), (["--rename", "x"], ["OLD=NEW"]),
                               (["--rename", "nobody=x"], ["nobody"]),
                               (["--no-rewrite", "rms_normalisation"], ["rms_normalisation", "did you mean rms_normalization?"]),
                               (["--no-rewrite", "nothing_like_it"], ["nothing_like_it", "aton ops --rewrites"]),
                               (["--model", "other"], ["other", "model"])):
            self.fails(aton("export", sample, "-o", target, *options), 1, *words)
        self.assertFalse(target.exists())

    def test_unconvertible_nodes_are_listed(self):
        run = aton("unconvertible", self.sample("dtypes.pt2"), "--opset", 13)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"^aten::to\.dtype: once, onnx::Cast .*float8_e4m3fn.*\n    make_tiny\.py:104 in forward\n$")
        rows = json.loads(aton("unconvertible", self.sample("dtypes.pt2"), "--opset", 13, "--format", "json").stdout)
        self.assertEqual([(row["op"], row["count"]) for row in rows], [("aten::to.dtype", 1)])
        run = aton("unconvertible", self.sample("tied.pt2"), "--opset", 13)
        self.assertRegex(run.stdout, r"^all \d+ nodes can be converted at opset 13\n$")
        self.assertEqual(json.loads(aton("unconvertible", self.sample("tied.pt2"), "--format", "json").stdout), [])
        self.fails(aton("unconvertible", "nowhere.pt2"), 1, "nowhere.pt2")
        self.fails(aton("unconvertible", self.model), 1, "first_model.onnx")

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w") as full:
            run = subprocess.run([ATON, "print", self.model], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.fails(run, 1, "standard output")

    def test_ops(self):
        rows = json.loads(aton("ops", "--format", "json").stdout)
        self.assertGreaterEqual(len({row["overload"] for row in rows}), 220)
        for row in rows:
            self.assertTrue(row["schema"].startswith(row["overload"] + "("), row)
            self.assertTrue(1 <= row["since"] <= row["until"], row)
        elu = [row for row in rows if row["overload"] == "aten::elu"]
        self.assertEqual(len(elu), 1)

        text = aton("ops").stdout
        self.assertEqual(text, aton("ops", "--mapped").stdout)
        self.assertEqual(len(text.splitlines()), len(rows))
        markdown = aton("ops", "--format", "markdown").stdout.splitlines()
        self.assertEqual(len(markdown), len(rows) + 2)
        self.assertTrue(all(line.replace("\\|", "").count("|") == 4 for line in markdown))

    def test_ops_of_one_opset(self):
        rows = json.loads(aton("ops", "--format", "json", "--opset", 13).stdout)
        self.assertTrue(rows)
        self.assertTrue(all(row["since"] <= 13 <= row["until"] for row in rows))
        names = [row["overload"] for row in rows]
        self.assertEqual(len(names), len(set(names)))

    def test_rewrites_are_applied_unless_they_are_left_out(self):
        for options, applied in (([], True), (["--no-rewrite", "attention"], False), (["--no-rewrite", "attention.both"], True),
                                 (["--no-optimize"], False)):
            target = Path(self.folder.name, "rewritten.onnx")
            self.assertEqual(aton("export", self.sample("sdpa.pt2"), "-o", target, "--opset", 23, *options).returncode, 0)
            self.assertEqual("onnx::Attention" in aton("print", target).stdout, applied, options)

    def test_ops_lists_rewrites(self):
        rows = json.loads(aton("ops", "--rewrites", "--format", "json").stdout)
        norm = next(row for row in rows if row["rewrite"] == "rms_normalization")
        self.assertEqual(norm["since"], 23)
        self.assertIn("Sqrt(Add(ReduceMean(", norm["pattern"])
        self.assertEqual(len(aton("ops", "--rewrites").stdout.splitlines()), len(rows))
        at_17 = json.loads(aton("ops", "--rewrites", "--format", "json", "--opset", 17).stdout)
        self.assertEqual(at_17, [row for row in rows if row["since"] <= 17 <= row["until"]])
        markdown = aton("ops", "--rewrites", "--format", "markdown").stdout.splitlines()
        self.assertEqual(len(markdown), len(rows) + 2)
        self.fails(aton("ops", "--rewrites", "--all"), 2)

    def test_all_ops(self):
        mapped = json.loads(aton("ops", "--format", "json").stdout)
        everything = json.loads(aton("ops", "--format", "json", "--all").stdout)
        self.assertEqual([row for row in everything if row["since"] is not None], mapped)
        self.assertGreater(len(everything), 3000)

    def test_verify_mappings(self):
        reports = [Path(self.folder.name, name) for name in ("verify.json", "verify.html")]
        run = aton("verify", "--only", "aten::celu", "--mutants", "--report", reports[0], "--report", reports[1])
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertRegex(run.stdout, r"1 of 1 rows give ATen's numbers on \d+ calls")
        self.assertRegex(run.stdout, r"mutants detected")
        report = json.loads(reports[0].read_text())
        self.assertEqual((report["rows"], report["passed"]), (1, 1))
        self.assertEqual([row["overload"] for row in report["each"]], ["aten::celu"])
        self.assertIn("<td><code>aten::celu</code></td>", reports[1].read_text())

    def test_verify_with_seeds(self):
        log = Path(self.folder.name, "seeds.log")
        command = ("verify", "--only", "aten::celu", "--samples", "1", "--log", log)
        run = aton(*command, "--seeds", "7..8")
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertRegex(run.stdout, r"^seed 7: 1 of 1 rows give ATen's numbers on \d+ calls\nseed 8: ")
        self.assertTrue(run.stdout.endswith("2 seeds: no row differs\n"), run.stdout)
        # continues after an incomplete record; finished seeds are not run again
        lines = log.read_text().splitlines(keepends=True)
        log.write_text(lines[0] + "seed 7: 0 of 1 rows give ATen's numbers on 5 calls; differ: aten::celu\n    aten::cel")
        run = aton(*command, "--seeds", "7..8")
        self.assertEqual((run.returncode, run.stderr), (1, ""), run.stdout)
        self.assertTrue(run.stdout.endswith("2 seeds: 1 rows differ\n    aten::celu: seeds 7\n"), run.stdout)
        self.assertEqual(log.read_text().splitlines()[-1] + "\n", lines[2])
        self.fails(aton(*command, "--seeds", "7", "--opset", "18"), 1, "other options")
        self.fails(aton("verify", "--seeds", "8..7"), 2, "FIRST..LAST")
        self.fails(aton("verify", "--log", log), 2, "--log needs --seeds")
        self.fails(aton("verify", "--seeds", "1..2", "--mutants"), 2, "--seeds is for mappings")

    def test_verify_a_model(self):
        program = Path(SAMPLES, "lstm.pt2")
        graph = Path(self.folder.name, "verified.onnx")
        self.assertEqual(aton("export", program, "-o", graph).returncode, 0)
        report = Path(self.folder.name, "model.json")
        run = aton("verify", program, graph, "--samples", 2, "--report", report)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertTrue(run.stdout.endswith("the same on 2 samples\n"), run.stdout)
        self.assertEqual(json.loads(report.read_text())["passed"], True)
        # another model's graph
        run = aton("verify", program, self.model)
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        self.assertIn("the graph does not run: ", run.stdout)
        self.fails(aton("verify", program, self.file("broken.onnx", b"none")), 1, "broken.onnx")

    def test_verify_the_rewrites_of_a_model(self):
        program = Path(SAMPLES, "linear_relu_dynbatch.pt2")
        run = aton("verify", "--rewrites", program)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"^without rewrites: 2 nodes, the same numbers\n0 rewrites of \d+ applied")
        run = aton("verify", "--rewrites", program, "--plugin", WRONG_PLUGIN, "--opset", 18)
        self.assertEqual((run.returncode, run.stderr), (1, ""))
        lines = run.stdout.splitlines()
        self.assertEqual(lines[:2], ["without rewrites: 2 nodes, the same numbers", "mine.clip: 2 -> 2 nodes, the same numbers"])
        self.assertTrue(lines[-1].startswith("mine.wrong changes a number: output 'relu': "), run.stdout)
        self.assertIn("aten::relu", run.stdout)
        self.fails(aton("verify", "--rewrites", self.file("broken.pt2", b"none")), 1, "broken.pt2")
        self.fails(aton("verify", "--rewrites", program, "--mutants"), 2, "not for the rewrites of a model")
        self.fails(aton("verify", "--rewrites", program, self.model), 2, "one file at most")

    def test_verify_with_wrong_options(self):
        self.fails(aton("verify", "model.pt2"), 2, "both files")
        self.fails(aton("verify", "--report", "report.txt"), 2, ".html or .json")
        self.fails(aton("verify", "--samples", "0"), 2, "--samples")
        self.fails(aton("verify", "--inputs", "folder"), 2, "for a model")
        self.fails(aton("verify", "a.pt2", "b.onnx", "--mutants"), 2, "for mappings")
        self.fails(aton("verify", "--only", "no such operator"), 1, "no mapping has")
        help_text = aton("verify", "--help")
        self.assertEqual(help_text.returncode, 0)
        self.assertIn("--mutants", help_text.stdout)
        self.assertIn("verify", aton("--help").stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
