// SPDX-License-Identifier: MIT
// Number arguments of built-in rows are converted as in torch 2.13 (c10::Scalar::to, wrapped numbers), or refused where torch refuses them.
#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/mappings/activation.hpp>
#include <aton/mappings/creation.hpp>
#include <aton/mappings/selection.hpp>

using namespace aton::dsl;

namespace {

constexpr table_view tables[] = {aton::mappings::activation, aton::mappings::creation, aton::mappings::selection};

struct call {
    graph_data data;
    std::vector<result> results;

    /// Converts a call whose arguments are a tensor of three elements, and `rest`.
    call(std::string_view overload, dtype t, std::vector<argument> rest) {
        value const x(data, data.add_input("x", {t, aton::shape{3}}));
        std::vector<argument> arguments{argument::of_tensor(x)};
        for (argument& a : rest) arguments.push_back(std::move(a));
        entry const* const row = find(std::span<table_view const>(tables), overload, 18);
        REQUIRE(row != nullptr);
        results = convert(data, *row, 18, std::move(arguments));
    }
    /// The constant operand `i` of the node that computes the result.
    tensor const& constant(std::size_t i) const {
        auto const producer = static_cast<std::size_t>(data.values[results[0].single.id()].producer);
        return *data.constant(data.nodes[producer].inputs[i]);
    }
    scalar number() const { return results[0].single->constant().at(0); }
};

argument of(scalar n) { return argument::of_number(n); }
constexpr double infinity = std::numeric_limits<double>::infinity();

} // namespace

TEST_CASE("numbers are converted to elements as in c10::Scalar::to") {
    using aton::mappings::as_element;
    CHECK(as_element(2.7, dtype::int8) == scalar(2));
    CHECK(as_element(-2.7, dtype::int8) == scalar(-2));
    CHECK(as_element(-1, dtype::uint8) == scalar(255));
    CHECK(as_element(-255, dtype::uint8) == scalar(1));
    CHECK(as_element(-256, dtype::uint8) == scalar(-256)); // which g.scalar refuses, as ATen does
    CHECK(as_element(-1, dtype::int8) == scalar(-1));
    CHECK(as_element(2, dtype::bool_) == scalar(true));
    CHECK(as_element(0.5, dtype::bool_) == scalar(true));
    CHECK(as_element(1e30, dtype::int64) == scalar(1e30));
    CHECK(std::isnan(as_element(std::nan(""), dtype::int8).to<double>()));
    CHECK(as_element(0.5, dtype::float16) == scalar(0.5));
}

TEST_CASE("numbers are truncated, wrapped around and converted to bool as in ATen") {
    CHECK(call("aten::full_like", dtype::int8, {of(2.7)}).number() == scalar(2));
    CHECK(call("aten::full_like", dtype::uint8, {of(-1)}).number() == scalar(255));
    CHECK(call("aten::full_like", dtype::bool_, {of(2)}).number() == scalar(true));
    CHECK(call("aten::hardtanh", dtype::int8, {of(0), of(2.7)}).constant(2).at(0) == scalar(2));
    CHECK(call("aten::clamp", dtype::float16, {of(0), of(infinity)}).constant(2).at(0) == scalar(infinity));
}

TEST_CASE("numbers that ATen refuses are refused") {
    for (auto const& [t, n] : std::vector<std::pair<dtype, scalar>>{{dtype::int8, 1000},
                                                                    {dtype::uint8, 300},
                                                                    {dtype::uint8, -256},
                                                                    {dtype::int32, std::int64_t{1} << 40},
                                                                    {dtype::int8, std::nan("")},
                                                                    {dtype::float16, 70000},
                                                                    {dtype::float32, 1e300}}) {
        CAPTURE(name(t));
        CHECK_THROWS_AS(call("aten::full_like", t, {of(n)}), aton::unsupported_error);
        if (n == n) CHECK_THROWS_AS(call("aten::clamp", t, {of(0), of(n)}), aton::unsupported_error);
    }
}

TEST_CASE("half-precision tensors are compared with numbers in float32") {
    call const c("aten::threshold", dtype::float16, {of(70000), of(1)});
    bool found = false;
    for (aton::graph_node const& n : c.data.nodes)
        if (n.op == "LessOrEqual") found = c.data.constant(n.inputs[1])->at(0) == scalar(70000);
    CHECK(found);
}
