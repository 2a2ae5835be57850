# SPDX-License-Identifier: MIT
"""Weights that are rounded to integers while they are written: --quantize, --quantize-include, --quantize-exclude.

usage: quantize_test.py ATON FOLDER, with products.pt2 and large_product.pt2 of make_samples.py in the folder
"""

import functools
import itertools
import json
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
import onnxruntime

ATON = str(Path(sys.argv[1]).resolve())
FOLDER = Path(sys.argv[2]).resolve()
CONVOLUTION = FOLDER.parent / "pt2" / "conv_bn_channels_last.pt2"
CODES = {"float32": "F32", "float16": "F16"}
SIZES = {
    "embed.weight": (37, 64), "places.weight": (11, 72), "gemm.weight": (33, 96), "gemm.bias": (33,), "wide.weight": (40, 50),
    "twice.weight": (64, 64), "small.weight": (5, 3), "small.bias": (5,), "right_weight": (600, 7), "added_weight": (64, 64),
    "returned_weight": (64, 48), "left_weight": (40, 160), "stack_weight": (3, 64, 20), "vector_weight": (64, 24), "empty_weight": (0, 64)}
STORED_BY_COLUMN = ("right_weight", "vector_weight")  # x @ weight; the others are x @ weight.T
EMBEDDINGS = ("head.weight", "places.weight")

SUBNORMAL = float(numpy.finfo(numpy.float32).smallest_subnormal)
random = numpy.random.default_rng(11)


def hostile(*sizes):
    """Rows of very different magnitudes, with zeros, equal elements, subnormal numbers, ties, and blocks of one sign."""
    array = random.standard_normal(sizes) * 10.0 ** random.integers(-4, 3, (*sizes[:-1], 1))
    flat = array.reshape(-1)
    flat[:70], flat[200:300], flat[400:500], flat[600:700] = 0, 0.75, abs(flat[400:500]), -abs(flat[600:700])
    flat[800:900] *= 1e-42 / abs(flat[800:900]).max()
    flat[1000], flat[1001] = 1e30, -1e30
    flat[1200:1300] = numpy.arange(100) / 2 - 20
    return array.astype(numpy.float32)


HOSTILE = ("gemm.weight", "wide.weight", "right_weight")
NUMBERS = {name: hostile(*sizes) if name in HOSTILE else random.standard_normal(sizes).astype(numpy.float32) for name, sizes in SIZES.items()}
NUMBERS["head.weight"] = NUMBERS["embed.weight"]
NUMBERS["narrow_weight"] = random.standard_normal((48, 64)).astype(numpy.float16)
IDS = numpy.array([[0, 36, 3, 3, 7], [1, 2, 29, 8, 4]])
X = random.standard_normal((4, 600)).astype(numpy.float32)


def safetensors(path, arrays):
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": CODES[str(array.dtype)], "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(array.tobytes() for array in arrays.values()))


