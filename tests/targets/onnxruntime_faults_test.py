# SPDX-License-Identifier: MIT
"""Every entry of src/targets/faults/onnxruntime.faults shows its fault in the installed ONNX Runtime, if that release is inside its
`releases`, and does not otherwise; `aton check --runtime onnxruntime` names it, and says nothing of a neighbor that is right.

usage: onnxruntime_faults_test.py [ATON]
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ATON = str(Path(sys.argv.pop(1)).resolve()) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else ""
DATA = Path(__file__).resolve().parents[2] / "src/targets/faults/onnxruntime.faults"
BEYOND = 2**53 + 1


def info(name: str, kind: int, dims: list) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, dims)


def model_of(nodes, inputs, outputs, initializers=(), opset=20, domains=()) -> onnx.ModelProto:
    graph = helper.make_graph(nodes, "main", inputs, outputs, list(initializers))
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10 if opset < 23 else 11)


def run(model: onnx.ModelProto, feeds: dict, level: str = "ORT_DISABLE_ALL"):
    """The first result; a string, why it does not run."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = getattr(onnxruntime.GraphOptimizationLevel, level)
    try:
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)[0]
    except Exception as fault:  # noqa: BLE001: onnxruntime has many
        return str(fault)


def one_node(op: str, arrays: dict, out: int, opset: int = 20, **attributes) -> onnx.ModelProto:
    kinds = {name: helper.np_dtype_to_tensor_dtype(a.dtype) for name, a in arrays.items()}
    inputs = [info(name, kinds[name], list(a.shape)) for name, a in arrays.items()]
    node = helper.make_node(op, list(arrays), ["y"], **attributes)
    sizes = [] if attributes.get("keepdims") == 0 else next(iter(arrays.values())).shape
    return model_of([node], inputs, [info("y", out, list(sizes))], opset=opset)


def int64(*numbers: int) -> numpy.ndarray:
    return numpy.array(numbers, numpy.int64)


class Case:
    """A model with the fault, and one like it without. `shows`: whether a result has the fault."""

    def __init__(self, model, feeds, shows, neighbor, level="ORT_DISABLE_ALL"):
        self.model, self.feeds, self.shows, self.neighbor, self.level = model, feeds, shows, neighbor, level


def fails(result) -> bool:
    return isinstance(result, str)


def is_not(*wanted: int):
    return lambda result: fails(result) or result.ravel().tolist() != list(wanted)


def integer_sums() -> list:
    cases = []
    for op, numbers, right in (("ReduceSum", (BEYOND, 1, 1), BEYOND + 2), ("ReduceProd", (BEYOND, 1), BEYOND), ("ReduceL1", (BEYOND, 1, 1), BEYOND + 2),
                               ("ReduceSumSquare", (94906267,), 94906267**2)):
        small = one_node(op, {"x": numpy.ones(3, numpy.float32)}, TensorProto.FLOAT, keepdims=0)
        cases.append(Case(one_node(op, {"x": int64(*numbers)}, TensorProto.INT64, keepdims=0), {"x": int64(*numbers)}, is_not(right), small))
    return cases


def integer_powers() -> list:
    feeds = {"x": int64(3), "e": int64(35)}
    neighbor = one_node("Pow", {"x": numpy.ones(1, numpy.float32), "e": int64(35)}, TensorProto.FLOAT)
    return [Case(one_node("Pow", feeds, TensorProto.INT64), feeds, is_not(3**35), neighbor)]


def integer_remainders() -> list:
    feeds = {"x": int64(BEYOND), "e": int64(6)}
    exact = one_node("Mod", feeds, TensorProto.INT64)
    assert run(exact, feeds).tolist() == [BEYOND % 6]
    return [Case(one_node("Mod", feeds, TensorProto.INT64, fmod=1), feeds, is_not(BEYOND % 6), exact)]


def integer_shrink() -> list:
    feeds = {"x": int64(2**24 + 4)}
    neighbor = one_node("Shrink", {"x": numpy.ones(1, numpy.float32)}, TensorProto.FLOAT, lambd=0.5, bias=1.0)
    return [Case(one_node("Shrink", feeds, TensorProto.INT64, lambd=0.5, bias=1.0), feeds, is_not(2**24 + 3), neighbor)]


