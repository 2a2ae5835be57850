// SPDX-License-Identifier: MIT
// Rewrites of ATen calls: which calls match, what stays, and what becomes of a program.
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/dsl/call_aten.hpp>
#include <aton/dsl/rewrite.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/mappings/built_in.hpp>

#include "../faults.hpp"
#include "../program/program_builder.hpp"
#include "graph_ops.hpp"

namespace call_rewrites_test {

namespace {

using namespace aton::dsl;
using aton::dtype;
using aton::program::boolean;
using aton::program::integer;
using aton::program::integers;
using aton::program::program_builder;
using aton::program::real;
using aton::program::tensor;
using aton::program::tensors;
using aton::program::text;
using aton::program::type;
using aton::program::value_index;
using aton::tests::fault_of;
using aton::tests::used_ops_of;
using input = aton::program::input_kind;

/// A program with the float32 inputs x and y.
struct made : program_builder {
    value_index x = this->input(aton::program::input_kind::user, "x", {2, 6});
    value_index y = this->input(aton::program::input_kind::user, "y", {2, 6});

    value_index unary(std::string op, value_index v, aton::program::numbers const& sizes = {2, 6}) {
        return add(std::move(op), {tensor("self", v)}, sizes);
    }
    value_index mul(value_index a, value_index b) {
        return add("aten::mul.Tensor", {tensor("self", a), tensor("other", b)}, {2, 6});
    }
    /// The operators of the graph.
    std::string exported(aton::rewrites_view rewrites, aton::export_options options = {}) {
        options.rewrites = {rewrites};
        options.opset = 18;
        aton::program::program copy = p;
        aton::prepare(copy, options);
        std::string out;
        for (std::string const& op : used_ops_of(aton::export_graph(copy, options).graph))
            out += (out.empty() ? "" : " ") + op;
        return out;
    }
};

// clang-format off: one row per line
constexpr auto gated = rewrites(rewrite<"t.gated">(
    [](pattern<13> p, capture<value> x, capture<value> gate) { return p.call<"aten::mul.Tensor">(x, p.call<"aten::sigmoid">(gate)); },
    [](value x, value) { return x.dtype() == dtype::float32; },
    [](graph<13> g, value x, value gate) { return g.op<"Sum">(x, gate, x); }));
constexpr auto shared = rewrites(rewrite<"t.shared">(
    [](pattern<13> p, capture<value> x) { return p.call<"aten::mul.Tensor">(x, p.shared(p.call<"aten::sigmoid">(x))); },
    [](graph<13> g, value x) { return g.op<"Erf">(x); }));
constexpr auto worded = rewrites(rewrite<"t.worded">(
    [](pattern<13> p, capture<value> x, capture<std::string> how) { return p.call<"aten::gelu">(x, how); },
    [](graph<13> g, value x, std::string const& how) { return how == "none" ? g.op<"Abs">(x) : g.op<"Erf">(x); }));
constexpr auto plain_sum = rewrites(rewrite<"t.plain_sum">(
    [](pattern<18> p, capture<value> x) { return p.call<"aten::sum.dim_IntList">(x, p.ints({1}), true); },
    [](graph<18> g, value x) { return g.op<"ReduceMax">(x, g.ints({1})); }));
constexpr auto halves = rewrites(rewrite<"t.halves">(
    [](pattern<13> p, capture<value> x) { auto const [a, b] = p.call<"aten::chunk">(x, p.anything(), 1, outputs<2>); return p.call<"aten::cat">(p.list(b, a), 1); },
    [](graph<13> g, value x) { return g.op<"Erf">(x); }));
constexpr auto by_two = rewrites(rewrite<"t.by_two">(
    [](pattern<13> p, capture<value> x) { return p.call<"aten::mul.Tensor">(x, 2); },
    [](graph<13> g, value x) { return g.op<"Add">(x, x); }));
constexpr auto refused = rewrites(rewrite<"t.refused">(
    [](pattern<13> p, capture<value> x) { return p.call<"aten::sigmoid">(x); },
    [](graph<13> g, value) -> value { return g.unsupported("no"); }));
constexpr auto of_other_type = rewrites(rewrite<"t.of_other_type">(
    [](pattern<13> p, capture<value> x) { return p.call<"aten::sigmoid">(x); },
    [](graph<13> g, value x) { return g.op<"IsNaN">(x); }));
constexpr auto of_other_shape = rewrites(rewrite<"t.of_other_shape">(
    [](pattern<13> p, capture<value> x) { return p.call<"aten::sigmoid">(x); },
    [](graph<13> g, value x) { return g.op<"Transpose">(x); }));
constexpr auto throwing = rewrites(rewrite<"t.throwing">(
    [](pattern<13> p, capture<value> x) { return p.call<"aten::sigmoid">(x); },
    [](graph<13>, value) -> value { throw std::runtime_error("out of luck"); }));
constexpr auto nested = rewrites(
    rewrite<"t.inner">([](pattern<13> p, capture<value> x) { return p.call<"aten::sigmoid">(x); }, [](graph<13> g, value x) { return g.op<"Erf">(x); }),
    rewrite<"t.outer">([](pattern<13> p, capture<value> x) { return p.call<"aten::neg">(p.call<"aten::sigmoid">(x)); }, [](graph<13> g, value x) { return g.op<"Abs">(x); }));
constexpr auto custom = rewrites(rewrite<"t.custom">(
    [](pattern<13> p, capture<value> x, capture<double> by, capture<bool> clip) { return p.call<"lib::scaled(Tensor x, float by, *, bool clip=True) -> Tensor">(p.call<"lib::prepared(Tensor x) -> Tensor">(x), by, arg<"clip">(clip)); },
    [](graph<13> g, value x, double by, bool clip) { value const y = g.op<"Mul">(x, g.scalar_like(by, x)); return clip ? g.op<"Erf">(y) : y; }));
constexpr auto to_mapping = rewrites(rewrite<"t.to_mapping">(
    [](pattern<13> p, capture<value> x, capture<scalar> slope) { return p.call<"aten::sigmoid">(p.call<"aten::mul.Tensor">(x, slope)); },
    [](graph<13> g, value x, scalar const& slope) { return call_aten<"aten::leaky_relu">(aton::mappings::built_in_tables(), g, x, slope); }));
// clang-format on

} // namespace

TEST_CASE("calls that match become the replacement, in either order of operands") {
    made m;
    m.output(m.mul(m.y, m.unary("aten::sigmoid", m.x)));
    m.output(m.mul(m.unary("aten::sigmoid", m.y), m.x));
    CHECK(m.exported(gated) == "Sum Sum");
    CHECK(m.exported({}) == "Sigmoid Mul Sigmoid Mul");
}

TEST_CASE("a call whose result is used elsewhere, or returned, is not replaced") {
    made used;
    value_index const gate = used.unary("aten::sigmoid", used.x);
    used.output(used.mul(used.y, gate));
    used.output(used.unary("aten::neg", gate));
    CHECK(used.exported(gated) == "Sigmoid Mul Neg");

    made returned;
    value_index const result = returned.unary("aten::sigmoid", returned.x);
    returned.output(returned.mul(returned.y, result));
    returned.output(result);
    CHECK(returned.exported(gated) == "Sigmoid Mul");
}

TEST_CASE("a shared call stays for its other users, and disappears without them") {
    made with;
    value_index const gate = with.unary("aten::sigmoid", with.x);
    with.output(with.mul(with.x, gate));
    with.output(with.unary("aten::neg", gate));
    CHECK(with.exported(shared) == "Sigmoid Erf Neg");

    made without;
    without.output(without.mul(without.x, without.unary("aten::sigmoid", without.x)));
    CHECK(without.exported(shared) == "Erf");
}

TEST_CASE("a capture that is used twice is the same value twice") {
    made m;
    m.output(m.mul(m.y, m.unary("aten::sigmoid", m.x)));
    CHECK(m.exported(shared) == "Sigmoid Mul");
}

TEST_CASE("an argument that a call omits has its default") {
    made omitted;
    omitted.output(omitted.unary("aten::gelu", omitted.x));
    CHECK(omitted.exported(worded) == "Abs");

    made given;
    given.output(given.add("aten::gelu", {tensor("self", given.x), text("approximate", "tanh")}, {2, 6}));
    CHECK(given.exported(worded) == "Erf");
}

TEST_CASE("an argument that a pattern omits must have its default, given or not") {
    auto const sum_of =
        [](std::vector<aton::program::argument> more, std::vector<std::int64_t> dims, dtype result = dtype::float32) {
            made m;
            std::vector<aton::program::argument> all{
                tensor("self", m.x), integers("dim", dims), boolean("keepdim", true)};
            all.insert(all.end(), more.begin(), more.end());
            m.output(m.add("aten::sum.dim_IntList", std::move(all), {2, 1}, result));
            return m.exported(plain_sum);
        };
    CHECK(sum_of({}, {1}) == "ReduceMax");
    CHECK(sum_of({aton::program::argument::none().named("dtype")}, {1}) == "ReduceMax");
    CHECK(sum_of({type("dtype", dtype::float64)}, {1}, dtype::float64) != "ReduceMax");
    CHECK(sum_of({}, {-1}) != "ReduceMax");
}

TEST_CASE("a list that is taken apart must have as many elements") {
    auto const swapped = [](std::int64_t chunks, std::size_t parts) {
        made m;
        std::int64_t const width = 6 / chunks;
        std::vector<std::pair<aton::program::numbers, aton::program::numbers>> const layouts(parts,
                                                                                             {{2, width}, {6, 1}});
        auto const all =
            m.add_list("aten::chunk", {tensor("self", m.x), integer("chunks", chunks), integer("dim", 1)}, layouts);
        m.output(m.add("aten::cat", {tensors("tensors", {all[1], all[0]}), integer("dim", 1)}, {2, 2 * width}));
        return m.exported(halves);
    };
    CHECK(swapped(2, 2) == "Erf");
    CHECK(swapped(3, 3) != "Erf");
}

TEST_CASE("a number matches an equal constant, and no number that is computed") {
    made m;
    m.output(m.add("aten::mul.Tensor", {tensor("self", m.x), real("other", 2)}, {2, 6}));
    m.output(m.add("aten::mul.Tensor", {tensor("self", m.y), integer("other", 2)}, {2, 6}));
    CHECK(m.exported(by_two) == "Add Add");

    made other;
    other.output(other.add("aten::mul.Tensor", {tensor("self", other.x), real("other", 2.5)}, {2, 6}));
    CHECK(other.exported(by_two) == "Mul");

    made computed;
    value_index const n = computed.number_value("n", aton::program::value_kind::sym_int);
    computed.add_node("aten::sym_size.int", {tensor("self", computed.y), integer("dim", 0)}, {n});
    computed.output(
        computed.add("aten::mul.Tensor", {tensor("self", computed.x), aton::program::computed("other", n)}, {2, 6}));
    CHECK(computed.exported(by_two).ends_with("Mul"));
}

TEST_CASE("calls stay if the replacement refuses, has another type or shape, or the condition does not hold") {
    made m;
    m.output(m.unary("aten::sigmoid", m.x));
    CHECK(m.exported(refused) == "Sigmoid");
    CHECK(m.exported(of_other_type) == "Sigmoid");
    CHECK(m.exported(of_other_shape) == "Sigmoid");

    made half;
    value_index const h = half.input(input::user, "h", {2, 6}, dtype::float16);
    half.output(half.add(
        "aten::mul.Tensor",
        {tensor("self", h), tensor("other", half.add("aten::sigmoid", {tensor("self", h)}, {2, 6}, dtype::float16))},
        {2, 6},
        dtype::float16));
    CHECK(half.exported(gated) == "Sigmoid Mul");
}

TEST_CASE("an exception of a replacement names the rewrite") {
    made m;
    m.output(m.unary("aten::sigmoid", m.x));
    CHECK(fault_of([&] { return m.exported(throwing); }) == "rewrite t.throwing: out of luck");
}

TEST_CASE("the largest match is replaced") {
    made m;
    m.output(m.unary("aten::neg", m.unary("aten::sigmoid", m.x)));
    m.output(m.unary("aten::sigmoid", m.y));
    CHECK(m.exported(nested) == "Abs Erf");
}

TEST_CASE("rewrites are left out by name, and without optimization") {
    made m;
    m.output(m.mul(m.y, m.unary("aten::sigmoid", m.x)));
    aton::export_options options;
    options.without_rewrites = {"t.gated"};
    CHECK(m.exported(gated, options) == "Sigmoid Mul");
    aton::export_options plain;
    plain.optimize = false;
    CHECK(m.exported(gated, plain) == "Sigmoid Mul");
}

TEST_CASE("operators without a mapping are converted where a pattern has them") {
    auto const of = [](std::vector<aton::program::argument> more) {
        made m;
        value_index const prepared = m.add("lib::prepared", {tensor("x", m.x)}, {2, 6});
        std::vector<aton::program::argument> all{tensor("x", prepared), real("by", 0.5)};
        all.insert(all.end(), more.begin(), more.end());
        m.output(m.add("lib::scaled", std::move(all), {2, 6}));
        for (aton::program::node& n : m.p.main.nodes) n.is_functional = true;
        return m;
    };
    CHECK(of({}).exported(custom) == "Mul Erf");
    CHECK(of({boolean("clip", false)}).exported(custom) == "Mul");
    made const alone = of({});
    CHECK(aton::find_unconvertible(alone.p, {}).size() == 2);
    aton::export_options options;
    options.rewrites = {custom};
    CHECK(aton::find_unconvertible(alone.p, options).empty());
}

TEST_CASE("a replacement may call mappings of ATen") {
    made m;
    m.output(m.unary("aten::sigmoid", m.add("aten::mul.Tensor", {tensor("self", m.x), real("other", 0.25)}, {2, 6})));
    CHECK(m.exported(to_mapping) == "LeakyRelu");
}

TEST_CASE("the graph of a rewritten program refers to the weights of the original") {
    made m;
    aton::program::program& p = m.p;
    value_index const w = m.input(input::parameter, "w", {1000, 2, 6});
    std::vector<std::byte> const bytes(48'000);
    p.inputs.back().data = {
        dtype::float32, {1000, 2, 6}, {{{bytes.data(), bytes.size(), 1, -1}, {1000, 2, 6}, {12, 6, 1}, 0, {}}}};
    m.output(
        m.add("aten::mul.Tensor", {tensor("self", w), tensor("other", m.unary("aten::sigmoid", m.x))}, {1000, 2, 6}));
    aton::export_options options;
    options.rewrites = {gated};
    aton::graph_data const graph = aton::convert_program(p, options);
    REQUIRE(graph.nodes.size() == 1);
    REQUIRE(graph.initializers.size() == 1);
    CHECK(graph.initializers[0].stored == &p.inputs.back().data);
}

} // namespace call_rewrites_test
