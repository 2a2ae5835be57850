// SPDX-License-Identifier: MIT
// Rows with wrong products, convolutions, normalization, embeddings, statistics and counts.
#include <aton/mappings/activation.hpp>
#include <aton/mappings/bucketing.hpp>
#include <aton/mappings/convolution.hpp>
#include <aton/mappings/embedding.hpp>
#include <aton/mappings/histograms.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/normalization.hpp>
#include <aton/mappings/random.hpp>
#include <aton/mappings/reduction.hpp>
#include <aton/mappings/softmax.hpp>
#include <aton/mappings/statistics.hpp>
#include <aton/mappings/unique.hpp>

#include "planted.hpp"

namespace ATON_NAMESPACE::verify::traps {

namespace {

using namespace mappings;
namespace real = mappings::detail;
using axes = std::optional<std::span<std::int64_t const>>;

constexpr auto keepdim_dropped = table(symbolic<"aten::argmax(self, dim, keepdim)">(
    [](graph<13> g, value self, std::optional<std::int64_t> dim, bool keepdim) -> value {
        return real::arg_row<"ArgMax">(g, self, dim, keepdim && dim);
    }));

constexpr auto vector_weight = table(symbolic<"aten::linear(input, weight, bias)">(
    [](graph<13> g, value input, value weight, optional_value bias) -> value {
        value const rows = weight.rank() == 1 ? unsqueeze(g, weight, 0) : weight;
        return real::linear_layer(g, input, rows, bias);
    }));
constexpr auto same_lower =
    table(symbolic<"aten::conv1d.padding(input, weight, bias, stride, padding, dilation, groups)">(
        [](graph<13> g, value x, value weight, optional_value bias, int_list stride, std::string_view padding,
           int_list dilation, std::int64_t groups) -> value {
            real::convolution_parameters p = real::parameters(weight, stride, {}, dilation, groups);
            if (padding == "same") {
                std::int64_t const total = p.dilation[0] * (weight.size(2).size() - 1);
                p.before[0] = total - total / 2;
                p.after[0] = total / 2;
            }
            return real::convolve(g, x, weight, bias, p);
        }));
constexpr auto no_output_padding = table(
    symbolic<"aten::conv_transpose2d.input(input, weight, bias, stride, padding, output_padding, groups, dilation)">(
        [](graph<13> g, value x, value weight, optional_value bias, int_list stride, int_list padding, int_list,
           std::int64_t groups, int_list dilation) -> value {
            return real::conv_transpose(g, x, weight, bias, stride, padding, {}, groups, dilation);
        }));
constexpr auto bias_by_row =
    table(symbolic<"aten::conv_transpose1d(input, weight, bias, stride, padding, output_padding, "
                   "groups, dilation)">([](graph<13> g, value x, value weight, optional_value bias, int_list stride,
                                           int_list padding, int_list extra, std::int64_t groups,
                                           int_list dilation) -> value {
        value const y = real::conv_transpose(g, x, weight, absent, stride, padding, extra, groups, dilation);
        return bias ? value(g.op<"Add">(y, g.op<"Slice">(*bias, g.ints({0}), g.ints({1})))) : y;
    }));

constexpr auto biased_running_variance = table(
    symbolic<"aten::_native_batch_norm_legit_functional(input, weight, bias, running_mean, running_var, training, "
             "momentum, eps)">([](graph<13> g, value input, optional_value weight, optional_value bias,
                                  value running_mean, value running_var, bool training, double momentum,
                                  double eps) -> std::tuple<value, value, value, value, value> {
        auto r = real::batch_norm_of(g, input, weight, bias, running_mean, running_var, training, momentum, eps);
        if (training) {
            value const seen = g.cast(g.op<"Mul">(r.statistics.variance, momentum), running_var.dtype());
            r.statistics.running_variance = g.op<"Add">(g.op<"Mul">(running_var, 1.0 - momentum), seen);
        }
        return {r.y, r.saved_mean, r.saved_rstd, r.statistics.running_mean, r.statistics.running_variance};
    }));
constexpr auto deviation_saved =
    table(symbolic<"aten::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)">(
        [](graph<13> g, value input, optional_value weight, optional_value bias, optional_value running_mean,
           optional_value running_var, bool training, double momentum, double eps) -> std::tuple<value, value, value> {
            auto const r =
                real::batch_norm_of(g, input, weight, bias, running_mean, running_var, training, momentum, eps);
            return {r.y, r.saved_mean, training ? value(g.op<"Reciprocal">(r.saved_rstd)) : r.saved_rstd};
        }));
constexpr auto own_statistics = table(symbolic<"aten::instance_norm(input, weight, bias, running_mean, running_var, "
                                               "use_input_stats, momentum, eps, cudnn_enabled)">(
    [](graph<13> g, value input, optional_value weight, optional_value bias, optional_value, optional_value, bool,
       double, double eps, bool) -> value {
        dtype const type = real::opmath_type(input.dtype());
        return g.cast(g.op<"InstanceNormalization">(g.cast(input, type),
                                                    real::channel_parameter(g, weight, input, 1, type),
                                                    real::channel_parameter(g, bias, input, 0, type),
                                                    attr::epsilon_f(eps)),
                      input.dtype());
    }));
/// Until opset 20 GroupNormalization scales whole groups.
constexpr auto scale_by_group = table(symbolic<"aten::group_norm(input, num_groups, weight, bias, eps, cudnn_enabled)">(
    [](graph<13> g, value x, std::int64_t groups, optional_value weight, optional_value bias, double eps,
       bool) -> value {
        if (is_empty(x)) return x;
        dtype const type = real::opmath_type(x.dtype());
        auto const of_groups = [&](optional_value p, double otherwise) {
            return slice(g, real::channel_parameter(g, p, x, otherwise, type), 0, 0, groups);
        };
        value const y = g.op<"InstanceNormalization">(
            real::grouped(g, g.cast(x, type), groups), of_groups(weight, 1), of_groups(bias, 0), attr::epsilon_f(eps));
        return g.cast(g.op<"Reshape">(y, g.shape_of(x)), x.dtype());
    }));

constexpr auto padding_counts =
    table(symbolic<"aten::embedding_bag.padding_idx(weight, indices, offsets, scale_grad_by_freq, mode, sparse, "
                   "per_sample_weights, include_last_offset, padding_idx)">([](graph<13> g, value weight, value indices,
                                                                               value offsets, bool, std::int64_t mode,
                                                                               bool, optional_value each, bool last,
                                                                               std::optional<std::int64_t>) {
        return real::embedding_bag_of(g, weight, indices, offsets, each, {real::bag_mode{mode}, last, std::nullopt});
    }));
constexpr auto last_offset_opens = table(
    symbolic<"aten::embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, "
             "per_sample_weights, include_last_offset)">([](graph<13> g, value weight, value indices, value offsets,
                                                            bool, std::int64_t mode, bool, optional_value each, bool) {
        return real::embedding_bag_of(g, weight, indices, offsets, each, {real::bag_mode{mode}, false, std::nullopt});
    }));
/// The mean of an empty bag divides by 0.
constexpr auto empty_bags =
    table(symbolic<"aten::embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, "
                   "per_sample_weights, include_last_offset)">([](graph<13> g, value weight, value indices,
                                                                  value offsets, bool, std::int64_t mode, bool,
                                                                  optional_value each, bool last) -> real::bag_results {
        real::bag_options const o{real::bag_mode{mode}, last, std::nullopt};
        if (mode != 1) return real::embedding_bag_of(g, weight, indices, offsets, each, o);
        real::bag_options const sums{real::bag_mode::sum, last, std::nullopt};
        value const sum = std::get<0>(real::embedding_bag_of(g, weight, indices, offsets, each, sums));
        value const inside = g.cast(real::bag_membership(g, indices, offsets, o), weight.dtype());
        value const count = reduce_sum(g, inside, std::vector<std::int64_t>{1}, false);
        return {g.op<"Div">(sum, count), absent, absent, absent};
    }));

constexpr auto tanh_ignored = table(symbolic<"aten::gelu(self, approximate)">(
    [](graph<20> g, value x, std::string_view) -> value { return real::gelu(g, x, "none"); }));
/// The meaning of Softmax below opset 13: everything from the axis on is one row.
constexpr auto flattened = table(symbolic<"aten::softmax.int(self, dim, dtype)">(
    [](graph<13> g, value self, std::int64_t dim, std::optional<dtype> type) -> value {
        value const x = g.cast(self, type.value_or(self.dtype()));
        if (x.rank() < 2) return real::softmax<"Softmax">(g, x, dim, std::nullopt);
        sym_int rows = 1;
        for (std::int64_t i = 0; i != normalize_axis(dim, x.rank()); ++i) rows = rows * g.size(x, i);
        safe_vector<sym_int> const sizes = g.sizes(x);
        value const flat = reshape(g, x, {rows, element_count(g, x) / max(rows, 1)});
        return reshape(g, g.op<"Softmax">(flat, attr::axis_i(1)), sizes);
    }));

constexpr auto always_unbiased = table(symbolic<"aten::var.correction(self, dim, correction, keepdim)">(
    [](graph<13> g, value self, axes dim, std::optional<scalar>, bool keepdim) -> value {
        return real::spread<false, false>(g, self, dim, 1, keepdim);
    }));
constexpr auto never_unbiased = table(symbolic<"aten::std(self, unbiased)">(
    [](graph<13> g, value self, bool) -> value { return real::spread<true, false>(g, self, std::nullopt, 0, false); }));

constexpr auto always_drops = table(symbolic<"aten::dropout(input, p, train)">(
    [](graph<13> g, value x, double p, bool) -> value { return real::dropout<false>(g, x, p, true); }));
constexpr auto never_drops = table(symbolic<"aten::native_dropout(input, p, train)">(
    [](graph<13> g, value x, double, std::optional<bool>) -> std::tuple<value, value> {
        return {x, real::filled_like(g, x, true, dtype::bool_)};
    }));

constexpr auto flat_inverse = table(symbolic<"aten::_unique2(self, sorted, return_inverse, return_counts)">(
    [](graph<13> g, value self, bool, bool return_inverse, bool return_counts) -> real::unique_results {
        auto [y, inverse, counts] = real::unique_elements(g, self, return_inverse, return_counts);
        return {y, inverse ? optional_value(flat(g, *inverse)) : inverse, counts};
    }));
constexpr auto unsorted = table(symbolic<"aten::_unique2(self, sorted, return_inverse, return_counts)">(
    [](graph<13> g, value self, bool, bool return_inverse, bool return_counts) -> real::unique_results {
        auto const [y, indices, inverse, counts] = g.op<"Unique">(flat(g, self), attr::sorted_i(0), outputs<4>);
        optional_value const from =
            return_inverse ? optional_value(reshape(g, inverse, g.sizes(self))) : optional_value();
        return {y, from, return_counts ? optional_value(counts) : optional_value()};
    }));

/// The largest element falls outside the last bin.
constexpr auto open_bin = table(symbolic<"aten::histc(self, bins, min, max)">(
    [](graph<13> g, value self, std::int64_t bins, scalar min, scalar max) -> value {
        dtype const type = real::opmath_type(self.dtype());
        value const x = g.cast(g.op<"Reshape">(self, g.ints({-1})), type);
        if (min == max) return real::histc(g, self, bins, min, max);
        value const low = g.scalar(min, type);
        value const high = g.scalar(max, type);
        value const place =
            g.op<"Div">(g.op<"Mul">(g.op<"Sub">(x, low), g.scalar_like(bins, x)), g.op<"Sub">(high, low));
        value const inside = g.op<"And">(g.op<"GreaterOrEqual">(x, low), g.op<"Less">(x, high));
        value const bin = g.cast(g.op<"Where">(inside, place, g.scalar_like(0, x)), dtype::int64);
        value const closed = g.op<"Min">(std::vector<value>{bin, g.scalar(bins - 1, dtype::int64)});
        return g.cast(real::counted(g, closed, g.cast(inside, type), bins), self.dtype());
    }));
constexpr auto minlength_ignored = table(symbolic<"aten::bincount(self, weights, minlength)">(
    [](graph<13> g, value self, optional_value weights, size) -> value {
        return real::bincount(g, self, weights, 0);
    }));

constexpr auto mean_of_nothing = table(symbolic<"aten::mean.dim(self, dim, keepdim, dtype)">(
    [](graph<13> g, value self, axes dim, bool keepdim, std::optional<dtype> type) -> value {
        value const y = mean(g, self, axes_or_all(dim, self), keepdim, type);
        if (!is_empty_along(self, axes_or_all(dim, self))) return y;
        return real::choose(g, g.op<"IsNaN">(y), g.scalar_like(0, y), y);
    }));
constexpr auto all_of_nothing = table(
    symbolic<"aten::all.dim(self, dim, keepdim)">([](graph<13> g, value self, std::int64_t dim, bool keepdim) -> value {
        if (!is_empty_along(self, real::axis_of(dim, self)) || self.rank() == 0)
            return reduce_bool<"ReduceMin">(g, self, real::axis_of(dim, self), keepdim);
        value const count =
            reduce_sum(g, g.cast(g.cast(self, dtype::bool_), dtype::int64), real::axis_of(dim, self), keepdim);
        return g.cast(g.cast(count, dtype::bool_), self.dtype() == dtype::uint8 ? dtype::uint8 : dtype::bool_);
    }));

constexpr auto alpha_ignored = table(symbolic<"aten::addmm(self, mat1, mat2, beta, alpha)">(
    [](graph<13> g, value self, value a, value b, scalar beta, scalar) -> value {
        return real::addmm(g, self, a, b, beta, 1);
    }));
constexpr auto beta_ignored = table(symbolic<"aten::baddbmm(self, batch1, batch2, beta, alpha)">(
    [](graph<13> g, value self, value a, value b, scalar, scalar alpha) -> value {
        return real::scaled_sum(g, self, matmul(g, a, b), 1, alpha);
    }));
/// 0 times NaN is NaN.
constexpr auto zero_times_nan = table(symbolic<"aten::addmm(self, mat1, mat2, beta, alpha)">(
    [](graph<13> g, value self, value a, value b, scalar beta, scalar alpha) -> value {
        value const product = real::scale_by(g, matmul(g, a, b), alpha);
        return g.op<"Add">(real::scale_by(g, self, beta), product);
    }));
constexpr auto integer_alpha = table(symbolic<"aten::addmv(self, mat, vec, beta, alpha)">(
    [](graph<13> g, value self, value a, value b, scalar beta, scalar alpha) -> value {
        return real::scaled_sum(g, self, matmul(g, a, b), beta, alpha.to<std::int64_t>());
    }));

constexpr planted other_rows[] = {
    {36, "argmax over all with keepdim", keepdim_dropped},
    {44, "linear with a 1-D weight", vector_weight, 20, "input: (..., m, k); weight: (k); bias: default"},
    {44, "padding same with the odd element in front", same_lower},
    {44, "ConvTranspose output_padding ignored", no_output_padding},
    {44, "ConvTranspose bias along the wrong dimension", bias_by_row},
    {46, "batch_norm running variance without correction", biased_running_variance},
    {46, "batch_norm saves the deviation", deviation_saved},
    {46, "instance_norm ignores running statistics", own_statistics},
    {46, "GroupNormalization 18 with the scale of 21", scale_by_group},
    {47, "embedding_bag padding_idx ignored", padding_counts},
    {47, "embedding_bag include_last_offset ignored", last_offset_opens},
    {47, "embedding_bag of empty bags", empty_bags},
    {48, "gelu tanh ignored", tanh_ignored},
    {48, "Softmax flattens", flattened},
    {49, "var correction ignored", always_unbiased},
    {49, "std unbiased ignored", never_unbiased},
    {50, "dropout train ignored", always_drops},
    {50, "native_dropout train ignored", never_drops},
    {54, "unique inverse without the shape", flat_inverse},
    {54, "unique not sorted", unsorted},
    {55, "histc with an open last bin", open_bin},
    {55, "bincount minlength ignored", minlength_ignored},
    {56, "mean of no elements", mean_of_nothing},
    {56, "all of no elements", all_of_nothing},
    {58, "addmm alpha ignored", alpha_ignored},
    {58, "baddbmm beta ignored", beta_ignored},
    {58, "addmm with beta 0 and NaN", zero_times_nan},
    {58, "addmv with an integer alpha", integer_alpha},
};

} // namespace

std::span<planted const> other_traps() { return other_rows; }

} // namespace ATON_NAMESPACE::verify::traps
