// SPDX-License-Identifier: MIT
// The schema parser on every schema that torch registers, on schemas as users write them, and on malformed text.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/aten/default_value.hpp>
#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_text.hpp>

#include "parsed.hpp"

namespace {

using namespace aton::aten;
using namespace aton::aten::tests;
using namespace std::literals;

// ---- at compile time ------------------------------------------------------------------------------------------------------

static_assert(schema_count() == 4197);
static_assert(find_schema("aten::elu") ==
              "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor");
static_assert(find_schema("aten::elu.default") == find_schema("aten::elu"));
static_assert(find_schema("aten::eluu").empty() && find_schema("aten::el").empty() && find_schema("").empty() &&
              find_schema("aten::elu(").empty());

// The head.
static_assert(parse_head("aten::add.Tensor(Tensor self) -> Tensor").qualified == "aten::add.Tensor");
static_assert(parse_head("aten::add.Tensor(Tensor self) -> Tensor").ns == "aten");
static_assert(parse_head("aten::add.Tensor").name == "add" && parse_head("aten::add.Tensor").overload == "Tensor");
static_assert(parse_head("aten::__getitem__.Dict_int").overload == "Dict_int");
static_assert(parse_head("foo(int x) -> ()").ns.empty() && parse_head("foo(int x) -> ()").name == "foo");

// Arguments: names, positions, defaults, keyword only.
static_assert(argument_count(find_schema("aten::elu")) == 4 && return_count(find_schema("aten::elu")) == 1);
static_assert(position("aten::elu", "scale") == 2 && position("aten::elu", "scal") == -1 &&
              position("aten::elu", "cale") == -1);
static_assert(registered("aten::elu", "alpha").type.base == base_type::scalar &&
              registered("aten::elu", "alpha").default_text == "1");
static_assert(!registered("aten::elu", "self").has_default && !registered("aten::elu", "alpha").keyword_only);
static_assert(registered("aten::add.Tensor", "alpha").keyword_only && position("aten::add.Tensor", "alpha") == 2);
static_assert(registered("aten::layer_norm", "eps").default_text == "1.0000000000000001e-05");
static_assert(registered("aten::avg_pool2d", "stride").default_text == "[]" &&
              registered("aten::avg_pool2d", "stride").type.list_size == 2);
static_assert(registered("aten::rstrip", "chars").default_text == R"(" \n\t\f\v")");
static_assert(registered("aten::conv2d", "padding").default_text == "[0, 0]" &&
              registered("aten::conv2d.padding", "padding").default_text == "\"valid\"");
static_assert(argument_count("a::b() -> ()") == 0 && return_count("a::b() -> ()") == 0);

// Types.
static_assert(type("Tensor").base == base_type::tensor && !type("Tensor").list && !type("Tensor").optional);
static_assert(type("Tensor?").optional && !type("Tensor?").list && !type("Tensor?").element_optional);
static_assert(type("Tensor?[]").element_optional && type("Tensor?[]").list && !type("Tensor?[]").optional);
static_assert(type("Tensor?[]?").element_optional && type("Tensor?[]?").optional);
static_assert(type("int[1]?").list_size == 1 && type("int[1]?").optional && type("int[1]?").base == base_type::int_);
static_assert(type("SymInt[]").base == base_type::sym_int && type("SymInt[]").list_size == 0);
static_assert(type("Tensor(a!)").mutates && type("Tensor(a!)").alias == "a!");
static_assert(type("Tensor(a -> *)").alias == "a -> *" && !type("Tensor(a -> *)").mutates);
static_assert(type("Tensor(a!)[]").alias == "a!" && type("Tensor(a!)[]").list_alias.empty() &&
              type("Tensor(a!)[]").list);
static_assert(type("t[](a!)").alias == "a!" && type("t[](a!)").list_alias == "a!" && type("t[](a!)").mutates);
static_assert(type("Tensor!").mutates && type("Tensor!").alias == "!" && type("Tensor!?").optional);
// As torch prints `Tensor!`, `Tensor!?`, `Tensor![]`.
static_assert(type("Tensor($0! -> )").mutates && type("Tensor($0! -> )").alias == "!");
static_assert(type("Tensor($12! -> )?").optional && type("Tensor($12! -> )?").base == base_type::tensor);
static_assert(type("Tensor($1! -> )[]").list && type("Tensor($1! -> )[]").mutates);
static_assert(type("Tensor[]($1! -> )").list_alias == "!" && type("Tensor[]($1! -> )").mutates);
static_assert(type("Tensor(a!)?[]").text == "Tensor(a!)?[]" && type("Tensor(a!)?[]").base_text == "Tensor");
static_assert(type("Dict(str, Tensor)(a!)").base == base_type::other &&
              type("Dict(str, Tensor)(a!)").base_text == "Dict(str, Tensor)");
static_assert(type("Dict(str, Tensor)(a!)").alias == "a!" && type("(int, Tensor[])[]").base_text == "(int, Tensor[])");
static_assert(type("int[][]").base == base_type::other && type("int[][]").base_text == "int[]" && type("int[][]").list);
static_assert(type("__torch__.torch.classes.quantized.Conv2dPackedParamsBase").base_text.size() == 56);
static_assert(type("ScalarType?").base == base_type::scalar_type &&
              type("MemoryFormat").base == base_type::memory_format);
static_assert(type("NoneType").base == base_type::none && type("t").base == base_type::other &&
              type("Stream").base == base_type::stream);
static_assert(type("(Tensor, int) -> Tensor").base_text == "(Tensor, int) -> Tensor");

// Returns.
static_assert(result(find_schema("aten::topk"), 0).name == "values" &&
              result(find_schema("aten::topk"), 1).name == "indices");
static_assert(result("a::b() -> (Tensor(a!) out, int[])", 1).type.list && result("a::b() -> Tensor y", 0).name == "y");
static_assert(return_count("a::b() -> ((int, Tensor))") == 1 && return_count("a::b((Tensor) -> Tensor f) -> ()") == 0);
static_assert(result(find_schema("aten::split.Tensor"), 0).type.list &&
              result(find_schema("aten::split.Tensor"), 0).type.alias == "a");

// As written for TORCH_LIBRARY, with more or fewer spaces.
static_assert(syntax_error("custom_ops::foo_forward(Tensor input1, float attr1, int n=1) -> Tensor").empty());
static_assert(
    syntax_error(" a::b( Tensor(a!)  x ,*,Tensor ? bias=None, int [ 2 ] k = [1,2] )->( Tensor(a!) , int n ) ").empty());
static_assert(argument(" a::b( Tensor(a!)  x ,*,Tensor ? bias=None, int [ 2 ] k = [1,2] )->()", "k").default_text ==
              "[1,2]");
static_assert(argument(" a::b( Tensor(a!)  x ,*,Tensor ? bias = None )->()", "bias").keyword_only);
static_assert(argument(R"(a::b(str s='a, b) ->', str t="\"") -> ())", "t").default_text == R"("\"")");
static_assert(
    syntax_error(
        "a::b(MemoryFormat f=contiguous_format, Device d=cuda:0, complex z=0.+1.j, float x=.5, Tensor! y) -> ...") ==
    "an argument without a default after one with a default");

// Nearest names.
static_assert(nearest_overload("aten::add") == "aten::add.Tensor" && nearest_overload("aten::eluu") == "aten::elu");
static_assert(nearest_overload("aten::s_reduction_aetlon")
                  .empty()); // one of the longest searches: within Clang's limit of constexpr steps
static_assert(nearest_argument(find_schema("aten::elu"), "alpa") == "alpha" &&
              nearest_argument(find_schema("aten::elu"), "zzzzz").empty());

// ---- at run time ----------------------------------------------------------------------------------------------------------

TEST_CASE("every registered schema is printed as it was, from its parsed parts") {
    for (std::size_t i = 0; i != schema_count(); ++i) {
        std::string_view const text = schema_at(i);
        CAPTURE(text);
        REQUIRE(describe_syntax_error(text) == "");
        // NOLINTNEXTLINE(bugprone-unchecked-optional-access): as the line above demands.
        function_schema const parsed = *parse_schema(text);
        REQUIRE(to_string(parsed) == text);
        REQUIRE(argument_count(text) == static_cast<int>(parsed.arguments.size()));
        REQUIRE(return_count(text) == static_cast<int>(parsed.returns.size()));
    }
}

TEST_CASE("schemas as torch prints those of other libraries are read") {
    for (auto const& [printed, written] : {
             // vllm, bitsandbytes: Tensor! has an alias set of its own
             std::array{"_C::silu_and_mul(Tensor($0! -> ) result, Tensor input) -> ()"sv,
                        "_C::silu_and_mul(Tensor! result, Tensor input) -> ()"sv},
             {"_C::rotary(Tensor positions, Tensor($0! -> ) query, Tensor($1! -> )? key, int n) -> ()",
              "_C::rotary(Tensor positions, Tensor! query, Tensor!? key, int n) -> ()"},
             {"my::f(Tensor($0! -> ) a, Tensor($1! -> )[] b) -> (Tensor($2! -> ), Tensor)",
              "my::f(Tensor! a, Tensor![] b) -> (Tensor!, Tensor)"},
             {"my::g(int($0! -> )? n, Tensor(a!)[](b!) z) -> ()", "my::g(int!? n, Tensor(a!)[](b!) z) -> ()"},
             // RegisterOperators: names are numbers
             {"torch_scatter::segment_sum_csr(Tensor _0, Tensor _1, Tensor? _2) -> Tensor _0", ""},
             {"torch_scatter::scatter_max(Tensor _0, int _1) -> (Tensor _0, Tensor _1)", ""},
             {"my::h(Dict(str, Tensor) d, Any a, Tensor[][] l, (int, Tensor) p) -> Any", ""},
             {"my::k(__torch__.torch.classes.my.Type t, ...) -> ...", ""},
             {"my::m(Tensor(b|a) x) -> (Tensor(a), Tensor(b))", ""},
         }) {
        CAPTURE(printed);
        CHECK(describe_syntax_error(printed) == "");
        CHECK(to_string(parse_schema(printed).value()) == (written.empty() ? printed : written));
    }
}

TEST_CASE("every registered schema and argument is found by its name, and every default is parsed") {
    for (std::size_t i = 0; i != schema_count(); ++i) {
        std::string_view const text = schema_at(i);
        CAPTURE(text);
        function_schema const parsed = *parse_schema(text);
        REQUIRE(find_schema(parsed.head.qualified).data() == text.data());
        std::string_view const nearest = nearest_overload(parsed.head.qualified);
        REQUIRE(parse_head(nearest).name == parsed.head.name);
        if (!parsed.head.overload.empty() || (!parsed.arguments.empty() && parsed.arguments[0].type.text == "Tensor"))
            REQUIRE(nearest == parsed.head.qualified);
        if (i != 0) REQUIRE(parse_head(schema_at(i - 1)).qualified < parsed.head.qualified);
        for (std::size_t k = 0; k != parsed.arguments.size(); ++k) {
            schema_argument const& expected = parsed.arguments[k];
            schema_argument found;
            int at = 0;
            REQUIRE(find_argument(text, expected.name, found, at));
            REQUIRE(at == static_cast<int>(k));
            REQUIRE(to_string(found) == to_string(expected));
            REQUIRE(found.keyword_only == expected.keyword_only);
            if (expected.has_default) REQUIRE(parse_default(expected).kind() != default_kind::invalid);
        }
    }
}

TEST_CASE("names that do not exist are not found") {
    for (std::size_t i = 0; i != schema_count(); ++i) {
        std::string name{parse_head(schema_at(i)).qualified};
        CHECK(find_schema(name + "~").empty());
        CHECK(find_schema("~" + name).empty());
        name.back() = '!';
        CHECK(find_schema(name).empty());
    }
}

TEST_CASE("a misspelled operator is found") {
    std::mt19937 random{20};
    int tried = 0;
    int found = 0;
    for (std::size_t i = 0; i < schema_count(); i += 3) {
        schema_head const head = parse_head(schema_at(i));
        std::string name{head.name};
        if (name.size() < 6 || head.name.back() == '_') continue;
        std::size_t const at = 1 + random() % (name.size() - 2);
        if (random() % 2 == 0) name.erase(at, 1);
        else std::swap(name[at], name[at + 1]);
        std::string const wrong = std::string{head.ns} + "::" + name;
        if (nearest_overload(wrong).empty() || !find_schema(wrong).empty()) continue;
        ++tried;
        schema_head const nearest = parse_head(nearest_overload(wrong));
        if (nearest.name == head.name) ++found;
    }
    CHECK(tried > 800);
    CHECK(found * 100 > tried * 90); // some names differ only in one letter
}

TEST_CASE("the nearest overload") {
    for (auto const& [wrong, right] : {std::array{"aten::index"sv, "aten::index.Tensor"sv},
                                       {"aten::softmax.Int", "aten::softmax.int"},
                                       {"aten::Softmax", "aten::softmax.int"},
                                       {"elu", "aten::elu"},
                                       {"aten::leu", "aten::elu"},
                                       {"aten::layernorm", "aten::layer_norm"},
                                       {"aten::avg_pool_2d", "aten::avg_pool2d"},
                                       {"aten::_sofmax", "aten::_softmax"},
                                       {"torch::relu", "aten::relu"},
                                       {"aten::sum.dim_intlist", "aten::sum.dim_IntList"},
                                       {"quantized::conv3", "quantized::conv3d"},
                                       {"aten::scaled_dot_product_atention", "aten::scaled_dot_product_attention"},
                                       {"aten::nothinglikethis", ""},
                                       {"", ""},
                                       {"::", ""},
                                       {"aten::", ""},
                                       {"aten::.x", ""}})
        CHECK(nearest_overload(wrong) == right);
}

TEST_CASE("a syntax error says what and where") {
    for (auto const& [schema, message] : {
             std::array{""sv, "expected an operator name at offset 0"sv},
             {"aten::(Tensor x) -> Tensor", "expected an operator name after '::' at offset 6"},
             {"aten::f.(Tensor x) -> Tensor", "expected an overload name after '.' at offset 8"},
             {"aten::f Tensor x) -> Tensor", "expected '(' after the operator name at offset 8"},
             {"aten::f(Tensor) -> Tensor", "expected an argument name after its type at offset 14"},
             {"aten::f(, int x) -> Tensor", "expected a type at offset 8"},
             {"aten::f(int x,) -> Tensor", "expected a type at offset 14"},
             {"aten::f(int[x] x) -> Tensor", "expected ']' or a size after '[' at offset 12"},
             {"aten::f(int x=) -> Tensor", "expected a default value at offset 14"},
             {"aten::f(float x=1.5.2) -> Tensor", "expected ',' or ')' after an argument at offset 19"},
             {"aten::f(float x=1e) -> Tensor", "malformed number at offset 18"},
             {"aten::f(str x=\"a) -> Tensor", "unterminated string at offset 27"},
             {"aten::f(Tensor(a! x) -> Tensor", "expected ')' after an alias annotation at offset 18"},
             {"aten::f(int x, int x) -> Tensor",
              "two arguments have the same name; rename one of them where the operator is registered at offset 20"},
             {"my::f(Tensor($0) x) -> ()", "expected '!' after a numbered alias set at offset 15"},
             {"my::f(Tensor($0! -> a) x) -> ()", "expected ')' after an alias annotation at offset 20"},
             {"my::f(Tensor($a!) x) -> ()", "expected '!' after a numbered alias set at offset 14"},
             {"aten::f(int x=1, int y) -> Tensor",
              "an argument without a default after one with a default at offset 22"},
             {"aten::f(*, int x, *, int y) -> ()", "a second '*' among the arguments at offset 19"},
             {"aten::f(..., int x) -> ()", "expected ')' after '...' at offset 11"},
             {"aten::f(int x)", "expected '->' after the arguments at offset 14"},
             {"aten::f(int x) -> ", "expected a type at offset 18"},
             {"aten::f(int x) -> (Tensor", "expected ',' or ')' after a return at offset 25"},
             {"aten::f(int x) -> Tensor;", "unexpected text after the returns at offset 24"},
         })
        CHECK(describe_syntax_error(schema) == std::string{message} + " of '" + std::string{schema} + "'");
}

/// Runs everything on a copy without a terminator, so that a sanitizer sees a read beyond the end.
bool survives(std::string_view text) {
    std::unique_ptr<char[]> const copy{new char[text.size()]};
    std::copy(text.begin(), text.end(), copy.get());
    std::string_view const schema{copy.get(), text.size()};
    bool const well_formed = syntax_error(schema).empty();
    CHECK(check_syntax(schema).offset <= schema.size());
    schema_argument argument;
    schema_return each;
    int position = 0;
    int arguments = 0;
    int returns = 0;
    for (argument_cursor cursor{schema}; cursor.next(argument);) {
        ++arguments;
        default_value const value = parse_default(argument);
        for (std::size_t i = 0; i != value.size() && i != 4; ++i) static_cast<void>(value.double_at(i));
        unescape(argument.default_text, [](char) {});
    }
    for (return_cursor cursor{schema}; cursor.next(each);) ++returns;
    CHECK(find_argument(schema, "self", argument, position) <= (argument_count(schema) > 0));
    CHECK((!well_formed || (arguments == argument_count(schema) && returns == return_count(schema))));
    nearest_argument(schema, "x");
    find_schema(schema);
    nearest_overload(parse_head(schema).qualified);
    parse_default(schema);
    schema_type type;
    parse_type(schema, type);
    auto const parsed = parse_schema(schema);
    CHECK(parsed.has_value() == well_formed);
    if (parsed) CHECK(!to_string(*parsed).empty());
    return well_formed;
}

constexpr std::array samples = {
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"sv,
    "aten::_set_item.Tensor(Dict(Tensor, t)(a!) l, Tensor(b -> *) idx, t[](c|d!)? v) -> ((Tensor, t)[])"sv,
    "a::b(Tensor($0! -> )? x, Tensor($12! -> )[] y, Tensor[]($3! -> ) z) -> (Tensor($4! -> ), int)"sv,
    R"(a::b(str s=" \n\x41\"", int[2]? k=[0, -1], float e=1.0000000000000001e-05, ...) -> (Tensor(a!) values, ...))"sv,
    "a::b((Tensor, int) -> Tensor f, __torch__.torch.classes.rnn.CellParamsBase[] c, complex z=0.+1.j) -> t(*)?"sv,
};

