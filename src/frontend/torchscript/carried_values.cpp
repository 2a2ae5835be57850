// SPDX-License-Identifier: MIT
#include "carried_values.hpp"

#include <cstdint>
#include <optional>
#include <utility>

namespace ATON_NAMESPACE::torchscript {

value carried_values::carry(value const& v, std::vector<program::value_index>& start,
                            std::vector<program::value_index>& inside, int depth) {
    if (depth > 20) at_.fail("a variable of a loop is nested more than 20 levels deep");
    if (v.acts_as_tensor()) {
        start.push_back(values_.tensor_of(v));
        inside.push_back(build_.copy_value(start.back()));
        if (auto const open = open_axes_.find(start.back()); open != open_axes_.end())
            for (std::size_t const axis : open->second) open_axis(inside.back(), axis);
        return value::of(kind::tensor, inside.back());
    }
    if (v.is_any_number()) {
        program::value_kind const k = values_.common_kind(v, v);
        value given = v;
        if (v.is() == kind::boolean) given = values_.add_python_node("torch.sym_not", {value::of(!v.is_true())}, k, {});
        else if (v.is() != kind::symbol)
            given = values_.add_python_node(
                "_operator.add", {v, v.is() == kind::real ? value::of(0.0) : value::of(std::int64_t{0})}, k, {});
        start.push_back(given.computed());
        inside.push_back(build_.add_value("carried", k));
        if (k == program::value_kind::sym_int) build_.value_at(inside.back()).symbolic = build_.fresh_extent();
        return value::of(kind::symbol, inside.back());
    }
    if (v.is() == kind::list || v.is() == kind::tuple || v.is() == kind::optional) {
        std::vector<value> items;
        for (value const& each : v.list()->items) items.push_back(carry(each, start, inside, depth + 1));
        return heap_.with_items(v, std::move(items));
    }
    return v;
}

void carried_values::append(std::string const& what, value const& before, value const& after,
                            std::vector<program::node>& nodes, std::vector<program::argument>& outputs) {
    if (before.is() == kind::tensor) {
        if (!after.acts_as_tensor())
            at_.fail("the " + what + " is " + std::string(describe(after)) +
                     " after an iteration that depends on data");
        program::value_index const v = values_.tensor_in(nodes, after);
        inferred_type const old = types_.type_of(before.computed());
        inferred_type const now = types_.type_of(v);
        bool is_same = old.type == now.type && old.sizes.size() == now.sizes.size();
        auto const open = open_axes_.find(before.computed());
        for (std::size_t i = 0; is_same && i != old.sizes.size(); ++i)
            is_same = old.sizes[i] == now.sizes[i] || (open != open_axes_.end() && open->second.contains(i));
        if (!is_same) at_.fail("the " + what + " changes its dtype or rank in a loop that depends on data");
        return outputs.push_back(program::argument::of_tensor(v));
    }
    if (before.is() == kind::symbol) {
        if (!after.is_any_number() || after.acts_as_tensor())
            at_.fail("the " + what + " is " + std::string(describe(after)) +
                     " after an iteration that depends on data");
        (void)values_.common_kind(before, after);
        return outputs.push_back(program::argument::of_number(values_.number_of(after)));
    }
    bool const has_items = before.is() == kind::list || before.is() == kind::tuple || before.is() == kind::optional;
    if (has_items && after.is() == before.is() && after.list()->items.size() == before.list()->items.size()) {
        for (std::size_t i = 0; i != before.list()->items.size(); ++i)
            append(what, before.list()->items[i], after.list()->items[i], nodes, outputs);
        return;
    }
    if (!before.is_same(after))
        at_.fail("the " + what + " changes in a loop that depends on data, which is not supported for " +
                 std::string(describe(before)));
}

void carried_values::open_axis(program::value_index carried, std::size_t axis) {
    open_axes_[carried].insert(axis);
    build_.value_at(carried).sizes[axis] = build_.fresh_extent();
}

void carried_values::find_resized(value const& before, value const& after, std::size_t& position,
                                  state_axes& resized) const {
    bool const has_items = before.is() == kind::list || before.is() == kind::tuple || before.is() == kind::optional;
    if (before.is() == kind::tensor && after.is() == kind::tensor) {
        inferred_type const old = types_.type_of(before.computed());
        inferred_type const now = types_.type_of(after.computed());
        for (std::size_t i = 0; old.sizes.size() == now.sizes.size() && i != old.sizes.size(); ++i)
            if (old.sizes[i] != now.sizes[i]) resized.emplace(position, i);
    }
    if (has_items)
        for (std::size_t i = 0; i != before.list()->items.size(); ++i) {
            bool const is_there = after.is() == before.is() && i < after.list()->items.size();
            find_resized(before.list()->items[i], is_there ? after.list()->items[i] : value{}, position, resized);
        }
    else if (before.is() == kind::tensor || before.is() == kind::symbol) ++position;
}

} // namespace ATON_NAMESPACE::torchscript
