// SPDX-License-Identifier: MIT
// Misuses of graphs and values that C++ would report at length: functions that exist only for their sentence.
// Internal header.
#pragma once

#include <concepts>
#include <initializer_list>

#include <aton/core/fixed_string.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

// Operators of C++ on values, which have no graph to compute in. (No macro makes them: compilers would print it.)
template <class A, class B>
concept with_value = std::derived_from<A, value> || std::derived_from<B, value>;

template <class A, class B>
    requires with_value<A, B>
value operator+(A const&, B const&) {
    static_assert(detail::never<A>, "+ does not take values: write g.op<\"Add\">(x, y)");
    return {};
}
template <class A, class B>
    requires with_value<A, B>
value operator-(A const&, B const&) {
    static_assert(detail::never<A>, "- does not take values: write g.op<\"Sub\">(x, y)");
    return {};
}
template <class A, class B>
    requires with_value<A, B>
value operator*(A const&, B const&) {
    static_assert(detail::never<A>, "* does not take values: write g.op<\"Mul\">(x, y)");
    return {};
}
template <class A, class B>
    requires with_value<A, B>
value operator/(A const&, B const&) {
    static_assert(detail::never<A>, "/ does not take values: write g.op<\"Div\">(x, y)");
    return {};
}
template <class A, class B>
    requires with_value<A, B>
value operator%(A const&, B const&) {
    static_assert(detail::never<A>, "% does not take values: write g.op<\"Mod\">(x, y)");
    return {};
}
template <class A, class B>
    requires with_value<A, B>
bool operator<(A const&, B const&) {
    static_assert(detail::never<A>, "< does not take values: write g.op<\"Less\">(x, y)");
    return {};
}
template <class A, class B>
    requires with_value<A, B>
bool operator>(A const&, B const&) {
    static_assert(detail::never<A>, "> does not take values: write g.op<\"Greater\">(x, y)");
    return {};
}
template <class A, class B>
    requires with_value<A, B>
bool operator<=(A const&, B const&) {
    static_assert(detail::never<A>, "<= does not take values: write g.op<\"LessOrEqual\">(x, y)");
    return {};
}
template <class A, class B>
    requires with_value<A, B>
bool operator>=(A const&, B const&) {
    static_assert(detail::never<A>, ">= does not take values: write g.op<\"GreaterOrEqual\">(x, y)");
    return {};
}
template <std::derived_from<value> A>
value operator-(A const&) {
    static_assert(detail::never<A>, "- does not take values: write g.op<\"Neg\">(x)");
    return {};
}

namespace detail {

/// An operand in braces, which has no type. No other argument converts to it.
struct braced {
    // NOLINTBEGIN(google-explicit-constructor): what is written in braces.
    template <class T>
    constexpr braced(std::initializer_list<T>) {}
    constexpr braced(std::initializer_list<sym_int>) {} // numbers beside sizes
    // NOLINTEND(google-explicit-constructor)
};

#define ATON_OPERAND_IN_BRACES                                                                                         \
    "an operand in braces has no type: write g.ints({...}), g.constant({...}, dtype) or std::vector<value>{...}"

/// What takes any call, after an error.
struct misused_graph {
    template <fixed_string Name, class... Args>
    [[nodiscard]] value op(Args const&...) const {
        return {};
    }
};

} // namespace detail

/// A base of `graph`, with the members that exist only for their sentence.
template <class Graph>
class misuses {
public:
    /// `g.op<"Reshape">(x, {1, -1})`
    template <fixed_string Name, class... Rest>
    auto op(detail::braced, Rest const&...) const {
        static_assert(Name.view().empty(), ATON_OPERAND_IN_BRACES);
        return value();
    }
    template <fixed_string Name, class A, class... Rest>
    auto op(A const&, detail::braced, Rest const&...) const {
        static_assert(detail::never<A>, ATON_OPERAND_IN_BRACES);
        return value();
    }
    template <fixed_string Name, class A, class B, class... Rest>
    auto op(A const&, B const&, detail::braced, Rest const&...) const {
        static_assert(detail::never<A>, ATON_OPERAND_IN_BRACES);
        return value();
    }
    /// `g.scalar(1.0)`
    template <class Number>
    [[nodiscard]] value scalar(Number const&) const {
        static_assert(detail::never<Number>,
                      "g.scalar takes a dtype: write g.scalar(n, dtype::float32), or g.scalar_like(n, x)");
        return {};
    }
    /// `g.within(18)`
    template <class First, class... Rest>
    [[nodiscard]] auto within(First const&, Rest const&...) const {
        static_assert(detail::never<First>,
                      "g.within takes its range in angle brackets: g.within<18>(), g.within<13, 17>()");
        return detail::misused_graph();
    }
};

#undef ATON_OPERAND_IN_BRACES

} // namespace ATON_NAMESPACE::dsl
