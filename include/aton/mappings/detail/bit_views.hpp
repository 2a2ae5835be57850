// SPDX-License-Identifier: MIT
// The same bytes as another dtype: of constants bit for bit, of integers by integer arithmetic, and since opset 26 by
// BitCast.
// Internal header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/operators.hpp>

namespace ATON_NAMESPACE::mappings::detail {

inline dtype signed_integer_of(int width) {
    return width == 8 ? dtype::int8 : width == 16 ? dtype::int16 : width == 32 ? dtype::int32 : dtype::int64;
}

inline value constant_viewed_as(graph<7> g, tensor x, dtype to) {
    if (bits(x.type) != bits(to)) {
        auto const width = [](dtype d) { return static_cast<std::int64_t>(bits(d)); };
        if (x.sizes.empty() || x.sizes.back() * width(x.type) % width(to) != 0)
            throw unsupported_error("a view as a dtype whose elements do not fit into the last dimension");
        x.sizes.back() = x.sizes.back() * width(x.type) / width(to);
    }
    x.type = to;
    if (to == dtype::bool_) // other bytes are not valid bools
        for (char& each : x.bytes) each = each == 0 ? '\0' : '\1';
    return g.constant(std::move(x));
}

/// The numbers of floating-point formats with these bits, int64, of which only the lowest `width` count. Every number
/// is exact; NaN has no payload.
inline value floats_of_bits(graph<10> g, value pattern, dtype to) {
    struct format {
        int significand;
        int exponent;
    };
    format const f = to == dtype::float64   ? format{52, 11}
                     : to == dtype::float32 ? format{23, 8}
                     : to == dtype::float16 ? format{10, 5}
                                            : format{7, 8};
    value negative, magnitude;
    if (to == dtype::float64) {
        negative = is_less(g, pattern, 0);
        magnitude = where(g, negative, g.op<"Sub">(pattern, std::numeric_limits<std::int64_t>::min()), pattern);
    } else {
        std::int64_t const sign = std::int64_t{1} << (f.significand + f.exponent);
        negative = is_at_least(g, g.op<"Mod">(pattern, g.scalar(2 * sign, dtype::int64)), sign);
        magnitude = g.op<"Mod">(pattern, g.scalar(sign, dtype::int64));
    }
    std::int64_t const unit = std::int64_t{1} << f.significand;
    value const exponent = g.op<"Div">(magnitude, unit);
    value const fraction = g.op<"Sub">(magnitude, g.op<"Mul">(exponent, unit));
    std::int64_t const exponents = std::int64_t{1} << f.exponent;
    tensor steps{dtype::float64, {exponents}, {}}; // the distance between numbers of each exponent
    for (std::int64_t e = 0; e != exponents; ++e) {
        int const power = static_cast<int>(e == 0 ? 1 : e) - static_cast<int>(exponents / 2 - 1) - f.significand;
        steps.append(e == exponents - 1 ? std::numeric_limits<double>::infinity() : std::ldexp(1.0, power));
    }
    value const is_small = is_less(g, exponent, 1);
    value const is_last = is_at_least(g, exponent, exponents - 1);
    value const whole = where(g, is_small, fraction, g.op<"Add">(fraction, unit));
    value const size =
        g.op<"Mul">(g.cast(whole, dtype::float64), gather_of(g, g.constant(std::move(steps)), exponent, 0));
    value const is_nan = g.op<"And">(is_last, is_greater(g, fraction, 0));
    value const number = where(g, is_nan, g.scalar(std::numeric_limits<double>::quiet_NaN(), dtype::float64), size);
    return g.cast(where(g, negative, g.op<"Neg">(number), number), to);
}

/// int64 numbers, of which only the lowest bits count, as elements of a dtype.
inline value elements_of_bits(graph<10> g, value pattern, dtype to) {
    if (to == dtype::bool_) return g.op<"Not">(is_equal(g, pattern, 0));
    if (!is_floating(to)) return g.cast(pattern, to);
    if (g.opset() < 26) return floats_of_bits(g, pattern, to);
    value const whole = g.cast(pattern, signed_integer_of(static_cast<int>(bits(to))));
    return g.within<26>().op<"BitCast">(whole, attr::to_i(to));
}

/// The bits of each element as int64.
inline value bits_of_elements(graph<10> g, value x) {
    if (!is_floating(x.dtype())) return g.cast(x, dtype::int64);
    if (g.opset() < 26) refuse_below(26, "a view of the bytes of computed floats");
    dtype const whole = signed_integer_of(static_cast<int>(bits(x.dtype())));
    return g.cast(g.within<26>().op<"BitCast">(x, attr::to_i(whole)), dtype::int64);
}

/// Each element as several smaller ones.
inline value split_bits(graph<10> g, value pattern, std::int64_t parts, std::int64_t width) {
    std::int64_t const unit = std::int64_t{1} << width;
    safe_vector<value> all;
    for (std::int64_t i = 0; i != parts; ++i) {
        value const low = g.op<"Mod">(pattern, g.scalar(unit, dtype::int64));
        if (i + 1 != parts) pattern = g.op<"Div">(g.op<"Sub">(pattern, low), unit);
        all.push_back(unsqueeze(g, low, pattern.rank()));
    }
    safe_vector<sym_int> to = g.sizes(pattern);
    to.back() = to.back() * parts;
    return reshape(g, g.op<"Concat">(all, attr::axis_i(pattern.rank())), to);
}

/// Several elements as one. The last has the sign, if there is one.
inline value join_bits(graph<10> g, value pattern, std::int64_t parts, std::int64_t width, bool has_sign) {
    std::int64_t const unit = std::int64_t{1} << width;
    safe_vector<sym_int> to = g.sizes(pattern);
    if (to.back().is_constant() && to.back().constant() % parts != 0)
        throw unsupported_error("a view as a dtype whose elements do not fit into the last dimension");
    to.back() = to.back() / parts;
    to.emplace_back(parts);
    value const rows = reshape(g, g.op<"Mod">(pattern, g.scalar(unit, dtype::int64)), to);
    value sum = gather_of(g, rows, g.scalar(0, dtype::int64), pattern.rank());
    for (std::int64_t i = 1; i != parts; ++i) {
        value part = gather_of(g, rows, g.scalar(i, dtype::int64), pattern.rank());
        if (i + 1 == parts && has_sign) part = where(g, is_at_least(g, part, unit / 2), g.op<"Sub">(part, unit), part);
        sum = g.op<"Add">(sum, g.op<"Mul">(part, std::int64_t{1} << (i * width)));
    }
    return sum;
}

inline value computed_viewed_as(graph<10> g, value x, dtype to) {
    auto const from = static_cast<std::int64_t>(bits(x.dtype()));
    auto const wanted = static_cast<std::int64_t>(bits(to));
    if (from < 8 || wanted < 8) return g.unsupported("a view of elements below 8 bits as another dtype");
    if (from != wanted && x.rank() == 0) return g.unsupported("a view of a 0-d tensor as a dtype of another size");
    value const pattern = bits_of_elements(g, x);
    if (from == wanted) return elements_of_bits(g, pattern, to);
    if (from > wanted) return elements_of_bits(g, split_bits(g, pattern, from / wanted, wanted), to);
    // floats_of_bits() reads the sign of the narrower floats from their highest bit.
    bool const has_sign = !is_floating(to) || wanted == 64 || g.opset() >= 26;
    return elements_of_bits(g, join_bits(g, pattern, wanted / from, from, has_sign), to);
}

inline value viewed_as(graph<7> g, value x, dtype to) {
    if (x.dtype() == to) return x;
    if (is_complex(to)) return g.unsupported("a view of real numbers as complex ones; use torch.view_as_complex");
    if (x.is_constant()) return constant_viewed_as(g, x.constant(), to);
    bool const same_size = bits(x.dtype()) == bits(to);
    bool const has_bool = x.dtype() == dtype::bool_ || to == dtype::bool_;
    bool const has_float = is_floating(x.dtype()) || is_floating(to);
    if (same_size && !has_float && (has_bool || g.opset() < 26)) return g.cast(x, to);
    if (same_size && !has_bool && g.opset() >= 26) return g.within<26>().op<"BitCast">(x, attr::to_i(to));
    if (g.opset() < 10) refuse_below(10, "a view of the same bytes as another dtype");
    return computed_viewed_as(g.within<10>(), x, to);
}

} // namespace ATON_NAMESPACE::mappings::detail
