// SPDX-License-Identifier: MIT
// Statistics along axes: aten's var, std, median, mode and quantile.
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>

#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/detail/moments.hpp>
#include <aton/mappings/diagonals.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/sorting.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The results of var, std (`Root`), var_mean and std_mean (`WithMean`).
template <bool Root, bool WithMean>
auto spread(graph<7> g, value x, int_list_or_none dim, double correction, bool keepdim) {
    moments const m = variance_and_mean(g, x, axes_or_all(dim, x), correction, keepdim);
    value const y = g.cast(Root ? value(g.op<"Sqrt">(m.variance)) : m.variance, x.dtype());
    if constexpr (WithMean) {
        return std::tuple<value, value>{y, m.mean};
    } else {
        return y;
    }
}

template <bool Root, bool WithMean>
inline constexpr auto spread_all = [](graph<7> g, value self, bool unbiased) {
    return spread<Root, WithMean>(g, self, std::nullopt, unbiased ? 1 : 0, false);
};

template <bool Root, bool WithMean>
inline constexpr auto spread_dim = [](graph<7> g, value self, int_list_or_none dim, bool unbiased, bool keepdim) {
    return spread<Root, WithMean>(g, self, dim, unbiased ? 1 : 0, keepdim);
};

template <bool Root, bool WithMean>
inline constexpr auto spread_correction =
    [](graph<7> g, value self, int_list_or_none dim, std::optional<scalar> correction, bool keepdim) {
        return spread<Root, WithMean>(g, self, dim, correction ? correction->to<double>() : 1.0, keepdim);
    };

/// The variance of complex numbers is the sum of those of their parts.
template <bool Root, bool WithMean>
auto complex_spread(graph<7> g, complex_value z, int_list_or_none dim, double correction, bool keepdim) {
    safe_vector<std::int64_t> const axes = axes_or_all(dim, g.real(z));
    moments const re = variance_and_mean(g, g.real(z), axes, correction, keepdim);
    moments const im = variance_and_mean(g, g.imag(z), axes, correction, keepdim);
    value const sum = g.op<"Add">(re.variance, im.variance);
    value const y = g.cast(Root ? value(g.op<"Sqrt">(sum)) : sum, part_type(z.dtype()));
    if constexpr (WithMean) {
        return std::tuple<value, value>{y, g.to_value(g.complex(re.mean, im.mean))};
    } else {
        return y;
    }
}
template <bool Root, bool WithMean>
inline constexpr auto complex_spread_all = [](graph<7> g, complex_value self, bool unbiased) {
    return complex_spread<Root, WithMean>(g, self, std::nullopt, unbiased ? 1 : 0, false);
};
template <bool Root, bool WithMean>
inline constexpr auto complex_spread_dim =
    [](graph<7> g, complex_value self, int_list_or_none dim, bool unbiased, bool keepdim) {
        return complex_spread<Root, WithMean>(g, self, dim, unbiased ? 1 : 0, keepdim);
    };
template <bool Root, bool WithMean>
inline constexpr auto complex_spread_correction =
    [](graph<7> g, complex_value self, int_list_or_none dim, std::optional<scalar> correction, bool keepdim) {
        return complex_spread<Root, WithMean>(g, self, dim, correction ? correction->to<double>() : 1.0, keepdim);
    };

/// The sums of products of centered rows, which become covariances when they are divided by `norm`.
struct covariances {
    value products; ///< [rows, rows]
    value norm;
    dtype type;
};
inline covariances covariances_of(graph<7> g, value self, std::int64_t correction, optional_value fweights,
                                  optional_value aweights) {
    if (self.rank() > 2) throw unsupported_error("covariances of a tensor with more than 2 dimensions");
    if (self.dtype() == dtype::bool_) throw unsupported_error("covariances of bools");
    dtype type = to_floating(self.dtype());
    for (optional_value const& w : {fweights, aweights})
        if (w) type = aten::promote_types(type, w->dtype());
    value const x = self.rank() == 2 ? self : reshape(g, self, {1, element_count(g, self)});
    dtype const wide = opmath_type(type);
    auto const flat_weights = [&](value w) { return g.cast(reshape(g, w, {g.size(x, 1)}), wide); };
    optional_value weight;
    if (fweights) weight = flat_weights(*fweights);
    if (aweights) weight = weight ? value(g.op<"Mul">(*weight, flat_weights(*aweights))) : flat_weights(*aweights);
    safe_vector<std::int64_t> const first = {0};
    safe_vector<std::int64_t> const along = {1};
    value const v = g.cast(g.cast(x, opmath_type(to_floating(x.dtype()))), wide);
    value const total = weight ? reduce_sum(g, *weight, first, false) : value(g.cast(g.to_value(g.size(x, 1)), wide));
    auto const weighted = [&](value y) { return weight ? value(g.op<"Mul">(y, *weight)) : y; };
    bool const exact = is_integral(x.dtype()) && !weight;
    value const sum = exact ? value(g.cast(reduce_sum(g, g.cast(x, dtype::int64), along, true), wide))
                            : reduce_sum(g, weighted(v), along, true);
    value const centered = g.op<"Sub">(v, g.op<"Div">(sum, total));
    value less = g.scalar(correction, wide);
    if (aweights && correction != 0) {
        value const squares = reduce_sum(g, g.op<"Mul">(*weight, flat_weights(*aweights)), first, false);
        less = g.op<"Div">(g.op<"Mul">(squares, correction), total);
    }
    return {g.op<"MatMul">(centered, g.op<"Transpose">(weighted(centered))), g.op<"Sub">(total, less), type};
}

