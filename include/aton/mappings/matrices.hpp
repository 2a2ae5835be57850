// SPDX-License-Identifier: MIT
// Triangles, diagonals and patches: aten's tril, triu, diag, diag_embed, im2col, col2im and one_hot.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <aton/mappings/indexing.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The part of x on and above (`upper`) or below a diagonal, zero elsewhere. Trilu was added in opset 14; below, a mask of row and column
/// indices does the same.
inline value triangle(graph<13> g, value x, sym_int diagonal, bool upper) {
    if (g.opset() >= 14) {
        auto const h = g.within<14>();
        if (diagonal.is(0)) return h.op<"Trilu">(x, attr::upper_i(upper));
        return h.op<"Trilu">(x, g.to_value(diagonal), attr::upper_i(upper));
    }
    value const rows = unsqueeze(g, arithmetic_sequence(g, 0, g.size(x, -2)), 1);
    value const columns = g.op<"Sub">(arithmetic_sequence(g, 0, g.size(x, -1)), g.to_value(diagonal));
    value const inside =
        upper ? value(g.op<"LessOrEqual">(rows, columns)) : value(g.op<"GreaterOrEqual">(rows, columns));
    return g.op<"Where">(inside, x, g.scalar_like(0, x));
}

/// For every element of the square matrix with `length` elements on a diagonal: its index on the diagonal, or `length` elsewhere.
inline value embedded_positions(graph<13> g, sym_int length, std::int64_t offset) {
    sym_int const size = add(g, length, offset < 0 ? checked_subtract(0, offset) : offset);
    if (!length.is_constant() || checked_int(size.constant()) * size.constant() > budget::max_elements) {
        value const columns = arithmetic_sequence(g, 0, size);
        value const rows = unsqueeze(g, columns, 1);
        value const on = g.op<"Equal">(g.op<"Sub">(columns, rows), g.scalar(offset, dtype::int64));
        return g.op<"Where">(on, g.op<"Min">(columns, rows), g.to_value(length));
    }
    std::int64_t const n = size.constant();
    tensor positions{dtype::int64, {n, n}, {}};
    for (std::int64_t i = 0; i != n; ++i)
        for (std::int64_t k = 0; k != n; ++k) positions.append(k - i == offset ? std::min(i, k) : length.constant());
    return g.constant(std::move(positions));
}

/// aten::diag_embed: the last dimension becomes the diagonal of square matrices with axes dim1 and dim2. The elements are gathered from x
/// and an appended zero; a product with a mask would spread NaN and infinity.
inline value embed_diagonal(graph<13> g, value x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    std::int64_t const rank = x.rank() + 1;
    safe_vector<sym_int> sizes = g.sizes(x);
    sym_int const length = sizes.back();
    sizes.back() = 1;
    value const zero = expand(g, filled(g, safe_vector<sym_int>(sizes.size(), 1), 0, x.dtype()), sizes);
    value const positions = embedded_positions(g, length, offset);
    value const matrices = gather(g, g.op<"Concat">(safe_vector{x, zero}, attr::axis_i(rank - 2)), positions, rank - 2);
    std::int64_t const last[] = {rank - 2, rank - 1};
    std::int64_t const axes[] = {normalize_axis(dim1, rank), normalize_axis(dim2, rank)};
    return move_axes(g, matrices, last, axes);
}

/// The row indices, then the column indices of a triangle's elements.
inline value triangle_indices(graph<13> g, std::int64_t rows, std::int64_t columns, std::int64_t offset, dtype type,
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

/// aten::im2col, by gathering rows and columns of the padded image.
inline value image_to_columns(graph<13> g, value image, axis_list kernel, axis_list dilation, axis_list padding,
                              axis_list stride) {
    value x = image.rank() == 3 ? unsqueeze(g, image, 0) : image;
    if (padding[0] < 0 || padding[1] < 0) throw unsupported_error("negative padding");
    if (padding[0] != 0 || padding[1] != 0) {
        value const pads = g.ints({0, 0, padding[0], padding[1], 0, 0, padding[0], padding[1]});
        x = g.op<"Pad">(x, pads, g.scalar_like(0, x));
    }
    safe_vector<sym_int> const sizes = g.sizes(x);
    value const rows = window_positions(g, sizes[2], kernel[0], stride[0], dilation[0]);
    value const columns = window_positions(g, sizes[3], kernel[1], stride[1], dilation[1]);
    value const patches = gather(g, gather(g, x, rows, 2), columns, 4); // N, C, rows, kernel, columns, kernel
    value const sorted = permute(g, patches, safe_vector<std::int64_t>{0, 1, 3, 5, 2, 4});
    sym_int const area = multiply(g, g.size(rows, 0), g.size(columns, 0));
    value const y = reshape(g, sorted, {sizes[0], multiply(g, sizes[1], kernel[0] * kernel[1]), area});
    return image.rank() == 3 ? squeeze(g, y, 0) : y;
}

} // namespace detail

