// SPDX-License-Identifier: MIT
// The built-in targets as a compiled library (target aton::targets).
// Public header.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::targets {

/// Every built-in target in each version, in the order of the documentation, older versions first. Throws aton::error
/// if a table is damaged.
[[nodiscard]] std::span<target const* const> built_in_targets();

/// The target of this name, or nullptr for "onnx", which has no limits. "tensorrt:10.1" is a version, and "tensorrt" the
/// newest one. Throws aton::error, with the most similar name or the versions that there are, if there is none.
[[nodiscard]] target const* find_target(std::string_view name);

/// A line for help texts: the names, the versions of each, and what they are. Throws std::bad_alloc only.
[[nodiscard]] std::string target_names();

} // namespace ATON_NAMESPACE::targets
