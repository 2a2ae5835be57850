// SPDX-License-Identifier: MIT
// Losses with class targets: negative log likelihood, with its gradient, cross entropy and margin losses.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/ctc.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/loss.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline std::string_view reduction_name(std::int64_t mode) { return mode == 0 ? "none" : mode == 1 ? "mean" : "sum"; }

// Scores and class targets. Besides [N, C, ...] with [N, ...], ATen accepts [C] or a 0-d score with a 0-d target.

struct class_scores {
    value scores; ///< [N, C, ...]
    value target; ///< [N, ...]
    bool batched = false;
};
inline class_scores batched_classes(graph<7> g, value scores, value target) {
    value const index = g.cast(target, dtype::int64);
    if (scores.rank() > 1) return {scores, index, true};
    value const row = g.op<"Reshape">(scores, g.ints({1, -1}));
    return {row, index.rank() == 0 ? unsqueeze(g, index, 0) : index, false};
}
inline value unbatched(graph<7> g, value loss, bool batched, std::int64_t mode) {
    return batched || mode != 0 ? loss : squeeze(g, loss, safe_vector<std::int64_t>{0});
}

/// Targets whose class is ignored, marked by a number that is no class where the graph computes `ignore_index`, which
/// an attribute cannot be.
inline value mark_ignored(graph<9> g, value target, sym_int& ignore_index) {
    if (ignore_index.is_constant()) return target;
    constexpr std::int64_t no_class = -100;
    value const index = g.cast(target, dtype::int64);
    value const ignored = is_equal(g, index, ignore_index);
    ignore_index = no_class;
    return choose(g, ignored, g.scalar(no_class, dtype::int64), index);
}

/// The weights of the targets, 0 for ignored ones.
inline value target_weights(graph<9> g, value target, optional_value weight, std::int64_t ignore_index, dtype type) {
    value const counts = g.op<"Not">(is_equal(g, target, g.scalar(ignore_index, dtype::int64)));
    if (!weight) return g.cast(counts, type);
    value const safe = choose(g, counts, target, g.scalar(0, dtype::int64));
    return choose(g, counts, g.op<"Gather">(g.cast(*weight, type), safe, attr::axis_i(0)), g.scalar(0, type));
}

/// One of ONNX's losses, in dtype `type`. The mean over no targets is NaN.
template <fixed_string Op>
value onnx_class_loss(graph<12> g, value scores, value target, optional_value weight, std::int64_t mode,
                      std::int64_t ignore_index, dtype type) {
    class_scores const c = batched_classes(g, scores, target);
    if (mode == 1 && is_empty_along(c.target, iota(c.target.rank())))
        return g.scalar(std::numeric_limits<double>::quiet_NaN(), scores.dtype());
    optional_value const w = weight ? optional_value(g.cast(*weight, type)) : weight;
    value const loss = g.op<Op>(g.cast(c.scores, type),
                                c.target,
                                w,
                                attr::ignore_index_i(ignore_index),
                                attr::reduction_s(reduction_name(mode)));
    return unbatched(g, g.cast(loss, scores.dtype()), c.batched, mode);
}

inline value nll_loss(graph<12> g, value scores, value target, optional_value weight, std::int64_t mode,
                      std::int64_t ignore_index) {
    // NegativeLogLikelihoodLoss supports bfloat16 since opset 22.
    dtype const type = g.opset() < 22 && scores.dtype() == dtype::bfloat16 ? dtype::float32 : scores.dtype();
    return onnx_class_loss<"NegativeLogLikelihoodLoss">(g, scores, target, weight, mode, ignore_index, type);
}

/// ATen requires weights of the dtype of the scores.
inline void expect_same_dtype(value scores, optional_value weight) {
    if (weight && weight->dtype() != scores.dtype())
        throw unsupported_error("weights of " + std::string(name(weight->dtype())) + " for scores of " +
                                std::string(name(scores.dtype())));
}

