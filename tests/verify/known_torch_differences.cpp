// SPDX-License-Identifier: MIT
// Where torch's results differ, and why the runtime does not imitate them.
#include "known_torch_differences.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/comparison.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;

/// Calls `f` with each part until it returns false; returns whether all calls returned true.
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

} // namespace

tensor argument_of(sample const& s, std::string_view name) {
    for (runtime::aten_argument const& a : s.arguments)
        if (a.name == name) return a.tensor;
    return {};
}

namespace {

/// Dropout of some elements, or slopes in training.
bool draws_random_numbers(different_call const& d) {
    for (runtime::aten_argument const& a : d.call.arguments)
        if (a.kind == aten::argument_kind::number)
            for (std::string_view const name : {"p", "dropout", "dropout_p", "training"})
                if (a.name == name && a.number.to<double>() > 0) return true;
    return false;
}

/// Results are indices of equal elements.
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

/// Elements are equal except where torch has `theirs` and the runtime `ours`.
bool differs_only(different_call const& d, tensor const& theirs, tensor const& ours) {
    return compare(runtime::where(runtime::logical_and(theirs, ours), d.expected, d.got), d.expected, 16).same();
}
tensor is_infinite(tensor const& x) { return runtime::unary(runtime::unary_op::isinf, x, {1, 1, 0}); }
} // namespace
tensor parts_of(tensor const& x) { return is_complex(x.dtype()) ? runtime::contiguous(x).as_pairs() : x; }
namespace {
bool is_unknown_where_infinite(different_call const& d) {
    different_call const parts{d.call, d.of, d.result, parts_of(d.got), parts_of(d.expected)};
    return differs_only(parts, runtime::isnan(parts.expected), is_infinite(parts.got));
}
bool is_infinite_where_finite(different_call const& d) {
    return differs_only(d, is_infinite(d.expected), runtime::unary(runtime::unary_op::isfinite, d.got));
}

bool is_one_column_wide(different_call const& d) { return d.expected.size(d.expected.rank() - 1) == 1; }

/// Logarithms whose imaginary parts differ by multiples of 2 pi.
bool is_a_turn_apart(different_call const& d) {
    return compare(runtime::exp(d.got), runtime::exp(d.expected), 16).same();
}

/// `got`, with the expected elements where the difference is at most `error`.
tensor expected_within(tensor const& got, tensor const& expected, tensor const& error) {
    return runtime::where(runtime::less_equal(runtime::abs(got - expected), error), expected, got);
}

} // namespace

bool differs_beside_no_number(different_call const& d) {
    tensor const got = parts_of(d.got);
    tensor const expected = parts_of(d.expected);
    auto const is_finite = [](tensor const& x) { return runtime::unary(runtime::unary_op::isfinite, x); };
    tensor const both = runtime::logical_and(is_finite(got), is_finite(expected));
    return compare(runtime::where(both, got, scalar(0)), runtime::where(both, expected, scalar(0)), 16).same();
}

namespace {

/// Sums differ by no more than large terms can cancel in any order, in the dtype of the result; others are infinite in one order.
bool is_added_in_another_order(different_call const& d) {
    dtype const type = parts_of(d.expected).dtype();
    double const unit = type == dtype::float64    ? 0x1p-53
                        : type == dtype::float32  ? 0x1p-24
                        : type == dtype::bfloat16 ? 0x1p-8
                                                  : 0x1p-11;
    auto const wide = [](tensor const& x) { return runtime::cast(parts_of(x), dtype::float64); };
    tensor const x = wide(argument_of(d.call, "self"));
    tensor const finite = runtime::where(runtime::unary(runtime::unary_op::isfinite, x), runtime::abs(x), scalar(0));
    double const most = runtime::max(finite, runtime::all_axes(finite)).item().to<double>();
    tensor const got = wide(d.got);
    tensor const expected = wide(d.expected);
    tensor const error = runtime::full(most * unit * static_cast<double>(x.count()), dtype::float64, {});
    return differs_beside_no_number({d.call, d.of, d.result, expected_within(got, expected, error), expected});
}

bool is_one_in_a_thousand_off(different_call const& d) {
    tensor const got = parts_of(d.got);
    tensor const expected = parts_of(d.expected);
    return compare(expected_within(got, expected, runtime::abs(expected) * scalar(1e-3)), expected, 16).same();
}

/// Parts of complex numbers differ by no more than the rounding of products as large as the operands'.
bool is_rounded_beside_the_other_part(different_call const& d) {
    tensor const got = parts_of(d.got);
    tensor const expected = parts_of(d.expected);
    tensor const size = runtime::max(runtime::abs(expected), runtime::all_axes(expected), true);
    tensor const got_or_near = expected_within(got, expected, size * scalar(1e-5));
    return differs_beside_no_number({d.call, d.of, d.result, got_or_near, expected});
}

bool gives_integers(different_call const& d) { return is_integral(d.expected.dtype()); }

/// All elements are equal where `counts` is true.
bool differs_only_beside(different_call const& d, tensor const& counts) {
    return compare(runtime::where(counts, d.got, d.expected), d.expected, 16).same();
}

/// All elements are equal where the input is a number; a bound that is NaN may change all.
bool differs_for_no_number(different_call const& d) {
    for (runtime::aten_argument const& a : d.call.arguments)
        if (a.kind == aten::argument_kind::number && std::isnan(a.number.to<double>())) return true;
    tensor x = argument_of(d.call, "self");
    if (!x) x = argument_of(d.call, "self_or_result");
    return differs_only_beside(d, runtime::logical_not(runtime::isnan(x)));
}

/// All elements are equal where the input is within the range of int64.
bool differs_beyond_integers(different_call const& d) {
    return differs_only_beside(d, runtime::less(runtime::abs(argument_of(d.call, "self")), 1e15));
}

} // namespace