inline constexpr auto matrices = table(
    symbolic<"aten::tril(self, diagonal)">(
        [](graph<13> g, value self, sym_int diagonal) { return detail::triangle(g, self, diagonal, false); }),
    symbolic<"aten::triu(self, diagonal)">(
        [](graph<13> g, value self, sym_int diagonal) { return detail::triangle(g, self, diagonal, true); }),
    symbolic<"aten::tril_indices(row, col, offset, dtype)">(
        [](graph<13> g, std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<dtype> dtype) {
            return detail::triangle_indices(g, row, col, offset, dtype.value_or(aton::dtype::int64), false);
        }),
    symbolic<"aten::triu_indices(row, col, offset, dtype)">(
        [](graph<13> g, std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<dtype> dtype) {
            return detail::triangle_indices(g, row, col, offset, dtype.value_or(aton::dtype::int64), true);
        }),
    symbolic<"aten::diag_embed(self, offset, dim1, dim2)">(
        [](graph<13> g, value self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
            return detail::embed_diagonal(g, self, offset, dim1, dim2);
        }),
    symbolic<"aten::diag(self, diagonal)">([](graph<13> g, value self, std::int64_t diagonal) {
        return self.rank() == 1 ? detail::embed_diagonal(g, self, diagonal, 0, 1)
                                : detail::diagonal_of(g, self, diagonal, 0, 1);
    }),
    symbolic<"aten::diagflat(self, offset)">([](graph<13> g, value self, std::int64_t offset) {
        return detail::embed_diagonal(g, flat(g, self), offset, 0, 1);
    }),
    symbolic<"aten::im2col(self, kernel_size, dilation, padding, stride)">(
        [](graph<13> g, value self, axis_list kernel, axis_list dilation, axis_list padding, axis_list stride) {
            return detail::image_to_columns(g, self, kernel, dilation, padding, stride);
        }),
    // Col2Im was added in opset 18.
    symbolic<"aten::col2im(self, output_size, kernel_size, dilation, padding, stride)">(
        [](graph<18> g, value self, size_list output_size, axis_list kernel, axis_list dilation, axis_list padding,
           axis_list stride) {
            if (std::any_of(kernel.begin(), kernel.end(), [](std::int64_t n) { return n < 1; }))
                throw unsupported_error("a kernel_size below 1");
            value const x = self.rank() == 2 ? unsqueeze(g, self, 0) : self;
            safe_vector<std::int64_t> const pads{padding[0], padding[1], padding[0], padding[1]};
            value const y = g.op<"Col2Im">(x,
                                           g.ints(output_size),
                                           g.ints(kernel),
                                           attr::dilations_i(dilation),
                                           attr::pads_i(pads),
                                           attr::strides_i(stride));
            return self.rank() == 2 ? squeeze(g, y, 0) : y;
        }),
    symbolic<"aten::one_hot(self, num_classes)">([](graph<13> g, value self, std::int64_t num_classes) {
        value const depth =
            num_classes >= 0
                ? g.scalar(num_classes, dtype::int64)
                : value(g.op<"Add">(reduce<"ReduceMax">(g, flat(g, self), safe_vector<std::int64_t>{0}, false), 1));
        value const y = g.op<"OneHot">(at_least_1d(g, self), depth, g.ints({0, 1}), attr::axis_i(-1));
        return self.rank() == 0 ? squeeze(g, y, 0) : y;
    }));

} // namespace ATON_NAMESPACE::mappings
