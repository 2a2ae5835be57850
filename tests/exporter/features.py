# SPDX-License-Identifier: MIT
"""The documented features of operators of your own and of rows, as data: their C++ and what they compute in NumPy.

A case is an operator with a body, and a row that calls it, with four features each, so that every pair of features meets in one of them; an
operator for each pair would take minutes to compile. A row is called twice: variant 0 gives all arguments, variant 1 leaves out what may be left
out, or gives other values. feature_pairs_run_test.py compares both with NumPy.
"""

import functools
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy

Array = numpy.ndarray
f32 = numpy.float32


@dataclass(frozen=True)
class Feature:
    name: str
    # The operator: parts of its declaration, parameters of the body, a statement that changes y, operands and attributes of both calls.
    inputs: str = ""
    attributes: str = ""
    outputs: str = ""
    input_parameters: str = ""
    attribute_parameters: str = ""
    statement: str = ""
    operands: tuple[str, str] = ("", "")
    given: tuple[str, str] = ("", "")
    returned: str = ""  # an optional output, which only variant 0 asks for and adds to y
    rule: str = ""  # of the first output
    part: str = ""  # after the constraints; {outputs} is their number
    domain: str = ""
    # The row: its schema, parameters, a statement before the call, a lambda around the call, results.
    schema: str = ""
    self_schema: str = "Tensor x"
    parameters: str = ""
    argument: str = ""
    before: str = ""
    around: str = ""
    result: str = ""  # "list", "second" or "written"
    since: int = 13
    body: Callable[[Array, int], Array] = lambda y, variant: y
    row: Callable[[Array, int], Array] = lambda x, variant: x
    added: Callable[[Array, int], Array] | None = None  # what the optional output adds, of the final y
    wrap: Callable[[Callable[[Array], Array], Array], Array] | None = None


def attribute(name: str, declared: str, parameters: str, statement: str, given: tuple[str, str], body: Callable[[Array, int], Array]) -> Feature:
    return Feature(name, attributes=declared, attribute_parameters=parameters, statement=statement, given=given, body=body)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + numpy.exp(-x))


def loop(y: Array, turns: int = 3) -> Array:
    s = y
    for i in range(turns):
        s = (s + f32(i)) * f32(0.5) + y
    return s


def loop_until(y: Array) -> Array:
    s, seen = y, []
    for _ in range(5):
        s = s * f32(1.5) + y
        seen.append(s)
        if numpy.abs(s).sum() >= 60:
            break
    return s + numpy.sum(seen, 0)


def scan(y: Array) -> Array:
    totals = numpy.cumsum(y, 0, dtype=f32)
    return totals * f32(0.5) + totals[-1]


def two_deep(y: Array) -> Array:
    s = y
    for k in range(2):
        s = s * f32(0.5) + y + f32(k)
    return s - y


def shifted(y: Array, mode: str) -> Array:
    return numpy.concatenate([y[:, 1:2] if mode == "reflect" else numpy.zeros_like(y[:, :1]), y[:, :-1]], 1)


def twice(call: Callable[[Array], Array], x: Array) -> Array:
    for _ in range(2):
        x = call(x) * f32(0.5)
    return x


def branched(call: Callable[[Array], Array], x: Array) -> Array:
    return call(x) if x.sum() > 0 else -call(x)


