// SPDX-License-Identifier: MIT
// Sizes as the 1-d int64 operand of Reshape, Expand and the like.
// Internal header.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <aton/core/tensor.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/call_site.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// A constant if all sizes are constant, else a Concat. (The types of the lists are parameters, so that an include instantiates none.)
template <class Graph, class Sizes = std::span<sym_int const>, class Value = value, class Integer = std::int64_t>
Value size_list(Graph const& g, Sizes const& sizes) {
    std::vector<Value> parts;
    std::vector<Integer> run;
    auto const flush = [&] {
        if (!run.empty()) parts.push_back(g.constant(int64_tensor(run)));
        run.clear();
    };
    for (sym_int const& size : sizes) {
        if (size.is_constant()) {
            run.push_back(size.constant());
        } else {
            flush();
            parts.push_back(g.template op<"Reshape">(size.as_value(), g.ints({1}), call_site()));
        }
    }
    if (parts.empty()) return g.constant(int64_tensor(run));
    flush();
    return parts.size() == 1 ? parts[0] : g.template op<"Concat">(parts, attr::axis_i(0), call_site());
}

} // namespace ATON_NAMESPACE::dsl::detail