def random_kernels() -> list:
    def model(op: str, opset: int) -> onnx.ModelProto:
        like = op.endswith("Like")
        node = helper.make_node(op, ["x"] if like else [], ["y"], **({} if like else {"shape": [2]}))
        return model_of([node], [info("x", TensorProto.FLOAT, [2])], [info("y", TensorProto.FLOAT, [2])], opset=opset)

    feeds = {"x": numpy.ones(2, numpy.float32)}
    ops = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
    return [Case(model(op, 22), feeds, fails, model(op, 21)) for op in ops]


def swish_kernel() -> list:
    feeds = {"x": numpy.ones(2, numpy.float32)}
    return [Case(one_node("Swish", feeds, TensorProto.FLOAT, opset=25), feeds, fails, one_node("Swish", feeds, TensorProto.FLOAT, opset=24))]


def newest_opset() -> list:
    feeds = {"x": numpy.ones(2, numpy.float32)}
    return [Case(one_node("Relu", feeds, TensorProto.FLOAT, opset=27), feeds, fails, one_node("Relu", feeds, TensorProto.FLOAT, opset=26))]


def dequantize_kernel() -> list:
    feeds = {"q": numpy.ones(2, numpy.int8), "s": numpy.float32(0.5).reshape(())}
    models = [one_node("DequantizeLinear", feeds, TensorProto.FLOAT, opset=opset) for opset in (28, 24)]
    return [Case(models[0], feeds, fails, models[1])]


def int8_moved() -> list:
    def model(kind: type, opset: int) -> onnx.ModelProto:
        nodes = [helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]), helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]),
                 helper.make_node("Reshape", ["d", "to"], ["r"]), helper.make_node("MatMul", ["r", "w"], ["y"])]
        constants = {"s": numpy.float32(0.5), "z": kind(0), "to": int64(1, 16), "w": numpy.ones((16, 2), numpy.float32)}
        return model_of(nodes, [info("x", TensorProto.FLOAT, [1, 1, 4, 4])], [info("y", TensorProto.FLOAT, [1, 2])],
                        [numpy_helper.from_array(numpy.asarray(a), name) for name, a in constants.items()], opset)

    feeds = {"x": numpy.ones((1, 1, 4, 4), numpy.float32)}
    return [Case(model(numpy.int8, 21), feeds, fails, neighbor, "ORT_ENABLE_ALL") for neighbor in (model(numpy.uint8, 21), model(numpy.int8, 20))]


def blocks(kind: int, axis: int, block: int) -> tuple[onnx.ModelProto, dict, numpy.ndarray]:
    """A product with a weight of integers in blocks, its input, and its right result."""
    draw = numpy.random.default_rng(block)
    low, high = {TensorProto.UINT4: (0, 15), TensorProto.INT4: (-8, 7), TensorProto.UINT8: (0, 255)}[kind]
    integers = draw.integers(low, high + 1, (512, 512))
    sizes = (512 // block, 512) if axis == 0 else (512, 512 // block)
    scales = ((draw.random(sizes) + 0.5) / (high - low)).astype(numpy.float32)
    weight = (integers * numpy.repeat(scales, block, axis)).astype(numpy.float32)
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=axis, block_size=block), helper.make_node("MatMul", ["x", "d"], ["y"])]
    model = model_of(nodes, [info("x", TensorProto.FLOAT, [None, 512])], [info("y", TensorProto.FLOAT, [None, 512])],
                     [helper.make_tensor("w", kind, (512, 512), integers.ravel().tolist()), numpy_helper.from_array(scales, "s")], 21)
    x = draw.standard_normal((3, 512)).astype(numpy.float32)
    return model, {"x": x}, x @ weight


def is_off(right: numpy.ndarray, by: float):
    return lambda result: fails(result) or numpy.abs(result - right).max() > by * numpy.abs(right).max()


