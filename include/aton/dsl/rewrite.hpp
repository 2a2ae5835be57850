// SPDX-License-Identifier: MIT
// Rewrites: rows that replace nodes of a finished graph, or ATen calls of a program, by others, checked at compile time like symbolic
// functions.
// Public header.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <aton/core/fixed_string.hpp>
#include <aton/dsl/body.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/graph.hpp>
#include <aton/dsl/pattern.hpp>
#include <aton/dsl/pattern_rules.hpp>
#include <aton/dsl/refusal.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

/// A capture as an argument of a condition or a replacement.
template <class T>
auto captured_argument(graph_data& graph, captured const& c) {
    using enum capture_kind;
    constexpr capture_kind kind = capture_traits<T>::kind;
    if constexpr (kind == value) return dsl::value(graph, c.value);
    else if constexpr (kind == constant) return tensor(*c.constant);
    else if constexpr (kind == number) return c.number;
    else if constexpr (kind == real) return c.number.template to<double>();
    else if constexpr (kind == integer) return c.number.template to<std::int64_t>();
    else if constexpr (kind == integers) return c.integers;
    else if constexpr (kind == text) return c.text;
    else if constexpr (kind == boolean) return c.number.template to<bool>();
    else return c.type;
}

/// The C++ side of a rewrite: its three lambdas, whose types are all that it needs.
template <fixed_string Name, class Pattern, class Condition, class Replacement>
struct rewrite_row {
    static constexpr rewrite_fault fault = find_rewrite_fault<Pattern, Condition, Replacement>();
    static constexpr bool is_sound = fault.rule == rewrite_rule::none;
    static constexpr sentence problem = describe(fault, Name.view());
    using verdict = std::conditional_t<is_sound, char, diagnosis<problem>>;

    static constexpr rewrite_entry entry() {
        if constexpr (is_sound) {
            using traits = pattern_traits<Pattern>;
            constexpr auto const& stored = stored_pattern<Pattern>;
            return {Name.view(),
                    traits::pattern_type::since,
                    traits::pattern_type::until,
                    stored.view(),
                    condition(),
                    &build};
        } else {
            return {};
        }
    }

private:
    template <class Call>
    static auto with_captures(graph_data& data, std::span<captured const> c, Call const& call) {
        return [&]<class... T, std::size_t... I>(std::type_identity<std::tuple<T...>>, std::index_sequence<I...>) {
            return call(captured_argument<T>(data, c[I])...);
        }(std::type_identity<typename pattern_traits<Pattern>::captures>{},
               std::make_index_sequence<pattern_traits<Pattern>::arity>{});
    }
    static constexpr auto condition() -> bool (*)(graph_data&, int, std::span<captured const>) {
        if constexpr (std::is_same_v<Condition, always>) return nullptr;
        else return &holds;
    }
    static bool holds(graph_data& data, int, std::span<captured const> c) {
        return with_captures(data, c, [](auto const&... each) { return bool(Condition{}(each...)); });
    }
    static void build(graph_data& data, int opset, std::span<captured const> c, std::span<value_id> results) {
        typename body_traits<Replacement>::graph_type const g(data, opset);
        auto const made = with_captures(data, c, [&](auto const&... each) { return Replacement{}(g, each...); });
        if constexpr (result_count<std::remove_cvref_t<decltype(made)>> == 1) results[0] = dsl::value(made).id();
        else
            std::apply(
                [&](auto const&... each) {
                    std::size_t i = 0;
                    ((results[i++] = dsl::value(each).id()), ...);
                },
                made);
    }
};

template <class T>
inline constexpr bool is_rewrite = requires {
    { T::entry() } -> std::same_as<rewrite_entry>;
};

constexpr sentence duplicate_rewrite(rewrites_view rows) {
    sentence s;
    for (std::size_t i = 0; i != rows.size(); ++i)
        for (std::size_t j = 0; j != i; ++j)
            if (rows[i].name == rows[j].name && rows[i].since <= rows[j].until && rows[j].since <= rows[i].until)
                return s << "rewrite " << rows[i].name << ": two rows of the table with this name cover opset "
                         << (rows[i].since > rows[j].since ? rows[i].since : rows[j].since)
                         << "; their ranges must not overlap";
    return s;
}

} // namespace detail

