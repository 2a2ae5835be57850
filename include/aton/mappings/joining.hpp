// SPDX-License-Identifier: MIT
// Joining tensors: aten's cat, stack, block_diag, meshgrid, cartesian_prod, combinations ...
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/mappings/view.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

using value_list = safe_span<value const>;

/// aten::cat. Empty 1-d tensors are dropped, for every rank of the others, but take part in type promotion.
inline value concat(graph<7> g, value_list tensors, std::int64_t axis) {
    dtype const type = promote(tensors);
    safe_vector<value> parts;
    for (value const& v : tensors)
        if (!(v.rank() == 1 && is_empty(v))) parts.push_back(g.cast(v, type));
    if (parts.empty()) return g.cast(tensors[0], type);
    if (parts.size() == 1) return parts[0];
    return g.op<"Concat">(parts, attr::axis_i(normalize_axis(axis, parts[0].rank())));
}
inline constexpr auto cat = [](graph<7> g, value_list tensors, std::int64_t dim) { return concat(g, tensors, dim); };

/// Tensors of different lengths, each filled up to the longest, along a new axis.
inline constexpr auto filled_to_longest =
    symbolic<"aten::pad_sequence(sequences, batch_first, padding_value, padding_side)">(
        [](graph<7> g, value_list sequences, bool batch_first, double filler, std::string_view side) -> value {
            if (side != "right" && side != "left") return g.unsupported("a padding_side other than 'right' and 'left'");
            dtype const type = sequences[0].dtype();
            if (sequences[0].rank() == 0) return g.unsupported("sequences without a length");
            sym_int longest = 0;
            for (value const& v : sequences) longest = max(longest, g.size(v, 0));
            tensor padding{type, {}, {}};
            padding.append(filler);
            safe_vector<value> parts;
            for (value const& v : sequences) {
                if (v.rank() != sequences[0].rank()) return g.unsupported("sequences of different ranks");
                safe_vector<sym_int> pads(2 * static_cast<std::size_t>(v.rank()), 0);
                sym_int const missing = longest - g.size(v, 0);
                pads[side == "left" ? 0 : static_cast<std::size_t>(v.rank())] = missing;
                value const x = g.cast(v, type);
                parts.push_back(
                    unsqueeze(g, missing.is(0) ? x : pad(g, x, pads, g.constant(padding)), batch_first ? 0 : 1));
            }
            return parts.size() == 1 ? parts[0] : value(g.op<"Concat">(parts, attr::axis_i(batch_first ? 0 : 1)));
        });

inline constexpr auto stack_at =
    symbolic<"aten::stack(tensors, dim)">([](graph<7> g, value_list tensors, std::int64_t axis) -> value {
        dtype const type = promote(tensors);
        axis = normalize_axis(axis, tensors[0].rank() + 1);
        safe_vector<value> parts;
        for (value const& v : tensors) parts.push_back(unsqueeze(g, g.cast(v, type), axis));
        return parts.size() == 1 ? parts[0] : g.op<"Concat">(parts, attr::axis_i(axis));
    }).by_parts<"tensors">();

/// Concatenates along an axis after extending all tensors to `N` dimensions.
template <std::int64_t N, std::int64_t Axis>
inline constexpr auto stack_dims =
    [](graph<7> g, value_list tensors) { return concat(g, all_at_least_dims<N>(g, tensors), Axis); };

inline constexpr auto stack_columns =
    symbolic<"aten::column_stack(tensors)">([](graph<7> g, value_list tensors) {
        safe_vector<value> columns;
        for (value const& v : tensors) columns.push_back(v.rank() > 1 ? v : reshape(g, v, {element_count(g, v), 1}));
        return concat(g, columns, 1);
    }).by_parts<"tensors">();

inline constexpr auto blocks_on_diagonal =
    symbolic<"aten::block_diag(tensors)">([](graph<7> g, value_list tensors) {
        dtype const type = promote(tensors);
        safe_vector<value> blocks;
        sym_int width = 0;
        for (value const& v : tensors) {
            if (v.rank() > 2) throw unsupported_error("block_diag of a tensor with more than 2 dimensions");
            blocks.push_back(at_least(g, g.cast(v, type), 2));
            width = width + g.size(blocks.back(), 1);
        }
        safe_vector<value> rows;
        sym_int left = 0;
        for (value const& v : blocks) {
            sym_int const height = g.size(v, 0);
            sym_int const until = left + g.size(v, 1);
            safe_vector<value> row;
            if (!left.is(0)) row.push_back(filled(g, safe_vector{height, left}, 0, type));
            row.push_back(v);
            if (sym_int const right = width - until; !right.is(0))
                row.push_back(filled(g, safe_vector{height, right}, 0, type));
            rows.push_back(row.size() == 1 ? v : g.op<"Concat">(row, attr::axis_i(1)));
            left = until;
        }
        return rows.size() == 1 ? rows[0] : value(g.op<"Concat">(rows, attr::axis_i(0)));
    }).by_parts<"tensors">();

/// One tensor per axis; the i-th varies along axis i.
inline constexpr auto mesh =
    symbolic<"aten::meshgrid(tensors)">([](graph<7> g, value_list tensors) -> safe_vector<value> {
        safe_vector<sym_int> sizes;
        for (value const& v : tensors) sizes.push_back(element_count(g, v));
        safe_vector<value> out;
        for (std::size_t i = 0; i != sizes.size(); ++i) {
            safe_vector<sym_int> column(sizes.size(), 1);
            column[i] = sizes[i];
            out.push_back(expand(g, reshape(g, tensors[i], column), sizes));
        }
        return out;
    }).by_parts<"tensors">();
