// SPDX-License-Identifier: MIT
// Vector and matrix norms, and renorm.
// Public header.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/rotations.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

/// aten::linalg_vector_norm over normalized axes, for every real order.
inline value vector_norm(graph<9> g, value x, double order, axis_list axes, bool keepdim,
                         std::optional<dtype> type = {}) {
    value const given = g.cast(x, type.value_or(x.dtype()));
    value const y = g.cast(given, detail::opmath_type(given.dtype()));
    auto const norm = [&]() -> value {
        if (exactly_equal(order, 0)) return reduce_sum(g, g.cast(g.cast(y, dtype::bool_), y.dtype()), axes, keepdim);
        if (axes.empty()) return g.op<"Abs">(y);
        if (exactly_equal(order, 2)) return reduce<"ReduceL2">(g, y, axes, keepdim);
        if (exactly_equal(order, 1)) return reduce<"ReduceL1">(g, y, axes, keepdim);
        value const size = g.op<"Abs">(y);
        if (std::isinf(order))
            return order > 0 ? extreme<"ReduceMax">(g, size, axes, keepdim)
                             : extreme<"ReduceMin">(g, size, axes, keepdim);
        if (!(order < 0) && is_empty_along(x, axes)) return reduce<"ReduceL1">(g, size, axes, keepdim); // 0
        return g.op<"Pow">(reduce_sum(g, g.op<"Pow">(size, rounded_constant(g, order, y.dtype())), axes, keepdim),
                           rounded_constant(g, 1.0 / order, y.dtype()));
    };
    return g.cast(norm(), given.dtype());
}

