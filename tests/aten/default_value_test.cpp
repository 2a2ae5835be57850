// SPDX-License-Identifier: MIT
// Default values of schema arguments: kinds, numbers rounded like the C library, escapes.
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include <aton/aten/default_value.hpp>
#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_table.hpp>

#include "parsed.hpp"

namespace {

using namespace aton::aten;
using namespace aton::aten::tests;
using namespace std::literals;

// Defaults.
constexpr default_value preset(std::string_view overload, std::string_view name) {
    return parse_default(registered(overload, name));
}
static_assert(preset("aten::elu", "alpha").kind() == default_kind::integer &&
              preset("aten::elu", "alpha").as_int() == 1);
static_assert(preset("aten::layer_norm", "eps").kind() == default_kind::floating &&
              preset("aten::layer_norm", "eps").as_double() == 1e-5);
static_assert(preset("aten::conv2d", "stride").kind() == default_kind::int_list &&
              preset("aten::conv2d", "stride").size() == 2);
static_assert(preset("aten::conv2d", "stride").int_at(1) == 1 && preset("aten::conv2d", "stride").element(2).empty());
static_assert(preset("aten::sum", "dtype").kind() == default_kind::none &&
              preset("aten::elu", "self").kind() == default_kind::invalid);
static_assert(preset("aten::avg_pool2d", "stride").kind() == default_kind::int_list &&
              preset("aten::avg_pool2d", "stride").size() == 0);
static_assert(preset("aten::avg_pool2d", "count_include_pad").as_bool() &&
              !preset("aten::avg_pool2d", "ceil_mode").as_bool());
static_assert(parse_default("0", type("float")).kind() == default_kind::floating &&
              parse_default("0", type("Scalar")).kind() == default_kind::integer);
/// Whether the text is a valid default for this type.
constexpr bool is_default_of(std::string_view text, std::string_view of) {
    return has_its_type(parse_default(text, type(of)), type(of));
}
static_assert(is_default_of("1", "int") && !is_default_of("1.5", "int") && !is_default_of("True", "int") &&
              !is_default_of("Mean", "SymInt") && !is_default_of("99999999999999999999", "int"));
static_assert(is_default_of("1", "float") && is_default_of("-inf", "float") && is_default_of("nan", "float") &&
              !is_default_of("'no'", "float") && !is_default_of("1e999", "float") && !is_default_of("no", "float"));
static_assert(is_default_of("True", "bool") && !is_default_of("true", "bool") && !is_default_of("1", "bool"));
static_assert(is_default_of("'mean'", "str") && !is_default_of("mean", "str") && !is_default_of("1", "str"));
static_assert(is_default_of("None", "int?") && !is_default_of("None", "int") && is_default_of("None", "Tensor?") &&
              !is_default_of("1", "Tensor") && is_default_of("[]", "Tensor[]"));
static_assert(is_default_of("1", "int[2]") && is_default_of("[1, 2]", "int[2]") && !is_default_of("[1]", "int[2]") &&
              is_default_of("[]", "int[2]") && is_default_of("[1, 2, 3]", "int[]") && !is_default_of("1", "int[]") &&
              !is_default_of("[1.5, 2]", "int[]") && is_default_of("[1, 2.5]", "float[]"));
static_assert(is_default_of("0.+1.j", "Scalar") && is_default_of("False", "Scalar") &&
              !is_default_of("'1'", "Scalar") && is_default_of("long", "ScalarType") &&
              is_default_of("strided", "Layout") && !is_default_of("1.5", "MemoryFormat"));

static_assert(parse_default("0", type("int[2]")).int_at(1) == 0 && parse_default("True", type("bool[3]")).bool_at(2));
static_assert(parse_default("[0, 1.5]", type("float[]")).double_at(1) == 1.5 &&
              parse_default("1.", type("float[2]")).double_at(1) == 1.0);
static_assert(parse_default("contiguous_format").kind() == default_kind::identifier &&
              parse_default("-100").as_int() == -100);
static_assert(parse_default("0.+1.j").kind() == default_kind::complex &&
              parse_default("2.-1.e-1j").imaginary() == -0.1);
static_assert(parse_default("2.-1.e-1j").real() == 2.0 &&
              parse_default("-inf").as_double() == -std::numeric_limits<double>::infinity());
static_assert(parse_default("[1, True]").kind() == default_kind::invalid &&
              parse_default("").kind() == default_kind::invalid);
static_assert(parse_default("9223372036854775808").kind() == default_kind::floating &&
              parse_default("-9223372036854775808").as_int() == INT64_MIN);

TEST_CASE("every default of torch's own schemas has the type of its argument") {
    std::size_t defaults = 0;
    for (std::size_t i = 0; i != schema_count(); ++i) {
        argument_cursor cursor(schema_at(i));
        for (schema_argument a; cursor.next(a);) {
            if (!a.has_default) continue;
            ++defaults;
            INFO(schema_at(i), " ", a.name);
            CHECK(has_its_type(parse_default(a), a.type));
        }
    }
    CHECK(defaults > 2500);
}

TEST_CASE("numbers are rounded like the C library") {
    std::mt19937_64 random{3};
    auto const same = [](std::string const& text) {
        double value = -1;
        CAPTURE(text);
        REQUIRE(detail::parse_double(text, value));
        CHECK(value == std::stod(text));
    };
    for (std::string_view text : {"0",
                                  "0.",
                                  "1.",
                                  ".5",
                                  "1e-5",
                                  "1.0000000000000001e-05",
                                  "0.33333333333333331",
                                  "1e308",
                                  "1.7976931348623157e308",
                                  "2.2250738585072014e-308",
                                  "9007199254740993",
                                  "9007199254740992.99999999999999999999",
                                  "123456789012345678901234567890",
                                  "1e22",
                                  "1e23",
                                  "0.000001e6"})
        same(std::string{text});
    for (int i = 0; i != 20'000; ++i) {
        std::string text = std::to_string(random() % 1'000'000'000'000'000'000U);
        text.insert(random() % text.size() + 1, 1, '.');
        same(text + "e" + std::to_string(static_cast<int>(random() % 560) - 300));
    }
    double value = 1;
    CHECK((detail::parse_double("5e-324", value) && value == std::numeric_limits<double>::denorm_min()));
    CHECK((detail::parse_double("2e-324", value) && value == 0));
    CHECK((detail::parse_double("1.5e-323", value) && value == 3 * std::numeric_limits<double>::denorm_min()));
    CHECK((detail::parse_double("1e309", value) && value == std::numeric_limits<double>::infinity()));
    CHECK((detail::parse_double("1e99999999999", value) && value == std::numeric_limits<double>::infinity()));
    CHECK((detail::parse_double("1e-99999999999", value) && value == 0));
    CHECK((detail::parse_double("-0.", value) && value == 0));
    for (std::string_view text : {"", "-", ".", "e5", "1e", "1e+-5", "1.2.3", "0x10", "1 "})
        CHECK_FALSE(detail::parse_double(text, value));
}

TEST_CASE("escapes of string defaults") {
    auto const text = [](std::string_view quoted) {
        std::string out;
        unescape(quoted, [&](char c) { out += c; });
        return out;
    };
    CHECK(text(R"("mean")") == "mean");
    CHECK(text(R"(" \n\t\f\v")") == " \n\t\f\v");
    CHECK(text(R"("\"\'\\")") == "\"'\\");
    CHECK(text(R"("\x41\x0fA\101\0")") == "A\017AA\0"s);
    CHECK(text("\"\"").empty());
    CHECK(text("\"").empty());
    CHECK(parse_default("[\"a, b\", 'c']").element(1) == "'c'");
}

} // namespace