inline constexpr auto meshgrid_indexing =
    symbolic<"aten::meshgrid.indexing(tensors, indexing)">([](graph<7> g, value_list tensors,
                                                              std::string_view indexing) -> safe_vector<value> {
        if (indexing == "ij" || tensors.size() < 2) return mesh(g, tensors);
        if (indexing != "xy") return g.unsupported("an indexing other than 'ij' and 'xy'");
        safe_vector<value> in(tensors.begin(), tensors.end());
        std::swap(in[0], in[1]);
        safe_vector<value> out = mesh(g, in);
        std::swap(out[0], out[1]);
        return out;
    }).by_parts<"tensors">();

/// All choices of r out of 0 ... n - 1 in lexicographic order, concatenated.
inline safe_vector<std::int64_t> choices(std::int64_t n, std::int64_t r, bool with_replacement) {
    safe_vector<std::int64_t> all;
    safe_vector<std::int64_t> now;
    std::int64_t steps = 0;
    auto const extend = [&](auto const& self, std::int64_t from) -> void {
        budget::expect("combinations", ++steps);
        if (static_cast<std::int64_t>(now.size()) == r) {
            all.insert(all.end(), now.begin(), now.end());
            return;
        }
        for (std::int64_t i = from; i < n; ++i) {
            now.push_back(i);
            self(self, with_replacement ? i : i + 1);
            now.pop_back();
        }
    };
    if (n < 0 || r < 0) throw unsupported_error("combinations of a negative number of elements");
    budget::expect("combinations", r, budget::max_rank);
    extend(extend, 0);
    return all;
}

inline constexpr auto hstack =
    symbolic<"aten::hstack(tensors)">([](graph<7> g, value_list tensors) {
        return tensors[0].rank() < 2 ? stack_dims<1, 0>(g, tensors) : stack_dims<1, 1>(g, tensors);
    }).by_parts<"tensors">();

inline constexpr auto broadcast_tensors =
    symbolic<"aten::broadcast_tensors(tensors)">([](graph<7> g, value_list tensors) {
        value const shape = broadcast_shape(g, tensors);
        safe_vector<value> out;
        for (value const& v : tensors) out.push_back(expand_to(g, v, shape));
        return out;
    });
/// Tensors of the list may be real.
inline constexpr auto complex_broadcast_tensors = [](graph<7> g, safe_vector<complex_value> tensors) {
    safe_vector<value> parts;
    for (complex_value const& z : tensors) {
        bool const real = !is_complex(z.tensor().dtype());
        parts.push_back(real ? z.tensor() : g.real(z));
        if (!real) parts.push_back(g.imag(z));
    }
    safe_vector<value> const expanded = broadcast_tensors(g, parts);
    safe_vector<value> out;
    std::size_t next = 0;
    for (complex_value const& z : tensors) {
        bool const real = !is_complex(z.tensor().dtype());
        out.push_back(real ? expanded[next] : g.to_value(g.complex(expanded[next], expanded[next + 1])));
        next += real ? 1 : 2;
    }
    return out;
};

inline constexpr auto cartesian_prod =
    symbolic<"aten::cartesian_prod(tensors)">([](graph<7> g, value_list tensors) -> value {
        if (tensors.size() == 1) return tensors[0];
        safe_vector<value> columns;
        for (value const& v : mesh(g, tensors)) columns.push_back(flat(g, v));
        return stack_at(g, columns, 1);
    }).by_parts<"tensors">();

inline constexpr auto combinations =
    symbolic<"aten::combinations(self, r, with_replacement)">([](graph<7> g, value self, std::int64_t r,
                                                                 bool with_replacement) {
        std::int64_t const n = g.size(self, 0).constant();
        if (r == 0) return empty_constant(g, safe_vector<std::int64_t>{0}, self.dtype());
        safe_vector<std::int64_t> const all = choices(n, r, with_replacement);
        tensor chosen = int64_tensor(all);
        chosen.sizes = {chosen.sizes[0] / r, r};
        return gather_of(g, self, g.constant(std::move(chosen)), 0);
    }).by_parts<"self">();

} // namespace detail

inline constexpr auto joining = table(
    detail::filled_to_longest, symbolic<"aten::cat(tensors, dim)">(detail::cat).by_parts<"tensors">(),
    symbolic<"aten::concat(tensors, dim)">(detail::cat).by_parts<"tensors">(),
    symbolic<"aten::concatenate(tensors, dim)">(detail::cat).by_parts<"tensors">(), detail::stack_at, detail::hstack,
    symbolic<"aten::vstack(tensors)">(detail::stack_dims<2, 0>).by_parts<"tensors">(),
    symbolic<"aten::row_stack(tensors)">(detail::stack_dims<2, 0>).by_parts<"tensors">(),
    symbolic<"aten::dstack(tensors)">(detail::stack_dims<3, 2>).by_parts<"tensors">(), detail::stack_columns,
    detail::blocks_on_diagonal,
    // The default of `indexing` is "ij".
    detail::mesh, detail::meshgrid_indexing, detail::broadcast_tensors.for_complex(detail::complex_broadcast_tensors),
    detail::cartesian_prod, detail::combinations);

} // namespace ATON_NAMESPACE::mappings
