// SPDX-License-Identifier: MIT
// The rewrites of an export: those of its options, then the built-in ones, without those that are left out.
#pragma once

#include <vector>

#include <aton/exporter/exporter.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::exporter {

/// Throws aton::error for a name to leave out that no rewrite has.
[[nodiscard]] std::vector<rewrite_entry> select_rewrites(export_options const& options);

} // namespace ATON_NAMESPACE::exporter
