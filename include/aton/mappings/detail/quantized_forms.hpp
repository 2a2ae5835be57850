// SPDX-License-Identifier: MIT
// Quantization and dequantization as operators of ONNX: QuantizeLinear and DequantizeLinear, or arithmetic.
// Internal header.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <aton/dsl/quantized_value.hpp>
#include <aton/ir/quantized.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The first opset whose QuantizeLinear and DequantizeLinear take numbers of this dtype with scales as in the scheme;
/// a high one: none.
inline int first_opset_of(quantization_scheme const& s) {
    constexpr int never = 1000;
    int const scale = s.scale.dtype() == dtype::float32 ? 10 : 19;
    int const axis = s.block != 0 ? 21 : std::max(scale, s.axis ? 13 : 10);
    switch (s.type) {
    case dtype::int8:
    case dtype::uint8: return axis;
    case dtype::int16:
    case dtype::uint16:
    case dtype::int4:
    case dtype::uint4: return 21;
    case dtype::float8_e4m3fn:
    case dtype::float8_e5m2: return std::max(axis, 19);
    default: return never;
    }
}
/// Whether the operators have this form of scales: one, or along an axis.
inline bool has_linear_scale(quantization_scheme const& s) {
    return s.axis || (s.scale.has_rank() && s.scale.rank() == 0);
}

/// Whether all elements of a constant are integers that `holds` accepts; false for what is not known.
template <class Holds>
bool holds_for_all(value v, Holds const& holds) {
    if (!v.is_constant() || !is_integral(v.dtype())) return false;
    tensor const& all = v.constant();
    for (std::size_t i = 0; i != static_cast<std::size_t>(all.element_count()); ++i)
        if (!holds(all.at(i).to<std::int64_t>())) return false;
    return true;
}

/// The zero points in the dtype of the numbers, and nothing if that may not hold them. It is always written: ONNX
/// Runtime 1.22 reads negative numbers without one as 0.
inline optional_value linear_zero_point(graph<11> g, quantization_scheme const& s) {
    if (!s.zero_point) {
        if (s.scale.has_rank() && s.scale.rank() == 0 && tensor::can_hold(s.type)) return value(g.scalar(0, s.type));
        if (!s.scale.shape().is_static() || !tensor::can_hold(s.type)) return absent;
        tensor zeros{s.type, {}, {}};
        for (dim const& d : s.scale.shape().dims()) zeros.sizes.push_back(d.size());
        for (std::int64_t i = zeros.element_count(); i > 0; --i) zeros.append(0);
        return value(g.constant(std::move(zeros)));
    }
    value const zero = *s.zero_point;
    if (zero.dtype() == s.type) return zero;
    auto const limits = quantized_ir::limits_of(s.type);
    if (!holds_for_all(zero, [&](std::int64_t n) { return limits.contain(n); })) return absent;
    tensor const& all = zero.constant();
    tensor narrow{s.type, all.sizes, {}};
    for (std::size_t i = 0; i != static_cast<std::size_t>(all.element_count()); ++i)
        narrow.append(all.at(i).to<std::int64_t>());
    return value(g.constant(std::move(narrow)));
}

/// A parameter as it broadcasts to a tensor, whose axis of blocks is split by split_blocks().
inline value spread_parameter(graph<11> g, value parameter, value x, quantization_scheme const& s) {
    if (s.block != 0) return unsqueeze(g, parameter, *s.axis + 1);
    if (!s.axis) return parameter;
    safe_vector<sym_int> sizes(static_cast<std::size_t>(x.rank()), 1);
    sizes[static_cast<std::size_t>(*s.axis)] = -1;
    return reshape(g, parameter, sizes);
}
/// (..., n, ...) as (..., n / block, block, ...).
inline value split_blocks(graph<11> g, value x, quantization_scheme const& s) {
    if (s.block == 0) return x;
    safe_vector<sym_int> sizes = g.sizes(x);
    auto const at = sizes.begin() + static_cast<std::ptrdiff_t>(*s.axis);
    *at = -1;
    sizes.insert(at + 1, s.block);
    return reshape(g, x, sizes);
}
inline value join_blocks(graph<11> g, value y, value x, quantization_scheme const& s) {
    return s.block == 0 ? y : reshape(g, y, g.sizes(x));
}

/// Whether a scale is a power of two, by which products and quotients are exact.
inline bool is_exact_scale(value scale) {
    if (!scale.is_constant() || scale.constant().element_count() != 1) return false;
    int exponent = 0;
    return exactly_equal(std::frexp(scale.constant<double>(), &exponent), 0.5) && std::abs(exponent) < 120;
}

/// round(x / scale) + zero_point within the range, as ATen computes it: x is multiplied by the inverse of the scale.
inline value quantize_by_arithmetic(graph<11> g, value x, quantization_scheme const& s) {
    auto const spread = [&](value p) { return spread_parameter(g, p, x, s); };
    value const inverse = s.inverse ? spread(*s.inverse) : value(g.op<"Reciprocal">(spread(s.scale)));
    value number = g.op<"Round">(g.op<"Mul">(split_blocks(g, x, s), inverse));
    if (s.zero_point) number = g.op<"Add">(number, g.cast(spread(*s.zero_point), dtype::float32));
    auto const limit = [&](std::int64_t n) { return rounded_constant(g, n, dtype::float32); };
    return join_blocks(g, g.cast(clip(g, number, limit(s.low), limit(s.high)), s.type), x, s);
}