def rounded(rows, bits, block, symmetric):
    """The integers, scales and zero points of a matrix, block by block along its rows, every step in float32."""
    count, width = rows.shape
    blocks = -(-width // block)
    integers = numpy.zeros((count, width), numpy.int64)
    scales, zeros = numpy.zeros((count, blocks), rows.dtype), numpy.zeros((count, blocks), numpy.int64)
    for i, b in itertools.product(range(count), range(blocks)):
        part = rows[i, b * block:(b + 1) * block].astype(numpy.float32)
        low, high, steps = part.min(), part.max(), numpy.float32(2**bits - 1)
        with numpy.errstate(all="ignore"):
            if symmetric:
                scale = (high if abs(high) > abs(low) else low) / numpy.float32(-(2 ** (bits - 1))) if high or low else numpy.float32(0)
                zeros[i, b] = 2 ** (bits - 1)
            else:
                low, high = min(low, numpy.float32(0)), max(high, numpy.float32(0))
                scale = (high - low) / steps if numpy.isfinite(high - low) else high / steps - low / steps
                zeros[i, b] = int(numpy.floor(numpy.float64(-low / scale if scale else 0).clip(0, steps) + 0.5))
            scales[i, b] = scale
            stored = scales[i, b].astype(numpy.float32)
            inverse = numpy.float32(1) / stored if stored else numpy.float32(0)
            scaled = part * inverse if numpy.isfinite(inverse) else part / stored
            shifted = (scaled + numpy.float32(zeros[i, b])).clip(numpy.float32(0), steps)
        integers[i, b * block:(b + 1) * block] = numpy.floor(shifted.astype(numpy.float64) + 0.5)
    return integers, scales, zeros


def dequantized(integers, scales, zeros, block):
    wide = [numpy.repeat(each, block, 1)[:, :integers.shape[1]] for each in (scales, zeros)]
    return (integers - wide[1]) * wide[0].astype(numpy.float64)


def packed(integers, bits):
    """Along the last axis, from the lowest bits."""
    integers = integers & (2**bits - 1)
    per_byte = 8 // bits
    padded = numpy.concatenate([integers, numpy.zeros((*integers.shape[:-1], -integers.shape[-1] % per_byte), numpy.int64)], -1)
    padded = padded.reshape(*integers.shape[:-1], -1, per_byte)
    return (padded << numpy.arange(0, 8, bits)).sum(-1).astype(numpy.uint8)


def rows_of(name):
    array = NUMBERS[name].astype(numpy.float32)
    return array.T if name in STORED_BY_COLUMN else array


def expected(weights):
    """What the program computes with these weights, each [N, K], and the others as they are."""
    w = {name: rows_of(name).astype(numpy.float64) for name in NUMBERS if NUMBERS[name].ndim == 2} | weights
    x, table = X.astype(numpy.float64), weights.get("embedding", NUMBERS["embed.weight"].astype(numpy.float64))
    e = table[IDS]
    added, returned = NUMBERS["added_weight"].astype(numpy.float64), NUMBERS["returned_weight"]
    return {
        "looked_up": e, "head": e @ w["head.weight"].T, "places": w["places.weight"][IDS % 11],
        "gemm": x[:, :96] @ w["gemm.weight"].T + NUMBERS["gemm.bias"], "wide": e[..., :50] @ w["wide.weight"].T,
        "twice": e @ w["twice.weight"].T @ w["twice.weight"].T * 2, "small": x[:, :3] @ w["small.weight"].T + NUMBERS["small.bias"],
        "empty": numpy.zeros((2, 5, 0)), "right": x @ w["right_weight"].T,
        "added": e @ added + (added * IDS.sum()).sum(), "returned": e @ returned, "returned_itself": returned,
        "left": w["left_weight"] @ x[:, :160].T, "stack": e[:1] @ NUMBERS["stack_weight"], "vector": x[0, :64] @ w["vector_weight"].T,
        "narrow": e @ w["narrow_weight"].T}


class Quantize(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        shutil.copy(FOLDER / "products.pt2", self.folder / "graph.pt2")
        safetensors(self.folder / "w.safetensors", NUMBERS)
        self.path = self.folder / "out.onnx"

    def aton(self, *options, program="graph.pt2", **more):
        command = [ATON, "export", program, "-o", "out.onnx", "--weights-from", "w.safetensors", *options]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False, **more)

    def export(self, *options):
        done = self.aton("--json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        made = json.loads(done.stdout)
        return {each["name"]: each for each in made["quantized_weights"]}, {each["name"]: each["reason"] for each in made["unquantized_weights"]}

    def refused(self, reason, *options):
        before = sorted(self.folder.iterdir())
        done = self.aton(*options)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done.stderr)
        self.assertIn(reason, done.stderr)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def check(self, quantized, bits, block, symmetric, form, embeddings=False, only=None):
        """The bytes of the integers, the errors, and what ONNX Runtime computes."""
        onnx.checker.check_model(str(self.path), full_check=True)
        model = onnx.load(str(self.path))
        tensors = {each.name: each for each in model.graph.initializer}
        weights = {}
        for name, told in quantized.items():
            rows = rows_of(name)
            width = next(size for size in (16, 32, 64, 128, 256) if size == block or size >= rows.shape[1])
            integers, scales, zeros = rounded(rows, bits, width, symmetric)
            weights[name] = dequantized(integers, scales, zeros, width)
            if name == "head.weight" and embeddings:
                weights["embedding"] = weights[name]
            difference = rows - weights[name]
            largest, norm = abs(difference).max(), numpy.linalg.norm(difference) / numpy.linalg.norm(rows.astype(numpy.float64))
            numpy.testing.assert_allclose([told["largest_error"], told["relative_error"]], [largest, norm], 1e-5)
            self.assertEqual(told["elements"], rows.size)
            if form == "onnxruntime":
                padded = numpy.zeros((len(rows), scales.shape[1] * width), numpy.int64)
                padded[:, :rows.shape[1]] = integers
                bytes_of = {"quantized": packed(padded.reshape(*scales.shape, width), bits), "zero_points": packed(zeros, bits)}
            else:
                offset = 2 ** (bits - 1) if symmetric else 0
                bytes_of = {"quantized": packed((integers - offset).reshape(-1), bits), "zero_points": packed(zeros.reshape(-1), bits)}
            bytes_of["scales"] = scales
            if symmetric:
                del bytes_of["zero_points"]
                self.assertNotIn(name + ".zero_points", tensors)
            if name == "places.weight" and form == "onnxruntime":
                bytes_of["quantized_rows"] = packed(integers, bits)
                del bytes_of["quantized"]
            for what, array in bytes_of.items():
                self.assertEqual(tensors[f"{name}.{what}"].raw_data, array.tobytes(), (name, what))
            parts = [part for part in ("quantized", "scales", "zero_points") if f"{name}.{part}" in tensors]
            if form == "onnxruntime" and "quantized" in parts:
                self.assertEqual(told["bytes"], sum(len(tensors[f"{name}.{part}"].raw_data) for part in parts))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])
        got = session.run(None, {"ids": IDS, "x": X})
        for output, array in zip(session.get_outputs(), got, strict=True):
            if only and output.name not in only:
                continue
            wanted = expected(weights)[output.name]
            self.assertEqual(array.shape, wanted.shape)
            if array.size:  # column by column, because their magnitudes differ
                count = array.shape[-1] if array.ndim > 1 else 1
                columns = [abs(each).reshape(-1, count).max(0) for each in (array - wanted, wanted)]
                self.assertTrue((columns[0] <= 2e-5 * columns[1] + 64 * SUBNORMAL).all(), output.name)
        return model

    def test_products_in_onnx_runtime(self):
        for bits, block, symmetric, mode in ((4, 32, True, "embed"), (4, 16, False, "external"), (2, 64, False, "embed"),
                                             (8, 32, False, "reference"), (8, 128, True, "embed"), (2, 16, True, "external"), (4, 256, False, "embed")):
            text = f"int{bits}:block={block}" + ":symmetric" * symmetric
            with self.subTest(text):
                quantized, left = self.export("--quantize", text, "--target", "onnxruntime", "--weights", mode)
                model = self.check(quantized, bits, block, symmetric, "onnxruntime")
                self.assertLessEqual({"gemm.weight", "twice.weight", "head.weight", "right_weight"}, quantized.keys())
                self.assertEqual("narrow_weight" in quantized, mode == "reference")  # small ones are cast when the model is exported
                self.assertEqual(left["vector_weight"], "is multiplied by a vector")
                nodes = [node.op_type for node in model.graph.node]
                self.assertNotIn("FusedMatMul", nodes)
                self.assertEqual(nodes.count("Gemm"), 1 + ("small.weight" in left))  # the other one has a weight on the left

    def test_products_in_onnx(self):
        for bits, block, symmetric, mode, opset in ((4, 32, True, "embed", 21), (4, 16, False, "external", 22), (2, 64, False, "embed", 25),
                                                    (8, 32, False, "reference", 21), (8, 128, True, "embed", 23), (2, 16, True, "embed", 25)):
            text = f"int{bits}:block={block}" + ":symmetric" * symmetric
            with self.subTest(text):
                quantized, left = self.export("--quantize", text, "--opset", str(opset), "--weights", mode)
                model = self.check(quantized, bits, block, symmetric, "onnx")
                self.assertLessEqual({"gemm.weight", "twice.weight", "vector_weight"}, quantized.keys())
                self.assertEqual({node.domain for node in model.graph.node}, {""})

    def test_embeddings(self):
        for form, bits, mode in (("onnxruntime", 4, "embed"), ("onnxruntime", 4, "external"), ("onnxruntime", 2, "external"), ("onnxruntime", 8, "reference"), ("onnx", 8, "embed")):
            with self.subTest(form=form, bits=bits, mode=mode):
                options = ["--target", form, "--opset", "21", "--weights", mode]
                quantized, _ = self.export("--quantize", f"int{bits}:block=16:embeddings", *options)
                self.assertLessEqual(set(EMBEDDINGS), quantized.keys())
                model = self.check(quantized, bits, 16, False, form, embeddings=True)
                self.assertNotIn("head.weight", [each.name for each in model.graph.initializer])
        quantized, left = self.export("--quantize", "int4:embeddings", "--opset", "21")
        self.assertIn("head.weight", quantized)
        self.check(quantized, 4, 32, False, "onnx")
        self.assertIn("Gather of int4 is not part of ONNX; use int8, or --target onnxruntime", left["places.weight"])

    def test_tied_embeddings_are_stored_once(self):
        options = ["--quantize", "int8:block=16:symmetric:embeddings", "--target", "onnxruntime"]
        quantized, _ = self.export(*options)
        model = onnx.load(str(self.path))
        names = [each.name for each in model.graph.initializer if each.name.startswith("head.weight")]
        self.assertEqual(sorted(names), ["head.weight.quantized", "head.weight.scales"])
        self.assertEqual([node.op_type for node in model.graph.node if "head.weight.quantized" in node.input], ["Reshape", "MatMulNBits"])
        self.check({"head.weight": quantized["head.weight"]}, 8, 16, True, "onnxruntime", embeddings=True, only=("looked_up", "head"))
        self.export(*options, "--weights", "external")
        model = onnx.load(str(self.path), load_external_data=False)
        places = {each.name: {entry.key: entry.value for entry in each.external_data} for each in model.graph.initializer}
        self.assertEqual(places["head.weight.quantized"]["offset"], places["head.weight.quantized_rows"]["offset"])
        self.assertEqual(places["head.weight.quantized"]["length"], str(37 * 64))

    def test_weights_that_stay_say_why(self):
        _, left = self.export("--quantize", "int4", "--opset", "21")
        for name, reason in {
            "small.weight": "is a small constant", "empty_weight": "has no elements", "returned_weight": "is also used by Identity",
            "added_weight": "is also used by Mul", "stack_weight": "has rank 3",
        }.items():
            if name in left or name != "empty_weight":
                self.assertIn(reason, left.get(name, "rounded"), name)
        self.assertNotIn("left_weight", left)  # whose product has its weight on the left
        done = self.aton("--quantize", "int4", "--opset", "21")
        self.assertIn("out.onnx: weight 'stack_weight' is not rounded: it has rank 3\n", done.stdout)
        self.assertRegex(done.stdout, r"out.onnx: \d+ weights of \d+ elements are rounded to [\d.]+ kB, relative error at most 0\.\d+ \('.*'\)\n")

    def test_patterns(self):
        quantized, left = self.export("--quantize", "int4", "--opset", "21", "--quantize-include", "*e.weight", "--quantize-include", "gemm.*",
                                      "--quantize-exclude", "*wi*e*")
        self.assertEqual(quantized.keys(), {"gemm.weight"})
        self.assertEqual((left["wide.weight"], left["twice.weight"], left["right_weight"]), ("is excluded", "is excluded", "is not included"))
        self.refused("--quantize-include conv*: is the name of no weight of a product", "--quantize", "int4", "--opset", "21", "--quantize-include", "conv*")
        quantized, left = self.export("--quantize", "int4", "--opset", "21", "--quantize-include", "*m*.*igh*t*", "--quantize-exclude", "*wi*e*t", "--quantize-exclude", "small.weight")
        self.assertEqual(quantized.keys(), {"gemm.weight"})
        self.refused("--quantize-exclude x: is the name of no weight of a product", "--quantize", "int4", "--opset", "21", "--quantize-exclude", "x")

    def test_what_runtimes_do_not_have_is_refused(self):
        for text in ("int", "4", "int4:", "int4:block", "int4:block=", "int4:block=32x", "int4:foo", ":block=32", "int4block=32"):
            self.refused("write it as TYPE[:block=NUMBER]", f"--quantize={text}")
        self.refused("choose int2, int4 or int8", "--quantize", "int3", "--opset", "21")
        for block in (0, 8, 24, 512, -32):
            self.refused(f"blocks of {block} elements do not run in ONNX Runtime", "--quantize", f"int4:block={block}", "--opset", "21")
        self.refused("use --opset 21 or newer, or --target onnxruntime", "--quantize", "int4", "--opset", "20")
        self.refused("use --opset 25 or newer, or --target onnxruntime", "--quantize", "int2", "--opset", "24")
        self.refused("only MatMulNBits has an accuracy", "--quantize", "int4:accuracy=4", "--opset", "21")
        self.refused("--verify: --quantize changes the numbers", "--quantize", "int4", "--opset", "21", "--verify")

    def test_weights_with_nan_and_infinity_are_refused(self):
        for number, word in ((numpy.nan, "NaN"), (numpy.inf, "infinity"), (-numpy.inf, "infinity")):
            arrays = {**NUMBERS, "wide.weight": NUMBERS["wide.weight"].copy()}
            arrays["wide.weight"][39, 49] = number
            safetensors(self.folder / "w.safetensors", arrays)
            for mode in ("embed", "external"):
                self.refused(f"weight 'wide.weight' has the element {word}, which cannot be rounded", "--quantize", "int4", "--opset", "21", "--weights", mode)
        quantized, _ = self.export("--quantize", "int4", "--opset", "21", "--quantize-exclude", "wide.weight")
        self.assertIn("gemm.weight", quantized)

        arrays = {**NUMBERS, "wide.weight": NUMBERS["wide.weight"].copy()}
        arrays["wide.weight"][3, 2:4] = numpy.finfo(numpy.float32).max * numpy.float32([-1, 0.9])
        safetensors(self.folder / "w.safetensors", arrays)
        self.refused("weight 'wide.weight' has an element that is too large to be rounded", "--quantize", "int2", "--target", "onnxruntime")

    def test_a_model_without_products_is_warned_about(self):
        done = subprocess.run([ATON, "export", CONVOLUTION, "-o", "out.onnx", "--quantize", "int4", "--opset", "21"], cwd=self.folder, capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^aton: warning: .*: --quantize rounds nothing: no weight of the model can be rounded; only those of MatMul and Gemm are\n$")

    def large_weight(self, block):
        """A program whose weight is 64 MiB of copies of a block of numbers."""
        shutil.copy(FOLDER / "large_product.pt2", self.folder / "graph.pt2")
        header = json.dumps({"weight": {"dtype": "F32", "shape": [4096, 4096], "data_offsets": [0, 1 << 26]}}).encode()
        with open(self.folder / "w.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            for _ in range((1 << 26) // block.nbytes):
                file.write(block.tobytes())

    def test_bytes_do_not_depend_on_threads(self):
        """Nor on the file that has them. int4 in blocks of 32 has at most 0.17 of the bytes of float32, int8 in blocks of 64 at most 0.27."""
        self.large_weight(random.standard_normal(1 << 18).astype(numpy.float32))
        processors = sorted(os.sched_getaffinity(0))
        made = []
        for text, most, mode, allowed in (("int8", 0.27, "external", processors), ("int4", 0.17, "external", processors),
                                          ("int4", 0.17, "external", processors[:1]), ("int4", 0.17, "embed", processors)):
            done = self.aton("--quantize", text, "--target", "onnxruntime", "--weights", mode, "--json",
                             preexec_fn=functools.partial(os.sched_setaffinity, 0, allowed))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            weight = json.loads(done.stdout)["quantized_weights"][0]
            self.assertEqual(weight["elements"], 1 << 24)
            self.assertLessEqual(weight["bytes"], most * 4 * weight["elements"])
            made.append([each.raw_data for each in onnx.load(str(self.path)).graph.initializer])
        self.assertEqual(made[1], made[2])
        self.assertEqual(made[1], made[3])

    def test_memory_does_not_grow_with_a_weight(self):
        self.large_weight(numpy.zeros(1 << 18, numpy.float32))
        limit = 40 << 20
        done = self.aton("--quantize", "int4:symmetric", "--target", "onnxruntime", "--weights", "external", "--json",
                         preexec_fn=functools.partial(resource.setrlimit, resource.RLIMIT_DATA, (limit, limit)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout)["quantized_weights"][0]["bytes"], (1 << 23) + (1 << 21))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
