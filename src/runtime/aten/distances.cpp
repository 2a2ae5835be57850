// SPDX-License-Identifier: MIT
// ATen operators: distances and similarities of vectors.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/compute/norms.hpp"
#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "loss.hpp"
#include "products.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

term distance(term const& x, term const& y, double p, double epsilon, bool keep) {
    std::int64_t const last = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::max(x->rank(), y->rank())) - 1);
    return norm(*(x - y + epsilon), p, {last}, keep);
}

namespace {

results pairwise_distance(call const& c) {
    return *distance(c.t("x1"), c.t("x2"), c.f("p"), c.f("eps"), c.b("keepdim"));
}

results cosine_similarity(call const& c) {
    dtype const type = aten::promote_types(c.t("x1").dtype(), c.t("x2").dtype());
    if (!is_floating(type)) throw error("a cosine similarity requires a floating-point dtype");
    sizes const to = broadcast(c.t("x1").sizes(), c.t("x2").sizes());
    auto const unit = [&](std::string_view name) -> term {
        term const x = cast(c.t(name), type).expanded(to);
        return x / apply(binary_op::maximum, term(norm(*x, 2, {c.i("dim")}, true)), c.f("eps"));
    };
    return *total(unit("x1") * unit("x2"), {c.i("dim")});
}

/// sqrt(max(0, |x|^2 - 2 x y + |y|^2)) as one matrix product.
tensor euclidean(term const& x, term const& y) {
    auto const squares = [](term const& z) { return *total(z * z, {-1}, true); };
    auto const ones = [](tensor const& z) { return full(1, z.dtype(), z.sizes(), z.where()); };
    tensor const a = squares(x);
    tensor const b = squares(y);
    std::vector<tensor> const left = {*(x * -2.0), a, ones(a)};
    std::vector<tensor> const right = {*y, ones(b), b};
    tensor const squared = product(concat(left, -1), transpose(concat(right, -1), -1, -2));
    return *apply(unary_op::sqrt, hinge(squared));
}

constexpr std::int64_t max_differences = std::int64_t{1} << 24; ///< maximum elements held at once

/// Distances of [..., P, M] and [..., R, M], as [..., P, R].
tensor all_distances(tensor const& x, tensor const& y, double p) {
    std::size_t const row = x.rank() - 2;
    std::int64_t const count = x.size(row);
    if (count > 1 && x.count() > max_differences / std::max<std::int64_t>(1, y.size(row))) {
        std::vector<tensor> const halves = {all_distances(x.sliced(row, 0, count / 2), y, p),
                                            all_distances(x.sliced(row, count / 2, count - count / 2), y, p)};
        return concat(halves, static_cast<std::int64_t>(row));
    }
    term const difference = x.unsqueezed(row + 1) - y.unsqueezed(row);
    if (difference->sizes().back() == 0) return *total(difference, {-1});
    if (std::isinf(p)) return norm(where(isnan(*difference), scalar(0), *difference), p, {-1}); // ATen drops NaN here
    return norm(*difference, p, {-1});
}

tensor pairwise_distances(call const& c) {
    tensor x = c.t("x1");
    tensor y = c.t("x2");
    if (x.rank() < 2 || y.rank() < 2) throw error("a batch of vectors must have at least 2 dimensions");
    if (x.sizes().back() != y.sizes().back()) throw error("the vectors have different sizes");
    double const p = c.f("p");
    if (!(p >= 0)) throw error("p is negative or NaN");
    sizes front = broadcast(std::span(x.sizes()).first(x.rank() - 2), std::span(y.sizes()).first(y.rank() - 2));
    auto const spread = [&](tensor const& z) {
        sizes to = front;
        to.insert(to.end(), z.sizes().end() - 2, z.sizes().end());
        return z.expanded(to);
    };
    x = spread(x);
    y = spread(y);
    std::int64_t const mode = c.maybe_i("compute_mode").value_or(0);
    constexpr std::int64_t max_direct = 25;
    bool const large = x.size(x.rank() - 2) > max_direct || y.size(y.rank() - 2) > max_direct;
    if (!is_floating(x.dtype()) || !is_floating(y.dtype())) throw error("a distance requires a floating-point dtype");
    if (p == 2 && x.count() != 0 && y.count() != 0 && (mode == 1 || (mode == 0 && large))) return euclidean(x, y);
    if (compute_type(x.dtype()) != x.dtype())
        throw error("distances are not supported for " + std::string(name(x.dtype())));
    return all_distances(x, y, p);
}
results cdist(call const& c) { return pairwise_distances(c); }
results euclidean_dist(call const& c) { return euclidean(c.t("x1"), c.t("x2")); }

/// The pairs above the diagonal, row by row.
results pdist(call const& c) {
    tensor const x = c.t("self");
    require_rank(x, 2, "self");
    if (!is_floating(x.dtype())) throw error("a distance requires a floating-point dtype");
    if (!(c.f("p") >= 0)) throw error("p is negative or NaN");
    std::int64_t const n = x.size(0);
    tensor const at = range(n, 0, 1, x.where());
    tensor const pairs = nonzero(less(at.unsqueezed(1), at));
    auto const vectors = [&](std::int64_t which) { return index_select(x, 0, pairs.sliced(0, which, 1).squeezed(0)); };
    tensor const difference = vectors(0) - vectors(1);
    if (difference.sizes().back() == 0) return sum(difference, {-1});
    return norm(difference, c.f("p"), {-1});
}

} // namespace

rows distances() {
    static constexpr row all[] = {
        {"pairwise_distance", pairwise_distance},
        {"cosine_similarity", cosine_similarity},
        {"cdist", cdist},
        {"_cdist_forward", cdist},
        {"_euclidean_dist", euclidean_dist},
        {"pdist", pdist},
        {"_pdist_forward", pdist},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
