// SPDX-License-Identifier: MIT
// Conversions of dtype, and operators that are the identity in ONNX: aten's to, clone, contiguous, alias, copy, fill,
// item ...
// Public header.
#pragma once

#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Cast, which like ATen truncates floats to integers and maps nonzero to true.
inline constexpr auto convert =
    symbolic<"aten::_to_copy(self, dtype)">([](graph<7> g, value x, std::optional<dtype> type) -> value {
        if (!type || x.dtype() == *type) return x;
        if (!aten::overflows(*type) || g.opset() < 19) return g.cast(x, *type);
        return g.within<19>().op<"Cast">(x, attr::to_i(*type), attr::saturate_i(0));
    });
template <dtype Target>
inline constexpr auto cast_to = [](graph<7> g, value x) -> value { return convert(g, x, Target); };

inline value expand_like(graph<7> g, value x, value target) {
    if (target.shape().is_static() && x.shape() == target.shape()) return x;
    value const sizes = target.shape().is_static() ? g.shape_of(target) : g.op<"Shape">(target);
    return expand_by(g, x, sizes);
}

/// A tensor of one element as a 0-d tensor.
inline value only_element(graph<7> g, value x) {
    for (dim const& d : x.shape().dims())
        if (d.is_static() && d.size() != 1) throw unsupported_error("a tensor that does not have exactly one element");
    return x.rank() == 0 ? x : squeeze(g, x, iota(x.rank()));
}

/// A 0-d tensor in the place of ATen's Scalar: float64, int64 or bool.
inline constexpr auto as_scalar = [](graph<7> g, value x) -> value {
    dtype const type = is_floating(x.dtype()) ? dtype::float64 : is_integral(x.dtype()) ? dtype::int64 : x.dtype();
    return convert(g, only_element(g, x), type);
};

inline constexpr auto to_dtype = [](graph<7> g, value x, dtype type, bool) -> value { return convert(g, x, type); };

/// A conversion to a real dtype keeps the real part, but a complex number is true if either part is not 0.
inline constexpr auto complex_convert = [](graph<7> g, complex_value z, std::optional<dtype> type) -> value {
    dtype const to = type.value_or(z.tensor().dtype());
    if (is_complex(to)) return g.to_value(g.cast(z, to));
    if (to == dtype::bool_) return g.op<"Or">(convert(g, g.real(z), to), convert(g, g.imag(z), to));
    return convert(g, g.real(z), to);
};
template <dtype Target>
inline constexpr auto complex_cast_to =
    [](graph<7> g, complex_value z) -> value { return complex_convert(g, z, Target); };
inline constexpr auto complex_to_dtype = [](graph<7> g, complex_value z, dtype type, bool) -> value {
    return complex_convert(g, z, type);
};
inline constexpr auto to_dtype_layout =
    symbolic<"aten::to.dtype_layout(self, dtype, copy)">([](graph<7> g, value x, std::optional<dtype> type,
                                                            bool) -> value {
        return convert(g, x, type);
    }).for_complex([](graph<7> g, complex_value z, std::optional<dtype> type, bool) -> value {
        return complex_convert(g, z, type);
    });
inline constexpr auto to_other =
    symbolic<"aten::to.other(self, other, copy)">([](graph<7> g, value x, value other, bool) -> value {
        return convert(g, x, other.dtype());
    }).for_complex([](graph<7> g, complex_value z, complex_value other, bool) -> value {
        return complex_convert(g, z, other.tensor().dtype());
    });
inline constexpr auto type_as = symbolic<"aten::type_as(self, other)">([](graph<7> g, value x, value other) -> value {
                                    return convert(g, x, other.dtype());
                                }).for_complex([](graph<7> g, complex_value z, complex_value other) -> value {
    return complex_convert(g, z, other.tensor().dtype());
});

inline constexpr auto copy_row = [](graph<7> g, value x, value source) -> value {
    return expand_like(g, convert(g, source, x.dtype()), x);
};

inline constexpr auto fill_row = [](graph<7> g, value x, number n) -> value { return filled_like(g, x, n, x.dtype()); };

inline constexpr auto zero_row = symbolic<"aten::zero(self)">([](graph<7> g, value x) -> value {
                                     return filled_like(g, x, 0, x.dtype());
                                 }).by_parts<"self">();

inline constexpr auto fill_tensor = [](graph<7> g, value x, value n) -> value {
    return expand_like(g, convert(g, n, x.dtype()), x);
};

inline constexpr auto scalar_tensor_row = [](graph<7> g, number n, std::optional<dtype> type) -> value {
    dtype const to = type.value_or(aten::default_dtype);
    return opmath_type(to) != to ? rounded_constant(g, n, to) : element(g, n, to); // ATen rounds to half precision
};

constexpr bool is_signed(dtype t) { return is_floating(t) || is_complex(t) || is_signed_integral(t); }

/// A property of the dtype as a constant.
template <auto Property>
inline constexpr auto of_dtype =
    [](graph<7> g, value x) -> value { return g.scalar(Property(x.dtype()), dtype::bool_); };
template <auto Property>
inline constexpr auto of_complex_dtype =
    [](graph<7> g, complex_value z) -> value { return g.scalar(Property(z.tensor().dtype()), dtype::bool_); };

inline constexpr auto truth = symbolic<"aten::is_nonzero(self)">(
    [](graph<7> g, value x) -> value { return g.cast(only_element(g, x), dtype::bool_); });
inline constexpr auto complex_truth = [](graph<7> g, complex_value z) -> value {
    return g.op<"Or">(truth(g, g.real(z)), truth(g, g.imag(z)));
};

