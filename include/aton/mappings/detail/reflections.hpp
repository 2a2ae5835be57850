// SPDX-License-Identifier: MIT
// QR by Householder reflections in loops over the columns of a matrix.
// Internal header.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/matrices.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Q R = A in LAPACK's form: R from the diagonal of `packed` on, and below it the vectors of the reflections I - tau v v^T.
struct reflections {
    value packed;
    value tau; ///< [..., min(m, n)]
};

inline reflections householder(graph<11> g, value a) {
    std::int64_t const r = a.rank();
    sym_int const count = min(g.size(a, -2), g.size(a, -1));
    safe_vector<sym_int> sizes = g.sizes(a);
    sizes.pop_back();
    sizes.back() = count;
    if (count.is(0)) return {a, filled(g, sizes, 0, a.dtype())};
    value const rows = row_numbers(g, a);
    value const columns = column_numbers(g, a);
    auto const step = [&](graph<11> b, value k, safe_span<value const> state) -> safe_vector<value> {
        value const x = state[0];
        std::array const along{r - 2};
        value const at = unsqueeze(b, k, 0);
        value const is_below = b.op<"Greater">(rows, k);
        value const column = column_of(b, x, at);
        value const below = masked(b, is_below, column);
        value const first = row_of(b, column, at);
        // The squares of elements as large as the largest one neither overflow nor vanish.
        value const largest = max_of(b, b.op<"Abs">(first), reduce<"ReduceMax">(b, b.op<"Abs">(below), along, true));
        value const unit = b.op<"Where">(b.op<"Equal">(largest, 0), b.scalar(1, dtype::float64), largest);
        value const tail = b.op<"Div">(below, unit);
        value const head = b.op<"Div">(first, unit);
        value const rest = reduce_sum(b, b.op<"Mul">(tail, tail), along, true);
        value const length = b.op<"Mul">(b.op<"Sqrt">(b.op<"Add">(b.op<"Mul">(head, head), rest)), unit);
        value const beta = b.op<"Where">(b.op<"Less">(first, 0), length, b.op<"Neg">(length));
        value const is_zero = b.op<"Equal">(rest, 0);
        value const divisor = b.op<"Where">(is_zero, b.scalar(1, dtype::float64), b.op<"Sub">(first, beta));
        value const safe = b.op<"Where">(is_zero, b.scalar(1, dtype::float64), beta);
        value const tau =
            b.op<"Where">(is_zero, b.scalar(0, dtype::float64), b.op<"Div">(b.op<"Sub">(beta, first), safe));
        value const direction = b.op<"Div">(below, divisor);
        value const v = b.op<"Where">(b.op<"Equal">(rows, k), b.scalar(1, dtype::float64), direction);
        value const shares = b.op<"Mul">(tau, b.op<"MatMul">(transpose_last(b, v), x));
        value const turned = b.op<"Sub">(x, b.op<"Mul">(v, shares));
        value const diagonal = b.op<"Where">(is_zero, first, beta);
        value const kept = b.op<"Where">(is_below, direction, column);
        value const own = b.op<"Where">(b.op<"Equal">(rows, k), diagonal, kept);
        value const left = b.op<"Where">(b.op<"Equal">(columns, k), own, x);
        return {b.op<"Where">(b.op<"Greater">(columns, k), turned, left),
                squeeze(b, tau, safe_vector<std::int64_t>{r - 2, r - 1})};
    };
    safe_vector<value> const last = iterate(g, count, {a}, 1, step);
    safe_vector<std::int64_t> to_end = iota(r - 1);
    std::rotate(to_end.begin(), to_end.begin() + 1, to_end.end());
    return {last[0], permute(g, last[1], to_end)};
}

/// Q x, or Q^T x if `turned`, for the product Q of the reflections.
inline value reflected(graph<11> g, reflections const& of, value x, bool turned) {
    sym_int const count = g.size(of.tau, -1);
    value const rows = row_numbers(g, of.packed);
    value const all = unsqueeze(g, of.tau, of.tau.rank());
    return iterate(g, count, x, [&](graph<11> b, value step, value y) -> value {
        value const k = turned ? step : value(b.op<"Sub">(b.op<"Sub">(b.to_value(count), 1), step));
        value const at = unsqueeze(b, k, 0);
        value const below = masked(b, b.op<"Greater">(rows, k), column_of(b, of.packed, at));
        value const v = b.op<"Where">(b.op<"Equal">(rows, k), b.scalar(1, dtype::float64), below);
        value const shares = b.op<"Mul">(row_of(b, all, at), b.op<"MatMul">(transpose_last(b, v), y));
        return b.op<"Sub">(y, b.op<"Mul">(v, shares));
    });
}

/// The first `count` columns of Q.
inline value orthogonal_columns(graph<11> g, reflections const& of, sym_int const& count) {
    return reflected(g, of, identities(g, of.packed, g.size(of.packed, -2), count), false);
}

} // namespace ATON_NAMESPACE::mappings::detail
