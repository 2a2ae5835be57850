// SPDX-License-Identifier: MIT
// Gaussian elimination in loops over the columns of a matrix: LU with partial pivoting, Cholesky, triangular systems.
// Internal header.
#pragma once

#include <algorithm>
#include <cstdint>

#include <aton/mappings/detail/matrices.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// P L U = A, in LAPACK's form.
struct lu_parts {
    value lu;     ///< L below the diagonal, U from the diagonal on
    value order;  ///< int64 [..., m, 1]: the row of A that became each row
    value pivots; ///< int32 [..., min(m, n)]: the row that each row was swapped with, counted from 1
};

/// The row numbers after rows k and `other` [..., 1, 1] are swapped.
inline value swapped(graph<11> g, value rows, value k, value other) {
    value const kept = g.op<"Where">(g.op<"Equal">(rows, other), k, rows);
    return g.op<"Where">(g.op<"Equal">(rows, k), other, kept);
}

inline lu_parts lu_factor(graph<11> g, value a) {
    std::int64_t const r = a.rank();
    sym_int const count = min(g.size(a, -2), g.size(a, -1));
    value const rows = row_numbers(g, a);
    value const columns = column_numbers(g, a);
    safe_vector<sym_int> sizes = g.sizes(a);
    sizes.back() = 1;
    value const order = expand(g, rows, sizes);
    sizes.pop_back();
    sizes.back() = count;
    if (count.is(0)) return {a, order, filled(g, sizes, 0, dtype::int32)};
    safe_vector<value> const last =
        iterate(g, count, {a, order}, 1, [&](graph<11> b, value k, safe_span<value const> state) -> safe_vector<value> {
            value const at = unsqueeze(b, k, 0);
            value const column = column_of(b, state[0], at);
            value const magnitude =
                b.op<"Where">(b.op<"Less">(rows, k), b.scalar(-1, dtype::float64), b.op<"Abs">(column));
            value const best = b.op<"ArgMax">(magnitude, attr::axis_i(r - 2), attr::keepdims_i(1));
            value const moves = swapped(b, rows, k, best);
            value const x = reordered_rows(b, state[0], moves);
            value const top = row_of(b, x, at);
            value const pivot = column_of(b, top, at);
            value const divisor = b.op<"Where">(b.op<"Equal">(pivot, 0), b.scalar(1, dtype::float64), pivot);
            value const factor = b.op<"Div">(column_of(b, x, at), divisor);
            value const rest = b.op<"Sub">(x, b.op<"Mul">(factor, top));
            value const kept = b.op<"Where">(b.op<"Equal">(columns, k), factor, x);
            value const changed = b.op<"Where">(b.op<"Greater">(columns, k), rest, kept);
            value const next = b.op<"Where">(b.op<"Greater">(rows, k), changed, x);
            return {
                next, reordered_rows(b, state[1], moves), squeeze(b, best, safe_vector<std::int64_t>{r - 2, r - 1})};
        });
    safe_vector<std::int64_t> to_end = iota(r - 1);
    std::rotate(to_end.begin(), to_end.begin() + 1, to_end.end());
    value const pivots = g.op<"Add">(permute(g, last[2], to_end), 1);
    return {last[0], last[1], g.cast(pivots, dtype::int32)};
}

/// 0, or the number of the first element that is true in bools [..., n], counted from 1; int32.
inline value first_of(graph<11> g, value failed) {
    sym_int const n = g.size(failed, -1);
    value const from_end = g.op<"Sub">(g.to_value(n), arithmetic_sequence(g, 0, n));
    std::int64_t const last = failed.rank() - 1;
    value const counted = g.op<"Where">(failed, from_end, g.scalar(0, dtype::int64));
    value const zero = g.op<"Mul">(reduce_sum(g, counted, safe_vector<std::int64_t>{last}, true), 0);
    value const with_zero = g.op<"Concat">(safe_vector<value>{counted, zero}, attr::axis_i(last)); // n may be 0
    value const found = reduce<"ReduceMax">(g, with_zero, safe_vector<std::int64_t>{last}, false);
    value const number = g.op<"Sub">(g.op<"Add">(g.to_value(n), 1), found);
    return g.cast(g.op<"Where">(g.op<"Equal">(found, 0), g.scalar(0, dtype::int64), number), dtype::int32);
}
/// LAPACK's info: 0, or the first diagonal element of U that is 0, counted from 1.
inline value lu_info(graph<11> g, value lu) { return first_of(g, g.op<"Equal">(diagonal_of_matrix(g, lu), 0)); }

/// The order of rows that results from the pivots of a matrix with `m` rows; int64 [..., m, 1].
inline value order_of_pivots(graph<11> g, value pivots, sym_int const& m) {
    value const steps = unsqueeze(g, g.op<"Sub">(g.cast(pivots, dtype::int64), 1), pivots.rank()); // [..., k, 1]
    safe_vector<sym_int> sizes = g.sizes(steps);
    sizes[sizes.size() - 2] = m;
    value const rows = unsqueeze(g, arithmetic_sequence(g, 0, m), 1);
    return iterate(g, g.size(steps, -2), expand(g, rows, sizes), [&](graph<11> b, value k, value order) {
        value const with = row_of(b, steps, unsqueeze(b, k, 0));
        return reordered_rows(b, order, swapped(b, rows, k, with));
    });
}

/// The inverse of an order of rows.
inline value inverse_order(graph<11> g, value order) {
    value const rows = expand(g, row_numbers(g, order), g.sizes(order));
    return g.op<"ScatterElements">(order, order, rows, attr::axis_i(order.rank() - 2));
}

