// SPDX-License-Identifier: MIT
// The words of the files that describe targets and faults, and of messages about them.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::targets {

/// What blanks separate.
template <class Word = std::string_view>
std::vector<Word> words_in(std::string_view text) {
    std::vector<Word> out;
    for (std::size_t at = text.find_first_not_of(' '); at < text.size();) {
        std::size_t const end = std::min(text.find(' ', at), text.size());
        out.emplace_back(text.substr(at, end - at));
        at = text.find_first_not_of(' ', end);
    }
    return out;
}

/// "4 or 5", "nearest, linear or cubic"
template <class Words>
std::string alternatives(Words const& words) {
    std::string out;
    for (std::size_t i = 0; i != words.size(); ++i)
        out.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
    return out;
}

/// Whether the whole text is a number that is not negative.
inline bool read_number(std::string_view text, int& to) {
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), to);
    return fault == std::errc() && end == text.data() + text.size() && to >= 0;
}

} // namespace ATON_NAMESPACE::targets
