// SPDX-License-Identifier: MIT
// Rows with wrong integer arithmetic or a wrong result dtype.
#include <aton/mappings/activation.hpp>
#include <aton/mappings/bitwise.hpp>
#include <aton/mappings/comparison.hpp>
#include <aton/mappings/creation.hpp>
#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/normalization.hpp>
#include <aton/mappings/ranges.hpp>
#include <aton/mappings/reduction.hpp>
#include <aton/mappings/softmax.hpp>

#include "planted.hpp"

namespace ATON_NAMESPACE::verify::traps {

namespace {

using namespace mappings;
namespace real = mappings::detail;
using rounding = std::optional<std::string_view>;
using numbers_type = std::optional<dtype>;
using axes = std::optional<std::span<std::int64_t const>>;

constexpr auto truncated_floor = table(symbolic<"aten::floor_divide(self, other)">(
    [](graph<13> g, value a, value b) -> value { return truncated_divide(g, a, b); }));
constexpr auto integer_quotient = table(symbolic<"aten::div.Tensor(self, other)">(
    [](graph<13> g, value a, value b) -> value { return g.op<"Div">(a, b); }));
constexpr auto dividend_sign = table(symbolic<"aten::remainder.Tensor(self, other)">(
    [](graph<13> g, value a, value b) -> value { return truncated_remainder(g, a, b); }));
constexpr auto divisor_sign = table(symbolic<"aten::fmod.Tensor(self, other)">(
    [](graph<13> g, value a, value b) -> value { return remainder(g, a, b); }));
constexpr auto always_floor = table(symbolic<"aten::div.Tensor_mode(self, other, rounding_mode)">(
    [](graph<13> g, value a, value b, rounding mode) -> value {
        return divide_rounded(g, a, b, mode ? rounding("floor") : rounding());
    }));
constexpr auto mode_ignored = table(symbolic<"aten::div.Scalar_mode(self, other, rounding_mode)">(
    [](graph<13> g, value a, number b, rounding) -> value { return divide(g, a, wrapped_number(g, b)); }));

constexpr auto exponent_cast =
    table(symbolic<"aten::pow.Tensor_Scalar(self, exponent)">([](graph<13> g, value base, scalar exponent) -> value {
        return power(g, base, g.scalar(exponent, base.dtype()));
    }));
constexpr auto base_cast =
    table(symbolic<"aten::pow.Scalar(self, exponent)">([](graph<13> g, scalar base, value exponent) -> value {
        return power(g, g.scalar(base, exponent.dtype()), exponent);
    }));
constexpr auto power_of_base = table(symbolic<"aten::pow.Tensor_Tensor(self, exponent)">(
    [](graph<13> g, value base, value exponent) -> value { return power(g, base, g.cast(exponent, base.dtype())); }));

constexpr auto range_of_floats = table(symbolic<"aten::arange.start(start, end, dtype)">(
    [](graph<13> g, scalar start, scalar end, numbers_type type) -> value {
        return real::range_of(g, start, end, 1.0, type);
    }));
constexpr auto always_float = table(symbolic<"aten::full(size, fill_value, dtype)">(
    [](graph<13> g, size_list size, scalar number, numbers_type type) -> value {
        return filled(g, size, number, type.value_or(dtype::float32));
    }));
constexpr auto type_of_number = table(symbolic<"aten::full_like(self, fill_value, dtype)">(
    [](graph<13> g, value self, scalar number, numbers_type type) -> value {
        return filled(g, g.sizes(self), number, type.value_or(real::dtype_of(number)));
    }));
constexpr auto line_of_floats = table(symbolic<"aten::linspace(start, end, steps, dtype)">(
    [](graph<13> g, scalar start, scalar end, std::int64_t steps, numbers_type) -> value {
        return real::linspace_of_numbers(g, start, end, steps, dtype::float32);
    }));

constexpr auto sum_keeps_type =
    table(symbolic<"aten::sum(self, dtype)">([](graph<13> g, value self, numbers_type type) -> value {
        bool const kept = self.dtype() == dtype::int32 && !type;
        return sum(g, self, iota(self.rank()), false, kept ? dtype::int32 : type);
    }));
constexpr auto cumsum_keeps_type = table(symbolic<"aten::cumsum(self, dim, dtype)">(
    [](graph<13> g, value self, std::int64_t dim, numbers_type type) -> value {
        bool const kept = self.dtype() == dtype::int32 && !type;
        return cumsum_of(g, self, dim, kept ? dtype::int32 : type);
    }));
constexpr auto bool_product =
    table(symbolic<"aten::prod(self, dtype)">([](graph<13> g, value self, numbers_type type) -> value {
        dtype const out = type.value_or(self.dtype() == dtype::bool_ ? dtype::bool_ : to_accumulating(self.dtype()));
        value const x = g.cast(g.cast(self, out), real::reducible(out));
        return g.cast(reduce<"ReduceProd">(g, x, iota(self.rank()), false), out);
    }));

constexpr auto mean_without_dtype = table(symbolic<"aten::mean.dim(self, dim, keepdim, dtype)">(
    [](graph<13> g, value self, axes dim, bool keepdim, numbers_type) -> value {
        return mean(g, self, axes_or_all(dim, self), keepdim);
    }));
constexpr auto softmax_without_dtype = table(
    symbolic<"aten::softmax.int(self, dim, dtype)">([](graph<13> g, value x, std::int64_t dim, numbers_type) -> value {
        return real::softmax<"Softmax">(g, x, dim, std::nullopt);
    }));
constexpr auto layer_norm_in_half =
    table(symbolic<"aten::layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable)">(
        [](graph<13> g, value x, size_list shape, optional_value weight, optional_value bias, double eps,
           bool) -> value {
            value const y = real::composed_layer_norm(g, x, shape, weight, bias, eps);
            return x.dtype() == dtype::float16 ? g.cast(y, dtype::float32) : y;
        }));

constexpr auto first_type = table(symbolic<"aten::maximum(self, other)">(
    [](graph<13> g, value a, value b) -> value { return maximum(g, a, g.cast(b, a.dtype())); }));
constexpr auto first_type_of_einsum = table(symbolic<"aten::einsum(equation, tensors)">(
    [](graph<13> g, std::string_view equation, std::span<value const> tensors) -> value {
        std::vector<value> all;
        for (value const& v : tensors) all.push_back(g.cast(v, tensors[0].dtype()));
        return real::einsum_of(g, equation, all);
    }));
constexpr auto bits_of_number =
    table(symbolic<"aten::bitwise_and.Scalar_Tensor(self, other)">([](graph<13> g, scalar a, value b) -> value {
        return g.cast(real::bitwise_and(g, g.scalar(a, dtype::int64), g.cast(b, dtype::int64)), dtype::int64);
    }));
constexpr auto unsigned_shift =
    table(symbolic<"aten::bitwise_right_shift.Tensor(self, other)">([](graph<13> g, value a, value b) -> value {
        auto const [x, amount, type, limit] = real::shift(g, a, b, true);
        value const factors = g.ints(real::powers_of_two(static_cast<std::size_t>(limit)));
        return g.cast(g.op<"Div">(x, g.op<"Gather">(factors, amount)), type); // towards 0
    }));
constexpr auto bits_as_truth =
    table(symbolic<"aten::logical_and(self, other)">([](graph<13> g, value a, value b) -> value {
        if (!is_integral(a.dtype())) return real::logical<"And">(g, a, b);
        return g.cast(real::bitwise_and(g, a, b), dtype::bool_);
    }));
constexpr auto number_cut = table(symbolic<"aten::lt.Scalar(self, other)">([](graph<13> g, value a, scalar b) -> value {
    return less(g, a, g.scalar_like(is_integral(a.dtype()) ? scalar(b.to_saturated<std::int64_t>()) : b, a));
}));

constexpr planted integer_rows[] = {
    {19, "floor_divide of negatives", truncated_floor},
    {20, "Div of integers", integer_quotient},
    {21, "remainder with the dividend's sign", dividend_sign},
    {21, "fmod with the divisor's sign", divisor_sign},
    {22, "rounding_mode trunc as floor", always_floor},
    {22, "rounding_mode ignored", mode_ignored},
    {23, "pow of integers with a float exponent", exponent_cast},
    {23, "pow with the number first", base_cast},
    {23, "pow in the base's dtype", power_of_base, 20, "self: (n, c) int32; exponent: (n, c) in 0.0..3.0"},
    {24, "arange with a default step of 1.0", range_of_floats},
    {25, "full of an integer", always_float},
    {25, "full_like in the number's dtype", type_of_number},
    {25, "linspace dtype ignored", line_of_floats},
    {26, "sum of int32 in int32", sum_keeps_type},
    {26, "cumsum of int32 in int32", cumsum_keeps_type},
    {26, "prod of bool in bool", bool_product},
    {27, "mean dtype ignored", mean_without_dtype},
    {27, "softmax dtype ignored", softmax_without_dtype},
    {27, "layer_norm of half types in float32", layer_norm_in_half},
    {28, "maximum in the first dtype", first_type, 20, "self: (n, c) int32; other: (~n, ~c) in -3.0..3.0"},
    {28, "einsum in the first dtype", first_type_of_einsum},
    {28, "bitwise_and with the number first in int64", bits_of_number},
    {28, "shift of negatives towards 0", unsigned_shift},
    {28, "logical_and by bits", bits_as_truth},
    {28, "integers against a float number", number_cut},
};

} // namespace

std::span<planted const> integer_traps() { return integer_rows; }

} // namespace ATON_NAMESPACE::verify::traps
