// SPDX-License-Identifier: MIT
// Random numbers that the graph draws: uniform fractions and normal numbers, from which the random operators compute theirs.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Uniform in [0, 1), or normal with mean 0 and standard deviation 1.
enum class distribution : std::uint8_t { uniform, normal };

/// The dtype of the draws for results of a dtype: float64 for float64, otherwise float32, from which narrower results
/// are rounded.
inline dtype drawn_type(dtype t) { return t == dtype::float64 ? t : dtype::float32; }

/// As many random numbers as x has elements, of float32 or float64.
template <distribution D = distribution::uniform>
value draw(graph<7> g, value x, dtype type) {
    if (x.dtype() == dtype::bfloat16) x = g.cast(x, dtype::float32); // RandomUniformLike: from 22
    if constexpr (D == distribution::uniform) return g.op<"RandomUniformLike">(x, attr::dtype_i(type));
    else return g.op<"RandomNormalLike">(x, attr::dtype_i(type));
}

/// Random numbers of a shape, of float32 or float64.
template <distribution D = distribution::uniform>
value draw(graph<7> g, size_list sizes, dtype type) {
    expect_sizes(sizes);
    if (!all_constant(sizes) || sizes.empty()) return draw<D>(g, filled(g, sizes, 0, dtype::float32), type);
    safe_vector<std::int64_t> const shape = constants(sizes);
    if constexpr (D == distribution::uniform) return g.op<"RandomUniform">(attr::shape_i(shape), attr::dtype_i(type));
    else return g.op<"RandomNormal">(attr::shape_i(shape), attr::dtype_i(type));
}

inline void require_random_dtype(dtype type) {
    if (type != dtype::float16 && type != dtype::bfloat16 && type != dtype::float32 && type != dtype::float64)
        throw unsupported_error("random numbers of " + std::string(name(type)));
}

/// Uniform in [0, 1), of a shape or of the shape of a value, with as many bits as the dtype has, so that no number is
/// rounded to 1.
template <class Shape>
value fractions(graph<7> g, Shape const& shape, dtype type) {
    require_random_dtype(type);
    value const u = draw(g, shape, drawn_type(type));
    if (bits(type) > 16) return u;
    double const steps = type == dtype::float16 ? 0x1p11 : 0x1p8;
    value const step = g.cast(g.op<"Mul">(u, steps), dtype::int32);
    return g.cast(g.op<"Mul">(g.cast(step, dtype::float32), 1 / steps), type);
}

/// True for the elements that dropout keeps; one for each channel if `Channels`.
template <bool Channels>
value kept(graph<7> g, value x, double p) {
    value u;
    if constexpr (Channels) {
        safe_vector<sym_int> sizes = g.sizes(x);
        if (sizes.size() < 2) throw unsupported_error("the input has no channels");
        for (std::size_t i = 2; i != sizes.size(); ++i) sizes[i] = 1;
        u = draw(g, size_list(sizes), dtype::float32);
    } else {
        u = draw(g, x, dtype::float32);
    }
    return g.op<"Not">(is_less(g, u, p)); // GreaterOrEqual: of any dtype only since opset 16
}

/// Whether dropout returns x as it is.
inline bool keeps_all(value x, double p, bool train) {
    if (!(p >= 0 && p <= 1)) throw unsupported_error("p is not between 0 and 1");
    if (train && !exactly_equal(p, 0) && !is_floating(x.dtype()))
        throw unsupported_error("dropout of " + std::string(name(x.dtype())) + " in training");
    return !train || exactly_equal(p, 0) || is_empty(x);
}

/// x where the mask is true, scaled so that its mean is preserved.
inline value dropped(graph<7> g, value x, value mask, double p) {
    return g.op<"Mul">(g.op<"Mul">(x, g.cast(mask, x.dtype())), 1 / (1 - p));
}

template <bool Channels>
inline constexpr auto dropout = [](graph<7> g, value x, double p, bool train) -> value {
    if (keeps_all(x, p, train)) return x;
    if (exactly_equal(p, 1)) return g.op<"Mul">(x, 0);
    return dropped(g, x, kept<Channels>(g, x, p), p);
};

} // namespace detail

} // namespace ATON_NAMESPACE::mappings
