// SPDX-License-Identifier: MIT
// The version of Aton: macros for #if, the versioned namespace, and the version as text. The build reads it from here.
// Public header.
#pragma once

#include <string_view>

/// The major version.
#define ATON_VERSION_MAJOR 0
/// The minor version. It is part of the namespace.
#define ATON_VERSION_MINOR 2
/// The patch version.
#define ATON_VERSION_PATCH 0
/// One number that can be compared: 10000 * major + 100 * minor + patch.
#define ATON_VERSION (ATON_VERSION_MAJOR * 10000 + ATON_VERSION_MINOR * 100 + ATON_VERSION_PATCH)

/// Where everything of Aton is declared: `namespace ATON_NAMESPACE::dsl { ... }`. Programs write `aton::dsl`. The inline namespace
/// gives each minor version symbols of its own, so that two of them can be in one process.
#define ATON_NAMESPACE aton::inline v0_2

#if !defined(__cpp_exceptions) && !defined(_CPPUNWIND)
#error "Aton reports refused calls as exceptions: compile with exceptions enabled (remove -fno-exceptions)"
#endif
#if __cplusplus < 202002L && (!defined(_MSVC_LANG) || _MSVC_LANG < 202002L)
#error "Aton needs C++20: compile with -std=c++20 or newer"
#endif

#define ATON_TEXT_OF(x) #x
#define ATON_DOTTED(major, minor, patch) ATON_TEXT_OF(major) "." ATON_TEXT_OF(minor) "." ATON_TEXT_OF(patch)
namespace ATON_NAMESPACE {

/// The version as a string: "0.2.0".
inline constexpr std::string_view version = ATON_DOTTED(ATON_VERSION_MAJOR, ATON_VERSION_MINOR, ATON_VERSION_PATCH);

} // namespace ATON_NAMESPACE
#undef ATON_DOTTED
#undef ATON_TEXT_OF