/// A rewrite: nodes of a graph that match the pattern become the nodes that the replacement builds. The replacement receives what the
/// pattern captured, in the same order, and may refuse (`g.unsupported`, `g.next()`): then the nodes stay.
/// A match is not replaced if other nodes use a value inside it, except a `p.shared(...)` one. A pattern that returns a std::tuple of results
/// of its nodes, the last one first, has as many replacements, which other nodes use from then on. A pattern of ATen calls (`p.call`) is replaced
/// before the program is converted; the replacement is converted in their place.
/// ```cpp
/// #include <aton/dsl/rewrite.hpp>
///
/// inline constexpr auto twice = rewrite<"double_negation">(
///     [](pattern<13> p, capture<value> x) { return p.op<"Neg">(p.op<"Neg">(x)); }, [](graph<13>, value x) { return x; });
/// ```
template <fixed_string Name, class Pattern, class Replacement>
constexpr auto rewrite(Pattern, Replacement) {
    using row = detail::rewrite_row<Name, Pattern, detail::always, Replacement>;
    using verdict = typename row::verdict;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
    static_assert(detail::holds<verdict>);
#else
    static_assert(sizeof(verdict) != 0);
#endif
    return row{};
}
/// The same with a side condition, which receives the captures, too, and must hold:
/// ```cpp
/// #include <aton/dsl/rewrite.hpp>
///
/// inline constexpr auto halves = rewrite<"multiply_by_reciprocal">(
///     [](pattern<13> p, capture<value> x, capture<double> by) { return p.op<"Div">(x, by); },
///     [](value x, double by) { return x.dtype() == dtype::float32 && (by == 2 || by == 4 || by == 8); }, // exact
///     [](graph<13> g, value x, double by) { return g.op<"Mul">(x, g.scalar_like(1 / by, x)); });
/// ```
template <fixed_string Name, class Pattern, class Condition, class Replacement>
constexpr auto rewrite(Pattern, Condition, Replacement) {
    using row = detail::rewrite_row<Name, Pattern, Condition, Replacement>;
    using verdict = typename row::verdict;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
    static_assert(detail::holds<verdict>);
#else
    static_assert(sizeof(verdict) != 0);
#endif
    return row{};
}

/// Rewrites in order: of several that match a node, the first is applied. `a + b` joins two tables.
template <class... Rows>
struct rewrite_table {
    /// The rewrites without their C++ types.
    static constexpr std::array<rewrite_entry, sizeof...(Rows)> entries{Rows::entry()...};

    /// The rewrites as a view.
    // NOLINTNEXTLINE(google-explicit-constructor): a table is a view of its rows.
    constexpr operator rewrites_view() const { return entries; }
    /// The number of rewrites.
    [[nodiscard]] static constexpr std::size_t size() { return sizeof...(Rows); }

    /// The rewrites of both tables.
    template <class... Other>
    friend constexpr auto operator+(rewrite_table const&, rewrite_table<Other...> const&) {
        return rewrite_table<Rows..., Other...>{};
    }

    // Internal.
    static constexpr detail::sentence duplicate = detail::duplicate_rewrite(entries);
    using verdict = std::conditional_t<duplicate.length == 0, char, detail::diagnosis<duplicate>>;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
    static_assert(detail::holds<verdict>);
#else
    static_assert(sizeof(verdict) != 0);
#endif
};

/// A table of rewrites. Two rewrites of one name with overlapping opsets are a compile error.
template <class... Rows>
constexpr auto rewrites(Rows...) {
    constexpr bool only_rows = (detail::is_rewrite<Rows> && ...);
    static_assert(only_rows, "rewrites(...) takes rows made by rewrite<\"...\">(pattern, replacement)");
    if constexpr (only_rows) return rewrite_table<Rows...>{};
}

} // namespace ATON_NAMESPACE::dsl
