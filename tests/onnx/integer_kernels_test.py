#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ONNX Runtime's kernels do with integers: every operator of ONNX that computes with them, in every dtype that has a kernel, near 2^24,
2^31, 2^53, 2^63 and the ends of the dtype, against Python's exact integers, which wrap around as in ATen.

The table in aton/onnx/integer_kernels.hpp must say the same: a kernel that it does not name is exact, and one that it names is exact up to its
limit, and not beyond. ONNX's list of operators decides what is run: one that takes integers and is neither run nor known to move elements
fails the test.

Usage: integer_kernels_test.py WRITE_INTEGER_KERNELS
"""
import itertools
import math
import platform
import subprocess
import sys
import unittest
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import helper

PROGRAM = sys.argv.pop(1)
OPSETS = (13, 18, 26)
DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
LIMITS = {"in_float64": 2**53, "in_float32": 2**24, "by_signed_halves": 2**31}
RUNTIME = "1.31"  # the release that the table describes

onnxruntime.set_default_logger_severity(4)
warnings.filterwarnings("ignore")

# Operators that take integers and compute nothing with them: they move elements, read sizes and indices, or turn them into floats or bools
# element by element, which Cast stands for. Where one has floats as well, its integers are lengths, sizes or positions.
WITHOUT_ARITHMETIC = set("""
    AffineGrid Attention BitCast BlackmanWindow CastLike CenterCropPad Col2Im Compress Concat ConstantOfShape DFT DepthToSpace
    DequantizeLinear Expand EyeLike Flatten GRU Gather GatherElements GatherND GridSample HammingWindow HannWindow Identity ImageDecoder
    LSTM Loop MaxUnpool MelWeightMatrix NegativeLogLikelihoodLoss NonMaxSuppression NonZero OneHot Optional OptionalGetElement
    OptionalHasElement Pad QuantizeLinear RNN RandomNormalLike RandomUniformLike Reshape ReverseSequence RoiAlign RotaryEmbedding STFT Scan
    Scatter SequenceAt SequenceConstruct SequenceErase SequenceInsert SequenceMap Shape Size Slice SoftmaxCrossEntropyLoss SpaceToDepth Split
    SplitToSequence Squeeze TensorScatter TfIdfVectorizer Tile Transpose Trilu Unsqueeze Upsample Where
    Bernoulli Dropout IsNaN IsInf LinearAttention FlexAttention CausalConvWithState""".split())
# Products of quantized numbers of 8 bits, whose sums are int32.
QUANTIZED = {"ConvInteger", "MatMulInteger", "QLinearConv", "QLinearMatMul"}
# Means, roots and logarithms, which are no integers; ATen refuses them.
REAL = {"ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMean"}
# Which have no kernel for integers in any release.
WITHOUT_KERNEL = {"PRelu", "Gemm"}


def wrap(number, dtype):
    bits = np.iinfo(dtype).bits
    number &= (1 << bits) - 1
    return number - (1 << bits) if np.iinfo(dtype).min < 0 and number >> (bits - 1) else number


def ends(dtype):
    """Numbers near every limit that the dtype has."""
    info = np.iinfo(dtype)
    near = {sign * (2**power + step) for power in (0, 7, 15, 24, 31, 32, 53, 63, 64) for step in (-2, -1, 0, 1, 3) for sign in (1, -1)}
    return sorted(n for n in near | {info.min, info.max, 0, 5, 7} if info.min <= n <= info.max)


def divided(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def run(op, inputs, opset, **attributes):
    """The results as lists, or None if there is no kernel."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    feeds = {n: x for n, x in zip(names, inputs) if x is not None}
    formals = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in feeds.items()]
    results = ["y0", "y1"] if op == "TopK" else ["y0"]
    graph = helper.make_graph([helper.make_node(op, names, results, **attributes)], "one_node", formals, [onnx.ValueInfoProto(name=r) for r in results])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception:  # the schema or the provider does not take the dtype
        return None
    return np.asarray(session.run(None, feeds)[0]).reshape(-1).tolist()


class Case:
    """Calls of one operator on one array of operands: what is right, and the greatest number on the way to each result."""

    def __init__(self, op, inputs, right, greatest, calls="all", **attributes):
        self.op, self.inputs, self.right, self.greatest, self.calls, self.attributes = op, inputs, right, greatest, calls, attributes