FEATURES = (
    # Attributes that the body reads: a function for each value.
    attribute("numbers", "float nf=0.5, int ni=1", "double nf, std::int64_t ni", 'y = g.op<"Mul">(y, nf + static_cast<double>(ni));',
              ('attr_f<"nf">(1.5), attr_i<"ni">(2)', ""), lambda y, v: y * f32((3.5, 1.5)[v])),
    attribute("texts", "string mode='neg', string[] names=['a']", "std::string_view mode, std::span<std::string const> names",
              'if (mode == "neg") y = g.op<"Neg">(y);\n    y = g.op<"Add">(y, static_cast<double>(names.size()));',
              ('attr_s<"mode">("id"), attr_s<"names">({"p", "q", "r"})', ""), lambda y, v: (y + 3, 1 - y)[v]),
    attribute("lists", "float[] knots=[1, 2.5], int[] axes=[0]", "std::span<float const> knots, std::span<std::int64_t const> axes",
              'y = g.op<"Add">(g.op<"Mul">(y, knots.back()), g.op<"ReduceSum">(y, g.ints(axes)));',
              ('attr_f<"knots">({3}), attr_i<"axes">({0, 1})', ""),
              lambda y, v: (y * 3 + y.sum(keepdims=True), y * f32(2.5) + y.sum(0, keepdims=True))[v]),
    attribute("tensor", "tensor t", "tensor const& t", 'y = g.op<"Add">(y, g.constant(t));',
              ('attr_t<"t">(scalar_tensor(1.5, dtype::float32))', 'attr_t<"t">(scalar_tensor(-2, dtype::float32))'),
              lambda y, v: y + f32((1.5, -2)[v])),
    attribute("optional_attribute", "float? eps", "std::optional<double> eps", 'if (eps) y = g.op<"Sub">(y, *eps);',
              ('attr_f<"eps">(0.75)', ""), lambda y, v: (y - f32(0.75), y)[v]),
    # Attributes by reference: one function.
    attribute("numbers_by_reference", "float rf=0.5, int ri=1", "by_reference<double> rf, by_reference<std::int64_t> ri",
              'y = g.op<"LeakyRelu">(g.op<"Mul">(y, ri), attr::alpha_f(rf)); y = g.op<"Add">(y, rf);',
              ('attr_f<"rf">(0.25), attr_i<"ri">(-2)', ""),
              lambda y, v: (numpy.where(y > 0, y * f32(-0.5), y * -2) + f32(0.25), numpy.where(y > 0, y, y * f32(0.5)) + f32(0.5))[v]),
    attribute("texts_by_reference", "string rmode='constant'", "by_reference<std::string_view> rmode",
              'y = g.op<"Slice">(g.op<"Pad">(y, g.ints({0, 1, 0, 0}), attr::mode_s(rmode)), g.ints({0}), g.ints({3}), g.ints({1}));',
              ('attr_s<"rmode">("reflect")', ""), lambda y, v: shifted(y, ("reflect", "constant")[v])),
    attribute("lists_by_reference", "float[] rfs=[1, 2, 3], int[] ris=[2, 1, 0]",
              "by_reference<std::span<float const>> rfs, by_reference<std::span<std::int64_t const>> ris",
              'y = g.op<"Add">(g.op<"Mul">(y, g.to_value(rfs)), g.cast(g.to_value(ris), dtype::float32));',
              ('attr_f<"rfs">({-1.0, 0.5, 2.0}), attr_i<"ris">({4, 5, 6})', ""),
              lambda y, v: (y * numpy.array([-1, 0.5, 2], f32) + numpy.array([4, 5, 6], f32),
                            y * numpy.array([1, 2, 3], f32) + numpy.array([2, 1, 0], f32))[v]),
    attribute("tensor_by_reference", "tensor rt", "by_reference<tensor> rt", 'y = g.op<"Mul">(y, g.to_value(rt));',
              ('attr_t<"rt">(scalar_tensor(1.25, dtype::float32))', 'attr_t<"rt">(scalar_tensor(-3, dtype::float32))'),
              lambda y, v: y * f32((1.25, -3)[v])),
    attribute("optional_by_reference", "float? reps", "std::optional<by_reference<double>> reps",
              'y = g.op<"Elu">(y, attr::alpha_f(reps));', ('attr_f<"reps">(0.5)', ""),
              lambda y, v: numpy.where(y > 0, y, (numpy.exp(numpy.minimum(y, 0)) - 1) * f32((0.5, 1)[v]))),
    # Nested graphs.
    Feature("if", statement="y = branch(g, y);", body=lambda y, v: y * 2 if y.sum() > 0 else y - 1),
    Feature("loop", statement="y = loop(g, y);", body=lambda y, v: loop(y)),
    Feature("loop_until", statement="y = loop_until(g, y);", body=lambda y, v: loop_until(y)),
    Feature("scan", statement="y = scan(g, y);", body=lambda y, v: scan(y)),
    Feature("two_deep", statement="y = two_deep(g, y);", body=lambda y, v: two_deep(y)),
    Feature("sequence_map", statement="y = mapped(g, y);", body=lambda y, v: y * f32(0.5), since=17),
    # Inputs, outputs and types.
    Feature("optional_input", inputs="T? B", input_parameters="optional_value B", statement='if (B) y = g.op<"Add">(y, *B);',
            operands=("x", "absent"), body=lambda y, v: y if v else y + X.get()),
    Feature("optional_output", outputs="T? Z", statement='value const Z = g.op<"Abs">(x);', returned="Z", added=lambda a, v: numpy.abs(a)),
    Feature("absent_output", attributes="int want=0", attribute_parameters="std::int64_t want", outputs="T? W",
            given=('attr_i<"want">(1)', ""), statement='optional_value W;\n    if (want != 0) W = g.op<"Exp">(g.op<"Tanh">(x));', returned="W",
            added=lambda a, v: numpy.exp(numpy.tanh(a))),
    Feature("like", rule=" = like(X)"),
    Feature("broadcast", rule=" = broadcast(X, X)"),
    Feature("infer", part="infer<as_first<{outputs}>>"),
    Feature("variadic", statement='{ value const all[] = {y, x, y}; y = g.op<"Max">(std::span<value const>(all)); }',
            body=lambda y, v: numpy.maximum(y, OPERAND.get())),
    # Domains.
    Feature("body_in_body", statement='y = g.op<"pairs.helper::Part">(g.op<"pairs.helper::Part">(y), attr_f<"by">(2.0));',
            body=lambda y, v: y - f32(2.25)),
    Feature("foreign_operator", statement='y = g.op<"com.microsoft::QuickGelu">(y);', body=lambda y, v: y * sigmoid(f32(1.702) * y)),
    Feature("extended_domain", statement='y = g.op<"com.microsoft::Trilu">(y, absent, attr_i<"upper">(0));', body=lambda y, v: numpy.tril(y)),
    Feature("foreign_domain", domain="com.microsoft"),
    # Rows.
    Feature("tensor_lists", schema="Tensor[] xs", parameters="std::span<value const> xs", argument="argument::of_tensors({x, x, bias})",
            before='a = g.op<"Add">(a, g.op<"Sum">(xs));', result="list", row=lambda x, v: x + 2 * X.get() + BIAS),
    Feature("optional_tensor", schema="Tensor? b", parameters="optional_value b",
            argument="variant == 0 ? argument::of_tensor(bias) : argument::none()", before='if (b) a = g.op<"Mul">(a, *b);',
            row=lambda x, v: x if v else x * BIAS),
    Feature("arguments", schema="float f, str s, int[] dims, bool flag=False",
            parameters="double f, std::string_view s, std::span<std::int64_t const> dims, bool flag",
            argument='argument::of_number(variant == 0 ? 0.5 : 2.0), argument::of_text(variant == 0 ? "sub" : "add"), '
                     "argument::of_numbers({1}), argument::of_number(variant == 0)",
            before='if (flag) a = g.op<"Neg">(a);\n            a = s == "sub" ? value(g.op<"Sub">(a, f)) : value(g.op<"Add">(a, f)); '
                   'a = g.op<"Sub">(a, g.op<"ReduceSum">(a, g.ints(dims)));',
            row=lambda x, v: (lambda a: a - a.sum(1, keepdims=True))(x + 2 if v else -x - f32(0.5))),
    Feature("size", before='a = g.op<"Add">(a, g.cast(g.to_value(g.size(x, 0)), dtype::float32));', row=lambda x, v: x + len(x)),
    Feature("mutation", self_schema="Tensor(a!) x", result="written"),
    Feature("two_results", result="second"),
    Feature("call_in_a_branch", around="in_branch", wrap=branched),
    Feature("call_in_a_loop", around="in_loop", wrap=twice),
)

