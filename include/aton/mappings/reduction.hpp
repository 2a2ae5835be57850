// SPDX-License-Identifier: MIT
// Reductions: aten's sum, mean, prod, max and min with indices, all, any ... as ONNX's Reduce operators.
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// A dtype that ONNX's reductions support: int64 for bools and for integers below 32 bits.
inline dtype reducible(dtype t) { return is_floating(t) || bits(t) >= 32 ? t : dtype::int64; }

/// The axis of an `int dim`; no axis for a 0-d tensor.
inline safe_vector<std::int64_t> axis_of(std::int64_t dim, value x) {
    std::int64_t const axis = normalize_axis(dim, x.rank());
    return x.rank() == 0 ? safe_vector<std::int64_t>{} : safe_vector<std::int64_t>{axis};
}

/// 0, 1, ..., rank - 1 except `axis`.
inline safe_vector<std::int64_t> all_but(std::int64_t axis, std::int64_t rank) {
    safe_vector<std::int64_t> axes;
    for (std::int64_t i = 0; i < rank; ++i)
        if (i != axis) axes.push_back(i);
    return axes;
}

/// The axis of an `int? dim`; all axes if it is None.
inline safe_vector<std::int64_t> axis_or_all(std::optional<std::int64_t> dim, value x) {
    return dim ? axis_of(*dim, x) : iota(x.rank());
}

/// Add, Sub and Mul of operands of one dtype; below opset 14, integers below 32 bits as int32, with the same bits.
template <fixed_string Op>
value arithmetic(graph<7> g, value a, value b) {
    dtype const type = a.dtype();
    if (type == dtype::bool_) {
        if constexpr (Op.view() == "Mul") return g.op<"And">(a, b);
        if constexpr (Op.view() == "Add") return g.op<"Or">(a, b);
    }
    dtype const wide = g.opset() < 14 && is_integral(type) && bits(type) < 32 ? dtype::int32 : type;
    return g.cast(g.op<Op>(g.cast(a, wide), g.cast(b, wide)), type);
}

/// x in a dtype that Where, LessOrEqual and GreaterOrEqual support: bfloat16 only since opset 16.
inline value selectable(graph<7> g, value x) {
    return g.cast(x, x.dtype() == dtype::bfloat16 && g.opset() < 16 ? dtype::float32 : x.dtype());
}

/// x with 0 in place of NaN.
inline value without_nan(graph<9> g, value x) {
    return is_floating(x.dtype()) ? choose(g, is_nan(g, x), g.scalar_like(0, x), x) : x;
}

/// NaN where x contains NaN along the axes, 0 elsewhere.
inline value nan_along(graph<9> g, value x, axis_list axes, bool keepdim) {
    return reduce_sum(g, choose(g, is_nan(g, x), x, g.scalar_like(0, x)), axes, keepdim);
}

} // namespace detail

/// The number of elements of x along the axes as a 0-d value, a constant if the sizes are static.
inline value count_along(graph<7> g, value x, axis_list axes, dtype type) {
    checked_int n = 1;
    bool is_static = true;
    for (std::int64_t a : axes) {
        is_static = is_static && x.size(a).is_static();
        if (is_static) n = n * x.size(a).size();
    }
    if (is_static) return g.scalar(std::int64_t{n}, type);
    value const sizes = g.op<"Gather">(g.op<"Shape">(x), g.ints(axes), attr::axis_i(0));
    return g.cast(reduce<"ReduceProd">(g, sizes, std::array<std::int64_t, 1>{0}, false), type);
}

/// aten::sum over normalized axes. Integers and bools are summed in int64 unless `type` is given.
inline value sum(graph<7> g, value x, axis_list axes, bool keepdim, std::optional<dtype> type = {}) {
    dtype const out = type.value_or(to_accumulating(x.dtype()));
    value const y = g.cast(g.cast(x, out), detail::reducible(out));
    return g.cast(reduce_sum(g, y, axes, keepdim), out);
}