inline constexpr auto nll_row = [](graph<12> g, value self, value target, optional_value weight, std::int64_t mode,
                                   sym_int ignore_index) {
    expect_same_dtype(self, weight);
    target = mark_ignored(g, target, ignore_index);
    return nll_loss(g, self, target, weight, mode, ignore_index.constant());
};
/// ATen's total_weight is 0 for a batch that is not reduced.
inline constexpr auto nll_forward_row = [](graph<12> g, value self, value target, optional_value weight,
                                           std::int64_t mode, sym_int ignored) -> std::tuple<value, value> {
    expect_same_dtype(self, weight);
    target = mark_ignored(g, target, ignored);
    std::int64_t const ignore_index = ignored.constant();
    value total = g.scalar(0, self.dtype());
    if (mode != 0 || self.rank() == 1) {
        value const w = target_weights(g, g.cast(target, dtype::int64), weight, ignore_index, self.dtype());
        total = g.cast(reduce_sum(g, w, iota(w.rank()), false), self.dtype());
    }
    return {nll_loss(g, self, target, weight, mode, ignore_index), total};
};

/// The class axis of cross entropy: 1, or 0 for a single sample.
inline std::int64_t class_axis(value scores) { return scores.rank() == 1 ? 0 : 1; }

/// x [C] reshaped to broadcast along the class axis.
inline value along_classes(graph<7> g, value x, value scores) {
    safe_vector<std::int64_t> after = iota(scores.rank() - 1 - class_axis(scores));
    for (std::int64_t& a : after) ++a;
    return after.empty() ? x : unsqueeze(g, x, after);
}
inline value class_weights(graph<7> g, value weight, value scores) {
    return along_classes(g, g.cast(weight, scores.dtype()), scores);
}

/// Cross entropy with class probabilities as targets; the mean is over samples, not elements.
inline value soft_cross_entropy(graph<7> g, value scores, value target, optional_value weight, std::int64_t mode,
                                double smoothing) {
    std::int64_t const axis = class_axis(scores);
    value const log_p = along_axis<"LogSoftmax">(g, scores, axis);
    value p = g.cast(target, scores.dtype());
    value const classes = g.cast(g.to_value(g.size(scores, axis)), scores.dtype());
    if (smoothing > 0) {
        value const kept = g.op<"Mul">(p, g.scalar_like(1 - smoothing, p));
        p = g.op<"Add">(kept, g.op<"Div">(g.scalar(smoothing, p.dtype()), classes));
    }
    value const product = g.op<"Mul">(log_p, p);
    value const terms = g.op<"Neg">(weight ? value(g.op<"Mul">(product, class_weights(g, *weight, scores))) : product);
    if (mode == 0) return reduce_sum(g, terms, safe_vector{axis}, false);
    value const total = reduce_sum(g, terms, iota(terms.rank()), false);
    if (mode == 2) return total;
    return g.op<"Div">(total, g.op<"Div">(count_along(g, scores, iota(scores.rank()), scores.dtype()), classes));
}

/// Cross entropy with label smoothing, which is distributed evenly over all classes.
inline value smoothed_cross_entropy(graph<12> g, value scores, value target, optional_value weight, std::int64_t mode,
                                    std::int64_t ignore_index, double smoothing) {
    std::int64_t const axis = class_axis(scores);
    dtype const type = scores.dtype();
    value const log_p = along_axis<"LogSoftmax">(g, scores, axis);
    value const nll = nll_loss(g, log_p, target, weight, mode, ignore_index);
    value const index = g.cast(target, dtype::int64);
    value const all =
        g.op<"Neg">(reduce_sum(g,
                               weighted(g, log_p, weight ? optional_value(class_weights(g, *weight, scores)) : weight),
                               safe_vector{axis},
                               false));
    value const ignored = is_equal(g, index, g.scalar(ignore_index, dtype::int64));
    value smooth = choose(g, ignored, g.scalar(0, type), all);
    safe_vector<std::int64_t> const axes = iota(smooth.rank());
    if (mode != 0) smooth = reduce_sum(g, smooth, axes, false);
    if (mode == 1)
        smooth = g.op<"Div">(smooth, reduce_sum(g, target_weights(g, index, weight, ignore_index, type), axes, false));
    value const share = g.op<"Div">(g.scalar(smoothing, type), g.cast(g.to_value(g.size(scores, axis)), type));
    return g.op<"Add">(g.op<"Mul">(nll, g.scalar_like(1 - smoothing, nll)), g.op<"Mul">(smooth, share));
}

