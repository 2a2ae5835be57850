// SPDX-License-Identifier: MIT
// Answers questions about symbolic sizes and strides by substituting numbers for the symbols.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

struct concrete_layout {
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
};

/// Symbols become different multiples of 240, so that divisions are exact and different sizes stay different.
class layouts {
public:
    explicit layouts(program const& p);

    /// The layout of a value; nullopt if it is not recorded or cannot be computed.
    [[nodiscard]] std::optional<concrete_layout> of(value_index v) const;

    /// The sizes of a value; nullopt if they are not recorded or cannot be computed.
    [[nodiscard]] std::optional<std::vector<std::int64_t>> sizes_of(value_index v) const;

    /// Whether both are known to have the same sizes.
    [[nodiscard]] bool same_sizes(value_index a, value_index b) const;
    /// Whether `wide` is known to have the sizes of `v` after dimensions of size 1.
    [[nodiscard]] bool same_after_ones(value_index v, value_index wide) const;
    [[nodiscard]] bool same_type(value_index a, value_index b) const;
    [[nodiscard]] bool has_type(value_index v, dtype t) const;

    /// Whether a view of a tensor with this layout can have these sizes without a copy (at::detail::computeStride).
    [[nodiscard]] static bool is_viewable(concrete_layout const& from, std::vector<std::int64_t> const& sizes);
    [[nodiscard]] static bool is_contiguous(concrete_layout const& layout);
    /// Whether the strides are equal, ignoring dimensions of size 1.
    [[nodiscard]] static bool same_order(concrete_layout const& a, concrete_layout const& b);

private:
    [[nodiscard]] bool same_extent(extent const& a, extent const& b) const;
    [[nodiscard]] std::optional<std::int64_t> number_of(extent const& e) const;

    program const& program_;
    std::map<std::string, std::int64_t, std::less<>> symbols_;
};

} // namespace ATON_NAMESPACE::program
