// SPDX-License-Identifier: MIT
// ATen operators: losses of scores against classes.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/budget.hpp>
#include <aton/core/error.hpp>

#include "loss.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

std::int64_t class_axis(tensor const& scores) { return scores.rank() == 1 ? 0 : 1; }

struct picked_loss {
    term each;  ///< per target
    term total; ///< sum of the weights that are not ignored
};

/// -weight[target] * scores[target], 0 for ignored targets.
picked_loss picked(tensor const& scores, tensor const& target, tensor const& weight, std::int64_t ignored) {
    if (scores.rank() == 0) throw error("the scores do not have a class dimension");
    if (!is_floating(scores.dtype())) throw error("the scores must be floating-point");
    std::int64_t const axis = class_axis(scores);
    sizes expected = scores.sizes();
    expected.erase(expected.begin() + axis);
    bool const single = scores.rank() == 1 && target.count() == 1 && target.rank() <= 1;
    if (!single && target.sizes() != expected)
        throw error("scores of shape " + to_string(scores.sizes()) + " do not match targets of shape " +
                    to_string(target.sizes()));
    if (!is_integral(target.dtype())) throw error("targets must be integers");
    tensor const classes = reshape(cast(target, dtype::int64), expected);
    tensor const counts = unequal(classes, scalar(ignored));
    tensor const safe = where(counts, classes, scalar(0));
    tensor const at = safe.unsqueezed(static_cast<std::size_t>(axis));
    term const score = take_along(scores, at, axis).squeezed(static_cast<std::size_t>(axis));
    term weights = full(1, scores.dtype(), expected, scores.where());
    if (weight) {
        if (weight.rank() != 1 || weight.count() != scores.size(static_cast<std::size_t>(axis)))
            throw error("weight must have one element per class");
        weights = index_select(weight, 0, safe);
    }
    term const loss = -score * weights;
    return {where(counts, *loss, scalar(0)), total(where(counts, *weights, scalar(0)), all_axes(*weights))};
}

/// The loss by 'reduction', and the total weight.
std::pair<tensor, tensor> nll(call const& c, tensor const& scores) {
    picked_loss const loss = picked(scores, c.t("target"), c.maybe("weight"), c.i("ignore_index"));
    if (c.i("reduction") == 0) {
        bool const none = scores.rank() != 1; // ATen returns 0 as total weight without a reduction
        return {*loss.each, none ? *(loss.total * 0.0) : *loss.total};
    }
    term const sum = total(loss.each, all_axes(*loss.each));
    return {c.i("reduction") == 1 ? *(sum / loss.total) : *sum, *loss.total};
}

results nll_loss(call const& c) { return nll(c, c.t("self")).first; }
results nll_loss_forward(call const& c) {
    auto const [loss, weight] = nll(c, c.t("self"));
    return {loss, weight};
}

/// The gradients, written to the classes of the targets in zeros.
results nll_loss_backward(call const& c) {
    tensor const scores = c.t("self");
    if (scores.rank() == 0 || !is_floating(scores.dtype())) throw error("the scores are not of floats with classes");
    auto const axis = static_cast<std::size_t>(class_axis(scores));
    sizes expected = scores.sizes();
    expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(axis));
    tensor const classes = reshape(cast(c.t("target"), dtype::int64), expected);
    tensor const counts = unequal(classes, scalar(c.i("ignore_index")));
    tensor const safe = where(counts, classes, scalar(0));
    dtype const in = compute_type(scores.dtype());
    tensor each = cast(c.t("grad_output"), in);
    if (c.i("reduction") == 1) each = each / cast(c.t("total_weight"), in);
    if (c.i("reduction") == 0) each = reshape(each, expected);
    if (c.given("weight")) each = each * cast(index_select(c.t("weight"), 0, safe), in);
    tensor const written = where(counts, -each, scalar(0));
    sizes per_class(scores.rank(), 1);
    per_class[axis] = scores.size(axis);
    tensor const position = reshape(range(scores.size(axis), 0, 1, scores.where()), per_class);
    tensor const out =
        where(equal(position, safe.unsqueezed(axis)), written.expanded(expected).unsqueezed(axis), scalar(0));
    return cast(out, scores.dtype());
}

/// The class weights, reshaped to broadcast against the scores.
term beside(tensor const& weight, tensor const& scores) {
    sizes to(scores.rank(), 1);
    to[static_cast<std::size_t>(class_axis(scores))] = weight.count();
    return reshape(weight, to);
}

