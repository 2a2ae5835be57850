// SPDX-License-Identifier: MIT
// Checks sizes against the guards of a program.
// Internal header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// Whether these sizes satisfy every guard that was parsed and the ranges of the symbols. Like the module itself, does not check
/// lower bounds up to 2.
[[nodiscard]] bool accepts(program const& p, std::map<std::string, std::int64_t, std::less<>> const& symbols);

} // namespace ATON_NAMESPACE::program
