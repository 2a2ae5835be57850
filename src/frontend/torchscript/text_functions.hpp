// SPDX-License-Identifier: MIT
// The methods of strings as TorchScript has them: on bytes, with the places where it differs from Python.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::torchscript::texts {

/// A part of a string, from `start` to before `end`; negative numbers count from its end, and as an end, -1 is the end of the string.
struct range {
    std::int64_t start = 0;
    std::int64_t end = -1;
};

[[nodiscard]] std::string lower(std::string_view text);
[[nodiscard]] std::string upper(std::string_view text);
[[nodiscard]] std::string swapcase(std::string_view text);
[[nodiscard]] std::string capitalize(std::string_view text);
[[nodiscard]] std::string title(std::string_view text);

/// str.isdigit() and others by their names; nothing for other names.
[[nodiscard]] std::optional<bool> is_all(std::string_view name, std::string_view text);

[[nodiscard]] std::string strip(std::string_view text, std::string_view characters, bool left, bool right);
[[nodiscard]] std::vector<std::string> split_at_blanks(std::string_view text);
[[nodiscard]] std::vector<std::string> split(std::string_view text, std::string_view separator, std::int64_t most);
[[nodiscard]] std::vector<std::string> rsplit(std::string_view text, std::string_view separator, std::int64_t most);
/// With `keeps_ends`, each end of a line is an item of its own.
[[nodiscard]] std::vector<std::string> splitlines(std::string_view text, bool keeps_ends);
[[nodiscard]] std::array<std::string, 3> partition(std::string_view text, std::string_view separator);
[[nodiscard]] std::array<std::string, 3> rpartition(std::string_view text, std::string_view separator);

/// The first or last place, or -1; how often it is there; whether it is at the start or the end. Nothing if the part starts behind the end of
/// the string, which torch refuses.
[[nodiscard]] std::optional<std::int64_t> find(std::string_view text, std::string_view wanted, range in);
[[nodiscard]] std::optional<std::int64_t> rfind(std::string_view text, std::string_view wanted, range in);
[[nodiscard]] std::int64_t count(std::string_view text, std::string_view wanted, range in);
[[nodiscard]] std::optional<bool> starts_with(std::string_view text, std::string_view wanted, range in);
[[nodiscard]] std::optional<bool> ends_with(std::string_view text, std::string_view wanted, range in);

[[nodiscard]] std::string replace(std::string_view text, std::string_view old, std::string_view by, std::int64_t most);
[[nodiscard]] std::string expandtabs(std::string_view text, std::int64_t size);
/// `left` and `right`: where the text is padded; center() as in Python.
[[nodiscard]] std::string pad(std::string_view text, std::int64_t width, char fill, bool left, bool right);
/// "0xff", "-0b101"
[[nodiscard]] std::string in_base(std::int64_t number, unsigned base, std::string_view prefix);

} // namespace ATON_NAMESPACE::torchscript::texts
