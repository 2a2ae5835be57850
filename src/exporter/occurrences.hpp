// SPDX-License-Identifier: MIT
// What occurs in a program, and how often, as text for warnings.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::exporter {

/// A string from a file, shortened and on one line.
inline std::string shortened(std::string text) {
    constexpr std::size_t max_length = 200;
    for (char& c : text)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return text.size() <= max_length ? text : text.substr(0, max_length) + "...";
}

/// The first one of several elements with the same name.
template <class T>
struct occurrences {
    T const* first;
    std::size_t count;
};

/// Groups elements by a name, a member of theirs, in the order in which the names occur first.
template <class T, class Name>
std::vector<occurrences<T>> grouped_by(std::vector<T> const& all, Name name) {
    std::vector<occurrences<T>> out;
    for (T const& each : all) {
        auto const known = std::find_if(out.begin(), out.end(), [&](occurrences<T> const& o) {
            return std::invoke(name, *o.first) == std::invoke(name, each);
        });
        if (known == out.end()) out.push_back({&each, 1});
        else ++known->count;
    }
    return out;
}

/// " (at model.py:3 in forward)", " (3 times, first at model.py:4 in forward)", " (3 times)", or nothing.
inline std::string where_it_occurs(std::size_t count, std::string const& place) {
    std::string out = count == 1 ? "" : std::to_string(count) + " times";
    if (!place.empty()) out += (count == 1 ? "at " : ", first at ") + shortened(place);
    return out.empty() ? out : " (" + out + ")";
}

} // namespace ATON_NAMESPACE::exporter
