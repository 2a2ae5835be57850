# SPDX-License-Identifier: MIT
"""aton verify of .onnx files: two models, ONNX Runtime, and commands that run models; 20 planted faults are named to the node.

usage: onnx_models_test.py ATON
"""

import json
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import zipfile
from pathlib import Path

import numpy
import onnx
import onnxruntime
import planted_faults
from onnx import TensorProto, helper, numpy_helper

ATON = str(Path(sys.argv.pop(1)).resolve())
LIBRARY = next((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"), None)
#: What the command of a runtime is: it has its work done by this process, which need not load ONNX Runtime each time.
CLIENT = """
import socket, sys
with socket.socket(socket.AF_UNIX) as to:
    to.connect(sys.argv[1])
    to.sendall("\\n".join(sys.argv[2:]).encode() + b"\\0")
    sys.exit(to.makefile().read() or None)
"""


class Runtime(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        words = b""
        while not words.endswith(b"\0"):
            words += self.request.recv(4096)
        try:
            planted_faults.run(*words[:-1].decode().split("\n"))
        except Exception as fault:  # noqa: BLE001: ONNX Runtime has many
            self.wfile.write(str(fault).encode())


def info(name: str, dims: list, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, dims)


def model_of(nodes, inputs, outputs, initializers=(), opset=20) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "main", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


class Folder(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def write(self, name: str, model: onnx.ModelProto) -> str:
        (self.folder / name).write_bytes(model.SerializeToString())
        return name

    def aton(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run([ATON, "verify", *arguments], cwd=self.folder, capture_output=True, text=True, check=False, timeout=120)

    def report(self, *arguments: str, status: int) -> dict:
        done = self.aton(*arguments, "--json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def refused(self, *arguments: str, status: int = 1) -> str:
        done = self.aton(*arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return done.stderr


class TwoModels(Folder):
    def test_planted_faults_are_named(self):
        right = planted_faults.model()
        self.write("right.onnx", right)
        positions = {n.name: i + 1 for i, n in enumerate(right.graph.node)}
        for fault, (_, name) in planted_faults.FAULTS.items():
            with self.subTest(fault=fault):
                self.write("wrong.onnx", planted_faults.planted(fault, right))
                report = self.report("right.onnx", "wrong.onnx", status=1)
                at = report["starts"] if report["starts"]["value"] else report["differs"]
                self.assertEqual((at["first"]["name"], at["first"]["position"]), (name, positions[name]), report)
                self.assertEqual(at["value"], f"{name}_out")
                errors = {v["value"]: v["worst_error"] for v in report["values"]}
                self.assertEqual(len(errors), len(right.graph.node))
                self.assertEqual([v["value"] for v in report["values"] if v["worst_error"] != 0][0], f"{name}_out")

    def test_what_is_the_same(self):
        self.write("a.onnx", planted_faults.model())
        renamed = planted_faults.model()
        for node in renamed.graph.node:  # inner values only
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    if name.endswith("_out") and name != "joined_out":
                        names[i] = "other_" + name
        self.write("b.onnx", renamed)
        self.assertTrue(self.report("a.onnx", "b.onnx", status=0)["passed"])
        subprocess.run([ATON, "optimize", "a.onnx", "-o", "c.onnx", "-q"], cwd=self.folder, check=True)
        self.assertTrue(self.report("a.onnx", "c.onnx", "--samples", "2", status=0)["passed"])

    def test_values_without_a_namesake(self):
        right = planted_faults.model()
        wrong = planted_faults.planted("tanh_for_sigmoid", right)
        for node in wrong.graph.node:
            for names in (node.input, node.output):
                for i, name in enumerate(names):
                    if name.endswith("_out") and name != "joined_out":
                        names[i] = "other_" + name
        self.write("right.onnx", right)
        self.write("wrong.onnx", wrong)
        at = self.report("right.onnx", "wrong.onnx", status=1)["differs"]
        self.assertEqual((at["value"], at["second"]), ("gate_out", None))  # what is read before and after has the same numbers

    def test_a_model_that_does_not_run(self):
        x, y = info("x", ["n", 3]), info("y", ["n", 3])
        self.write("a.onnx", model_of([helper.make_node("Relu", ["x"], ["y"])], [x], [y]))
        unknown = model_of([helper.make_node("Strange", ["x"], ["y"], domain="org.example")], [x], [y])
        unknown.opset_import.append(helper.make_opsetid("org.example", 1))
        self.write("b.onnx", unknown)
        self.assertIn("Strange", self.refused("a.onnx", "b.onnx"))
        self.write("c.onnx", model_of([helper.make_node("Relu", ["x"], ["y"])], [x, info("z", [1])], [y]))
        self.assertIn("inputs", self.refused("a.onnx", "c.onnx"))

    def test_wrong_usage(self):
        self.write("a.onnx", planted_faults.model())
        for arguments in (["a.onnx"], ["a.onnx", "b.pt2"], ["a.onnx", "a.onnx", "--runtime", "onnxruntime"], ["a.onnx", "--runtime", "tvm"],
                          ["a.onnx", "--runtime", "onnxruntime:most"], ["a.onnx", "a.onnx", "--reproduction", "f"],
                          ["a.onnx", "--runtime-library", "l.so"], ["a.onnx", "a.onnx", "--model", "m"]):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, status=2)


class Inputs(Folder):
    """Both models differ only where x is 7."""

    def setUp(self) -> None:
        super().setUp()
        inputs = [info("x", ["n", 2]), info("keys", [2], TensorProto.INT64)]
        equal = [helper.make_node("Equal", ["x", "seven"], ["e"]), helper.make_node("Where", ["e", "zero", "x"], ["w"])]
        seven, zero = numpy_helper.from_array(numpy.float32(7), "seven"), numpy_helper.from_array(numpy.float32(0), "zero")
        gather = helper.make_node("Gather", ["x", "keys"], ["y"], axis=1)
        self.write("a.onnx", model_of([gather], inputs, [info("y", ["n", 2])]))
        other = helper.make_node("Gather", ["w", "keys"], ["y"], axis=1)
        self.write("b.onnx", model_of([*equal, other], inputs, [info("y", ["n", 2])], [seven, zero]))
        self.feeds = {"x": numpy.array([[1, 2], [3, 7], [5, 6]], numpy.float32), "keys": numpy.array([1, 0], numpy.int64)}

    def differs(self, path: str) -> None:
        report = self.report("a.onnx", "b.onnx", "--inputs", path, status=1)
        self.assertIn("at [1, 0]: 0, expected 7", report["difference"])

    def test_drawn(self):
        self.assertTrue(self.report("a.onnx", "b.onnx", status=0)["passed"])

    def test_npz(self):
        numpy.savez(self.folder / "plain.npz", **self.feeds)
        numpy.savez_compressed(self.folder / "compressed.npz", keys=self.feeds["keys"], x=numpy.asfortranarray(self.feeds["x"]))
        self.differs("plain.npz")
        self.differs("compressed.npz")

    def test_folder(self):
        (self.folder / "set").mkdir()
        for i, (name, array) in enumerate(self.feeds.items()):
            (self.folder / f"set/input_{i}.pb").write_bytes(numpy_helper.from_array(array, name).SerializeToString())
        self.differs("set")
        (self.folder / "set/input_1.pb").unlink()
        self.assertIn("has no input_1.pb, for input 'keys'", self.refused("a.onnx", "b.onnx", "--inputs", "set"))

    def test_safetensors(self):
        header, elements = {}, b""
        for name, array in self.feeds.items():
            start, elements = len(elements), elements + array.tobytes()
            kind = {"float32": "F32", "int64": "I64"}[array.dtype.name]
            header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [start, len(elements)]}
        text = json.dumps(header).encode()
        (self.folder / "x.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + elements)
        self.differs("x.safetensors")

    def test_hostile_files(self):
        numpy.savez(self.folder / "names.npz", x=self.feeds["x"], kyes=self.feeds["keys"])
        self.assertIn("did you mean 'keys'?", self.refused("a.onnx", "b.onnx", "--inputs", "names.npz"))
        numpy.savez(self.folder / "missing.npz", x=self.feeds["x"])
        self.assertIn("has no input 'keys'", self.refused("a.onnx", "b.onnx", "--inputs", "missing.npz"))
        numpy.savez(self.folder / "objects.npz", x=numpy.array([{}], object), keys=self.feeds["keys"])
        self.assertIn("is not one of a tensor", self.refused("a.onnx", "b.onnx", "--inputs", "objects.npz"))
        numpy.savez(self.folder / "whole.npz", **self.feeds)
        whole = (self.folder / "whole.npz").read_bytes()
        for size in range(0, len(whole), 61):
            (self.folder / "cut.npz").write_bytes(whole[:size])
            self.refused("a.onnx", "b.onnx", "--inputs", "cut.npz")
        good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
        for header in ("", "{", good.replace("(3, 2)", "(3"), good.replace("(3, 2)", "(999999999999, 999999999999)"), good.replace("(3, 2)", "(-3, 2)"),
                       good.replace("(3, 2)", "(3, 3)"), good.replace("'<f4'", "[('a', '<f4')]"), good.replace("<f4", ">f4")):
            with zipfile.ZipFile(self.folder / "bad.npz", "w") as archive:
                text = (header + "\n").encode()
                archive.writestr("x.npy", b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text + self.feeds["x"].tobytes())
            with self.subTest(header=header):
                self.refused("a.onnx", "b.onnx", "--inputs", "bad.npz")


@unittest.skipUnless(LIBRARY, "without ONNX Runtime's shared library")
class OnnxRuntime(Folder):
    def test_a_model_that_it_runs(self):
        self.write("a.onnx", planted_faults.model())
        report = self.report("a.onnx", "--runtime", "onnxruntime", "--runtime-library", str(LIBRARY), status=0)
        self.assertEqual([r["runtime"].split(", ")[1] for r in report["runtimes"]], ["disabled", "basic", "extended", "all"])
        self.assertTrue(all(onnxruntime.__version__ in r["runtime"] for r in report["runtimes"]))

    def test_the_optimization_that_rounds(self):
        """ONNX Runtime multiplies 4-bit weights with an operand that it rounds to 8 bits, from level extended on."""
        draw = numpy.random.default_rng(3)
        integers = draw.integers(0, 16, (128, 24))
        weights = helper.make_tensor("w", TensorProto.UINT4, (128, 24), integers.ravel().tolist())
        scales = numpy_helper.from_array((draw.random((4, 24)).astype(numpy.float32) + 0.5) / 16, "s")
        nodes = [helper.make_node("Tanh", ["x"], ["t"], name="first"),
                 helper.make_node("DequantizeLinear", ["w", "s"], ["d"], name="dequantize", axis=0, block_size=32),
                 helper.make_node("MatMul", ["t", "d"], ["p"], name="product"), helper.make_node("Neg", ["p"], ["y"], name="last")]
        self.write("a.onnx", model_of(nodes, [info("x", ["n", 128])], [info("y", ["n", 24])], [weights, scales], 21))
        options = ["--runtime", "onnxruntime", "--runtime-library", str(LIBRARY)]
        report = self.report("a.onnx", *options, "--reproduction", "found", status=1)
        self.assertEqual([r["passed"] for r in report["runtimes"]], [True, True, False, False])
        part = report["part"]
        self.assertEqual((part["node"]["name"], part["value"]), ("product", "p"))
        self.assertEqual([n["name"] for n in part["nodes"]], ["dequantize", "product"])
        self.assertEqual(len(onnx.load(self.folder / "found/model.onnx").graph.node), 2)
        got, expected = (numpy_helper.to_array(onnx.load_tensor(self.folder / f"found/{side}/output_0.pb")) for side in ("got", "expected"))
        self.assertGreater(numpy.abs(got - expected).max(), 1e-3 * numpy.abs(expected).max())
        readme = (self.folder / "found/README.md").read_text()
        line = next(text.strip() for text in readme.splitlines() if text.startswith("    "))
        self.assertEqual(line, "aton verify model.onnx --inputs inputs --runtime onnxruntime:extended")
        self.folder = self.folder / "found"
        self.report(*line.split()[2:], "--runtime-library", str(LIBRARY), status=1)

    def test_a_node_without_a_kernel(self):
        nodes = [helper.make_node("Relu", ["x"], ["r"], name="first"), helper.make_node("Det", ["r"], ["d"], name="second"),
                 helper.make_node("Abs", ["d"], ["y"], name="third")]
        self.write("a.onnx", model_of(nodes, [info("x", ["n", 3, 3], TensorProto.DOUBLE)], [info("y", ["n"], TensorProto.DOUBLE)]))
        report = self.report("a.onnx", "--runtime", "onnxruntime:basic", "--runtime-library", str(LIBRARY), status=1)
        self.assertIn("does not run the model", report["runtimes"][0]["fault"])
        self.assertEqual(report["part"]["node"]["name"], "second")

    def test_integers_beyond_double(self):
        nodes = [helper.make_node("Identity", ["x"], ["i"], name="copy"), helper.make_node("ReduceSum", ["i"], ["s"], name="sum", keepdims=0),
                 helper.make_node("Neg", ["s"], ["y"], name="last")]
        self.write("a.onnx", model_of(nodes, [info("x", ["n"], TensorProto.INT64)], [info("y", [], TensorProto.INT64)]))
        numpy.savez(self.folder / "x.npz", x=numpy.array([2**53 + 1, 1, 1], numpy.int64))
        options = ["--runtime", "onnxruntime:disabled", "--runtime-library", str(LIBRARY)]
        self.assertTrue(self.report("a.onnx", *options, status=0)["passed"])
        self.assertEqual(self.report("a.onnx", *options, "--inputs", "x.npz", status=1)["part"]["node"]["name"], "sum")

    def test_dtypes_of_a_few_bits(self):
        """Their numbers are others in ONNX Runtime's interface."""
        nodes = [helper.make_node("DequantizeLinear", ["x", "s"], ["y"]), helper.make_node("QuantizeLinear", ["y", "s", "zero"], ["z"])]
        scale = numpy_helper.from_array(numpy.float32(0.5), "s")
        for kind, numbers in ((TensorProto.UINT2, [3, 0, 2, 1]), (TensorProto.INT2, [1, -2, -1, 0]), (TensorProto.UINT4, [15, 0, 8, 1]),
                              (TensorProto.INT4, [7, -8, -1, 0]), (TensorProto.FLOAT8E4M3FN, [1.0, -2.0, 0.5, 448.0])):
            zero = helper.make_tensor("zero", kind, [], [0])
            model = model_of(nodes, [info("x", [4], kind)], [info("y", [4]), info("z", [4], kind)], [scale, zero], 25)
            model.ir_version = 13
            self.write("a.onnx", model)
            (self.folder / "set").mkdir(exist_ok=True)
            (self.folder / "set/input_0.pb").write_bytes(helper.make_tensor("x", kind, [4], numbers).SerializeToString())
            with self.subTest(kind=TensorProto.DataType.Name(kind)):
                self.report("a.onnx", "--inputs", "set", "--runtime", "onnxruntime:disabled", "--runtime-library", str(LIBRARY), status=0)

    def test_other_libraries(self):
        self.write("a.onnx", planted_faults.model())
        (self.folder / "text.so").write_text("no library")
        for library, what in (("text.so", "cannot be loaded"), ("gone.so", "cannot be loaded")):
            self.assertIn(what, self.refused("a.onnx", "--runtime", "onnxruntime", "--runtime-library", library))
        shared = next((Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime_providers_shared.so"))
        self.assertIn("OrtGetApiBase", self.refused("a.onnx", "--runtime", "onnxruntime", "--runtime-library", str(shared)))

    def test_random_numbers(self):
        nodes = [helper.make_node("RandomNormalLike", ["x"], ["y"], name="draw")]
        self.write("a.onnx", model_of(nodes, [info("x", [2])], [info("y", [2])]))
        self.assertIn("draws random numbers", self.refused("a.onnx", "--runtime", "onnxruntime", "--runtime-library", str(LIBRARY)))


class Commands(Folder):
    def setUp(self) -> None:
        super().setUp()
        self.write("a.onnx", planted_faults.model())
        (self.folder / "client.py").write_text(CLIENT)
        server = socketserver.UnixStreamServer(str(self.folder / "socket"), Runtime)
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        for end in (server.server_close, thread.join, server.shutdown):
            self.addCleanup(end)

    def in_command(self, fault: str, *more: str, status: int, files: str = "{model} {inputs} {outputs}") -> dict:
        command = f'"{sys.executable}" -I -S client.py socket {fault} {files}'
        return self.report("a.onnx", "--samples", "1", "--runtime-command", command, *more, status=status)

    def test_planted_faults_are_named(self):
        for fault, (_, name) in planted_faults.FAULTS.items():
            with self.subTest(fault=fault):
                part = self.in_command(fault, "--reproduction", fault, status=1)["part"]
                self.assertEqual(part["node"]["name"], name, part)
                is_optimization = fault in ("mul_and_add", "clip_and_tanh", "conv_and_relu")
                self.assertEqual(len(part["nodes"]), 2 if is_optimization else 1, part)
                self.assertTrue((self.folder / fault / "got/output_0.pb").exists())

    def test_archives(self):
        self.assertTrue(self.in_command("none", status=0, files="{model} {inputs.npz} {outputs.npz}")["passed"])

    def test_commands_that_fail(self):
        for script, what in (("echo the device is busy; exit 3", "it ends with status 3: the device is busy"),
                             ("kill -9 $$", "signal 9 ends it"), ("true", "it writes no output_0.pb")):
            command = f"sh -c '{script}' {{model}} {{inputs}} {{outputs}}"
            report = self.report("a.onnx", "--samples", "1", "--runtime-command", command, status=1)
            self.assertIn(what, report["runtimes"][0]["fault"])
        self.assertIn("cannot be run", self.refused("a.onnx", "--runtime-command", "/gone/prog {model} {outputs}"))
        self.assertIn("needs {model}", self.refused("a.onnx", "--runtime-command", "prog"))
        self.assertIn("not closed", self.refused("a.onnx", "--runtime-command", "prog ' {model} {outputs}"))

    def test_a_command_that_hangs(self):
        model = model_of([helper.make_node("Neg", ["x"], ["y"])], [info("x", [2])], [info("y", [2])])
        self.write("b.onnx", model)
        start = time.monotonic()
        report = self.report("b.onnx", "--samples", "1", "--timeout", "1", "--runtime-command", "sh -c 'sleep 50; true {model} {outputs}'", status=1)
        self.assertIn("takes more than 1 seconds", report["runtimes"][0]["fault"])
        self.assertLess(time.monotonic() - start, 20)


if __name__ == "__main__":
    unittest.main()
