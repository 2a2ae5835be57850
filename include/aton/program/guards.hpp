// SPDX-License-Identifier: MIT
// What the guards of a program say of sizes.
// Internal header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// Whether sizes fulfil every guard that is understood, and the ranges of symbols from 3 on.
[[nodiscard]] bool accepts(program const& p, std::map<std::string, std::int64_t, std::less<>> const& symbols);

} // namespace ATON_NAMESPACE::program