def rounded_products() -> list:
    cases = []
    for kind in (TensorProto.UINT4, TensorProto.INT4, TensorProto.UINT8):
        model, feeds, right = blocks(kind, 0, 64)
        assert not is_off(right, 1e-5)(run(model, feeds))
        cases.append(Case(model, feeds, is_off(right, 1e-3), blocks(kind, 1, 64)[0], "ORT_ENABLE_EXTENDED"))
    return cases


def large_blocks() -> list:
    def model(block: int) -> onnx.ModelProto:
        node = helper.make_node("MatMulNBits", ["x", "b", "s"], ["y"], domain="com.microsoft", K=1024, N=8, bits=4, block_size=block)
        count = 1024 // block
        constants = {"b": numpy.full((8, count, block // 2), 0x99, numpy.uint8), "s": numpy.ones((8, count), numpy.float32)}
        return model_of([node], [info("x", TensorProto.FLOAT, [1, 1024])], [info("y", TensorProto.FLOAT, [1, 8])],
                        [numpy_helper.from_array(a, name) for name, a in constants.items()], domains=["com.microsoft"])

    feeds = {"x": numpy.ones((1, 1024), numpy.float32)}
    assert run(model(256), feeds).tolist() == [[1024.0] * 8]
    return [Case(model(512), feeds, fails, model(256))]


def release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def entries() -> dict[str, str]:
    """The releases of each fault."""
    found, name = {}, ""
    for line in DATA.read_text().splitlines():
        key, _, value = line.partition(" ")
        if key == "fault":
            name = value.strip()
        elif key == "releases":
            found[name] = value.strip()
    return found


def is_inside(releases: str) -> bool:
    first, _, last = releases.partition("..")
    installed = release(onnxruntime.__version__)
    return release(first) <= installed and (not last or installed[: len(release(last))] <= release(last))


class Faults(unittest.TestCase):
    def test_each_entry_is_shown_by_the_installed_release(self):
        for name, releases in entries().items():
            for number, case in enumerate(globals()[name]()):
                with self.subTest(fault=name, case=number):
                    result = run(case.model, case.feeds, case.level)
                    self.assertEqual(case.shows(result), is_inside(releases), f"in {onnxruntime.__version__}: {result}")

    @unittest.skipUnless(ATON, "without the command")
    def test_operators_without_a_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind, wanted in ((numpy.float64, ["no_kernel"]), (numpy.float32, [])):
                feeds = {"x": numpy.ones((2, 3, 3), kind)}
                nodes = [helper.make_node("Det", ["x"], ["d"], name="first"), helper.make_node("Det", ["x"], ["y"], name="second")]
                element = helper.np_dtype_to_tensor_dtype(numpy.dtype(kind))
                model = model_of(nodes, [info("x", element, [2, 3, 3])], [info("y", element, [2]), info("d", element, [2])])
                self.assertEqual(fails(run(model, feeds)), bool(wanted))
                path = Path(folder) / "det.onnx"
                path.write_bytes(model.SerializeToString())
                done = subprocess.run([ATON, "check", str(path), "--runtime", "onnxruntime", "--json"], capture_output=True, text=True, check=False,
                                      timeout=60)
                faults = json.loads(done.stdout)[0]["faults"]
                self.assertEqual([each["fault"] for each in faults], wanted)
                self.assertEqual([(each["place"], each["count"]) for each in faults], [("Det 'first'", 2)] if wanted else [])

    @unittest.skipUnless(ATON, "without the command")
    def test_the_command_names_it(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, releases in entries().items():
                for number, case in enumerate(globals()[name]()):
                    for model, wanted in ((case.model, True), (case.neighbor, False)):
                        path = Path(folder) / f"{name}_{number}_{wanted}.onnx"
                        path.write_bytes(model.SerializeToString())
                        with self.subTest(model=path.name):
                            first = releases.partition("..")[0]
                            done = subprocess.run([ATON, "check", str(path), "--runtime", f"onnxruntime:{first}", "--json"], capture_output=True,
                                                  text=True, check=False, timeout=60)
                            faults = [each["fault"] for each in json.loads(done.stdout)[0]["faults"]]
                            self.assertEqual(name in faults, wanted, done.stdout)
                            self.assertEqual(done.returncode, 1 if faults else 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
