// SPDX-License-Identifier: MIT
// Triangles and diagonals: aten's tril, triu, diag, diagonal, diag_embed and trace.
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/view.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The positions of a diagonal's elements in a flattened matrix of m rows and n columns.
inline value diagonal_positions(graph<7> g, sym_int m, sym_int n, std::int64_t offset) {
    sym_int const below = offset < 0 ? checked_subtract(0, offset) : 0;
    sym_int const right = offset > 0 ? offset : 0;
    sym_int const length = max(min(m - below, n - right), 0);
    return arithmetic_sequence(g, below * n + right, length, n + 1);
}

inline value diagonal_of(graph<7> g, value x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    std::int64_t const rank = x.rank();
    if (rank < 2) throw unsupported_error("a diagonal of a tensor with fewer than 2 dimensions");
    std::int64_t const axes[] = {normalize_axis(dim1, rank), normalize_axis(dim2, rank)};
    std::int64_t const last[] = {rank - 2, rank - 1};
    value const matrices = move_axes(g, x, axes, last);
    safe_vector<sym_int> sizes = g.sizes(matrices);
    sym_int const n = sizes.back();
    sizes.pop_back();
    sym_int const m = sizes.back();
    sizes.back() = m * n;
    return gather_of(g, reshape(g, matrices, sizes), diagonal_positions(g, m, n, offset), rank - 2);
}

inline constexpr auto diagonal_dims = [](graph<7> g, value self, std::int64_t offset, std::int64_t dim1,
                                         std::int64_t dim2) { return diagonal_of(g, self, offset, dim1, dim2); };

/// The part of self on and above (`Upper`) or below a diagonal, zero elsewhere. Trilu was added in opset 14; below, a
/// mask of row and column indices does the same.
template <bool Upper>
inline constexpr auto triangle = [](graph<14> g, value self, sym_int diagonal) -> value {
    if (diagonal.is(0)) return g.op<"Trilu">(self, attr::upper_i(Upper));
    return g.op<"Trilu">(self, g.to_value(diagonal), attr::upper_i(Upper));
};
template <bool Upper>
inline constexpr auto triangle_until_13 = [](graph<9, 13> g, value self, sym_int diagonal) -> value {
    value const rows = unsqueeze(g, arithmetic_sequence(g, 0, g.size(self, -2)), 1);
    value const columns = g.op<"Sub">(arithmetic_sequence(g, 0, g.size(self, -1)), g.to_value(diagonal));
    value const inside = Upper ? value(is_at_most(g, rows, columns)) : value(is_at_least(g, rows, columns));
    if (self.dtype() == dtype::bool_) return g.op<"And">(inside, self);
    return choose(g, inside, self, g.scalar_like(0, self));
};

/// For every element of the square matrix with `length` elements on a diagonal: its index on the diagonal, or `length`
/// elsewhere.
inline value embedded_positions(graph<9> g, sym_int length, std::int64_t offset) {
    sym_int const size = length + (offset < 0 ? checked_subtract(0, offset) : offset);
    if (!length.is_constant() || checked_int(size.constant()) * size.constant() > budget::max_elements) {
        value const columns = arithmetic_sequence(g, 0, size);
        value const rows = unsqueeze(g, columns, 1);
        value const on = is_equal(g, g.op<"Sub">(columns, rows), g.scalar(offset, dtype::int64));
        return g.op<"Where">(on, min_of(g, columns, rows), g.to_value(length));
    }
    std::int64_t const n = size.constant();
    tensor positions{dtype::int64, {n, n}, {}};
    for (std::int64_t i = 0; i != n; ++i)
        for (std::int64_t k = 0; k != n; ++k) positions.append(k - i == offset ? std::min(i, k) : length.constant());
    return g.constant(std::move(positions));
}

