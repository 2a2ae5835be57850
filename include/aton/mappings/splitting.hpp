// SPDX-License-Identifier: MIT
// Splitting along an axis: aten's split, chunk, tensor_split, unbind ...
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <aton/mappings/view.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline void expect_pieces(std::int64_t count) {
    if (count < 1) throw unsupported_error(std::to_string(count) + " pieces");
    budget::expect("a list", count, static_cast<std::int64_t>(budget::max_nodes));
}

/// Splits x into pieces of these sizes. A single piece is x itself.
inline safe_vector<value> split_sizes(graph<7> g, value x, size_list sizes, std::int64_t axis) {
    axis = normalize_axis(axis, x.rank());
    if (sizes.size() == 1) return {x};
    return split(g, x, sizes, axis);
}

/// The number of results that the program recorded for the call; refuses the call if it is unknown.
inline std::int64_t expected_count(graph<7> g) {
    if (g.context().expected.empty())
        throw unsupported_error("the number of results depends on a size that is not static");
    return static_cast<std::int64_t>(g.context().expected.size());
}

/// Splits x into pieces of one size; the last may be smaller.
inline safe_vector<value> split_evenly(graph<7> g, value x, sym_int size, std::int64_t axis) {
    sym_int const n = g.size(x, normalize_axis(axis, x.rank()));
    if (size.is(0) || n.is(0)) return {x};
    bool const fixed = n.is_constant() && size.is_constant();
    if (size.is_constant() && size.constant() < 0) throw unsupported_error("a split into pieces of negative size");
    std::int64_t const count = fixed ? (n.constant() - 1) / size.constant() + 1 : expected_count(g);
    expect_pieces(count);
    safe_vector<sym_int> sizes(static_cast<std::size_t>(count - 1), size);
    sizes.push_back(n - size * (count - 1));
    return split_sizes(g, x, sizes, axis);
}
inline constexpr auto split_size = [](graph<7> g, value self, sym_int each, std::int64_t dim) {
    return split_evenly(g, self, each, dim);
};
inline constexpr auto split_list = [](graph<7> g, value self, size_list sizes, std::int64_t dim) {
    return split_sizes(g, self, sizes, dim);
};

/// aten::chunk: at most `count` pieces, all of the same size except the last; exactly `count` pieces of an empty dimension.
inline constexpr auto chunks = [](graph<7> g, value self, std::int64_t count, std::int64_t dim) {
    sym_int const n = g.size(self, normalize_axis(dim, self.rank()));
    expect_pieces(count);
    if (n.is(0)) return safe_vector<value>(static_cast<std::size_t>(count), self);
    return split_evenly(g, self, (n + (count - 1)) / count, dim);
};

/// aten::tensor_split: exactly `sections` pieces; the first n % sections of them are larger by one. A number of
/// sections that the program computes is the number of results that it recorded.
inline safe_vector<value> split_sections(graph<7> g, value x, sym_int number, std::int64_t axis) {
    sym_int const n = g.size(x, axis);
    std::int64_t const sections = number.is_constant() ? number.constant() : expected_count(g);
    expect_pieces(sections);
    safe_vector<sym_int> sizes;
    for (std::int64_t i = 0; i != sections; ++i) sizes.push_back((n + (sections - 1 - i)) / sections);
    return split_sizes(g, x, sizes, axis);
}
/// Splits x at indices, which behave as in Python slices: negative ones count from the end, those out of range are clamped.
inline constexpr auto split_at =
    symbolic<"aten::tensor_split.indices(self, indices, dim)">([](graph<7> g, value x, size_list indices,
                                                                  std::int64_t axis) -> safe_vector<value> {
        safe_vector<value> out;
        sym_int start = 0;
        for (sym_int const& end : indices) {
            out.push_back(slice(g, x, axis, start, end));
            start = end;
        }
        out.push_back(slice(g, x, axis, start, to_the_end));
        return out;
    }).by_parts<"self">();
/// Splits each tensor into chunks along an axis, fills the last ones up with zeros, flattens them and joins them chunk
/// by chunk.
inline constexpr auto chunk_cat = symbolic<"aten::_chunk_cat(tensors, dim, num_chunks)">(
    [](graph<11> g, safe_span<value const> tensors, std::int64_t dim, std::int64_t num_chunks) -> value {
        expect_pieces(num_chunks);
        dtype type = tensors[0].dtype();
        for (value const& x : tensors) type = aten::promote_types(type, x.dtype());
        std::int64_t const axis = normalize_axis(dim, tensors[0].rank());
        safe_vector<value> rows;
        for (value const& each : tensors) {
            if (each.rank() <= axis) return g.unsupported("a tensor that does not have the dimension");
            value x = g.cast(each, type);
            safe_vector<sym_int> sizes = g.sizes(x);
            auto const at = static_cast<std::size_t>(axis);
            sym_int const padded = (sizes[at] + (num_chunks - 1)) / num_chunks * num_chunks;
            safe_vector<sym_int> more = sizes;
            more[at] = padded - sizes[at];
            if (!more[at].is(0))
                x = g.op<"Concat">(safe_vector<value>{x, filled(g, more, 0, type)}, attr::axis_i(axis));
            sizes[at] = padded / num_chunks;
            safe_vector<sym_int> to(sizes.begin(), sizes.begin() + axis);
            to.push_back(num_chunks);
            to.push_back(product(safe_span<sym_int const>(sizes).subspan(at)));
            rows.push_back(reshape(g, x, to));
        }
        return rows.size() == 1 ? rows[0] : value(g.op<"Concat">(rows, attr::axis_i(axis + 1)));
    });

