# SPDX-License-Identifier: MIT
"""Runs nodes at two opsets and compares the results: the evidence for version_decisions.tsv.

A break must be seen by one that implements both meanings: ONNX Runtime, ONNX's reference evaluator, or ONNX's inference of shapes.
What is decided to be the same must come out equal in ONNX Runtime, at every opset of the list. Breaks that no runtime implements
(GRU 7, OneHot 11, ConvTranspose 11, ...) rest on the texts alone; UNSEEN names them.
"""

import unittest
import warnings
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

DECISIONS = Path(__file__).with_name("version_decisions.tsv")
NEWEST_RUN = 26  # the newest opset that ONNX Runtime supports

onnxruntime.set_default_logger_severity(4)
warnings.filterwarnings("ignore")


def node_model(opset, op, inputs, outputs, attributes):
    names = ["" if x is None else f"x{i}" for i, x in enumerate(inputs)]
    feeds = {name: x for name, x in zip(names, inputs) if x is not None}
    formals = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in feeds.items()]
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, names, results, **attributes)
    graph = helper.make_graph([node], "one_node", formals, [onnx.ValueInfoProto(name=r) for r in results])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), feeds


def onnx_runtime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def reference(model, feeds):
    return ReferenceEvaluator(model).run(None, feeds)


def inference(model, _):
    """The dtype and shape of each output, instead of the numbers."""
    results = []
    for output in onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True).graph.output:
        tensor = output.type.tensor_type
        results.append(numpy.array([tensor.elem_type, *(d.dim_value for d in tensor.shape.dim)]))
    return results


def equal(a, b):
    return len(a) == len(b) and all(
        x.dtype == y.dtype and x.shape == y.shape
        and (numpy.array_equal(x, y) if x.dtype.kind in "OUSb" else numpy.allclose(x, y, rtol=1e-5, atol=1e-6, equal_nan=True))
        for x, y in zip(a, b))


def case(op, *inputs, outputs=1, **attributes):
    return op, inputs, outputs, attributes


def run(engine, opset, one):
    op, inputs, outputs, attributes = one
    return engine(*node_model(opset, op, inputs, outputs, attributes))


def f32(*values):
    return numpy.array(values[0] if len(values) == 1 else values, dtype=numpy.float32)


def i64(*values):
    return numpy.array(values[0] if len(values) == 1 else values, dtype=numpy.int64)


NUMBERS = numpy.random.default_rng(20)


def some(*shape):
    return NUMBERS.standard_normal(shape).astype(numpy.float32)


INF, NAN = numpy.inf, numpy.nan
EMPTY = numpy.zeros(0, numpy.float32)
IMAGE = some(1, 2, 7, 5)
LEFT, RIGHT = some(3), some(2, 3)
NORMALIZED = [some(2, 4, 3, 2), *(abs(some(4)) for _ in range(4))]
POOLED = dict(kernel_shape=[2, 3], strides=[2, 3], pads=[1, 0, 0, 2])  # with ceil_mode the third window starts in the padding