/// The loss for targets that are class probabilities.
tensor of_probabilities(call const& c, term const& logs, term const& given) {
    std::int64_t const axis = class_axis(*logs);
    auto const classes = static_cast<double>(logs->size(static_cast<std::size_t>(axis)));
    double const smoothing = c.f("label_smoothing");
    term const target = smoothing > 0 ? given * (1 - smoothing) + smoothing / classes : given;
    term products = logs * target;
    if (c.given("weight")) products = products * beside(c.t("weight"), *logs);
    if (c.i("reduction") == 0) return *-total(products, {axis});
    term const sum = -total(products, all_axes(*products));
    if (c.i("reduction") == 2) return *sum;
    if (logs->count() == 0) return *(sum + std::numeric_limits<double>::quiet_NaN());
    return *(sum / (static_cast<double>(logs->count()) / classes));
}

/// The loss of the other classes, for label smoothing.
term smooth_loss(call const& c, term const& logs) {
    std::int64_t const axis = class_axis(*logs);
    tensor const target = c.t("target");
    tensor const weight = c.maybe("weight");
    tensor const counts = unequal(target, scalar(c.i("ignore_index")));
    term const all = -total(weight ? logs * beside(weight, *logs) : logs, {axis});
    term each = where(counts, *all, scalar(0));
    if (c.i("reduction") == 0) return each;
    term sum = total(each, all_axes(*each));
    if (c.i("reduction") == 2) return sum;
    if (!weight) return sum / total(counts, all_axes(counts));
    tensor const weights = index_select(weight, 0, where(counts, target, scalar(0)));
    return sum / total(where(counts, weights, scalar(0)), all_axes(weights));
}

results cross_entropy_loss(call const& c) {
    tensor const scores = c.t("self");
    double const smoothing = c.f("label_smoothing");
    if (smoothing < 0 || smoothing > 1) throw error("label_smoothing is not between 0 and 1");
    if (scores.rank() == 0) throw error("the scores do not have a class dimension");
    std::int64_t const axis = class_axis(scores);
    if (!is_floating(scores.dtype())) throw error("the scores must be floating-point");
    term const logs = log_softmax_of(scores, axis);
    if (scores.sizes() == c.t("target").sizes()) {
        if (!is_floating(c.t("target").dtype())) throw error("class probabilities must be floating-point");
        if (c.i("ignore_index") >= 0) throw error("ignore_index does not apply to class probabilities");
        return of_probabilities(c, logs, c.t("target"));
    }
    term const loss = nll(c, *logs).first;
    if (smoothing == 0) return *loss;
    auto const classes = static_cast<double>(scores.size(static_cast<std::size_t>(axis)));
    return *((1 - smoothing) * loss + smooth_loss(c, logs) * (smoothing / classes));
}

/// Scores as [N, C] with the targets of each row. `batched`: whether they were given as a batch.
struct score_rows {
    tensor scores;
    tensor target;
    bool batched = false;
};
score_rows rows_of(call const& c, std::size_t target_rank) {
    tensor const scores = c.t("self");
    tensor const target = c.t("target");
    if (scores.rank() > 2) throw error("the scores have more than 2 dimensions");
    if (!is_floating(scores.dtype())) throw error("the scores must be floating-point");
    std::int64_t const classes = scores.rank() == 0 ? 1 : scores.sizes().back();
    std::int64_t const count = scores.rank() == 2 ? scores.size(0) : 1;
    if (classes == 0) throw error("the number of classes is 0");
    sizes to = {count};
    if (target_rank == 2) to.push_back(classes);
    return {reshape(scores, {count, classes}), reshape(cast(target, dtype::int64), to), scores.rank() == 2};
}

/// max(x, 0), but 0 for NaN.
term above_zero(term const& x) { return where(greater(*x, 0), *x, scalar(0)); }

results multi_margin_loss(call const& c) {
    auto const [scores, target, batched] = rows_of(c, 1);
    std::int64_t const power = c.i("p");
    if (power != 1 && power != 2) throw error("p is neither 1 nor 2");
    tensor const at = target.unsqueezed(1);
    term const right = take_along(scores, at, 1);
    term loss = above_zero(c.f("margin") - right + term(scores));
    if (power == 2) loss = loss * loss;
    if (c.given("weight")) loss = loss * term(index_select(c.t("weight"), 0, target).unsqueezed(1));
    tensor const classes = range(scores.size(1), 0, 1, scores.where());
    loss = where(equal(classes, at), scalar(0), *loss);
    term const each = total(loss, {1}) / static_cast<double>(scores.size(1));
    bool const list = c.t("target").rank() != 0;
    return reduced(c, list && batched ? each : term(reshape(*each, list ? sizes{1} : sizes{})));
}

