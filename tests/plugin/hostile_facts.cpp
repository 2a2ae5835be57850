// SPDX-License-Identifier: MIT
// What an honest plugin says of itself: compiled once for all that are not.
#include <cstdint>

#include <aton/dsl/plugin_abi.hpp>

aton::abi::text honest_version();
aton::abi::text honest_library();
std::uint64_t honest_layout();

aton::abi::text honest_version() { return aton::abi::text_of(aton::version); }
aton::abi::text honest_library() { return aton::abi::text_of(aton::abi::standard_library()); }
std::uint64_t honest_layout() { return aton::abi::layout(); }