namespace detail {

/// Singular values of matrices over two axes, along the last dimension.
inline value spectrum_over(graph<9> g, value x, safe_vector<std::int64_t> const& axes) {
    if (g.opset() < 11) refuse_below(11, "a norm of singular values");
    return singular_values_of(g.within<11>(), move_axes(g, x, axes, safe_vector<std::int64_t>{-2, -1}));
}
/// A norm without the two reduced axes as one with them, if asked for.
inline value with_axes(graph<9> g, value norm, safe_vector<std::int64_t> const& axes, bool keepdim) {
    if (!keepdim) return norm;
    return unsqueeze(g, norm, safe_vector<std::int64_t>{std::min(axes[0], axes[1]), std::max(axes[0], axes[1])});
}

/// `Magnitudes`: x has those of complex numbers, which do not determine singular values.
template <bool Magnitudes>
value matrix_norm(graph<9> g, value x, double order, safe_vector<std::int64_t> axes, bool keepdim) {
    if (axes.size() != 2) return g.unsupported("a matrix norm over " + std::to_string(axes.size()) + " dimensions");
    bool const by_columns = exactly_equal(std::fabs(order), 1);
    if (exactly_equal(std::fabs(order), 2)) {
        if (Magnitudes) return g.unsupported("the matrix norm of order 2 or -2 of complex numbers");
        value const values = spectrum_over(g, x, axes);
        std::array const last{values.rank() - 1};
        if (values.size(-1).is(0))
            return order > 0 ? with_axes(g, reduce_sum(g, values, last, false), axes, keepdim)
                             : g.unsupported("a minimum over an empty dimension");
        return with_axes(g, select(g, values, -1, order > 0 ? 0 : -1), axes, keepdim);
    }
    if (!by_columns && !std::isinf(order)) return g.unsupported("a matrix norm of order " + std::to_string(order));
    std::int64_t const summed = by_columns ? axes[0] : axes[1];
    std::int64_t const other = by_columns ? axes[1] : axes[0];
    std::array const first{summed};
    std::array const second{keepdim || other < summed ? other : other - 1};
    value const sums = reduce<"ReduceL1">(g, x, first, keepdim);
    if (is_empty_along(sums, second)) // the maximum of zero sums is 0
        return order > 0 ? reduce_sum(g, sums, second, keepdim) : g.unsupported("a minimum over an empty dimension");
    return order > 0 ? extreme<"ReduceMax">(g, sums, second, keepdim) : extreme<"ReduceMin">(g, sums, second, keepdim);
}

/// The norm "fro" or "nuc".
template <bool Magnitudes>
value named_norm(graph<9> g, value x, std::string_view order, safe_vector<std::int64_t> const& axes, bool keepdim,
                 std::optional<dtype> type) {
    if (order == "fro") return vector_norm(g, x, 2, axes, keepdim, type);
    if (order != "nuc") return g.unsupported("matrix norm " + std::string(order));
    if (Magnitudes) return g.unsupported("the nuclear norm of complex numbers");
    if (axes.size() != 2) return g.unsupported("a matrix norm over " + std::to_string(axes.size()) + " dimensions");
    value const values = spectrum_over(g, g.cast(x, type.value_or(x.dtype())), axes);
    return with_axes(g, reduce_sum(g, values, std::array{values.rank() - 1}, false), axes, keepdim);
}

inline constexpr auto norm_over = [](graph<9> g, value self, std::optional<scalar> p, safe_span<std::int64_t const> dim,
                                     bool keepdim) {
    return vector_norm(g, self, p ? p->to<double>() : 2.0, axes_or_all(dim, self), keepdim);
};

inline constexpr auto linalg_vector_norm = [](graph<9> g, value self, double order, int_list_or_none dim, bool keepdim,
                                              std::optional<dtype> type) {
    return vector_norm(g, self, order, axes_or_all(dim, self), keepdim, type);
};

inline constexpr auto norm_of_all = [](graph<9> g, value self, double p) {
    return vector_norm(g, self, p, iota(self.rank()), false);
};

inline constexpr auto norm_over_in = symbolic<"aten::norm.ScalarOpt_dim_dtype(self, p, dim, keepdim, dtype)">(
    [](graph<9> g, value self, std::optional<scalar> p, safe_span<std::int64_t const> dim, bool keepdim, dtype type) {
        return norm_over(g, g.cast(self, type), p, dim, keepdim);
    });

inline constexpr auto norm_of_all_in = symbolic<"aten::norm.ScalarOpt_dtype(self, p, dtype)">(
    [](graph<9> g, value self, std::optional<scalar> p, dtype type) {
        return vector_norm(g, self, p ? p->to<double>() : 2.0, iota(self.rank()), false, type);
    });

inline constexpr auto frobenius_norm_dim = [](graph<9> g, value self, safe_span<std::int64_t const> dim, bool keepdim) {
    return vector_norm(g, self, 2, axes_or_all(dim, self), keepdim);
};

/// Without an order, the 2-norm of all elements; with one, a vector norm over one dimension or a matrix norm over two.
template <bool Magnitudes>
inline constexpr auto linalg_norm = [](graph<9> g, value self, std::optional<scalar> order, int_list_or_none dim,
                                       bool keepdim, std::optional<dtype> type) {
    safe_vector<std::int64_t> const axes = axes_or_all(dim, self);
    if (!order || axes.size() < 2) return vector_norm(g, self, order ? order->to<double>() : 2.0, axes, keepdim, type);
    return matrix_norm<Magnitudes>(g, g.cast(self, type.value_or(self.dtype())), order->to<double>(), axes, keepdim);
};

template <bool Magnitudes>
inline constexpr auto linalg_norm_named =
    [](graph<9> g, value self, std::string_view order, int_list_or_none dim, bool keepdim, std::optional<dtype> type) {
        return named_norm<Magnitudes>(g, self, order, axes_or_all(dim, self), keepdim, type);
    };

template <bool Magnitudes>
inline constexpr auto linalg_matrix_norm = [](graph<9> g, value self, double order, safe_span<std::int64_t const> dim,
                                              bool keepdim, std::optional<dtype> type) {
    return matrix_norm<Magnitudes>(
        g, g.cast(self, type.value_or(self.dtype())), order, axes_or_all(dim, self), keepdim);
};

template <bool Magnitudes>
inline constexpr auto linalg_matrix_norm_named = [](graph<9> g, value self, std::string_view order,
                                                    safe_span<std::int64_t const> dim, bool keepdim,
                                                    std::optional<dtype> type) {
    return named_norm<Magnitudes>(g, self, order, axes_or_all(dim, self), keepdim, type);
};

/// A norm of complex numbers, which is that of their magnitudes. `dtype` is a complex one.
template <auto Body, class Parameters = typename dsl::detail::body_traits<decltype(Body)>::parameters>
struct norm_of_magnitudes;
template <auto Body, class... More>
struct norm_of_magnitudes<Body, std::tuple<value, More...>> {
    value operator()(graph<9> g, complex_value z, More const&... more) const {
        dtype type = z.dtype();
        (take(type, more), ...);
        return Body(g, modulus(g, g.cast(z, type)), real_dtype(more)...);
    }

private:
    static void take(dtype& type, std::optional<dtype> given) {
        if (given && !is_complex(*given))
            throw unsupported_error("a norm of complex numbers as " + std::string(name(*given)));
        type = given.value_or(type);
    }
    static void take(dtype&, auto const&) {}
    static std::optional<dtype> real_dtype(std::optional<dtype> type) {
        return type ? std::optional(part_type(*type)) : std::nullopt;
    }
    static auto real_dtype(auto const& argument) { return argument; }
};
template <auto Body>
inline constexpr norm_of_magnitudes<Body> of_magnitudes{};

inline constexpr auto complex_dist = [](graph<9> g, complex_value self, complex_value other, double p) {
    value const distance = modulus(g, complex_sum<"Sub">(g, promoted(g, self, other), 1));
    return vector_norm(g, distance, p, iota(distance.rank()), false);
};

inline constexpr auto dist = symbolic<"aten::dist(self, other, p)">([](graph<9> g, value self, value other, double p) {
                                 dtype const type = promote(self, other);
                                 value const difference = g.op<"Sub">(g.cast(self, type), g.cast(other, type));
                                 return vector_norm(g, difference, p, iota(difference.rank()), false);
                             }).for_complex(complex_dist);

/// Slices along `dim` whose norm is above maxnorm are scaled down to it.
inline constexpr auto renorm = symbolic<"aten::renorm(self, p, dim, maxnorm)">(
    [](graph<9> g, value self, double p, std::int64_t dim, number maxnorm) {
        safe_vector<std::int64_t> const others = all_but(normalize_axis(dim, self.rank()), self.rank());
        value const x = g.cast(self, opmath_type(self.dtype()));
        value const size = vector_norm(g, x, p, others, true);
        value const limit = rounded_constant(g, maxnorm, x.dtype());
        value const factor = g.op<"Div">(limit, g.op<"Add">(size, 1e-7));
        value const scale = choose(g, is_greater(g, size, limit), factor, g.scalar_like(1, x));
        return g.cast(g.op<"Mul">(x, scale), self.dtype());
    });

} // namespace detail

