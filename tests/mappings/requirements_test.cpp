// SPDX-License-Identifier: MIT
// The language of requirements, and that those of ATen's operators name operators and arguments that exist.
#include <aton/mappings/requirements.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <aton/core/error.hpp>
#include <aton/mappings/built_in.hpp>

#include "mappings/requirement_rows.hpp"

namespace ATON_NAMESPACE::mappings {

namespace {

using dsl::argument;

constexpr std::string_view schema = "aten::f(Tensor x, Tensor? y, Tensor[] all, int[] list, int n=6, str mode='sum', "
                                    "int? start=None, bool flag=True) -> Tensor";

/// A call of `f`: x is float32 [2, 3, batch], y int64 [3, 1], and `all` holds both.
struct call {
    graph_data data;
    std::vector<argument> arguments;
    call() {
        data.opset = 20;
        dsl::value const x(data, data.add_input("x", {dtype::float32, shape{2, 3, "batch"}}));
        dsl::value const y(data, data.add_input("y", {dtype::int64, shape{3, 1}}));
        arguments = {argument::of_tensor(x),
                     argument::of_tensor(y),
                     argument::of_tensors({x, y}),
                     argument::of_numbers({-1, 0, 4})};
    }
};

std::string fault(std::string_view text, std::vector<argument> const& arguments = call().arguments) {
    try {
        check_conditions(text, "aten::f", schema, safe_span<argument const>(arguments));
        return {};
    } catch (unsupported_error const& e) {
        return std::string(e.reason());
    }
}

/// Evaluates all conditions without arguments. A default may violate one, which says that its names exist as well.
void check_names(std::string_view text, dsl::entry const& row) {
    try {
        check_conditions(text, row.overload, row.schema, {});
    } catch (unsupported_error const& e) {
        CHECK(!e.reason().empty());
    }
}

} // namespace

TEST_CASE("conditions that hold, and those that do not, with the values of their sides") {
    call const c;
    auto const said = [&](std::string_view text) { return fault(text, c.arguments); };
    CHECK(said("rank(x) = 3; size(x, -3) = 2; size(x, 1) * 2 = n; count(list) = 3; product(shape(y)) = 3") == "");
    CHECK(said("rank(y) = 3") == "requires rank(y) = 3, but they are 2 and 3");
    CHECK(said("rank(x) = 3; n % 4 = 0; rank(x) = 4") == "requires n % 4 = 0, but they are 2 and 0");
    CHECK(said("list >= 0") == "requires list >= 0, but they are [-1, 0, 4] and 0");
    CHECK(said("shape(y) = [1, 3]") == "requires shape(y) = [1, 3], but they are [3, 1] and [1, 3]");
    CHECK(said("shape(x) = [2, 3]") == "requires shape(x) = [2, 3], but they are [2, 3, ?] and [2, 3]");
    CHECK(said("2 * list + 1 <= [-1, 1, 9]; list / 3 = [-1, 0, 1]; list % 3 = [2, 0, 1]; max(list, 1) = [1, 1, 4]") ==
          "");
    CHECK(said("tail(list, 2) = [0, 4]; head(list, 1) = [-1]; without(list, -1) = [-1, 0]; item(list, 2) = 4") == "");
    CHECK(said("mode in 'mean' 'sum'; mode = 'sum'; mode != 'mean'; flag = 1; n in 6..6") == "");
    CHECK(said("mode in 'mean' 'none'") == "requires mode in 'mean' 'none', which is 'sum'");
    CHECK(said("n in 0..5") == "requires n in 0..5, which is 6");
    CHECK(said("n in -2..5.5 or n = 6") == "");
    CHECK(said("n = 7 or n = 8") == "requires n = 7 or n = 8, but they are 6 and 8");
    CHECK(said("rank(all) = 2") == "requires rank(all) = 2, but they are [3, 2] and 2");
    CHECK(said("(n + 2) * 3 = 24; -n = 0 - 6") == "");
}

TEST_CASE("conditions of dtypes") {
    call const c;
    auto const said = [&](std::string_view text) { return fault(text, c.arguments); };
    CHECK(said("type(x) is floating; type(x) is inexact; type(y) is index; type(y) is integral; type(x) is float32") ==
          "");
    CHECK(said("type(x) is real; type(x) is signed; type(y) is signed; type(y) is subscript") == "");
    CHECK(said("type(y) is bool") == "requires type(y) is bool, which is int64");
    CHECK(said("type(x) = type(y)") == "requires type(x) = type(y), but they are float32 and int64");
    CHECK(said("same(type(all))") == "requires same(type(all))");
    CHECK(said("type(all) is real") == "");
}

TEST_CASE("predicates and slices") {
    call const c;
    auto const said = [&](std::string_view text) { return fault(text, c.arguments); };
    CHECK(said("distinct(list); distinct(axes(list, 5))") == "requires distinct(axes(list, 5))");
    CHECK(
        said(
            "distinct(list); distinct(axes(list, 7)); expands([1, 3], [2, 3]); expands(shape(y), shape(x)) or n = 6") ==
        "");
    CHECK(said("expands([2, 3], [3])") == "requires expands([2, 3], [3])");
    CHECK(said("within([2, 9, 1], shape(x), 1)") == "");
    CHECK(said("within([2, 9, 1], shape(x), 2)") == "requires within([2, 9, 1], shape(x), 2)");
    CHECK(said("sliced(10, start, start, 3) = 4; sliced(10, -4, 8, 1) = 2; sliced(10, 20, 5, 1) = 0") == "");
}

TEST_CASE("what is not known violates nothing") {
    call c;
    c.arguments[1] = argument::none();
    c.arguments[3] = argument::of_numbers({});
    for (std::string_view const text : {"size(x, 2) = 7",
                                        "product(shape(x)) = 1",
                                        "size(x, 5) = 1",
                                        "rank(y) = 9",
                                        "type(y) is bool",
                                        "type(x) = type(y)",
                                        "shape(y) = [4]",
                                        "start = 3",
                                        "n / 0 = 1",
                                        "size(x, n / 0) = 1",
                                        "list >= 0",
                                        "list < n",
                                        "expands([3], shape(y))",
                                        "tail(list, 4) = [1]",
                                        "item(list, 0) = 4"})
        CHECK_MESSAGE(fault(text, c.arguments) == "", text);
    CHECK(fault("n = 6; count(list) = 1", c.arguments) == "requires count(list) = 1, but they are 0 and 1");
}

TEST_CASE("malformed conditions are errors of the program, not of the call") {
    for (std::string_view const text :
         {"rank(z) = 1", "rank(x", "n", "n = 6 n = 2", "n is", "what(n) = 1", "n in 1", "product(list, n) = 1", "= 1"})
        CHECK_THROWS_AS_MESSAGE(fault(text), std::logic_error, text);
}

TEST_CASE("each requirement of ATen's operators names operators that are mapped, and their arguments") {
    for (requirement const& r : aten_requirements())
        for (std::string_view rest = r.operators; !rest.empty();) {
            std::size_t const end = std::min(rest.find(' '), rest.size());
            std::string const word = "aten::" + std::string(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
            bool found = false;
            for (dsl::table_view const& table : built_in_tables())
                for (dsl::entry const& row : table) {
                    std::string_view const op = row.overload.substr(0, row.overload.find('.'));
                    if (row.overload != word && op != word && std::string(row.overload) + '.' != word) continue;
                    found = true;
                    CHECK_NOTHROW_MESSAGE(check_names(r.text, row), r.text);
                }
            CHECK_MESSAGE(found, word);
        }
}

} // namespace ATON_NAMESPACE::mappings
