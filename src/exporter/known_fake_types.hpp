// SPDX-License-Identifier: MIT
// Where the types that a .pt2 file records are wrong: torch.export takes them from fake kernels, and some of these do not give what the
// real ones do. Found by running both on every recorded call of ATen (docs/exporter.md, "Types").
#pragma once

#include <cstddef>
#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::exporter {

/// Whether torch of this version ("2.10.0+cu128"; empty: 2.4, which does not say) is known to record such a type for this result in the
/// place of what the operator gives. Then the mapping's type holds.
[[nodiscard]] bool is_known_fake_type(std::string_view op, std::size_t result, std::string_view torch_version,
                                      value_type const& given, value_type const& recorded);

} // namespace ATON_NAMESPACE::exporter
