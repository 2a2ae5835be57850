# SPDX-License-Identifier: MIT
"""aton stub and aton_onnx.stub: rows for schemas of every shape compile without a warning, and refuse; aton ops NAME names real headers.

usage: stub_test.py ATON COMPILER [CUSTOM_OPS_LIBRARY]
"""

import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from typing import Optional

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
ATON, COMPILER = sys.argv[1:3]
os.environ["ATON_COMMAND"] = ATON
sys.path.insert(0, str(REPOSITORY / "python"))
HAS_TORCH = importlib.util.find_spec("torch") is not None
MODELS = REPOSITORY / "tests" / "data" / "plugin"

# Schemas, as torch prints them, with the parameters and what the body returns.
ROWS = [
    ("a(Tensor x) -> Tensor", "value /*x*/", "value"),
    ("b.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "value /*x*/, value /*out*/", "value"),
    ("c(Tensor($0! -> ) result, Tensor input) -> ()", "value /*result*/, value /*input*/", "value: the new value of result"),
    ("d(Tensor p, Tensor($0! -> ) query, Tensor($1! -> )? key) -> ()", "value /*p*/, value /*query*/, optional_value /*key*/",
     "std::tuple<value, optional_value>: the new value of query, of key"),
    ("e(Tensor _0, Tensor _1, int _2) -> (Tensor _0, Tensor _1)", "value /*_0*/, value /*_1*/, std::int64_t /*_2*/", "std::tuple<value, value>"),
    ("f(Tensor[] xs, Tensor?[] ys, Tensor? z=None) -> Tensor[]", "std::span<value const> /*xs*/, std::span<optional_value const> /*ys*/, optional_value /*z*/",
     "std::vector<value>"),
    ("g(Tensor(a!)[] xs, Tensor[](b!) ys) -> Tensor?", "std::span<value const> /*xs*/, std::span<value const> /*ys*/",
     "std::tuple<optional_value, std::vector<value>, std::vector<value>>: the result, then the new value of xs, of ys"),
    ("h(Tensor value, float double, int default, bool g) -> Tensor", "value /*value_*/, double /*double_*/, std::int64_t /*default_*/, bool /*g_*/", "value"),
    ("i(Tensor x, Scalar s=1.5, complex c=1.j, *, str t=\"a\\\"b\", str u='c') -> Tensor", "value /*x*/, scalar /*s*/, scalar /*c*/, std::string_view /*t*/, std::string_view /*u*/",
     "value"),
    ("j(Tensor x, Scalar? s=None, float? f=None, int? n=None, bool? b=None, str? t=None, complex? c=None) -> Tensor",
     "value /*x*/, std::optional<scalar> /*s*/, std::optional<double> /*f*/, std::optional<std::int64_t> /*n*/, std::optional<bool> /*b*/, "
     "std::optional<std::string_view> /*t*/, std::optional<scalar> /*c*/", "value"),
    ("k(Tensor x, SymInt n, SymInt? m=None, SymInt[] s=[1, 2], SymInt[2]? t=None) -> Tensor",
     "value /*x*/, size /*n*/, std::optional<size> /*m*/, std::span<size const> /*s*/, std::optional<std::span<size const>> /*t*/", "value"),
    ("l(Tensor x, int[] a, int[3] b=1, int[]? c=None) -> Tensor",
     "value /*x*/, std::span<std::int64_t const> /*a*/, std::span<std::int64_t const> /*b*/, std::optional<std::span<std::int64_t const>> /*c*/", "value"),
    ("m(Tensor x, float[] a, float[]? b, bool[2] c, bool[]? d) -> Tensor",
     "value /*x*/, std::span<double const> /*a*/, std::optional<std::span<double const>> /*b*/, std::span<bool const> /*c*/, "
     "std::optional<std::span<bool const>> /*d*/", "value"),
    ("n(Tensor x, Scalar[] a, str[] b, str[]? c, complex[] d) -> Tensor",
     "value /*x*/, std::span<scalar const> /*a*/, std::span<std::string const> /*b*/, std::optional<std::span<std::string const>> /*c*/, "
     "std::span<number const> /*d*/", "value"),
    ("o(Tensor x, ScalarType d, ScalarType? e=None, Layout? l=None, Device? v=None, MemoryFormat? m=None, Generator? generator=None) -> Tensor",
     "value /*x*/, dtype /*d*/, std::optional<dtype> /*e*/, layout /*l*/, device /*v*/, memory_format /*m*/, generator /*generator_*/", "value"),
    ("p(Tensor x, Layout l, Device d=cpu, MemoryFormat m=contiguous_format) -> Tensor", "value /*x*/, layout /*l*/, device /*d*/, memory_format /*m*/", "value"),
    ("q(Tensor x, int[][] a, float[][] b, int[][]? c) -> Tensor",
     "value /*x*/, std::vector<std::vector<std::int64_t>> /*a*/, std::vector<std::vector<double>> /*b*/, "
     "std::optional<std::vector<std::vector<std::int64_t>>> /*c*/", "value"),
    ("r((Tensor, Tensor) pair, (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor) six) -> Tensor", "std::array<value, 2> /*pair*/, std::array<value, 6> /*six*/", "value"),
    ("s(Tensor x) -> (Tensor, Tensor?, int, float, bool)", "value /*x*/", "std::tuple<value, optional_value, value, value, value>"),
    ("t(Tensor x) -> (Tensor[], Tensor)", "value /*x*/", "std::tuple<std::vector<value>, value>"),
    ("u(int n) -> Tensor", "std::int64_t /*n*/", "value"),
    ("v() -> Tensor", "", "value"),
    ("w(Tensor(a!) x, Tensor(b!) y, float eps=1e-6) -> (Tensor(a!), Tensor)", "value /*x*/, value /*y*/, double /*eps*/",
     "std::tuple<value, value, value>: the results, then the new value of y"),
    ("x(Tensor[]? xs, Tensor?[]? ys) -> Tensor", "std::optional<std::span<value const>> /*xs*/, std::optional<std::span<optional_value const>> /*ys*/", "value"),
    ("y(Tensor x, int n=-3, float f=inf, float e=-1.0000000000000001e-05, bool b=False) -> Tensor",
     "value /*x*/, std::int64_t /*n*/, double /*f*/, double /*e*/, bool /*b*/", "value"),
    ("z(Tensor x, SymFloat f, SymBool b, SymFloat[] g, SymBool? c) -> Tensor",
     "value /*x*/, number /*f*/, number /*b*/, std::span<number const> /*g_*/, std::optional<number> /*c*/", "value"),
    ("aa(Tensor(a -> *) x, Tensor(b|c) y) -> Tensor", "value /*x*/, value /*y*/", "value"),
    ("ab.default_dim(Tensor x, int dim) -> (Tensor values, Tensor indices)", "value /*x*/, std::int64_t /*dim*/", "std::tuple<value, value>"),
    ("ac(Tensor($0! -> )[] xs, Tensor y) -> Tensor", "std::span<value const> /*xs*/, value /*y*/", "std::tuple<value, std::vector<value>>: the result, then the new value of xs"),
    ("ad(Tensor x, Tensor x2, str mode='nearest') -> SymInt", "value /*x*/, value /*x2*/, std::string_view /*mode*/", "value"),
    ("ae(Tensor x, *, int a, int b=2) -> Tensor", "value /*x*/, std::int64_t /*a*/, std::int64_t /*b*/", "value"),
    ("af(Tensor attr, Tensor table, Tensor class) -> Tensor", "value /*attr_*/, value /*table_*/, value /*class_*/", "value"),
]  # fmt: skip
# Those that no row can map.
REFUSED = {
    "ba(Tensor x, Dict(str, Tensor) d) -> Tensor": "its argument d is Dict(str, Tensor), which no C++ parameter type can hold; declare a list of its keys",
    "bb(Any x) -> Tensor": "its argument x is Any, which no C++ parameter type can hold; declare the type of what is passed instead",
    "bc(Tensor[][] x) -> Tensor": "its argument x is Tensor[][], which no C++ parameter type can hold; declare one list for each",
    "bd(__torch__.torch.classes.my.Type t) -> Tensor": "its argument t is __torch__.torch.classes.my.Type, which no",
    "be(Tensor x) -> str": "its result 1 is str, which no graph can have",
    "bf(Tensor x, ...) -> Tensor": "its schema has '...', for which there are no parameters",
    "bg(ScalarType[] x) -> Tensor": "its argument x is ScalarType[], which no C++ parameter type can hold; declare a type that",
    "bi(Tensor x, Tensor x) -> Tensor": "its schema is my_ops::bi(Tensor x, Tensor x) -> Tensor: two arguments have the same name; rename one",
    "bj(Tensor x)": "its schema is my_ops::bj(Tensor x): expected '->' after the arguments",
    "bh(int?[] x) -> Tensor": "its argument x is int?[], which no C++ parameter type can hold",
}


def aton(*words):
    return subprocess.run([ATON, *map(str, words)], capture_output=True, text=True, timeout=120, check=False)


class Stubs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="aton-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compile(self, text):
        source, library = self.folder / "stubs.cpp", self.folder / "libstubs.so"
        source.write_text(text)
        warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
        command = [*COMPILER.split(), "-std=c++20", "-O0", "-fPIC", "-shared", "-fvisibility=hidden", *warnings, "-I", REPOSITORY / "include", source, "-o", library]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""), text)
        return library

    def stubs(self, schemas):
        path = self.folder / "schemas.txt"
        path.write_text("\n".join(["# schemas", "", *(f"my_ops::{each}" for each in schemas)]))
        run = aton("stub", "--schemas", path)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def test_schemas_of_every_shape_compile_with_the_right_parameters(self):
        text = self.stubs([schema for schema, _, _ in ROWS] + list(REFUSED))
        for schema, parameters, returned in ROWS:
            name = re.escape(f"my_ops::{schema.partition('(')[0]}")
            row = re.search(rf'    // Returns ([^\n]*)\.\n    symbolic<"{name}\(([^\n]*)">\(\n        \[\]\(graph<13> g(?:, )?([^\n]*)\) \{{\n', text)
            self.assertIsNotNone(row, schema)
            self.assertEqual((row[1], row[3]), (returned, parameters), schema)
            self.assertNotIn("$", row[2])
        for schema, reason in REFUSED.items():
            self.assertIn(f"    // my_ops::{schema.partition('(')[0]}: {reason}", text)
        library = self.compile(text)
        listed = json.loads(aton("ops", "--json", "--plugin", library).stdout)
        found = {row["overload"] for row in listed if row.get("plugin")}
        self.assertEqual(found, {f"my_ops::{schema.partition('(')[0]}" for schema, _, _ in ROWS})
        self.assertEqual(aton("stub", "--schemas", self.folder / "schemas.txt", "--plugin", library).stdout.count("symbolic"), 0)

    def test_the_operators_of_a_model(self):
        model = MODELS / "custom_op.pt2"
        run = aton("stub", model, "-o", self.folder / "written.cpp")
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, f"{self.folder}/written.cpp: 1 operator\n", ""))
        text = (self.folder / "written.cpp").read_text()
        self.assertEqual(text, aton("stub", model).stdout)
        self.assertIn("The schema is inferred from the program", text)
        library = self.compile(text)
        refused = aton("export", model, "-o", self.folder / "model.onnx", "--plugin", library)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("custom_ops::foo_forward", refused.stderr)
        self.assertIn("the row of custom_ops::foo_forward is a stub", refused.stderr)
        done = aton("stub", model, "--plugin", library)
        self.assertEqual((done.returncode, done.stdout), (0, "// every operator of custom_op.pt2 has a mapping\n"))
        schemas = self.folder / "schemas.txt"
        schemas.write_text("custom_ops::foo_forward(Tensor input1, Tensor input2, float attr1, int attr2=3) -> Tensor\n")
        self.assertIn("float attr1, int attr2=3) -> Tensor", aton("stub", model, "--schemas", schemas).stdout)

    def test_wrong_usage(self):
        self.assertEqual(aton("stub").returncode, 2)
        self.assertEqual(aton("stub", "missing.pt2").returncode, 1)
        path = self.folder / "schemas.txt"
        path.write_text("\nb(int x) -> ()")
        run = aton("stub", "--schemas", path)
        self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1))
        self.assertIn(":2: expected a schema with a namespace", run.stderr)

    @unittest.skipUnless(HAS_TORCH, "torch is not installed")
    def test_from_python(self):
        import aton_onnx
        import torch

        library = torch.library.Library("stubbed", "DEF")
        library.define("scale_(Tensor! x, float by, Tensor? w=None) -> ()")
        library.define("scale_.more(Tensor x, float[] by) -> Tensor[]")
        library.define("mixed(Tensor x, int[2] k=1) -> (Tensor, int)")
        library.impl("scale_", lambda x, by, w=None: [x.mul_(by)].clear(), "CompositeExplicitAutograd")
        library.impl("mixed", lambda x, k=1: (x + 1, 3), "CompositeExplicitAutograd")
        text = aton_onnx.stub("stubbed")
        self.assertEqual(text.count("symbolic<"), 3)
        self.assertIn('symbolic<"stubbed::scale_(Tensor! x, float by, Tensor? w=None) -> ()">', text)
        self.assertEqual(aton_onnx.stub([torch.ops.stubbed.mixed]).count("symbolic<"), 1)
        self.assertEqual(aton_onnx.stub("stubbed::scale_", output=self.folder / "out.cpp"), (self.folder / "out.cpp").read_text())

        class Model(torch.nn.Module):
            def forward(self, x):
                torch.ops.stubbed.scale_(x, 0.5)
                return x * 2

        program = torch.export.export(Model(), (torch.ones(2, 3),))
        for each in (program, program.run_decompositions()):
            text = aton_onnx.stub(each)
            self.assertEqual(text.count("symbolic<"), 1)
            self.assertIn('symbolic<"stubbed::scale_(Tensor! x, float by, Tensor? w=None) -> ()">', text)
            self.assertIn("Called at ", text)
        torch.export.save(program.run_decompositions(), self.folder / "model.pt2")
        inferred = aton("stub", self.folder / "model.pt2").stdout
        self.assertRegex(inferred, r'symbolic<"stubbed::scale_\(float by, Tensor\? w, Tensor! x\) -> \(\)">')
        self.compile(inferred)
        with self.assertRaisesRegex(aton_onnx.AtonError, "^nothing_here: torch has no such operator"):
            aton_onnx.stub("nothing_here")
        with self.assertRaisesRegex(aton_onnx.AtonError, r"missing\.so: cannot be loaded: "):
            aton_onnx.stub(self.folder / "missing.so")
        with self.assertRaises(TypeError):
            aton_onnx.stub("stubbed", args=(1,))

    @unittest.skipUnless(HAS_TORCH, "torch is not installed")
    def test_a_torchscript_archive(self):
        import torch

        library = torch.library.Library("scripted", "DEF")
        schemas = ['blend(Tensor x, Tensor y, float w=0.5, *, str mode="a") -> Tensor', "blend.more(Tensor[] xs) -> Tensor",
                   "parts(Tensor x, int[] sizes, Tensor? w=None) -> (Tensor, Tensor[])", "bump_(Tensor(a!) x, float by) -> ()",
                   "scale(Tensor x, float by, int? n=None) -> Tensor"]  # fmt: skip
        for schema in schemas:
            library.define(schema)

        class Part(torch.nn.Module):
            def forward(self, x, by: float, n: Optional[int] = None):
                torch.ops.scripted.bump_(x, by)
                return torch.ops.scripted.scale(x, by, n)

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.part = Part()

            def forward(self, x, y):
                for i in range(3):
                    x = torch.ops.scripted.blend(x, y, 0.25, mode="b")
                if x.sum() > 0:
                    x, _ = torch.ops.scripted.parts(x.relu(), [1, 2])
                return self.part(x, 1.5) + torch.ops.scripted.blend(x, y)

        archive, text = self.folder / "model.pt", self.folder / "schemas.txt"
        torch.jit.script(Model()).save(str(archive))
        run = aton("stub", archive)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        for schema in ("blend(Tensor _0, Tensor _1, float _2, str mode) -> Tensor", "bump_(Tensor _0, float _1) -> ()",
                       "parts(Tensor _0, int[] _1) -> (Tensor, Tensor)", "scale(Tensor _0, float _1, int? _2) -> Tensor"):  # fmt: skip
            self.assertIn(f'symbolic<"scripted::{schema}">', run.stdout)
        self.assertEqual(run.stdout.count("symbolic<"), 4)
        self.assertRegex(run.stdout, r"    // Called at stub_test\.py:\d+ in forward, stub_test\.py:\d+ in forward\.\n")
        self.assertIn("    // The code does not name the overload, the types of its results", run.stdout)
        self.assertIn("Some calls leave arguments out", run.stdout)
        text.write_text("".join(f"scripted::{schema}\n" for schema in schemas if not schema.startswith("scale")))
        run = aton("stub", archive, "--schemas", text)
        for schema in schemas[:-1]:  # the code does not say which overload of blend it calls
            self.assertIn('symbolic<"scripted::' + schema.replace('"', '\\"') + '">', run.stdout)
        self.assertIn('symbolic<"scripted::scale(Tensor _0, float _1, int? _2) -> Tensor">', run.stdout)
        inputs = ("--input", "x:float32[2,3]", "--input", "y:float32[2,3]")
        refused = aton("export", archive, "-o", self.folder / "model.onnx", *inputs)
        self.assertRegex(refused.stderr, r"^aton: .*model\.pt: .*calls 'scripted::blend', which neither torch nor a table declares; write a row for it: aton stub begins one\n$")
        plugin = self.compile(run.stdout)
        done = aton("stub", archive, "--plugin", plugin)
        self.assertEqual((done.returncode, done.stdout), (0, "// every operator of model.pt has a mapping\n"))
        self.assertEqual(aton("stub", archive, *inputs).stdout.count("symbolic<"), 4)

    @unittest.skipUnless(HAS_TORCH and len(sys.argv) > 3 and sys.argv[3:] and os.path.exists(sys.argv[-1]), "no library for torch")
    def test_a_library(self):
        script = f"import aton_onnx\nprint(aton_onnx.stub({sys.argv[3]!r}))"
        run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": str(REPOSITORY / "python")})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Rows for the operators of libcustom_ops.so without a mapping", run.stdout)
        self.assertIn('symbolic<"custom_ops::rms_norm(Tensor x, Tensor? weight=None, float eps=9.9999999999999995e-07, int dim=-1) -> (Tensor, Tensor)">', run.stdout)


