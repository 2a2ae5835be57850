// SPDX-License-Identifier: MIT
// A call of a mapping: its bound arguments and its results, and how the results of a body become those of the call.
// Public header.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/safe_list.hpp>
#include <aton/dsl/argument.hpp>
#include <aton/dsl/complex_value.hpp>
#include <aton/dsl/entry.hpp>
#include <aton/dsl/graph.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/refusal.hpp>
#include <aton/dsl/value.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::dsl {

/// One result of a mapping: a tensor (absent if the body does not produce it) or a list of tensors. The results of the schema are
/// followed by the new values of the arguments that it writes to (aten/mutation.hpp).
struct result {
    optional_value single;
    std::vector<value> list;
    bool is_list = false;
};

/// A call of a mapping: bound arguments in schema order, and the results.
struct invocation {
    graph_data& graph;
    int opset;
    std::span<bound_argument const> arguments;
    std::vector<result> results;
    entry const* row = nullptr; ///< the row that is called
    bool complex = false;       ///< an argument is a complex tensor, a complex number or a complex dtype
};

namespace detail {

// The result type of a body, to be compared with the schema's returns.

enum class result_kind : std::uint8_t { none, single, list };

/// The same kind N times.
template <std::size_t N>
struct array_kinds {
    result_kind kinds[N + 1]{};
    constexpr explicit array_kinds(result_kind each) {
        for (std::size_t i = 0; i != N; ++i) kinds[i] = each;
    }
};

template <class R>
struct result_traits {
    static constexpr bool converted =
        std::same_as<R, sym_int> || std::same_as<R, number> || std::same_as<R, complex_value>;
    static constexpr bool known = std::derived_from<R, value> || converted || std::same_as<R, optional_value>;
    static constexpr std::size_t count = 1;
    static constexpr result_kind kinds[1] = {result_kind::single};
    static void store(invocation& in, R const& r) {
        if constexpr (converted) {
            graph<std::same_as<R, complex_value> ? 7 : 1> const g(in.graph, in.opset);
            in.results.push_back({g.to_value(r), {}, false});
        } else {
            in.results.push_back({r, {}, false});
        }
    }
};
template <>
struct result_traits<void> {
    static constexpr bool known = true;
    static constexpr std::size_t count = 0;
    static constexpr result_kind kinds[1] = {result_kind::none};
};
template <>
struct result_traits<no_effect_t> : result_traits<void> {
    template <class Invocation>
    static void store(Invocation const&, no_effect_t) {}
};
template <>
struct result_traits<std::vector<value>> {
    static constexpr bool known = true;
    static constexpr std::size_t count = 1;
    static constexpr result_kind kinds[1] = {result_kind::list};
    template <class Invocation>
    static void store(Invocation& in, std::vector<value> r) {
        in.results.push_back({{}, std::move(r), true});
    }
};
template <>
struct result_traits<safe_vector<value>> : result_traits<std::vector<value>> {};
template <class... R>
struct result_traits<std::tuple<R...>> {
    static constexpr bool known = (result_traits<R>::known && ...);
    static constexpr std::size_t count = sizeof...(R);
    static constexpr result_kind kinds[sizeof...(R) + 1] = {result_traits<R>::kinds[0]..., result_kind::none};
    static void store(invocation& in, std::tuple<R...> const& r) {
        std::apply([&](R const&... each) { (result_traits<R>::store(in, each), ...); }, r);
    }
};
template <class A, class B>
struct result_traits<std::pair<A, B>> : result_traits<std::tuple<A, B>> {};
template <class R, std::size_t N>
struct result_traits<std::array<R, N>> {
    static constexpr bool known = result_traits<R>::known;
    static constexpr std::size_t count = N;
    static constexpr array_kinds<N> all{result_traits<R>::kinds[0]};
    static constexpr result_kind const* kinds = all.kinds;
    static void store(invocation& in, std::array<R, N> const& r) {
        for (R const& each : r) result_traits<R>::store(in, each);
    }
};

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
