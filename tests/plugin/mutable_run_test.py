#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Operators that write to their arguments: exported by torch, original and decomposed, converted by `aton export` with a plugin, run
by ONNX Runtime, and compared with eager torch, including the final values of buffers and inputs.

Usage: mutable_run_test.py ATON PLUGIN [NAME ...]
"""
import copy
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import onnx
    import onnxruntime as ort
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

from mutable_cases import CASES, m  # noqa: E402  (needs torch)

ATON, PLUGIN = (pathlib.Path(path).resolve() for path in sys.argv[1:3])


def model_class(given):
    """A module whose forward() has the named arguments of the function, and the buffers of the case."""
    function, names = given["function"], "abcd"[:len(given["shapes"])]
    space = {"function": function}
    exec(f"def forward(self, {', '.join(names)}): return function(self, {', '.join(names)})", space)

    def __init__(self):
        torch.nn.Module.__init__(self)
        for name, made in (given["buffers"]() if given["buffers"] else {}).items():
            self.register_buffer(name, made)

    return type("Model", (torch.nn.Module,), {"forward": space["forward"], "__init__": __init__})


def inputs_of(given, seed, more=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn((s[0] + (more if i in given["dynamic"] else 0), *s[1:]), generator=generator)
            for i, s in enumerate(given["shapes"])]


def aton(*arguments):
    return subprocess.run([ATON, *map(str, arguments)], capture_output=True, text=True, check=False)


class Mutable(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.pt2 = pathlib.Path(self.folder.name, "model.pt2")
        self.onnx = pathlib.Path(self.folder.name, "model.onnx")

    def save(self, model, inputs, dynamic=(), decomposed=False, version=2):
        shapes = [{0: torch.export.Dim.DYNAMIC} if i in dynamic else None for i in range(len(inputs))]
        program = torch.export.export(model, tuple(inputs), dynamic_shapes=shapes)
        if decomposed:
            config = torch._export.config
            old = config.enable_auto_functionalized_v2_for_export
            config.enable_auto_functionalized_v2_for_export = version == 2
            try:
                program = program.run_decompositions()
            finally:
                config.enable_auto_functionalized_v2_for_export = old
            form = "auto_functionalized_v2" if version == 2 else "auto_functionalized"
            self.assertIn(form, {node.target.__name__ for node in program.graph.nodes if callable(node.target)} |
                          {inner.target.__name__ for part in program.graph_module.children() if hasattr(part, "graph")
                           for inner in part.graph.nodes if callable(inner.target)})
        torch.export.save(program, self.pt2)

    def refuses(self, *words, options=("--plugin", PLUGIN)):
        done = aton("export", self.pt2, "-o", self.onnx, *options)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(self.onnx.exists())

    def check(self, name, decomposed, version=2):
        given = CASES[name]
        model = model_class(given)()
        self.save(model, inputs_of(given, 1), given["dynamic"], decomposed, version)
        if given["refused"][decomposed]:
            return self.refuses(given["refused"][decomposed])
        done = aton("export", self.pt2, "-o", self.onnx, "--plugin", PLUGIN)
        self.assertEqual(done.returncode, 0, done.stderr)
        onnx.checker.check_model(onnx.load(self.onnx), full_check=True)
        session = ort.InferenceSession(str(self.onnx), providers=["CPUExecutionProvider"])
        for seed, more in ((1, 0), (2, 3)):
            if not (decomposed and given["refused"][0]):  # torch decides there what aliases mean
                self.compare(model_class(given)(), session, inputs_of(given, seed, more))

    def compare(self, eager, session, inputs):
        ends = [each.clone() for each in inputs]
        start = {key: value.clone() for key, value in eager.state_dict().items()}
        start |= {"abcd"[i]: each for i, each in enumerate(inputs)}
        names = [each.name for each in session.get_outputs()]
        feeds = {each.name: start[each.name].numpy() for each in session.get_inputs()}
        computed = dict(zip(names, session.run(None, feeds)))
        expected = eager(*ends)
        for name, want in zip(names, [expected] if isinstance(expected, torch.Tensor) else expected):
            self.same(name, computed.pop(name), want)
        for key, want in (dict(eager.state_dict()) | {"abcd"[i]: each for i, each in enumerate(ends)}).items():
            if key + ".out" in computed:
                self.same(key, computed.pop(key + ".out"), want)
            else:
                self.assertTrue(torch.equal(start[key], want), f"{key} changes, and there is no output of it")
        self.assertEqual(list(computed), [])

    def same(self, name, got, want):
        torch.testing.assert_close(torch.from_numpy(got), want.detach(), rtol=1e-5, atol=1e-5, msg=lambda m: f"{name}: {m}")

    def kept(self):
        done = aton("export", self.pt2, "-o", self.onnx, "--operators", "keep")
        self.assertEqual(done.returncode, 0, done.stderr)
        graph = onnx.load(self.onnx).graph
        return [node for node in graph.node if node.domain == "mut"], graph

    def test_kept_operators_have_the_new_values_as_outputs(self):
        given = CASES["a_result_and_a_write"]
        self.save(model_class(given)(), inputs_of(given, 1), decomposed=True)
        (node,), graph = self.kept()
        self.assertEqual((node.op_type, len(node.input), len(node.output)), ("total", 2, 2))
        self.assertEqual([each.name for each in graph.output][0], node.output[1])
        given = CASES["a_buffer"]
        self.save(model_class(given)(), inputs_of(given, 1), decomposed=True)
        (node,), graph = self.kept()
        self.assertEqual((node.op_type, len(node.output)), ("bump_", 1))
        self.assertIn("state.out", [each.name for each in graph.output])

    def test_what_is_written_to_is_not_in_the_file(self):
        given = CASES["a_temporary"]
        self.save(model_class(given)(), inputs_of(given, 1))
        self.refuses("mut::bump_", "the program does not say to which", options=("--operators", "keep"))

    def test_an_operator_that_nobody_knows_and_nothing_uses_does_not_vanish(self):
        given = CASES["an_unknown_one"]
        self.save(model_class(given)(), inputs_of(given, 1))
        self.refuses("mut::unknown (no mapping")
        self.refuses("mut::unknown", "its results are not used", options=("--operators", "keep"))

    def test_an_exception_is_the_refusal_of_its_node(self):
        def forward(self, x):
            for what in ("at", "own", "number", ""):
                y = x * 2
                m.throws(y, what)
                x = y
            return x

        model = type("Model", (torch.nn.Module,), {"forward": forward})()
        self.save(model, [torch.ones(2, 3)])
        self.refuses("mut::throws (the mapping threw an exception (std::out_of_range); 3 times, first at ", "in forward")
        listed = aton("unconvertible", self.pt2, "--plugin", PLUGIN)
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        self.assertIn("mut::throws: 3 times, the mapping threw an exception (std::out_of_range)\n", listed.stdout)
        self.assertNotIn("_M_", listed.stdout)
        for what, text in (("own", "(std::runtime_error): axes must be sorted"), ("number", "something that is not a std::exception")):
            alone = type("Model", (torch.nn.Module,), {"forward": lambda self, x, w=what: (y := x * 2, m.throws(y, w), y)[2]})
            self.save(alone(), [torch.ones(2, 3)])
            self.refuses("the mapping threw", text)


def add(name):
    setattr(Mutable, f"test_{name}", lambda self: self.check(name, False))
    if CASES[name]["decomposes"]:
        setattr(Mutable, f"test_{name}_decomposed", lambda self: self.check(name, True))
        if name in ("a_result_and_a_write", "a_view_of_a_buffer", "lists_and_none", "inside_a_branch"):
            setattr(Mutable, f"test_{name}_decomposed_as_before_torch_2_6", lambda self: self.check(name, True, 1))


for each in CASES:
    add(each)

if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
