// SPDX-License-Identifier: MIT
// aten::_trilinear: the product of three tensors over dimensions that some of them do not have.
// Internal header.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include <aton/mappings/detail/einsum.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The products of three tensors, each without the dimensions in its list, summed over some dimensions. To ATen, a
/// dimension that none of them has is of size 0 in the result; a sum over it is the product, but 0 if it is unroll_dim.
inline value product_of_three(graph<7> g, std::array<value, 3> const& operands,
                              std::array<safe_span<std::int64_t const>, 3> const& without,
                              safe_span<std::int64_t const> summed, std::int64_t unroll_dim) {
    std::int64_t const rank = operands[0].rank() + static_cast<std::int64_t>(without[0].size());
    if (rank > 26) throw unsupported_error("more than 26 dimensions");
    auto const letter = [](std::int64_t i) { return static_cast<char>('a' + i); };
    auto const letters = [&](safe_span<std::int64_t const> left_out) {
        safe_vector<std::int64_t> const gone = normalize_axes(left_out, rank);
        std::string out;
        for (std::int64_t i = 0; i < rank; ++i)
            if (std::find(gone.begin(), gone.end(), i) == gone.end()) out += letter(i);
        return out;
    };
    std::string equation;
    for (std::size_t i = 0; i != 3; ++i) {
        std::string const own = letters(without[i]);
        if (operands[i].rank() != static_cast<std::int64_t>(own.size()))
            throw unsupported_error("operands of different ranks");
        equation += (i == 0 ? "" : ",") + own;
    }
    std::string kept;
    safe_vector<std::int64_t> nothing;
    std::string const all = letters(summed);
    for (std::size_t i = 0; i != all.size(); ++i) {
        if (equation.find(all[i]) == std::string::npos) nothing.push_back(static_cast<std::int64_t>(i));
        else kept += all[i];
    }
    value y = einsum_of(g, equation + "->" + kept, operands);
    bool const is_owned =
        unroll_dim >= 0 && unroll_dim < rank && equation.find(letter(unroll_dim)) != std::string::npos;
    if (!is_owned && all.find(letter(unroll_dim)) == std::string::npos) y = filled_like(g, y, 0, y.dtype());
    if (nothing.empty()) return y;
    y = unsqueeze(g, y, nothing);
    for (std::int64_t const axis : nothing) y = slice(g, y, axis, 0, 0);
    return y;
}

} // namespace ATON_NAMESPACE::mappings::detail
