// SPDX-License-Identifier: MIT
// The sentence for `auto [y, mask] = g.op<"Dropout">(x)`: a value is not a tuple.
// Internal header.
#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>

#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl::detail {

template <class>
inline constexpr sentence one_result =
    sentence() << "a value is one result: to decompose a call, ask for its results with outputs<n>, g.op<...>(x, "
                  "outputs<2>)";

#ifdef ATON_DIAGNOSIS_IN_CONDITION
/// What is not the size of a tuple, because it converts explicitly only. Clang's error names the type, and the standard library, which
/// asks for the size of every const type first, passes over it without an error.
template <class Error>
struct no_size {
    explicit constexpr operator std::size_t() const { return 0; }
};

/// A base, so that Clang prints the sentence instead of the alias that made it.
template <class Error>
struct no_tuple {
    /// Never converted.
    static constexpr no_size<Error> value{};
};
#else
template <class Error>
struct no_tuple {
    /// Never defined. (No static_assert, after which compilers would also count the names.)
    static constexpr std::size_t value = sizeof(Error);
};
#endif

} // namespace ATON_NAMESPACE::dsl::detail

namespace ATON_NAMESPACE::dsl::detail {

template <class>
inline constexpr bool is_single_output = false;
template <type_set Types>
inline constexpr bool is_single_output<single_output<Types>> = true;

} // namespace ATON_NAMESPACE::dsl::detail

/// One output is a tuple of one element, as `outputs<2>` are one of two.
template <aton::type_set Types>
struct std::tuple_size<aton::dsl::single_output<Types>> : std::integral_constant<std::size_t, 1> {};
template <aton::type_set Types>
struct std::tuple_element<0, aton::dsl::single_output<Types>> {
    /// The output.
    using type = aton::dsl::typed_value<Types>;
};

/// Exists only for its diagnostic.
template <class Value>
    requires(std::derived_from<Value, aton::dsl::value> && !std::is_const_v<Value> &&
             !aton::dsl::detail::is_single_output<Value>)
struct std::tuple_size<Value>
    : aton::dsl::detail::no_tuple<aton::dsl::detail::diagnosis<aton::dsl::detail::one_result<Value>>> {};
/// As above, for `auto const [y, mask]`.
template <class Value>
    requires(std::derived_from<Value, aton::dsl::value> && !aton::dsl::detail::is_single_output<Value>)
struct std::tuple_size<Value const> : std::tuple_size<Value> {};
