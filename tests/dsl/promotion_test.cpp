// SPDX-License-Identifier: MIT
// promote, cast_like, scalar_like, shape_of: compared with torch.result_type for every pair of operands.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <aton/aton.hpp>

#include "recorded_promotion.hpp"

namespace promotion_test {

using namespace aton::dsl;

namespace {

constexpr std::size_t dtypes = std::size(promoted_dtypes);
constexpr std::size_t operands = std::size(promoted);
static_assert(operands == 2 * dtypes + 4 && promoted[0].size() == operands);

constexpr dtype number_dtypes[] = {dtype::bool_, dtype::int64, dtype::float64, dtype::complex128};

/// The operands of the record as values of a graph; numbers are wrapped ones.
struct fixture {
    graph_data data;
    graph<13> g{data, 17};
    std::vector<value> values;

    fixture() {
        for (std::size_t i = 0; i != operands; ++i) {
            bool const has_dims = i < dtypes;
            dtype const t = i < 2 * dtypes ? promoted_dtypes[i % dtypes] : number_dtypes[i - 2 * dtypes];
            aton::shape s = has_dims ? aton::shape{2} : aton::shape(std::vector<dim>());
            values.emplace_back(data, data.add_input("v" + std::to_string(i), {t, std::move(s)}));
            data.values[values.back().id()].wrapped_number = i >= 2 * dtypes;
        }
    }
};

dtype recorded(std::size_t a, std::size_t b) { return promoted_dtypes[static_cast<std::size_t>(promoted[a][b] - 'a')]; }

} // namespace

TEST_CASE("every pair of operands promotes as in torch") {
    fixture const f;
    for (std::size_t a = 0; a != operands; ++a)
        for (std::size_t b = 0; b != operands; ++b) {
            CAPTURE(a);
            CAPTURE(b);
            CHECK(promote(f.values[a], f.values[b]) == recorded(a, b));
            std::vector<value> const both{f.values[a], f.values[b]};
            CHECK(promote(both) == recorded(a, b));
        }
}

TEST_CASE("scalars promote like Python numbers") {
    fixture const f;
    scalar const numbers[] = {scalar(true), scalar(2), scalar(0.5), scalar::complex(0, 1)};
    for (std::size_t a = 0; a != operands; ++a)
        for (std::size_t n = 0; n != 4; ++n) {
            CAPTURE(a);
            CAPTURE(n);
            CHECK(promote(f.values[a], numbers[n]) == recorded(a, 2 * dtypes + n));
            CHECK(promote(numbers[n], f.values[a]) == recorded(2 * dtypes + n, a));
        }
}

TEST_CASE("three operands, and absent ones") {
    fixture f;
    auto const with_dims = [&](dtype t) {
        for (std::size_t i = 0; i != dtypes; ++i)
            if (promoted_dtypes[i] == t) return f.values[i];
        return value();
    };
    auto const of_none = [&](dtype t) {
        return value(f.data, with_dims(t).id() + static_cast<aton::value_id>(dtypes));
    };
    CHECK(promote(with_dims(dtype::uint8), of_none(dtype::int64), scalar(7)) == dtype::uint8);
    CHECK(promote(with_dims(dtype::uint8), with_dims(dtype::int8), of_none(dtype::float64)) == dtype::float64);
    CHECK(promote(with_dims(dtype::float16), with_dims(dtype::bfloat16), scalar(0.5)) == dtype::float32);
    CHECK(promote(optional_value(), with_dims(dtype::int16), optional_value(of_none(dtype::int32))) == dtype::int16);
    value const unknown(f.data, f.data.add_input("u", {dtype::float32, aton::shape()}));
    CHECK_THROWS_AS((void)promote(unknown, scalar(1)), unsupported_error);
}

TEST_CASE("a number becomes a constant of another value's dtype, and a value its dtype") {
    fixture f;
    value const h(f.data, f.data.add_input("h", {dtype::float16, aton::shape{3, 2}}));
    value const n(f.data, f.data.add_input("n", {dtype::int32, aton::shape{3}}));
    value const k = f.g.scalar_like(1.5, h);
    CHECK(k.dtype() == dtype::float16);
    CHECK(k.constant<double>() == 1.5);
    CHECK(k.rank() == 0);
    CHECK(f.g.scalar_like(-7, n).constant<int>() == -7);
    CHECK(f.g.cast_like(h, h).same_as(h));
    value const c = f.g.cast_like(n, h);
    CHECK(c.type() == value_type{dtype::float16, aton::shape{3}});
    CHECK(f.data.nodes.back().op == "Cast");
    CHECK(f.g.cast_like(f.g.scalar(2, dtype::int64), h).constant<double>() == 2.0); // a constant is converted at export
    value const unknown(f.data, f.data.add_input("u", value_type{}));
    (void)f.g.cast_like(n, unknown);
    CHECK(f.data.nodes.back().op == "CastLike");
    graph_data old;
    value const a(old, old.add_input("a", {dtype::float32, aton::shape{2}}));
    value const b(old, old.add_input("b", value_type{}));
    CHECK_THROWS_WITH_AS(
        (void)graph<13>(old, 14).cast_like(a, b), "a cast to an unknown dtype needs opset 15", unsupported_error);
}

TEST_CASE("a static shape is a constant") {
    fixture f;
    value const s(f.data, f.data.add_input("s", {dtype::float32, aton::shape{4, 0, 3}}));
    CHECK(f.g.shape_of(s).is_constant());
    CHECK(f.g.shape_of(s).constant().sizes == std::vector<std::int64_t>{3});
    CHECK(f.g.shape_of(f.g.scalar(1, dtype::float32)).constant().sizes == std::vector<std::int64_t>{0});
    value const d(f.data, f.data.add_input("d", {dtype::float32, aton::shape{4, dim("n"), 3}}));
    value const sizes = f.g.shape_of(d);
    CHECK(!sizes.is_constant());
    CHECK(sizes.type() == value_type{dtype::int64, aton::shape{3}});
    value const u(f.data, f.data.add_input("u", {dtype::float32, aton::shape()}));
    CHECK(f.g.shape_of(u).dtype() == dtype::int64);
    CHECK(f.data.nodes.back().op == "Shape");
}

} // namespace promotion_test
