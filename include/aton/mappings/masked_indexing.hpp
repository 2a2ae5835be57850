// SPDX-License-Identifier: MIT
// Reading and writing by index where a mask is true: what torch's decompositions of padding and resizing gradients use.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>

#include <aton/mappings/indexing.hpp>
#include <aton/mappings/scatter.hpp>
#include <aton/mappings/selection.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Indices moved into the range of their dimension: the mask hides the elements at the others.
inline safe_vector<optional_value> clamped_indices(graph<7> g, value x, safe_span<optional_value const> indices) {
    safe_vector<optional_value> out(indices.begin(), indices.end());
    std::int64_t axis = 0;
    for (optional_value& index : out) {
        if (axis == x.rank()) throw unsupported_error("more indices than dimensions");
        if (index) {
            if (is_mask(*index)) throw unsupported_error("a mask as an index");
            sym_int const size = g.size(x, axis);
            value const at = g.cast(*index, dtype::int64);
            value const low = max_of(g, at, g.to_value(-size));
            index = min_of(g, low, g.to_value(size - 1));
        }
        ++axis;
    }
    return out;
}

inline constexpr auto masked_index = symbolic<"aten::_unsafe_masked_index(self, mask, indices, fill)">(
    [](graph<11> g, value self, value mask, safe_span<optional_value const> indices, number fill) -> value {
        if (is_empty(self)) return g.unsupported("indices into an empty tensor");
        value const found = index_with(g, self, clamped_indices(g, self, indices));
        return choose(g, mask, found, element(g, fill, self.dtype()));
    });
inline constexpr auto masked_index_add =
    symbolic<"aten::_unsafe_masked_index_put_accumulate(self, mask, indices, values)">(
        [](graph<11> g, value self, value mask, safe_span<optional_value const> indices, value values) -> value {
            if (is_empty(self)) return self;
            bool const is_and =
                self.dtype() == dtype::bool_ && g.opset() < 16; // ONNX Runtime has no Where of bools there
            value const added = is_and ? g.op<"And">(mask, g.cast(values, dtype::bool_))
                                       : g.op<"Where">(mask, g.cast(values, self.dtype()), g.scalar(0, self.dtype()));
            return put_with(g, self, clamped_indices(g, self, indices), added, true);
        });

} // namespace detail

inline constexpr auto masked_indexing = table(detail::masked_index, detail::masked_index_add);

} // namespace ATON_NAMESPACE::mappings
