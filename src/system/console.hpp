// SPDX-License-Identifier: MIT
// Standard streams and terminals.
#pragma once

#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

inline constexpr int standard_error = 2; ///< the descriptor

/// Prepares stdin, stdout and stderr: none of them can become the descriptor of a file, text is UTF-8, and lines end as they were written.
void prepare_streams() noexcept;
[[nodiscard]] bool is_terminal(int file) noexcept;
/// Whether a terminal that is_terminal() obeys the escape sequences that erase a line.
[[nodiscard]] bool can_erase_lines(int file) noexcept;
/// 80 if the file is no terminal, or does not say.
[[nodiscard]] int columns_of(int file) noexcept;
/// Writes text as far as possible, with nothing that a handler of signals may not call.
void write_text(int file, std::string_view text) noexcept;

} // namespace ATON_NAMESPACE::system