/// The targets of a row end before the first negative one.
std::pair<tensor, tensor> multilabel(call const& c) {
    auto const [scores, target, batched] = rows_of(c, 2);
    if (target.sizes() != scores.sizes()) throw error("self and target have different sizes");
    std::int64_t const classes = scores.size(1);
    tensor const ends = cast(less(target, 0), dtype::int64);
    tensor const valid = equal(scan(scan_op::max, ends, 1), 0);
    tensor const safe = where(valid, target, scalar(0));
    tensor const none = full(0, dtype::int64, scores.sizes(), scores.where());
    tensor const marks = put(none, positions_along(scores.sizes(), safe, 1), cast(valid, dtype::int64), put_op::max);
    term const right = take_along(scores, safe, 1).unsqueezed(2);
    term const margins = above_zero(1.0 - right + term(scores.unsqueezed(1)));
    tensor const counts = logical_and(valid.unsqueezed(2), equal(marks, 0).unsqueezed(1));
    term const each = total(where(counts, *margins, scalar(0)), {1, 2}) / static_cast<double>(classes);
    tensor const is_target = reshape(cast(marks, scores.dtype()), c.t("target").sizes());
    return {reduced(c, batched ? each : term(reshape(*each, {}))), is_target};
}
results multilabel_margin_loss(call const& c) { return multilabel(c).first; }
results multilabel_margin_loss_forward(call const& c) {
    auto const [loss, is_target] = multilabel(c);
    return {loss, is_target};
}

/// Targets, given in rows or concatenated, as rows of `width` classes with blanks between and around them: [N, 2 *
/// width + 1].
tensor with_blanks(call const& c, std::vector<std::int64_t> const& lengths, std::int64_t width, std::int64_t classes) {
    tensor const given =
        cast(to_host(c.t("targets")), dtype::int64); // few integers; the lengths say which of them count
    std::vector<std::int64_t> const targets = given.contiguous().integers();
    auto const n = static_cast<std::int64_t>(lengths.size());
    std::int64_t const row = given.rank() == 2 ? given.size(1) : 0;
    tensor const out = tensor::empty(dtype::int64, {n, 2 * checked_int(width) + 1});
    std::fill_n(out.data<std::int64_t>(), out.count(), c.i("blank"));
    std::int64_t start = 0;
    for (std::int64_t i = 0; i != n; ++i) {
        std::int64_t const length = lengths[static_cast<std::size_t>(i)];
        std::int64_t const first = given.rank() == 2 ? i * row : start;
        if (length < 0 || (given.rank() == 2 && length > row) ||
            first + length > static_cast<std::int64_t>(targets.size()))
            throw error("target_lengths do not match the targets");
        for (std::int64_t k = 0; k != length; ++k) {
            std::int64_t const label = targets[static_cast<std::size_t>(first + k)];
            if (label < 0 || label >= classes) throw error("a target is out of range");
            out.data<std::int64_t>()[i * (2 * width + 1) + 2 * k + 1] = label;
        }
        start += length;
    }
    return to_device(out, c.where());
}

std::vector<std::int64_t> lengths_of(call const& c, std::string_view name) {
    if (c.argument(name).kind != aten::argument_kind::tensor) return c.ints(name);
    return flatten(cast(to_host(c.t(name)), dtype::int64)).integers();
}

/// log(exp(x) + exp(y) + exp(z)); -inf if all are.
tensor log_of_sum(tensor const& x, tensor const& y, tensor const& z) {
    tensor const highest = maximum(maximum(x, y), z);
    tensor const safe = where(equal(highest, scalar(-infinity)), scalar(0), highest);
    return log(exp(x - safe) + exp(y - safe) + exp(z - safe)) + safe;
}

