// SPDX-License-Identifier: MIT
// Helpers of factorizations: loops over the columns of matrices, their parts, and complex matrices as real ones.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/matrix_product.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The values after a step of a loop, followed by those that the loop collects.
using loop_step = std::function<safe_vector<value>(graph<11>, value, safe_span<value const>)>;

/// Calls `step` with 0, 1, ..., count - 1 and the values carried from the step before. Returns the last carried values,
/// then the collected ones, stacked along a new first dimension.
inline safe_vector<value> iterate(graph<11> g, sym_int const& count, safe_vector<value> const& start,
                                  std::size_t collected, loop_step const& step) {
    auto const all = g.op<"Loop">(g.to_value(count),
                                  absent,
                                  start,
                                  output_list(start.size() + collected),
                                  attr::body_g([&](graph<11> b, value k, value goes_on, safe_span<value const> state) {
                                      safe_vector<value> carried;
                                      for (std::size_t i = 0; i != start.size(); ++i) {
                                          value x = state[i]; // every step keeps the shape
                                          carried.push_back(x.set_shape(start[i].shape()));
                                      }
                                      std::vector<value> body_results = {b.op<"Identity">(goes_on)};
                                      for (value const v : step(b, k, carried)) body_results.push_back(v);
                                      return body_results;
                                  }));
    for (std::size_t i = 0; i != start.size(); ++i) all[i].set_shape(start[i].shape());
    return {all.begin(), all.end()};
}
inline value iterate(graph<11> g, sym_int const& count, value start,
                     std::function<value(graph<11>, value, value)> const& step) {
    if (count.is(0)) return start;
    return iterate(g, count, safe_vector<value>{start}, 0, [&](graph<11> b, value k, safe_span<value const> state) {
        return safe_vector<value>{step(b, k, state[0])};
    })[0];
}

/// A matrix to be factored, in float64: a factorization in float32 would round differently from LAPACK's.
inline value factorable(graph<11> g, value x) {
    if (x.rank() < 2) throw unsupported_error("a matrix with fewer than 2 dimensions");
    if (x.dtype() != dtype::float32 && x.dtype() != dtype::float64)
        throw unsupported_error("matrices of " + std::string(name(x.dtype())));
    return g.cast(x, dtype::float64);
}
inline value require_square(value x) {
    dim const& m = x.size(-2);
    dim const& n = x.size(-1);
    if (m.is_static() && n.is_static() && m.size() != n.size()) throw unsupported_error("matrices that are not square");
    return x;
}
inline value square_factorable(graph<11> g, value x) { return require_square(factorable(g, x)); }

/// The numbers of the rows [m, 1], and of the columns [n].
inline value row_numbers(graph<11> g, value x) { return unsqueeze(g, arithmetic_sequence(g, 0, g.size(x, -2)), 1); }
inline value column_numbers(graph<11> g, value x) { return arithmetic_sequence(g, 0, g.size(x, -1)); }

/// Row k [..., 1, n] or column k [..., m, 1]; k is 1-d.
inline value row_of(graph<11> g, value x, value k) { return gather_of(g, x, k, x.rank() - 2); }
inline value column_of(graph<11> g, value x, value k) { return gather_of(g, x, k, x.rank() - 1); }

inline value first_columns(graph<11> g, value x, sym_int const& count) { return slice(g, x, -1, 0, count); }

/// The rows in the order of indices [..., m, 1], which differ between the matrices.
inline value reordered_rows(graph<11> g, value x, value order) {
    if (is_empty(x)) return x;
    safe_vector<sym_int> sizes = g.sizes(x);
    value const all = expand(g, order, sizes);
    return g.op<"GatherElements">(x, all, attr::axis_i(x.rank() - 2));
}

/// The elements where `inside` holds; 0 elsewhere.
inline value masked(graph<11> g, value inside, value x) { return g.op<"Where">(inside, x, g.scalar_like(0, x)); }
/// The elements below (`offset` -1) or also on (0) the diagonal, and those on and above it.
inline value lower_part(graph<11> g, value x, bool strictly) {
    value const rows = row_numbers(g, x);
    value const columns = column_numbers(g, x);
    value const inside = strictly ? value(g.op<"Greater">(rows, columns)) : is_at_least(g, rows, columns);
    return masked(g, inside, x);
}
inline value upper_part(graph<11> g, value x) {
    return masked(g, is_at_most(g, row_numbers(g, x), column_numbers(g, x)), x);
}

