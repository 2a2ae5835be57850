// SPDX-License-Identifier: MIT
// The description of a valid plugin, compiled once for all hostile ones.
#include <cstdint>

#include <aton/dsl/plugin_abi.hpp>

aton::abi::text honest_version();
aton::abi::text honest_library();
std::uint64_t honest_layout();

aton::abi::text honest_version() { return aton::abi::text_of(aton::version); }
aton::abi::text honest_library() { return aton::abi::text_of(aton::abi::standard_library()); }
std::uint64_t honest_layout() { return aton::abi::layout(); }
