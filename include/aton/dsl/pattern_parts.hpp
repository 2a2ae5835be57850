// SPDX-License-Identifier: MIT
// The parts of patterns: results of nodes, lists, and the recorder that holds them while the lambda of a pattern runs.
// Public header.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <aton/core/dtype.hpp>
#include <aton/dsl/capture.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

/// A pattern while its lambda runs, at compile time.
struct pattern_recorder {
    static constexpr std::size_t max_nodes = 48;
    static constexpr std::size_t max_terms = 256;
    static constexpr std::size_t max_attributes = 64;
    static constexpr std::size_t max_integers = 64;
    static constexpr std::size_t max_text = 128;
    static constexpr std::size_t max_further = 8;

    pattern_node nodes[max_nodes]{};
    pattern_term terms[max_terms]{};
    pattern_attribute attributes[max_attributes]{};
    std::int64_t integers[max_integers]{};
    char text[max_text]{};
    std::size_t node_count = 0;
    std::size_t term_count = 0;
    std::size_t attribute_count = 0;
    std::size_t integer_count = 0;
    std::size_t text_size = 0;
    pattern_term root;
    pattern_term further[max_further]{};
    std::size_t further_count = 0;
    bool is_full = false;
    bool has_error = false; ///< which has been reported where the node is written

    template <class T, std::size_t N>
    constexpr std::int16_t append(T (&list)[N], std::size_t& count, T const& what) {
        if (count == N) is_full = true;
        else list[count++] = what;
        return static_cast<std::int16_t>(count - 1);
    }
    constexpr std::int16_t add(pattern_term const& t) { return append(terms, term_count, t); }
    template <class List>
    constexpr pattern_term add_integers(List const& list) {
        pattern_term t{.what = pattern_term::kind::integers, .index = static_cast<std::int16_t>(integer_count)};
        for (std::int64_t each : list) {
            append(integers, integer_count, each);
            ++t.count;
        }
        return t;
    }
    constexpr pattern_term add_text(std::string_view s) {
        pattern_term const t{.what = pattern_term::kind::text,
                             .index = static_cast<std::int16_t>(text_size),
                             .count = static_cast<std::int16_t>(s.size())};
        for (char c : s) append(text, text_size, c);
        return t;
    }
};

} // namespace detail

/// A result of a node in a pattern; `Types` are the types that it can have. Its members are internal.
template <type_set Types>
struct pattern_value {
    pattern_term term;
};

/// A list of integers in a pattern, the result of `p.ints({1, -1})`. Its members are internal.
struct pattern_integers {
    pattern_term term;
};

/// A list of tensors in a pattern, the result of `p.list(x, y)`. Its members are internal.
struct pattern_list {
    pattern_term term;
};

/// Any argument in a pattern, the result of `p.anything()`. Its members are internal.
struct pattern_anything {
    pattern_term term;
};

namespace detail {

template <class T>
inline constexpr bool is_pattern_value = false;
template <type_set Types>
inline constexpr bool is_pattern_value<pattern_value<Types>> = true;

/// Whether T can be what the lambda of a pattern returns: a result, or a tuple of several.
template <class T>
inline constexpr bool is_pattern_result = is_pattern_value<T>;
template <class... T>
inline constexpr bool is_pattern_result<std::tuple<T...>> = sizeof...(T) >= 2 && (is_pattern_value<T> && ...);

/// The number of results of a pattern or of a replacement that returns T.
template <class T>
inline constexpr std::size_t result_count = 1;
template <class... T>
inline constexpr std::size_t result_count<std::tuple<T...>> = sizeof...(T);
template <class T, std::size_t N>
inline constexpr std::size_t result_count<std::array<T, N>> = N;

/// Whether T can be a term of a pattern.
template <class T>
inline constexpr bool is_pattern_term =
    is_pattern_value<T> || is_capture<T> || std::is_same_v<T, pattern_integers> || std::is_arithmetic_v<T>;

/// Whether T has a term.
template <class T>
concept has_pattern_term = requires(T const& t) {
    { t.term } -> std::convertible_to<pattern_term>;
};

template <class T>
constexpr pattern_term term_of(T const& t) {
    if constexpr (is_capture<T>) return {.what = pattern_term::kind::capture, .index = t.index()};
    else if constexpr (std::is_arithmetic_v<T>)
        return {.what = pattern_term::kind::number, .number = static_cast<double>(t)};
    else if constexpr (has_pattern_term<T>) return t.term;
    else return {};
}

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
