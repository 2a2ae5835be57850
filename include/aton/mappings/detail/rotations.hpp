// SPDX-License-Identifier: MIT
// Eigenvalues of symmetric matrices and singular values by Jacobi rotations. A step rotates disjoint pairs, which
// together have all rows: in step s, rows i and k are a pair if i + k = s modulo n. After n steps, a sweep, every pair
// was rotated once.
// Internal header.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <numbers>
#include <tuple>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/reflections.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The off-diagonal elements converge quadratically: after six to ten sweeps, they are rounding errors.
inline constexpr std::int64_t sweeps = 12;

/// The rotations of a step: row i becomes cosine * row i - sine * row partner.
struct rotation {
    value partner; ///< int64 [n]
    value cosine;  ///< [..., n]
    value sine;
};

/// The partner of each row in a step; a row that has none is its own.
inline value partners(graph<11> g, value step, value rows, value n) { return g.op<"Mod">(g.op<"Sub">(step, rows), n); }

/// The rotations that make `off`, the elements (i, partner), 0; `own` is the diagonal. Both rows of a pair take the
/// same mean of (i, k) and (k, i): where only rounding errors are left of the two, one can be positive and the other
/// negative.
inline rotation rotation_of(graph<11> g, value rows, value partner, value own, value off) {
    value const side = g.cast(g.op<"Sign">(g.op<"Sub">(partner, rows)), dtype::float64);
    value const other = gather_of(g, own, partner, own.rank() - 1);
    value const gap = g.op<"Mul">(side, g.op<"Sub">(other, own)); // the same for both
    value const twice = g.op<"Add">(off, gather_of(g, off, partner, off.rank() - 1));
    value const root = g.op<"Sqrt">(g.op<"Add">(g.op<"Mul">(gap, gap), g.op<"Mul">(twice, twice)));
    value const far = g.op<"Add">(gap, g.op<"Where">(g.op<"Less">(gap, 0), g.op<"Neg">(root), root));
    value const divisor = g.op<"Where">(g.op<"Equal">(far, 0), g.scalar(1, dtype::float64), far);
    value const tangent = g.op<"Mul">(side, g.op<"Div">(twice, divisor));
    value const cosine = g.op<"Reciprocal">(g.op<"Sqrt">(g.op<"Add">(g.op<"Mul">(tangent, tangent), 1)));
    return {partner, cosine, g.op<"Mul">(tangent, cosine)};
}
inline value rotated_columns(graph<11> g, rotation const& r, value x) {
    value const other = gather_of(g, x, r.partner, x.rank() - 1);
    value const cosine = unsqueeze(g, r.cosine, r.cosine.rank() - 1);
    value const sine = unsqueeze(g, r.sine, r.sine.rank() - 1);
    return g.op<"Sub">(g.op<"Mul">(x, cosine), g.op<"Mul">(other, sine));
}
inline value rotated_rows(graph<11> g, rotation const& r, value x) {
    value const other = gather_of(g, x, r.partner, x.rank() - 2);
    value const cosine = unsqueeze(g, r.cosine, r.cosine.rank());
    value const sine = unsqueeze(g, r.sine, r.sine.rank());
    return g.op<"Sub">(g.op<"Mul">(x, cosine), g.op<"Mul">(other, sine));
}

/// Matrices divided by a power of 2, so that the squares of squares of their elements do not overflow. float64 has room
/// for those of float32.
struct scaled_matrices {
    value x;
    optional_value factor; ///< [..., 1, 1]
};
inline scaled_matrices scaled_down(graph<11> g, value x, dtype from) {
    if (from != dtype::float64) return {x, absent};
    safe_vector<std::int64_t> const last{x.rank() - 2, x.rank() - 1};
    value const largest = reduce<"ReduceMax">(g, g.op<"Abs">(x), last, true);
    value const exponent = g.op<"Floor">(g.op<"Mul">(g.op<"Log">(largest), std::numbers::log2e));
    value const power = g.op<"Pow">(g.scalar(2, dtype::float64), exponent);
    value const factor = g.op<"Where">(g.op<"Equal">(largest, 0), g.scalar(1, dtype::float64), power);
    return {g.op<"Div">(x, factor), factor};
}
/// Values [..., k] of scaled matrices as those of the matrices.
inline value scaled_up(graph<11> g, scaled_matrices const& of, value values) {
    return of.factor ? value(g.op<"Mul">(values, squeeze(g, *of.factor, of.factor->rank() - 1))) : values;
}

