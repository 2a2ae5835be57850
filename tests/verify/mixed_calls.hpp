// SPDX-License-Identifier: MIT
// Calls whose tensors have different dtypes, made of calls that were drawn, and what ATen says of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

inline constexpr std::array mixed_types = {dtype::bool_,
                                           dtype::uint8,
                                           dtype::int8,
                                           dtype::int16,
                                           dtype::int32,
                                           dtype::int64,
                                           dtype::float16,
                                           dtype::bfloat16,
                                           dtype::float32,
                                           dtype::float64,
                                           dtype::complex64,
                                           dtype::complex128};
inline constexpr std::size_t pair_count = mixed_types.size() * mixed_types.size();

/// What the one operand is whose dtype is not that of the others: promotion asks.
enum class operand_kind : std::uint8_t { dimensioned, zero_dim, number, count_ };
inline constexpr std::size_t operand_kinds = static_cast<std::size_t>(operand_kind::count_);

/// A tensor of a call: an argument, or an element of one that is a list.
struct operand_place {
    std::size_t argument = 0;
    std::optional<std::size_t> element;
};
[[nodiscard]] std::vector<operand_place> operands_of(sample const& s);
[[nodiscard]] std::string text_of(sample const& s, operand_place const& p); ///< "tensors[1]"

/// The call with one operand of the first dtype, and the others that the rule leaves open of the second. Nothing where it cannot be: a
/// list has no numbers, and there are no numbers of int8.
[[nodiscard]] std::optional<sample> mixed(sample const& drawn, operand_place const& one, operand_kind kind,
                                          std::size_t pair);

/// What ATen gives for all pairs of an operand, a letter for each: that of the first result's dtype, `.` where ATen refuses the call.
using pair_letters = std::array<char, pair_count>;
inline constexpr char refused_letter = '.';
inline constexpr char open_letter = '?'; ///< other arguments of the call decide on the dtype
[[nodiscard]] char letter_of(dtype t);
[[nodiscard]] std::string_view name_of_letter(char letter);

/// Letters that were recorded.
struct recorded_operand {
    std::string overload;
    std::string operand;
    std::array<pair_letters, operand_kinds> letters;
};
/// Throws aton::error, with the line, for a file that is none.
[[nodiscard]] std::vector<recorded_operand> read_mixed_types(std::string const& path);
void write_mixed_types(std::string const& path, std::vector<recorded_operand> const& all);

} // namespace ATON_NAMESPACE::verify