/// Whether an element of an [m, n] matrix is on the diagonal.
inline value on_diagonal(graph<11> g, sym_int const& m, sym_int const& n) {
    return g.op<"Equal">(unsqueeze(g, arithmetic_sequence(g, 0, m), 1), arithmetic_sequence(g, 0, n));
}
inline value identity_matrix(graph<11> g, sym_int const& m, sym_int const& n, dtype type) {
    return g.cast(on_diagonal(g, m, n), type);
}
/// Identity matrices of `m` rows and `n` columns, one for each matrix of x.
inline value identities(graph<11> g, value x, sym_int const& m, sym_int const& n) {
    safe_vector<sym_int> sizes = g.sizes(x);
    sizes[sizes.size() - 2] = m;
    sizes.back() = n;
    return expand(g, identity_matrix(g, m, n, x.dtype()), sizes);
}
/// The diagonal [..., min(m, n)].
inline value diagonal_of_matrix(graph<11> g, value x) {
    sym_int const k = min(g.size(x, -2), g.size(x, -1));
    value const rows = slice(g, x, -2, 0, k);
    value const on = on_diagonal(g, g.size(rows, -2), g.size(rows, -1));
    return reduce_sum(g, masked(g, on, rows), safe_vector<std::int64_t>{x.rank() - 1}, false);
}

/// Joins matrices side by side, or one above the other.
inline value beside(graph<11> g, value a, value b) {
    return g.op<"Concat">(safe_vector<value>{a, b}, attr::axis_i(a.rank() - 1));
}
inline value above(graph<11> g, value a, value b) {
    return g.op<"Concat">(safe_vector<value>{a, b}, attr::axis_i(a.rank() - 2));
}

/// x with the leading dimensions of x and y broadcast.
inline value broadcast_batch(graph<11> g, value x, value y) {
    bool same = x.rank() == y.rank();
    for (std::int64_t i = 0; same && i + 2 < x.rank(); ++i) same = x.size(i).same_as(y.size(i));
    if (same || y.rank() == 2) return x;
    safe_vector<sym_int> sizes = g.sizes(y);
    sizes[sizes.size() - 2] = 1;
    sizes.back() = 1;
    return g.op<"Expand">(x, g.ints(sizes));
}

/// Whether b has one vector for each matrix of a.
inline bool is_vectors(value a, value b) {
    if (b.rank() == 1 || b.rank() + 1 != a.rank()) return b.rank() == 1;
    bool known = true;
    for (std::int64_t i = 0; i != b.rank(); ++i) {
        dim const& x = a.size(i);
        dim const& y = b.size(i);
        if (x.is_static() && y.is_static() && x.size() != y.size()) return false;
        known = known && x.same_as(y);
    }
    if (!known) throw unsupported_error("B may be a batch of vectors or a matrix: sizes are not known");
    return true;
}

/// A complex matrix as [[re, -im], [im, re]]. Products, inverses and exponentials of these represent those of the
/// complex matrices.
inline value as_real_matrix(graph<11> g, complex_value z) {
    value const re = g.cast(g.real(z), dtype::float64);
    value const im = g.cast(g.imag(z), dtype::float64);
    return above(g, beside(g, re, g.op<"Neg">(im)), beside(g, im, re));
}
/// The complex matrix whose parts are one above the other.
inline complex_value as_complex_matrix(graph<11> g, value x, dtype type) {
    sym_int const half = g.size(x, -2) / 2;
    value const re = slice(g, x, -2, 0, half);
    value const im = slice(g, x, -2, half, to_the_end);
    dtype const part = part_type(type);
    return g.complex(g.cast(re, part), g.cast(im, part));
}
/// The parts of a complex matrix, one above the other.
inline value stacked_parts(graph<11> g, complex_value z) {
    return above(g, g.cast(g.real(z), dtype::float64), g.cast(g.imag(z), dtype::float64));
}

} // namespace ATON_NAMESPACE::mappings::detail
