// SPDX-License-Identifier: MIT
// Turns whatever a function throws into aton::error with one line, since the messages may contain text of an untrusted
// model.
#pragma once

#include <exception>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

/// Returns what `f` returns; every exception becomes aton::error, whose message is one line.
template <class Function>
auto with_one_line_errors(Function const& f) {
    try {
        return f();
    } catch (error const&) {
        throw;                          // keeps derived types
    } catch (std::exception const& e) { // such as std::bad_alloc
        throw error(e.what());
    }
}

} // namespace ATON_NAMESPACE::runtime
