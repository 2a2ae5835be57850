// SPDX-License-Identifier: MIT
// What occurs in a program, and how often, as text for warnings.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/version.hpp>

namespace ATON_NAMESPACE::exporter {

/// A string from a file, shortened and on one line.
inline std::string shortened(std::string text, std::size_t max_length = 200) {
    text = clipped(std::move(text), std::string::npos);
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
    std::unordered_map<std::string, std::size_t> known;
    for (T const& each : all) {
        auto const [at, is_new] = known.try_emplace(std::string(std::invoke(name, each)), out.size());
        if (is_new) out.push_back({&each, 1});
        else ++out[at->second].count;
    }
    return out;
}

/// "a, b, c", or "a, b, ..." if the text would be longer than `max_length`.
inline std::string list_of_some(std::vector<std::string> const& all, std::size_t max_length) {
    std::string out;
    for (std::string const& each : all) {
        if (!out.empty() && out.size() + each.size() > max_length) return out + ", ...";
        out += (out.empty() ? "" : ", ") + each;
    }
    return out;
}

/// " (at model.py:3 in forward)", " (3 times, first at model.py:4 in forward)", " (3 times)", or nothing.
inline std::string where_it_occurs(std::size_t count, std::string const& place) {
    std::string out = count == 1 ? "" : std::to_string(count) + " times";
    if (!place.empty()) out += (count == 1 ? "at " : ", first at ") + shortened(place, 100);
    return out.empty() ? out : " (" + out + ")";
}

} // namespace ATON_NAMESPACE::exporter