def elementwise(dtype):
    e = ends(dtype)
    array = lambda numbers: np.array(numbers, dtype)
    pairs = list(itertools.product(e, e))
    a, b = (array(column) for column in zip(*pairs))
    low = np.iinfo(dtype).min
    whole = [(x, y) for x, y in pairs if y != 0 and (x, y) != (low, -1)]
    x, y = (array(column) for column in zip(*whole))
    magnitudes = [max(abs(p), abs(q)) for p, q in pairs]
    for op, f in {
        "Add": lambda p, q: p + q, "Sub": lambda p, q: p - q, "Mul": lambda p, q: p * q, "Max": max, "Min": min,
        "Equal": lambda p, q: p == q, "Less": lambda p, q: p < q, "Greater": lambda p, q: p > q, "LessOrEqual": lambda p, q: p <= q,
        "GreaterOrEqual": lambda p, q: p >= q, "BitwiseAnd": lambda p, q: p & q, "BitwiseOr": lambda p, q: p | q,
        "BitwiseXor": lambda p, q: p ^ q,
    }.items():
        yield Case(op, [a, b], [wrap(int(f(p, q)), dtype) for p, q in pairs], magnitudes)
    whole_magnitudes = [max(abs(p), abs(q)) for p, q in whole]
    yield Case("Div", [x, y], [divided(p, q) for p, q in whole], whole_magnitudes)
    yield Case("Mod", [x, y], [p % q for p, q in whole], whole_magnitudes)
    yield Case("Mod", [x, y], [p - divided(p, q) * q for p, q in whole], whole_magnitudes, "truncating", fmod=1)
    powers = [(p, q) for p, q in itertools.product(e, (0, 1, 2, 3, 5, 40, 63)) if q <= np.iinfo(dtype).max]
    p, q = (array(column) for column in zip(*powers))
    yield Case("Pow", [p, q], [wrap(r**s, dtype) for r, s in powers], [max(abs(r), abs(r) ** s) for r, s in powers])
    m = [abs(n) for n in e]
    for op, f in {"Abs": abs, "Neg": lambda n: -n, "BitwiseNot": lambda n: ~n, "Relu": lambda n: max(n, 0), "Sign": lambda n: (n > 0) - (n < 0)}.items():
        yield Case(op, [array(e)], [wrap(f(n), dtype) for n in e], m)
    yield Case("Clip", [array(e), array(5), None], [max(n, 5) for n in e], m)
    yield Case("Clip", [array(e), None, array(7)], [min(n, 7) for n in e], m)
    yield Case("Shrink", [array(e)], e, m, lambd=-1.0)
    for other in DTYPES:
        to = helper.np_dtype_to_tensor_dtype(np.dtype(other))
        yield Case("Cast", [array(e)], [wrap(n, other) for n in e], m, to=to)
        held = [n for n in e if np.iinfo(other).min <= n <= np.iinfo(other).max and int(np.float64(n)) == n]
        yield Case("Cast", [np.array(held, np.float64)], held if other == dtype else None, m, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
    if dtype.startswith("u"):
        shifts = [(n, s) for n in e for s in range(np.iinfo(dtype).bits)]
        p, q = (array(column) for column in zip(*shifts))
        yield Case("BitShift", [p, q], [wrap(n << s, dtype) for n, s in shifts], m, direction="LEFT")
        yield Case("BitShift", [p, q], [n >> s for n, s in shifts], m, direction="RIGHT")
    top = np.iinfo(dtype).max
    for first in (2**53 - 20, 2**53 + 1, top - 50):
        if first <= top - 50:
            yield Case("Range", [array(first), array(first + 16), array(7)], [first, first + 7, first + 14], [first + 16] * 3)


def reductions(dtype, opset):
    e = ends(dtype)
    random = np.random.default_rng(7)
    small = [n for n in e if abs(n) < 2**20]
    rows = [[e[i] for i in random.integers(0, len(e), 7)] for _ in range(300)] + [[small[i] for i in random.integers(0, len(small), 7)] for _ in range(100)]
    for layout in ("rows", "columns", "planes"):
        array = np.array(rows, dtype)
        array = {"rows": array, "columns": array.T.copy(), "planes": np.repeat(array[:, :, None], 2, 2)}[layout]
        axis = 0 if layout == "columns" else 1
        expected = [r for r in rows for _ in range(2 if layout == "planes" else 1)]
        for op, f, way in (
            ("ReduceSum", sum, lambda r: sum(map(abs, r))),
            ("ReduceL1", lambda r: sum(map(abs, r)), lambda r: sum(map(abs, r))),
            ("ReduceProd", math.prod, lambda r: math.prod(max(1, abs(n)) for n in r)),
            ("ReduceSumSquare", lambda r: sum(n * n for n in r), lambda r: sum(n * n for n in r)),
            ("ReduceMax", max, lambda r: max(map(abs, r))),
            ("ReduceMin", min, lambda r: max(map(abs, r))),
        ):
            by_input = opset >= 18 or op == "ReduceSum"
            operands = [array, np.array([axis], np.int64)] if by_input else [array]
            attributes = {"keepdims": 0} if by_input else {"keepdims": 0, "axes": [axis]}
            yield Case(op, operands, [wrap(f(r), dtype) for r in expected], [way(r) for r in expected], **attributes)
        for op, best in (("ArgMax", max), ("ArgMin", min)):
            yield Case(op, [array], [r.index(best(r)) for r in expected], [0] * len(expected), axis=axis, keepdims=0)
    array = np.array(rows, dtype)
    flat = [n for r in rows for n in r]
    sums = [max(map(abs, r)) for r in rows for _ in r]
    axis = np.array(1, np.int64)
    yield Case("CumSum", [array, axis], [wrap(n, dtype) for r in rows for n in itertools.accumulate(r)], sums)
    yield Case("CumProd", [array, axis], [wrap(n, dtype) for r in rows for n in itertools.accumulate(r, lambda a, b: a * b)], sums)
    yield Case("TopK", [array, np.array([7], np.int64)], [n for r in rows for n in sorted(r, reverse=True)], sums)
    yield Case("Unique", [array], sorted(set(flat)), [0] * len(set(flat)))
    into = np.array([r[:3] for r in rows], dtype)
    at = random.integers(0, 3, array.shape)
    for reduction, f in {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": max, "min": min}.items():
        right = into.tolist()
        for i, j in np.ndindex(at.shape):
            right[i][at[i, j]] = wrap(f(right[i][at[i, j]], rows[i][j]), dtype)
        yield Case("ScatterElements", [into, at, array], sum(right, []), [0] * into.size, axis=1, reduction=reduction)
        right = [list(r) for r in rows]
        place = random.integers(0, len(rows), (len(rows), 1))
        for i, (k,) in enumerate(place):
            right[k] = [wrap(f(a, b), dtype) for a, b in zip(right[k], rows[i])]
        yield Case("ScatterND", [array, place, array], sum(right, []), [0] * array.size, reduction=reduction)
    left, right = np.array(rows[:30], dtype), np.array(rows[30:60], dtype)
    product = [wrap(sum(a * b for a, b in zip(r, s)), dtype) for r in left.tolist() for s in right.tolist()]
    yield Case("MatMul", [left, right.T.copy()], product, [0] * len(product))
    yield Case("MatMul", [array, np.ones(7, dtype)], [wrap(sum(r), dtype) for r in rows], [0] * len(rows))
    yield Case("MatMul", [np.ones(7, dtype), array.T.copy()], [wrap(sum(r), dtype) for r in rows], [0] * len(rows))
    yield Case("Einsum", [left, right], product, [0] * len(product), equation="ij,kj->ik")
    yield Case("Einsum", [array, array], [wrap(sum(n * n for n in r), dtype) for r in rows], [0] * len(rows), equation="ij,ij->i")
    yield Case("Einsum", [array], [wrap(sum(r), dtype) for r in rows], [sum(map(abs, r)) for r in rows], "lone_sums", equation="ij->i")
    square = np.array(rows[:7], dtype)
    yield Case("Einsum", [square], [wrap(rows[i][i], dtype) for i in range(7)], [0] * 7, equation="ii->i")
    image = array[:, :4].reshape(1, 1, 20, 80)
    windows = [max(image[0, 0, i:i + 2, j:j + 2].reshape(-1).tolist()) for i in range(19) for j in range(79)]
    yield Case("MaxPool", [image], windows, [0] * len(windows), kernel_shape=[2, 2])
    sizes = np.array([1, 1, 20, 80], np.int64)
    yield Case("Resize", [image, None, None, sizes], image.reshape(-1).tolist(), np.abs(image.astype(object)).reshape(-1).tolist(), mode="nearest")
    wide = np.array([1, 1, 20, 159], np.int64)
    between = [[divided(a + b, 2) for a, b in zip(r, r[1:])] for r in image[0, 0].tolist()]
    right = [n for r, m in zip(image[0, 0].tolist(), between) for n in [x for p in zip(r, m) for x in p] + [r[-1]]]
    yield Case("Resize", [image, None, None, wide], right, [2**30] * len(right), "interpolating", mode="linear", coordinate_transformation_mode="align_corners")


def table():
    rows = {}
    for line in subprocess.run([PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines():
        op, dtype, how, calls = line.split()
        rows[op, dtype, calls] = how
    return rows


class IntegerKernels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = table()
        cls.ran, cls.beyond = set(), set()
        cls.wrong = []
        for dtype, opset in itertools.product(DTYPES, OPSETS):
            for case in itertools.chain(elementwise(dtype), reductions(dtype, opset)):
                if case.right is not None:
                    cls.check(case, dtype, opset)

    @classmethod
    def check(cls, case, dtype, opset):
        results = run(case.op, case.inputs, opset, **case.attributes)
        if results is None:
            return
        rows = [key for key in ((case.op, dtype, case.calls), (case.op, dtype, "all")) if key in cls.table]
        cls.ran.add((case.op, dtype, case.calls))
        limit = LIMITS[cls.table[rows[0]]] if rows else None
        most = np.iinfo(dtype).max
        results += [None] * (len(case.right) - len(results))  # Range counts its elements
        for i, (result, right) in enumerate(zip(results, case.right, strict=True)):
            if result is not None and int(result) == right:
                continue
            if limit is None or (case.greatest[i] <= limit and case.greatest[i] <= most and limit > case.greatest[i]):
                cls.wrong.append(f"{case.op} of {dtype} at opset {opset}, element {i}: {result}, exact {right}")
                return
            cls.beyond.add(rows[0])

    def test_kernels_are_exact_up_to_what_the_table_says(self):
        self.assertEqual("\n".join(self.wrong), "")

    @unittest.skipUnless(onnxruntime.__version__.startswith(RUNTIME) and platform.machine() in ("x86_64", "AMD64"), "the table is of another build")
    def test_the_table_names_no_kernel_that_is_exact(self):
        self.assertEqual(sorted(set(self.table) - self.beyond), [])

    def test_one_element_is_compared_whole(self):
        for a, b in ((5, 2**31), (2**31 + 1, 7), (-(2**31) - 1, -3), (2**32, 2**32 + 2**31), (-(2**33), -(2**33) + 2**31)):
            x, y = np.array([a]), np.array(b)
            for op, inputs, right in (("Max", [x, y], max(a, b)), ("Min", [x, y], min(a, b)), ("Clip", [x, y, None], max(a, b)),
                                      ("Clip", [x, None, y], min(a, b)), ("Relu", [x], max(a, 0)), ("Sign", [x], (a > 0) - (a < 0))):
                self.assertEqual(run(op, inputs, 18), [right], (op, a, b))

    def test_every_operator_of_integers_is_run_or_known_to_compute_nothing(self):
        integers = {f"tensor({t})" for t in DTYPES}
        ran = {op for op, _, _ in self.ran}
        for schema in onnx.defs.get_all_schemas():
            if schema.domain != "":
                continue
            types = {c.type_param_str: set(c.allowed_type_strs) for c in schema.type_constraints}
            if any(integers & types.get(i.type_str, {i.type_str}) for i in schema.inputs):
                known = ran | WITHOUT_ARITHMETIC | QUANTIZED | REAL | WITHOUT_KERNEL
                self.assertIn(schema.name, known, "takes integers: run it here, or say why not")


if __name__ == "__main__":
    unittest.main()
