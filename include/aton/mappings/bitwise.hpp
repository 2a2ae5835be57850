// SPDX-License-Identifier: MIT
// Bitwise operators and shifts: aten's bitwise_and, __or__, __lshift__ ..., also below opset 18, which added BitwiseAnd.
// Public header.
#pragma once

#include <aton/mappings/detail/binary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// 2^i for i < n as int64; 2^63 wraps to the minimum.
inline safe_vector<std::int64_t> powers_of_two(std::size_t n) {
    safe_vector<std::int64_t> out;
    for (std::size_t i = 0; i != n; ++i) out.push_back(static_cast<std::int64_t>(std::uint64_t{1} << i));
    return out;
}

/// The bits of an integer tensor as bools along a new last axis.
inline value bits_of(graph<11> g, value x, std::size_t width) {
    safe_vector<std::int64_t> const shifts = iota(static_cast<std::int64_t>(width));
    value const amounts = g.cast(g.ints(shifts), dtype::uint64);
    value const words = unsqueeze(g, g.cast(x, dtype::uint64), -1);
    value const shifted = g.op<"BitShift">(words, amounts, attr::direction_s("RIGHT"));
    return g.cast(remainder_of(g, shifted, g.scalar(2, dtype::uint64)), dtype::bool_);
}

/// The inverse of bits_of. A MatMul, because ONNX Runtime's ReduceSum of int64 sums in double.
inline value from_bits(graph<7> g, value bools, dtype type) {
    safe_vector<std::int64_t> weights = powers_of_two(bits(type));
    if (is_signed_integral(type) && bits(type) < 64) weights.back() = -weights.back();
    value const column = unsqueeze(g, g.ints(weights), 1);
    return g.cast(squeeze(g, g.op<"MatMul">(g.cast(bools, dtype::int64), column), -1), type);
}

/// `Bools` for bools, `Integers` for integers; below opset 18, integers are split into bits.
template <fixed_string Bools, fixed_string Integers>
value bitwise(graph<11> g, value a, value b) {
    auto const [x, y, type] = promoted(g, a, b);
    if (type == dtype::bool_) return g.op<Bools>(x, y);
    if (g.opset() >= 18) return g.within<18>().op<Integers>(x, y);
    if (!is_integral(type)) return g.unsupported("bitwise logic on " + std::string(name(type)));
    return from_bits(g, g.op<Bools>(bits_of(g, x, bits(type)), bits_of(g, y, bits(type))), type);
}
inline constexpr auto bitwise_and = bitwise<"And", "BitwiseAnd">;
inline constexpr auto bitwise_or = bitwise<"Or", "BitwiseOr">;
inline constexpr auto bitwise_xor = bitwise<"Xor", "BitwiseXor">;

/// The operands of a shift as int64, and the smallest amount that shifts all bits out.
struct shift_operands {
    value x;
    value amount;
    dtype type = dtype::undefined;
    std::int64_t limit = 0;
};
inline shift_operands shift(graph<7> g, value a, value b, bool keeps_sign) {
    dtype const type = promote(a, b);
    if (!is_integral(type) || type == dtype::uint64) throw unsupported_error("a shift of " + std::string(name(type)));
    auto const width = static_cast<std::int64_t>(bits(type));
    return {g.cast(g.cast(a, type), dtype::int64),
            g.cast(g.cast(b, type), dtype::int64),
            type,
            keeps_sign && is_signed_integral(type) ? width - 1 : width};
}

/// Whether an amount is negative or too large; ATen then shifts all bits out.
inline value out_of_range(graph<7> g, value amount, std::int64_t limit) {
    return g.op<"Or">(is_less(g, amount, 0), is_greater(g, amount, limit - 1));
}

/// A product with a power of two, which wraps around. BitShift supports only unsigned integers.
inline value left_shift(graph<9> g, value a, value b) {
    auto const [x, amount, type, limit] = shift(g, a, b, false);
    safe_vector<std::int64_t> factors = powers_of_two(static_cast<std::size_t>(limit));
    factors.push_back(0);
    value const index = g.op<"Where">(out_of_range(g, amount, limit), g.scalar(limit, dtype::int64), amount);
    return g.cast(g.op<"Mul">(x, g.op<"Gather">(g.ints(factors), index)), type);
}

