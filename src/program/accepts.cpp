// SPDX-License-Identifier: MIT
#include <aton/program/guards.hpp>

#include <algorithm>
#include <optional>

#include "python_value.hpp"

namespace ATON_NAMESPACE::program {

bool accepts(program const& p, std::map<std::string, std::int64_t, std::less<>> const& symbols) {
    for (auto const& [symbol, n] : symbols)
        if (auto const range = p.ranges.find(symbol); range != p.ranges.end())
            if ((range->second.min > 2 && n < range->second.min) || n > range->second.max) return false;
    std::map<std::string, std::int64_t, std::less<>> sizes;
    for (auto const& [name, source] : p.guard_sources) {
        value const& v = p.values[source.input];
        extent const e = source.axis < 0 ? v.symbolic.value() : v.sizes.at(static_cast<std::size_t>(source.axis));
        if (e.is_number()) sizes.emplace(name, e.number);
        else if (auto const n = evaluate(p.expressions[e.expression], symbols)) sizes.emplace(name, *n);
    }
    return std::all_of(p.guards.begin(), p.guards.end(), [&](guard const& g) {
        if (!g.condition || !is_python(*g.condition)) return true;
        std::optional<scalar> const holds = python_value(*g.condition, sizes);
        return holds && holds->to<bool>();
    });
}

} // namespace ATON_NAMESPACE::program
