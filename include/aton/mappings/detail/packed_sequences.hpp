// SPDX-License-Identifier: MIT
// Packed sequences: the elements of several sequences in time-major order without padding, the longest sequence first.
// Internal header.
#pragma once

#include <cstdint>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Where the elements of packed sequences are in a tensor of padded sequences, (time, batch, ...).
struct packed_layout {
    value present;   ///< (time, batch): whether a sequence has this time step
    value positions; ///< (time, batch): the row of the packed elements; 0 if there is none
    value lengths;   ///< (batch)
};

/// `batch_sizes` has the number of sequences at each time step.
inline packed_layout layout_of_packed(graph<11> g, value batch_sizes, sym_int batch) {
    value const sequence = arithmetic_sequence(g, 0, batch);
    value const present = g.op<"Less">(sequence, unsqueeze(g, batch_sizes, 1));
    value const first = g.op<"CumSum">(batch_sizes, g.scalar(0, dtype::int64), attr::exclusive_i(1));
    value const rows = g.op<"Add">(unsqueeze(g, first, 1), sequence);
    std::int64_t const over_time[] = {0};
    return {present,
            g.op<"Where">(present, rows, g.scalar(0, dtype::int64)),
            reduce_sum(g, g.cast(present, dtype::int64), over_time, false)};
}

/// (time, batch, ...) from packed elements. What stands where there is no element is arbitrary.
inline value pad_sequences(graph<11> g, value packed, packed_layout const& layout) {
    return gather_of(g, packed, layout.positions, 0);
}

/// The elements of (time, batch, ...) that are present.
inline value pack_sequences(graph<11> g, value padded, value present) {
    safe_vector<sym_int> sizes = g.sizes(padded);
    if (sizes.size() < 2) throw unsupported_error("the input must have at least 2 dimensions");
    sizes[1] = sizes[0] * sizes[1];
    sizes.erase(sizes.begin());
    return g.op<"Compress">(reshape(g, padded, sizes), flat(g, present), attr::axis_i(0));
}

inline value as_batch_sizes(graph<11> g, value batch_sizes) {
    if (batch_sizes.rank() != 1) throw unsupported_error("batch_sizes must have one dimension");
    return g.cast(batch_sizes, dtype::int64);
}

inline constexpr auto pack_padded_sequence = [](graph<11> g, value input, value lengths,
                                                bool batch_first) -> std::tuple<value, value> {
    if (input.rank() < 2 || lengths.rank() != 1) return g.unsupported("an input with fewer than 2 dimensions");
    value const x = batch_first ? swap_axes(g, input, 0, 1) : input;
    value const n = g.cast(lengths, dtype::int64);
    value const time = arithmetic_sequence(g, 0, g.size(x, 0));
    value const present = g.op<"Less">(unsqueeze(g, time, 1), n);
    std::int64_t const over_batch[] = {1};
    value const counts = reduce_sum(g, g.cast(present, dtype::int64), over_batch, false);
    return {pack_sequences(g, x, present), slice(g, counts, 0, 0, select(g, n, 0, 0))};
};

inline constexpr auto pad_packed_sequence = [](graph<11> g, value data, value batch_sizes, bool batch_first,
                                               number padding_value,
                                               std::int64_t total_length) -> std::tuple<value, value> {
    value counts = as_batch_sizes(g, batch_sizes);
    sym_int const batch = select(g, counts, 0, 0);
    if (total_length > 0) {
        sym_int const missing = total_length - g.size(counts, 0);
        counts = g.op<"Concat">(safe_vector<value>{counts, filled(g, {&missing, 1}, 0, dtype::int64)}, attr::axis_i(0));
    }
    packed_layout const layout = layout_of_packed(g, counts, batch);
    value present = layout.present;
    for (std::int64_t i = 1; i < data.rank(); ++i) present = unsqueeze(g, present, i + 1);
    value const y = choose(g, present, pad_sequences(g, data, layout), element(g, padding_value, data.dtype()));
    return {batch_first ? swap_axes(g, y, 0, 1) : y, layout.lengths};
};

} // namespace ATON_NAMESPACE::mappings::detail