bool has_huge_numbers(different_call const& d) {
    auto const is_huge = [](tensor const& x) {
        if (!x || !is_complex(x.dtype())) return false;
        tensor const ordinary = runtime::less(runtime::abs(parts_of(x)), 1e18);
        return !runtime::reduce(runtime::reduce_op::all, ordinary, runtime::all_axes(ordinary)).item().to<bool>();
    };
    auto const& all = d.call.arguments;
    return std::any_of(all.begin(), all.end(), [&](runtime::aten_argument const& a) {
        return is_huge(a.tensor) || std::any_of(a.tensors.begin(), a.tensors.end(), is_huge);
    });
}

std::span<known_torch_difference const> known_torch_differences() {
    static constexpr known_torch_difference others[] = {
        {"kthvalue topk",
         "",
         1,
         points_at_equal_elements,
         "which of several equal elements: torch's selection is not stable (quick_select, nth_element)"},
        {"_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa",
         "float32|float64",
         0,
         is_one_column_wide,
         "torch repeats the first row if the result is one column wide: its vertical pass mistakes the stride "
         "of an axis of size 1 for that of a scalar"},
        {"upsample_bilinear2d.vec upsample_bicubic2d.vec _upsample_bilinear2d_aa.vec _upsample_bicubic2d_aa.vec "
         "_upsample_lanczos2d_aa.vec",
         "uint8",
         0,
         is_one_column_wide,
         "the same"},
        {"median nanmedian",
         "empty int64|int32",
         0,
         nullptr,
         "for empty integers torch converts NaN to an integer, which is undefined in C++"},
        {"mode",
         "special",
         -1,
         nullptr,
         "torch sorts with < and counts with !=, which leave the position of NaN undefined"},
        {"fake_quantize_per_channel_affine fake_quantize_per_channel_affine_cachemask fake_quantize_per_tensor_affine "
         "fake_quantize_per_tensor_affine_cachemask _fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
         "special",
         -1,
         differs_beyond_integers,
         "torch converts infinities and huge numbers to integers, which is undefined in C++"},
        {"elu_backward hardtanh_backward hardshrink_backward softshrink_backward",
         "special",
         0,
         differs_for_no_number,
         "torch's scalar loops compare NaN in another order than its vectorized ones"},
        {"fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_hfft2 "
         "fft_ihfft2 fft_fftn fft_ifftn fft_rfftn fft_irfftn fft_hfftn fft_ihfftn _fft_c2c _fft_r2c _fft_c2r stft "
         "istft",
         "special",
         0,
         is_added_in_another_order,
         "torch's library does not multiply where a factor is 0 or 1, and adds in another order"},
        {"native_layer_norm_backward native_group_norm_backward",
         "special",
         -1,
         differs_beside_no_number,
         "torch sums x * gradient and gradient, and subtracts mean * gradient: infinity minus infinity, where x - mean "
         "is infinite"},
        {"native_layer_norm native_group_norm",
         "special",
         1,
         is_unknown_where_infinite,
         "torch updates the mean element by element: infinity minus infinity, if others follow an infinity in the "
         "same vector lane"},
        {"var_mean std_mean", "special", 1, is_unknown_where_infinite, "the same"},
        {"group_norm native_group_norm",
         "special",
         0,
         is_unknown_where_infinite,
         "torch computes x * scale + (bias - mean * scale): infinity minus infinity, where x - mean is infinite"},
        {"group_norm native_group_norm",
         "float32 ones special",
         0,
         nullptr,
         "in groups of one element, x * scale and mean * scale cancel up to the rounding of the products"},
        {"sum sum.dim_IntList sum_to_size nansum mean mean.dim nanmean nll_loss2d nll_loss2d_forward cumsum",
         "special float32|float64|complex64|int32|int64",
         0,
         is_added_in_another_order,
         "where large numbers cancel, the remainder depends on the order of the sum: torch adds in vector lanes"},
        {"nll_loss2d nll_loss2d_forward", "float16|bfloat16", 0, is_added_in_another_order, "torch adds in this dtype"},
        {"nansum", "special", 0, gives_integers, "torch converts infinities to integers, which is undefined in C++"},
        {"index_reduce cumulative_trapezoid.x binary_cross_entropy",
         "special float16|bfloat16",
         0,
         differs_beside_no_number,
         "torch computes in this dtype, in which intermediate results overflow"},
        {"index_add embedding_dense_backward",
         "special complex64",
         0,
         differs_beside_no_number,
         "torch multiplies by 1 as a complex number with imaginary part 0: infinities become NaN"},
        {"pow.Scalar",
         "complex64",
         0,
         is_one_in_a_thousand_off,
         "torch computes exp(y log x) in complex64, which is inaccurate for large exponents"},
        {"lerp.Scalar lerp.Tensor addcmul",
         "special float32|bfloat16",
         0,
         nullptr,
         "torch fuses products and sums where the CPU can, and then products do not overflow"},
        {"add.Tensor sub.Tensor subtract.Tensor",
         "special float16|bfloat16",
         0,
         is_unknown_where_infinite,
         "torch rounds alpha * other to this dtype in scalar loops, but not in vectorized ones"},
        {"norm.ScalarOpt_dim cosine_similarity",
         "special ones",
         0,
         nullptr,
         "torch takes the norm of one number as its magnitude, even if its square overflows"},
        {"logcumsumexp _logcumsumexp",
         "complex64",
         0,
         is_a_turn_apart,
         "torch leaves an imaginary part outside -pi to pi if one element outweighs the others"},
        {"hardswish",
         "special float32|bfloat16",
         0,
         is_infinite_where_finite,
         "torch multiplies by 6 before it divides by 6, which overflows above a sixth of the largest number"},
        {"multilabel_margin_loss multilabel_margin_loss_forward multi_margin_loss",
         "empty",
         0,
         nullptr,
         "torch does not set the result if there are no rows"},
        {"_scaled_dot_product_flash_attention_for_cpu",
         "empty",
         1,
         nullptr,
         "heads of size 0 have an infinite scale: torch skips products of matrices without columns or not, depending "
         "on dtype "
         "and size"},
        {"rand rand_like uniform randn randn_like normal normal_functional log_normal exponential cauchy geometric "
         "bernoulli randint randint_like random randperm multinomial",
         "",
         -1,
         nullptr,
         "torch's generator draws other numbers; models_random_numbers compares the distributions"},
        {"dropout alpha_dropout feature_dropout feature_alpha_dropout native_dropout rrelu rrelu_with_noise_functional "
         "scaled_dot_product_attention _scaled_dot_product_attention_math lstm gru rnn_tanh rnn_relu "
         "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention",
         "",
         -1,
         draws_random_numbers,
         "the same"},
        {"logaddexp",
         "complex64",
         0,
         differs_beside_no_number,
         "torch gives NaN if one number is below e^-88 times the other: the quotient is denormal"},
        {"prod det linalg_det",
         "complex64",
         0,
         is_rounded_beside_the_other_part,
         "the other part of the number may be a million times as large, and torch multiplies in another order"},
        {"conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc",
         "special complex64",
         0,
         has_huge_numbers,
         "torch computes a complex convolution as three real ones of sums of both parts: infinity minus infinity"},
        {"conv_tbc",
         "special float32|float64|float16|bfloat16",
         0,
         nullptr,
         "infinities and NaN depend on the order in which products are added"},
        {"add.Tensor sub.Tensor subtract.Tensor rsub.Tensor rsub.Scalar diff lerp.Tensor addcmul addcdiv trapezoid.dx "
         "cumulative_trapezoid.dx kron",
         "special complex64",
         0,
         has_huge_numbers,
         "torch multiplies by 1, or dx, as a complex number with imaginary part 0: infinities become NaN"},
        {"pow float_power logaddexp logcumsumexp _logcumsumexp logsumexp log1p special_log1p sgn reciprocal sinc "
         "special_sinc "
         "l1_loss pairwise_distance index_reduce logspace.Tensor_Scalar logspace.Tensor_Tensor logspace.Scalar_Tensor "
         "mul.Tensor multiply.Tensor div.Tensor div.Tensor_mode divide.Tensor divide.Tensor_mode true_divide.Tensor "
         "prod dist det linalg_det inner tensordot square silu sigmoid special_expit scatter_reduce.two "
         "mm bmm mv addmm addmv baddbmm addbmm matmul linalg_matmul linear bilinear conv_tbc_backward "
         "einsum addr sigmoid_backward tanh_backward silu_backward glu_backward",
         "special complex64",
         0,
         has_huge_numbers,
         "complex formulas that overflow where the result does not, or that compute infinity minus infinity: "
         "z / |z|, exp(y log z), 1 / |z|^2, sin(z) / z, products, and functions of these"},
    };
    static std::vector<known_torch_difference> const all = [] {
        std::vector<known_torch_difference> joined(std::begin(others), std::end(others));
        for (auto const more : {known_matrix_differences(), known_function_differences()})
            joined.insert(joined.end(), more.begin(), more.end());
        return joined;
    }();
    return all;
}

std::string words_of(sampling_profile const& t) {
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

} // namespace ATON_NAMESPACE::verify
