// SPDX-License-Identifier: MIT
// Rows that are wrong for arguments that are infinite, NaN, or out of the dtype's range.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include <aton/mappings/activation.hpp>
#include <aton/mappings/binary_math.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/elementwise_unary.hpp>
#include <aton/mappings/normalization.hpp>

#include "planted.hpp"

namespace ATON_NAMESPACE::verify::traps {

namespace {

using namespace mappings;
namespace real = mappings::detail;

/// A number clamped to the dtype's range, as by a saturating conversion.
double saturated(double n, dtype t) {
    double const most = t == dtype::float16 ? 65504.0 : static_cast<double>(std::numeric_limits<float>::max());
    return t == dtype::float64 || std::isnan(n) ? n : std::clamp(n, -most, most);
}

constexpr auto nan_saturates = table(symbolic<"aten::nan_to_num(self, nan, posinf, neginf)">(
    [](graph<13> g, value x, std::optional<double> nan, std::optional<double> high, std::optional<double> low) {
        return real::nan_to_num(g, x, nan ? std::optional(saturated(*nan, x.dtype())) : nan, high, low);
    }));
constexpr auto infinite_bound_ignored = table(
    symbolic<"aten::hardtanh(self, min_val, max_val)">([](graph<13> g, value x, scalar low, scalar high) -> value {
        auto const finite = [](scalar s, double otherwise) { return std::isinf(s.to<double>()) ? otherwise : s; };
        return real::hardtanh(g, x, finite(low, -1), finite(high, 1));
    }));
constexpr auto threshold_of_nan = table(
    symbolic<"aten::threshold(self, threshold, value)">([](graph<13> g, value x, scalar limit, scalar other) -> value {
        return g.op<"Where">(g.op<"Not">(g.op<"Greater">(x, g.scalar_like(limit, x))), g.scalar_like(other, x), x);
    }));
constexpr auto factor_saturates = table(symbolic<"aten::addcmul(self, tensor1, tensor2, value)">(
    [](graph<13> g, value self, value a, value b, scalar by) -> value {
        dtype const t = promote(self, a, b);
        value const factor = g.scalar(std::isfinite(by.to<double>()) ? by : scalar(1.0), t);
        return g.op<"Add">(g.cast(self, t), g.op<"Mul">(g.op<"Mul">(g.cast(a, t), g.cast(b, t)), factor));
    }));
constexpr auto eps_never_zero = table(symbolic<"aten::rms_norm(input, normalized_shape, weight, eps)">(
    [](graph<13> g, value x, std::span<sym_int const> shape, optional_value weight, std::optional<double> eps) {
        double const e = eps.value_or(real::epsilon(x.dtype()));
        return real::composed_rms_norm(g, x, shape, weight, std::isinf(e) ? 1e-3 : e);
    }));

constexpr planted argument_rows[] = {
    {59, "nan_to_num by a number beyond float16", nan_saturates},
    {59, "hardtanh without infinite bounds", infinite_bound_ignored},
    {59, "threshold NaN replaces all", threshold_of_nan},
    {59, "addcmul without an infinite value", factor_saturates},
    {59, "rms_norm without an infinite eps", eps_never_zero},
};

} // namespace

std::span<planted const> argument_traps() { return argument_rows; }

} // namespace ATON_NAMESPACE::verify::traps
