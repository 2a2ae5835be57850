// SPDX-License-Identifier: MIT
// What a pattern captures for its replacement: a value, a number, a list, a string or a dtype.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/scalar.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::dsl {

class value;

/// A part of a pattern that may be anything of type T, which the replacement receives: `value` is any value of the graph, `tensor` any
/// constant; `scalar`, `double` and `std::int64_t` are constants of one element, or attributes; `std::vector<std::int64_t>` is a constant
/// list of integers, or an attribute; `std::string` and `dtype` are attributes. Of a call, numbers, lists, strings, dtypes and `bool` are
/// its arguments, and there is no `tensor`. A capture that is used twice must be the same twice.
template <class T>
class capture {
public:
    /// Internal: patterns get their captures as parameters.
    constexpr explicit capture(std::int16_t index) : index_(index) {}
    /// The position among the captures of the pattern.
    [[nodiscard]] constexpr std::int16_t index() const { return index_; }

private:
    std::int16_t index_;
};

namespace detail {

template <class T>
inline constexpr bool is_capture = false;
template <class T>
inline constexpr bool is_capture<capture<T>> = true;

/// Whether T is a capture of one of these types.
template <class T, class... Of>
inline constexpr bool captures_any = (false || ... || std::is_same_v<T, capture<Of>>);

/// The kind of a capture<T>.
template <class T>
struct capture_traits {
    static constexpr bool known = false;
    static constexpr capture_kind kind = capture_kind::value;
};
template <capture_kind Kind>
struct known_capture {
    static constexpr bool known = true;
    static constexpr capture_kind kind = Kind;
};
template <>
struct capture_traits<value> : known_capture<capture_kind::value> {};
template <>
struct capture_traits<tensor> : known_capture<capture_kind::constant> {};
template <>
struct capture_traits<scalar> : known_capture<capture_kind::number> {};
template <>
struct capture_traits<double> : known_capture<capture_kind::real> {};
template <>
struct capture_traits<std::int64_t> : known_capture<capture_kind::integer> {};
template <>
struct capture_traits<std::vector<std::int64_t>> : known_capture<capture_kind::integers> {};
template <>
struct capture_traits<std::string> : known_capture<capture_kind::text> {};
template <>
struct capture_traits<dtype> : known_capture<capture_kind::type> {};
template <>
struct capture_traits<bool> : known_capture<capture_kind::boolean> {};

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
