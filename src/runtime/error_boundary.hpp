// SPDX-License-Identifier: MIT
// What strangers' graphs and programs are answered with: a result, or aton::error with one line, whatever went wrong and whatever text of
// theirs is in it.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

/// Without control characters, cut where it is long.
inline std::string on_one_line(std::string_view text) {
    constexpr std::size_t longest = 2000;
    std::string out(text.substr(0, longest));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    if (text.size() > longest) out += "...";
    return out;
}

/// What `f` returns. Whatever it throws is thrown as aton::error.
template <class Function>
auto answer_of(Function const& f) {
    try {
        return f();
    } catch (error const& e) {
        std::string line = on_one_line(e.what());
        if (line == e.what()) throw; // it may say more by its type
        throw error(std::move(line));
    } catch (std::exception const& e) { // that memory is not enough, for example
        throw error(on_one_line(e.what()));
    }
}

} // namespace ATON_NAMESPACE::runtime
