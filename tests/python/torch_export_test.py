# SPDX-License-Identifier: MIT
"""aton_onnx.torch_export in place of torch.onnx.export: every argument, and ONNX Runtime's results against torch's.
Exits with 77 without torch.

usage: torch_export_test.py ATON CUSTOM_OPS_PLUGIN
"""

import inspect
import io
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import warnings

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
PLUGIN = str(pathlib.Path(sys.argv[2]).resolve())
os.environ["ATON_COMMAND"] = str(pathlib.Path(sys.argv[1]).resolve())
sys.path[:0] = [str(REPOSITORY / "python"), str(REPOSITORY / "examples" / "custom_op_library")]
try:
    import torch
except ImportError:
    print("skipped: torch is not installed (ATON_WITH_TORCH=1)")
    sys.exit(77)

import aton_onnx  # noqa: E402
import make_model  # noqa: E402
from aton_onnx import _schemas, _torch_export  # noqa: E402
import onnx  # noqa: E402
import onnx_ir  # noqa: E402
import onnxruntime  # noqa: E402
from torch import nn  # noqa: E402
from torch.export import Dim  # noqa: E402

LIBRARY = make_model.declare()


class Scaled(nn.Module):
    """Two results, one of which is the first argument itself; weights of 24 kB."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(60, 100)
        self.register_buffer("shift", torch.arange(100.0))

    def forward(self, a, scale=None, *, offset=None):
        y = self.linear(a)
        y = y if scale is None else y * scale
        return y if offset is None else y + offset * self.shift, a


class Exports(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(8)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "model.onnx")
        self.module = Scaled().eval()
        self.inputs = (torch.randn(3, 60), torch.randn(100))

    def files(self):
        return sorted(os.listdir(self.folder.name))

    def results(self, model, values):
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        names = [each.name for each in session.get_inputs()]
        return [torch.from_numpy(each) for each in session.run(None, {n: v.numpy() for n, v in zip(names, values, strict=True)})]

    def compare(self, model, module, args, kwargs=None):
        with torch.no_grad():
            expected = torch.utils._pytree.tree_leaves(module(*args, **(kwargs or {})))
        leaves = torch.utils._pytree.tree_leaves((args, kwargs or {}))
        values = model(*args, **(kwargs or {})) if isinstance(model, torch.onnx.ONNXProgram) else self.results(model, leaves)
        self.assertEqual(len(values), len(expected))
        for value, truth in zip(values, expected):
            self.assertEqual(value.dtype, truth.dtype)
            torch.testing.assert_close(value, truth, rtol=1e-4, atol=1e-4)

    def test_the_signature_is_that_of_torch(self):
        theirs, ours = (inspect.signature(each).parameters for each in (torch.onnx.export, aton_onnx.torch_export))
        self.assertEqual(list(ours)[: len(theirs)], list(theirs))
        self.assertEqual(list(ours)[len(theirs) :], ["plugins", "nan"])
        enumerations = {"training", "operator_export_type"}  # torch is not imported for their defaults
        for name, parameter in theirs.items():
            self.assertEqual(ours[name].kind, parameter.kind, name)
            if name not in enumerations:
                self.assertEqual(ours[name].default, parameter.default, name)

    def test_no_argument_is_forgotten(self):
        """An argument changes the export, or it is refused, or there is a warning."""
        honoured = {"model", "args", "f", "kwargs", "verbose", "input_names", "output_names", "opset_version", "external_data",
                    "dynamic_shapes", "report", "optimize", "verify", "dump_exported_program", "artifacts_dir", "export_params",
                    "keep_initializers_as_inputs"}  # fmt: skip  # the other tests
        refused = {"dynamo": False, "dynamic_axes": {"a": {0: "n"}}, "custom_translation_table": {torch.ops.aten.relu.default: len}}
        warned = {
            "profile": True,
            "training": torch.onnx.TrainingMode.TRAINING,
            "operator_export_type": torch.onnx.OperatorExportTypes.ONNX_ATEN_FALLBACK,
            "do_constant_folding": False,
            "custom_opsets": {"my_ops": 1},
            "export_modules_as_functions": True,
            "autograd_inlining": False,
        }
        self.assertEqual(honoured | set(refused) | set(warned), set(inspect.signature(torch.onnx.export).parameters))
        for name, value in refused.items():
            with self.assertRaisesRegex(ValueError, f"^{name}[:=]"):
                aton_onnx.torch_export(self.module, self.inputs, self.path, **{name: value})
        self.assertEqual(self.files(), [])
        for name, value in warned.items():
            with self.assertWarnsRegex(UserWarning, f"ignores the argument {name}$"):
                aton_onnx.torch_export(self.module, self.inputs, self.path, **{name: value})
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            aton_onnx.torch_export(self.module, self.inputs, training=torch.onnx.TrainingMode.EVAL,
                                   operator_export_type=torch.onnx.OperatorExportTypes.ONNX)  # fmt: skip

    def test_arguments_of_the_model(self):
        for args, kwargs in (
            ((self.inputs[0],), {"offset": torch.tensor(2.5)}),
            (self.inputs, {"offset": torch.tensor(2.5)}),
            ((self.inputs[0],), {"scale": self.inputs[1]}),
            ((self.inputs[0],), None),
            ((self.inputs[0], None), {"offset": torch.tensor(-1.0)}),
        ):
            for f in (None, self.path):
                program = aton_onnx.torch_export(self.module, args, f, kwargs=kwargs)
                self.assertIsInstance(program, torch.onnx.ONNXProgram)
                self.compare(program, self.module, args, kwargs)
        self.compare(aton_onnx.torch_export(self.module, self.inputs[0]), self.module, self.inputs[:1])
        last = (self.inputs[0], {"offset": torch.tensor(0.5)})  # a dict at the end are keyword arguments
        self.compare(aton_onnx.torch_export(self.module, last), self.module, last[:1], last[1])

    def test_where_the_weights_go(self):
        """As torch.onnx.export, except that the data file of torch has every tensor and Aton's leaves the smallest in the graph."""
        aton_onnx.torch_export(self.module, self.inputs, self.path)
        self.assertEqual(self.files(), ["model.onnx", "model.onnx.data"])
        self.assertLess(os.path.getsize(self.path), 4000)
        self.compare(self.path, self.module, self.inputs)
        os.remove(self.path + ".data")
        program = aton_onnx.torch_export(self.module, self.inputs, self.path, external_data=False)
        self.assertEqual(self.files(), ["model.onnx"])
        self.compare(self.path, self.module, self.inputs)
        self.compare(program, self.module, self.inputs)
        buffer = io.BytesIO()
        aton_onnx.torch_export(self.module, self.inputs, buffer)
        self.compare(buffer.getvalue(), self.module, self.inputs)
        self.assertEqual(self.files(), ["model.onnx"])

    def test_a_program_without_a_file_has_its_weights(self):
        program = aton_onnx.torch_export(self.module, self.inputs)
        self.compare(program.model_proto.SerializeToString(), self.module, self.inputs)
        program.save(self.path, external_data=True)
        self.compare(self.path, self.module, self.inputs)
        folder = program.aton_report.path.parent
        self.assertTrue(folder.is_dir())
        del program
        self.assertFalse(folder.exists())

    def test_weights_as_inputs_and_no_weights(self):
        options = {"keep_initializers_as_inputs": True, "external_data": False, "input_names": ["a", "s"]}
        aton_onnx.torch_export(self.module, self.inputs, self.path, **options)
        model = onnx.load(self.path)
        names = [each.name for each in model.graph.input]
        self.assertEqual(names[:2], ["a", "s"])
        self.assertEqual(set(names[2:]), {each.name for each in model.graph.initializer})
        without = os.path.join(self.folder.name, "without.onnx")
        aton_onnx.torch_export(self.module, self.inputs, without, **options, export_params=False)
        model = onnx.load(without)
        self.assertEqual(len(model.graph.initializer), 0)
        weights = {name: value for name, value in zip(names, self.inputs)}
        full = onnx.load(self.path)
        weights |= {each.name: torch.from_numpy(onnx.numpy_helper.to_array(each).copy()) for each in full.graph.initializer}
        values = self.results(without, [weights[each.name] for each in model.graph.input])
        torch.testing.assert_close(values[0], self.module(*self.inputs)[0], rtol=1e-4, atol=1e-4)
        self.assertEqual(self.files(), ["model.onnx", "without.onnx"])

    def test_names(self):
        """Also names that other values have: the two inputs exchange theirs, an output gets that of a weight, an input that of an output."""
        taken = onnx.load(aton_onnx.torch_export(self.module, self.inputs, self.path, external_data=False).aton_report.path)
        weight, output = taken.graph.initializer[0].name, taken.graph.output[0].name
        value = next(each.output[0] for each in taken.graph.node if each.output[0] not in {each.name for each in taken.graph.output})
        cases = [(["scale", "a"], ["y", "z"]), (["x"], [weight, "a"]), (["x", value], None), (["x", output], None), (None, ["only"])]
        for inputs, outputs in cases:
            with self.subTest(inputs=inputs, outputs=outputs):
                for f in (None, self.path):
                    program = aton_onnx.torch_export(self.module, self.inputs, f, input_names=inputs, output_names=outputs)
                    graph = program.model_proto.graph
                    self.assertEqual([each.name for each in graph.input][: len(inputs or ())], inputs or [])
                    self.assertEqual([each.name for each in graph.output][: len(outputs or ())], outputs or [])
                    onnx.checker.check_model(program.model_proto, full_check=True)
                    self.compare(program, self.module, self.inputs)
                self.assertEqual(onnx.load(self.path).graph.input, graph.input)
                self.compare(self.path, self.module, self.inputs)
        with self.assertRaisesRegex(ValueError, "^input_names: the names must differ"):
            aton_onnx.torch_export(self.module, self.inputs, input_names=["a", "a"])
        with self.assertRaisesRegex(ValueError, "^input_names, output_names: 'a' is in both"):
            aton_onnx.torch_export(self.module, self.inputs, input_names=["x", "a"], output_names=["a"])
        with self.assertWarnsRegex(UserWarning, "^dynamic_shapes: not of the form"):
            aton_onnx.torch_export(torch.export.export(self.module, self.inputs), dynamic_shapes=({0: "rows"},))
        with self.assertWarnsRegex(UserWarning, "^output_names: the model has only 2, not 3"):
            aton_onnx.torch_export(self.module, self.inputs, output_names=["a", "b", "c"])

    def test_dynamic_shapes(self):
        forms = [
            {"a": {0: "rows"}, "scale": None},
            {"scale": None, "a": {0: "rows"}},
            ({0: "rows"}, None),
            {"a": ("rows", None), "scale": (None,)},
            {"a": {0: Dim("rows", max=50)}, "scale": None},
        ]
        for shapes in forms:
            for args in (self.inputs, (torch.randn(1, 60), self.inputs[1])):  # an example of size 1 does not make it constant
                with self.subTest(shapes=shapes, rows=args[0].shape[0]):
                    program = aton_onnx.torch_export(self.module, args, self.path, dynamic_shapes=shapes, input_names=["p", "q"])
                    dims = [str(each) for value in (*program.model.graph.inputs, *program.model.graph.outputs) for each in value.shape]
                    self.assertEqual(dims, ["rows", "60", "100", "rows", "100", "rows", "60"])
                    self.assertEqual(onnx.load(self.path).graph.input[0].type.tensor_type.shape.dim[0].dim_param, "rows")
                    for rows in (1, 2, 7):
                        self.compare(self.path, self.module, (torch.randn(rows, 60), self.inputs[1]))
        program = torch.export.export(self.module, self.inputs, dynamic_shapes=({0: Dim.DYNAMIC}, None))
        for shapes in ({"a": {0: "rows"}, "scale": None}, [{0: "rows"}, None]):
            named = aton_onnx.torch_export(program, dynamic_shapes=shapes)
            self.assertEqual([str(each) for each in named.model.graph.inputs[0].shape], ["rows", "60"])
        hinted = aton_onnx.torch_export(self.module, self.inputs, dynamic_shapes=({0: Dim.AUTO}, None))
        self.compare(hinted, self.module, (torch.randn(5, 60), self.inputs[1]))

    def test_nested_arguments(self):
        class Nested(nn.Module):
            def forward(self, pair, named, flag, *rest):
                return pair[0] + named["b"] * pair[1].sum() - (rest[0] if flag else 0), named["a"] @ named["a"].T

        args = ([torch.randn(4), torch.randn(2)], {"a": torch.randn(3, 2), "b": torch.randn(4)}, True, torch.randn(4))
        shapes = {"pair": [{0: "n"}, {0: "m"}], "named": {"a": {0: "k"}, "b": {0: "n"}}, "flag": None, "rest": ({0: "n"},)}
        program = aton_onnx.torch_export(Nested().eval(), args, dynamic_shapes=shapes)
        dims = [[str(each) for each in value.shape] for value in program.model.graph.inputs]
        self.assertEqual(dims, [["n"], ["m"], ["k", "2"], ["n"], ["n"]])
        others = ([torch.randn(6), torch.randn(5)], {"a": torch.randn(1, 2), "b": torch.randn(6)}, True, torch.randn(6))
        expected = Nested()(*others)
        leaves = [each for each in torch.utils._pytree.tree_leaves(others) if isinstance(each, torch.Tensor)]
        for value, truth in zip(self.results(program.model_proto.SerializeToString(), leaves), expected, strict=True):
            torch.testing.assert_close(value, truth)

    def test_opset_optimize_and_verbose(self):
        for opset, version in ((None, 20), (11, 11), (23, 23)):
            aton_onnx.torch_export(self.module, self.inputs, self.path, opset_version=opset)
            self.assertEqual([each.version for each in onnx.load(self.path).opset_import], [version])
            self.compare(self.path, self.module, self.inputs)
        folded = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).eval()
        nodes = [len(list(aton_onnx.torch_export(folded, torch.randn(1, 3, 5, 5), optimize=each).model.graph)) for each in (True, False)]
        self.assertEqual(nodes[0], 1)
        self.assertGreater(nodes[1], 1)
        for verbose, lines in ((True, 1), (None, 0), (False, 0)):
            printed, sys.stdout = sys.stdout, io.StringIO()
            try:
                aton_onnx.torch_export(self.module, self.inputs, self.path, verbose=verbose)
                text = sys.stdout.getvalue()
            finally:
                sys.stdout = printed
            self.assertEqual(text.count(f"[aton] {self.path}: "), lines)

    def test_verify(self):
        program = aton_onnx.torch_export(self.module, self.inputs, self.path, verify=True)
        program.model.graph.initializers["linear.bias"].const_value = onnx_ir.tensor(torch.ones(100).numpy(), name="linear.bias")
        with self.assertRaisesRegex(aton_onnx.AtonError, r"^.*model\.onnx: output \S+ differs from the program's"):
            _torch_export._verify(torch, program)

    def test_report_and_dump(self):
        pages = os.path.join(self.folder.name, "pages")
        os.mkdir(pages)
        aton_onnx.torch_export(self.module, self.inputs, self.path, report=True, dump_exported_program=True, artifacts_dir=pages)
        page, program = sorted(os.listdir(pages))
        self.assertRegex(pathlib.Path(pages, page).read_text(), r"# Export of Scaled with Aton(?s:.*)\| weights \| 2 ")
        aton_onnx.export(os.path.join(pages, program), os.path.join(pages, "again.onnx"))
        self.compare(os.path.join(pages, "again.onnx"), self.module, self.inputs)

    def test_what_cannot_be_exported(self):
        module = make_model.Mixer().eval()
        with self.assertRaisesRegex(aton_onnx.UnconvertibleError, "^Mixer: 3 operators|^ExportedProgram: 3 operators") as caught:
            aton_onnx.torch_export(module, (torch.ones(3, 4, 5),), self.path, report=True, artifacts_dir=self.folder.name)
        (page,) = self.files()  # no model, no folder
        text = pathlib.Path(self.folder.name, page).read_text()
        for each in caught.exception.operators:
            self.assertIn(f"| {each.operator} | {each.count} | no mapping | ", text)
        with self.assertRaisesRegex(TypeError, "TorchScript module: save it"):
            aton_onnx.torch_export(torch.jit.trace(nn.ReLU(), torch.ones(2)), (torch.ones(2),))
        with self.assertRaisesRegex(TypeError, "^f: expected a path"), open(os.devnull, "wb") as file:
            aton_onnx.torch_export(self.module, self.inputs, file)
        with self.assertRaisesRegex(TypeError, "not function"):
            aton_onnx.torch_export(lambda x: x, (torch.ones(2),))
        with self.assertRaisesRegex(aton_onnx.AtonError, "--opset"):
            aton_onnx.torch_export(self.module, self.inputs, self.path, opset_version=99)
        with self.assertRaises(OSError):
            aton_onnx.torch_export(self.module, self.inputs, os.path.join(self.folder.name, "missing", "model.onnx"))
        self.assertEqual(self.files(), [page])

    def test_plugins_and_tables(self):
        module, x = make_model.Mixer().eval(), make_model.sample(3, 4, 5)
        for options in ({"plugins": [PLUGIN]}, {"custom_translation_table": aton_onnx.translation_table(PLUGIN)}):
            self.compare(aton_onnx.torch_export(module, (x,), **options), module, (x,))

    def test_programs_and_exportable_modules(self):
        program = torch.export.export(self.module, self.inputs)
        self.compare(aton_onnx.torch_export(program), self.module, self.inputs)
        inputs = self.inputs

        class Exportable(torch.onnx.ExportableModule, Scaled):
            def example_arguments(self):
                return inputs, None

            def input_names(self):
                return ["rows", "factor"]

            def dynamic_shapes(self):
                return ({0: "batch"}, None)

        module = Exportable().eval()
        exported = aton_onnx.torch_export(module)
        self.assertEqual([each.name for each in exported.model.graph.inputs], ["rows", "factor"])
        self.compare(exported, module, (torch.randn(5, 60), self.inputs[1]))

    def test_numbers_unused_inputs_and_state(self):
        class Counter(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("seen", torch.zeros(3))

            def forward(self, x, unused, y):
                self.seen.add_(x)
                return 7, x * y, None, self.seen * 1

        program = aton_onnx.torch_export(Counter().eval(), (torch.ones(3), torch.ones(2), torch.ones(3)), output_names=["n", "xy"], verify=True)
        self.assertEqual([each.name for each in program.model.graph.inputs], ["x", "unused", "y"])
        names = [each.name for each in program.model.graph.outputs]
        self.assertEqual((len(names), names[:2], names[3]), (4, ["n", "xy"], "seen.out"))
        results = program(torch.full((3,), 2.0), torch.ones(2), torch.full((3,), 5.0))
        for result, truth in zip(results, [torch.tensor(7), *torch.tensor([[10.0] * 3, [2.0] * 3, [2.0] * 3])], strict=True):
            torch.testing.assert_close(result, truth)

    def test_schemas_of_rows_are_those_of_the_library(self):
        said = {
            "(Tensor x, float alpha=1.702, float limit=7.0) -> Tensor": "",
            "(Tensor x, float alpha=1.5, float limit=7.0) -> Tensor": "argument alpha differs in the default: 1.5 in the row, 1.702 in the library",
            "(Tensor x, float limit=7.0, float alpha=1.702) -> Tensor": "the row has the arguments (x, limit, alpha), the library (x, alpha, limit)",
            "(Tensor x, int alpha=1, float limit=7.0) -> Tensor": "argument alpha differs in the type: int in the row, float in the library",
            "(Tensor x, float alpha, float limit=7.0) -> Tensor": "argument alpha differs in the default: none in the row, 1.702 in the library",
            "(Tensor(a!) x, float alpha=1.702, float limit=7.0) -> Tensor": "argument x differs in being written to: True in the row, False in the library",
            "(Tensor x, float alpha=1.702, *, float limit=7.0) -> Tensor": "argument limit differs in being keyword-only: True in the row, False in the library",
            "(Tensor x, float alpha=1.702, float limit=7.0) -> (Tensor, Tensor)": "the row returns (Tensor, Tensor), the library (Tensor)",
        }
        library = _schemas._registered(torch, "custom_ops::swiglu")
        for row, difference in said.items():
            self.assertEqual(_schemas._difference(torch._C.parse_schema("custom_ops::swiglu" + row), library), difference)
        self.assertIsNone(_schemas._registered(torch, "custom_ops::nothing"))
        _schemas.check_schemas([PLUGIN])
        other = torch._C.parse_schema("custom_ops::swiglu(Tensor x, float alpha=1.5, float limit=7.0) -> Tensor")
        with unittest.mock.patch.object(_schemas, "_registered", lambda _, name: other if name == other.name else None):
            with self.assertRaisesRegex(aton_onnx.AtonError, "the row is not that of the library: custom_ops::swiglu: argument alpha"):
                aton_onnx.export(make_model.Mixer().eval(), self.path, args=(make_model.sample(3, 4, 5),), plugins=[PLUGIN])
        self.assertEqual(self.files(), [])

    def test_training_mode(self):
        with self.assertWarnsRegex(UserWarning, "training mode"):
            aton_onnx.torch_export(Scaled(), self.inputs)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
