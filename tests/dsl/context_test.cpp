// SPDX-License-Identifier: MIT
// One body for a family of operators through g.context(), mappings of functions outside ATen, override_, and coverage of tables.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>

namespace context_test {

using namespace aton::dsl;

namespace {

/// Serves all comparisons; the context has the operator.
constexpr auto compare = [](graph<13> g, value self, value other) -> value {
    std::string_view const op = g.context().op();
    value const b = g.cast(other, self.dtype());
    if (op == "aten::lt") return g.op<"Less">(self, b);
    if (op == "aten::gt") return g.op<"Greater">(self, b);
    if (op == "aten::ne") return g.op<"Not">(g.op<"Equal">(self, b));
    return g.unsupported("no comparison");
};

/// torch.autograd.Functions, like symbolics for PythonOp: by the name of the class, with the type of the original node.
constexpr auto clip = [](graph<12> g, value input, std::optional<double> min) -> value {
    bool const is_relu = g.context().op() == "python::MyRelu";
    value const y = g.op<"Clip">(input, g.scalar(is_relu ? 0.0 : min.value(), input.dtype()));
    return y.set_type(g.context().expected.at(0));
};

constexpr auto family = table(
    symbolic<"aten::lt.Tensor(self, other)">(compare), symbolic<"aten::gt.Tensor(self, other)">(compare),
    symbolic<"aten::ne.Tensor(self, other)">(compare), symbolic<"aten::eq.Tensor(self, other)">(compare),
    symbolic<"python::MyRelu(Tensor input, float? min=None) -> Tensor">(clip),
    symbolic<"python::MyClip(Tensor input, float? min=None) -> Tensor">(clip),
    symbolic<"my_ops::all_kinds(Tensor x, int n=7, float[]? f=None, str s=\"ab\", *, Tensor? y=None, bool b=True) -> "
             "Tensor">([](graph<13> g, value, std::int64_t, std::optional<std::span<double const>>, std::string_view,
                          optional_value, bool) -> value {
        node_context const& c = g.context();
        std::string said = std::string(c.overload_name()) + '#' + std::to_string(c.arguments().size());
        for (argument const& a : c.arguments()) said += ' ' + a.name;
        said += " n=" + std::to_string(c.argument("n")->number.constant<int>()) + " s=" + c.argument("s")->text;
        said += c.argument("y")->tensor.has_value() ? " with y" : " without y";
        said += c.argument("no_such") == nullptr ? "" : "?";
        return g.unsupported(said + " of " + std::to_string(c.expected.size()));
    }),
    symbolic<"my_ops::named.some(Tensor x, int unnamed=5) -> Tensor">([](graph<13> g, value, std::int64_t) -> value {
        return g.unsupported(std::string(g.context().op()) + '/' + std::string(g.context().overload_name()));
    }));

struct fixture {
    graph_data data;
    value x{data, data.add_input("x", {dtype::float32, {2, "n"}})};