inline constexpr auto cross_entropy =
    symbolic<"aten::cross_entropy_loss(self, target, weight, reduction, ignore_index, label_smoothing)">(
        [](graph<12> g, value scores, value target, optional_value weight, std::int64_t mode, sym_int ignored,
           double smoothing) -> value {
            if (target.rank() == scores.rank() && is_floating(target.dtype()))
                return soft_cross_entropy(g, scores, target, weight, mode, smoothing);
            expect_same_dtype(scores, weight);
            target = mark_ignored(g, target, ignored);
            std::int64_t const ignore_index = ignored.constant();
            if (smoothing > 0) return smoothed_cross_entropy(g, scores, target, weight, mode, ignore_index, smoothing);
            // ONNX Runtime expands SoftmaxCrossEntropyLoss of bfloat16 to an operator that does not take it.
            dtype const type = scores.dtype() == dtype::bfloat16 ? dtype::float32 : scores.dtype();
            return onnx_class_loss<"SoftmaxCrossEntropyLoss">(g, scores, target, weight, mode, ignore_index, type);
        });

/// The targets of a multilabel loss: each row of `target` lists classes up to the first negative one.
struct label_sets {
    value listed;    ///< [N, C]: whether the position holds a target
    value is_target; ///< [N, C]: whether the class is a target
};
inline label_sets read_labels(graph<11> g, value target) {
    value const classes = g.to_value(g.size(target, -1));
    value const position = range_to(g, [&] { return classes; });
    value const ended =
        g.op<"CumSum">(g.cast(is_less(g, target, g.scalar(0, dtype::int64)), dtype::int64), g.scalar(-1, dtype::int64));
    value const listed = is_equal(g, ended, g.scalar(0, dtype::int64));
    value const hits = g.op<"And">(is_equal(g, unsqueeze(g, target, -1), position), unsqueeze(g, listed, -1));
    return {listed, reduce_bool<"ReduceMax">(g, hits, safe_vector{target.rank() - 1}, false)};
}

/// max(0, x), and 0 for NaN.
inline value above_zero(graph<9> g, value x) {
    value const zero = g.scalar_like(0, x);
    return choose(g, is_greater(g, x, zero), x, zero);
}

/// The sum of max(0, 1 - x[y] + x[i]) over all pairs of a target y and a class i that is not a target, divided by the
/// number of classes.
inline value multilabel_margin_loss_of(graph<9> g, value x, value target, label_sets labels, std::int64_t mode) {
    value const safe = choose(g, labels.listed, target, g.scalar(0, dtype::int64));
    value const own = elements_at(g, x, safe, -1);
    value const bound = g.op<"Sub">(g.scalar_like(1, x), unsqueeze(g, own, -1)); // first, as in ATen: huge scores round
    value const hinge = above_zero(g, g.op<"Add">(bound, unsqueeze(g, x, -2)));
    value const pairs = g.op<"And">(unsqueeze(g, labels.listed, -1), unsqueeze(g, g.op<"Not">(labels.is_target), -2));
    value const terms = choose(g, pairs, hinge, g.scalar_like(0, x));
    value const total = reduce_sum(g, terms, safe_vector{x.rank() - 1, x.rank()}, false);
    return reduced(g, g.op<"Div">(total, g.cast(g.to_value(g.size(x, -1)), x.dtype())), mode);
}

/// The sum of w[y] * max(0, margin - x[y] + x[i])^p over the classes i other than y, divided by the number of classes.
inline constexpr auto multi_margin_loss =
    symbolic<"aten::multi_margin_loss(self, target, p, margin, weight, reduction)">(
        [](graph<9> g, value self, value target, number p, number margin, optional_value weight,
           std::int64_t mode) -> value {
            expect_same_dtype(self, weight);
            class_scores const c = batched_classes(g, self, target);
            value const column = unsqueeze(g, c.target, 1);
            value const own = elements_at(g, c.scores, column, 1);
            value const classes = g.to_value(g.size(c.scores, 1));
            value const bound =
                g.op<"Sub">(rounded_constant(g, margin, own.dtype()), own); // first, as in ATen: huge scores round
            value hinge = above_zero(g, g.op<"Add">(bound, c.scores));
            if (!(p == 1)) { // ATen allows 1 and 2
                value const square = g.op<"Mul">(hinge, hinge);
                hinge =
                    p.is_constant() ? square : choose(g, is_equal(g, element(g, p, dtype::int64), 2), square, hinge);
            }
            if (weight)
                hinge = g.op<"Mul">(hinge, g.op<"Gather">(g.cast(*weight, hinge.dtype()), column, attr::axis_i(0)));
            value const position = range_to(g, [&] { return classes; });
            value const others = choose(g, is_equal(g, position, column), g.scalar_like(0, hinge), hinge);
            value const loss =
                g.op<"Div">(reduce_sum(g, others, safe_vector<std::int64_t>{1}, false), g.cast(classes, hinge.dtype()));
            bool const scalar_result = !c.batched && target.rank() == 0;
            return scalar_result && mode == 0 ? squeeze(g, loss, 0) : reduced(g, loss, mode);
        });