/// aten::mean over normalized axes. NaN for zero elements, for which ONNX's ReduceMean is undefined (ONNX Runtime gives 0).
inline value mean(graph<7> g, value x, axis_list axes, bool keepdim, std::optional<dtype> type = {}) {
    dtype const out = type.value_or(x.dtype());
    if (g.context().may_be_empty && is_computed_along(x, axes)) {
        value const wide = g.cast(x, detail::opmath_type(out));
        value const n = count_along(g, x, axes, wide.dtype());
        return g.cast(g.op<"Div">(reduce_sum(g, wide, axes, keepdim), n), out);
    }
    value const y = g.cast(x, x.dtype() == out ? out : detail::opmath_type(out)); // one rounding
    if (!is_empty_along(y, axes)) return g.cast(reduce<"ReduceMean">(g, y, axes, keepdim), out);
    return g.op<"Mul">(g.cast(reduce_sum(g, y, axes, keepdim), out), std::numeric_limits<double>::quiet_NaN());
}

/// aten::all (ReduceMin) and aten::any (ReduceMax). The result is bool, except uint8 for uint8. The reduction is over
/// uint8 below opset 20, which does not support bools, and for tensors that may be empty: ONNX Runtime 1.31 refuses
/// empty bools, and the identities of uint8 are cast to the correct true and false.
template <fixed_string Reduce>
value reduce_bool(graph<7> g, value x, axis_list axes, bool keepdim) {
    dtype const out = x.dtype() == dtype::uint8 ? dtype::uint8 : dtype::bool_;
    value const truth = g.cast(x, dtype::bool_);
    if (axes.empty()) return g.cast(truth, out);
    if (g.opset() < 12) { // the number of true or false elements
        constexpr bool any = Reduce.view() == "ReduceMax";
        value const counted = g.cast(any ? truth : value(g.op<"Not">(truth)), dtype::int64);
        value const found = g.cast(reduce_sum(g, counted, axes, keepdim), dtype::bool_);
        return g.cast(any ? found : value(g.op<"Not">(found)), out);
    }
    bool const takes_bool = g.opset() >= 20 && x.shape().element_count_or(0) > 0;
    value const y = reduce<Reduce>(g, g.cast(truth, takes_bool ? dtype::bool_ : dtype::uint8), axes, keepdim);
    return g.cast(g.cast(y, dtype::bool_), out);
}

/// aten::amax (ReduceMax) and aten::amin (ReduceMin) over normalized axes. NaN propagates, which ONNX does not specify.
template <fixed_string Reduce>
value extreme(graph<9> g, value x, axis_list axes, bool keepdim) {
    if (axes.empty()) return x;
    if (x.dtype() == dtype::bool_) return reduce_bool<Reduce>(g, x, axes, keepdim);
    // Integers of 16 bits are never reduced, and those of 8 bits since opset 12.
    bool const is_narrow = is_integral(x.dtype()) && bits(x.dtype()) <= 16 && (bits(x.dtype()) == 16 || g.opset() < 12);
    dtype const type = is_narrow ? dtype::int32 : x.dtype();
    value const y = g.cast(reduce<Reduce>(g, g.cast(x, type), axes, keepdim), x.dtype());
    return watches_nan(g, x) ? g.op<"Add">(y, detail::nan_along(g, x, axes, keepdim)) : y;
}

namespace detail {

/// The index along an axis of the maximum (ArgMax) or minimum (ArgMin), or of the NaN that `nan_at` chooses, if any.
template <fixed_string Arg, class NanAt>
value arg_extreme_with(graph<9> g, value x, std::int64_t axis, bool keepdim, NanAt nan_at) {
    bool const narrow = x.dtype() == dtype::bool_ || (is_integral(x.dtype()) && bits(x.dtype()) < 32);
    value const index =
        g.op<Arg>(g.cast(x, narrow ? dtype::int32 : x.dtype()), attr::axis_i(axis), attr::keepdims_i(keepdim));
    if (!watches_nan(g, x)) return index;
    value const nan = g.cast(is_nan(g, x), g.opset() < 12 ? dtype::int32 : dtype::uint8);
    value const found = g.cast(reduce<"ReduceMax">(g, nan, std::array{axis}, keepdim), dtype::bool_);
    return g.op<"Where">(found, nan_at(nan), index);
}

} // namespace detail

