// SPDX-License-Identifier: MIT
// Operator declarations: every form, every problem with its culprit, and truncated and random texts.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include <aton/onnx/declared_schema.hpp>
#include <aton/onnx/read_declaration.hpp>

using namespace aton;
using namespace aton::onnx;

namespace {

constexpr type_set sequence_of(dtype t) { return {tensors(t).plain << 32, 0}; }

constexpr declaration everything = read_declaration(
    "Foo(T X, tensor(int64) I, any W, U? B, T... Xs, float a, int b=-7, string c=\"x, (y)\", float[] d=[1, -2.5e1], "
    "int[] e=[], "
    "string[] f=['p', 'q)'], tensor g, tensor[]? h, graph i, graph[] j, float? k, int[]? l) -> (T Z = like(X), U? V = "
    "broadcast(X, B), any... Rest)",
    "T: float16, float32, double; U: seq(float), optional(tensor(int64)), optional(seq(string)), bool");

static_assert(!everything.problem && everything.name == "Foo");

// Inputs.
static_assert(everything.input_count == 5);
static_assert(everything.inputs[0].name == "X" && everything.inputs[0].kind == option::single);
static_assert(everything.inputs[0].type_var == 0);
static_assert(everything.inputs[0].types == tensors(dtype::float16, dtype::float32, dtype::float64));
static_assert(everything.inputs[1].type_var == -1 && everything.inputs[1].types == tensors(dtype::int64));
static_assert(everything.inputs[2].types == any_type && !everything.inputs[2].homogeneous);
static_assert(everything.inputs[3].kind == option::optional && everything.inputs[3].type_var == 1);
static_assert(everything.inputs[4].kind == option::variadic && everything.inputs[4].homogeneous);
static_assert(everything.vars[1].types == type_set{sequence_of(dtype::float32).plain | tensors(dtype::bool_).plain,
                                                   tensors(dtype::int64).plain | sequence_of(dtype::string).plain});

// Attributes.
static_assert(everything.attribute_count == 12);
constexpr bool is(int i, std::string_view name, attr_type type, bool required, std::string_view text) {
    attribute const& a = everything.attributes[i];
    return a.name == name && a.type == type && a.required == required && a.default_text == text;
}
static_assert(is(0, "a", attr_type::f, true, "") && is(1, "b", attr_type::i, false, "-7"));
static_assert(is(2, "c", attr_type::s, false, "\"x, (y)\"") && is(3, "d", attr_type::floats, false, "[1, -2.5e1]"));
static_assert(is(4, "e", attr_type::ints, false, "[]") && is(5, "f", attr_type::strings, false, "['p', 'q)']"));
static_assert(is(6, "g", attr_type::t, true, "") && is(7, "h", attr_type::tensors, false, ""));
static_assert(is(8, "i", attr_type::g, true, "") && is(9, "j", attr_type::graphs, true, ""));
static_assert(is(10, "k", attr_type::f, false, "") && is(11, "l", attr_type::ints, false, ""));

// Outputs and the rules of their types.
static_assert(everything.output_count == 3);
static_assert(everything.rules[0].is == output_rule::kind::like && everything.rules[0].first == 0);
static_assert(everything.rules[1].is == output_rule::kind::broadcast && everything.rules[1].second == 3);
static_assert(everything.rules[2].is == output_rule::kind::none);
static_assert(everything.outputs[2].kind == option::variadic && !everything.outputs[2].homogeneous);

// Spaces are ignored; ONNX's and Aton's names of types are both known; an unconstrained variable is any type.
constexpr declaration airy =
    read_declaration("  Foo (\n\tT  X ,int n = 3 )\n->( T Z=like( X ) ) ", "\n T :float64 ,bfloat16 ; ");
static_assert(!airy.problem && airy.attributes[0].default_text == "3");
static_assert(airy.inputs[0].types == tensors(dtype::float64, dtype::bfloat16));
constexpr declaration free_types = read_declaration("Foo(T X, U Y) -> (U Z)", "");
static_assert(free_types.var_count == 2 && free_types.outputs[0].type_var == 1);
static_assert(free_types.inputs[0].types == any_type);
// An operator may have no inputs.
static_assert(!read_declaration("Now() -> (tensor(int64) Z)", "").problem);

struct wrong {
    std::string_view text;
    std::string_view constraints;
    std::string_view what; ///< the start of the sentence
    std::string_view culprit;
    std::string_view nearest;
};

constexpr wrong wrongs[] = {
    {"", "", "expected the name of an operator", "", ""},
    {"(T X) -> (T Z)", "", "expected the name of an operator", "", ""},
    {"Foo", "", "expected '(' after the name", "", ""},
    {"Foo[T X] -> (T Z)", "", "expected '(' after the name", "", ""},
    {"Foo(T X) - (T Z)", "", "expected '-> (T Z)' after the parameters", "", ""},
    {"Foo(T X) T Z", "", "expected '-> (T Z)' after the parameters", "T", ""},
    {"Foo(T X) -> T Z", "", "expected '(' before the outputs", "T", ""},
    {"Foo(T X) -> ()", "", "expected a type", ")", ""},
    {"Foo(T X, ) -> (T Z)", "", "expected a type", ")", ""},
    {"Foo(T X T Y) -> (T Z)", "", "expected ',' or ')' after a parameter", "T", ""},
    {"Foo(T X) -> (T Z T Y)", "", "expected ',' or ')' after an output", "T", ""},
    {"Foo(float n=1 2) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(float[] n=[1, ]) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(string n='a) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(T X) -> (T Z) twice", "", "nothing may follow the outputs", "twice", ""},
    {"Foo(T) -> (T Z)", "", "expected a name after the type", "T", ""},
    {"Foo(T* X) -> (T Z)", "", "expected a name after the type", "T", ""},
    {"Foo(T X, T X) -> (T Z)", "", "two inputs have this name", "X", ""},
    {"Foo(T X) -> (T Z, T Z)", "", "two outputs have this name", "Z", ""},
    {"Foo(int n, float n) -> (T Z)", "", "two attributes have this name", "n", ""},
    {"Foo(T Y=1) -> (T Z)", "", "an input cannot have a default", "Y", ""},
    {"Foo(int[) -> (T Z)", "", "expected the name of an attribute after its type", "int", ""},
    {"Foo(int) -> (T Z)", "", "expected the name of an attribute after its type", "int", ""},
    {"Foo(int n=) -> (T Z)", "", "expected a default after '='", "n", ""},
    {"Foo(int n=1.0) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(int n=1e3) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(int n='1') -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(int n=12x) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(int n=-) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(int n=9223372036854775808) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(float n=one) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(float n=1.2.3) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(string n=abc) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(int[] n=[1, 2.5]) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(int[] n=[1 2]) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(float[] n=['a']) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(string[] n=[1]) -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(string[] n='a') -> (T Z)", "", "the default does not have the attribute's type", "n", ""},
    {"Foo(tensor n=0) -> (T Z)", "", "a tensor or graph attribute cannot have a default", "n", ""},
    {"Foo(graph[] n=[]) -> (T Z)", "", "a tensor or graph attribute cannot have a default", "n", ""},
    {"Foo(T... Xs, T Y) -> (T Z)", "", "only the last input may be variadic", "Xs", ""},
    {"Foo(T X) -> (T... Ys, T Z)", "", "only the last output may be variadic", "Ys", ""},
    {"Foo(T X) -> (T Z = same(X))", "", "expected like(X) or broadcast(X, Y) after '='", "same", ""},
    {"Foo(T X) -> (T Z = like X)", "", "expected '(' after like or broadcast", "X", ""},
    {"Foo(T first) -> (T Z = like(frist))", "", "no input has this name", "frist", "first"},
    {"Foo(T X) -> (T Z = broadcast(X))", "", "broadcast takes two inputs", "", ""},
    {"Foo(T X) -> (T Z = like(X, X))", "", "expected ')' after the inputs of a rule", "", ""},
    {"Foo(T X, tensor(flaot) Y) -> (T Z)", "", "no such type", "flaot", "float"},
    {"Foo(list(float) Y) -> (T Z)", "", "no such type", "list", ""},
    {"Foo(seq(float Y) -> (T Z)", "", "expected ')' after a type", "Y", ""},
    {"Foo(seq(seq(float)) Y) -> (T Z)", "", "no such type", "seq", ""},
    {"Foo(optional(optional(float)) Y) -> (T Z)", "", "no such type", "optional", ""},
    {"Foo(Tensro X) -> (T Z)", "Tensor: float", "no such type; constrain it as in", "Tensro", "Tensor"},
    {"Foo(T X) -> (U Z)", "T: float", "no such type; constrain it as in", "U", ""},
    {"Foo(T X) -> (T Z)", ": float", "expected a type variable", "", ""},
    {"Foo(T X) -> (T Z)", "T float", "expected ':' after a type variable", "float", ""},
    {"Foo(T X) -> (T Z)", "T: ", "no such type", "", ""},
    {"Foo(T X) -> (T Z)", "T: float, ", "no such type", "", ""},
    {"Foo(T X) -> (T Z)", "T: float U: double", "expected ';' between type variables", "U", ""},
    {"Foo(T X) -> (T Z)", "T: float; T: double", "a type variable is constrained twice", "T", ""},
    {"Foo(T X) -> (T Z)", "T: in64", "no such type", "in64", "int64"},
};

} // namespace

