// SPDX-License-Identifier: MIT
// The grammar of guards: values against Python's, and the inputs that names refer to.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <aton/frontend/pt2/read_program.hpp>
#include <aton/program/program.hpp>

#include "frontend/pt2/parse_guard.hpp"
#include "program/python_value.hpp"

#include "program_json.hpp"

namespace guard_test {

using namespace aton;

namespace {

std::optional<program::expression> parsed(std::string_view text) {
    return pt2::parse_guard(text, [](pt2::guard_number const& n) {
        std::string out;
        for (std::string const& each : n.path) out += (out.empty() ? "" : ".") + each;
        return n.axis ? out + '#' + std::to_string(*n.axis) : out;
    });
}

std::string text_of(std::string_view text) {
    auto const e = parsed(text);
    return e ? program::to_string(*e) : "-";
}

/// For the sizes x = 7, y = 12, n = -3.
std::string value_of(std::string_view text) {
    auto const e = parsed(text);
    if (!e) return "-";
    auto const v = program::python_value(*e, {{"x#0", 7}, {"y#0", 12}, {"n", -3}});
    if (!v) return "exception";
    if (v->is_bool()) return v->to<bool>() ? "True" : "False";
    return v->is_integral() ? std::to_string(v->to<std::int64_t>()) : std::to_string(v->to<double>());
}

} // namespace

TEST_CASE("guards written by torch 2.13") {
    CHECK(text_of("(1 / L['x'].size()[0]) == 0.2") == "1/x#0 == 0.2");
    CHECK(text_of("(0.5*torch.sym_float(L['x'].size()[0])) == 2.5") == "0.5*float(x#0) == 2.5");
    CHECK(text_of("L['d']['a'].size()[0] == L['t'][1][0].size()[2]") == "d.a#0 == t.1.0#2");
    CHECK(text_of("L['cache'].layers[3].size()[1] <= 4") == "cache.layers.3#1 <= 4");
    CHECK(text_of("L['flat_args'][0].size()[0] != 1") == "flat_args.0#0 != 1");
    CHECK(text_of("((-1) + L['y'].size()[0]) != 1") == "y#0 - 1 != 1");
    CHECK(text_of("(-1) + (L['x'].size()[3] // 2) >= 1 and (-1) + (L['x'].size()[2] // 2) >= 1") ==
          "x#2//2 - 1 >= 1 and x#3//2 - 1 >= 1");
    CHECK(text_of("not (L['x'].size()[0] == 3)") == "not x#0 == 3");
    CHECK(text_of("min(5, L['x'].size()[0]) == 5") == "min(5, x#0) == 5");
    CHECK(text_of("(0.1*torch.sym_float(L['n'])) == 0.7000000000000001") == "0.1*float(n) == 0.7000000000000001");
    CHECK(text_of("torch._sym_sqrt(L['x'].size()[0]) < math.inf") == "sqrt(x#0) < inf");
}

TEST_CASE("guards may call sympy's functions by any of their names") {
    CHECK(value_of("Pow(L['x'].size()[0], 2)") == value_of("L['x'].size()[0] ** 2"));
    CHECK(value_of("GreaterThan(L['n'], 2)") == value_of("Ge(L['n'], 2)"));
}

TEST_CASE("guards that cannot be parsed are nothing, not errors") {
    for (std::string_view text : {"",
                                  "L",
                                  "L[",
                                  "L['x'",
                                  "L['x'].size()",
                                  "L['x'].size()[0] ==",
                                  "L['x'].stride()[0] == 4",
                                  "L['x'].storage_offset() == 0",
                                  "isinstance(L['x'], torch.Tensor)",
                                  "L['x'].dtype == torch.float32",
                                  "x == 3",
                                  "3 3",
                                  "(3",
                                  "3)",
                                  "a if b",
                                  "L['x'].size()[-1] == 2",
                                  "L['x'].size()[99999999999999999999] == 2",
                                  "1e999 == L['n']",
                                  "not",
                                  "__import__('os')",
                                  "round(L['n'], 2) == 3",
                                  "L['n'] & 3",
                                  "L['n'] ** ",
                                  "math.gamma(L['n']) == 2",
                                  "max(L['n']) == 3"})
        CHECK_MESSAGE(text_of(text) == "-", text);
    CHECK(text_of(std::string(100000, '(')) == "-");
    CHECK(text_of(std::string(100000, '-') + "1") == "-");
    std::string nots;
    for (int i = 0; i != 10000; ++i) nots += "not ";
    CHECK(text_of(nots + "L['n']") == "-");
}

TEST_CASE("numbers are Python's") {
    CHECK(value_of("L['x'].size()[0] // 2") == "3");
    CHECK(value_of("L['n'] // 2") == "-2");
    CHECK(value_of("L['n'] % 2") == "1");
    CHECK(value_of("-L['n'] ** 2") == "-9");
    CHECK(value_of("2 ** -1") == "0.500000");
    CHECK(value_of("L['x'].size()[0] / 2") == "3.500000");
    CHECK(value_of("1 / 5 == 0.2") == "True"); // rounded, as 0.2 is
    CHECK(value_of("0.1 + 0.2 == 0.3") == "False");
    CHECK(value_of("0.1 + 0.2 + 0.3 == 0.3 + 0.2 + 0.1") == "False"); // from the left
    CHECK(value_of("0.1 + (0.2 + 0.3) == 0.6") == "True");
    CHECK(value_of("0.1 + 0.2 + 0.3 == 0.6") == "False");
    CHECK(value_of("round(2.5)") == "2");
    CHECK(value_of("math.trunc(L['n'] / 2)") == "-1");
    CHECK(value_of("math.floor(L['n'] / 2)") == "-2");
    CHECK(value_of("3 < L['x'].size()[0] < 8 < 9") == "True");
    CHECK(value_of("3 < L['x'].size()[0] < 7") == "False");
    CHECK(value_of("L['x'].size()[0] == 7 or 1 // 0 == 0") == "True");
    CHECK(value_of("L['x'].size()[0] == 8 or 1 // 0 == 0") == "exception");
    CHECK(value_of("1 / (L['x'].size()[0] - 7) == 1") == "exception");
    CHECK(value_of("L['y'].size()[0] if L['n'] > 0 else L['x'].size()[0]") == "7");
    CHECK(value_of("CeilDiv(L['x'].size()[0], 2) + Mod(L['y'].size()[0], 5) + max(1, 9, 4)") == "15");
    CHECK(value_of("L['x'].size()[0] * 9223372036854775807 == 0") == "exception"); // beyond 64 bits: unknown
}

namespace {

std::string const leaf = R"({"type": null, "context": null, "children_spec": []})";

std::string nest(std::string_view type, std::string_view context, std::string_view children) {
    return R"({"type": ")" + std::string(type) + R"(", "context": )" + std::string(context) +
           R"(, "children_spec": [)" + std::string(children) + "]}";
}

/// forward(scale, nest, *, mask): a baked-in float, a dict with a list of the number n, and the tensor x.
std::string const in_spec =
    "[1, " +
    nest("builtins.tuple", R"("null")",
         nest("builtins.tuple", R"("null")",
              leaf + ", " + nest("builtins.dict", R"("[\"a b\"]")", nest("builtins.list", R"("null")", leaf))) +
             ", " + nest("builtins.dict", R"("[\"mask\"]")", leaf)) +
    "]";

/// The parsed guards of the small program in order; "-" if a guard cannot be parsed.
std::string understood(std::initializer_list<std::string_view> guards, std::string const& treespec = in_spec) {
    std::string json(tests::small_program);
    auto const replace = [&](std::string_view from, std::string const& to) {
        std::size_t const at = json.find(from);
        REQUIRE(at != std::string::npos);
        json.replace(at, from.size(), to);
    };
    replace(R"("in_spec": "", "forward_arg_names": ["n", "x"])",
            R"("in_spec": )" + tests::in_json(treespec) + R"(, "forward_arg_names": ["scale", "nest", "mask"])");
    std::string list;
    for (std::string_view each : guards) list += (list.empty() ? "" : ", ") + tests::in_json(each);
    replace(R"("guards_code": [])", R"("guards_code": [)" + list + "]");
    std::string out;
    for (program::guard const& g : tests::read_small(json).guards)
        out += (out.empty() ? "" : "; ") + (g.condition ? program::to_string(*g.condition) : std::string("-"));
    return out;
}

} // namespace

TEST_CASE("names in guards refer to inputs") {
    CHECK(understood({"L['mask'].size()[0] == 5"}) == "x.size()[0] == 5");
    CHECK(understood({"L['nest']['a b'][0] == 5"}) == "n == 5");
    CHECK(understood({"L['kwargs']['mask'].size()[3] > L['args'][1]['a b'][0]"}) == "x.size()[3] > n");
    CHECK(understood({"L['flat_args'][2].size()[1] != L['flat_args'][1]"}) == "x.size()[1] != n");
    CHECK(understood({"L['x'].size()[0] == 5"}) == "x.size()[0] == 5"); // as torch names the value
    CHECK(understood({"L['mask'].size()[4] == 5",
                      "L['scale'] == 2.5",
                      "L['nest'] == 1",
                      "L['mask'] == 1",
                      "L['nest']['a b'][0].size()[0] == 1"}) == "-; -; -; -; -");
    CHECK(understood({"L['x'].size()[0] == 5", "L['mask'].size()[0] == 5"}, "") == "x.size()[0] == 5; -");
}

TEST_CASE("guards that are not strings are ignored") {
    std::string json(tests::small_program);
    json.replace(json.find(R"("guards_code": [])"), 17, R"("guards_code": [3, null, {"a": []}])");
    CHECK(tests::read_small(json).guards.empty());
}

} // namespace guard_test