/// The number of a dtype in c10::ScalarType.
inline value scalar_type_number(graph<7> g, dtype type) {
    constexpr std::int64_t count = 16;
    for (std::int64_t n = 0; n != count; ++n)
        if (aten::scalar_type(n) == type) return g.scalar(n, dtype::int64);
    throw unsupported_error("the ScalarType of " + std::string(name(type)));
}
inline constexpr auto promoted_types =
    symbolic<"aten::promote_types(type1, type2)">([](graph<7> g, dtype type1, dtype type2) -> value {
        return scalar_type_number(g, aten::promote_types(type1, type2));
    });
inline constexpr auto result_type =
    symbolic<"aten::result_type.Tensor(tensor, other)">([](graph<7> g, value a, value b) -> value {
        return scalar_type_number(g, promote(a, b));
    }).for_complex([](graph<7> g, complex_value a, complex_value b) -> value {
        return scalar_type_number(g, promote(a.tensor(), b.tensor()));
    });

/// Checked by torch.export while tracing; it computes nothing.
inline constexpr auto assert_tensor_metadata =
    symbolic<"aten::_assert_tensor_metadata(a, size, stride, dtype, layout)">(
        [](graph<7>, value, std::optional<safe_span<sym_int const>>, std::optional<safe_span<sym_int const>>,
           std::optional<dtype>, layout) {})
        .by_parts<"a">();

} // namespace detail

inline constexpr auto conversion = table(
    symbolic<"aten::to.dtype(self, dtype, copy)">(detail::to_dtype).for_complex(detail::complex_to_dtype),
    symbolic<"aten::to.device(self, dtype, copy)">(detail::to_dtype).for_complex(detail::complex_to_dtype),
    detail::to_dtype_layout, detail::to_other, detail::type_as, detail::convert.for_complex(detail::complex_convert),

    symbolic<"aten::_cast_Byte(self)">(detail::cast_to<dtype::uint8>)
        .for_complex(detail::complex_cast_to<dtype::uint8>),
    symbolic<"aten::_cast_Char(self)">(detail::cast_to<dtype::int8>).for_complex(detail::complex_cast_to<dtype::int8>),
    symbolic<"aten::_cast_Short(self)">(detail::cast_to<dtype::int16>)
        .for_complex(detail::complex_cast_to<dtype::int16>),
    symbolic<"aten::_cast_Int(self)">(detail::cast_to<dtype::int32>).for_complex(detail::complex_cast_to<dtype::int32>),
    symbolic<"aten::_cast_Long(self)">(detail::cast_to<dtype::int64>)
        .for_complex(detail::complex_cast_to<dtype::int64>),
    symbolic<"aten::_cast_Half(self)">(detail::cast_to<dtype::float16>)
        .for_complex(detail::complex_cast_to<dtype::float16>),
    symbolic<"aten::_cast_Float(self)">(detail::cast_to<dtype::float32>)
        .for_complex(detail::complex_cast_to<dtype::float32>),
    symbolic<"aten::_cast_Double(self)">(detail::cast_to<dtype::float64>)
        .for_complex(detail::complex_cast_to<dtype::float64>),

    symbolic<"aten::clone(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::contiguous(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::alias(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::alias_copy(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::detach(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::detach_copy(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::lift(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::lift_fresh(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::lift_fresh_copy(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::resolve_conj(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::resolve_neg(self)">(detail::unchanged).by_parts<"self">(),
    symbolic<"aten::conj(self)">(detail::unchanged).for_complex(detail::conjugate),
    symbolic<"aten::_conj(self)">(detail::unchanged).for_complex(detail::conjugate),
    symbolic<"aten::_conj_copy(self)">(detail::unchanged).for_complex(detail::conjugate),
    symbolic<"aten::conj_physical(self)">(detail::unchanged).for_complex(detail::conjugate),
    symbolic<"aten::_conj_physical(self)">(detail::unchanged).for_complex(detail::conjugate),
    symbolic<"aten::real(self)">(detail::unchanged).for_complex(detail::of_real_part<detail::unchanged>),

    symbolic<"aten::copy(self, src)">(detail::copy_row).for_complex(detail::both_parts<detail::copy_row>),
    symbolic<"aten::fill.Scalar(self, value)">(detail::fill_row).by_parts<"self", "value">(), detail::zero_row,
    symbolic<"aten::fill.Tensor(self, value)">(detail::fill_tensor)
        .for_complex(detail::both_parts<detail::fill_tensor>),
    symbolic<"aten::scalar_tensor(s, dtype)">(detail::scalar_tensor_row).by_parts<"s">(),
    symbolic<"aten::item(self)">(detail::as_scalar).by_parts<"self">(),
    symbolic<"aten::_local_scalar_dense(self)">(detail::as_scalar).by_parts<"self">(),

    symbolic<"aten::is_floating_point(self)">(detail::of_dtype<is_floating>)
        .for_complex(detail::of_complex_dtype<is_floating>),
    symbolic<"aten::is_complex(self)">(detail::of_dtype<is_complex>).for_complex(detail::of_complex_dtype<is_complex>),
    symbolic<"aten::is_signed(self)">(detail::of_dtype<detail::is_signed>)
        .for_complex(detail::of_complex_dtype<detail::is_signed>),
    detail::truth.for_complex(detail::complex_truth), detail::promoted_types, detail::result_type,

    detail::assert_tensor_metadata);

} // namespace ATON_NAMESPACE::mappings
