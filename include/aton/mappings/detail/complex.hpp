// SPDX-License-Identifier: MIT
// Helpers of operators on complex tensors: promoted operands, products, quotients, magnitudes and angles.
// Internal header.
#pragma once

#include <cmath>
#include <tuple>

#include <aton/mappings/binary_math.hpp>
#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Two operands converted to one complex dtype.
struct complex_operands {
    complex_value a;
    complex_value b;
};

inline complex_operands promoted(graph<7> g, complex_value const& a, complex_value const& b) {
    dtype const type = to_complex(promote(a.tensor(), b.tensor()));
    return {g.cast(a, type), g.cast(b, type)};
}

/// A number as an operand beside z, in the dtype of the result.
inline complex_operands promoted(graph<7> g, complex_value const& z, number const& n) {
    dtype const type = to_complex(promote(z.tensor(), n));
    return {g.cast(z, type), g.complex(n, type)};
}

/// The product of two complex tensors, of which `product` is the real, bilinear form.
template <class Product>
complex_value product_of_parts(graph<7> g, complex_operands const& o, Product const& product) {
    value const a = g.real(o.a);
    value const b = g.imag(o.a);
    value const c = g.real(o.b);
    value const d = g.imag(o.b);
    return g.complex(g.op<"Sub">(product(a, c), product(b, d)), g.op<"Add">(product(a, d), product(b, c)));
}

template <auto Product>
inline constexpr auto complex_product = [](graph<7> g, complex_value a, complex_value b) {
    return product_of_parts(g, promoted(g, a, b), [&](value x, value y) -> value { return Product(g, x, y); });
};

inline complex_value multiply_complex(graph<7> g, complex_operands const& o) {
    return product_of_parts(g, o, [&](value x, value y) -> value { return g.op<"Mul">(x, y); });
}

/// ATen multiplies by a real factor as by a complex number, whose imaginary part is 0.
inline complex_value scaled_complex(graph<7> g, complex_value const& z, number const& factor) {
    return factor == 1 ? z : multiply_complex(g, promoted(g, z, factor));
}

/// a + alpha * b, or with "Sub" a - alpha * b; for rsub, the operands are swapped.
template <fixed_string Op, bool Swapped = false>
complex_value complex_sum(graph<7> g, complex_operands const& o, number const& alpha) {
    complex_value const& first = Swapped ? o.b : o.a;
    complex_value const& second = Swapped ? o.a : o.b;
    complex_value const scaled = scaled_complex(g, second, alpha);
    return g.complex(g.op<Op>(g.real(first), g.real(scaled)), g.op<Op>(g.imag(first), g.imag(scaled)));
}
template <fixed_string Op, bool Swapped = false>
inline constexpr auto sum_of_complex = [](graph<7> g, complex_value a, complex_value b, number alpha) {
    return complex_sum<Op, Swapped>(g, promoted(g, a, b), alpha);
};
template <fixed_string Op, bool Swapped = false>
inline constexpr auto sum_of_complex_and_number = [](graph<7> g, complex_value z, number n, number alpha) {
    return complex_sum<Op, Swapped>(g, promoted(g, z, n), alpha);
};

/// Smith's algorithm, as in ATen: overflows only if the result does. A divisor of 0 divides each part.
inline complex_value divide_complex(graph<9> g, complex_operands const& o) {
    value const a = g.real(o.a);
    value const b = g.imag(o.a);
    value const c = g.real(o.b);
    value const d = g.imag(o.b);
    value const by_real = is_at_least(g, g.op<"Abs">(c), g.op<"Abs">(d));
    value const large = g.op<"Where">(by_real, c, d);
    value const small = g.op<"Where">(by_real, d, c);
    value const by_zero = is_equal(g, large, 0);
    value const ratio = g.op<"Div">(small, large);
    value const scale = g.op<"Where">(by_zero, g.scalar_like(0, c), g.op<"Add">(large, g.op<"Mul">(small, ratio)));
    auto const quotient = [&](value whole, value near_real, value near_imaginary) {
        value const scaled = g.op<"Where">(by_real, near_real, near_imaginary);
        return g.op<"Div">(g.op<"Where">(by_zero, whole, scaled), scale);
    };
    return g.complex(quotient(a, g.op<"Add">(a, g.op<"Mul">(b, ratio)), g.op<"Add">(g.op<"Mul">(a, ratio), b)),
                     quotient(b, g.op<"Sub">(b, g.op<"Mul">(a, ratio)), g.op<"Sub">(g.op<"Mul">(b, ratio), a)));
}

/// The body for two tensors, and for a tensor and a number.
template <auto Function>
inline constexpr auto of_complex =
    [](graph<9> g, complex_value a, complex_value b) { return Function(g, promoted(g, a, b)); };
template <auto Function>
inline constexpr auto of_complex_and_number =
    [](graph<7> g, complex_value z, number n) { return Function(g, promoted(g, z, n)); };