/// Values [..., n] in order, and the columns of matrices [..., m, n] in the same order.
inline safe_vector<value> in_order(graph<11> g, value values, bool descending, safe_vector<value> const& matrices) {
    sym_int const n = g.size(values, -1);
    auto const [sorted, order] = g.op<"TopK">(values,
                                              as_list(g, n),
                                              attr::axis_i(values.rank() - 1),
                                              attr::largest_i(descending),
                                              attr::sorted_i(1),
                                              outputs<2>);
    safe_vector<value> out{sorted};
    for (value const x : matrices) {
        value const all = expand(g, unsqueeze(g, order, order.rank() - 1), g.sizes(x));
        out.push_back(g.op<"GatherElements">(x, all, attr::axis_i(x.rank() - 1)));
    }
    return out;
}

/// A Hermitian matrix from its lower or upper triangle.
inline value symmetric(graph<11> g, value x, bool upper) {
    value const turned = transpose_last(g, x);
    value const rows = row_numbers(g, x);
    value const columns = column_numbers(g, x);
    value const given = upper ? is_at_most(g, rows, columns) : is_at_least(g, rows, columns);
    return g.op<"Where">(given, x, turned);
}

/// The eigenvalues of symmetric matrices [..., n], ascending, and the eigenvectors [..., n, n] if they are asked for.
/// `from`: the dtype that the elements had.
inline safe_vector<value> eigenvalues(graph<11> g, value a, dtype from, bool vectors) {
    sym_int const n = g.size(a, -1);
    value const rows = arithmetic_sequence(g, 0, n);
    value const on = on_diagonal(g, n, n);
    std::array const last{a.rank() - 1};
    scaled_matrices const small = scaled_down(g, a, from);
    safe_vector<value> start{small.x};
    if (vectors) start.push_back(identities(g, a, n, n));
    auto const diagonal = [&](graph<11> b, value where, value x) {
        return reduce_sum(b, masked(b, where, x), last, false);
    };
    auto const step = [&](graph<11> b, value s, safe_span<value const> state) -> safe_vector<value> {
        value const partner = partners(b, s, rows, b.to_value(n));
        value const beside_partner = b.op<"Equal">(rows, unsqueeze(b, partner, 1));
        rotation const r =
            rotation_of(b, rows, partner, diagonal(b, on, state[0]), diagonal(b, beside_partner, state[0]));
        safe_vector<value> next{rotated_rows(b, r, rotated_columns(b, r, state[0]))};
        if (vectors) next.push_back(rotated_columns(b, r, state[1]));
        return next;
    };
    safe_vector<value> const end = iterate(g, n * sweeps, start, 0, step);
    safe_vector<value> sorted =
        in_order(g, diagonal(g, on, end[0]), false, vectors ? safe_vector<value>{end[1]} : safe_vector<value>{});
    sorted[0] = scaled_up(g, small, sorted[0]);
    return sorted;
}

/// A V = B with orthogonal columns of B, in the order of their lengths, which are the singular values.
struct orthogonalized {
    scaled_matrices scaled; ///< A
    value lengths;          ///< [..., n], those of the scaled matrices, descending
    optional_value b;       ///< [..., m, n], those of the scaled matrices
    optional_value v;       ///< [..., n, n]
};
inline orthogonalized orthogonalize(graph<11> g, value a, dtype from, bool vectors) {
    sym_int const n = g.size(a, -1);
    value const rows = arithmetic_sequence(g, 0, n);
    std::array const along{a.rank() - 2};
    scaled_matrices const small = scaled_down(g, a, from);
    auto const products = [&](graph<11> b, value x, value y) { return reduce_sum(b, b.op<"Mul">(x, y), along, false); };
    safe_vector<value> start{small.x};
    if (vectors) start.push_back(identities(g, a, n, n));
    auto const step = [&](graph<11> b, value s, safe_span<value const> state) -> safe_vector<value> {
        value const x = state[0];
        value const partner = partners(b, s, rows, b.to_value(n));
        value const other = gather_of(b, x, partner, x.rank() - 1);
        rotation const r = rotation_of(b, rows, partner, products(b, x, x), products(b, x, other));
        safe_vector<value> next;
        for (value const each : state) next.push_back(rotated_columns(b, r, each));
        return next;
    };
    safe_vector<value> const end = iterate(g, n * sweeps, start, 0, step);
    value const lengths = g.op<"Sqrt">(products(g, end[0], end[0]));
    safe_vector<value> const sorted = in_order(g, lengths, true, vectors ? end : safe_vector<value>{});
    if (!vectors) return {small, sorted[0], absent, absent};
    return {small, sorted[0], sorted[1], sorted[2]};
}