/// aten::diag_embed: the last dimension becomes the diagonal of square matrices with axes dim1 and dim2. The elements
/// are gathered from x and an appended zero; a product with a mask would spread NaN and infinity.
inline constexpr auto embed_diagonal =
    symbolic<"aten::diag_embed(self, offset, dim1, dim2)">([](graph<9> g, value x, std::int64_t offset,
                                                              std::int64_t dim1, std::int64_t dim2) -> value {
        std::int64_t const rank = x.rank() + 1;
        safe_vector<sym_int> sizes = g.sizes(x);
        sym_int const length = sizes.back();
        sizes.back() = 1;
        value const zero = expand(g, filled(g, safe_vector<sym_int>(sizes.size(), 1), 0, x.dtype()), sizes);
        value const positions = embedded_positions(g, length, offset);
        value const matrices =
            gather_of(g, g.op<"Concat">(safe_vector{x, zero}, attr::axis_i(rank - 2)), positions, rank - 2);
        std::int64_t const last[] = {rank - 2, rank - 1};
        std::int64_t const axes[] = {normalize_axis(dim1, rank), normalize_axis(dim2, rank)};
        return move_axes(g, matrices, last, axes);
    }).by_parts<"self">();

/// The row indices, then the column indices of a triangle's elements.
inline value triangle_indices(graph<7> g, std::int64_t rows, std::int64_t columns, std::int64_t offset, dtype type,
                              bool upper) {
    if (rows < 0 || columns < 0) throw unsupported_error("a matrix of negative size");
    budget::expect("a matrix", checked_int(rows) * columns);
    budget::expect("a matrix", rows);
    tensor positions{type, {2, 0}, {}};
    for (int which : {0, 1})
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t k = 0; k < columns; ++k) {
                if (upper ? k - i < offset : k - i > offset) continue;
                positions.append(which == 0 ? i : k);
                positions.sizes[1] += which;
            }
    return g.constant(std::move(positions));
}

inline constexpr auto tril_indices = symbolic<"aten::tril_indices(row, col, offset, dtype)">(
    [](graph<7> g, std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<dtype> dtype) {
        return triangle_indices(g, row, col, offset, dtype.value_or(aton::dtype::int64), false);
    });

inline constexpr auto triu_indices = symbolic<"aten::triu_indices(row, col, offset, dtype)">(
    [](graph<7> g, std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<dtype> dtype) {
        return triangle_indices(g, row, col, offset, dtype.value_or(aton::dtype::int64), true);
    });

inline constexpr auto diag =
    symbolic<"aten::diag(self, diagonal)">([](graph<9> g, value self, std::int64_t diagonal) {
        return self.rank() == 1 ? embed_diagonal(g, self, diagonal, 0, 1) : diagonal_of(g, self, diagonal, 0, 1);
    }).by_parts<"self">();

inline constexpr auto diagflat =
    symbolic<"aten::diagflat(self, offset)">([](graph<9> g, value self, std::int64_t offset) {
        return embed_diagonal(g, flat(g, self), offset, 0, 1);
    }).by_parts<"self">();

inline constexpr auto trace =
    symbolic<"aten::trace(self)">([](graph<7> g, value self) {
        return reduce_sum(g,
                          g.cast(diagonal_of(g, self, 0, 0, 1), to_accumulating(self.dtype())),
                          safe_vector<std::int64_t>{0},
                          false);
    }).by_parts<"self">();

} // namespace detail

inline constexpr auto diagonals = table(
    symbolic<"aten::tril(self, diagonal)">(detail::triangle<false>).by_parts<"self">(),
    symbolic<"aten::tril(self, diagonal)">(detail::triangle_until_13<false>).by_parts<"self">(),
    symbolic<"aten::triu(self, diagonal)">(detail::triangle<true>).by_parts<"self">(),
    symbolic<"aten::triu(self, diagonal)">(detail::triangle_until_13<true>).by_parts<"self">(), detail::tril_indices,
    detail::triu_indices, detail::embed_diagonal, detail::diag, detail::diagflat,
    symbolic<"aten::diagonal(self, offset, dim1, dim2)">(detail::diagonal_dims).by_parts<"self">(),
    symbolic<"aten::diagonal_copy(self, offset, dim1, dim2)">(detail::diagonal_dims).by_parts<"self">(),
    symbolic<"aten::linalg_diagonal(A, offset, dim1, dim2)">(detail::diagonal_dims).by_parts<"A">(), detail::trace);

} // namespace ATON_NAMESPACE::mappings