# (operator, version): the engine that shows the break, and the node; `refused` means that the later opset has no result, otherwise a different one.
# If the number of inputs changed with the meaning, there is a node for each opset.
refused = "refused"
BREAKS = {
    **{(op, 7): (inference, case(op, LEFT, RIGHT)) for op in ("Add", "Div", "Greater", "Less", "Mul", "Pow", "Sub")},
    **{(op, 7): (inference, case(op, LEFT > 0, RIGHT > 0)) for op in ("And", "Or", "Xor")},
    ("Equal", 7): (inference, case("Equal", LEFT.astype(numpy.int32), RIGHT.astype(numpy.int32))),
    **{(op, 8): (inference, case(op, LEFT, RIGHT)) for op in ("Max", "Mean", "Min", "Sum")},
    ("AveragePool", 22): (inference, case("AveragePool", IMAGE, ceil_mode=1, **POOLED)),
    ("MaxPool", 22): (inference, case("MaxPool", IMAGE, ceil_mode=1, **POOLED)),
    ("BatchNormalization", 14): (inference, case("BatchNormalization", *NORMALIZED, outputs=5), refused),
    ("Clip", 11): (reference, case("Clip", numpy.array([-1e300, 1e300, 1.0]))),
    ("DFT", 20): (onnx_runtime, case("DFT", some(1, 3, 4, 1))),
    ("Dropout", 10): (onnx_runtime, case("Dropout", LEFT, outputs=2)),
    ("GridSample", 20): (onnx_runtime, case("GridSample", some(1, 1, 3, 4), some(1, 2, 2, 2), mode="bilinear"), refused),
    ("GroupNormalization", 21): (onnx_runtime, case("GroupNormalization", some(1, 4, 3, 2), f32(1, 2), f32(3, 4), num_groups=2), refused),
    **{(op, 13): (onnx_runtime, case(op, some(2, 3, 4))) for op in ("Hardmax", "LogSoftmax", "Softmax")},
    ("Resize", 11): (onnx_runtime, case("Resize", IMAGE, f32(1, 1, 1.7, 0.6), mode="linear"),
                     case("Resize", IMAGE, EMPTY, f32(1, 1, 1.7, 0.6), mode="linear")),
    ("Resize", 13): (onnx_runtime, case("Resize", IMAGE, EMPTY, EMPTY, i64(1, 2, 9, 3), mode="linear"), refused),
    ("RoiAlign", 16): (onnx_runtime, case("RoiAlign", some(1, 1, 6, 5), f32([[0, 0, 3, 4]]), i64([0]), output_height=2, output_width=2)),
    ("Split", 18): (onnx_runtime, case("Split", some(4, 3), outputs=2), refused),
}
# Documented, but not implemented, or only below opset 7, which no runtime supports.
UNSEEN = {("BatchNormalization", 7), ("BatchNormalization", 15), ("ConvTranspose", 11), ("Dropout", 7), ("Dropout", 12), ("GRU", 7),
          ("Gemm", 7), ("LSTM", 7), ("OneHot", 11), ("PRelu", 7), ("RNN", 7), ("Scan", 9), ("Selu", 6)}

TIES = f32([[3, 1, 3, 2, 3], [NAN, 1, -2, 1, 0]])
HOSTILE = f32(-INF, -200, -129, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 300, 3e38, INF, NAN)
IN_RANGE = f32(-1.5, -0.5, 0, 0.5, 1.5, 2.5, 36, 100)
CORNERS = f32(0, 0, .1, .2, 1, 1, .8, .9)
BOXES = f32([[[0, 0, 1, 1], [0, 0, 1, 1], [0, .1, 1, 1.1], [0, 10, 1, 11]]])
LOG_P = numpy.log(abs(some(3, 5, 2)))
REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")