/// The singular values [..., min(m, n)] in float64, descending.
inline value singular_values(graph<11> g, value a, dtype from) {
    sym_int const k = min(g.size(a, -2), g.size(a, -1));
    orthogonalized const o = orthogonalize(g, a, from, false);
    return scaled_up(g, o.scaled, first_columns(g, o.lengths, k));
}

/// U diag(S) V^T = A in float64. `is_full`: U and V are square.
inline std::tuple<value, value, value> singular_vectors(graph<11> g, value a, dtype from, bool is_full) {
    sym_int const m = g.size(a, -2);
    sym_int const k = min(m, g.size(a, -1));
    orthogonalized const o = orthogonalize(g, a, from, true);
    // The factor Q of B completes its columns; R is diagonal up to rounding errors.
    reflections const q = householder(g, first_columns(g, *o.b, k));
    value const diagonal = diagonal_of_matrix(g, q.packed);
    value const turns =
        g.op<"Where">(g.op<"Less">(diagonal, 0), g.scalar(-1, dtype::float64), g.scalar(1, dtype::float64));
    value const signs = unsqueeze(g, turns, turns.rank() - 1);
    value const columns = orthogonal_columns(g, q, is_full ? m : k);
    value u = g.op<"Mul">(is_full ? first_columns(g, columns, k) : columns, signs);
    if (is_full && !(k.is_constant() && m.is_constant() && k.constant() == m.constant()))
        u = beside(g, u, slice(g, columns, -1, k, to_the_end));
    value const v = is_full ? *o.v : first_columns(g, *o.v, k);
    return {u, scaled_up(g, o.scaled, first_columns(g, o.lengths, k)), transpose_last(g, v)};
}

/// The singular values [..., min(m, n)] in the dtype of the matrix.
inline value singular_values_of(graph<11> g, value a) {
    value const x = factorable(g, a);
    if (!is_empty(a)) return g.cast(singular_values(g, x, a.dtype()), a.dtype());
    safe_vector<sym_int> sizes = g.sizes(a);
    sizes.pop_back();
    sizes.back() = min(g.size(a, -2), g.size(a, -1));
    return filled(g, sizes, 0, a.dtype());
}

/// Singular values up to max(absolute, relative * maximum) count as 0. float64, 0-d or one for each matrix.
struct singular_limits {
    value absolute;
    value relative;
};
inline value counted(graph<11> g, value values, singular_limits const& limits) {
    auto const column = [&](value x) { return unsqueeze(g, x, x.rank()); };
    value const largest = slice(g, values, -1, 0, 1);
    value const relative = g.op<"Mul">(column(limits.relative), largest);
    return g.op<"Greater">(values, max_of(g, column(limits.absolute), relative));
}
/// The default: a unit in the last place of a matrix's dtype for each row or column.
inline value usual_limit(graph<11> g, value a) {
    bool const wide = a.dtype() == dtype::float64;
    double const epsilon = wide ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
    sym_int const n = max(g.size(a, -2), g.size(a, -1));
    if (n.is_constant()) return g.scalar(epsilon * static_cast<double>(n.constant()), dtype::float64);
    return g.op<"Mul">(g.cast(g.to_value(n), dtype::float64), epsilon);
}

/// The pseudoinverse in float64, and which singular values count.
struct pseudoinverse_parts {
    value inverse;
    value values; ///< [..., min(m, n)]
    value counts;
};
inline pseudoinverse_parts pseudoinverse(graph<11> g, value a, dtype from, singular_limits const& limits) {
    sym_int const k = min(g.size(a, -2), g.size(a, -1));
    orthogonalized const o = orthogonalize(g, a, from, true);
    value const lengths = first_columns(g, o.lengths, k);
    value const values = scaled_up(g, o.scaled, lengths);
    value const counts = counted(g, values, limits);
    value const one = g.scalar(1, dtype::float64);
    value const reciprocals = masked(g, counts, g.op<"Div">(one, g.op<"Where">(counts, lengths, one)));
    value const factors = unsqueeze(g, reciprocals, reciprocals.rank() - 1);
    value const left = g.op<"Mul">(first_columns(g, *o.v, k), factors);
    value const right = g.op<"Mul">(first_columns(g, *o.b, k), factors);
    value const x = g.op<"MatMul">(left, transpose_last(g, right));
    return {o.scaled.factor ? value(g.op<"Div">(x, *o.scaled.factor)) : x, values, counts};
}

} // namespace ATON_NAMESPACE::mappings::detail
