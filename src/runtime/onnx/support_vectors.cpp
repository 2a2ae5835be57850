// SPDX-License-Identifier: MIT
// ONNX operators: support vector machines (ai.onnx.ml), as LIBSVM computes them.
#include "call.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

#include "classifiers.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// A list attribute as a matrix with `rows` rows.
tensor matrix(call const& c, char const* name, std::int64_t rows, dtype type) {
    std::vector<float> const list = c.floats(name);
    auto const count = static_cast<std::int64_t>(list.size());
    if (rows <= 0 || count % rows != 0)
        throw error("'" + std::string(name) + "' has " + std::to_string(count) +
                    " elements, which is not a multiple of " + std::to_string(rows) + " rows");
    return cast(reshape(numbers(c, list), {rows, count / rows}), type);
}

/// [N, vectors]: the kernel function of each row with each support vector.
tensor kernel_values(call const& c, tensor const& x, tensor const& vectors) {
    std::string const type = c.s("kernel_type", "LINEAR");
    std::vector<float> const p = c.floats("kernel_params");
    auto const parameter = [&](std::size_t i) { return scalar(i < p.size() ? p[i] : 0.0F); };
    if (vectors.size(1) != x.size(1)) throw error("support vectors do not have as many features as the input");
    if (type == "RBF") {
        tensor const apart = sum(square(x.unsqueezed(1) - vectors), {2});
        return exp(-(apart * parameter(0)));
    }
    tensor products = matmul(x, transpose(vectors, 0, 1));
    if (type == "LINEAR") return products;
    tensor const scaled = products * parameter(0) + parameter(1);
    if (type == "POLY") return pow(scaled, parameter(2));
    if (type == "SIGMOID") return tanh(scaled);
    throw error("unknown kernel_type '" + type + "'");
}

float offset(call const& c, std::size_t i) {
    std::vector<float> const rho = c.floats("rho");
    if (i >= rho.size()) throw error("'rho' has too few elements");
    return rho[i];
}

results svm_regressor(call const& c) {
    tensor const x = features(c);
    std::int64_t const vectors = c.i("n_supports", 0);
    tensor values = x;
    if (vectors > 0) values = kernel_values(c, x, matrix(c, "support_vectors", vectors, x.dtype()));
    tensor const coefficients = matrix(c, "coefficients", 1, x.dtype());
    if (coefficients.size(1) != values.size(1)) throw error("'coefficients' does not match the support vectors");
    tensor const scores = matmul(values, transpose(coefficients, 0, 1)) + scalar(offset(c, 0));
    if (c.i("one_class", 0) != 0)
        return cast(cast(greater(scores, scalar(0)), dtype::float32) * scalar(2) - scalar(1), dtype::float32);
    return cast(transformed_scores(scores, c.s("post_transform", "NONE")), dtype::float32);
}

struct decision {
    tensor scores; ///< [N, pairs of classes], or [N, classes]
    tensor votes;  ///< [N, classes]: the maximum selects the class
};

/// One-vs-one: each pair of classes votes for one of them.
decision by_pairs(call const& c, tensor const& x, std::vector<std::int64_t> const& per_class) {
    auto const classes = static_cast<std::int64_t>(per_class.size());
    std::vector<std::int64_t> starts(1, 0);
    for (std::int64_t n : per_class) {
        if (n < 0 || n > INT32_MAX) throw error("'vectors_per_class' has an element that is out of range");
        starts.push_back(starts.back() + n);
    }
    if (classes < 2 || starts.back() == 0) throw error("support vectors of two classes or more are expected");
    tensor const values = kernel_values(c, x, matrix(c, "support_vectors", starts.back(), x.dtype()));
    tensor const coefficients = matrix(c, "coefficients", classes - 1, x.dtype());
    if (coefficients.size(1) != starts.back()) throw error("'coefficients' does not match the support vectors");
    auto const part = [&](std::int64_t of, std::int64_t against) { // [N, 1]
        auto const at = static_cast<std::size_t>(of);
        tensor const mine = values.sliced(1, starts[at], per_class[at]);
        tensor const weights = coefficients.sliced(0, against, 1).sliced(1, starts[at], per_class[at]);
        return matmul(mine, transpose(weights, 0, 1));
    };
    std::vector<tensor> scores;
    std::vector<tensor> votes(per_class.size(), full(0, x.dtype(), {x.size(0), 1}, x.where()));
    for (std::int64_t i = 0; i != classes; ++i)
        for (std::int64_t j = i + 1; j != classes; ++j) {
            tensor const score = part(i, j - 1) + part(j, i) + scalar(offset(c, scores.size()));
            tensor const first = cast(greater(score, scalar(0)), x.dtype());
            votes[static_cast<std::size_t>(i)] = votes[static_cast<std::size_t>(i)] + first;
            votes[static_cast<std::size_t>(j)] = votes[static_cast<std::size_t>(j)] + (1.0 - first);
            scores.push_back(score);
        }
    return {concat(scores, 1), concat(votes, 1)};
}

