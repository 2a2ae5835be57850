// SPDX-License-Identifier: MIT
// Distances and similarities of vectors: aten's cdist, pdist, pairwise_distance and cosine_similarity.
// Public header.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/unary.hpp>
#include <aton/mappings/norm.hpp>

namespace ATON_NAMESPACE::mappings {

/// aten::pairwise_distance: the norm of a - b + eps along the last axis.
inline value pairwise_distance_of(graph<9> g, value a, value b, double p, double eps, bool keepdim) {
    dtype const type = promote(a, b);
    if (type == dtype::float16 && eps > largest_number(type)) return g.unsupported("an eps that does not fit float16");
    value const difference = detail::arithmetic<"Sub">(g, g.cast(a, type), g.cast(b, type));
    value const shifted =
        g.op<"Add">(g.cast(difference, to_floating(type)), rounded_constant(g, eps, to_floating(type)));
    return vector_norm(g, shifted, p, detail::axis_of(-1, shifted), keepdim);
}

/// aten::cosine_similarity: each operand is broadcast, then divided by max(its norm, eps).
inline value cosine_similarity_of(graph<9> g, value a, value b, std::int64_t dim, double eps) {
    dtype const type =
        to_floating(aten::promote_types(a.dtype(), b.dtype())); // ATen expands 0-d tensors before promotion
    std::int64_t const rank = a.rank() > b.rank() ? a.rank() : b.rank();
    std::int64_t const axis = normalize_axis(dim, rank);
    bool const aligned = a.rank() == b.rank() && (rank == 0 || a.size(axis).same_as(b.size(axis)));
    auto const unit = [&](value x, value other) -> value {
        value const y = g.cast(aligned ? x : value(expand_by(g, x, g.shape_of(other))), type);
        value const length = vector_norm(g, y, 2, detail::axis_of(dim, y), true);
        return g.op<"Div">(y, max_of(g, length, rounded_constant(g, eps, type)));
    };
    value const product = g.op<"Mul">(unit(a, b), unit(b, a));
    return reduce_sum(g, product, detail::axis_of(dim, product), false);
}

namespace detail {

/// Distances between the rows of a (..., P, M) and b (..., R, M). Of order infinity, ATen's cdist drops differences
/// that are NaN.
inline value distances(graph<7> g, value a, value b, double p, bool drops_nan) {
    std::int64_t const last[] = {-1};
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (exactly_equal(p, infinity) && a.size(-1).is(0)) return g.unsupported("a maximum over zero columns");
    if (std::isfinite(p) && p > 1e30) return g.unsupported("a finite order above 1e30");
    value const difference = g.op<"Sub">(unsqueeze(g, a, -2), unsqueeze(g, b, -3));
    if (exactly_equal(p, 2)) return g.op<"Sqrt">(reduce_sum(g, g.op<"Mul">(difference, difference), last, false));
    value const magnitude = g.op<"Abs">(difference);
    if (exactly_equal(p, 1)) return reduce_sum(g, magnitude, last, false);
    if (exactly_equal(p, 0))
        return reduce_sum(g, g.cast(g.op<"Not">(is_equal(g, magnitude, 0)), a.dtype()), last, false);
    if (exactly_equal(p, infinity)) {
        bool const exact = watches_nan(g, a);
        if (exact && drops_nan && g.opset() < 9) return g.unsupported("NaN in a maximum below opset 9");
        if (exact && drops_nan) {
            value const zero = g.scalar_like(0, magnitude);
            value const known = choose(g.within<9>(), is_nan(g, magnitude), zero, magnitude);
            return reduce<"ReduceMax">(g, known, last, false);
        }
        value const largest = reduce<"ReduceMax">(g, magnitude, last, false);
        if (!exact) return largest;
        return marked_as_nan(g, largest, reduce_sum(g, g.cast(is_nan(g, magnitude), a.dtype()), last, false));
    }
    return g.op<"Pow">(reduce_sum(g, g.op<"Pow">(magnitude, rounded_constant(g, p, a.dtype())), last, false),
                       rounded_constant(g, 1 / p, a.dtype()));
}

/// All pairs i < j of n rows, in the order of i, then j: the list of i and the list of j.
inline std::array<value, 2> row_pairs(graph<9> g, sym_int n) {
    if (!n.is_constant()) {
        value const all = arithmetic_sequence(g, 0, n);
        value const pairs = g.op<"NonZero">(is_less(g, unsqueeze(g, all, 1), all));
        return {select(g, pairs, 0, 0), select(g, pairs, 0, 1)};
    }
    budget::expect("pairs of rows", checked_int(n.constant()) * n.constant() / 2);
    safe_vector<std::int64_t> left;
    safe_vector<std::int64_t> right;
    for (std::int64_t i = 0; i != n.constant(); ++i)
        for (std::int64_t j = i + 1; j < n.constant(); ++j) left.push_back(i), right.push_back(j);
    return {g.ints(left), g.ints(right)};
}

/// The upper triangle of the distances between the rows of one matrix, row by row.
inline constexpr auto pdist = [](graph<9> g, value x, double p) -> value {
    auto const [first, second] = row_pairs(g, g.size(x, 0));
    return in_opmath(g, x, [&, left = first, right = second](value v) { // powers may overflow float16
        value const a = g.op<"Gather">(v, left, attr::axis_i(0));
        value const b = g.op<"Gather">(v, right, attr::axis_i(0));
        return squeeze(
            g, distances(g, unsqueeze(g, a, 1), unsqueeze(g, b, 1), p, false), safe_vector<std::int64_t>{1, 2});
    });
};

/// Euclidean distances by one product of matrices: |a - b|^2 = |a|^2 - 2 a b + |b|^2.
inline value distances_by_product(graph<7> g, value a, value b) {
    std::int64_t const last[] = {-1};
    value const a_squares = reduce_sum(g, g.op<"Mul">(a, a), last, true);
    value const b_squares = reduce_sum(g, g.op<"Mul">(b, b), last, true);
    auto const ones = [&](value like) { return filled_like(g, like, 1, like.dtype()); };
    value const left =
        g.op<"Concat">(safe_vector<value>{g.op<"Mul">(a, g.scalar_like(-2, a)), a_squares, ones(a_squares)},
                       attr::axis_i(a.rank() - 1));
    value const right = g.op<"Concat">(safe_vector<value>{b, ones(b_squares), b_squares}, attr::axis_i(b.rank() - 1));
    safe_vector<std::int64_t> swapped = iota(b.rank());
    std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
    value const squares = g.op<"MatMul">(left, g.op<"Transpose">(right, attr::perm_i(swapped)));
    return g.op<"Sqrt">(max_of(g, squares, g.scalar_like(0, squares)));
}

/// Whether ATen computes Euclidean distances by a product: of more than 25 rows, or as compute_mode says (0: the
/// default, 1: always, 2: never). A product has its own NaN, of infinite elements.
inline constexpr auto cdist = [](graph<7> g, value x1, value x2, double p,
                                 std::optional<std::int64_t> compute_mode) -> value {
    bool const many = x1.size(-2).size_or(0) > 25 || x2.size(-2).size_or(0) > 25;
    bool const is_float = x1.dtype() == dtype::float32 || x1.dtype() == dtype::float64;
    std::int64_t const mode = compute_mode.value_or(0);
    if (exactly_equal(p, 2) && (mode == 1 || (mode == 0 && many && is_float))) return distances_by_product(g, x1, x2);
    return distances(g, x1, x2, p, true);
};

inline constexpr auto euclidean_dist = symbolic<"aten::_euclidean_dist(x1, x2)">(
    [](graph<7> g, value x1, value x2) -> value { return distances(g, x1, x2, 2, false); });

inline constexpr auto pairwise_distance = symbolic<"aten::pairwise_distance(x1, x2, p, eps, keepdim)">(
    [](graph<9> g, value x1, value x2, double p, double eps, bool keepdim) {
        return pairwise_distance_of(g, x1, x2, p, eps, keepdim);
    });

inline constexpr auto cosine_similarity = symbolic<"aten::cosine_similarity(x1, x2, dim, eps)">(
    [](graph<9> g, value x1, value x2, std::int64_t dim, double eps) {
        return cosine_similarity_of(g, x1, x2, dim, eps);
    });

} // namespace detail

inline constexpr auto distances =
    table(symbolic<"aten::cdist(x1, x2, p, compute_mode)">(detail::cdist),
          symbolic<"aten::_cdist_forward(x1, x2, p, compute_mode)">(detail::cdist), detail::euclidean_dist,
          symbolic<"aten::pdist(self, p)">(detail::pdist), symbolic<"aten::_pdist_forward(self, p)">(detail::pdist),
          detail::pairwise_distance, detail::cosine_similarity);

} // namespace ATON_NAMESPACE::mappings
