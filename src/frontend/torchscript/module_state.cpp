// SPDX-License-Identifier: MIT
#include "module_state.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::torchscript {

bool held_value::is_input() const {
    if (is == held_as::number || is == held_as::tensor) return true;
    return std::any_of(items.begin(), items.end(), [](held_value const& each) { return each.is_input(); });
}

std::string text_of(attribute_name const& name) {
    return name.first.empty() ? name.second : name.first + '.' + name.second;
}

std::string plain_name(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

namespace {

std::optional<program::value_kind> kind_of_number(held_value const& v) {
    if (v.is == held_as::number) return v.number;
    if (v.is == held_as::size) return program::value_kind::sym_int;
    if (v.is != held_as::constant) return {};
    switch (v.known.is()) {
    case kind::boolean: return program::value_kind::sym_bool;
    case kind::integer: return program::value_kind::sym_int;
    case kind::real: return program::value_kind::sym_float;
    default: return {};
    }
}

held_value number_of_kind(program::value_kind k) {
    held_value out;
    out.is = held_as::number;
    out.number = k;
    return out;
}

} // namespace

std::optional<held_value> settle(held_value const& before, held_value const& after, bool is_first_change) {
    if (before == after) return before;
    if (before.is == held_as::group && after.is == held_as::group && before.container == after.container &&
        before.items.size() == after.items.size()) {
        held_value out = after;
        for (std::size_t i = 0; i != out.items.size(); ++i) {
            std::optional<held_value> const item = settle(before.items[i], after.items[i], is_first_change);
            if (!item) return {};
            out.items[i] = *item;
        }
        return out;
    }
    if (is_first_change && after.is != held_as::number) return after;
    std::optional<program::value_kind> const k = kind_of_number(before);
    if (k && k == kind_of_number(after)) return number_of_kind(*k);
    return is_first_change ? std::optional(after) : std::nullopt;
}

std::map<std::string, std::string> first_values(held_values const& later, held_values const& saved) {
    std::map<std::string, std::string> out;
    auto const add = [&](auto const& self, held_value const& first, std::string const& name) -> void {
        if (first.is == held_as::zeros) out[plain_name(name)] = "zeros";
        if (first.is == held_as::saved) out[plain_name(name)] = "the tensor that the archive saves";
        if (first.is == held_as::constant) out[plain_name(name)] = text_of(first.known);
        for (std::size_t i = 0; i != first.items.size(); ++i)
            self(self, first.items[i], name + '.' + std::to_string(i));
    };
    for (auto const& [name, first] : before_first_call(later, saved)) add(add, first, text_of(name));
    return out;
}

held_values before_first_call(held_values const& later, held_values const& saved) {
    auto const first = [](auto const& self, held_value const& now, held_value const* start) -> held_value {
        held_value out = now;
        if (now.is == held_as::tensor) out.is = start != nullptr && *start == now ? held_as::saved : held_as::zeros;
        if (now.is == held_as::number && start != nullptr && start->is == held_as::constant) return *start;
        bool const is_same_group =
            start != nullptr && start->is == held_as::group && start->items.size() == now.items.size();
        for (std::size_t i = 0; i != out.items.size(); ++i)
            out.items[i] = self(self, now.items[i], is_same_group ? &start->items[i] : nullptr);
        return out;
    };
    held_values out;
    for (auto const& [name, now] : later) {
        auto const start = saved.find(name);
        out.emplace(name, first(first, now, start == saved.end() ? nullptr : &start->second));
    }
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