struct ctc {
    tensor loss;  ///< [N]
    tensor alpha; ///< [N, T, 2 * S + 1]: log-probability of each prefix of the targets with blanks, at each time
};
ctc ctc_of(call const& c) {
    tensor logs = c.t("log_probs"); // [T, N, C]
    if (logs.rank() == 2) logs = logs.unsqueezed(1);
    require_rank(logs, 3, "log_probs");
    if (logs.dtype() != dtype::float32 && logs.dtype() != dtype::float64)
        throw error("log_probs must be float32 or float64");
    std::vector<std::int64_t> const inputs = lengths_of(c, "input_lengths");
    std::vector<std::int64_t> const lengths = lengths_of(c, "target_lengths");
    std::int64_t const n = logs.size(1);
    std::int64_t const blank = c.i("blank");
    if (static_cast<std::int64_t>(inputs.size()) != n || inputs.size() != lengths.size() || n == 0)
        throw error("input_lengths and target_lengths must have one element per sequence");
    if (blank < 0 || blank >= logs.size(2)) throw error("blank is out of range");
    for (std::int64_t const length : inputs)
        if (length < 0 || length > logs.size(0)) throw error("an input length is out of range");
    std::int64_t const width = *std::max_element(lengths.begin(), lengths.end());
    tensor const labels = with_blanks(c, lengths, width, logs.size(2));
    std::int64_t const states = 2 * width + 1;
    device const here = logs.where();
    tensor const before = pad(labels, {0, 2}, {0, 0}, -1).sliced(1, 0, states);
    tensor const skips = unequal(labels, before);
    tensor const none = full(-infinity, logs.dtype(), {n, states}, here);
    tensor const at = range(states, 0, 1, here);
    tensor const ends = to_device(tensor::of_integers(inputs), here).unsqueezed(1);
    tensor const end = to_device(tensor::of_integers(lengths), here).unsqueezed(1) * scalar(2);
    auto const moved = [&](tensor const& x, std::int64_t by) {
        return pad(x, {0, by}, {0, 0}, -infinity).sliced(1, 0, states);
    };
    tensor now;
    tensor last = none;
    std::vector<tensor> all;
    for (std::int64_t t = 0; t != logs.size(0); ++t) {
        tensor const here_now = take_along(logs.sliced(0, t, 1).squeezed(0), labels, 1);
        if (t == 0) now = where(logical_and(less(at, 2), less_equal(at, end)), here_now, none);
        else now = log_of_sum(now, moved(now, 1), where(skips, moved(now, 2), none)) + here_now;
        now = where(greater(ends, scalar(t)), now, none);
        last = where(equal(ends, scalar(t + 1)), now, last);
        all.push_back(now);
    }
    tensor const final_label =
        where(greater(end, 0), take_along(last, clamp(end - scalar(1), 0, 1e18), 1), scalar(-infinity));
    tensor likelihood = log_of_sum(take_along(last, end, 1), final_label, full(-infinity, logs.dtype(), {}, here));
    // An empty sequence has probability 1 if its target is empty, otherwise 0.
    likelihood =
        where(equal(ends, 0), where(equal(end, 0), scalar(0), full(-infinity, logs.dtype(), {n, 1}, here)), likelihood);
    tensor const alpha = all.empty() ? full(0, logs.dtype(), {n, 0, states}, here) : stack(all, 1);
    return {-likelihood.squeezed(1), alpha};
}

results ctc_forward(call const& c) {
    ctc const out = ctc_of(c);
    return {out.loss, out.alpha};
}
results ctc_loss(call const& c) {
    tensor loss = ctc_of(c).loss;
    if (c.b("zero_infinity")) loss = where(equal(loss, scalar(infinity)), scalar(0), loss);
    if (c.i("reduction") == 1) {
        tensor const lengths = to_device(tensor::of_integers(lengths_of(c, "target_lengths")), loss.where());
        loss = loss / cast(maximum(lengths, 1), loss.dtype());
    }
    tensor const out = reduced(c, loss);
    bool const single = c.i("reduction") == 0 && c.t("log_probs").rank() == 2;
    return single ? out.squeezed(0) : out;
}

} // namespace

rows class_loss() {
    static constexpr row all[] = {
        {"nll_loss", nll_loss},
        {"nll_loss2d", nll_loss},
        {"nll_loss_nd", nll_loss},
        {"nll_loss_forward", nll_loss_forward},
        {"nll_loss2d_forward", nll_loss_forward},
        {"nll_loss_backward", nll_loss_backward},
        {"nll_loss2d_backward", nll_loss_backward},
        {"cross_entropy_loss", cross_entropy_loss},
        {"ctc_loss.IntList", ctc_loss},
        {"ctc_loss.Tensor", ctc_loss},
        {"_ctc_loss", ctc_forward},
        {"_ctc_loss.Tensor", ctc_forward},
        {"multi_margin_loss", multi_margin_loss},
        {"multilabel_margin_loss", multilabel_margin_loss},
        {"multilabel_margin_loss_forward", multilabel_margin_loss_forward},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
