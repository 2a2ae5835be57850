// SPDX-License-Identifier: MIT
// Whether what a mapping gives is what the program records: dtypes of one kind, the same rank, the same static sizes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::exporter {

/// What no Cast leads out of. Strings are a kind of their own; `unknown` is every dtype that is not known.
enum class number_kind : std::uint8_t { unknown, boolean, integer, floating, complex, string };

[[nodiscard]] number_kind kind_of(dtype t);

/// Whether every number of `from` is one of `to`: int32 of int64, float16 of float32.
[[nodiscard]] bool holds_all_of(dtype to, dtype from);

/// "float32[s0, 3]"; an unknown size is '?', an unknown rank '...'.
[[nodiscard]] std::string describe(value_type const& type);

/// Whether at most a Cast is between the two: tensors of one kind of numbers, one rank, and the same static sizes; nothing is known to
/// fit everything.
[[nodiscard]] bool fits(value_type const& given, value_type const& recorded);

/// "the mapping gives float32[3, 1], the program records float32[3, 4]"
[[nodiscard]] std::string mismatch(std::string_view who, value_type const& given, value_type const& recorded);

/// The recorded type, with what only the mapping knows.
[[nodiscard]] value_type merged(value_type const& given, value_type recorded);

} // namespace ATON_NAMESPACE::exporter
