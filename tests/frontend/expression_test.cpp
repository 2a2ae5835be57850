// SPDX-License-Identifier: MIT
// Size expressions: values against sympy's (tests/data/pt2/expressions.txt), printed forms, and strings that are not expressions.
#include <aton/frontend/pt2/read_program.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

namespace expression_test {

using aton::program::evaluate;
using aton::program::expression;
using aton::program::expression_kind;
using aton::program::to_string;
using aton::pt2::parse_expression;

namespace {

using point = std::map<std::string, std::int64_t, std::less<>>;
using names = std::map<std::string, std::string, std::less<>>;

std::array<point, 3> const points{
    point{{"s0", 7}, {"s53", 12}, {"u0", -5}},
    point{{"s0", 1}, {"s53", 5}, {"u0", 4}},
    point{{"s0", 64}, {"s53", 30}, {"u0", 0}},
};

std::string value(expression const& e, point const& at) {
    std::optional<std::int64_t> const v = evaluate(e, at);
    return v ? std::to_string(*v) : "-";
}

std::string text(std::string_view of) { return to_string(parse_expression(of)); }

/// The error message for a string; empty if it is an expression.
std::string error_message(std::string_view of) {
    try {
        expression const e = parse_expression(of);
        // The result can be used.
        (void)to_string(e);
        (void)evaluate(e, points[0]);
        CHECK(e == parse_expression(of));
    } catch (aton::error const& e) {
        std::string const what = e.what();
        CHECK(!what.empty());
        CHECK(what.size() < 500);
        CHECK(std::all_of(what.begin(), what.end(), [](char c) { return c >= ' ' && c < '\x7f'; }));
        return what;
    }
    return {};
}

std::vector<std::string> fields(std::string const& line) {
    std::vector<std::string> out(1);
    for (char c : line) {
        if (c == '\t') out.emplace_back();
        else out.back() += c;
    }
    return out;
}

std::string symbol(std::string const& name) { return "Symbol('" + name + "', positive=True, integer=True)"; }

} // namespace

TEST_CASE("expressions have the values that sympy computes, in both spellings") {
    std::ifstream in(ATON_PT2_SAMPLES "/expressions.txt");
    int count = 0;
    for (std::string line; std::getline(in, line); ++count) {
        std::vector<std::string> const f = fields(line);
        REQUIRE(f.size() == 5);
        expression const written = parse_expression(f[0]);
        expression const printed = parse_expression(f[1]);
        for (std::size_t i = 0; i != points.size(); ++i) {
            CHECK_MESSAGE(value(written, points[i]) == f[i + 2], line);
            CHECK_MESSAGE(value(printed, points[i]) == f[i + 2], line);
        }
        // Our printed form is in the old spelling, except for the names of functions.
        if (f[1].find_first_of("MITFRCAPWEN&|") != std::string::npos || f[1].find("ceiling") != std::string::npos)
            continue;
        expression const again = parse_expression(to_string(written));
        for (std::size_t i = 0; i != points.size(); ++i)
            CHECK_MESSAGE(value(again, points[i]) == f[i + 2], line << " printed as " << to_string(written));
    }
    CHECK(count >= 60);
}

TEST_CASE("expressions are printed in the usual notation") {
    std::string const s0 = symbol("s0");
    std::string const s53 = symbol("s53");
    std::string const u0 = "Symbol('u0', integer=True)";
    CHECK(text("Mul(Integer(4), " + s0 + ", " + s53 + ")") == "4*s0*s53");
    CHECK(text("Add(Mul(Integer(2), " + s0 + "), Integer(1))") == "2*s0 + 1");
    CHECK(text("Add(" + s53 + ", Integer(-1))") == "s53 - 1");
    CHECK(text("Add(Mul(Integer(-1), " + s0 + "), " + u0 + ")") == "u0 - s0");
    CHECK(text("Mul(Integer(-2), " + s0 + ")") == "-2*s0");
    CHECK(text("FloorDiv(Mul(Integer(-2), " + s0 + "), Integer(3))") == "(-2*s0)//3");
    CHECK(text("Mul(" + s53 + ", FloorDiv(" + s0 + ", Integer(2)))") == "(s0//2)*s53");
    CHECK(text("FloorDiv(Add(" + s0 + ", Integer(1)), Mul(Integer(2), " + s53 + "))") == "(s0 + 1)//(2*s53)");
    CHECK(text("FloorDiv(FloorDiv(" + s0 + ", Integer(2)), Integer(3))") == "s0//2//3");
    CHECK(text("FloorDiv(" + s0 + ", FloorDiv(" + s53 + ", Integer(3)))") == "s0//(s53//3)");
    CHECK(text("Mul(Rational(3, 2), " + s0 + ")") == "3*s0/2");
    CHECK(text("Mul(Rational(1, 2), Add(" + s0 + ", Integer(3)))") == "(s0 + 3)/2");
    CHECK(text("Rational(-6, 4)") == "(-3)/2");
    CHECK(text("Pow(Add(" + s0 + ", Integer(-1)), Integer(2))") == "(s0 - 1)**2");
    CHECK(text("Mod(Add(" + s0 + ", " + s53 + "), Integer(4))") == "(s0 + s53) % 4");
    CHECK(text("Max(Integer(3), " + s53 + ", " + s0 + ")") == "max(3, s0, s53)");
    CHECK(text("And(StrictGreaterThan(" + s0 + ", Integer(4)), Not(Equality(" + u0 + ", Integer(3))))") ==
          "not u0 == 3 and s0 > 4");
    CHECK(text("Where(true, " + s0 + ", Float('2.5', precision=53))") == "piecewise(s0, true, 2.5, true)");
    CHECK(text("OpaqueUnaryFn_sqrt(" + s0 + ")") == "OpaqueUnaryFn_sqrt(s0)");
    CHECK(text("Float('3.0', precision=53)") == "3.0");
    CHECK(text("int_oo") == "int_oo");
}

TEST_CASE("symbols are renamed, and sorted by their new names") {
    expression const e = parse_expression("Add(" + symbol("s0") + ", FloorDiv(" + symbol("s53") + ", Integer(2)))");
    CHECK(to_string(e) == "s0 + s53//2");
    CHECK(to_string(e, names{{"s0", "w"}, {"s53", "h"}, {"s1", "no"}}) == "h//2 + w");
    CHECK(to_string(parse_expression("2*s0 + 1"), names{{"s0", "batch"}}) == "2*batch + 1");
    CHECK(to_string(parse_expression("s0"), names{{"s0", ""}}).empty());
}

TEST_CASE("equality of sizes does not depend on the order of operands") {
    CHECK(parse_expression("s1 + (s0 + 3) + 4") == parse_expression("7 + s0 + s1"));
    CHECK(parse_expression("2*(s1*s0)*3") == parse_expression("s0*6*s1"));
    CHECK(parse_expression("s0 - s1") == parse_expression("-1*s1 + s0"));
    CHECK(parse_expression("s0/2") == parse_expression("Mul(Symbol('s0'), Rational(2, 4))"));
    CHECK(parse_expression("Max(s0, Max(s1, s0), 2)") == parse_expression("Max(2, s1, s0)"));
    CHECK(parse_expression("(s0 > 2) & (s1 > 3)") == parse_expression("(s1 > 3) & (s0 > 2)"));
    CHECK(parse_expression("((s0))") == parse_expression("1*s0 + 0"));
    CHECK_FALSE(parse_expression("s0//2*2") == parse_expression("s0*2//2"));
    CHECK_FALSE(parse_expression("s0 - s1") == parse_expression("s1 - s0"));
    CHECK_FALSE(parse_expression("Max(s0, s1)") == parse_expression("Min(s0, s1)"));
    CHECK(parse_expression("Integer(3)").kind == expression_kind::integer);
    CHECK(parse_expression("2*3 - 6").number == 0);
}

TEST_CASE("other spellings of sizes") {
    CHECK(value(parse_expression("-s0**2"), points[0]) == "-49");
    CHECK(value(parse_expression("2**-1*s53"), points[0]) == "6");
    CHECK(value(parse_expression("s53//5//2"), points[0]) == "1");
    CHECK(value(parse_expression("s53//(5//2)"), points[0]) == "6");
    CHECK(value(parse_expression("20 - 3 - 2"), points[0]) == "15");
    CHECK(value(parse_expression("u0 % 3"), points[0]) == "1");
    CHECK(value(parse_expression("~(s0 > 4) | (u0 == -5)"), points[0]) == "1");
    CHECK(value(parse_expression("torch.utils._sympy.functions.FloorDiv(s53, 5)"), points[0]) == "2");
    CHECK(value(parse_expression("PythonMod(7, -3)"), points[0]) == "-2");
    CHECK(value(parse_expression("RoundToInt(5/2) + 10*RoundToInt(7/2) + RoundToInt(-5/2)"), points[0]) == "40");
    CHECK(value(parse_expression("TruncToFloat(-7/2)"), points[0]) == "-3");
    CHECK(value(parse_expression("1.5e1"), points[0]) == "15");
    CHECK(value(parse_expression("Piecewise((1, False), (s0, True))"), points[0]) == "7");
}

TEST_CASE("expressions without an integer value") {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    point const large{{"a", most}, {"b", std::numeric_limits<std::int64_t>::min()}, {"z", 0}, {"k", most / 2}};
    for (char const* each : {"a + 1",
                             "a*2",
                             "b*-1",
                             "b - 1",
                             "-b",
                             "1//z",
                             "Mod(3, z)",
                             "1/z",
                             "z**-1",
                             "a**2",
                             "2**64",
                             "a**a",
                             "missing",
                             "missing*0.0",
                             "7/2",
                             "0.5",
                             "oo",
                             "zoo",
                             "-int_oo",
                             "f(3)",
                             "Piecewise((1, z > 0))",
                             "ModularIndexing(3, 2, z)",
                             "CeilDiv(1, z)",
                             "ToFloat(a)",
                             "1e300*1e300",
                             "Abs(b)",
                             "sqrt(a)",
                             "FloatPow(-1.0, 0.5)",
                             "b//(-1)"})
        CHECK_MESSAGE(value(parse_expression(each), large) == "-", each);
    CHECK(value(parse_expression("a - 1 + 1"), large) == std::to_string(most));
    CHECK(value(parse_expression("(a*z)//7 + b"), large) == std::to_string(large.at("b")));
    CHECK(value(parse_expression("k*2 + 1"), large) == std::to_string(most));
    CHECK(value(parse_expression("RoundToInt(b/3)"), large) == "-3074457345618258603");
    CHECK(value(parse_expression("a**1"), large) == std::to_string(most));
    CHECK(value(parse_expression("(-2)**63"), large) == std::to_string(large.at("b")));
    // Built by hand, with invalid operands.
    for (int kind = 0; kind <= static_cast<int>(expression_kind::other); ++kind) {
        for (std::size_t operands : {0U, 1U, 2U, 3U, 4U}) {
            expression e;
            e.kind = static_cast<expression_kind>(kind);
            e.operands.resize(operands, parse_expression("2"));
            (void)to_string(e);
            (void)evaluate(e, large);
        }
    }
    expression deep = parse_expression("1");
    for (int i = 0; i != 3000; ++i) {
        expression outer;
        outer.kind = expression_kind::absolute;
        outer.operands.push_back(std::move(deep));
        deep = std::move(outer);
    }
    CHECK_FALSE(evaluate(deep, large));
}

TEST_CASE("strings that are not expressions are refused with the offset") {
    for (std::string_view const each : std::initializer_list<std::string_view>{"",
                                                                               " ",
                                                                               "s0 +",
                                                                               "+",
                                                                               "*s0",
                                                                               "(s0",
                                                                               "s0)",
                                                                               "()",
                                                                               "(s0, s1)",
                                                                               "s0 s1",
                                                                               "2s",
                                                                               "Add(s0",
                                                                               "Add(s0,, s1)",
                                                                               "Max()",
                                                                               "And()",
                                                                               "Pow(s0)",
                                                                               "Pow(s0, 1, 2)",
                                                                               "Not(s0, s1)",
                                                                               "Mod(s0)",
                                                                               "ModularIndexing(s0, 2)",
                                                                               "Symbol(s0)",
                                                                               "Symbol('s0",
                                                                               "Symbol()",
                                                                               "Symbol('')",
                                                                               "Symbol('a\nb')",
                                                                               "Integer()",
                                                                               "Integer(1, 2)",
                                                                               "Rational(1)",
                                                                               "Rational(1, s0)",
                                                                               "Float('x')",
                                                                               "Float('inf')",
                                                                               "Float('1e999')",
                                                                               "Float('')",
                                                                               "9223372036854775808",
                                                                               "Integer(99999999999999999999)",
                                                                               "1.2.3",
                                                                               "1e",
                                                                               "1..2",
                                                                               ".",
                                                                               "Piecewise()",
                                                                               "Piecewise((s0))",
                                                                               "Piecewise((s0, 1, 2))",
                                                                               "Piecewise(ExprCondPair(s0))",
                                                                               "Where(s0, 1)",
                                                                               "LShift(1)",
                                                                               "s0 > 1 > 2",
                                                                               "s0 = 1",
                                                                               "'s0'",
                                                                               std::string_view("s0\0s1", 5),
                                                                               "s0;",
                                                                               "s0[0]",
                                                                               "a@b",
                                                                               "\xff\xfe",
                                                                               "Identity()",
                                                                               "s1.()",
                                                                               "s1.",
                                                                               "a.b.",
                                                                               "s0 // ",
                                                                               "s0 **"})
        CHECK_MESSAGE(!error_message(each).empty(), std::string(each));
    CHECK(error_message("Add(Symbol('s0'), Integer(x y))").find("at offset 28") != std::string::npos);
    CHECK(error_message("f(integer=True, s0)").empty());
    CHECK(error_message("Add()").empty());
    CHECK(error_message("Mul()").empty());
}

TEST_CASE("length and nesting are bounded") {
    auto const repeated = [](std::string const& what, int n) {
        std::string out;
        for (int i = 0; i != n; ++i) out += what;
        return out;
    };
    CHECK(error_message(repeated("(", 200) + "s0" + repeated(")", 200)).empty());
    for (char const* open : {"(", "Abs(", "-", "~", "2**", "Add(1, ", "Piecewise((", "f(x=", "+"})
        CHECK_MESSAGE(!error_message(repeated(open, 20000)).empty(), open);
    CHECK(error_message(repeated("s0//", 900) + "2").empty());
    CHECK_FALSE(error_message(repeated("s0//", 2000) + "2").empty());
    CHECK_FALSE(error_message(repeated("s0%", 2000) + "2").empty());
    CHECK(error_message(repeated("s0+", 20000) + "2").empty());
    CHECK(error_message(repeated("s0*", 20000) + "2").empty());
    CHECK(error_message(repeated("s0/", 900) + "2").empty());
    CHECK_FALSE(error_message(repeated("s", 70000)).empty());
}

TEST_CASE("mutated and truncated strings are expressions or refused") {
    std::ifstream in(ATON_PT2_SAMPLES "/expressions.txt");
    std::mt19937 random(20240607);
    std::string const letters = "s0u53()+-*/%,.'= <>~&|eMaxPiInt\n\x80";
    int refused = 0;
    for (std::string line; std::getline(in, line);) {
        for (int spelling = 0; spelling != 2; ++spelling) {
            std::string const whole = fields(line)[static_cast<std::size_t>(spelling)];
            for (std::size_t size = 0; size != whole.size(); ++size)
                refused += error_message(whole.substr(0, size)).empty() ? 0 : 1;
            for (int round = 0; round != 30; ++round) {
                std::string changed = whole;
                for (auto n = random() % 3 + 1; n != 0; --n)
                    changed[random() % changed.size()] = letters[random() % letters.size()];
                refused += error_message(changed).empty() ? 0 : 1;
            }
        }
    }
    CHECK(refused > 5000);
}

} // namespace expression_test
