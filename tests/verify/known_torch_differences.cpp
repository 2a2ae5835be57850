// SPDX-License-Identifier: MIT
// What torch computes otherwise, and why that is not mended here.
#include "known_torch_differences.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/comparison.hpp>

namespace aton::verify {

namespace {

using runtime::tensor;

/// Calls `f` with each part, until it says no; whether it never did.
template <class Function>
bool all_parts(std::string_view text, char between, Function const& f) {
    while (!text.empty()) {
        std::size_t const end = std::min(text.find(between), text.size());
        if (end != 0 && !f(text.substr(0, end))) return false;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return true;
}

bool has_word(std::string_view words, std::string_view word) {
    return !all_parts(words, ' ', [&](std::string_view each) { return each != word; });
}

bool is_about(std::string_view where, std::string_view words) {
    return all_parts(where, ' ', [&](std::string_view choices) {
        return !all_parts(choices, '|', [&](std::string_view choice) { return !has_word(words, choice); });
    });
}

tensor argument_of(sample const& s, std::string_view name) {
    for (runtime::aten_argument const& a : s.arguments)
        if (a.name == name) return a.tensor;
    return {};
}

/// Indices of elements that are the same.
bool points_at_equal_elements(different_call const& d) {
    tensor x = argument_of(d.call, "self");
    std::int64_t axis = -1;
    for (runtime::aten_argument const& a : d.call.arguments)
        if (a.name == "dim") axis = a.number.to<std::int64_t>();
    if (x.rank() == 0 || d.got.sizes() != d.expected.sizes()) return false;
    std::size_t const at = runtime::axis_at(axis, x.rank());
    auto const seen = [&](tensor const& indices) {
        return runtime::take_along(x, indices.rank() == x.rank() ? indices : indices.unsqueezed(at), axis);
    };
    return compare(seen(d.got), seen(d.expected)).same();
}

/// Elements are the same but where torch has `theirs` and there is `ours` here.
bool differs_only(different_call const& d, tensor const& theirs, tensor const& ours) {
    return compare(runtime::where(runtime::logical_and(theirs, ours), d.expected, d.got), d.expected, 16).same();
}
tensor is_infinite(tensor const& x) { return runtime::unary(runtime::unary_op::isinf, x, {1, 1, 0}); }
tensor parts_of(tensor const& x) { return is_complex(x.dtype()) ? runtime::contiguous(x).as_pairs() : x; }
bool is_unknown_where_infinite(different_call const& d) {
    different_call const parts{d.call, d.of, d.result, parts_of(d.got), parts_of(d.expected)};
    return differs_only(parts, runtime::isnan(parts.expected), is_infinite(parts.got));
}
bool is_infinite_where_finite(different_call const& d) {
    return differs_only(d, is_infinite(d.expected), runtime::unary(runtime::unary_op::isfinite, d.got));
}

bool is_one_column_wide(different_call const& d) { return d.expected.size(d.expected.rank() - 1) == 1; }

/// Of complex numbers, that some are infinite, or no numbers, or so large that their squares are.
bool has_huge_numbers(different_call const& d) {
    for (runtime::aten_argument const& a : d.call.arguments) {
        if (!a.tensor || !is_complex(a.tensor.dtype())) continue;
        tensor const parts = parts_of(a.tensor);
        tensor const ordinary = runtime::less(runtime::abs(parts), 1e18);
        if (!runtime::reduce(runtime::reduce_op::all, ordinary, runtime::all_axes(ordinary)).item().to<bool>())
            return true;
    }
    return false;
}

} // namespace

std::span<known_torch_difference const> known_torch_differences() {
    static constexpr known_torch_difference all[] = {
        {"kthvalue topk",
         "",
         1,
         points_at_equal_elements,
         "which one of equal elements: torch selects them without an order (quick_select, nth_element)"},
        {"_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa",
         "float32|float64",
         0,
         is_one_column_wide,
         "torch gives the first row everywhere where the result is one column wide: its vertical pass takes the stride "
         "of an axis of size 1 for that of a number. Its kernel of uint8 is right"},
        {"median nanmedian",
         "empty int64|int32",
         0,
         nullptr,
         "of no integers torch converts NaN to an integer, which C++ leaves undefined"},
        {"mode", "special", -1, nullptr, "torch sorts by < and counts by !=, which leave the place of NaN to chance"},
        {"native_layer_norm native_group_norm",
         "special",
         1,
         is_unknown_where_infinite,
         "torch moves the mean from element to element: infinity less infinity, where others follow an infinity in the "
         "same lane of a vector"},
        {"var_mean std_mean", "special", 1, is_unknown_where_infinite, "the same"},
        {"group_norm native_group_norm",
         "float32 ones special",
         0,
         nullptr,
         "of groups of one element x * scale and mean * scale cancel up to the rounding of the products"},
        {"avg_pool2d avg_pool3d",
         "special",
         0,
         nullptr,
         "the largest numbers and those that cancel them: torch adds row by row, here one axis is added after the "
         "other"},
        {"sum.dim_IntList sum_to_size prod lerp.Tensor addcmul",
         "special float32|bfloat16",
         0,
         nullptr,
         "the largest numbers overflow in one order and not in another: torch adds in lanes of vectors, and fuses "
         "products and sums where the processor can"},
        {"hardswish",
         "special float32|bfloat16",
         0,
         is_infinite_where_finite,
         "torch multiplies by 6 before it divides by 6: from a sixth of the largest number on it overflows"},
        {"grid_sampler_3d", "float16|bfloat16", 0, nullptr, "torch computes places in this dtype, here in float32"},
        {"grid_sampler grid_sampler_2d",
         "float16|bfloat16",
         0,
         nullptr,
         "torch computes cubic weights in this dtype, which cancel at the border, here in float32"},
        {"multilabel_margin_loss multilabel_margin_loss_forward multi_margin_loss",
         "empty",
         0,
         nullptr,
         "of no rows torch does not set the result"},
        {"_scaled_dot_product_flash_attention_for_cpu",
         "empty",
         1,
         nullptr,
         "of heads of size 0, whose scale is infinite: products of matrices without columns are made, or not, by dtype "
         "and by size"},
        {"conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc",
         "special complex64",
         0,
         has_huge_numbers,
         "torch makes a complex convolution of three real ones, of sums of both parts: infinity less infinity"},
        {"conv_tbc",
         "special float32|float64|float16|bfloat16",
         0,
         nullptr,
         "infinities and NaN in the order in which its products are added"},
        {"add.Tensor sub.Tensor subtract.Tensor rsub.Tensor rsub.Scalar diff lerp.Tensor addcmul addcdiv trapezoid.dx "
         "cumulative_trapezoid.dx kron",
         "special complex64",
         0,
         has_huge_numbers,
         "torch multiplies by the number 1, or dx, as a complex one with 0 for its other part: NaN of an infinity"},
        {"pow float_power logaddexp logcumsumexp sgn reciprocal sinc special_sinc",
         "special complex64",
         0,
         has_huge_numbers,
         "formulas that overflow where the result does not: z / |z|, exp(y log z), 1 / |z|^2, sin(z) / z"},
        {"std_mean var_mean frobenius_norm.dim linalg_matrix_norm.str_ord",
         "special complex64",
         -1,
         has_huge_numbers,
         "torch squares the parts in float64, or leaves a norm of one number as its magnitude"},
    };
    return all;
}

std::string words_of(theme const& t) {
    constexpr std::string_view sizes[] = {"distinct", "ones", "equal", "empty", "scalar"};
    constexpr std::string_view values[] = {"ordinary", "ties", "special", "wide"};
    return std::string(name(t.type)) + ' ' + std::string(sizes[static_cast<std::size_t>(t.sizes)]) + ' ' +
           std::string(values[static_cast<std::size_t>(t.values)]);
}

std::ptrdiff_t find_known_torch_difference(different_call const& d) {
    std::string const words = words_of(d.of);
    auto const all = known_torch_differences();
    auto const at = std::find_if(all.begin(), all.end(), [&](known_torch_difference const& k) {
        return (k.result < 0 || static_cast<std::size_t>(k.result) == d.result) && is_about(k.where, words) &&
               names(k.operators, d.call.overload) && (k.holds == nullptr || k.holds(d));
    });
    return at == all.end() ? -1 : at - all.begin();
}

} // namespace aton::verify
