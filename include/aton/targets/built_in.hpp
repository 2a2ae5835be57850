// SPDX-License-Identifier: MIT
// The built-in targets as a compiled library (target aton::targets).
// Public header.
#pragma once

#include <span>
#include <string_view>

#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::targets {

/// Every built-in target, in the order of the documentation.
[[nodiscard]] std::span<target const* const> built_in_targets() noexcept;

/// The target of this name, or nullptr for "onnx", which has no limits. Throws aton::error, with the most similar name,
/// if there is none.
[[nodiscard]] target const* find_target(std::string_view name);

} // namespace ATON_NAMESPACE::targets