# Apparent changes that are none: (opsets, node).
SAME = [
    *(((7, 11, 12, 13, 18, 20, 26), case(f"Reduce{r}", some(2, 3, 4), keepdims=0)) for r in REDUCTIONS),
    *(((7, 11, 12, 13, 18, 20, 26), case(f"Reduce{r}", f32([[NAN, 1], [INF, -2]]))) for r in REDUCTIONS),
    *(((7, 11, 12), case(f"Reduce{r}", numpy.zeros((2, 0, 3), numpy.float32), axes=[1])) for r in REDUCTIONS),
    *(((18, 20, 26), case(f"Reduce{r}", numpy.zeros((2, 0, 3), numpy.float32), i64([-2]))) for r in REDUCTIONS),
    *(((7, 11, 12, 13, 26), case(op, TIES, axis=1, keepdims=0)) for op in ("ArgMax", "ArgMin")),
    ((10, 11, 23, 24, 26), case("TopK", TIES, i64([3]), outputs=2)),
    ((11, 23, 24, 26), case("TopK", TIES, i64([4]), outputs=2, largest=0, axis=1)),
    *(((9, 13, 18, 19, 21, 23, 24, 25, 26), case("Cast", IN_RANGE.astype(t), to=to)) for t in ("float32", "float64", "int32", "float16")
      for to in (TensorProto.BOOL, TensorProto.INT8, TensorProto.UINT8, TensorProto.INT64, TensorProto.FLOAT16, TensorProto.DOUBLE,
                 TensorProto.STRING)),
    *(((9, 13, 19, 26), case("Cast", HOSTILE, to=to)) for to in (TensorProto.BOOL, TensorProto.FLOAT16, TensorProto.DOUBLE)),
    *(((9, 13, 19, 26), case("Cast", numpy.array([200, -129, 36, 0, 65537]), to=to)) for to in (TensorProto.INT8, TensorProto.UINT8)),
    ((9, 13, 19, 26), case("Cast", numpy.array(["1.5", "-INF", "nan", "1e-5"], dtype=object), to=TensorProto.FLOAT)),
    ((7, 10, 11, 12, 13), case("Clip", f32(-3e38, -1, 0, NAN, 2, INF))),
    ((11, 12, 13, 26), case("Clip", HOSTILE, f32(1.0), f32(-1.0))),  # min above max
    *(((11, 13, 18, 19, 21, 23, 24, 25, 26), case("Pad", some(3, 4), i64(1, 2, 2, -1), f32(-7.0), mode=m)) for m in ("constant", "reflect", "edge")),
    *(((11, 12), case("Resize", IMAGE, CORNERS, f32(1, 1, 1.7, .6), mode=m, coordinate_transformation_mode=c))
      for m in ("nearest", "linear", "cubic") for c in ("half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")),
    *(((12, 13, 17, 18, 19, 26), case("Resize", IMAGE, CORNERS, f32(1, 1, 1.7, .6), mode=m, coordinate_transformation_mode=c))
      for m in ("nearest", "linear", "cubic") for c in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_crop_and_resize")),
    *(((11, 13, 18, 19, 26), case("Resize", IMAGE, EMPTY, f32(1, 1, 2, .5), nearest_mode=n))
      for n in ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")),
    ((13, 18, 19, 26), case("Resize", IMAGE, None, None, i64(1, 2, 9, 3), mode="cubic", exclude_outside=1, cubic_coeff_a=-.5)),
    *(((7, 10, 11, 12, 18, 19, 22, 26), case(op, IMAGE, auto_pad=a, kernel_shape=[2, 3], strides=[2, 3]))
      for op in ("AveragePool", "LpPool", "MaxPool") for a in ("VALID", "SAME_UPPER", "SAME_LOWER")),
    *(((7, 10, 11, 22, 26), case("Conv", IMAGE, some(3, 2, 2, 3), auto_pad=a, strides=[2, 3])) for a in ("VALID", "SAME_UPPER", "SAME_LOWER")),
    *(((7, 10, 11, 18, 19, 22, 26), case("AveragePool", IMAGE, count_include_pad=c, **POOLED)) for c in (0, 1)),
    *(((10, 11, 18, 19, 21), case("AveragePool", IMAGE, count_include_pad=c, ceil_mode=1, **POOLED)) for c in (0, 1)),
    ((8, 10, 11, 12, 22, 26), case("MaxPool", IMAGE, outputs=2, storage_order=1, **POOLED)),
    ((7, 11, 18, 22, 26), case("LpPool", IMAGE, p=3, **POOLED)),
    ((7, 11, 22, 26), case("ConvTranspose", IMAGE, some(2, 3, 2, 3), strides=[2, 2], pads=[1, 0, 0, 1], output_padding=[1, 0])),
    ((7, 9, 14, 15, 26), case("BatchNormalization", *NORMALIZED, epsilon=.1)),
    ((20, 22, 26), case("GridSample", some(1, 1, 3, 4), some(1, 2, 2, 2), align_corners=1)),
    ((16, 19, 20, 26), case("GridSample", some(1, 1, 3, 4), some(1, 2, 2, 2), padding_mode="reflection")),
    ((10, 11, 13, 26), case("Slice", some(3, 4), i64(-100, 3), i64(100, -100), i64(0, 1), i64(1, -1))),
    ((10, 11, 13, 26), case("Slice", some(3, 4), i64(5, -2), i64(-9, 7))),
    ((7, 11, 13, 26), case("Gather", some(3, 4), i64([[-1, 0, 3]]), axis=1)),
    ((11, 13, 26), case("GatherElements", some(3, 4), i64([[-1, 0]]), axis=1)),
    ((11, 12, 13, 26), case("GatherND", some(3, 4), i64([[-1, 0], [2, -3]]))),
    ((11, 13, 16, 18, 26), case("ScatterElements", some(3, 4), i64([[-1, 0]]), some(1, 2), axis=-1)),
    ((11, 13, 16, 18, 26), case("ScatterND", some(3, 4), i64([[-1, 0], [2, -3]]), some(2))),
    ((10, 13, 26), case("Mod", i64(-7, 7, -7), i64(3, -3, -3))),
    ((10, 13, 26), case("Mod", i64(-7, 7, -7), i64(3, -3, -3), fmod=1)),
    ((10, 13, 26), case("Mod", f32(-7.5, 7, INF, 1, NAN), f32(3, -3, 2, 0, 1), fmod=1)),
    ((7, 12, 13, 15, 26), case("Pow", f32(-2, 2, 0, NAN, -8), f32(3, -1.5, 0, 0, 1 / 3))),
    ((7, 13, 14, 26), case("Div", i64(-7, 7, 7), i64(2, -2, 7))),
    *(((10, 13, 19, 21, 23, 24, 25, 26), case("QuantizeLinear", IN_RANGE, f32(.5), numpy.array(z, t)))
      for z, t in ((3, numpy.uint8), (-3, numpy.int8))),
    ((13, 19, 21, 23, 26), case("QuantizeLinear", some(3, 2, 4), f32(1, .1), numpy.array([3, 1], numpy.uint8))),
    ((10, 13, 19, 21, 23, 24, 25, 26), case("DequantizeLinear", numpy.array([[1, 255]], numpy.uint8), f32(.5), numpy.array(3, numpy.uint8))),
    ((9, 11, 26), case("OneHot", i64(0, 3, 2), i64(3), f32(5, 7))),  # nothing negative
    *(((10, 11, 26), case("NonMaxSuppression", BOXES, f32([[[.9, .9, .75, .6]]]), i64([3]), f32([t]), f32([.6]))) for t in (0, .5, 1)),
    ((7, 11, 13, 21, 23, 24, 25, 26), case("Flatten", some(2, 3, 4, 5), axis=2)),
    ((7, 13, 14, 19, 21, 23, 24, 25, 26), case("Reshape", some(2, 3, 4), i64(0, -1, 2))),
    ((7, 13, 15, 19, 21, 23, 24, 25, 26), case("Shape", some(2, 3, 4))),
    ((7, 11, 13, 21, 23, 24, 25, 26), case("Squeeze", some(1, 3, 1))),
    ((7, 11, 13), case("Split", some(4, 3), outputs=2)),
    ((7, 11, 13, 26), case("DepthToSpace", some(1, 8, 2, 3), blocksize=2)),
    ((7, 13, 26), case("SpaceToDepth", some(1, 2, 4, 6), blocksize=2)),
    ((7, 11, 12), case("Softmax", some(2, 3, 4), axis=1)),
    ((7, 14, 22, 26), case("GRU", some(3, 2, 4), some(1, 15, 4), some(1, 15, 5), some(1, 30), outputs=2, hidden_size=5, linear_before_reset=1)),
    ((7, 14, 22, 26), case("LSTM", some(3, 2, 4), some(2, 20, 4), some(2, 20, 5), outputs=3, hidden_size=5, direction="bidirectional")),
    ((7, 14, 22, 26), case("RNN", some(3, 2, 4), some(1, 5, 4), some(1, 5, 5), outputs=2, hidden_size=5)),
    ((12, 13, 22, 26), case("NegativeLogLikelihoodLoss", LOG_P, i64([[0, 4], [1, -1], [2, 3]]), abs(some(5)), ignore_index=-1)),
    ((12, 13, 26), case("SoftmaxCrossEntropyLoss", LOG_P, i64([[0, 4], [1, 1], [2, 3]]), abs(some(5)), outputs=2, ignore_index=1)),
    ((12, 13, 22, 26), case("Dropout", TIES, f32(.5), numpy.array(False), outputs=2)),
    ((7, 9, 16, 26), case("PRelu", some(2, 3, 4), some(4))),
    ((7, 9, 11, 13, 26), case("Gemm", some(2, 3), some(4, 3), some(4), transB=1, beta=.5)),
    ((11, 14, 26), case("CumSum", some(3, 4), numpy.array(1, numpy.int32), exclusive=1, reverse=1)),
    ((10, 20, 26), case("IsInf", HOSTILE, detect_negative=0)),
    ((9, 13, 20, 26), case("IsNaN", HOSTILE)),
    ((11, 22, 26), case("Round", f32(-1.5, -.5, .5, 1.5, 2.5, INF))),
    ((23, 24, 25, 26), case("Attention", some(1, 2, 4, 8), some(1, 2, 6, 8), some(1, 2, 6, 8), is_causal=1)),
    ((23, 24, 25, 26), case("Attention", some(1, 2, 4, 8), some(1, 2, 6, 8), some(1, 2, 6, 8), numpy.zeros((4, 6), bool))),
]


def decided(*kinds):
    rows = [line.rstrip("\n").split("\t") for line in DECISIONS.read_text().splitlines() if line and not line.startswith("#")]
    return {(op, int(opset)): kind for op, opset, kind, *_ in rows if not kinds or kind in kinds}


class Breaks(unittest.TestCase):
    def test_each_break_is_run_or_said_to_be_unseen(self):
        self.assertEqual(set(BREAKS) | UNSEEN, set(decided("break", "conditional")))
        self.assertFalse(set(BREAKS) & UNSEEN)

    def test_each_break_is_one(self):
        for (op, opset), (engine, before, *after) in BREAKS.items():
            with self.subTest(op, opset=opset):
                then = run(engine, opset - 1, before)
                if after == [refused]:
                    with self.assertRaises(Exception):
                        run(engine, opset, before)
                else:
                    self.assertFalse(equal(then, run(engine, opset, *(after or [before]))))


class Same(unittest.TestCase):
    def test_what_only_looks_changed(self):
        for opsets, one in SAME:
            self.assertLessEqual(opsets[-1], NEWEST_RUN)
            first = run(onnx_runtime, opsets[0], one)
            for opset in opsets[1:]:
                with self.subTest(one[0], attributes=one[3], opset=opset):
                    self.assertTrue(equal(first, run(onnx_runtime, opset, one)))

    def test_infinity_in_float8(self):
        """The table in the documentation of Cast changed with 24, but the results did not."""
        for to in (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ):
            for saturate in (0, 1):
                nodes = [helper.make_node("Cast", ["x"], ["small"], to=to, saturate=saturate),
                         helper.make_node("Cast", ["small"], ["y"], to=TensorProto.FLOAT)]
                graph = helper.make_graph(nodes, "there_and_back", [helper.make_tensor_value_info("x", TensorProto.FLOAT, HOSTILE.shape)],
                                          [onnx.ValueInfoProto(name="y")])
                results = [onnx_runtime(helper.make_model(graph, opset_imports=[helper.make_opsetid("", v)], ir_version=10), {"x": HOSTILE})
                           for v in (19, 21, 23, 24, 25)]
                for result in results[1:]:
                    self.assertTrue(equal(results[0], result))

    def test_same_cases_cross_no_break(self):
        """No case contradicts the decisions: there is no break of all calls between its opsets."""
        breaks = decided("break")
        for opsets, (op, _, _, _) in SAME:
            crossed = {v for (name, v) in breaks if name == op and opsets[0] < v <= opsets[-1]}
            self.assertLessEqual(crossed, KNOWN_EQUAL.get(op, set()), op)


# Breaks that do not affect these cases: float32 without bounds, nothing negative in OneHot, inference of Dropout.
KNOWN_EQUAL = {"Clip": {11}, "OneHot": {11}}

if __name__ == "__main__":
    unittest.main()