/// A body for reals, called with the real part: for sizes, and operators that drop the imaginary part.
template <auto Body, class Parameters = typename dsl::detail::body_traits<decltype(Body)>::parameters>
struct real_part_body;
template <auto Body, class... More>
struct real_part_body<Body, std::tuple<value, More...>> {
    auto operator()(graph<7> g, complex_value z, More const&... more) const { return Body(g, g.real(z), more...); }
};
template <auto Body>
inline constexpr real_part_body<Body> of_real_part{};

/// Whether a number is not 0.
inline value is_nonzero(graph<7> g, complex_value const& z) {
    return g.op<"Or">(g.cast(g.real(z), dtype::bool_), g.cast(g.imag(z), dtype::bool_));
}

/// A body for reals that only reads whether its first argument is 0, called with bools.
template <auto Body, class Parameters = typename dsl::detail::body_traits<decltype(Body)>::parameters>
struct truth_body;
template <auto Body, class... More>
struct truth_body<Body, std::tuple<value, More...>> {
    auto operator()(graph<9> g, complex_value z, More const&... more) const {
        return Body(g, is_nonzero(g, z), more...);
    }
};
template <auto Body>
inline constexpr truth_body<Body> of_truth{};

/// A body for reals whose result has the dtype of its first argument, called with the real and with the imaginary parts
/// of the first two.
template <auto Body, class Parameters = typename dsl::detail::body_traits<decltype(Body)>::parameters>
struct both_parts_body;
template <auto Body, class... More>
struct both_parts_body<Body, std::tuple<value, value, More...>> {
    complex_value operator()(typename dsl::detail::body_traits<decltype(Body)>::graph_type g, complex_value self,
                             complex_value other, More const&... more) const {
        if (!is_complex(self.tensor().dtype())) throw unsupported_error("a complex tensor beside one that is real");
        complex_value const same = g.cast(other, self.dtype());
        value const re = Body(g, g.real(self), g.real(same), more...);
        value const im = Body(g, g.imag(self), g.imag(same), more...);
        return g.complex(re, im);
    }
};
template <auto Body>
inline constexpr both_parts_body<Body> both_parts{};

inline constexpr auto conjugate = [](graph<7> g, complex_value z) {
    return g.complex(g.real(z), g.op<"Neg">(g.imag(z)));
};

inline constexpr auto modulus = [](graph<9> g, complex_value z) -> value {
    dtype const type = part_type(z.dtype());
    if (g.exact_nan() || z.is_pair() || type == dtype::float64) return hypot(g, g.real(z), g.imag(z));
    value const parts = g.cast(g.as_real(z), dtype_of_squares(type));
    return g.cast(reduce<"ReduceL2">(g, parts, safe_vector<std::int64_t>{parts.rank() - 1}, false), type);
};

inline constexpr auto phase = [](graph<9> g, complex_value z) -> value { return atan2(g, g.imag(z), g.real(z)); };

/// Division by a constant, for which the case of Smith's algorithm is known.
inline constexpr auto divide_complex_by_number = [](graph<9> g, complex_value z, number n) -> complex_value {
    complex_operands const o = promoted(g, z, n);
    if (!n.is_constant()) return divide_complex(g, o);
    value const a = g.real(o.a);
    value const b = g.imag(o.a);
    bool const in_double = opmath_type(a.dtype()) == dtype::float64;
    auto const rounded = [in_double](double x) { return in_double ? x : static_cast<double>(static_cast<float>(x)); };
    double const c = rounded(n.constant<double>());
    double const d = rounded(n.constant().imaginary());
    auto const times = [&](value x, double factor) -> value {
        return g.op<"Mul">(x, rounded_constant(g, factor, x.dtype()));
    };
    auto const over = [&](value x, double divisor) -> value {
        return g.op<"Div">(x, rounded_constant(g, divisor, x.dtype()));
    };
    bool const by_real = std::fabs(c) >= std::fabs(d); // false for NaN
    if (exactly_equal(by_real ? c : d, 0)) return g.complex(over(a, 0), over(b, 0));
    if (by_real) {
        double const ratio = d / c;
        double const scale = c + d * ratio;
        return g.complex(over(g.op<"Add">(a, times(b, ratio)), scale), over(g.op<"Sub">(b, times(a, ratio)), scale));
    }
    double const ratio = c / d;
    double const scale = d + c * ratio;
    return g.complex(over(g.op<"Add">(times(a, ratio), b), scale), over(g.op<"Sub">(times(b, ratio), a), scale));
};

/// Whether both parts are equal.
inline value equal_numbers(graph<7> g, complex_operands const& o) {
    return g.op<"And">(is_equal(g, g.real(o.a), g.real(o.b)), is_equal(g, g.imag(o.a), g.imag(o.b)));
}
inline value different_numbers(graph<7> g, complex_operands const& o) { return g.op<"Not">(equal_numbers(g, o)); }

} // namespace ATON_NAMESPACE::mappings::detail