/// The covariances, rounded to their dtype.
inline value rounded_covariances(graph<7> g, covariances const& c) {
    value const norm = max_of(g, c.norm, g.scalar_like(0, c.norm));
    return g.cast(g.op<"Div">(c.products, norm), c.type);
}

/// The covariances of the rows of a matrix, or the variance of a vector, 0-d.
inline constexpr auto covariance = symbolic<"aten::cov(self, correction, fweights, aweights)">(
    [](graph<7> g, value self, std::int64_t correction, optional_value fweights, optional_value aweights) -> value {
        value const y = rounded_covariances(g, covariances_of(g, self, correction, fweights, aweights));
        return y.size(0) == dim(1) ? reshape(g, y, safe_vector<sym_int>{}) : y;
    });
/// The products of centered rows, divided by the roots of those of each row with itself. In half precision, covariances
/// are rounded first: those that are too small are 0.
inline constexpr auto correlation = symbolic<"aten::corrcoef(self)">([](graph<7> g, value self) -> value {
    covariances const c = covariances_of(g, self, 1, std::nullopt, std::nullopt);
    value const y = bits(c.type) < 32 ? value(g.cast(rounded_covariances(g, c), opmath_type(c.type))) : c.products;
    if (y.size(0) == dim(1)) return g.cast(reshape(g, g.op<"Div">(y, y), safe_vector<sym_int>{}), c.type); // 1 or NaN
    value const deviations = g.op<"Sqrt">(diagonal_of(g, y, 0, 0, 1));
    value const r = g.op<"Div">(g.op<"Div">(y, unsqueeze(g, deviations, 1)), deviations);
    return g.cast(clip(g, r, g.scalar_like(-1, r), g.scalar_like(1, r)), c.type);
});

/// The number of NaNs along the axis, which is kept.
inline value count_nan(graph<7> g, value x, std::int64_t axis) {
    return reduce_sum(g, g.cast(is_nan(g, x), dtype::int64), std::array{axis}, true);
}

/// floor((n - 1) / 2) for an int64 n >= 1.
inline value lower_middle(graph<7> g, value n) {
    value const one = g.scalar(1, dtype::int64);
    return g.op<"Div">(g.op<"Sub">(n, one), g.scalar(2, dtype::int64));
}

/// The index of the lower median along an axis, which is kept. If there are NaNs, which sort last, it is that of the
/// first NaN, or with `ignore_nan` the median of the other elements.
inline value median_index(graph<9> g, value x, std::int64_t axis, bool ignore_nan) {
    value const n = g.to_value(g.size(x, axis));
    value const sorted = sorted_indices(g, x, axis, false);
    if (!watches_nan(g, x)) {
        if (g.opset() >= 10) {
            value const start = g.op<"Reshape">(lower_middle(g, n), g.ints({1}));
            return g.within<10>().op<"Slice">(sorted, start, g.op<"Add">(start, g.ints({1})), g.ints({axis}));
        }
        sym_int const first = lower_middle(g, n);
        return slice(g, sorted, axis, first, first + 1);
    }
    value const nans = count_nan(g, x, axis);
    value const numbers = g.op<"Sub">(n, nans);
    value const none = g.scalar(0, dtype::int64);
    value const position = ignore_nan ? max_of(g, lower_middle(g, numbers), none)
                                      : g.op<"Where">(is_greater(g, nans, none), numbers, lower_middle(g, n));
    return elements_at(g, sorted, position, axis);
}

template <bool IgnoreNan>
inline constexpr auto median_dim =
    [](graph<9> g, value self, std::int64_t dim, bool keepdim) -> std::tuple<value, value> {
    if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
    std::int64_t const axis = normalize_axis(dim, self.rank());
    return gathered(g, self, median_index(g, self, axis, IgnoreNan), axis, keepdim);
};

