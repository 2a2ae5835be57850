// SPDX-License-Identifier: MIT
// The rewrites of an export: those of its options, of its target, and the built-in ones, without those that are left out.
#pragma once

#include <vector>

#include <aton/exporter/exporter.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::exporter {

struct selected_rewrites {
    std::vector<rewrite_entry> first;
    std::vector<rewrite_entry> last; ///< applied after all others
};

/// Throws aton::error for a name to leave out that no rewrite has.
[[nodiscard]] selected_rewrites select_rewrites(export_options const& options);

} // namespace ATON_NAMESPACE::exporter