inline constexpr auto multilabel_margin_loss = symbolic<"aten::multilabel_margin_loss(self, target, reduction)">(
    [](graph<11> g, value self, value target, std::int64_t mode) {
        value const x = at_least_1d(g, self);
        value const listed = at_least_1d(g, target);
        return multilabel_margin_loss_of(g, x, listed, read_labels(g, listed), mode);
    });

inline constexpr auto multilabel_margin_loss_forward =
    symbolic<"aten::multilabel_margin_loss_forward(self, target, reduction)">(
        [](graph<11> g, value self, value target, std::int64_t mode) -> std::tuple<value, value> {
            value const x = at_least_1d(g, self);
            value const listed = at_least_1d(g, target);
            label_sets const labels = read_labels(g, listed);
            value const is_target =
                g.cast(target.rank() == 0 ? squeeze(g, labels.is_target, 0) : labels.is_target, self.dtype());
            return {multilabel_margin_loss_of(g, x, listed, labels, mode), is_target};
        });

/// -weight[target] * grad at the targets, 0 elsewhere; for the mean, the gradient is divided by the total weight.
inline constexpr auto nll_backward = [](graph<9> g, value grad, value self, value target, optional_value weight,
                                        std::int64_t mode, sym_int ignore_index, value total_weight) -> value {
    expect_same_dtype(self, weight);
    if (self.rank() == 0) return g.unsupported("scores without a class dimension");
    if (self.rank() == 1 && target.rank() == 1 && !target.size(0).is(1))
        return g.unsupported("several targets, or a computed number of them, for scores without a batch");
    dtype const type = opmath_type(self.dtype());
    std::int64_t const axis = class_axis(self);
    value classes = g.cast(target, dtype::int64);
    if (self.rank() == 1) classes = reshape(g, classes, {1}); // 0-d or of one element
    else classes = unsqueeze(g, classes, axis);
    value each = g.cast(grad, type);
    if (mode == 1) each = g.op<"Div">(each, g.cast(total_weight, type));
    if (mode == 0 && self.rank() > 1) each = unsqueeze(g, each, axis);
    each = g.op<"Neg">(each);
    if (weight) each = g.op<"Mul">(each, along_classes(g, g.cast(*weight, type), self));
    value const position = along_classes(g, arithmetic_sequence(g, 0, g.size(self, axis)), self);
    value const is_target =
        g.op<"And">(is_equal(g, position, classes), g.op<"Not">(is_equal(g, classes, ignore_index)));
    return g.cast(g.op<"Where">(is_target, each, g.scalar(0, type)), self.dtype());
};

} // namespace detail

inline constexpr auto class_loss = table(
    symbolic<"aten::nll_loss(self, target, weight, reduction, ignore_index)">(detail::nll_row),
    symbolic<"aten::nll_loss_nd(self, target, weight, reduction, ignore_index)">(detail::nll_row),
    symbolic<"aten::nll_loss2d(self, target, weight, reduction, ignore_index)">(detail::nll_row),
    symbolic<"aten::nll_loss_forward(self, target, weight, reduction, ignore_index)">(detail::nll_forward_row),
    symbolic<"aten::nll_loss2d_forward(self, target, weight, reduction, ignore_index)">(detail::nll_forward_row),
    detail::cross_entropy,
    symbolic<
        "aten::ctc_loss.IntList(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)">(
        detail::ctc_by_list),
    symbolic<
        "aten::ctc_loss.Tensor(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity)">(
        detail::ctc_by_tensor),
    symbolic<"aten::_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)">(
        detail::ctc_forward_by_list),
    symbolic<"aten::_ctc_loss.Tensor(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)">(
        detail::ctc_forward_by_tensor),
    detail::multi_margin_loss, detail::multilabel_margin_loss, detail::multilabel_margin_loss_forward,
    symbolic<"aten::nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight)">(
        detail::nll_backward),
    symbolic<"aten::nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, total_weight)">(
        detail::nll_backward));

} // namespace ATON_NAMESPACE::mappings
