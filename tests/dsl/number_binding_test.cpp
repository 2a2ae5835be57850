// SPDX-License-Identifier: MIT
// Computed numbers as arguments: converted to the type of the schema, refused where a row needs a constant, wrapped where it takes a tensor.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>

#include "../faults.hpp"

namespace aton::tests {

using namespace dsl;

namespace {

value told(graph<13> g, std::string const& what) { return g.unsupported(what); }

std::string text_of(number const& n) {
    if (!n.is_constant()) return "computed " + std::string(name(n.dtype()));
    return std::string(name(n.dtype())) + ' ' + dsl::detail::to_text(n.constant());
}
std::string text_of(std::optional<number> const& n) { return n ? text_of(*n) : "None"; }
std::string text_of(safe_span<number const> all) {
    std::string out = "[";
    for (number const& n : all) out += (out.size() > 1 ? ", " : "") + text_of(n);
    return out + ']';
}

/// Bodies that say what they get.
template <class P>
constexpr auto show = [](graph<13> g, value, P n) -> value { return told(g, text_of(n)); };

constexpr auto rows = table(
    symbolic<"t::scalar(Tensor x, Scalar n) -> Tensor">(show<number>),
    symbolic<"t::float(Tensor x, float n) -> Tensor">(show<number>),
    symbolic<"t::int(Tensor x, int n) -> Tensor">(show<number>),
    symbolic<"t::sym_int(Tensor x, SymInt n) -> Tensor">(show<number>),
    symbolic<"t::bool(Tensor x, bool n) -> Tensor">(show<number>),
    symbolic<"t::sym_float(Tensor x, SymFloat n) -> Tensor">(show<number>),
    symbolic<"t::sym_bool(Tensor x, SymBool n) -> Tensor">(show<number>),
    symbolic<"t::maybe(Tensor x, float? n=None) -> Tensor">(show<std::optional<number>>),
    symbolic<"t::floats(Tensor x, float[] n) -> Tensor">(show<safe_span<number const>>),
    symbolic<"t::ints(Tensor x, SymInt[3] n) -> Tensor">(show<safe_span<number const>>),
    symbolic<"t::scalars(Tensor x, Scalar[] n) -> Tensor">(show<safe_span<number const>>),
    symbolic<"t::bools(Tensor x, bool[2] n) -> Tensor">(show<safe_span<number const>>),
    symbolic<"t::constant(Tensor x, float n) -> Tensor">(
        [](graph<13> g, value, double d) -> value { return told(g, std::to_string(d)); }),
    symbolic<"t::constant_scalar(Tensor x, Scalar n) -> Tensor">(
        [](graph<13> g, value, scalar s) -> value { return told(g, dsl::detail::to_text(s)); }),
    symbolic<"t::constant_int(Tensor x, SymInt n) -> Tensor">(
        [](graph<13> g, value, std::int64_t i) -> value { return told(g, std::to_string(i)); }),
    symbolic<"t::constant_bool(Tensor x, bool n) -> Tensor">(
        [](graph<13> g, value, bool b) -> value { return told(g, b ? "yes" : "no"); }),
    symbolic<"t::constant_floats(Tensor x, float[] n) -> Tensor">(
        [](graph<13> g, value, safe_span<double const> all) -> value { return told(g, std::to_string(all[1])); }),
    symbolic<"t::constant_bools(Tensor x, bool[] n) -> Tensor">(
        [](graph<13> g, value, safe_span<bool const> all) -> value { return told(g, std::to_string(all.size())); }),
    symbolic<"aten::leaky_relu(self)">([](graph<13>, value x) -> value { return x; }),
    symbolic<"t::tensor(Tensor x, Tensor n) -> Tensor">(
        [](graph<13> g, value x, value n) -> value { return g.cast(n, promote(x, n)); }));

struct bound_number {
    graph_data data;
    value x{data, data.add_input("x", {dtype::float16, shape{2, 3}})};