/// The axis of hsplit.
inline std::int64_t horizontal(value x) { return x.rank() == 1 ? 0 : 1; }

inline constexpr auto unbind_dim = [](graph<7> g, value self, std::int64_t dim) -> safe_vector<value> {
    dim = normalize_axis(dim, self.rank());
    sym_int const size = g.size(self, dim);
    std::int64_t const n = size.is_constant() ? size.constant() : expected_count(g);
    if (n == 1) return {squeeze(g, self, dim)};
    safe_vector<value> out;
    for (std::int64_t i = 0; i != n; ++i) out.push_back(select(g, self, dim, i));
    return out;
};

inline constexpr auto tensor_split_sections =
    symbolic<"aten::tensor_split.sections(self, sections, dim)">([](graph<7> g, value self, sym_int sections,
                                                                    std::int64_t dim) {
        return split_sections(g, self, sections, normalize_axis(dim, self.rank()));
    }).by_parts<"self">();

inline constexpr auto tensor_split_by_tensor =
    symbolic<"aten::tensor_split.tensor_indices_or_sections(self, tensor_indices_or_sections, dim)">(
        [](graph<7> g, value self, value positions, std::int64_t dim) {
            dim = normalize_axis(dim, self.rank());
            if (positions.rank() == 0) return split_sections(g, self, positions, dim);
            std::int64_t const count = positions.size(0).is_static() ? positions.size(0).size() : expected_count(g) - 1;
            safe_vector<sym_int> indices;
            for (std::int64_t i = 0; i != count; ++i) indices.emplace_back(select(g, positions, 0, i));
            return split_at(g, self, indices, dim);
        })
        .by_parts<"self">();

inline constexpr auto hsplit =
    symbolic<"aten::hsplit.int(self, sections)">([](graph<7> g, value self, std::int64_t sections) {
        return split_sections(g, self, sections, horizontal(self));
    }).by_parts<"self">();

inline constexpr auto vsplit = symbolic<"aten::vsplit.int(self, sections)">([](graph<7> g, value self, std::int64_t n) {
                                   return split_sections(g, self, n, 0);
                               }).by_parts<"self">();

inline constexpr auto dsplit = symbolic<"aten::dsplit.int(self, sections)">([](graph<7> g, value self, std::int64_t n) {
                                   return split_sections(g, self, n, 2);
                               }).by_parts<"self">();

inline constexpr auto hsplit_array =
    symbolic<"aten::hsplit.array(self, indices)">([](graph<7> g, value self, size_list indices) {
        return split_at(g, self, indices, horizontal(self));
    }).by_parts<"self">();

inline constexpr auto vsplit_array =
    symbolic<"aten::vsplit.array(self, indices)">([](graph<7> g, value self, size_list at) {
        return split_at(g, self, at, 0);
    }).by_parts<"self">();

inline constexpr auto dsplit_array =
    symbolic<"aten::dsplit.array(self, indices)">([](graph<7> g, value self, size_list at) {
        return split_at(g, self, at, 2);
    }).by_parts<"self">();

} // namespace detail

inline constexpr auto splitting =
    table(symbolic<"aten::split.Tensor(self, split_size, dim)">(detail::split_size).by_parts<"self">(),
          symbolic<"aten::unsafe_split.Tensor(self, split_size, dim)">(detail::split_size).by_parts<"self">(),
          symbolic<"aten::split_copy.Tensor(self, split_size, dim)">(detail::split_size).by_parts<"self">(),
          symbolic<"aten::split.sizes(self, split_size, dim)">(detail::split_list).by_parts<"self">(),
          symbolic<"aten::split_with_sizes(self, split_sizes, dim)">(detail::split_list).by_parts<"self">(),
          symbolic<"aten::split_with_sizes_copy(self, split_sizes, dim)">(detail::split_list).by_parts<"self">(),
          symbolic<"aten::unsafe_split_with_sizes(self, split_sizes, dim)">(detail::split_list).by_parts<"self">(),
          symbolic<"aten::chunk(self, chunks, dim)">(detail::chunks).by_parts<"self">(),
          symbolic<"aten::unsafe_chunk(self, chunks, dim)">(detail::chunks).by_parts<"self">(),
          detail::tensor_split_sections, detail::split_at, detail::tensor_split_by_tensor, detail::hsplit,
          detail::vsplit, detail::dsplit, detail::hsplit_array, detail::vsplit_array, detail::dsplit_array,
          detail::chunk_cat, symbolic<"aten::unbind.int(self, dim)">(detail::unbind_dim).by_parts<"self">(),
          symbolic<"aten::unbind_copy.int(self, dim)">(detail::unbind_dim).by_parts<"self">());

} // namespace ATON_NAMESPACE::mappings