TEST_CASE("every problem of a declaration names what is wrong") {
    for (wrong const& w : wrongs) {
        CAPTURE(w.text);
        CAPTURE(w.constraints);
        auto const d = std::make_unique<declaration>(read_declaration(w.text, w.constraints));
        CHECK(static_cast<bool>(d->problem));
        CHECK(d->problem.what.substr(0, w.what.size()) == w.what);
        CHECK(d->problem.culprit == w.culprit);
        CHECK(d->problem.nearest == w.nearest);
    }
}

TEST_CASE("the limits are allowed, more is a problem") {
    auto const with = [](int inputs, int attributes, int outputs, int vars) {
        std::string text = "Foo(";
        std::string constraints;
        for (int i = 0; i != inputs; ++i) text += (i == 0 ? "V0 x" : ", V0 x") + std::to_string(i);
        for (int i = 0; i != attributes; ++i) text += (i + inputs == 0 ? "int a" : ", int a") + std::to_string(i);
        text += ") -> (";
        for (int i = 0; i != outputs; ++i) text += (i == 0 ? "V0 z" : ", V0 z") + std::to_string(i);
        for (int i = 0; i != vars; ++i) constraints += "V" + std::to_string(i) + ": float;";
        auto const d = std::make_unique<declaration>(read_declaration(text + ")", constraints));
        return std::string(d->problem.what);
    };
    constexpr int formals = declaration::max_formals;
    CHECK(with(formals, declaration::max_attributes, formals, declaration::max_vars).empty());
    CHECK(with(formals + 1, 0, 1, 1) == "too many inputs");
    CHECK(with(1, declaration::max_attributes + 1, 1, 1) == "too many attributes");
    CHECK(with(1, 0, formals + 1, 1) == "too many outputs");
    CHECK(with(1, 0, 1, declaration::max_vars + 1) == "too many type variables");
}

