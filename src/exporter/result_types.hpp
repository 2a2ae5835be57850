// SPDX-License-Identifier: MIT
// Compares the results of mappings with recorded types: dtypes of the same kind, the same rank, the same static sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::exporter {

/// Kinds of dtypes, between which no Cast is added. `unknown` is for undefined dtypes.
enum class number_kind : std::uint8_t { unknown, boolean, integer, floating, complex, string };

[[nodiscard]] number_kind kind_of(dtype t);

/// Whether `to` can represent every number of `from`, as int64 for int32 and float32 for float16.
[[nodiscard]] bool holds_all_of(dtype to, dtype from);

/// "float32[s0, 3]"; an unknown size is '?', an unknown rank '...'.
[[nodiscard]] std::string describe(value_type const& type);

/// Whether the types differ by at most a Cast: the same kind of numbers, the same rank, and the same static sizes. Unknown parts fit
/// everything.
[[nodiscard]] bool fits(value_type const& given, value_type const& recorded);

/// "the mapping returns float32[3, 1], but the program records float32[3, 4]"; `subject` ends with the verb.
[[nodiscard]] std::string mismatch(std::string_view subject, value_type const& given, value_type const& recorded);

/// The recorded type, completed by that of the mapping.
[[nodiscard]] value_type merged(value_type const& given, value_type recorded);

} // namespace ATON_NAMESPACE::exporter
