// SPDX-License-Identifier: MIT
// The signature of a lambda: its graph, its other parameters, and its results.
// Internal header.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/safe_list.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

template <int Since, auto... More>
class graph;

namespace detail {

/// Whether `T` is a std::optional.
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

/// The type of an object that is a template argument. (nvcc 13 passes `decltype((object))`, a reference, to the host compiler.)
template <auto Object>
using type_of = std::remove_cvref_t<decltype(Object)>;

template <class Body>
struct body_traits : std::false_type {};

template <class Function>
struct function_traits : std::false_type {};
template <class Return, int Since, auto... More, class... Parameters>
struct function_traits<Return (*)(graph<Since, More...>, Parameters...)> : std::true_type { // a static operator()
    using return_type = Return;
    using graph_type = graph<Since, More...>;
    using parameters = std::tuple<std::remove_cvref_t<Parameters>...>;
    static constexpr std::size_t arity = sizeof...(Parameters);
    /// The 1-based position of the first parameter that no argument binds to; 0: none.
    static constexpr std::size_t unbindable = [] {
        std::size_t position = 0;
        std::size_t found = 0;
        ((++position,
          found = found == 0 && std::is_lvalue_reference_v<Parameters> &&
                          !std::is_const_v<std::remove_reference_t<Parameters>>
                      ? position
                      : found),
         ...);
        return found;
    }();
};
template <class Return, int Since, auto... More, class... Parameters>
struct function_traits<Return (*)(graph<Since, More...>, Parameters...) noexcept>
    : function_traits<Return (*)(graph<Since, More...>, Parameters...)> {};
template <class Return, class Class, int Since, auto... More, class... Parameters>
struct function_traits<Return (Class::*)(graph<Since, More...>, Parameters...) const>
    : function_traits<Return (*)(graph<Since, More...>, Parameters...)> {};
template <class Return, class Class, int Since, auto... More, class... Parameters>
struct function_traits<Return (Class::*)(graph<Since, More...>, Parameters...) const noexcept>
    : function_traits<Return (*)(graph<Since, More...>, Parameters...)> {};

template <class Body>
    requires requires { &Body::operator(); }
struct body_traits<Body> : function_traits<decltype(&Body::operator())> {};

/// A lambda that can be the body of a node: `[&](graph<13> g, value x) { ... }`.
template <class T>
concept graph_body = body_traits<T>::value;

/// Whether T is a lambda that has an error, which GCC has reported. It has no type then, and no second error would help.
template <class T>
consteval bool has_reported_error() {
#if defined(__GNUC__) && !defined(__clang__)
    constexpr std::string_view name = __PRETTY_FUNCTION__; // "...<lambda(aton::dsl::graph<13>, auto:1)>..."
    return !requires { &T::operator(); } && name.find("<lambda(") != std::string_view::npos &&
           name.find("auto:") == std::string_view::npos;
#else
    return false;
#endif
}
/// An error for a T that is no body after all; none if the compiler has reported its error.
template <class T>
constexpr void require_reported_error() {
    if constexpr (has_reported_error<T>()) (void)sizeof(&T::operator());
}

/// False for a lambda with a parameter that is a reference to a non-const object, to which no argument binds.
template <class T>
inline constexpr bool bindable = true;
template <graph_body T>
inline constexpr bool bindable<T> = body_traits<T>::unbindable == 0;

/// The number of values that a body returns; -1: a vector, whose length is known only when the graph is built. An absent one is a value
/// that was never set.
template <class R>
struct returned_values {
    static constexpr bool optional = std::same_as<R, optional_value> || std::same_as<R, absent_t>;
    static constexpr bool known = std::derived_from<R, value> || std::same_as<R, sym_int> || optional;
    static constexpr int count = 1;
    template <class Graph, class Values>
    static void append(Graph const& g, Values& to, R const& r) {
        if constexpr (std::same_as<R, sym_int>) to.push_back(g.to_value(r));
        else if constexpr (std::same_as<R, optional_value>) to.push_back(r ? *r : value());
        else if constexpr (std::same_as<R, absent_t>) to.emplace_back();
        else to.push_back(r);
    }
};
template <>
struct returned_values<std::vector<value>> {
    static constexpr bool known = true;
    static constexpr int count = -1;
    template <class Graph, class Values>
    static void append(Graph const&, Values& to, Values const& r) {
        to = r;
    }
};
template <>
struct returned_values<safe_vector<value>> : returned_values<std::vector<value>> {};
template <class... R>
struct returned_values<std::tuple<R...>> {
    static constexpr bool known = (returned_values<R>::known && ...);
    static constexpr int count = static_cast<int>(sizeof...(R));
    template <class Graph, class Values>
    static void append(Graph const& g, Values& to, std::tuple<R...> const& r) {
        std::apply([&](R const&... each) { (returned_values<R>::append(g, to, each), ...); }, r);
    }
};
template <class A, class B>
struct returned_values<std::pair<A, B>> : returned_values<std::tuple<A, B>> {};
template <class R, std::size_t N>
struct returned_values<std::array<R, N>> {
    static constexpr bool known = returned_values<R>::known;
    static constexpr int count = static_cast<int>(N);
    template <class Graph, class Values>
    static void append(Graph const& g, Values& to, std::array<R, N> const& r) {
        for (R const& each : r) returned_values<R>::append(g, to, each);
    }
};

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