/// The index along an axis of the first maximum (ArgMax) or minimum (ArgMin), or of the first NaN, if any.
template <fixed_string Arg>
value arg_extreme(graph<9> g, value x, std::int64_t axis, bool keepdim) {
    return detail::arg_extreme_with<Arg>(g, x, axis, keepdim, [&](value nan) -> value {
        return g.op<"ArgMax">(nan, attr::axis_i(axis), attr::keepdims_i(keepdim));
    });
}
/// The elements of x at `index`, whose size along the axis is 1, and the index; both keep the axis if `keepdim`.
inline std::tuple<value, value> gathered(graph<9> g, value x, value index, std::int64_t axis, bool keepdim) {
    value const y = elements_at(g, x, index, axis);
    if (keepdim) return {y, index};
    return {squeeze(g, y, axis), squeeze(g, index, axis)};
}

namespace detail {

using int_list_or_none = std::optional<safe_span<std::int64_t const>>;

template <fixed_string Reduce>
inline constexpr auto extreme_all =
    [](graph<9> g, value self) { return extreme<Reduce>(g, self, iota(self.rank()), false); };
template <fixed_string Reduce>
inline constexpr auto extreme_dims = [](graph<9> g, value self, safe_span<std::int64_t const> dim, bool keepdim) {
    return extreme<Reduce>(g, self, axes_or_all(dim, self), keepdim);
};
template <fixed_string Arg>
inline constexpr auto extreme_dim =
    [](graph<9> g, value self, std::int64_t dim, bool keepdim) -> std::tuple<value, value> {
    if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
    std::int64_t const axis = normalize_axis(dim, self.rank());
    if (watches_nan(g, self)) return gathered(g, self, arg_extreme<Arg>(g, self, axis, true), axis, keepdim);
    constexpr auto reduced = Arg.view() == "ArgMax" ? extreme<"ReduceMax"> : extreme<"ReduceMin">;
    return {reduced(g, self, std::array{axis}, keepdim), arg_extreme<Arg>(g, self, axis, keepdim)};
};
template <fixed_string Arg>
inline constexpr auto arg_row = [](graph<9> g, value self, std::optional<std::int64_t> dim, bool keepdim) -> value {
    if (dim && self.rank() != 0) return arg_extreme<Arg>(g, self, normalize_axis(*dim, self.rank()), keepdim);
    value const index = arg_extreme<Arg>(g, g.op<"Reshape">(self, g.ints({-1})), 0, false);
    return keepdim && self.rank() != 0
               ? g.op<"Reshape">(index, g.ints(safe_vector<std::int64_t>(self.shape().rank(), 1)))
               : index;
};
template <fixed_string Reduce>
inline constexpr auto bool_all =
    [](graph<7> g, value self) { return reduce_bool<Reduce>(g, self, iota(self.rank()), false); };
template <fixed_string Reduce>
inline constexpr auto bool_dim = [](graph<7> g, value self, std::int64_t dim, bool keepdim) {
    return reduce_bool<Reduce>(g, self, axis_of(dim, self), keepdim);
};
template <fixed_string Reduce>
inline constexpr auto bool_dims = [](graph<7> g, value self, int_list_or_none dim, bool keepdim) {
    return reduce_bool<Reduce>(g, self, axes_or_all(dim, self), keepdim);
};

inline value count_nonzero_of(graph<7> g, value x, axis_list axes) {
    return reduce_sum(g, g.cast(g.cast(x, dtype::bool_), dtype::int64), axes, false);
}

inline constexpr auto sum_row =
    symbolic<"aten::sum(self, dtype)">([](graph<7> g, value self, std::optional<dtype> type) {
        return sum(g, self, iota(self.rank()), false, type);
    }).by_parts<"self">();

inline constexpr auto sum_dims =
    symbolic<"aten::sum.dim_IntList(self, dim, keepdim, dtype)">([](graph<7> g, value self, int_list_or_none dim,
                                                                    bool keepdim, std::optional<dtype> type) {
        return sum(g, self, axes_or_all(dim, self), keepdim, type);
    }).by_parts<"self">();

/// Whether sum_to_size sums a dimension. If its new size is computed, the recorded result says whether it changes.
inline bool sums_to_one(graph<7> g, dim const& from, sym_int to, std::int64_t axis) {
    if (to.is_constant()) return to.is(1) && !from.is(1);
    auto const& expected = g.context().expected;
    dim const recorded = expected.empty() ? dim() : expected[0].shape[static_cast<std::size_t>(axis)];
    if (recorded.same_as(from)) return false;
    if (!recorded.is(1)) throw unsupported_error("a computed size, which may be 1 or the size of self");
    return true;
}

/// Sums the leading dimensions that `size` does not have, and those whose size is 1 in `size`.
inline constexpr auto sum_to_size =
    symbolic<"aten::sum_to_size(self, size)">([](graph<7> g, value self, safe_span<size const> size) -> value {
        std::int64_t const lead = self.rank() - static_cast<std::int64_t>(size.size());
        safe_vector<std::int64_t> axes = iota(lead);
        for (std::int64_t i = 0; i != self.rank() - lead; ++i) {
            if (sums_to_one(g, self.size(lead + i), size[static_cast<std::size_t>(i)], i)) axes.push_back(lead + i);
        }
        if (!size.empty() && axes.empty()) return self;
        value const y = sum(g, self, axes, static_cast<std::int64_t>(axes.size()) != lead);
        return y.rank() == self.rank() - lead ? y : squeeze(g, y, iota(lead));
    }).by_parts<"self">();

/// ATen divides the sum by a complex number, whose imaginary part of 0 is a factor of the other part.
inline value complex_mean(graph<7> g, complex_value z, safe_span<std::int64_t const> axes, bool keepdim,
                          std::optional<dtype> type) {
    if (type && !is_complex(*type)) return g.unsupported("a mean of complex numbers as " + std::string(name(*type)));
    complex_value const x = g.cast(z, type.value_or(z.dtype()));
    value const re = mean(g, g.real(x), axes, keepdim);
    value const im = mean(g, g.imag(x), axes, keepdim);
    return g.to_value(g.complex(g.op<"Add">(re, g.op<"Mul">(im, 0)), g.op<"Sub">(im, g.op<"Mul">(re, 0))));
}
inline constexpr auto mean_row =
    symbolic<"aten::mean(self, dtype)">([](graph<7> g, value self, std::optional<dtype> type) {
        return mean(g, self, iota(self.rank()), false, type);
    }).for_complex([](graph<7> g, complex_value self, std::optional<dtype> type) {
        return complex_mean(g, self, iota(self.rank()), false, type);
    });
inline constexpr auto mean_dims =
    symbolic<"aten::mean.dim(self, dim, keepdim, dtype)">([](graph<7> g, value self, int_list_or_none dim, bool keepdim,
                                                             std::optional<dtype> type) {
        return mean(g, self, axes_or_all(dim, self), keepdim, type);
    }).for_complex([](graph<7> g, complex_value self, int_list_or_none dim, bool keepdim, std::optional<dtype> type) {
        return complex_mean(g, self, axes_or_all(dim, g.real(self)), keepdim, type);
    });

inline complex_value slice_of_complex(graph<7> g, complex_value const& z, std::int64_t axis, std::int64_t start,
                                      std::int64_t end) {
    auto const part = [&](value x) -> value {
        return slice(g, x, safe_span(&start, 1), safe_span(&end, 1), safe_span(&axis, 1));
    };
    return g.complex(part(g.real(z)), part(g.imag(z)));
}
inline complex_value join_complex(graph<7> g, complex_value const& a, complex_value const& b, std::int64_t axis) {
    auto const join = [&](value x, value y) -> value { return g.op<"Concat">(x, y, attr::axis_i(axis)); };
    return g.complex(join(g.real(a), g.real(b)), join(g.imag(a), g.imag(b)));
}
/// The number of factors of a product of complex numbers, which decides the number of nodes.
inline std::int64_t count_of_factors(dim const& size) {
    if (size.is_static()) return size.size();
    throw unsupported_error("a product of a computed number of complex numbers");
}
/// A complex tensor in the dtype of a call.
inline complex_value in_complex_dtype(graph<7> g, complex_value const& z, std::optional<dtype> type) {
    if (type && !is_complex(*type))
        throw unsupported_error("a conversion of complex numbers to " + std::string(name(*type)));
    return g.cast(z, type.value_or(z.dtype()));
}

/// The product along an axis, which is kept: one half times the other, until one number is left.
inline complex_value complex_product_along(graph<7> g, complex_value z, std::int64_t axis) {
    std::int64_t n = count_of_factors(g.real(z).size(axis));
    if (n == 0) {
        safe_vector<sym_int> sizes = g.sizes(g.real(z));
        sizes[static_cast<std::size_t>(axis)] = 1;
        dtype const type = part_type(z.dtype());
        return g.complex(filled(g, sizes, 1, type), filled(g, sizes, 0, type));
    }
    while (n > 1) {
        std::int64_t const half = n / 2;
        complex_value const product =
            multiply_complex(g, {slice_of_complex(g, z, axis, 0, half), slice_of_complex(g, z, axis, half, 2 * half)});
        z = n % 2 == 0 ? product : join_complex(g, product, slice_of_complex(g, z, axis, n - 1, n), axis);
        n -= half;
    }
    return z;
}

inline constexpr auto complex_prod_dim = [](graph<7> g, complex_value self, std::int64_t dim, bool keepdim,
                                            std::optional<dtype> type) -> complex_value {
    complex_value const z = in_complex_dtype(g, self, type);
    if (z.rank() == 0) return z;
    std::int64_t const axis = normalize_axis(dim, z.rank());
    complex_value const y = complex_product_along(g, z, axis);
    return keepdim ? y : g.complex(squeeze(g, g.real(y), axis), squeeze(g, g.imag(y), axis));
};

inline constexpr auto prod_dim =
    symbolic<"aten::prod.dim_int(self, dim, keepdim, dtype)">([](graph<7> g, value self, std::int64_t dim, bool keepdim,
                                                                 std::optional<dtype> type) {
        dtype const out = type.value_or(to_accumulating(self.dtype()));
        return g.cast(reduce<"ReduceProd">(g, g.cast(g.cast(self, out), reducible(out)), axis_of(dim, self), keepdim),
                      out);
    }).for_complex(complex_prod_dim);
inline constexpr auto complex_prod = [](graph<7> g, complex_value self, std::optional<dtype> type) -> complex_value {
    auto const flat = [&](value x) -> value { return g.op<"Reshape">(x, g.ints({-1})); };
    return complex_prod_dim(g, g.complex(flat(g.real(self)), flat(g.imag(self))), 0, false, type);
};

inline constexpr auto prod =
    symbolic<"aten::prod(self, dtype)">([](graph<7> g, value self, std::optional<dtype> type) {
        dtype const out = type.value_or(to_accumulating(self.dtype()));
        return g.cast(reduce<"ReduceProd">(g, g.cast(g.cast(self, out), reducible(out)), iota(self.rank()), false),
                      out);
    }).for_complex(complex_prod);

inline constexpr auto nansum = symbolic<"aten::nansum(self, dim, keepdim, dtype)">(
    [](graph<9> g, value self, int_list_or_none dim, bool keepdim, std::optional<dtype> type) {
        return sum(g, without_nan(g, self), axes_or_all(dim, self), keepdim, type);
    });

inline constexpr auto nanmean = symbolic<"aten::nanmean(self, dim, keepdim, dtype)">(
    [](graph<9> g, value self, int_list_or_none dim, bool keepdim, std::optional<dtype> type) {
        safe_vector<std::int64_t> const axes = axes_or_all(dim, self);
        value const total = sum(g, without_nan(g, self), axes, keepdim, type);
        value const numbers = g.op<"Not">(is_nan(g, self));
        return g.op<"Div">(total, g.cast(reduce_sum(g, g.cast(numbers, dtype::int64), axes, keepdim), total.dtype()));
    });

inline constexpr auto aminmax = symbolic<"aten::aminmax(self, dim, keepdim)">(
    [](graph<9> g, value self, std::optional<std::int64_t> dim, bool keepdim) -> std::tuple<value, value> {
        safe_vector<std::int64_t> const axes = axis_or_all(dim, self);
        return {extreme<"ReduceMin">(g, self, axes, keepdim), extreme<"ReduceMax">(g, self, axes, keepdim)};
    });

inline constexpr auto logsumexp = [](graph<7> g, value self, safe_span<std::int64_t const> dim, bool keepdim) {
    return reduce<"ReduceLogSumExp">(g, g.cast(self, to_floating(self.dtype())), axes_or_all(dim, self), keepdim);
};

inline constexpr auto count_nonzero = [](graph<7> g, value self, std::optional<std::int64_t> dim) {
    return count_nonzero_of(g, self, axis_or_all(dim, self));
};

inline constexpr auto count_nonzero_dims = [](graph<7> g, value self, safe_span<std::int64_t const> dim) {
    return count_nonzero_of(g, self, axes_or_all(dim, self));
};

} // namespace detail

