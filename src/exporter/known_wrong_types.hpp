// SPDX-License-Identifier: MIT
// Known wrong types in .pt2 files: torch.export records the types of fake kernels, some of which differ from the real kernels. Found by
// running both on every recorded call of ATen (docs/exporter.md, "Types").
#pragma once

#include <cstddef>
#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::exporter {

/// Whether this version of torch ("2.10.0+cu128"; empty for 2.4, which does not record it) is known to record `recorded` for a result whose
/// actual type is `given`. The mapping's type is then used.
[[nodiscard]] bool is_known_wrong_type(std::string_view op, std::size_t result, std::string_view torch_version,
                                       value_type const& given, value_type const& recorded);

} // namespace ATON_NAMESPACE::exporter