/// One linear model per class.
decision by_classes(call const& c, tensor const& x, std::int64_t classes) {
    tensor const coefficients = matrix(c, "coefficients", classes, x.dtype());
    if (coefficients.size(1) != x.size(1)) throw error("'coefficients' does not match the input");
    tensor const scores = matmul(x, transpose(coefficients, 0, 1)) + scalar(offset(c, 0));
    return {scores, scores};
}

/// Probabilities of k classes from those of pairs: the second method of Wu, Lin and Weng (2004), with LIBSVM's
/// iteration. `r` is [k, k].
std::vector<double> coupled(std::vector<double> const& r, std::size_t k) {
    std::vector<double> q(k * k);
    for (std::size_t t = 0; t != k; ++t)
        for (std::size_t j = 0; j != k; ++j) {
            if (j == t) continue;
            q[t * k + t] += r[j * k + t] * r[j * k + t];
            q[t * k + j] = -r[j * k + t] * r[t * k + j];
        }
    std::vector<double> p(k, 1.0 / static_cast<double>(k));
    std::vector<double> qp(k);
    for (std::size_t round = 0; round != std::max<std::size_t>(100, k); ++round) {
        for (std::size_t t = 0; t != k; ++t)
            qp[t] = std::inner_product(p.begin(), p.end(), q.begin() + static_cast<std::ptrdiff_t>(t * k), 0.0);
        double pqp = std::inner_product(p.begin(), p.end(), qp.begin(), 0.0);
        double worst = 0;
        for (double v : qp) worst = std::max(worst, std::abs(v - pqp));
        if (worst < 0.005 / static_cast<double>(k)) break;
        for (std::size_t t = 0; t != k; ++t) {
            double const diff = (pqp - qp[t]) / q[t * k + t];
            p[t] += diff;
            pqp = (pqp + diff * (diff * q[t * k + t] + 2 * qp[t])) / (1 + diff) / (1 + diff);
            for (std::size_t j = 0; j != k; ++j) {
                qp[j] = (qp[j] + diff * q[t * k + j]) / (1 + diff);
                p[j] /= 1 + diff;
            }
        }
    }
    return p;
}

/// [N, classes], on the host: each row is iterated until it converges.
tensor probabilities(call const& c, tensor const& scores, std::size_t k) {
    std::vector<float> const a = c.floats("prob_a");
    std::vector<float> const b = c.floats("prob_b");
    auto const pairs = static_cast<std::size_t>(scores.size(1));
    if (a.size() != pairs || b.size() != pairs)
        throw error("'prob_a' and 'prob_b' must have one element per pair of classes");
    tensor const from = to_host(cast(scores, dtype::float64)).contiguous();
    tensor const out = tensor::empty(dtype::float64, {scores.size(0), static_cast<std::int64_t>(k)});
    std::vector<double> r(k * k);
    for (std::int64_t n = 0; n != scores.size(0); ++n) {
        double const* score = from.data<double const>() + n * scores.size(1);
        for (std::size_t i = 0, pair = 0; i != k; ++i)
            for (std::size_t j = i + 1; j != k; ++j, ++pair) {
                double const fit = score[pair] * static_cast<double>(a[pair]) + static_cast<double>(b[pair]);
                double const p = std::clamp(1 / (1 + std::exp(fit)), 1e-7, 1 - 1e-7);
                r[i * k + j] = p;
                r[j * k + i] = 1 - p;
            }
        std::ranges::copy(coupled(r, k), out.data<double>() + n * static_cast<std::int64_t>(k));
    }
    return to_device(cast(out, scores.dtype()), scores.where());
}

// Votes select the class, even with probabilities. With two classes, a single score is returned as scores of both.
results svm_classifier(call const& c) {
    tensor const x = features(c);
    std::vector<std::int64_t> const integers = c.ints("classlabels_ints");
    std::vector<std::string> const strings = c.strings("classlabels_strings");
    std::vector<std::int64_t> const per_class = c.ints("vectors_per_class");
    std::size_t const classes = std::max(integers.size(), strings.size());
    bool const has_vectors = !per_class.empty();
    if (classes < 2 || (has_vectors && per_class.size() != classes))
        throw error("at least two class labels are expected, one per element of 'vectors_per_class'");
    decision const d = has_vectors ? by_pairs(c, x, per_class) : by_classes(c, x, static_cast<std::int64_t>(classes));
    tensor scores = d.scores;
    if (has_vectors && !c.floats("prob_a").empty()) {
        scores = probabilities(c, d.scores, classes);
    } else if (scores.size(1) == 1) {
        std::vector<tensor> const both = {-scores, scores};
        scores = concat(both, 1);
    }
    scores = cast(transformed_scores(scores, c.s("post_transform", "NONE")), dtype::float32);
    return {labels_at(c, arg_max(d.votes, 1), integers, strings), scores};
}

} // namespace

rows support_vectors() {
    static constexpr row all[] = {
        {"SVMClassifier", svm_classifier, ml_domain},
        {"SVMRegressor", svm_regressor, ml_domain},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
