# SPDX-License-Identifier: MIT
"""aton_onnx.record: what it writes of calls of every kind, in files that `aton record-check` accepts. Exits with 77 without torch.

usage: record_test.py ATON
"""

import base64
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
ATON = sys.argv[1]
os.environ["ATON_COMMAND"] = ATON
sys.path.insert(0, str(REPOSITORY / "python"))
try:
    import torch
except ImportError:
    print("skipped: torch is not installed")
    sys.exit(77)

import aton_onnx  # noqa: E402


def scale_(x, by):
    x.mul_(by)


def scaled(x, by):
    x.mul_(by)
    return x


def rotary(positions, query, key=None):
    query.add_(positions.view(-1, 1).to(query.dtype))
    if key is not None:
        key.sub_(1)


def kinds(x, xs, ys, s, f, n, b, t, d, ns, fs, bs, ts, p=None, *, o=None, z=2.5, l=None):  # noqa: E741
    return x.clone()


FUNCTIONS = {
    "scale_(Tensor! x, float by) -> ()": scale_,
    "scaled(Tensor(a!) x, float by) -> Tensor(a!)": scaled,
    "rotary(Tensor positions, Tensor! query, Tensor!? key=None) -> ()": rotary,
    "bump(Tensor(a!)[] xs, Tensor y) -> Tensor": lambda xs, y: [each.add_(i + 1) for i, each in enumerate(xs)] and y * 2,
    "kinds(Tensor x, Tensor[] xs, Tensor?[] ys, Scalar s, float f, SymInt n, bool b, str t, ScalarType d, int[2] ns, float[] fs, bool[] bs,"
    " str[] ts, Tensor? p=None, *, Device? o=None, float z=2.5, Layout? l=None) -> Tensor": kinds,
    "several(Tensor x) -> (Tensor, Tensor?, int, float, bool)": lambda x: (x + 1, None, 3, float("nan"), True),
    "parts(Tensor x, SymInt[] sizes) -> Tensor[]": lambda x, sizes: [each.clone() for each in x.split(sizes)],
    "copy(Tensor x) -> Tensor": lambda x: x.clone(),
    "noise(Tensor x) -> Tensor": torch.rand_like,
    "words(Tensor x) -> str": lambda x: "word",
    "dict(Tensor x, Dict(str, Tensor) d) -> Tensor": lambda x, d: x.clone(),
    "fails(Tensor x) -> Tensor": lambda x: x.view(-1, 1000),
    "broken(Tensor x) -> Tensor": lambda x: torch.ops.rec.copy(x) + 1,
}
LIBRARY = torch.library.Library("rec", "DEF")
for schema, function in FUNCTIONS.items():
    tags = (torch.Tag.nondeterministic_seeded,) if schema.startswith("noise") else ()
    LIBRARY.define(schema, tags=tags)
    LIBRARY.impl(schema.split("(")[0], function, "CompositeExplicitAutograd")
# Composed of others, as whatever RegisterOperators registers is.
LIBRARY.define("composed(Tensor x, int[2] k=1) -> Tensor")
LIBRARY.impl("composed", lambda x, k=1: torch.ops.rec.copy(x) * 2, "CompositeImplicitAutograd")
LIBRARY.define("copy.more(Tensor x, Tensor y) -> Tensor")
LIBRARY.impl("copy.more", lambda x, y: x + y, "CompositeImplicitAutograd")
OPS = torch.ops.rec


def tensor(written):
    """A tensor as a file has it."""
    dtype = getattr(torch, written["dtype"])
    raw = bytearray(base64.b64decode(written["base64"]))
    return (torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)).reshape(written["shape"])