inline constexpr auto reduction =
    table(detail::sum_row, detail::sum_dims, detail::sum_to_size, detail::mean_row, detail::mean_dims, detail::prod,
          detail::prod_dim, detail::nansum, detail::nanmean,
          symbolic<"aten::amax(self, dim, keepdim)">(detail::extreme_dims<"ReduceMax">),
          symbolic<"aten::amin(self, dim, keepdim)">(detail::extreme_dims<"ReduceMin">), detail::aminmax,
          symbolic<"aten::max(self)">(detail::extreme_all<"ReduceMax">),
          symbolic<"aten::min(self)">(detail::extreme_all<"ReduceMin">),
          symbolic<"aten::max.dim(self, dim, keepdim)">(detail::extreme_dim<"ArgMax">),
          symbolic<"aten::min.dim(self, dim, keepdim)">(detail::extreme_dim<"ArgMin">),
          symbolic<"aten::argmax(self, dim, keepdim)">(detail::arg_row<"ArgMax">),
          symbolic<"aten::argmin(self, dim, keepdim)">(detail::arg_row<"ArgMin">),
          symbolic<"aten::all(self)">(detail::bool_all<"ReduceMin">)
              .for_complex(detail::of_truth<detail::bool_all<"ReduceMin">>),
          symbolic<"aten::any(self)">(detail::bool_all<"ReduceMax">)
              .for_complex(detail::of_truth<detail::bool_all<"ReduceMax">>),
          symbolic<"aten::all.dim(self, dim, keepdim)">(detail::bool_dim<"ReduceMin">)
              .for_complex(detail::of_truth<detail::bool_dim<"ReduceMin">>),
          symbolic<"aten::any.dim(self, dim, keepdim)">(detail::bool_dim<"ReduceMax">)
              .for_complex(detail::of_truth<detail::bool_dim<"ReduceMax">>),
          symbolic<"aten::all.dims(self, dim, keepdim)">(detail::bool_dims<"ReduceMin">)
              .for_complex(detail::of_truth<detail::bool_dims<"ReduceMin">>),
          symbolic<"aten::any.dims(self, dim, keepdim)">(detail::bool_dims<"ReduceMax">)
              .for_complex(detail::of_truth<detail::bool_dims<"ReduceMax">>),
          symbolic<"aten::logsumexp(self, dim, keepdim)">(detail::logsumexp),
          symbolic<"aten::special_logsumexp(self, dim, keepdim)">(detail::logsumexp),
          symbolic<"aten::count_nonzero(self, dim)">(detail::count_nonzero)
              .for_complex(detail::of_truth<detail::count_nonzero>),
          symbolic<"aten::count_nonzero.dim_IntList(self, dim)">(detail::count_nonzero_dims)
              .for_complex(detail::of_truth<detail::count_nonzero_dims>));

} // namespace ATON_NAMESPACE::mappings