IMPOSSIBLE = {
    frozenset(pair): "an output has one rule"
    for pair in itertools.combinations(("like", "broadcast", "infer"), 2)
}
# Features that no body can have, and therefore no pair here.
WITHOUT_A_BODY = {
    "T... Xs": "a body takes a fixed number of inputs, and ONNX Runtime has no kernel for an operator without a body",
    "T... Ys": "a body returns one value for each declared output",
    "graph body": "an attribute with a graph cannot be passed to a body",
}

BIAS = numpy.array([0.5, -1, 2], f32)


class Held:
    """The operand of the row or of the operator that is computed."""

    value: Array

    def get(self) -> Array:
        return self.value


X, OPERAND = Held(), Held()


Case = tuple[Feature, ...]
LARGEST = 4


def pairs_of(features: Iterable[Feature]) -> set[frozenset[str]]:
    return {frozenset((a.name, b.name)) for a, b in itertools.combinations(features, 2)}


def possible_pairs() -> set[frozenset[str]]:
    return pairs_of(FEATURES) - IMPOSSIBLE.keys()


@functools.cache
def cases() -> tuple[Case, ...]:
    """Few cases that contain every possible pair: each starts with a pair that is left and takes what adds most pairs."""
    left = possible_pairs()
    found = []
    for first in itertools.combinations(FEATURES, 2):
        if not pairs_of(first) <= left:
            continue
        case = first
        while len(case) < LARGEST:
            fitting = [f for f in FEATURES if f not in case and not pairs_of((*case, f)) & IMPOSSIBLE.keys()]
            case = (*case, max(fitting, key=lambda f: len(pairs_of((*case, f)) & left)))
        left -= pairs_of(case)
        # In the order of the table: parts of bodies follow one another.
        found.append(tuple(sorted(case, key=FEATURES.index)) if len(found) % 2 == 0 else case)
    return tuple(found)


def expected(case: Case, x: Array, variant: int) -> list[Array]:
    """The results of the row: those of its schema, then the new value of x."""
    X.value = x

    def call(operand: Array) -> Array:
        OPERAND.value = y = operand
        for f in case:
            y = f.body(y, variant)
        if variant == 0:
            for f in case:
                y = y + f.added(operand, variant) if f.added else y
        return y.astype(f32)

    operand = x
    for f in case:
        operand = f.row(operand, variant)
    run = call
    for f in case:
        if f.wrap:
            run = (lambda inner, wrap: lambda z: wrap(inner, z))(run, f.wrap)
    y = run(operand.astype(f32))
    kinds = {f.result for f in case}
    results = [y, -y] if "list" in kinds else [y]
    return results + [y * 2] * ("second" in kinds) + [-x] * ("written" in kinds)
