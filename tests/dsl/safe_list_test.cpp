// SPDX-License-Identifier: MIT
// Lists with checked access, overflow-checked arithmetic, and limits of what one call may compute.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <aton/aton.hpp>

#include "../faults.hpp"

namespace safe_list_test {

namespace {

using namespace aton::dsl;
using aton::dtype;
using aton::graph_data;
using aton::tests::contains;
using aton::tests::fault_of;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

using tensors = safe_span<value const>;
using sizes = safe_span<std::int64_t const>;

constexpr auto first_of = [](graph<13> g, tensors list) { return g.op<"Relu">(list[0]); };
constexpr auto third_size = [](graph<13> g, value self, sizes shape) {
    return g.op<"Reshape">(self, g.ints({shape[2]}));
};
constexpr auto many_nodes = [](graph<13> g, value self, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) self = g.op<"Relu">(self);
    return self;
};
constexpr auto many_outputs = [](graph<13, 17> g, value self, std::int64_t n) {
    return g.op<"Split">(self, attr::axis_i(0), output_list(static_cast<std::size_t>(n)));
};

constexpr auto rows =
    table(symbolic<"aten::cat(tensors)">(first_of), symbolic<"aten::reshape(self, shape)">(third_size),
          symbolic<"aten::matrix_power(self, n)">(many_nodes), symbolic<"aten::chunk(self, chunks)">(many_outputs));

std::string fault(std::string_view overload, std::vector<argument> arguments) {
    graph_data g;
    value const x(g, g.add_input("x", {dtype::float32, {4, 4}}));
    for (argument& a : arguments)
        if (a.kind == argument_kind::missing) a = argument::of_tensor(x);
    return fault_of([&] { (void)convert(g, *find(rows, overload, 13), 13, arguments); });
}

} // namespace

TEST_CASE("an index out of range refuses the call, in lists of tensors and of numbers") {
    CHECK(contains(fault("aten::cat", {argument::of_tensors({})}), "an empty list where the mapping needs an element"));
    CHECK(contains(fault("aten::reshape", {{}, argument::of_numbers({2, 8})}),
                   "a list of 2 elements where the mapping needs 3"));
    CHECK(fault("aten::reshape", {{}, argument::of_numbers({2, 2, 4})}).find("elements cannot be reshaped to 4") !=
          std::string::npos);
}

TEST_CASE("checked lists behave like those of std, except out of range") {
    safe_vector<int> v{1, 2, 3};
    v.back() = 5;
    CHECK(v == std::vector{1, 2, 5});
    CHECK(safe_span<int const>(v).subspan(1).front() == 2);
    CHECK(safe_span<int const>(v).subspan(3).empty());
    CHECK(safe_span<int const>(v).subspan(1, 1).back() == 2);
    CHECK(contains(fault_of([&] { (void)v[3]; }), "needs 4"));
    CHECK(contains(fault_of([&] { (void)safe_span<int const>(v).subspan(4); }), "needs 5"));
    CHECK(contains(fault_of([&] { (void)safe_span<int const>(v).subspan(2, 2); }), "needs 4"));
    safe_vector<int> none;
    CHECK(contains(fault_of([&] { (void)none.back(); }), "an empty list"));
    CHECK(contains(fault_of([&] { none.pop_back(); }), "an empty list"));
}

TEST_CASE("a dimension out of range is unknown, and counting elements does not overflow") {
    aton::shape const s{2, 3};
    CHECK(!s[2].is_static());
    CHECK(aton::shape{std::int64_t{1} << 40, std::int64_t{1} << 40}.element_count() == largest);
    CHECK(aton::shape{std::int64_t{1} << 40, std::int64_t{1} << 40, 0}.element_count() == 0);
    CHECK(aton::dim(smallest) == aton::dim());
}

TEST_CASE("arithmetic on sizes refuses overflow") {
    CHECK(checked_add(largest - 1, 1) == largest);
    CHECK(checked_subtract(smallest + 1, 1) == smallest);
    CHECK(checked_multiply(smallest, 1) == smallest);
    CHECK(checked_multiply(-(std::int64_t{1} << 31), std::int64_t{1} << 32) == smallest);
    CHECK(contains(fault_of([] { (void)checked_add(largest, 1); }), "9223372036854775807 + 1"));
    CHECK(contains(fault_of([] { (void)checked_subtract(0, smallest); }), "64 bits"));
    CHECK(contains(fault_of([] { (void)checked_multiply(smallest, -1); }), "64 bits"));
    CHECK(contains(fault_of([] { (void)checked_multiply(-1, smallest); }), "64 bits"));
    CHECK(contains(fault_of([] { (void)checked_multiply(std::int64_t{1} << 32, std::int64_t{1} << 31); }), "64 bits"));
    CHECK(contains(fault_of([] { (void)(checked_int(5) / 0); }), "5 / 0"));
    CHECK(std::int64_t{checked_int(2) + 3 * checked_int(4) - 1} == 13);
}

TEST_CASE("the nodes, outputs and constants of one call are limited") {
    CHECK(contains(fault("aten::matrix_power", {{}, argument::of_number(largest)}), "more than 65536 nodes"));
    CHECK(contains(fault("aten::chunk", {{}, argument::of_number(largest)}), "more than 65536 nodes"));
    CHECK(fault("aten::matrix_power", {{}, argument::of_number(3)}) == "nothing was thrown");
    graph_data g;
    graph<13> const outside(g, 13);
    CHECK(contains(fault_of([&] { (void)outside.constant(aton::tensor{dtype::float32, {1 << 20, 1 << 20}, {}}); }),
                   "has 0 bytes"));
}

TEST_CASE("a message is one short line") {
    aton::error const e("a\n" + std::string(200000, 'x') + "\x01z");
    std::string const what = e.what();
    CHECK(what.size() <= aton::max_message);
    CHECK(what.find('\n') == std::string::npos);
    CHECK(what.starts_with("a x"));
    CHECK(what.ends_with("x z"));
    std::string const umlauts = aton::clipped(std::string(300, 'a') + "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6", 12);
    CHECK(umlauts.size() <= 12);
    CHECK((umlauts.back() == '\xb6' &&
           (static_cast<unsigned char>(umlauts[umlauts.find_last_of(' ') + 1]) & 0xc0U) != 0x80U));
}

} // namespace safe_list_test
