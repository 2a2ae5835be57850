// SPDX-License-Identifier: MIT
// Helpers of all mappings: constants of a given dtype, and axes.
// Internal header.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <aton/aten/promotion.hpp>
#include <aton/aton.hpp>

namespace ATON_NAMESPACE::mappings {

using namespace aton::dsl;
using aten::to_accumulating;
using aten::to_floating;

/// The parameter types of `int[]` and `SymInt[]`.
using int_list = safe_span<std::int64_t const>;
using axis_list = int_list;
using size_list = safe_span<sym_int const>;

/// The parameter type of `ScalarType?`.
using optional_dtype = std::optional<dtype>;

/// Converts a number to a dtype as c10::Scalar::to does: truncates to integers, maps nonzero to true, and wraps
/// negative integers around for unsigned dtypes. A result out of range is returned unchanged; g.scalar refuses it, as
/// ATen does.
inline scalar as_element(scalar n, dtype type) {
    if (type == dtype::bool_ && !n.is_complex()) return n.to<bool>();
    if (!is_integral(type) || n.is_complex()) return n;
    if (n.is_floating()) {
        scalar const whole = n.to_saturated<std::int64_t>();
        return std::abs(n.to<double>() - whole.to<double>()) < 1 ? whole : n; // NaN and numbers outside int64 stay
    }
    auto const i = n.to<std::int64_t>();
    std::int64_t const count = bits(type) < 63 ? std::int64_t{1} << bits(type) : 0;
    return is_unsigned_integral(type) && i < 0 && i > -count ? i + count : i;
}

/// A number of the program as a 0-d value: a constant, or a Cast of a number that the graph computes.
inline value element(graph<7> g, number const& n, dtype type) {
    return n.is_constant() ? g.scalar(as_element(n.constant(), type), type) : g.scalar(n, type);
}
/// A number converted as by as_element(); the graph converts one that it computes only where that changes its kind.
inline number converted(graph<7> g, number const& n, dtype type) {
    if (n.is_constant()) return as_element(n.constant(), type);
    return n.is_floating() && !is_floating(type) ? number(g.scalar(n, type)) : n;
}
/// A number of the program as a 1-d tensor with one element.
inline tensor one_element(scalar n, dtype type) {
    scalar const element = as_element(n, type);
    if (!fits(element, type)) dsl::detail::refuse_constant(element, type);
    tensor one{type, {1}, {}};
    one.append(element);
    return one;
}
/// A number as an operand beside a tensor: rounded to the dtype as in ATen, to infinity if it is out of range. Integers
/// do not wrap around.
inline value rounded_constant(graph<7> g, number const& n, dtype type) {
    if (!n.is_constant() || !is_floating(type) || !tensor::can_hold(type)) return g.scalar(n, type);
    return g.constant(scalar_tensor(n.constant(), type));
}
/// Whether a number is known to be in the range of a dtype. Only half-precision dtypes are narrower than the numbers
/// that graphs compute.
inline bool surely_fits(number const& n, dtype type) {
    if (n.is_constant()) return fits(n.constant(), type);
    return !is_floating(type) || bits(type) > 16;
}

/// `axis` as a number in [0, rank). As in ATen, a 0-d tensor counts as 1-d.
inline std::int64_t normalize_axis(std::int64_t axis, std::int64_t rank) {
    std::int64_t const n = rank == 0 ? 1 : rank;
    if (axis < -n || axis >= n)
        throw unsupported_error("dim " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
    return axis < 0 ? axis + n : axis;
}

inline safe_vector<std::int64_t> normalize_axes(safe_span<std::int64_t const> axes, std::int64_t rank) {
    safe_vector<std::int64_t> out;
    for (std::int64_t a : axes) out.push_back(normalize_axis(a, rank));
    return out;
}

/// 0, 1, ..., n - 1.
inline safe_vector<std::int64_t> iota(std::int64_t n) {
    budget::expect("a list", n);
    safe_vector<std::int64_t> out;
    for (std::int64_t i = 0; i < n; ++i) out.push_back(i);
    return out;
}

/// The normalized axes of an `int[]? dim`: all axes if it is None or empty.
inline safe_vector<std::int64_t> axes_or_all(std::optional<safe_span<std::int64_t const>> dim, value x) {
    if (!dim || dim->empty()) return iota(x.rank());
    return x.rank() == 0 ? safe_vector<std::int64_t>{} : normalize_axes(*dim, x.rank());
}

} // namespace ATON_NAMESPACE::mappings
