// SPDX-License-Identifier: MIT
// Describes an exception of a mapping in one short line: with the text of Aton or of the author, not of the C++ library.
// Internal header.
#pragma once

#include <cstddef>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#if defined(__GXX_RTTI) || defined(_CPPRTTI)
#include <typeinfo>
#endif
#if __has_include(<cxxabi.h>)
#include <cstdlib>

#include <cxxabi.h>
#endif

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace detail {

/// "std::out_of_range"; "std::exception" without RTTI.
template <class = void>
std::string name_of_exception(std::exception const& e) {
#if defined(__GXX_RTTI) || defined(_CPPRTTI)
    std::string name = typeid(e).name();
#if __has_include(<cxxabi.h>)
    int status = 0;
    if (char* const read = ::abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status); read != nullptr) {
        name = read;
        std::free(read); // NOLINT(*-no-malloc): __cxa_demangle allocates with malloc
    }
#endif
    for (std::string_view const version : {"__1::", "__cxx11::"})
        if (std::size_t const at = name.find(version); at != std::string::npos) name.erase(at, version.size());
    return name;
#else
    static_cast<void>(e);
    return "std::exception";
#endif
}

/// Whether a message comes from the C++ library: "vector::_M_range_check: __n (which is 9)", "map::at".
constexpr bool is_library_message(std::string_view text) {
    if (text.find("std::") != std::string_view::npos) return true;
    for (std::string_view const of : {"array:",
                                      "basic_string",
                                      "bitset:",
                                      "deque:",
                                      "list:",
                                      "map:",
                                      "random_device",
                                      "stod",
                                      "stof",
                                      "stoi",
                                      "stol",
                                      "stoul",
                                      "string:",
                                      "unordered_map:",
                                      "vector"})
        if (text.substr(0, of.size()) == of) return true;
    return false;
}

/// Whether an exception type of the C++ library is constructed with a message, which may be the author's.
constexpr bool takes_message(std::string_view name) {
    for (std::string_view const each : {"std::runtime_error",
                                        "std::logic_error",
                                        "std::invalid_argument",
                                        "std::domain_error",
                                        "std::length_error",
                                        "std::out_of_range",
                                        "std::range_error",
                                        "std::overflow_error",
                                        "std::underflow_error"})
        if (name == each) return true;
    return false;
}

} // namespace detail

/// Describes the exception being handled, without the subject of a refusal. Call it in a handler.
template <class = void>
std::string describe_thrown() {
    try {
        throw;
    } catch (refused const& e) {
        return clipped(std::string(e.reason()), 400);
    } catch (error const& e) {
        return clipped(e.what(), 400);
    } catch (std::bad_alloc const&) {
        return "the mapping ran out of memory (std::bad_alloc)";
    } catch (std::exception const& e) {
        std::string const name = clipped(detail::name_of_exception(e), 100);
        std::string out = "the mapping threw an exception (" + name + ")";
        std::string_view const what = e.what();
        bool const is_library = name.starts_with("std::");
        bool const is_own = !is_library || (detail::takes_message(name) && !detail::is_library_message(what));
        return is_own && !what.empty() ? out + ": " + clipped(std::string(what), 300) : out;
    } catch (...) {
        return "the mapping threw something that is not a std::exception";
    }
}

} // namespace ATON_NAMESPACE
