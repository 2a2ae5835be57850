// SPDX-License-Identifier: MIT
// Which results are right although they differ from ATen's: those of float64 where ATen's dtype overflows or cancels.
#include "verify/expectation.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <aton/mappings/built_in.hpp>
#include <aton/verify/check.hpp>

namespace ATON_NAMESPACE::verify {

TEST_CASE("neither intermediate values beyond the dtype nor complex sums that cancel are a divergence") {
    check_options options;
    options.samples = 2;
    struct seeded {
        char const* overload;
        std::uint64_t seed;
    };
    for (seeded const& each :
         {seeded{"aten::cumulative_trapezoid.dx", 5116},      // 65500 + 5520 - inf
          seeded{"aten::cumulative_trapezoid.dx", 8007},      // -65531 is -inf or -65504
          seeded{"aten::qr", 9028},                           // the sign of a column whose pivot is 0 but for rounding
          seeded{"aten::instance_norm", 9173},                // planes of one element: x * a + (bias - x * a)
          seeded{"aten::linalg_pinv.atol_rtol_float", 9187},  // a condition of 1e10 in float64
          seeded{"aten::scaled_dot_product_attention", 9212}, // scores whose rounding * 1e5 decides
          seeded{"aten::mse_loss_backward", 5120},            // 1e-41 * (2 / 5) * inf
          seeded{"aten::linalg_matrix_rank.tol_tensor", 5124},
          seeded{"aten::sum.dim_IntList", 5129}, // 3e38 - 3e38
          seeded{"aten::sum.dim_IntList", 5161}}) {
        options.only = each.overload;
        options.seed = each.seed;
        for (dsl::table_view const& table : mappings::built_in_tables()) {
            report const r = check(table, options);
            CHECK_MESSAGE(r.passed(), r.to_text());
        }
    }
}

TEST_CASE("where ATen's result is NaN or infinite, that of float64 is right as well, and no other") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    auto const of = [](double x, dtype type) {
        aton::tensor t{type, {2}, {}};
        t.append(x);
        t.append(1.5);
        return std::vector<runtime::value>{runtime::value(runtime::tensor::from_constant(t))};
    };
    auto const passes = [&](double got, double expected, double exact, dtype type = dtype::bfloat16) {
        expectation e;
        e.results = of(expected, type);
        e.terms = {1};
        e.bounds_of = [] { return std::vector<element_bounds>(); };
        e.exact_of = [&] { return of(exact, dtype::float64); };
        return describe_difference(of(got, type), e).empty();
    };
    CHECK(passes(-inf, std::nan(""), -inf));
    CHECK(passes(3, inf, 3));
    CHECK(passes(std::nan(""), inf, std::nan("")));
    CHECK_FALSE(passes(inf, std::nan(""), -inf));
    CHECK_FALSE(passes(3, inf, 4));
    CHECK_FALSE(passes(inf, 3, inf)); // only the row overflows
    CHECK_FALSE(passes(4, 3, 4));

    constexpr double largest = 65504; // of float16
    CHECK(passes(-largest, -inf, -65531, dtype::float16));
    CHECK(passes(-inf, -largest, -65500, dtype::float16));
    CHECK_FALSE(passes(largest, -inf, -65531, dtype::float16));
    CHECK_FALSE(passes(-largest, -inf, -66000, dtype::float16)); // not for rounding alone
    CHECK_FALSE(passes(-inf, -65000, -65000, dtype::float16));
    CHECK_FALSE(passes(65000, inf, 65531, dtype::float16));
}

} // namespace ATON_NAMESPACE::verify