/// QuantizeLinear, which divides by the scale; a range narrower than that of the dtype is a Clip of the integers,
/// behind which products are still fused. Nothing if the opset does not have it.
inline optional_value quantize_linearly(graph<11> g, value x, quantization_scheme const& s) {
    auto const limits = quantized_ir::limits_of(s.type);
    bool const is_whole = is_floating(s.type) || (s.low == limits.low && s.high == limits.high);
    bool const has_clip = g.opset() >= 12 && bits(s.type) == 8;
    if (g.opset() < first_opset_of(s) || !has_linear_scale(s) || (!is_whole && !has_clip)) return absent;
    optional_value const zero = linear_zero_point(g, s);
    if (!zero) return absent;
    value const numbers = [&]() -> value {
        if (!s.axis) return g.op<"QuantizeLinear">(x, s.scale, zero);
        if (s.block == 0) return g.within<13>().op<"QuantizeLinear">(x, s.scale, zero, attr::axis_i(*s.axis));
        return g.within<21>().op<"QuantizeLinear">(
            x, s.scale, zero, attr::axis_i(*s.axis), attr::block_size_i(s.block));
    }();
    return is_whole ? numbers : clip(g, numbers, g.scalar(s.low, s.type), g.scalar(s.high, s.type));
}

/// (number - zero_point) * scale in float32, rounded to the dtype of the scale. As in ATen, differences per channel are
/// those of integers.
inline value dequantize_by_arithmetic(graph<11> g, value numbers, quantization_scheme const& s) {
    auto const spread = [&](value p) { return spread_parameter(g, p, numbers, s); };
    value x = split_blocks(g, numbers, s);
    if (s.table) {
        x = g.op<"Gather">(*s.table, g.cast(x, dtype::int64));
    } else {
        bool const is_long = s.axis && bits(s.type) > 16 && (!s.zero_point || is_integral(s.zero_point->dtype()));
        dtype const wide = is_long ? dtype::int64 : dtype::float32;
        x = g.op<"Cast">(x, attr::to_i(wide)); // not g.cast, which computes constants: integers are smaller
        if (s.zero_point) x = g.op<"Sub">(x, g.cast(spread(*s.zero_point), wide));
        x = g.cast(x, dtype::float32);
    }
    value const y = g.op<"Mul">(x, g.cast(spread(s.scale), dtype::float32));
    return join_blocks(g, g.cast(y, s.scale.dtype()), numbers, s);
}

/// DequantizeLinear; nothing if the opset does not have it.
inline optional_value dequantize_linearly(graph<11> g, value numbers, quantization_scheme const& s) {
    if (s.table || !has_linear_scale(s)) return absent;
    bool const is_bias = s.type == dtype::int32 && g.opset() >= (s.axis ? 13 : 10) && s.block == 0 &&
                         (!s.zero_point || holds_for_all(*s.zero_point, [](std::int64_t n) { return n == 0; }));
    if (!is_bias && g.opset() < first_opset_of(s)) return absent;
    optional_value const zero = linear_zero_point(g, s);
    if (!zero) return absent;
    if (!s.axis) return value(g.op<"DequantizeLinear">(numbers, s.scale, zero));
    if (s.block == 0)
        return value(g.within<13>().op<"DequantizeLinear">(numbers, s.scale, zero, attr::axis_i(*s.axis)));
    return value(g.within<21>().op<"DequantizeLinear">(
        numbers, s.scale, zero, attr::axis_i(*s.axis), attr::block_size_i(s.block)));
}

/// The extremes of x along the axes, moved apart so that 0 is between them.
inline std::tuple<value, value> range_with_zero(graph<11> g, value x, axis_list axes, bool keepdim) {
    if (x.dtype() != dtype::float32) throw unsupported_error("the parameters of numbers that are not float32");
    value const zero = g.scalar_like(0, x);
    return {min_of(g, extreme<"ReduceMin">(g, x, axes, keepdim), zero),
            max_of(g, extreme<"ReduceMax">(g, x, axes, keepdim), zero)};
}

/// ChooseParameters as arithmetic.
inline chosen_parameters choose_by_arithmetic(graph<11> g, value x, std::int64_t low, std::int64_t high, double eps) {
    auto const [least, greatest] = range_with_zero(g, x, iota(x.rank()), false);
    double const steps = static_cast<double>(high) - static_cast<double>(low);
    value const span = g.op<"Div">(g.op<"Sub">(greatest, least), rounded_constant(g, steps, dtype::float32));
    value const scale = max_of(g, span, g.constant({eps}, dtype::float32, {1}));
    value const moved = g.cast(g.op<"Round">(g.op<"Div">(least, scale)), dtype::int32);
    value const zero = g.op<"Sub">(g.scalar(low, dtype::int64), g.cast(moved, dtype::int64));
    value const bounded = max_of(g, min_of(g, zero, g.scalar(high, dtype::int64)), g.scalar(low, dtype::int64));
    return {g.cast(scale, dtype::float64), bounded};
}

} // namespace ATON_NAMESPACE::mappings::detail
