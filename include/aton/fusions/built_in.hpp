// SPDX-License-Identifier: MIT
// The built-in rewrites as a compiled library (target aton::fusions).
// Public header.
#pragma once

#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::fusions {

/// Every built-in rewrite: those of nodes, which library() in <aton/fusions.hpp> is, and those of ATen calls
/// (<aton/fusions/recomposition.hpp>), which need the compiled mappings.
[[nodiscard]] rewrites_view built_in_rewrites() noexcept;

} // namespace ATON_NAMESPACE::fusions