/// The elements of a 1-d tensor, or a NaN if there are none.
inline value or_nan(graph<9> g, value x) {
    value const is_empty = g.op<"Equal">(g.to_value(g.size(x, 0)), g.scalar(0, dtype::int64));
    value const nan = unsqueeze(g, g.scalar(std::numeric_limits<double>::quiet_NaN(), x.dtype()), 0);
    return g.op<"Concat">(safe_vector<value>{x, slice(g, nan, 0, 0, g.cast(is_empty, dtype::int64))}, attr::axis_i(0));
}

template <bool IgnoreNan>
inline constexpr auto median_all = [](graph<9> g, value self) -> value {
    if (self.shape().element_count_or(-1) == 0) return g.scalar(std::numeric_limits<double>::quiet_NaN(), self.dtype());
    value flat = g.op<"Reshape">(self, g.ints({-1}));
    if (g.context().may_be_empty && is_floating(self.dtype())) flat = or_nan(g, flat);
    return std::get<0>(gathered(g, flat, median_index(g, flat, 0, IgnoreNan), 0, false));
};

/// The last index of the smallest of the most frequent values along an axis, which is kept. Compares all pairs.
inline value mode_index(graph<9> g, value x, std::int64_t axis) {
    prefixes const p = make_prefixes(g, x, axis);
    std::int64_t const last = x.rank();
    value const row = squeeze(g, p.row, -2);
    value const same = g.cast(is_equal(g, p.row, unsqueeze(g, row, -1)), dtype::int64);
    value const count = reduce_sum(g, same, std::array{last}, false);
    value const frequent = is_equal(g, count, reduce<"ReduceMax">(g, count, std::array{last - 1}, true));
    value const smallest = reduce<"ReduceMin">(
        g, choose(g, frequent, row, g.scalar_like(max_value(row.dtype()), row)), std::array{last - 1}, true);
    value const found = g.op<"Where">(is_equal(g, row, smallest), p.position, g.scalar(-1, dtype::int64));
    return permute(g, reduce<"ReduceMax">(g, found, std::array{last - 1}, true), inverse_permutation(p.order));
}

/// The indices in sorted order that a fractional rank interpolates between, and the weight of the upper one. `above`
/// and `weight` are unset if no interpolation is needed.
struct ranks {
    value below;
    value above;
    value weight;
};

inline ranks quantile_ranks(graph<7> g, value rank, std::string_view interpolation) {
    auto const index = [&](value r) { return g.cast(r, dtype::int64); };
    if (interpolation == "nearest") rank = round_to_even(g, rank); // half to even, in ATen and in ONNX
    if (interpolation == "higher") rank = g.op<"Ceil">(rank);
    value const below = g.op<"Floor">(rank);
    if (interpolation == "linear") return {index(below), index(g.op<"Ceil">(rank)), g.op<"Sub">(rank, below)};
    if (interpolation == "midpoint") return {index(below), index(g.op<"Ceil">(rank)), g.scalar_like(0.5, rank)};
    return {index(below), {}, {}};
}

/// aten::quantile, or nanquantile if `ignore_nan`. The dimension of a 1-d q comes first in the result.
inline value quantile_of(graph<9> g, value self, value q, std::optional<std::int64_t> dim, bool keepdim,
                         std::string_view interpolation, bool ignore_nan) {
    bool const whole = !dim || self.rank() == 0;
    value const x = whole ? flat(g, self) : self;
    std::int64_t const axis = whole ? 0 : normalize_axis(*dim, self.rank());
    std::int64_t const last = x.rank() - 1;
    value const moved = permute(g, x, move_to_end(axis, x.rank()));
    value const sorted = elements_at(g, moved, sorted_indices(g, moved, last, false), last);
    value const nans = count_nan(g, moved, last);
    value const n = g.to_value(g.size(moved, last));
    value const one = g.scalar(1, dtype::int64);
    value const points = flat(g, g.cast(q, x.dtype()));
    auto const scaled = [&](value count) { return g.op<"Mul">(points, g.cast(g.op<"Sub">(count, one), x.dtype())); };
    value const zero = g.scalar_like(0, x);
    value const rank =
        ignore_nan
            ? max_of(g, scaled(g.op<"Sub">(n, nans)), zero)
            : choose(
                  g, is_greater(g, nans, g.scalar(0, dtype::int64)), g.cast(g.op<"Sub">(n, one), x.dtype()), scaled(n));
    ranks const r = quantile_ranks(g, rank, interpolation);
    value y = elements_at(g, sorted, r.below, last);
    if (r.above.id() != no_value) {
        value const above = elements_at(g, sorted, r.above, last);
        y = lerp(g, y, above, r.weight); // NaN between an infinity and itself, as in ATen
    }
    safe_vector<std::int64_t> front = iota(last);
    front.insert(front.begin(), last);
    y = q.rank() == 0 ? squeeze(g, y, last) : permute(g, y, front);
    if (!keepdim || self.rank() == 0) return y;
    safe_vector<std::int64_t> kept = whole ? iota(self.rank()) : safe_vector{axis};
    for (std::int64_t& a : kept) a += q.rank();
    return unsqueeze(g, y, kept);
}

