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

} // namespace ATON_NAMESPACE::dsl::detail

/// Exists only for its diagnostic. (No static_assert, after which compilers would also count the names.)
template <class Value>
    requires(std::derived_from<Value, aton::dsl::value> && !std::is_const_v<Value>)
struct std::tuple_size<Value> {
    /// Never defined.
    static constexpr std::size_t value = sizeof(aton::dsl::detail::diagnosis<aton::dsl::detail::one_result<Value>>);
};
/// As above, for `auto const [y, mask]`.
template <class Value>
    requires(std::derived_from<Value, aton::dsl::value>)
struct std::tuple_size<Value const> : std::tuple_size<Value> {};
