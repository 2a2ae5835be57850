// SPDX-License-Identifier: MIT
// Compares elementary functions of float32 with those of double over all exponents, and tests conversion of float16 in
// both directions.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/kernels/cast.hpp"
#include <aton/runtime/kernels.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

/// The error of a result, in units of the last place of a float of its magnitude.
double units_away(float result, double exact) {
    if (std::isnan(exact) || std::isnan(result)) return std::isnan(exact) == std::isnan(result) ? 0 : INFINITY;
    auto const nearest = static_cast<float>(exact);
    if (nearest == 0 && result == 0) return std::signbit(exact) == std::signbit(result) ? 0 : INFINITY;
    if (std::isinf(nearest) || std::isinf(result)) {
        // Infinity represents the number after the maximum.
        auto const finite = [](double x) { return std::isinf(x) ? std::copysign(0x1p128, x) : x; };
        if (nearest == result) return 0;
        return std::abs(finite(double{result}) - finite(exact)) / 0x1p104;
    }
    int exponent = 0;
    (void)std::frexp(exact, &exponent);
    return std::abs(result - exact) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

struct exact_function {
    char const* name = "";
    unary_op op = unary_op::abs;
    double (*exact)(double) = nullptr;
    double most = 2; ///< units of the last place
};

/// Every 4099th float, and those around numbers where the formula changes.
std::vector<float> arguments() {
    std::vector<float> out;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32U; bits += 4099)
        out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    for (float at : {0.0F,
                     std::numeric_limits<float>::min(),
                     5e-8F,
                     0.5F,
                     0.625F,
                     0.92F,
                     1.0F,
                     2.0F,
                     3.95F,
                     17.3F,
                     88.72284F,
                     103.97F,
                     1e6F,
                     std::numeric_limits<float>::max(),
                     INFINITY})
        for (std::int32_t step = -100; step <= 100; ++step) {
            float const x = std::bit_cast<float>(std::bit_cast<std::int32_t>(at) + step);
            out.insert(out.end(), {x, -x});
        }
    return out;
}

} // namespace

TEST_CASE("functions of float32 are accurate to a few units of the last place") {
    std::vector<float> const at = arguments();
    tensor x = tensor::empty(dtype::float32, {static_cast<std::int64_t>(at.size())});
    std::copy(at.begin(), at.end(), x.data<float>());
    for (exact_function const& f : std::initializer_list<exact_function>{
             {"exp", unary_op::exp, std::exp},
             {"expm1", unary_op::expm1, std::expm1},
             {"log", unary_op::log, std::log},
             {"log2", unary_op::log2, std::log2},
             {"log10", unary_op::log10, std::log10},
             {"log1p", unary_op::log1p, std::log1p},
             {"tanh", unary_op::tanh, std::tanh},
             {"sigmoid",
              unary_op::sigmoid,
              [](double v) { return std::isinf(static_cast<float>(std::exp(-v))) ? 0 : 1 / (1 + std::exp(-v)); },
              3},
             {"erf", unary_op::erf, std::erf},
             {"sin", unary_op::sin, std::sin},
             {"cos", unary_op::cos, std::cos}}) {
        CAPTURE(std::string(f.name));
        tensor const y = cpu_kernels().unary(f.op, x);
        double worst = 0;
        float where = 0;
        for (std::size_t i = 0; i != at.size(); ++i) {
            double const units = units_away(y.data<float>()[i], f.exact(double{at[i]}));
            if (units > worst) {
                worst = units;
                where = at[i];
            }
        }
        CAPTURE(where);
        CHECK(worst <= f.most);
        // Single elements give the same results as vectors.
        tensor const alone = cpu_kernels().unary(f.op, x.sliced(0, 77, 1000, 131));
        bool same = true;
        for (std::int64_t i = 0; i != 1000; ++i) {
            float const a = alone.data<float>()[i];
            float const b = y.data<float>()[77 + 131 * i];
            same = same && (a == b || (std::isnan(a) && std::isnan(b)));
        }
        CHECK(same);
    }
}

TEST_CASE("vectorized conversions of float16 agree with its constructor") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits != 65536; ++bits) {
        float16 h;
        h.bits = static_cast<std::uint16_t>(bits);
        wrong +=
            std::bit_cast<std::uint32_t>(static_cast<float>(h)) == std::bit_cast<std::uint32_t>(kernels::widened(h))
                ? 0
                : 1;
    }
    for (float x : arguments()) wrong += float16(x).bits == kernels::narrowed(x).bits ? 0 : 1;
    CHECK(wrong == 0);
}

} // namespace ATON_NAMESPACE::runtime