class Ops(unittest.TestCase):
    def test_every_row_names_the_header_that_declares_its_table(self):
        rows = json.loads(aton("ops", "--json").stdout)
        self.assertGreater(len(rows), 1000)
        listed = {(row["table"], row["header"]) for row in rows}
        for table, header in listed:
            text = (REPOSITORY / "include" / header).read_text()
            name = table.removeprefix("mappings::")
            self.assertRegex(text, rf"\ninline constexpr auto {name} =", header)
        for row in rows:  # a row's name is in its header, or what the header includes of the family
            self.assertTrue(row["header"].startswith("aton/mappings/"))

    def test_names(self):
        for words in (["grid_sampler"], ["aten::grid_sampler"]):
            run = aton("ops", *words)
            self.assertRegex(run.stdout, r"^\d+-\d*  +aten::grid_sampler\(.*\) -> Tensor  # mappings::sampling, <aton/mappings/sampling\.hpp>\n", words)
        self.assertEqual({line.split("(")[0].split()[1] for line in aton("ops", "aten::add").stdout.splitlines()} >= {"aten::add.Tensor", "aten::add.Scalar"}, True)
        self.assertEqual(len({line.split("(")[0].split()[1] for line in aton("ops", "aten::add.Tensor").stdout.splitlines()}), 1)
        self.assertNotIn("mappings::", aton("ops").stdout)
        for name, words in (("aten::rellu", "did you mean aten::relu?"), ("nothing_of_the_kind", "no mapping")):
            run = aton("ops", name)
            self.assertEqual((run.returncode, run.stderr.count("\n")), (1, 1))
            self.assertIn(f"aton: {name}: ", run.stderr)
            self.assertIn(words, run.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], warnings="ignore")