/// Division by a power of two, rounded down. Mod has the sign of the divisor, so x - Mod(x, divisor) divides exactly; it
/// does not overflow, because the minimum is a multiple of the divisor.
inline value right_shift(graph<10> g, value a, value b) {
    auto const [x, amount, type, limit] = shift(g, a, b, true);
    value const out = out_of_range(g, amount, limit);
    value const divisors = g.ints(powers_of_two(static_cast<std::size_t>(limit)));
    value const divisor = g.op<"Gather">(divisors, g.op<"Where">(out, g.scalar(0, dtype::int64), amount));
    value const shifted = g.op<"Div">(g.op<"Sub">(x, g.op<"Mod">(x, divisor)), divisor);
    value const sign = g.op<"Neg">(g.cast(is_less(g, x, 0), dtype::int64));
    return g.cast(g.op<"Where">(out, sign, shifted), type);
}

} // namespace detail

inline constexpr auto bitwise =
    table(symbolic<"aten::bitwise_and.Tensor(self, other)">(detail::of_tensors<detail::bitwise_and>),
          symbolic<"aten::bitwise_and.Scalar(self, other)">(detail::with_number<detail::bitwise_and>),
          symbolic<"aten::bitwise_and.Scalar_Tensor(self, other)">(detail::number_first<detail::bitwise_and>),
          symbolic<"aten::bitwise_or.Tensor(self, other)">(detail::of_tensors<detail::bitwise_or>),
          symbolic<"aten::bitwise_or.Scalar(self, other)">(detail::with_number<detail::bitwise_or>),
          symbolic<"aten::bitwise_or.Scalar_Tensor(self, other)">(detail::number_first<detail::bitwise_or>),
          symbolic<"aten::bitwise_xor.Tensor(self, other)">(detail::of_tensors<detail::bitwise_xor>),
          symbolic<"aten::bitwise_xor.Scalar(self, other)">(detail::with_number<detail::bitwise_xor>),
          symbolic<"aten::bitwise_xor.Scalar_Tensor(self, other)">(detail::number_first<detail::bitwise_xor>),
          symbolic<"aten::__and__.Tensor(self, other)">(detail::of_tensors<detail::bitwise_and>),
          symbolic<"aten::__and__.Scalar(self, other)">(detail::with_number<detail::bitwise_and>),
          symbolic<"aten::__or__.Tensor(self, other)">(detail::of_tensors<detail::bitwise_or>),
          symbolic<"aten::__or__.Scalar(self, other)">(detail::with_number<detail::bitwise_or>),
          symbolic<"aten::__xor__.Tensor(self, other)">(detail::of_tensors<detail::bitwise_xor>),
          symbolic<"aten::__xor__.Scalar(self, other)">(detail::with_number<detail::bitwise_xor>),
          symbolic<"aten::bitwise_left_shift.Tensor(self, other)">(detail::of_tensors<detail::left_shift>),
          symbolic<"aten::bitwise_left_shift.Tensor_Scalar(self, other)">(detail::with_number<detail::left_shift>),
          symbolic<"aten::bitwise_left_shift.Scalar_Tensor(self, other)">(detail::number_first<detail::left_shift>),
          symbolic<"aten::bitwise_right_shift.Tensor(self, other)">(detail::of_tensors<detail::right_shift>),
          symbolic<"aten::bitwise_right_shift.Tensor_Scalar(self, other)">(detail::with_number<detail::right_shift>),
          symbolic<"aten::bitwise_right_shift.Scalar_Tensor(self, other)">(detail::number_first<detail::right_shift>),
          symbolic<"aten::__lshift__.Tensor(self, other)">(detail::of_tensors<detail::left_shift>),
          symbolic<"aten::__lshift__.Scalar(self, other)">(detail::with_number<detail::left_shift>),
          symbolic<"aten::__rshift__.Tensor(self, other)">(detail::of_tensors<detail::right_shift>),
          symbolic<"aten::__rshift__.Scalar(self, other)">(detail::with_number<detail::right_shift>));

} // namespace ATON_NAMESPACE::mappings
