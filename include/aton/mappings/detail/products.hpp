// SPDX-License-Identifier: MIT
// Products of matrices, scaled and added to a tensor.
// Internal header.
#pragma once

#include <cmath>
#include <utility>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

/// numpy's matmul. ONNX's MatMul does not support bools and integers below 32 bits; they are multiplied in int32.
inline value matmul(graph<7> g, value a, value b) {
    dtype const t = a.dtype();
    bool const narrow = t == dtype::bool_ || (is_integral(t) && bits(t) < 32);
    if (!narrow) return g.op<"MatMul">(a, b);
    return g.cast(g.op<"MatMul">(g.cast(a, dtype::int32), g.cast(b, dtype::int32)), t);
}

/// Swaps the last two dimensions of x.
inline value transpose_last(graph<7> g, value x) {
    safe_vector<std::int64_t> perm = iota(x.rank());
    std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return g.op<"Transpose">(x, attr::perm_i(perm));
}

namespace detail {

inline value scale_by(graph<7> g, value x, number factor) {
    if (factor == 1) return x;
    bool const fits_dtype = !is_floating(x.dtype()) || surely_fits(factor, x.dtype()); // if not, the product still may
    auto const scaled = [&](value v) -> value { return g.op<"Mul">(v, element(g, factor, v.dtype())); };
    return fits_dtype ? scaled(x) : in_opmath(g, x, scaled);
}

/// beta * self + alpha * product. If beta is 0, ATen ignores self, including NaN.
inline value scaled_sum(graph<9> g, value self, value product, number beta, number alpha) {
    if (product.dtype() == dtype::bool_) return beta == 0 ? product : g.op<"Or">(self, product);
    dtype const type = product.dtype();
    dtype const wide = opmath_type(type);
    if (wide != type && self.dtype() == type && beta != 0 && !(alpha == 1 && beta == 1)) {
        value const sum = scaled_sum(g, g.cast(self, wide), g.cast(product, wide), beta, alpha);
        return g.cast(sum, type); // which may fit even if alpha, beta or a scaled term does not
    }
    value const scaled = scale_by(g, product, alpha);
    if (beta == 0) return scaled;
    value addend = scale_by(g, self, beta);
    if (!beta.is_constant()) {
        value const zero = g.scalar_like(0, addend);
        addend = choose(g, is_equal(g, g.to_value(beta), 0), zero, addend);
    }
    return g.op<"Add">(addend, scaled);
}

/// beta * self + alpha * (a @ b). If alpha does not fit a 16-bit dtype, or is infinite, the product is not rounded to
/// the dtype before it is scaled.
inline value scaled_sum_of_product(graph<9> g, value self, value a, value b, number beta, number alpha) {
    dtype const type = a.dtype();
    bool const may_be_infinite = !alpha.is_constant() || !std::isfinite(alpha.constant<double>());
    bool const rounds_alike = bits(type) > 16 || (surely_fits(alpha, type) && !may_be_infinite);
    if (!is_floating(type) || rounds_alike) return scaled_sum(g, self, matmul(g, a, b), beta, alpha);
    dtype const wide = opmath_type(type);
    value const product = matmul(g, g.cast(a, wide), g.cast(b, wide));
    return g.cast(scaled_sum(g, g.cast(self, wide), product, beta, alpha), type);
}

/// Whether the product with `a` is ignored even if alpha makes it NaN: if it is a sum of no terms, and if alpha is 0,
/// as in BLAS, which ATen uses only for float32 and float64.
inline bool skips_product(value a, number const& alpha) {
    return is_empty(a) || // ONNX Runtime's Gemm then ignores beta
           (alpha == 0 && (a.dtype() == dtype::float32 || a.dtype() == dtype::float64));
}

} // namespace detail

} // namespace ATON_NAMESPACE::mappings
