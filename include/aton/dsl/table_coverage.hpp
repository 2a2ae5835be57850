// SPDX-License-Identifier: MIT
// Checks that a table has rows for every opset of a range: `static_assert(covers<my_table, 13, newest>)`.
// Public header.
#pragma once

#include <string_view>
#include <type_traits>

#include <aton/core/fixed_string.hpp>
#include <aton/core/nearest.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/table.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::dsl {

/// The newest opset that Aton knows.
inline constexpr int newest = onnx::newest_opset;

namespace detail {

/// An overload and the first opset of a range that no row covers; 0: rows cover all of them.
struct coverage_gap {
    std::string_view overload;
    int opset = 0;
};

/// The rows of an overload may be in any order.
constexpr int first_opset_without_row(table_view rows, std::string_view overload, int since, int until) {
    int at = since;
    for (entry const* row = nullptr; at <= until; at = row->until + 1) {
        row = find(rows, overload, at);
        if (row == nullptr) return at;
    }
    return 0;
}

constexpr coverage_gap gap_of(table_view rows, std::string_view overload, int since, int until) {
    return {overload, first_opset_without_row(rows, overload, since, until)};
}

template <fixed_string... Overloads>
constexpr coverage_gap find_gap(table_view rows, int since, int until) {
    coverage_gap gap;
    if constexpr (sizeof...(Overloads) != 0) {
        (void)((gap = gap_of(rows, Overloads.view(), since, until), gap.opset == 0) && ...);
    } else {
        for (entry const& e : rows)
            if (gap.opset == 0) gap = gap_of(rows, e.overload, since, until);
    }
    return gap;
}

constexpr sentence describe(coverage_gap gap, table_view rows, int since, int until) {
    sentence s;
    if (gap.opset == 0) return s;
    s << gap.overload;
    nearest closest(gap.overload);
    for (entry const& e : rows) {
        if (e.overload == gap.overload)
            return s << ": no row of the table covers opset " << gap.opset << "; rows for " << since << " to " << until
                     << " are required";
        closest.offer(e.overload);
    }
    s << ": the table has no row for it";
    return closest.found().empty() ? s : s << "; did you mean " << closest.found() << "?";
}

template <auto const& Table, int Since, int Until, fixed_string... Overloads>
struct coverage {
    static_assert(Since <= Until, "covers<table, Since, Until>: Since <= Until");
    static constexpr coverage_gap gap = find_gap<Overloads...>(Table, Since, Until);
    static constexpr sentence problem = describe(gap, Table, Since, Until);
    using verdict = std::conditional_t<gap.opset == 0, char, diagnosis<problem>>; // incomplete if there is a gap
};

} // namespace detail

/// Whether every overload of the table, or each of `Overloads`, has a row for each opset from `Since` to `Until`.
/// ```cpp
/// inline constexpr auto my_table = table(symbolic<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Neg">(x); }));
/// static_assert(covers<my_table, 13, newest> && !covers<my_table, 11, newest>);
/// ```
template <auto const& Table, int Since, int Until, fixed_string... Overloads>
inline constexpr bool covers = detail::coverage<Table, Since, Until, Overloads...>::gap.opset == 0;

/// Requires the same: the compile error names the overload and its first opset without a row.
/// `static_assert(require_coverage<my_table, 13, newest>())`
template <auto const& Table, int Since, int Until, fixed_string... Overloads>
consteval bool require_coverage() {
    using verdict = typename detail::coverage<Table, Since, Until, Overloads...>::verdict;
#ifdef ATON_DIAGNOSIS_IN_CONDITION
    static_assert(detail::holds<verdict>);
#else
    static_assert(sizeof(verdict) != 0);
#endif
    return true;
}

} // namespace ATON_NAMESPACE::dsl
