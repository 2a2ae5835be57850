// SPDX-License-Identifier: MIT
// A row of a table without its C++ types.
// Public header.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::dsl {

struct invocation;

/// A row without its C++ types, for exporters, listings and checks.
struct entry {
    std::string_view overload; ///< "aten::add.Tensor"
    std::string_view schema;
    int since = 1;
    int until = 0;
    std::span<std::uint8_t const> named; ///< positions in the schema, in the body's order
    void (*run)(invocation&) = nullptr;
    std::uint64_t hash = 0;        ///< of the overload
    bool overrides = false;        ///< made with override_: may shadow another row for the same opsets
    void const* foreign = nullptr; ///< of a plugin's row: data for `run`
    bool takes_complex = false;    ///< converts calls with complex tensors

    /// Whether the row covers this opset.
    [[nodiscard]] constexpr bool holds_at(int opset) const { return since <= opset && opset <= until; }
};

/// The rows of a table, type-erased.
using table_view = std::span<entry const>;

} // namespace ATON_NAMESPACE::dsl
