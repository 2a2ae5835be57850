// SPDX-License-Identifier: MIT
// Conversions of dtype, and operators that are the identity in ONNX: aten's to, clone, contiguous, alias, copy, fill, item ...
// Public header.
#pragma once

#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Cast, which like ATen truncates floats to integers and maps nonzero to true. ONNX does not cast complex numbers.
inline constexpr auto convert = [](graph<13> g, value x, std::optional<dtype> type) -> value {
    if (!type || x.dtype() == *type) return x;
    if (is_complex(*type) || is_complex(x.dtype())) return g.unsupported("a conversion from or to complex numbers");
    return g.cast(x, *type);
};
template <dtype Target>
inline constexpr auto cast_to = [](graph<13> g, value x) -> value { return convert(g, x, Target); };

inline value expand_like(graph<13> g, value x, value target) {
    if (target.shape().is_static() && x.shape() == target.shape()) return x;
    value const sizes = target.shape().is_static() ? g.shape_of(target) : g.op<"Shape">(target);
    return g.op<"Expand">(x, sizes);
}

/// A 0-d tensor in the place of ATen's Scalar: float64, int64, bool or complex128.
inline constexpr auto as_scalar = [](graph<13> g, value x) -> value {
    for (dim const& d : x.shape().dims())
        if (d.is_static() && d.size() != 1) return g.unsupported("a tensor that does not have exactly one element");
    dtype const type = is_floating(x.dtype())   ? dtype::float64
                       : is_complex(x.dtype())  ? dtype::complex128
                       : is_integral(x.dtype()) ? dtype::int64
                                                : x.dtype();
    return convert(g, x.rank() == 0 ? x : squeeze(g, x, iota(x.rank())), type);
};

inline constexpr auto to_dtype = [](graph<13> g, value x, dtype type, bool) -> value { return convert(g, x, type); };

inline constexpr auto to_dtype_layout = [](graph<13> g, value x, std::optional<dtype> type, bool) -> value {
    return convert(g, x, type);
};

inline constexpr auto to_other = [](graph<13> g, value x, value other, bool) -> value {
    return convert(g, x, other.dtype());
};

inline constexpr auto type_as = [](graph<13> g, value x, value other) -> value { return convert(g, x, other.dtype()); };

inline constexpr auto copy_row = [](graph<13> g, value x, value source) -> value {
    return expand_like(g, convert(g, source, x.dtype()), x);
};

inline constexpr auto fill_row = [](graph<13> g, value x, number n) -> value {
    return filled_like(g, x, n, x.dtype());
};

inline constexpr auto zero_row = [](graph<13> g, value x) -> value { return filled_like(g, x, 0, x.dtype()); };

inline constexpr auto fill_tensor = [](graph<13> g, value x, value n) -> value {
    return expand_like(g, convert(g, n, x.dtype()), x);
};

inline constexpr auto scalar_tensor_row = [](graph<13> g, number n, std::optional<dtype> type) -> value {
    dtype const to = type.value_or(aten::default_dtype);
    return opmath_type(to) != to ? rounded_constant(g, n, to) : element(g, n, to); // ATen rounds to half precision
};

/// Checked by torch.export while tracing; it computes nothing.
inline constexpr auto assert_tensor_metadata = [](graph<13>, value, std::optional<safe_span<sym_int const>>,
                                                  std::optional<safe_span<sym_int const>>, std::optional<dtype>,
                                                  layout) {};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto conversion = table(
    symbolic<"aten::to.dtype(self, dtype, copy)">(detail::to_dtype),
    symbolic<"aten::to.device(self, dtype, copy)">(detail::to_dtype),
    symbolic<"aten::to.dtype_layout(self, dtype, copy)">(detail::to_dtype_layout),
    symbolic<"aten::to.other(self, other, copy)">(detail::to_other),
    symbolic<"aten::type_as(self, other)">(detail::type_as),
    symbolic<"aten::_to_copy(self, dtype)">(detail::convert),

    symbolic<"aten::_cast_Byte(self)">(detail::cast_to<dtype::uint8>),
    symbolic<"aten::_cast_Char(self)">(detail::cast_to<dtype::int8>),
    symbolic<"aten::_cast_Short(self)">(detail::cast_to<dtype::int16>),
    symbolic<"aten::_cast_Int(self)">(detail::cast_to<dtype::int32>),
    symbolic<"aten::_cast_Long(self)">(detail::cast_to<dtype::int64>),
    symbolic<"aten::_cast_Half(self)">(detail::cast_to<dtype::float16>),
    symbolic<"aten::_cast_Float(self)">(detail::cast_to<dtype::float32>),
    symbolic<"aten::_cast_Double(self)">(detail::cast_to<dtype::float64>),

    symbolic<"aten::clone(self)">(detail::unchanged),
    symbolic<"aten::contiguous(self)">(detail::unchanged),
    symbolic<"aten::alias(self)">(detail::unchanged),
    symbolic<"aten::alias_copy(self)">(detail::unchanged),
    symbolic<"aten::detach(self)">(detail::unchanged),
    symbolic<"aten::detach_copy(self)">(detail::unchanged),
    symbolic<"aten::lift(self)">(detail::unchanged),
    symbolic<"aten::lift_fresh(self)">(detail::unchanged),
    symbolic<"aten::lift_fresh_copy(self)">(detail::unchanged),
    symbolic<"aten::resolve_conj(self)">(detail::unchanged),
    symbolic<"aten::resolve_neg(self)">(detail::unchanged),
    symbolic<"aten::conj(self)">(detail::real_only),
    symbolic<"aten::_conj(self)">(detail::real_only),
    symbolic<"aten::_conj_copy(self)">(detail::real_only),
    symbolic<"aten::conj_physical(self)">(detail::real_only),
    symbolic<"aten::_conj_physical(self)">(detail::real_only),
    symbolic<"aten::real(self)">(detail::real_only),

    symbolic<"aten::copy(self, src)">(detail::copy_row),
    symbolic<"aten::fill.Scalar(self, value)">(detail::fill_row),
    symbolic<"aten::zero(self)">(detail::zero_row),
    symbolic<"aten::fill.Tensor(self, value)">(detail::fill_tensor),
    symbolic<"aten::scalar_tensor(s, dtype)">(detail::scalar_tensor_row),
    symbolic<"aten::item(self)">(detail::as_scalar),
    symbolic<"aten::_local_scalar_dense(self)">(detail::as_scalar),

    symbolic<"aten::_assert_tensor_metadata(a, size, stride, dtype, layout)">(detail::assert_tensor_metadata));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
