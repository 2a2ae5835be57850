# SPDX-License-Identifier: MIT
"""Mappings of Aton in torch.onnx.export, through translation_table: ONNX Runtime's results are compared with torch's.
Exits with 77 without torch.

usage: translation_test.py ATON CUSTOM_OPS_PLUGIN TEST_PLUGIN

CUSTOM_OPS_PLUGIN is that of examples/custom_op_library; TEST_PLUGIN is tests/plugin/custom_plugin.cpp.
"""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
ATON, EXAMPLE, PLUGIN = (str(pathlib.Path(each).resolve()) for each in sys.argv[1:4])
os.environ["ATON_COMMAND"] = ATON
FOLDERS = [REPOSITORY / each for each in ("python", "examples/custom_op_library", "tests/python")]
sys.path[:0] = map(str, FOLDERS)
try:
    import torch
except ImportError:
    print("skipped: torch is not installed (ATON_WITH_TORCH=1)")
    sys.exit(77)

import aton_onnx  # noqa: E402
import make_model  # noqa: E402
import models_test  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from torch.export import Dim  # noqa: E402



class Lambda(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def declare_mylib():
    """The operators of tests/plugin/custom_plugin.cpp in Python."""
    library = torch.library.Library("mylib", "DEF")
    functions = {
        "my_relu(Tensor input) -> Tensor": torch.relu,
        "my_clip(Tensor input, float min, float? max=None) -> Tensor": lambda x, low, high=None: x.clamp(low, high),
        "extremes(Tensor input, SymInt dim) -> (Tensor, Tensor)": lambda x, dim: (x.amin(dim), x.amax(dim)),
        "parts(Tensor input, SymInt[] sizes) -> Tensor[]": lambda x, sizes: [each.clone() for each in x.split(list(sizes), 1)],
    }
    for schema, function in functions.items():
        library.define(schema)
        library.impl(schema.split("(")[0], function, "CompositeExplicitAutograd")
    return library


LIBRARIES = [make_model.declare(), declare_mylib()]


class Translation(unittest.TestCase):
    def translate(self, module, inputs, table, opset, **options):
        program = torch.onnx.export(module.eval(), inputs, custom_translation_table=table, opset_version=opset, verbose=False, **options)
        model = program.model_proto
        onnx.checker.check_model(model, full_check=True)
        self.assertEqual([each.version for each in model.opset_import if each.domain == ""], [opset])
        return model

    def compare(self, model, module, inputs):
        with torch.no_grad():
            expected = torch.utils._pytree.tree_leaves(module(*inputs))
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        names = [each.name for each in session.get_inputs()]
        results = session.run(None, {name: value.numpy() for name, value in zip(names, inputs, strict=True)})
        self.assertEqual(len(results), len(expected))
        for result, truth in zip(results, expected):
            self.assertEqual(torch.from_numpy(result).dtype, truth.dtype)
            torch.testing.assert_close(torch.from_numpy(result), truth, rtol=1e-4, atol=1e-4)

    def check(self, function, inputs, others=(), plugin=None, **options):
        """The model of torch.onnx.export with Aton's rows, on the inputs and on others."""
        module = Lambda(function).eval()
        for opset, optimize in ((18, True), (23, False)):
            with self.subTest(opset=opset):
                table = aton_onnx.translation_table(plugin) if plugin else self.built_in()
                model = self.translate(module, inputs, table, opset, optimize=optimize, **options)
                for each in (inputs, *others):
                    self.compare(model, module, each)

    @classmethod
    def built_in(cls):
        if not hasattr(cls, "table"):
            cls.table = aton_onnx.translation_table()
        return cls.table

    def refused(self, function, inputs, table, opset, *words):
        """The export fails, and the cause is an error of Aton."""
        with self.assertRaises(torch.onnx.OnnxExporterError) as caught:
            self.translate(Lambda(function), inputs, table, opset)
        problem = caught.exception
        while problem.__cause__ is not None:
            problem = problem.__cause__
        self.assertIsInstance(problem, aton_onnx.AtonError)
        self.assertNotIn("\n", str(problem))
        for word in words:
            self.assertIn(word, str(problem))
        self.assertIn(str(problem), str(caught.exception))  # what the user of torch.onnx reads
        return problem

    def test_one_row_serves_both_exporters(self):
        torch.manual_seed(3)
        module = make_model.Mixer().eval()
        shapes = {"x": {0: Dim("batch", max=1000)}}
        example = make_model.sample(3, 4, 5)
        program = torch.export.export(module, (example,), dynamic_shapes=shapes)
        for opset in (18, 23):
            through_torch = self.translate(module, (example,), aton_onnx.translation_table(EXAMPLE), opset, dynamic_shapes=shapes)
            self.addCleanup(pathlib.Path("/dev/shm/aton_translation.onnx").unlink, missing_ok=True)
            aton_onnx.export(program, "/dev/shm/aton_translation.onnx", opset_version=opset, plugins=[EXAMPLE])
            through_aton = onnx.load("/dev/shm/aton_translation.onnx")
            for batch in (3, 1, 8):
                self.compare(through_torch, module, (make_model.sample(batch, 4, 5),))
                self.compare(through_aton, module, (make_model.sample(batch, 4, 5),))

    def test_results_that_are_lists_and_optional_arguments(self):
        x = torch.randn(3, 5)
        ops = torch.ops.mylib
        table = aton_onnx.translation_table(PLUGIN, operators=["mylib::parts", "mylib::my_clip", "mylib::extremes"])
        module = Lambda(lambda x: (*ops.parts(x, [2, 0, 3]), ops.my_clip(x, -0.25), ops.my_clip(x, -1.0, 0.5), *ops.extremes(x, -1)))
        for opset in (18, 23):
            self.compare(self.translate(module, (x,), table, opset), module, (x,))

    def test_an_override_takes_the_place_of_torchs_function(self):
        table = aton_onnx.translation_table(PLUGIN, operators=["aten::add.Tensor"])
        module, inputs = Lambda(lambda a, b: a + b), (torch.randn(2, 3), torch.randn(3))
        self.compare(self.translate(module, inputs, table, 20), module, inputs)
        (function,) = table.values()
        self.assertEqual(function.aton.plugins, (PLUGIN,))
        self.assertEqual(len(function.aton._built), 1)

    def test_equal_calls_are_built_once_and_differ_only_in_names(self):
        table = aton_onnx.translation_table(EXAMPLE, operators=["custom_ops::swiglu"])
        self.check(lambda x: torch.ops.custom_ops.swiglu(torch.ops.custom_ops.swiglu(x)), (torch.randn(2, 8),), plugin=EXAMPLE)
        model = self.translate(
            Lambda(lambda x: (torch.ops.custom_ops.swiglu(x), torch.ops.custom_ops.swiglu(x * 2), torch.ops.custom_ops.swiglu(x, 0.5))),
            (torch.randn(2, 8),), table, 18, optimize=False,
        )  # fmt: skip
        self.assertEqual(sum(node.op_type == "Split" for node in model.graph.node), 3)
        (function,) = table.values()
        self.assertEqual(len(function.aton._built), 2)  # the third call has another alpha

    def test_built_in_rows(self):
        x = torch.randn(4, 6)
        rows = {0: Dim("rows")}
        other = torch.randn(9, 6)
        self.check(lambda x: torch.nn.functional.gelu(x).softmax(-1) + x.view(x.shape[0], 2, -1).sum(2).repeat(1, 3), (x,),
                   others=[(other,)], dynamic_shapes=((rows,),))  # fmt: skip
        self.check(lambda x: x.clamp(-float("inf"), 0.5).to(torch.float64) * torch.arange(x.shape[0])[:, None], (x,),
                   others=[(other,)], dynamic_shapes=((rows,),))  # fmt: skip
        self.check(lambda x: torch.fft.rfft(x, norm="ortho").abs(), (x,))
        self.check(lambda x: [each.relu() for each in x.split(2, 1)], (x,))
        self.check(lambda x, i: (x[i, 1:4], x[:, [0, 3]], torch.topk(x, 2)[1]), (x, torch.tensor([3, 0, 3])))
        self.check(lambda x: torch.nn.functional.dropout(x, training=False), (x,))  # a row that returns its argument
        self.check(lambda x: (x.contiguous(), x.contiguous()), (x,))

    def test_models(self):
        for number, (name, module, inputs) in enumerate(models_test.models()):
            if name == "in_place":  # torch.onnx of 2.13 fails on a clamp with an int and a float, whatever the table
                continue
            with self.subTest(name):
                module.eval()
                self.compare(self.translate(module, inputs, self.built_in(), (18, 23)[number % 2]), module, inputs)

    def test_arguments_of_every_kind(self):
        x, image = torch.randn(4, 6), torch.randn(1, 3, 6, 5)
        functional = torch.nn.functional
        cases = {
            "text": (lambda x: functional.gelu(x, approximate="tanh"), (x,)),
            "dtype": (lambda x: (x.sum(dtype=torch.float64), torch.zeros_like(x, dtype=torch.int32), x.to(torch.bfloat16).float()), (x,)),
            "memory format": (lambda x: x.contiguous(memory_format=torch.channels_last) * 2, (image,)),
            "device": (lambda x: x + torch.full((6,), 3, device="cpu", dtype=torch.float32), (x,)),
            "list of reals": (lambda x: functional.interpolate(x, scale_factor=(2.0, 1.5), mode="bilinear"), (image,)),
            "list with None": (lambda x, i: x[:, i, :, i], (image, torch.tensor([2, 0]))),
            "booleans": (lambda x: torch.var(x, 1, unbiased=False, keepdim=True), (x,)),
            "infinities": (lambda x: x.masked_fill(x > 0, -float("inf")).logsumexp(0), (x,)),
            "not a number": (lambda x: torch.nan_to_num(x.masked_fill(x > 1, float("nan")), 2.5, posinf=1.0), (x,)),
            "tensors": (lambda x: torch.cat([x, x[:2], torch.ones(1, 6)]).chunk(3)[1], (x,)),
            "empty list": (lambda x: x.sum(()) + x.mean([]), (x,)),
            "0-d": (lambda x, y: torch.where(x > y, x, y * 2), (x, torch.tensor(0.25))),
            "no elements": (lambda x: torch.cat([x[:0], x]), (x,)),
        }
        for name, (function, inputs) in cases.items():
            with self.subTest(name):
                module = Lambda(function)
                self.compare(self.translate(module, inputs, self.built_in(), 18), module, inputs)

    def test_nan_as_data(self):
        module, inputs = Lambda(lambda x: x.amax(1)), (torch.tensor([[1.0, float("nan"), 3.0], [4.0, 2.0, 0.5]]),)
        table = aton_onnx.translation_table(operators=["aten::amax"], nan="exact")
        model = self.translate(module, inputs, table, 18)
        (result,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"args_0": inputs[0].numpy()})
        torch.testing.assert_close(torch.from_numpy(result), module(*inputs), equal_nan=True)
        plain = self.translate(module, inputs, aton_onnx.translation_table(operators=["aten::amax"]), 18)
        self.assertLess(len(plain.graph.node), len(model.graph.node))

    def test_rows_with_nested_graphs(self):
        a, b = torch.tensor([12, 18, 7, 0]), torch.tensor([8, 27, 21, 5])
        shapes = (({0: Dim("n")}, {0: Dim("n")}),)
        others = [(torch.arange(9), torch.arange(9) * 6 + 2)]
        self.check(lambda a, b: torch.gcd(torch.gcd(a, b), b + 1), (a, b), others=others, dynamic_shapes=shapes)

    def test_in_a_branch(self):
        def branches(x):
            return torch.cond(x.sum() > 0, lambda x: torch.ops.custom_ops.swiglu(x), lambda x: torch.ops.custom_ops.swiglu(-x, 0.5), (x,))

        self.check(branches, (torch.ones(3, 4),), others=[(-torch.ones(3, 4),)], plugin=EXAMPLE)

    def test_what_a_row_refuses(self):
        refused = self.refused(torch.ops.mylib.my_relu, (torch.ones(3),), aton_onnx.translation_table(PLUGIN, operators=["mylib::my_relu"]), 18,
                               "mylib::my_relu: cannot be converted at opset 18: ", "no context")  # fmt: skip
        self.assertIsInstance(refused, aton_onnx.UnconvertibleError)
        self.assertEqual(refused.operator, "mylib::my_relu")
        table = aton_onnx.translation_table(EXAMPLE)
        self.refused(lambda x: torch.ops.custom_ops.swiglu(x), (torch.ones(2, 4, dtype=torch.int32),), table, 20, "custom_ops::swiglu", "opset 20")

    def test_numbers_that_the_model_computes(self):
        x, shapes = torch.ones(3, 4), (({1: Dim("n", min=3)},),)
        for opset in (18, 23):
            module, table = Lambda(lambda x: torch.full((2, x.shape[1]), x.shape[1] * 2)), self.built_in()
            model = self.translate(module, (x,), table, opset, dynamic_shapes=shapes)
            self.compare(model, module, (torch.ones(3, 7),))
        with self.assertRaises(torch.onnx.OnnxExporterError) as caught:
            self.translate(Lambda(lambda x: torch.full((2,), x.shape[1] / 8)), (x,), self.built_in(), 18, dynamic_shapes=shapes)
        self.assertIn("aten::full: the argument fill_value is computed by the model, but its row needs a number", str(caught.exception))
        with self.assertRaises(torch.onnx.OnnxExporterError) as caught:  # its row takes only constant sizes
            table = aton_onnx.translation_table(PLUGIN, operators=["mylib::parts"])
            self.translate(Lambda(lambda x: torch.ops.mylib.parts(x, [x.shape[1] - 1, 1])), (x,), table, 18, dynamic_shapes=shapes)
        self.assertIn("mylib::parts: cannot be converted at opset 18: ", str(caught.exception))

    def test_opsets(self):
        table = aton_onnx.translation_table(EXAMPLE, operators=["custom_ops::swiglu"])
        self.refused(torch.ops.custom_ops.swiglu, (torch.ones(2, 4),), table, 26, "custom_ops::swiglu", "only up to opset 25")
        table = aton_onnx.translation_table(operators=["aten::relu"])
        older = torch.onnx.export(Lambda(torch.relu).eval(), (torch.ones(2),), opset_version=17, verbose=False, custom_translation_table=table)
        self.compare(older.model_proto, Lambda(torch.relu), (torch.randn(2),))
        recent = aton_onnx.translation_table(operators=["aten::relu"], opset_version=18)
        self.assertEqual(list(recent), [torch.ops.aten.relu.default])

    def test_wrong_tables(self):
        with self.assertRaisesRegex(aton_onnx.AtonError, "^custom_ops::swigl: no mapping in .*custom_ops"):
            aton_onnx.translation_table(EXAMPLE, operators=["custom_ops::swigl"])
        with self.assertRaisesRegex(aton_onnx.AtonError, "missing.so"):
            aton_onnx.translation_table("missing.so")
        with self.assertRaisesRegex(aton_onnx.AtonError, "pyproject.toml"):
            aton_onnx.translation_table(REPOSITORY / "python" / "pyproject.toml")
        with self.assertRaisesRegex(aton_onnx.AtonError, "^aten::relu: Aton's mapping builds nodes only inside torch.onnx.export$"):
            aton_onnx.translation_table(operators=["aten::relu"])[torch.ops.aten.relu.default](torch.ones(2))
        names = {overload.name() for overload in self.built_in()}
        self.assertTrue({"aten::relu", "aten::native_layer_norm"} <= names)
        self.assertFalse({"aten::relu_", "aten::sym_size.int", "aten::item"} & names)
        self.assertFalse(self.built_in().left_out.keys() & names)

    def test_every_row_is_served_or_left_out_for_a_reason_that_holds(self):
        schemas = {f"{each.name}.{each.overload_name}".rstrip("."): each for each in torch._C._jit_get_all_schemas()}
        numbers = {"int", "float", "bool", "SymInt", "number", "Scalar"}
        facts = {  # of torch's schema (None: torch has none), by the reason
            "torch has no such operator": lambda schema, kinds: schema is None,
            "it writes to an argument": lambda schema, kinds: schema is not None and schema.is_mutable,
            "it returns nothing": lambda schema, kinds: schema is not None and not kinds,
            "torch.onnx computes sizes and other numbers": lambda schema, kinds: schema is not None and bool(kinds) and set(kinds) <= numbers,
            "it returns number, which no graph": lambda schema, kinds: "number" in kinds,
            "it returns ScalarType, which no graph": lambda schema, kinds: "ScalarType" in kinds,
            "it returns a list beside other results": lambda schema, kinds: len(kinds) > 1 and any(kind.startswith("List[") for kind in kinds),
        }
        table, reasons = self.built_in(), collections.Counter()
        served = {overload.name() for overload in table}
        self.assertEqual(served | table.left_out.keys(), {row.overload for row in aton_onnx.ops()})
        for name in served | table.left_out.keys():
            schema = schemas.get(name)
            kinds = [] if schema is None else [str(each.real_type) for each in schema.returns]
            holds = {reason for reason, fact in facts.items() if fact(schema, kinds)}
            with self.subTest(name):
                if name in served:
                    self.assertEqual(holds, set())
                else:
                    given = [reason for reason in facts if table.left_out[name].startswith(reason)]
                    self.assertEqual(len(given), 1, table.left_out[name])
                    self.assertIn(given[0], holds)
                    reasons[given[0]] += 1
        print(f"{len(served)} rows are served; left out: {dict(reasons)}")
        self.assertGreater(len(served), 850)

    def compiled(self, rows):
        """A plugin with these rows."""
        temporary = tempfile.TemporaryDirectory(prefix="aton-test-")
        self.addCleanup(temporary.cleanup)
        folder = pathlib.Path(temporary.name)
        source, library = folder / "rows.cpp", folder / "librows.so"
        source.write_text("#include <aton/aton.hpp>\n#include <aton/plugin.hpp>\nusing namespace aton::dsl;\n"
                          f"inline constexpr auto rows = table({rows});\nATON_PLUGIN(rows)\n")  # fmt: skip
        command = ["g++", "-std=c++20", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", "-I", REPOSITORY / "include", source, "-o", library]
        subprocess.run(command, check=True, timeout=600)
        return str(library)

    def test_results_that_are_none_or_numbers_and_rows_that_are_left_out(self):
        library = torch.library.Library("door", "DEF")
        self.addCleanup(library._destroy)
        functions = {
            "mixed(Tensor x, bool more) -> (Tensor, Tensor?, int, float, bool)": lambda x, more: (x * 2, x + 1 if more else None, 3, 0.25, True),
            "width(Tensor x) -> SymInt": lambda x: x.shape[1],
            "scale_(Tensor! x, float by) -> ()": lambda x, by: x.mul_(by),
            "both(Tensor x) -> (Tensor[], Tensor)": lambda x: ([x.clone()], x * 2),
        }
        for schema, function in functions.items():
            library.define(schema)
            library.impl(schema.split("(")[0], function, "CompositeExplicitAutograd")
        plugin = self.compiled("""
            symbolic<"door::mixed(Tensor x, bool more) -> (Tensor, Tensor?, int, float, bool)">(
                [](graph<13> g, value x, bool more) -> std::tuple<value, optional_value, value, value, value> {
                    optional_value const other = more ? optional_value(g.op<"Add">(x, 1)) : optional_value(absent);
                    return {g.op<"Mul">(x, 2), other, g.scalar(3, dtype::int64), g.scalar(0.25, dtype::float64), g.scalar(true, dtype::bool_)};
                }),
            symbolic<"door::width(Tensor x) -> SymInt">([](graph<13> g, value x) { return g.size(x, 1); }),
            symbolic<"door::scale_(Tensor! x, float by) -> ()">([](graph<13> g, value x, double by) { return g.op<"Mul">(x, by); }),
            symbolic<"door::both(Tensor x) -> (Tensor[], Tensor)">([](graph<13> g, value x) {
                return std::tuple<std::vector<value>, value>{{g.op<"Identity">(x)}, g.op<"Mul">(x, 2)};
            })""")
        with self.assertWarnsRegex(UserWarning, "rows that torch.onnx cannot use are left out: door::both: it returns a list beside .*; door::scale_: it writes"):
            table = aton_onnx.translation_table(plugin)
        self.assertEqual({each.name() for each in table}, {"door::mixed", "door::width"})
        self.assertEqual(list(table.left_out), ["door::both", "door::scale_"])
        for name in table.left_out:
            with self.assertRaisesRegex(aton_onnx.AtonError, f"^{name}: torch.onnx cannot use its mapping: it .*; use aton_onnx.torch_export$"):
                aton_onnx.translation_table(plugin, operators=["door::mixed", name])

        def present(x):
            a, b, n, f, t = torch.ops.door.mixed(x, True)
            return a, b, n * torch.ones(1, dtype=torch.int64), f * x

        def absent(x):
            a, b, n, _, _ = torch.ops.door.mixed(x, False)
            return a if b is None else b, x[:, : torch.ops.door.width(x) - 1]

        x = torch.randn(2, 5)
        for function in (present, absent):
            for opset in (18, 23):
                with self.subTest(function=function.__name__, opset=opset):
                    self.compare(self.translate(Lambda(function), (x,), table, opset), Lambda(function), (x,))

    def test_the_library_must_be_loaded_first(self):
        script = f"""
import aton_onnx, make_model
try:
    aton_onnx.translation_table({EXAMPLE!r})
except aton_onnx.AtonError as error:
    print(error)
library = make_model.declare()
print(len(aton_onnx.translation_table({EXAMPLE!r})))"""
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False,
                             env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, FOLDERS))})  # fmt: skip
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"^custom_ops::\w+: torch has no such operator; load the library that registers it, and try again\n3\n$")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]], warnings="ignore")  # of torch, about its own functions
