// SPDX-License-Identifier: MIT
// Turns whatever a function throws into aton::error with one line, since the messages may contain text of an untrusted
// model.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

/// Replaces control characters by spaces and truncates long text.
inline std::string on_one_line(std::string_view text) {
    constexpr std::size_t longest = 2000;
    std::string out(text.substr(0, longest));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    if (text.size() > longest) out += "...";
    return out;
}

/// Returns what `f` returns; every exception becomes aton::error.
template <class Function>
auto with_one_line_errors(Function const& f) {
    try {
        return f();
    } catch (error const& e) {
        std::string line = on_one_line(e.what());
        if (line == e.what()) throw; // keeps derived types
        throw error(std::move(line));
    } catch (std::exception const& e) { // such as std::bad_alloc
        throw error(on_one_line(e.what()));
    }
}

} // namespace ATON_NAMESPACE::runtime
