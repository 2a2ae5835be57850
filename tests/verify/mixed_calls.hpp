// SPDX-License-Identifier: MIT
// Random calls whose tensors have different dtypes, and the recorded dtypes of ATen's results.
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

/// The kind of the operand whose dtype differs from the others; type promotion depends on it.
enum class operand_kind : std::uint8_t { dimensioned, zero_dim, number, count_ };
inline constexpr std::size_t operand_kinds = static_cast<std::size_t>(operand_kind::count_);

/// A tensor of a call: an argument, or an element of a list.
struct operand_place {
    std::size_t argument = 0;
    std::optional<std::size_t> element;
};
[[nodiscard]] std::vector<operand_place> operands_of(sample const& s);
[[nodiscard]] std::string text_of(sample const& s, operand_place const& p); ///< "tensors[1]"

/// The call with one operand of the pair's first dtype; other operands whose dtype the rule does not fix get the second. Nothing if that
/// is impossible: lists do not contain numbers, and there are no int8 numbers.
[[nodiscard]] std::optional<sample> mixed(sample const& drawn, operand_place const& one, operand_kind kind,
                                          std::size_t pair);

/// One letter per pair of dtypes: that of the first result's dtype, or `.` if ATen rejects the call.
using pair_letters = std::array<char, pair_count>;
inline constexpr char refused_letter = '.';
inline constexpr char open_letter = '?'; ///< the dtype depends on other arguments
[[nodiscard]] char letter_of(dtype t);
[[nodiscard]] std::string_view name_of_letter(char letter);

/// The recorded letters of one operand.
struct recorded_operand {
    std::string overload;
    std::string operand;
    std::array<pair_letters, operand_kinds> letters;
};
/// Throws aton::error with the line number if the file is malformed.
[[nodiscard]] std::vector<recorded_operand> read_mixed_types(std::string const& path);
void write_mixed_types(std::string const& path, std::vector<recorded_operand> const& all);

} // namespace ATON_NAMESPACE::verify