TEST_CASE("truncated schemas are refused") {
    for (std::string_view sample : samples) {
        REQUIRE(survives(sample));
        // A prefix that ends in the returns can be a whole schema.
        std::size_t const returns = sample.rfind(") -> ") + 5;
        for (std::size_t size = 0; size != sample.size(); ++size) {
            CAPTURE(sample.substr(0, size));
            bool const well_formed = survives(sample.substr(0, size));
            if (size <= returns) CHECK_FALSE(well_formed);
        }
    }
}

TEST_CASE("hostile text is refused without reading beyond its end") {
    std::mt19937 random{7};
    constexpr std::string_view alphabet = "aT(([[)]]?!*,=.\"'\\-> :1e\n\0\xff|Tensor"sv;
    for (int round = 0; round != 20'000; ++round) {
        std::string text{samples[random() % samples.size()]};
        for (std::size_t edits = 1 + random() % 3; edits != 0; --edits) {
            std::size_t const at = random() % text.size();
            char const c = random() % 4 == 0 ? static_cast<char>(random()) : alphabet[random() % alphabet.size()];
            switch (random() % 3) {
            case 0: text[at] = c; break;
            case 1: text.insert(at, 1 + random() % 3, c); break;
            default: text.erase(at, 1 + random() % 9);
            }
            if (text.empty()) text = "(";
        }
        CAPTURE(text);
        survives(text);
    }
    for (int round = 0; round != 20'000; ++round) {
        std::string text = round % 2 == 0 ? "a::b(" : "";
        for (std::size_t size = random() % 40; size != 0; --size) text += alphabet[random() % alphabet.size()];
        survives(text);
    }
    for (std::string_view open : {"("sv, "["sv, "Dict("sv, "int[]"sv, "=["sv, "(int) -> "sv}) {
        std::string text = "a::b(";
        std::string value = "a::b(int x=";
        for (int i = 0; i != 20'000; ++i) value.append(open), text.append(open);
        CHECK_FALSE(syntax_error(text).empty());
        CHECK_FALSE(syntax_error(value).empty());
    }
}

} // namespace