class Record(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="aton-test-")
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name, "calls.jsonl")

    def lines(self):
        return [json.loads(line) for line in self.path.read_text().splitlines()]

    def record(self, function, operators="rec", **options):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with aton_onnx.record(self.path, operators, **options) as recording:
                function()
        run = subprocess.run([ATON, "record-check", self.path], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        return self.lines(), recording

    def same(self, written, expected):
        self.assertEqual(tensor(written).dtype, expected.dtype)
        torch.testing.assert_close(tensor(written), expected.contiguous(), rtol=0, atol=0, equal_nan=True)

    def test_operators_that_write(self):
        x, y = torch.tensor([1.0, -2.5, float("nan")]), torch.tensor([[4.0]])
        (first, second), _ = self.record(lambda: (OPS.scale_(x, -2), OPS.scaled(y, 0.5)))
        self.assertEqual(first["schema"], "rec::scale_(Tensor($0! -> ) x, float by) -> ()")
        self.same(first["args"][0], torch.tensor([1.0, -2.5, float("nan")]))
        self.same(first["mutated"]["x"], torch.tensor([-2.0, 5.0, float("nan")]))
        self.assertEqual((first["args"][1], first["outputs"]), (-2.0, []))
        self.same(second["args"][0], torch.tensor([[4.0]]))
        self.same(second["outputs"][0], torch.tensor([[2.0]]))
        self.same(second["mutated"]["x"], torch.tensor([[2.0]]))

    def test_written_arguments_that_are_none_and_lists(self):
        query, xs = torch.zeros(3, 2), [torch.ones(2), torch.ones(1, 3, dtype=torch.int32)]
        lines, _ = self.record(lambda: (OPS.rotary(torch.arange(3), query), OPS.rotary(torch.arange(3), query, query.clone()), OPS.bump(xs, query[0])))
        self.assertIsNone(lines[0]["mutated"]["key"])
        self.same(lines[1]["kwargs"]["key"], torch.tensor([[0.0, 0], [1, 1], [2, 2]]))
        self.same(lines[1]["mutated"]["key"], torch.tensor([[-1.0, -1], [0, 0], [1, 1]]))
        for written, before, after in zip(lines[2]["args"][0], [torch.ones(2), torch.ones(1, 3, dtype=torch.int32)], xs, strict=True):
            self.same(written, before)
            self.assertNotEqual(before.tolist(), after.tolist())
        for written, after in zip(lines[2]["mutated"]["xs"], xs, strict=True):
            self.same(written, after)

    def test_arguments_of_every_kind(self):
        x = torch.arange(3)

        def call(number):
            OPS.kinds(x, [x, x[:1]], [None, x], number, 2, 5, True, 'a"\n\u00e9', torch.bfloat16, [3, -4], [0.5, -float("inf")], [True, False],
                      ["", "b"], o=torch.device("cpu"), l=torch.strided)  # fmt: skip

        lines, _ = self.record(lambda: [call(each) for each in (3, 2.5, True, float("nan"), 1 - 2j)])
        given = dict(zip("x xs ys s f n b t d ns fs bs ts".split(), lines[4]["args"], strict=True)) | lines[4]["kwargs"]
        self.assertEqual([line["args"][3] for line in lines[:3]], [3, 2.5, True])
        self.assertEqual([type(line["args"][3]) for line in lines], [int, float, bool, float, dict])
        self.assertEqual(given["s"], {"complex": [1.0, -2.0]})
        self.assertEqual([given[name] for name in "fnbt"], [2.0, 5, True, 'a"\n\u00e9'])
        self.assertEqual([given[name] for name in ("d", "ns", "bs", "ts", "o", "l")],
                         ["torch.bfloat16", [3, -4], [True, False], ["", "b"], "cpu", "torch.strided"])  # fmt: skip
        self.assertEqual(given["fs"], [0.5, -float("inf")])
        self.assertEqual(given["ys"][0], None)
        self.same(given["xs"][1], x[:1])

    def test_results_of_every_kind(self):
        x = torch.arange(5.0)
        (several, parts), _ = self.record(lambda: (OPS.several(x), OPS.parts(x, [2, 0, 3])))
        self.assertEqual(several["outputs"][1:3] + several["outputs"][4:], [None, 3, True])
        self.assertNotEqual(several["outputs"][3], several["outputs"][3])
        self.assertEqual([each["shape"] for each in parts["outputs"][0]], [[2], [0], [3]])

    def test_tensors_of_every_dtype_and_layout(self):
        plain = torch.tensor([[-1.5, 0.0, float("nan")], [float("inf"), 3.0, -0.0]])
        cases = [plain.to(dtype) for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)]
        whole = torch.tensor([[0, 1, 127], [5, 6, 7]])
        names = "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64".split()
        cases += [whole.to(getattr(torch, name)) for name in names]
        cases += [torch.complex(plain, plain.flip(0)), torch.complex(plain, plain).to(torch.complex128).conj(), torch.complex(plain, plain).conj().imag]
        cases += [plain.t(), plain[:, ::2], plain[0, 1], plain[:0], torch.empty(0, 3, 0), plain[:, :1].expand(2, 4), plain.as_strided((2, 2), (1, 1), 2)]
        cases += [torch.nn.Parameter(plain), (plain * 2).requires_grad_() * 2]
        lines, recording = self.record(lambda: [OPS.copy(each) for each in cases])
        self.assertEqual(recording.calls, {"rec::copy": len(cases)})
        for line, expected in zip(lines, cases, strict=True):
            given, result = tensor(line["args"][0]), tensor(line["outputs"][0])
            expected = expected.detach().resolve_conj().resolve_neg().contiguous()
            for each in (given, result):
                self.assertEqual((each.dtype, each.shape), (expected.dtype, expected.shape))
                self.assertTrue(torch.equal(each.flatten().view(torch.uint8), expected.flatten().view(torch.uint8)))

    def test_operators_that_are_composed_of_others(self):
        x = torch.ones(2)
        for context in (contextlib.nullcontext(), torch.no_grad(), torch.inference_mode()):
            with self.subTest(context=context), context:
                lines, _ = self.record(lambda: (OPS.composed(x), OPS.composed(x, [3, 4]), OPS.copy(x, x)), ["rec::composed", "rec::copy.more"])
                self.assertEqual([line["schema"].split("(")[0] for line in lines], ["rec::composed", "rec::composed", "rec::copy.more"])
                self.assertEqual(lines[1]["kwargs"], {"k": [3, 4]})
                self.same(lines[0]["outputs"][0], torch.full((2,), 2.0))

    def test_calls_from_modules_scripts_and_gradients(self):
        class Model(torch.nn.Module):
            def forward(self, x):
                return torch.ops.rec.copy(x) * 2

        x = torch.ones(2, requires_grad=True)
        model = Model()
        program = torch.export.export(model, (x,)).module()
        scripted = torch.jit.trace(model, (x,), check_trace=False)
        lines, _ = self.record(lambda: [each(x) for each in (model, program, scripted)], OPS.copy)
        self.assertEqual(len(lines), 3)
        with torch.no_grad():
            self.assertEqual(len(self.record(lambda: OPS.broken(x), "rec::*")[0]), 1)  # what its kernel calls is in no program

    def test_which_operators(self):
        x = torch.ones(2)

        def calls():
            OPS.copy(x), OPS.copy(x, x), OPS.several(x), x.neg().relu()  # noqa: B018

        for operators, expected in (
            ("rec::copy", ["rec::copy", "rec::copy.more"]),
            ("rec::copy.default", ["rec::copy"]),
            ("rec::copy.more", ["rec::copy.more"]),
            (OPS.copy, ["rec::copy", "rec::copy.more"]),
            (OPS.copy.default, ["rec::copy"]),
            (OPS, ["rec::copy", "rec::copy.more", "rec::several"]),
            (["rec::sev*", "aten::relu"], ["aten::relu", "rec::several"]),
            ("rec", ["rec::copy", "rec::copy.more", "rec::several"]),
        ):
            with self.subTest(operators=operators):
                _, recording = self.record(calls, operators)
                self.assertEqual(sorted(recording.calls), expected)

    def test_limits_and_appending(self):
        x = torch.ones(2)
        lines, recording = self.record(lambda: [OPS.copy(x) for _ in range(5)] + [OPS.several(x)], max_calls=2)
        self.assertEqual((len(lines), dict(recording.calls), dict(recording.left_out)), (3, {"rec::copy": 2, "rec::several": 1}, {"rec::copy": 3}))
        self.path.write_text(self.path.read_text().rstrip("\n"))
        self.assertEqual(len(self.record(lambda: OPS.copy(x), append=True)[0]), 4)
        self.assertEqual(len(self.record(lambda: OPS.copy(x))[0]), 1)
        self.assertEqual([each.name for each in self.path.parent.iterdir()], ["calls.jsonl"])

    def test_the_file_stays_as_it_was_if_anything_fails(self):
        self.record(lambda: OPS.copy(torch.ones(2)))
        before = self.path.read_bytes()
        with self.assertRaises(RuntimeError), aton_onnx.record(self.path, "rec"):
            OPS.copy(torch.ones(3))
            OPS.fails(torch.ones(2))
        with self.assertRaisesRegex(aton_onnx.AtonError, "^no call of rec::several was recorded; "), aton_onnx.record(self.path, "rec::several"):
            torch.ones(2) + 1
        self.assertEqual(self.path.read_bytes(), before)
        self.assertEqual([each.name for each in self.path.parent.iterdir()], ["calls.jsonl"])
        OPS.copy(torch.ones(2))  # no mode is left

    def test_an_operator_that_fails_is_recorded_until_then(self):
        def calls():
            OPS.copy(torch.ones(3))
            with contextlib.suppress(RuntimeError):
                OPS.fails(torch.ones(2))
            OPS.copy(torch.ones(2))

        self.assertEqual(len(self.record(calls)[0]), 2)

    def test_constants(self):
        x = torch.arange(5)
        lines, _ = self.record(lambda: (OPS.copy(x, x), OPS.rotary(x, torch.ones(5, 1))), constants={"rec::copy.more": ["y"], "rec::rot*": ["positions"]})
        self.assertEqual([line["constants"] for line in lines], [["y"], ["positions"]])
        for given, words in (({"rec::copy.more": ["z"]}, "rec::copy.more has no argument z, only x, y"), ({"aten::neg": ["self"]}, "aten::neg is not among")):
            with self.assertRaisesRegex(aton_onnx.AtonError, words), aton_onnx.record(self.path, "rec", constants=given):
                pass
        with self.assertRaises(TypeError), aton_onnx.record(self.path, "rec", constants={"rec::copy": "x"}):
            pass

    def test_random_results_are_compared_by_type(self):
        lines, _ = self.record(lambda: (OPS.noise(torch.ones(3)), OPS.copy(torch.ones(3))))
        self.assertEqual([line.get("compare") for line in lines], ["types", None])

    def test_calls_that_cannot_be_written(self):
        x = torch.ones(2)
        sparse = torch.ones(2, 2).to_sparse()
        for function, words in (
            (lambda: OPS.words(x), "rec::words: a call is not recorded: result 0 is str, which cannot be compared"),
            (lambda: OPS.dict(x, {"a": x}), "rec::dict: a call is not recorded: the argument d is a dict, for Dict"),
            (lambda: OPS.copy(sparse), "the argument x is torch.sparse_coo; only plain strided tensors"),
            (lambda: OPS.copy(torch.ones(2, device="meta")), "the argument x has no elements in memory"),
            (lambda: OPS.copy(torch.ones(2, dtype=torch.complex32)), "the argument x has the dtype complex32, which ONNX does not have"),
        ):
            with self.subTest(words), self.assertWarnsRegex(UserWarning, words):
                with aton_onnx.record(self.path, "rec") as recording:
                    function(), function()  # noqa: B018
                    OPS.several(x)
                self.assertEqual((dict(recording.calls), sum(recording.left_out.values())), ({"rec::several": 1}, 2))

        class Model(torch.nn.Module):
            def forward(self, x):
                return torch.ops.rec.copy(x)

        torch.library.register_fake("rec::copy", torch.empty_like, lib=LIBRARY)
        with self.assertWarnsRegex(UserWarning, "as while torch.export traces; call the module itself"):
            with aton_onnx.record(self.path, "rec"):
                torch.export.export(Model(), (x,))
                OPS.copy(x)
        self.assertEqual(len(self.lines()), 1)

    def test_record_check_names_every_line_that_is_wrong(self):
        x = '{"dtype": "float32", "shape": [1], "base64": "AAAAAA=="}'
        lines = [
            ('{"schema": "a::b(Tensor x)"}', "schema: is malformed: expected '->' after the arguments"),
            (f'{{"schema": "a::b(Tensor x, Tensor x) -> ()", "args": [{x}], "outputs": []}}', "schema: is malformed: two arguments have the same name; "),
            ("{", "the JSON is malformed or truncated; "),
            ("", None),
            (f'{{"schema": "a::c(Tensor! x) -> ()", "args": [{x}], "outputs": []}}', "the operator writes to 'x', but its value after the call is not in"),
            (f'{{"schema": "a::c(Tensor! x) -> ()", "args": [{x}], "outputs": [], "mutated": {{"x": null}}}}', "mutated.x: is null, but the argument 'x' is not None in this call"),
            (f'{{"schema": "a::c(Tensor! x) -> ()", "args": [], "outputs": [], "mutated": {{"x": {x}}}}}', "the argument 'x' has no value"),
            (f'{{"schema": "a::c(Tensor! x) -> ()", "args": [{x}, 1], "outputs": [], "mutated": {{"x": {x}}}}}', "args[1]: the schema has fewer positional"),
            (f'{{"schema": "a::c(Tensor! x) -> ()", "kwargs": {{"y": {x}}}, "outputs": []}}', "kwargs.y: the schema has no such argument"),
            (f'{{"schema": "a::d(int n) -> Tensor", "args": [0.5], "outputs": [{x}]}}', "args[0]: expected an integer"),
            (f'{{"schema": "a::d(int n) -> Tensor", "args": [3], "outputs": [{x}, {x}]}}', "outputs: the number of results is 1 in the schema, but 2 here"),
            ('{"schema": "a::d(int n) -> Tensor", "args": [3], "outputs": [{"dtype": "float32", "shape": [2], "base64": "AAAAAA=="}]}', "outputs[0]"),
            ('{"schema": "a::e(Dict(str, int) d) -> ()", "args": [{"a": 1}], "outputs": []}', "args[0]: an argument of type Dict(str, int) cannot be recorded"),
            (f'{{"schema": "a::f(Tensor x) -> Tensor", "args": [{x}], "outputs": [{x}]}}', None),
            (f'{{"schema": "a::f(Tensor x, int n=1) -> Tensor", "args": [{x}], "outputs": [{x}]}}', "a::f has another schema than at "),
        ]
        self.path.write_text("\n".join(line for line, _ in lines))
        run = subprocess.run([ATON, "record-check", self.path], capture_output=True, text=True, timeout=60, check=False)
        said = run.stderr.splitlines()
        expected = [(number, words) for number, (_, words) in enumerate(lines, 1) if words]
        self.assertEqual((run.returncode, len(said)), (1, len(expected)), run.stderr)
        for line in said:
            number = int(line.split(".jsonl:")[1].split(":")[0])
            self.assertIn(dict(expected)[number], line)
        self.assertIn(f"calls.jsonl: 2 calls of 1 operator, {len(expected)} problems\n    a::f: 2 calls\n", run.stdout)
        run = subprocess.run([ATON, "record-check", "--json", self.folder.name], capture_output=True, text=True, timeout=60, check=False)
        (found,) = json.loads(run.stdout)
        self.assertEqual([each["overload"] for each in found["operators"]], ["a::f"])
        self.assertEqual([f"aton: {each}" for each in found["problems"]], run.stderr.splitlines())
        self.path.write_text("\n")
        run = subprocess.run([ATON, "record-check", self.path], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((run.returncode, run.stderr), (1, f"aton: {self.path}: has no calls\n"))

    def test_wrong_arguments(self):
        for operators, words in (
            ("rec::cpy", "^rec::cpy: torch has no such operator; did you mean rec::copy\\?$"),
            ("nothing_like_it::*", r"^nothing_like_it::\*: torch has no such operator; load the library that registers it, and try again$"),
            ([], "^no operators are named$"),
        ):
            with self.assertRaisesRegex(aton_onnx.AtonError, words), aton_onnx.record(self.path, operators):
                pass
        with self.assertRaisesRegex(ValueError, "must end in .jsonl"), aton_onnx.record("calls.json", "rec"):
            pass
        with self.assertRaisesRegex(ValueError, "max_calls"), aton_onnx.record(self.path, "rec", max_calls=0):
            pass
        with self.assertRaises(TypeError), aton_onnx.record(self.path, 3):
            pass
        self.assertFalse(self.path.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
