// SPDX-License-Identifier: MIT
// The binary interface between Aton and a plugin: a constant of plain C types, and one function that runs a row.
// Internal header.
#pragma once

#include <cstdint>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::abi {

inline constexpr char const* symbol = "aton_plugin";
inline constexpr std::string_view magic = "AtonPlug";

extern "C" {

/// Not null-terminated.
struct text {
    char const* data;
    std::uint64_t size;
};

struct row {
    text overload;
    text schema;
    std::uint8_t const* named; ///< positions in the schema, in the body's order
    std::uint64_t named_count;
    std::int32_t since;
    std::int32_t until;
    std::uint32_t overrides;
    std::uint32_t takes_complex;
};

/// The outcome of a row; all except `done` come with a message.
enum outcome : std::int32_t { done, unsupported, illegal, failed, out_of_memory, foreign_exception, left_to_next };

/// Receives a message; the callee copies it.
using report = void(void* sink, char const* data, std::uint64_t size);
/// Runs a row with a dsl::invocation. Does not throw.
using call = std::int32_t(std::uint64_t row, void* invocation, report* say, void* sink);

/// The object `aton_plugin` of a plugin. The members up to `version` are the same in every version of Aton.
struct description {
    char magic[8];
    std::uint64_t bytes; ///< of this object
    text version;
    text library;
    std::uint64_t layout;
    row const* rows;
    std::uint64_t row_count;
    call* run;
    void const* rewrites; ///< of aton::rewrite_entry
    std::uint64_t rewrite_count;
};

} // extern "C"

constexpr text text_of(std::string_view t) { return {t.data(), t.size()}; }

} // namespace ATON_NAMESPACE::abi