inline constexpr auto norm = table(
    symbolic<"aten::linalg_vector_norm(self, ord, dim, keepdim, dtype)">(detail::linalg_vector_norm)
        .for_complex(detail::of_magnitudes<detail::linalg_vector_norm>),
    symbolic<"aten::norm.Scalar(self, p)">(detail::norm_of_all).for_complex(detail::of_magnitudes<detail::norm_of_all>),
    symbolic<"aten::norm.ScalarOpt_dim(self, p, dim, keepdim)">(detail::norm_over)
        .for_complex(detail::of_magnitudes<detail::norm_over>),
    detail::norm_over_in, detail::norm_of_all_in,
    symbolic<"aten::frobenius_norm.dim(self, dim, keepdim)">(detail::frobenius_norm_dim)
        .for_complex(detail::of_magnitudes<detail::frobenius_norm_dim>),
    symbolic<"aten::linalg_norm(self, ord, dim, keepdim, dtype)">(detail::linalg_norm<false>)
        .for_complex(detail::of_magnitudes<detail::linalg_norm<true>>),
    symbolic<"aten::linalg_norm.ord_str(self, ord, dim, keepdim, dtype)">(detail::linalg_norm_named<false>)
        .for_complex(detail::of_magnitudes<detail::linalg_norm_named<true>>),
    symbolic<"aten::linalg_matrix_norm(self, ord, dim, keepdim, dtype)">(detail::linalg_matrix_norm<false>)
        .for_complex(detail::of_magnitudes<detail::linalg_matrix_norm<true>>),
    symbolic<"aten::linalg_matrix_norm.str_ord(self, ord, dim, keepdim, dtype)">(
        detail::linalg_matrix_norm_named<false>)
        .for_complex(detail::of_magnitudes<detail::linalg_matrix_norm_named<true>>),
    detail::dist, detail::renorm);

} // namespace ATON_NAMESPACE::mappings
