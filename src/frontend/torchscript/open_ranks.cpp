// SPDX-License-Identifier: MIT
// Tensors whose rank or dtype depends on data: `if n > 0: boxes = boxes.reshape(n, -1, 4)`. What is called on one of them is called in both
// branches of a condition of its own, until the results have the same type.
#include <algorithm>
#include <iterator>
#include <utility>

#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

bool is_either(value const& v) { return v.is() == kind::either; }

bool has_items(value const& v) { return v.is() == kind::list || v.is() == kind::tuple; }

/// Whether a function of the language puts values into a list or a dict, or finds them there, whatever they are.
bool takes_containers(value const& function, call_arguments const& given) {
    if (function.is() != kind::path || given.positional.empty()) return false;
    value const& first = given.positional[0];
    std::string_view const name = std::string_view(function.name()).substr(function.name().rfind('.') + 1);
    bool const is_operator = name == "cat" || name == "concat" || name == "stack";
    return (has_items(first) && !is_operator) || first.is() == kind::dict || name == "__is__" || name == "__isnot__";
}

/// The first such tensor among the arguments, also in a list; null if there is none.
value const* find_either(std::vector<value> const& all) {
    for (value const& v : all) {
        if (is_either(v)) return &v;
        if (!has_items(v)) continue;
        auto const found = std::find_if(v.list()->items.begin(), v.list()->items.end(), is_either);
        if (found != v.list()->items.end()) return &*found;
    }
    return nullptr;
}

} // namespace

std::optional<value> interpreter::call_on_either(value const& function, call_arguments const& given) {
    if (takes_containers(function, given)) return {};
    value const* const found = find_either(given.positional);
    if (found == nullptr) return {};
    value const condition = found->list()->items[0];
    auto const call_with = [&](std::size_t side) {
        auto const chosen = [&](value const& v) {
            return is_either(v) && v.list()->items[0].is_same(condition) ? v.list()->items[side] : v;
        };
        call_arguments one = given;
        for (value& v : one.positional) {
            if (has_items(v) && std::any_of(v.list()->items.begin(), v.list()->items.end(), is_either)) {
                std::vector<value> items;
                std::transform(v.list()->items.begin(), v.list()->items.end(), std::back_inserter(items), chosen);
                v = v.is() == kind::list ? heap_.list(std::move(items)) : heap_.tuple(std::move(items));
            }
            v = chosen(v);
        }
        std::optional<value> inner = call_on_either(function, one);
        return inner ? *std::move(inner) : call(function, std::move(one));
    };
    std::optional<part> first = parts_.interpret_branch([&] { return call_with(1); });
    std::optional<part> second = parts_.interpret_branch([&] { return call_with(2); });
    if (first && second) return branches_.join(condition, *first, *second);
    build_.drop("ops.prim.RaiseException"); // as a branch that only raises
    return call_with(first ? 1 : 2);
}

} // namespace ATON_NAMESPACE::torchscript
