// SPDX-License-Identifier: MIT
// The built-in rewrites as a compiled library (target aton::fusions).
// Public header.
#pragma once

#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::fusions {

/// Every built-in rewrite: what library() in <aton/fusions.hpp> is, but compiled once.
[[nodiscard]] rewrites_view built_in_rewrites() noexcept;

} // namespace ATON_NAMESPACE::fusions
