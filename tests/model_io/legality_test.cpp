// SPDX-License-Identifier: MIT
// Finished graphs are checked against ONNX's schemas: errors of passes and mappings are reported before a file is written.
#include <aton/model_io/legality.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <aton/aton.hpp>
#include <aton/model_io/model_io.hpp>

#include "../faults.hpp"

namespace legality_test {

using namespace aton::dsl;
using aton::dtype;
using aton::graph_node;
using aton::value_id;
using aton::tests::contains;
using aton::tests::fault_of;

namespace {

/// y = Cast(Add(x, x)) to float64; z = If(p): Neg(x), x.
struct fixture {
    graph_data data;
    value_id p, x;

    explicit fixture(int opset = 18) {
        data.opset = opset;
        data.origins.push_back({"add_1", "layer", "model.py:12 in forward"});
        data.context.overload = "aten::add.Tensor";
        data.context.origin = 1;
        p = data.add_input("p", {dtype::bool_, aton::shape(std::vector<aton::dim>())});
        x = data.add_input("x", {dtype::float32, {2, 3}});
        graph<13> g(data, opset);
        value const in(data, x);
        value const y = g.op<"Cast">(g.op<"Add">(in, in), attr::to_i(dtype::float64));
        value const z = g.op<"If">(value(data, p),
                                   attr::then_branch_g([&](graph<13> inner) { return inner.op<"Neg">(in); }),
                                   attr::else_branch_g([&](graph<13> inner) { return inner.op<"Identity">(in); }));
        data.outputs = {y.id(), z.id()};
    }
    graph_node& node(std::string const& op) {
        for (graph_node& n : data.nodes)
            if (n.op == op) return n;
        throw std::runtime_error("no " + op);
    }
    graph_data& then_branch() { return node("If").attributes.at(0).graphs.at(0); }
    [[nodiscard]] std::string fault() const {
        return fault_of([&] {
            require_legal(data);
            return 0;
        });
    }
};

aton::node_attribute integer(std::string name, std::int64_t i) {
    aton::node_attribute a;
    a.name = std::move(name);
    a.type = aton::onnx::attr_type::i;
    a.i = i;
    return a;
}

} // namespace

TEST_CASE("a legal graph passes, as in ONNX's checker") {
    for (int const opset : {13, 18, 23, aton::onnx::newest_opset}) {
        fixture const f(opset);
        CHECK(f.fault() == "nothing was thrown");
        CHECK_NOTHROW(aton::check_model_bytes(to_model_proto(f.data), "checker"));
    }
}

TEST_CASE("each broken rule is named, with operator, opset, ATen operator and the user's line") {
    struct row {
        char const* message;
        void (*change)(fixture&);
    };
    for (auto const& [message, change] : {
             row{"onnx::Foo (opset 18): is not an operator of ONNX", [](fixture& f) { f.node("Add").op = "Foo"; }},
             row{"onnx::Swish (opset 18): exists only since opset 24", [](fixture& f) { f.node("Add").op = "Swish"; }},
             row{"onnx::Upsample (opset 18): is deprecated", [](fixture& f) { f.node("Add").op = "Upsample"; }},
             row{"onnx::Add (opset 18): has 3 inputs, but at most 2 are allowed",
                 [](fixture& f) { f.node("Add").inputs.push_back(f.x); }},
             row{"onnx::Add (opset 18): has 1 inputs, but at least 2 are required",
                 [](fixture& f) { f.node("Add").inputs.pop_back(); }},
             row{"onnx::Add (opset 18): input 'A' is missing",
                 [](fixture& f) { f.node("Add").inputs[0] = aton::no_value; }},
             row{"onnx::Add (opset 18): has 2 outputs, but at most 1 are allowed",
                 [](fixture& f) { f.node("Add").outputs.push_back(f.data.add_value(aton::value_type{})); }},
             row{"onnx::Add (opset 18): input 'B' is bool, which this opset does not accept; made for aten::add.Tensor "
                 "at model.py:12 in forward",
                 [](fixture& f) { f.node("Add").inputs[1] = f.p; }},
             row{"onnx::Add (opset 18): output 'C' is float16, but another value of the same type is float32",
                 [](fixture& f) { f.data.values[f.node("Add").outputs[0]].type.dtype = dtype::float16; }},
             row{"onnx::Add (opset 18): has no attribute 'axis'",
                 [](fixture& f) { f.node("Add").attributes.push_back(integer("axis", 0)); }},
             row{"onnx::Cast (opset 18): requires the attribute 'to'",
                 [](fixture& f) { f.node("Cast").attributes.clear(); }},
             row{"onnx::Cast (opset 18): attribute 'to' is a float, but must be an integer",
                 [](fixture& f) { f.node("Cast").attributes[0].type = aton::onnx::attr_type::f; }},
             row{"onnx::Cast (opset 18): attribute 'to' is given twice",
                 [](fixture& f) { f.node("Cast").attributes.push_back(integer("to", 11)); }},
             row{"onnx::Cast (opset 18): attribute 'to' is 99, which is not a dtype",
                 [](fixture& f) { f.node("Cast").attributes[0].i = 99; }},
             row{"onnx::Cast (opset 18): returns float32, but its result is declared as float64",
                 [](fixture& f) { f.node("Cast").attributes[0].i = 1; }},
             row{"onnx::Cast (opset 18): output 'output' is float8_e5m2, which this opset does not return (opset 19 "
                 "does); made for aten::add.Tensor at model.py:12 in forward",
                 [](fixture& f) {
                     f.node("Cast").attributes[0].i = 19;
                     f.data.values[f.node("Cast").outputs[0]].type.dtype = dtype::undefined;
                 }},
             row{"is used before it is defined", [](fixture& f) { std::swap(f.data.nodes[0], f.data.nodes[1]); }},
             row{"is defined twice", [](fixture& f) { f.node("If").outputs = f.node("Add").outputs; }},
             row{"an output of the graph, is not defined",
                 [](fixture& f) { f.data.outputs[0] = f.data.add_value(aton::value_type{}, "lost"); }},
             row{"onnx::Neg (opset 18): input 'X' is bool, which this opset does not accept",
                 [](fixture& f) {
                     f.then_branch().values[f.then_branch().nodes[0].inputs[0]].type.dtype = dtype::bool_;
                 }},
             row{"onnx::If (opset 18): the graph 'then_branch' has 0 inputs and 0 outputs, but must have 0 and 1",
                 [](fixture& f) { f.then_branch().outputs.clear(); }},
             row{"opset 0 does not exist in this release of ONNX", [](fixture& f) { f.data.opset = 0; }},
         }) {
        CAPTURE(message);
        fixture f;
        change(f);
        std::string const said = f.fault();
        CAPTURE(said);
        CHECK(contains(said, message));
        CHECK(!contains(said, "\n"));
    }
}

TEST_CASE("functions: calls against their bodies, and bodies against the schemas") {
    fixture f;
    aton::graph_function body{"my", "twice", {}, {"by"}, {}};
    graph_data& inner = body.body.emplace_back();
    inner.opset = 18;
    value const a(inner, inner.add_input("a", aton::value_type{}));
    inner.outputs = {graph<13>(inner, 18).op<"Add">(a, a).id()};
    f.data.functions.push_back(std::move(body));
    f.node("Add").op = "twice";
    f.node("Cast").attributes[0].i = 11;
    for (graph_node& n : f.data.nodes)
        if (n.op == "twice") n.domain = "my";
    f.data.opset_imports.emplace_back("my", 1);
    CHECK(contains(f.fault(), "my::twice (opset 1): its body has 1 inputs and 1 outputs, but the call has 2 and 1"));
    f.node("twice").inputs.pop_back();
    CHECK(f.fault() == "nothing was thrown");
    f.node("twice").attributes.push_back(integer("times", 2));
    CHECK(contains(f.fault(), "my::twice (opset 1): its body has no attribute 'times'"));
    f.node("twice").attributes[0].name = "by";
    CHECK(f.fault() == "nothing was thrown");
    f.data.functions[0].body[0].nodes[0].inputs.pop_back();
    CHECK(contains(f.fault(), "onnx::Add (opset 18): has 1 inputs"));
}

TEST_CASE("illegal dtypes of attributes and constants are refused when the node is made") {
    graph_data data;
    data.opset = 18;
    graph<17> const g(data, 18);
    value const x(data, data.add_input("x", {dtype::float32, {2, 3}}));
    auto const refused = [](auto const& call) { return fault_of(call); };
    std::string const later = ", which this opset does not return (opset ";
    for (dtype const t :
         {dtype::float8_e4m3fn, dtype::float8_e4m3fnuz, dtype::float8_e5m2, dtype::float8_e5m2fnuz, dtype::int4}) {
        std::string const said = refused([&] { return g.op<"Cast">(x, attr::to_i(t)); });
        CHECK(contains(said, "onnx::Cast (opset 18): output 'output' is " + std::string(name(t)) + later));
        CHECK(contains(said, t == dtype::int4 ? "(opset 21 does)" : "(opset 19 does)"));
    }
    aton::tensor const number{dtype::float8_e5m2, {1}, std::string(1, '\0')};
    for (std::string const& said : {
             refused([&] { return g.op<"ConstantOfShape">(g.ints({2}), attr::value_t(number)); }),
             refused([&] { return g.op<"Constant">(attr::value_t(number)); }),
             refused([&] { return g.op<"EyeLike">(x, attr::dtype_i(dtype::complex64)); }),
             refused([&] { return g.op<"RandomNormal">(attr::shape_i({2}), attr::dtype_i(dtype::int64)); }),
             refused([&] { return g.op<"RandomUniformLike">(x, attr::dtype_i(dtype::int32)); }),
             refused([&] { return g.op<"Bernoulli">(x, attr::dtype_i(dtype::complex128)); }),
             refused([&] { return g.op<"Multinomial">(x, attr::dtype_i(dtype::float32)); }),
             refused([&] { return g.op<"SequenceEmpty">(attr::dtype_i(dtype::float8_e5m2)); }),
             refused([&] { return g.op<"HannWindow">(g.ints({2}), attr::output_datatype_i(dtype::bool_)); }),
         }) {
        CAPTURE(said);
        CHECK(contains(said, ", which this opset does not return"));
    }
}

TEST_CASE("a finished graph whose sizes contradict its nodes is refused, with the node and the user's line") {
    auto const fault_of_shapes = [](fixture& f) {
        return fault_of([&] {
            aton::require_shapes(f.data);
            return 0;
        });
    };
    fixture right;
    aton::value_type const kept = right.data.values[right.node("Add").outputs[0]].type;
    CHECK(fault_of_shapes(right) == "nothing was thrown");
    CHECK(right.data.values[right.node("Add").outputs[0]].type == kept);

    fixture size;
    size.data.values[size.node("Add").outputs[0]].type.shape = {2, 7};
    std::string const said = fault_of_shapes(size);
    CHECK(contains(said, "onnx::Add: a result is declared as "));
    CHECK(contains(said, "; made for aten::add.Tensor at model.py:12 in forward"));

    fixture rank;
    rank.data.values[rank.node("Cast").outputs[0]].type.shape = {2};
    CHECK(contains(fault_of_shapes(rank), "onnx::Cast: a result is declared as "));

    fixture nested;
    nested.then_branch().values[nested.then_branch().nodes.at(0).outputs[0]].type.shape = {4, 3};
    CHECK(contains(fault_of_shapes(nested), "onnx::Neg: a result is declared as "));

    fixture folded; // folded by a pass
    aton::value_id const sizes = folded.data.add_value({dtype::int64, {1}});
    folded.data.set_initializer(sizes, aton::int64_tensor(std::vector<std::int64_t>{5}));
    aton::value_id const made = folded.data.add_value({dtype::float32, {6}});
    graph_node n;
    n.op = "ConstantOfShape";
    n.inputs = {sizes};
    n.outputs = {made};
    folded.data.nodes.push_back(n);
    CHECK(contains(fault_of_shapes(folded), "onnx::ConstantOfShape: a result is declared as "));
    folded.data.values[made].type.shape = {"n"};
    CHECK(fault_of_shapes(folded) == "nothing was thrown");
}

TEST_CASE("sizes that follow from a chain of nodes are checked at its end") {
    graph_data data;
    data.opset = 18;
    graph<13> const g(data, 18);
    value const end(data, data.add_value({dtype::int64, aton::shape(std::vector<aton::dim>())}));
    value const range = g.op<"Range">(
        g.constant(aton::scalar_tensor(0, dtype::int64)), end, g.constant(aton::scalar_tensor(1, dtype::int64)));
    value const result = g.op<"Neg">(g.op<"Abs">(range));
    data.values[result.id()].type.shape = {13};
    data.outputs = {result.id()};
    aton::value_type const kept = data.values[range.id()].type;
    data.set_initializer(end.id(), aton::scalar_tensor(8, dtype::int64)); // found by a pass
    std::string const said = fault_of([&] {
        aton::require_shapes(data);
        return 0;
    });
    CHECK(contains(said, "onnx::Neg: a result is declared as Long(13), but is Long(8)"));
    data.values[result.id()].type.shape = {8};
    data.values[range.id()].type = kept;
    CHECK_NOTHROW(aton::require_shapes(data));
    CHECK(data.values[range.id()].type == kept);
}

TEST_CASE("S5: words that ONNX does not list for an attribute are refused in finished graphs") {
    fixture f;
    graph_node pad;
    pad.op = "Pad";
    pad.inputs = {f.x, f.x};
    pad.outputs = {f.data.add_value({dtype::float32, {}})};
    pad.attributes.emplace_back().name = "mode";
    pad.attributes[0].type = aton::onnx::attr_type::s;
    pad.attributes[0].s = "wrap";
    f.data.nodes.push_back(pad);
    CHECK(contains(f.fault(), "onnx::Pad (opset 18): attribute 'mode' is 'wrap', which exists since opset 19"));
}

TEST_CASE("S6: calls of ONNX Runtime's operators are checked, whoever declares them") {
    auto const said =
        [](std::string const& op, std::size_t inputs, std::vector<std::pair<std::string, char>> const& given) {
            fixture f;
            graph_node n;
            n.domain = "com.microsoft";
            n.op = op;
            n.inputs.assign(inputs, f.x);
            n.outputs = {f.data.add_value({dtype::float32, {}})};
            for (auto const& [name, letter] : given) {
                n.attributes.emplace_back().name = name;
                n.attributes.back().type = letter == 'f' ? aton::onnx::attr_type::f : aton::onnx::attr_type::i;
            }
            f.data.nodes.push_back(n);
            f.data.import_domain("com.microsoft", 1);
            return f.fault();
        };
    std::string const fine = "nothing was thrown";
    CHECK(said("BiasGelu", 2, {}) == fine);
    CHECK(said("QuickGelu", 1, {{"alpha", 'f'}}) == fine);
    CHECK(said("NotOfThisRelease", 3, {{"anything", 'i'}}) == fine); // a later release may have it
    CHECK(contains(said("BiasGelu", 1, {}), "com.microsoft::BiasGelu (opset 1): has 1 input, but in ONNX Runtime 1."));
    CHECK(contains(said("BiasGelu", 1, {}), "it needs at least 2"));
    CHECK(contains(said("BiasGelu", 3, {}), "has 3 inputs, but in ONNX Runtime 1."));
    CHECK(contains(said("BiasGelu", 3, {}), "it takes at most 2"));
    CHECK(contains(said("QuickGelu", 1, {{"alhpa", 'f'}}), "has no attribute 'alhpa'"));
    CHECK(contains(said("QuickGelu", 1, {{"alhpa", 'f'}}), "did you mean 'alpha'?"));
    CHECK(contains(said("QuickGelu", 1, {{"alpha", 'i'}}), "attribute 'alpha' has another type"));
    CHECK(contains(said("MatMulNBits", 3, {{"K", 'i'}, {"N", 'i'}}), "requires the attribute 'block_size'"));
    CHECK(contains(said("QuikGelu", 1, {}), "has no such operator; did you mean QuickGelu?"));
}

TEST_CASE("operators of com.microsoft get the dtypes that ONNX Runtime registers them for") {
    using enum dtype;
    auto const said = [](std::string const& op, std::vector<dtype> const& inputs, dtype output) {
        fixture f;
        graph_node n;
        n.domain = "com.microsoft";
        n.op = op;
        for (dtype const type : inputs) {
            bool const is_given = type != dtype::string;
            n.inputs.push_back(is_given ? f.data.add_input("i" + std::to_string(n.inputs.size()), {type, {}})
                                        : aton::no_value);
        }
        n.outputs = {f.data.add_value({output, {}})};
        f.data.nodes.push_back(n);
        f.data.import_domain("com.microsoft", 1);
        return f.fault();
    };
    std::string const fine = "nothing was thrown";
    dtype const none = dtype::string; // not given
    CHECK(said("QuickGelu", {float16}, float16) == fine);
    CHECK(said("QuickGelu", {undefined}, float64) == fine); // a dtype that is not known
    CHECK(
        contains(said("QuickGelu", {int64}, int64), "QuickGelu (opset 1): input 'X' is int64, but in ONNX Runtime 1."));
    CHECK(contains(said("QuickGelu", {int64}, int64), "it is float16, float32, float64 or bfloat16"));
    CHECK(contains(said("QuickGelu", {float32}, bool_), "output 'Y' is bool, but in"));
    CHECK(contains(said("QuickGelu", {float32}, float16),
                   "output 'Y' is float16, but 'X' is float32; in ONNX Runtime 1."));
    CHECK(contains(said("BiasGelu", {float32, float16}, float32),
                   "input 'B' is float16, but 'A' is float32; in ONNX Runtime 1."));
    CHECK(said("RotaryEmbedding", {float32, int64, float32, float32}, float32) == fine);
    CHECK(contains(said("RotaryEmbedding", {float32, int32, float32, float32}, float32),
                   "input 'position_ids' is int32, but in ONNX Runtime 1."));
    CHECK(said("SkipLayerNormalization", {float32, float32, float32, none, float32}, float32) == fine);
    CHECK(contains(said("SkipLayerNormalization", {float32, float32, float32, none, float64}, float32),
                   "input 'bias' is float64, but in"));
    CHECK(said("EPContext", {float32, int64, bool_}, int8) == fine); // each of another type
    CHECK(contains(said("TransposeMatMul", {float32, int8}, float32),
                   "input 'B' is int8")); // another schema with variables
    CHECK(contains(said("QMoE", {float32}, float32), "it needs at least"));
}

TEST_CASE("a Loop without an initial condition does not compute one") {
    auto const said = [](auto const& condition, bool has_initial) {
        fixture f;
        graph<13> const g(f.data, 18);
        value const x(f.data, f.x);
        optional_value const initial = has_initial ? optional_value(g.scalar(true, dtype::bool_)) : absent;
        value const yes = g.scalar(true, dtype::bool_);
        (void)g.op<"Loop">(3, initial, x, attr::body_g([&](graph<13> b, value, value go, value y) {
                               return std::tuple(condition(b, go, yes), b.op<"Neg">(y));
                           }));
        return f.fault();
    };
    auto const kept = [](graph<13>, value go, value) { return go; };
    auto const repeated = [](graph<13> b, value go, value) -> value { return b.op<"Identity">(b.op<"Identity">(go)); };
    auto const outer = [](graph<13>, value, value yes) { return yes; };
    auto const constant = [](graph<13> b, value, value) { return b.scalar(true, dtype::bool_); };
    auto const never = [](graph<13> b, value, value) { return b.scalar(false, dtype::bool_); };
    auto const computed = [](graph<13> b, value go, value) -> value { return b.op<"Not">(go); };
    auto const number = [](graph<13> b, value go, value) -> value { return b.cast(go, dtype::int64); };
    std::string const fine = "nothing was thrown";
    CHECK(said(kept, false) == fine);
    CHECK(said(repeated, false) == fine);
    CHECK(said(outer, false) == fine);
    CHECK(said(constant, false) == fine);
    CHECK(said(computed, true) == fine);
    CHECK(
        contains(said(computed, false), "onnx::Loop (opset 18): its body computes the condition, which ONNX ignores"));
    for (bool const has_initial : {false, true})
        CHECK(
            contains(said(number, has_initial), "the first result of its body is the condition, a bool, but is int64"));
    CHECK(contains(said(never, false),
                   "pass g.scalar(true, dtype::bool_) as the second input; made for aten::add.Tensor"));
}

} // namespace legality_test