    value input(dtype type) { return {data, data.add_input("n", {type, shape(std::vector<std::int64_t>{})})}; }
    std::vector<result> run(std::string_view overload, argument n) {
        entry const* const row = find(rows, overload, 20);
        REQUIRE(row != nullptr);
        return convert(data, *row, 20, {argument::of_tensor(x), std::move(n)});
    }
    /// What the body says, or why the binder refuses.
    std::string said(std::string_view overload, argument n) {
        std::string const all = fault_of([&] { (void)run(overload, std::move(n)); });
        std::size_t const colon = all.find(": ");
        return colon == std::string::npos ? all : all.substr(colon + 2);
    }
};

} // namespace

TEST_CASE("a computed number gets the dtype of its argument, as in ATen") {
    bound_number f;
    number const i = f.input(dtype::int64);
    number const r = f.input(dtype::float64);
    number const b = f.input(dtype::bool_);
    auto const of = [](number const& n) { return argument::of_number(n); };
    CHECK(f.said("t::float", of(i)) == "computed float64");
    CHECK(f.data.nodes.back().op == "Cast");
    CHECK(f.said("t::float", of(r)) == "computed float64");
    CHECK(f.said("t::float", of(b)) == "computed float64");
    CHECK(f.said("t::sym_float", of(i)) == "computed float64");
    CHECK(f.said("t::int", of(i)) == "computed int64");
    CHECK(f.said("t::int", of(b)) == "computed int64");
    CHECK(f.said("t::bool", of(i)) == "computed bool");
    CHECK(f.said("t::sym_bool", of(r)) == "computed bool");
    CHECK(f.said("t::scalar", of(i)) == "computed int64");
    CHECK(f.said("t::scalar", of(r)) == "computed float64");
    CHECK(f.said("t::scalar", of(b)) == "computed bool");
    CHECK(f.said("t::maybe", of(i)) == "computed float64");
    CHECK(f.said("t::maybe", argument()) == "None");
}

TEST_CASE("a computed number that does not fit its argument is refused") {
    bound_number f;
    argument const r = argument::of_number(f.input(dtype::float64));
    argument const c = argument::of_number(f.input(dtype::complex128));
    CHECK(f.said("t::int", r) == "argument 'n' is a computed float64, but its type is int");
    CHECK(f.said("t::sym_int", r) == "argument 'n' is a computed float64, but its type is SymInt");
    CHECK(f.said("t::float", c) == "argument 'n' is a computed complex128, but its type is float");
    CHECK(f.said("t::ints", argument::of_numbers({1, r.number, 2})) ==
          "argument 'n' is [1, a computed float64, 2], but its type is SymInt[3]");
    CHECK(f.said("t::int", argument::of_number(2.5)) == "argument 'n' is 2.5, but its type is int");
    CHECK(f.said("t::int", argument::of_tensor(f.x)) == "argument 'n' is a tensor, but its type is int");
}

TEST_CASE("constants have the same types") {
    bound_number f;
    CHECK(f.said("t::float", argument::of_number(-3)) == "float64 -3");
    CHECK(f.said("t::int", argument::of_number(true)) == "int64 1");
    CHECK(f.said("t::bool", argument::of_number(-7)) == "bool True");
    CHECK(f.said("t::scalar", argument::of_number(false)) == "bool False");
    CHECK(f.said("t::scalar", argument::of_number(scalar::complex(1, -2))) == "complex128 (1-2j)");
}

TEST_CASE("lists have computed and constant elements, and a single number is repeated") {
    bound_number f;
    number const i = f.input(dtype::int64);
    CHECK(f.said("t::floats", argument::of_numbers({0.25, i, -2})) == "[float64 0.25, computed float64, float64 -2]");
    CHECK(f.said("t::scalars", argument::of_numbers({i, 0.5, true})) == "[computed int64, float64 0.5, bool True]");
    CHECK(f.said("t::ints", argument::of_number(i)) == "[computed int64, computed int64, computed int64]");
    CHECK(f.said("t::bools", argument::of_numbers({i, 0})) == "[computed bool, bool False]");
    CHECK(f.said("t::floats", argument::of_numbers({})) == "[]");
    CHECK(f.said("t::floats", argument::of_tensors({})) == "[]");
}

TEST_CASE("a row that needs a constant refuses a computed number with one sentence, and the line that computes it") {
    bound_number f;
    std::string const end = "; the mapping needs a constant: use a number that does not depend on the inputs";
    f.data.origins = {{}, {"mul", "", "model.py:12 in forward"}, {"elu", "", "model.py:34 in forward"}};
    f.data.opset = 20;
    f.data.context.origin = 1;
    number const i = f.input(dtype::int64);
    number const product = i * 3;
    f.data.context.origin = 2;
    std::string const why = "argument 'n' is computed by the program (model.py:12 in forward)" + end;
    CHECK(f.said("t::constant", argument::of_number(product)) == why); // also through the Cast to float64
    CHECK(f.said("t::constant_scalar", argument::of_number(product)) == why);
    CHECK(f.said("t::constant_int", argument::of_number(product)) == why);
    CHECK(f.said("t::constant_bool", argument::of_number(product)) == why);
    CHECK(f.said("t::constant_floats", argument::of_numbers({1, 2, product})) == why);
    CHECK(f.said("t::constant_bools", argument::of_numbers({product})) == why);
    CHECK(f.said("t::constant", argument::of_number(i)) == "argument 'n' is computed by the program" + end);
    CHECK(f.said("t::constant_int", argument::of_number(i)) == "argument 'n' is computed by the program" + end);
    CHECK(f.said("t::constant_floats", argument::of_numbers({1, 2})) == "2.000000");
    CHECK(f.said("aten::leaky_relu", argument::of_number(product)) ==
          "argument 'negative_slope' is a computed int64; the mapping supports only the default, 0.01");
}

TEST_CASE("a value that follows from a constant counts as a constant") {
    bound_number f;
    graph<13> const g(f.data, 20);
    f.data.opset = 20;
    tensor element{dtype::float32, {1, 1}, {}};
    element.append(7.0);
    value const constant = g.constant(element);
    value const scalar_value = g.op<"Squeeze">(constant);
    value const rounded = g.op<"Cast">(g.op<"Identity">(scalar_value), attr::to_i(dtype::int32));
    CHECK_FALSE(rounded.is_constant());
    CHECK(f.said("t::constant", argument::of_number(scalar_value)) == "7.000000");
    CHECK(f.said("t::constant_int", argument::of_number(rounded)) == "7");
    CHECK(f.said("t::constant_bool", argument::of_number(rounded)) == "yes");
    value const other = g.op<"Cast">(f.input(dtype::float32), attr::to_i(dtype::int32));
    CHECK(contains(f.said("t::constant_int", argument::of_number(other)), "is computed by the program"));
}

TEST_CASE("a computed number in the place of a tensor promotes weakly, and its value keeps its strength as a tensor") {
    bound_number f;
    value const n = f.input(dtype::float64);
    CHECK(f.run("t::tensor", argument::of_number(n))[0].single->dtype() == dtype::float16);
    CHECK_FALSE(n.is_wrapped_number());
    value const marked(f.data, f.data.nodes[0].outputs[0]);
    CHECK(f.data.nodes[0].op == "Identity");
    CHECK(marked.is_wrapped_number());
    std::size_t const count = f.data.nodes.size();
    CHECK(f.run("t::tensor", argument::of_number(marked))[0].single->dtype() == dtype::float16);
    CHECK(f.data.nodes.size() == count + 1); // no second Identity
    value const i = f.input(dtype::int64);
    f.x = value(f.data, f.data.add_input("y", {dtype::uint8, shape(std::vector<std::int64_t>{})}));
    CHECK(f.run("t::tensor", argument::of_tensor(i))[0].single->dtype() == dtype::int64);
    CHECK(f.run("t::tensor", argument::of_number(i))[0].single->dtype() == dtype::uint8);
}

} // namespace aton::tests