template <bool IgnoreNan>
inline constexpr auto quantile =
    [](graph<9> g, value self, value q, std::optional<std::int64_t> dim, bool keepdim, std::string_view interpolation) {
        return quantile_of(g, self, q, dim, keepdim, interpolation, IgnoreNan);
    };

template <bool IgnoreNan>
inline constexpr auto quantile_number = [](graph<9> g, value self, double q, std::optional<std::int64_t> dim,
                                           bool keepdim, std::string_view interpolation) {
    return quantile_of(g, self, g.scalar_like(q, self), dim, keepdim, interpolation, IgnoreNan);
};

inline constexpr auto mode_row = symbolic<"aten::mode(self, dim, keepdim)">(
    [](graph<9> g, value self, std::int64_t dim, bool keepdim) -> std::tuple<value, value> {
        if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
        std::int64_t const axis = normalize_axis(dim, self.rank());
        bool const narrow = self.dtype() == dtype::bool_ || (is_integral(self.dtype()) && bits(self.dtype()) < 32);
        value const x = selectable(g, g.cast(self, narrow ? dtype::int32 : self.dtype()));
        return gathered(g, self, mode_index(g, x, axis), axis, keepdim);
    });

} // namespace detail

inline constexpr auto statistics =
    table(detail::covariance, detail::correlation,
          symbolic<"aten::var(self, unbiased)">(detail::spread_all<false, false>)
              .for_complex(detail::complex_spread_all<false, false>),
          symbolic<"aten::std(self, unbiased)">(detail::spread_all<true, false>)
              .for_complex(detail::complex_spread_all<true, false>),
          symbolic<"aten::var_mean(self, unbiased)">(detail::spread_all<false, true>)
              .for_complex(detail::complex_spread_all<false, true>),
          symbolic<"aten::std_mean(self, unbiased)">(detail::spread_all<true, true>)
              .for_complex(detail::complex_spread_all<true, true>),
          symbolic<"aten::var.dim(self, dim, unbiased, keepdim)">(detail::spread_dim<false, false>)
              .for_complex(detail::complex_spread_dim<false, false>),
          symbolic<"aten::std.dim(self, dim, unbiased, keepdim)">(detail::spread_dim<true, false>)
              .for_complex(detail::complex_spread_dim<true, false>),
          symbolic<"aten::var_mean.dim(self, dim, unbiased, keepdim)">(detail::spread_dim<false, true>)
              .for_complex(detail::complex_spread_dim<false, true>),
          symbolic<"aten::std_mean.dim(self, dim, unbiased, keepdim)">(detail::spread_dim<true, true>)
              .for_complex(detail::complex_spread_dim<true, true>),
          symbolic<"aten::var.correction(self, dim, correction, keepdim)">(detail::spread_correction<false, false>)
              .for_complex(detail::complex_spread_correction<false, false>),
          symbolic<"aten::std.correction(self, dim, correction, keepdim)">(detail::spread_correction<true, false>)
              .for_complex(detail::complex_spread_correction<true, false>),
          symbolic<"aten::var_mean.correction(self, dim, correction, keepdim)">(detail::spread_correction<false, true>)
              .for_complex(detail::complex_spread_correction<false, true>),
          symbolic<"aten::std_mean.correction(self, dim, correction, keepdim)">(detail::spread_correction<true, true>)
              .for_complex(detail::complex_spread_correction<true, true>),
          symbolic<"aten::median(self)">(detail::median_all<false>),
          symbolic<"aten::nanmedian(self)">(detail::median_all<true>),
          symbolic<"aten::median.dim(self, dim, keepdim)">(detail::median_dim<false>),
          symbolic<"aten::nanmedian.dim(self, dim, keepdim)">(detail::median_dim<true>), detail::mode_row,
          symbolic<"aten::quantile(self, q, dim, keepdim, interpolation)">(detail::quantile<false>),
          symbolic<"aten::nanquantile(self, q, dim, keepdim, interpolation)">(detail::quantile<true>),
          symbolic<"aten::quantile.scalar(self, q, dim, keepdim, interpolation)">(detail::quantile_number<false>),
          symbolic<"aten::nanquantile.scalar(self, q, dim, keepdim, interpolation)">(detail::quantile_number<true>));

} // namespace ATON_NAMESPACE::mappings