TEST_CASE("a declaration that ends anywhere is read to its end and no further") {
    std::string_view const whole =
        "Foo(T X, seq(float)? Y, T... Xs, string s='a)', int[]? n, float[] f=[1, 2]) -> (T Z = like(X), any... R)";
    std::string_view const constraints = "T: float16, optional(seq(float)); U: any";
    REQUIRE(!read_declaration(whole, constraints).problem);
    for (std::size_t n = 0; n != whole.size(); ++n) {
        auto const exact = std::make_unique<char[]>(n + 1); // the address sanitizer would detect a read behind the text
        whole.copy(exact.get(), n);
        exact[n] = ')';
        CAPTURE(n);
        CHECK(read_declaration({exact.get(), n}, constraints).problem);
    }
    int legal = 0;
    for (std::size_t n = 0; n != constraints.size(); ++n) {
        auto const exact = std::make_unique<char[]>(n + 1);
        constraints.copy(exact.get(), n);
        exact[n] = ';';
        legal += read_declaration(whole, {exact.get(), n}).problem ? 0 : 1;
    }
    CHECK(legal >= 4); // "", "T: float", "T: float16", ... are whole
}

TEST_CASE("random texts are read to their end and no further") {
    std::mt19937 draw(7);
    std::string_view const pieces[] = {
        "Foo", "(", ")", "->", "T ", "X", ",",    "?",         "...",     "int ", "float",     "[]", "=",    "[",
        "]",   "'", "1", "-",  ";",  ":", "seq(", "optional(", "tensor(", "like", "broadcast", " ",  "any ", "\xff"};
    int legal = 0;
    for (int i = 0; i != 20000; ++i) {
        std::string text = i % 4 == 0 ? "" : "Foo(T X";
        for (std::size_t n = draw() % 24; n != 0; --n) text += pieces[draw() % std::size(pieces)];
        if (i % 4 == 2) text += ") -> (T Z)";
        std::string const constraints = i % 3 == 0 ? text : "";
        auto const d = std::make_unique<declaration>(read_declaration(text, constraints));
        legal += d->problem ? 0 : 1;
        bool const inside = d->problem.culprit.empty() || text.find(d->problem.culprit) != std::string::npos;
        CHECK(inside);
        CHECK(d->input_count <= declaration::max_formals);
        if (!d->problem) CHECK(d->output_count > 0);
    }
    CHECK(legal > 20);
    CHECK(legal < 10000);
}

TEST_CASE("the schema of a declaration has the interface of one of ONNX") {
    static constexpr declaration d =
        read_declaration("Foo(T X, T? B, T... Xs, float alpha, int beta_gamma=2) -> (T Z, T? Y)", "T: float");
    static_assert(!d.problem);
    declared_schema::rows rows;
    rows.domain = "d";
    rows.name = d.name;
    rows.version = 7;
    rows.inputs = d.inputs;
    rows.input_count = d.input_count;
    rows.outputs = d.outputs;
    rows.rules = d.rules;
    rows.output_count = d.output_count;
    rows.vars = d.vars;
    rows.var_count = d.var_count;
    rows.attributes = d.attributes;
    rows.attribute_count = d.attribute_count;
    declared_schema const s(rows);
    CHECK(static_cast<bool>(s));
    CHECK(!declared_schema());
    CHECK(s.since() == 7);
    CHECK(s.min_inputs() == 3); // at least one of Xs, as in ONNX
    CHECK(s.max_inputs() == any_number);
    CHECK(s.min_outputs() == 1);
    CHECK(s.max_outputs() == 2);
    CHECK(s.find_attribute("beta_gamma") == 1);
    CHECK(s.find_attribute("beta") == -1);
    CHECK(nearest_attribute(s, "beta_gama") == "beta_gamma");
    CHECK(nearest_attribute(s, "something").empty());
    CHECK(declared_versions{}.empty());
    CHECK(declared_versions{s}.size() == 1);
}
