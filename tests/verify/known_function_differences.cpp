// SPDX-License-Identifier: MIT
// Where torch's special functions, losses, histograms and sampling differ, and why the runtime does not imitate them.
#include <cstdint>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/scalar.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/comparison.hpp>

#include "known_torch_differences.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;

/// Differences are at most 4e-6 of the result, or of 1, where the functions oscillate.
bool is_accurate_to_six_digits(different_call const& d) {
    tensor const error = runtime::maximum(runtime::abs(d.expected), scalar(1)) * scalar(4e-6);
    tensor const is_near = runtime::less_equal(runtime::abs(d.got - d.expected), error);
    return compare(runtime::where(is_near, d.expected, d.got), d.expected, 16).same();
}
bool is_accurate_to_nine_digits(different_call const& d) {
    tensor const error = runtime::abs(d.expected) * scalar(4e-9);
    tensor const is_near = runtime::less_equal(runtime::abs(d.got - d.expected), error);
    return compare(runtime::where(is_near, d.expected, d.got), d.expected, 16).same();
}

/// Elements are in one of two neighboring bins: of the running totals, only single ones differ.
bool is_in_the_next_bin(different_call const& d) {
    auto const totals = [](tensor const& x) { return runtime::scan(runtime::scan_op::sum, x, 0); };
    tensor const got = totals(d.got);
    tensor const expected = totals(d.expected);
    tensor const differs = runtime::greater(runtime::abs(got - expected), runtime::abs(expected) * scalar(1e-5));
    std::int64_t const n = differs.count();
    if (differs.rank() != 1 || n < 2 || differs.sliced(0, n - 1, 1).item().to<bool>()) return false;
    tensor const both = runtime::logical_and(differs.sliced(0, 0, n - 1), differs.sliced(0, 1, n - 1));
    return !runtime::reduce(runtime::reduce_op::any, both, {0}).item().to<bool>();
}

bool hides_by_a_negative_scale(different_call const& d) {
    bool is_causal = false;
    double scale = 1;
    for (runtime::aten_argument const& a : d.call.arguments) {
        if (a.name == "is_causal") is_causal = a.number.to<bool>();
        if (a.name == "scale" && a.kind == aten::argument_kind::number) scale = a.number.to<double>();
    }
    return is_causal && scale < 0;
}
bool is_within_a_ten_thousandth(different_call const& d) {
    tensor const is_near = runtime::less_equal(runtime::abs(d.got - d.expected), 1e-4);
    return compare(runtime::where(is_near, d.expected, d.got), d.expected, 16).same();
}

/// Elements are equal except where the argument is NaN.
bool differs_where_self_is_nan(different_call const& d) {
    tensor const counts = runtime::logical_not(runtime::isnan(argument_of(d.call, "self")));
    return compare(runtime::where(counts, d.got, d.expected), d.expected, 16).same();
}

/// The lengths that are passed as a tensor or a list, as a column.
tensor lengths_of(sample const& call, std::string_view name) {
    for (runtime::aten_argument const& a : call.arguments) {
        if (a.name != name) continue;
        if (a.tensor) return runtime::cast(a.tensor, dtype::int64).unsqueezed(a.tensor.rank());
        std::vector<std::int64_t> lengths;
        for (scalar const& n : a.numbers) lengths.push_back(n.to<std::int64_t>());
        return tensor::of_integers(lengths).unsqueezed(1);
    }
    return {};
}
/// Probabilities [batch, time, states] are equal within the lengths of inputs and targets.
bool differs_beyond_lengths(different_call const& d) {
    tensor const times = lengths_of(d.call, "input_lengths").unsqueezed(2);
    tensor const states = lengths_of(d.call, "target_lengths").unsqueezed(2) * scalar(2);
    tensor const time = runtime::range(d.expected.size(1), 0, 1, {}).unsqueezed(1);
    tensor const state = runtime::range(d.expected.size(2), 0, 1, {});
    tensor const counts = runtime::logical_and(runtime::less(time, times), runtime::less_equal(state, states));
    return compare(runtime::where(counts, d.got, d.expected), d.expected, 16).same();
}

} // namespace

std::span<known_torch_difference const> known_function_differences() {
    static constexpr known_torch_difference all[] = {
        {"special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 special_airy_ai",
         "float64",
         0,
         is_accurate_to_six_digits,
         "torch's approximations of float64 have errors up to 3e-6 where they change; SciPy's functions agree with the "
         "runtime"},
        {"polygamma special_polygamma", "float64", 0, is_accurate_to_nine_digits, "torch's trigamma has nine digits"},
        {"igamma igammac special_gammainc special_gammaincc",
         "float64",
         0,
         is_accurate_to_nine_digits,
         "torch's asymptotic series of large parameters has nine digits"},
        {"native_batch_norm_backward cudnn_batch_norm_backward miopen_batch_norm_backward",
         "empty special",
         1,
         nullptr,
         "torch subtracts the mean times an empty sum of gradients, which is NaN if the mean is infinite"},
        {"hardswish_backward",
         "special",
         0,
         differs_where_self_is_nan,
         "torch's vector code gives NaN for NaN, like the runtime, the code for the remaining elements the gradient"},
        {"_scaled_dot_product_flash_attention_for_cpu",
         "",
         -1,
         hides_by_a_negative_scale,
         "torch multiplies the minus infinity of hidden elements by the scale: NaN, where is_causal and the scale is "
         "negative"},
        {"_scaled_dot_product_flash_attention_for_cpu",
         "float16|bfloat16",
         1,
         is_within_a_ten_thousandth,
         "torch's exponential for these dtypes has four digits"},
        {"gradient",
         "complex64 ties|special",
         -1,
         differs_beside_no_number,
         "coordinates are equal or numbers are huge: torch multiplies complex numbers by infinite factors as complex "
         "numbers with imaginary part 0, which gives NaN"},
        {"histogram.bin_ct",
         "ties",
         0,
         is_in_the_next_bin,
         "an element is at an edge between bins, which torch computes with fused products and sums"},
        {"_ctc_loss",
         "",
         1,
         differs_beyond_lengths,
         "torch does not set the probabilities beyond the lengths of inputs and targets"},
        {"grid_sampler_3d",
         "float16|bfloat16",
         0,
         nullptr,
         "torch computes positions in this dtype, the runtime in float32"},
        {"grid_sampler grid_sampler_2d",
         "float16|bfloat16",
         0,
         nullptr,
         "torch computes cubic weights, which cancel at the border, in this dtype, the runtime in float32"},
    };
    return all;
}

} // namespace ATON_NAMESPACE::verify