/// P, whose column i has its 1 in the row that became row i.
inline value permutation_matrix(graph<11> g, value order, dtype type) {
    return g.cast(g.op<"Equal">(row_numbers(g, order), transpose_last(g, order)), type);
}

/// The solution of A X = B. The other triangle is not read, nor the diagonal if `unit`.
inline value solve_triangle(graph<11> g, value a, value b, bool upper, bool unit) {
    sym_int const n = g.size(a, -1);
    value const rows = row_numbers(g, a);
    std::int64_t const r = std::max(a.rank(), b.rank());
    value const matrix = at_least_rank(g, a, r);
    return iterate(
        g, n, broadcast_batch(g, at_least_rank(g, b, r), matrix), [&](graph<11> h, value step, value x) -> value {
            value const k = upper ? value(h.op<"Sub">(h.op<"Sub">(h.to_value(n), 1), step)) : step;
            value const at = unsqueeze(h, k, 0);
            value const column = column_of(h, matrix, at);
            value const right = row_of(h, x, at);
            value const found = unit ? right : value(h.op<"Div">(right, row_of(h, column, at)));
            value const rest = h.op<"Sub">(x, h.op<"Mul">(column, found));
            value const left = upper ? value(h.op<"Less">(rows, k)) : value(h.op<"Greater">(rows, k));
            value const solved = unit ? x : value(h.op<"Where">(h.op<"Equal">(rows, k), found, x));
            return h.op<"Where">(left, rest, solved);
        });
}

/// The rows of b in an order, with leading dimensions broadcast.
inline value rows_in_order(graph<11> g, value b, value order) {
    std::int64_t const r = std::max(b.rank(), order.rank());
    value const x = at_least_rank(g, b, r);
    value const to = at_least_rank(g, order, r);
    value const wide = broadcast_batch(g, x, to);
    return reordered_rows(g, wide, broadcast_batch(g, to, wide));
}

/// The solution of A X = B, or A^T X = B if `turned`, from the factors of A.
inline value solve_factored(graph<11> g, value lu, value order, value b, bool turned) {
    if (!turned)
        return solve_triangle(g, lu, solve_triangle(g, lu, rows_in_order(g, b, order), false, true), true, false);
    value const back = transpose_last(g, lu);
    value const x = solve_triangle(g, back, solve_triangle(g, back, b, false, false), true, true);
    return rows_in_order(g, x, inverse_order(g, order));
}

/// The solution of A X = B in float64.
inline value solve_square(graph<11> g, value a, value b) {
    lu_parts const parts = lu_factor(g, a);
    return solve_factored(g, parts.lu, parts.order, b, false);
}

/// L of L L^T = A, of which only the lower triangle is read, and LAPACK's info: 0, or the order of the first minor that
/// is not positive. The columns from there on are those of A, except for the diagonal element that is not positive.
struct cholesky_parts {
    value lower;
    value info;
};
inline cholesky_parts cholesky_factor(graph<11> g, value a) {
    sym_int const n = g.size(a, -1);
    value const rows = row_numbers(g, a);
    value const columns = column_numbers(g, a);
    safe_vector<sym_int> sizes = g.sizes(a);
    sizes.back() = 1;
    sizes[sizes.size() - 2] = 1;
    value const fine = filled(g, sizes, 0, dtype::int32);
    safe_vector<value> const last = iterate(
        g,
        n,
        {lower_part(g, a, false), fine},
        0,
        [&](graph<11> b, value k, safe_span<value const> state) -> safe_vector<value> {
            value const at = unsqueeze(b, k, 0);
            value const column = column_of(b, state[0], at);
            value const done = masked(b, b.op<"Less">(columns, k), state[0]);
            value const sum = b.op<"Sub">(column, b.op<"MatMul">(done, transpose_last(b, row_of(b, done, at))));
            value const square = row_of(b, sum, at);
            value const found = b.op<"Or">(b.op<"Greater">(state[1], 0), b.op<"Not">(b.op<"Greater">(square, 0)));
            value const root = b.op<"Sqrt">(square);
            value const below = b.op<"Where">(b.op<"Equal">(rows, k), root, b.op<"Div">(sum, root));
            value const changes =
                b.op<"And">(b.op<"And">(b.op<"Equal">(columns, k), is_at_least(b, rows, k)), b.op<"Not">(found));
            value const number = b.cast(b.op<"Add">(k, 1), dtype::int32);
            value const first = b.op<"And">(found, b.op<"Equal">(state[1], 0));
            value const at_diagonal = b.op<"And">(b.op<"Equal">(columns, k), b.op<"Equal">(rows, k));
            value const kept = b.op<"Where">(b.op<"And">(at_diagonal, first), square, state[0]);
            return {b.op<"Where">(changes, below, kept), b.op<"Where">(first, number, state[1])};
        });
    return {last[0], squeeze(g, last[1], safe_vector<std::int64_t>{a.rank() - 2, a.rank() - 1})};
}

/// (L L^T)^-1 B, from L, or from U = L^T.
inline value solve_cholesky(graph<11> g, value factor, value b, bool upper) {
    value const turned = transpose_last(g, factor);
    value const lower = upper ? turned : factor;
    return solve_triangle(g, upper ? factor : turned, solve_triangle(g, lower, b, false, false), true, false);
}

} // namespace ATON_NAMESPACE::mappings::detail