    std::vector<result> run(std::string_view overload, std::vector<argument> arguments) {
        entry const* const row = find(family, overload, 20);
        REQUIRE(row != nullptr);
        return convert(data, *row, 20, std::move(arguments));
    }
    std::string refusal(std::string_view overload, std::vector<argument> arguments) {
        try {
            (void)run(overload, std::move(arguments));
        } catch (aton::unsupported_error const& e) {
            return e.what();
        }
        return "nothing was thrown";
    }
};

} // namespace

TEST_CASE("one body serves a family of operators by the name in its context") {
    fixture f;
    argument const x = argument::of_tensor(f.x);
    f.run("aten::lt.Tensor", {x, x});
    CHECK(f.data.nodes.back().op == "Less");
    f.run("aten::gt.Tensor", {x, x});
    CHECK(f.data.nodes.back().op == "Greater");
    f.run("aten::ne.Tensor", {x, x});
    CHECK(f.data.nodes.back().op == "Not");
    CHECK(f.refusal("aten::eq.Tensor", {x, x}) == "aten::eq.Tensor (opset 20): no comparison");
}

TEST_CASE(
    "MyRelu and MyClip: functions of Python by the names of their classes, with the types of the original nodes") {
    fixture f;
    f.data.context.expected = {{dtype::float32, {2, 5}}};
    auto const relu = f.run("python::MyRelu", {argument::of_tensor(f.x)});
    CHECK(f.data.nodes.back().op == "Clip");
    CHECK(f.data.nodes.back().source == "python::MyRelu");
    CHECK(relu[0].single->shape() == aton::shape{2, 5});
    value const zero(f.data, f.data.nodes.back().inputs[1]);
    CHECK(zero.constant<double>() == 0);
    CHECK(f.data.nodes.back().inputs.size() == 2);
    f.run("python::MyClip", {argument::of_tensor(f.x), argument::of_number(-0.75)});
    CHECK(value(f.data, f.data.nodes.back().inputs[1]).constant<double>() == -0.75);
}

TEST_CASE("the context shows every argument of the call, named or not, with the default of one that is not given") {
    fixture f;
    f.data.context.expected.resize(3);
    CHECK(f.refusal("my_ops::all_kinds", {argument::of_tensor(f.x)}) ==
          "my_ops::all_kinds (opset 20): #6 x n f s y b n=7 s=ab without y of 3");
    CHECK(f.refusal("my_ops::all_kinds",
                    {argument::of_tensor(f.x),
                     argument::of_number(-2),
                     argument::none(),
                     argument::of_text("c"),
                     argument::of_tensor(f.x)}) == "my_ops::all_kinds (opset 20): #6 x n f s y b n=-2 s=c with y of 3");
    CHECK(f.refusal("my_ops::named.some", {argument::of_tensor(f.x)}) ==
          "my_ops::named.some (opset 20): my_ops::named/some");
    CHECK(f.data.context.arguments().empty());
    CHECK(f.data.context.argument("x") == nullptr);
}

namespace {

constexpr auto unary = [](graph<13> g, value x) { return g.op<"Abs">(x); };
constexpr auto unary_15 = [](graph<13, 15> g, value x) { return g.op<"Abs">(x); };
constexpr auto unary_17 = [](graph<17> g, value x) { return g.op<"Abs">(x); };
constexpr auto unary_16 = [](graph<16> g, value x) { return g.op<"Abs">(x); };

inline constexpr auto whole = table(override_<"aten::relu(self)">(unary_16), override_<"aten::relu(self)">(unary_15),
                                    symbolic<"my_ops::op(Tensor x) -> Tensor">(unary));
inline constexpr auto with_gap =
    table(symbolic<"aten::relu(self)">(unary_17), symbolic<"my_ops::op(Tensor x) -> Tensor">(unary),
          symbolic<"aten::relu(self)">(unary_15));

static_assert(covers<whole, 13, newest>);
static_assert(!covers<whole, 12, newest>);
static_assert(covers<whole, 14, 14>);
static_assert(!covers<with_gap, 13, newest>);
static_assert(covers<with_gap, 17, newest>);
static_assert(covers<with_gap, 13, 15> && !covers<with_gap, 13, 16> && !covers<with_gap, 16, 16>);
static_assert(covers<with_gap, 13, newest, "my_ops::op">);
static_assert(!covers<with_gap, 13, newest, "my_ops::op", "aten::relu">);
static_assert(!covers<with_gap, 13, newest, "aten::relu", "my_ops::op">);
static_assert(!covers<whole, 13, newest, "aten::neg">);
static_assert(require_coverage<whole, 13, newest>());
static_assert(require_coverage<with_gap, 13, 15, "aten::relu">());

static_assert(whole.entries[0].overrides && !with_gap.entries[0].overrides);
static_assert(hidden_row(with_gap.entries[0], whole) == &table_view(whole)[0]);
static_assert(hidden_row(with_gap.entries[2], whole) == &table_view(whole)[1]);
static_assert(hidden_row(whole.entries[0], with_gap) == nullptr);
static_assert(hidden_row(whole.entries[2], with_gap) == &table_view(with_gap)[1]);
static_assert(newest == aton::onnx::newest_opset);

} // namespace

TEST_CASE("a row made with override_ runs like any other") {
    fixture f;
    CHECK(value(boost::hana::at_c<1>(whole.rows)(graph<13, 15>(f.data, 14), f.x)).id() != aton::no_value);
    CHECK(f.data.nodes.back().op == "Abs");
    CHECK(find(whole, "aten::relu", 15) == &table_view(whole)[1]);
}

} // namespace context_test
