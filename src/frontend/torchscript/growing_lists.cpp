// SPDX-License-Identifier: MIT
#include "growing_lists.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace ATON_NAMESPACE::torchscript {

namespace {

/// The name of the list in `torch.append(list, item)`; empty for other expressions.
std::string_view appended_list(expr const& e) {
    bool const is_append = e.is == expr_kind::call && e.items.size() == 3 && e.items[0].is == expr_kind::attribute &&
                           e.items[0].text == "append" && e.items[1].is == expr_kind::name;
    return is_append ? std::string_view(e.items[1].text) : std::string_view();
}

std::size_t occurrences(expr const& e, std::string_view name) {
    std::size_t n = e.is == expr_kind::name && e.text == name ? 1 : 0;
    for (expr const& each : e.items) n += occurrences(each, name);
    return n;
}
std::size_t occurrences(std::vector<stmt> const& block, std::string_view name) {
    std::size_t n = 0;
    for (stmt const& s : block) {
        n += occurrences(s.value, name) + occurrences(s.body, name) + occurrences(s.other, name);
        for (expr const& each : s.targets) n += occurrences(each, name);
    }
    return n;
}

bool holds(value const& v, list_of_values const* list, int depth = 0) {
    if ((v.is() != kind::list && v.is() != kind::tuple) || depth > 20) return false;
    return v.list() == list || std::any_of(v.list()->items.begin(), v.list()->items.end(), [&](value const& each) {
               return holds(each, list, depth + 1);
           });
}

/// Whether a container or an object has the list.
bool is_held(heap const& in, list_of_values const* list) {
    auto const is_it = [&](value const& v) {
        return (v.is() == kind::list || v.is() == kind::tuple) && v.list() == list;
    };
    auto const in_list = [&](list_of_values const& l) { return std::any_of(l.items.begin(), l.items.end(), is_it); };
    auto const in_dict = [&](dict_of_values const& d) {
        return std::any_of(d.items.begin(), d.items.end(), [&](auto const& each) { return is_it(each.second); });
    };
    auto const in_object = [&](instance const& o) {
        return std::any_of(o.attributes.begin(), o.attributes.end(), [&](auto const& a) { return is_it(a.second); });
    };
    return std::any_of(in.lists.begin(), in.lists.end(), in_list) ||
           std::any_of(in.dicts.begin(), in.dicts.end(), in_dict) ||
           std::any_of(in.instances.begin(), in.instances.end(), in_object);
}

} // namespace

std::vector<list_of_values*> growing_lists::find(stmt const& loop) {
    std::vector<list_of_values*> out;
    std::set<std::string_view> names;
    for (stmt const& s : loop.body)
        if (std::string_view const name = appended_list(s.value); !name.empty()) names.insert(name);
    for (std::string_view const name : names) {
        auto const found = at_.current()->variables.find(name);
        if (found == at_.current()->variables.end() || found->second.is() != kind::list) continue;
        list_of_values* const list = found->second.list();
        auto const appends = static_cast<std::size_t>(std::count_if(
            loop.body.begin(), loop.body.end(), [&](stmt const& s) { return appended_list(s.value) == name; }));
        auto const is_tensor = [](value const& v) { return v.acts_as_tensor(); };
        bool const is_own = std::all_of(list->items.begin(), list->items.end(), is_tensor) &&
                            list->serial >= std::max(at_.current()->made, heap_.fence) && !is_held(heap_, list);
        bool const is_only_appended =
            occurrences(loop.body, name) == appends && occurrences(loop.value, name) == 0 &&
            std::none_of(at_.current()->variables.begin(), at_.current()->variables.end(), [&](auto const& each) {
                return each.first != name && holds(each.second, list) &&
                       occurrences(loop.body, each.first) + occurrences(loop.value, each.first) != 0;
            });
        if (is_own && is_only_appended) out.push_back(list);
    }
    return out;
}

void growing_lists::collect(part& body, std::vector<list_of_values*> const& lists, loop_state& state) {
    std::set<program::value_index> written;
    for (program::value_index const v : aliases_.written_outside(body.nodes, body.written))
        written.insert(aliases_.memory_of(v));
    auto const share = [&](value const& item) {
        program::value_index const memory = aliases_.memory_of(values_.tensor_of(item));
        if (written.contains(memory))
            at_.fail("a list has a tensor to which another iteration of a loop that depends on data writes");
        aliases_.share_with_rows(memory);
        auto const carried = std::find(state.in_body.begin(), state.in_body.end(), memory);
        if (carried != state.in_body.end()) // the first item is the tensor from outside
            aliases_.share_with_rows(
                aliases_.memory_of(state.start[static_cast<std::size_t>(carried - state.in_body.begin())]));
    };
    for (list_of_values* const list : lists) {
        std::vector<value> const items = containers_.stop_growing(list);
        if (items.empty()) at_.fail("appends to a list in a part of a loop that is not reached");
        std::for_each(list->items.begin(), list->items.end(), share);
        std::swap(build_.nodes(), body.nodes);
        for (value const& each : items) {
            if (!each.acts_as_tensor())
                at_.fail("appends " + std::string(describe(each)) +
                         " to a list in a loop that depends on data; only tensors can");
            share(each);
        }
        value const row =
            items.size() == 1 ? items[0] : caller_.call_operator("aten::stack", {{heap_.list(items)}, {}});
        state.collected.push_back(program::argument::of_tensor(values_.tensor_of(row)));
        state.appended.push_back(items.size());
        std::swap(build_.nodes(), body.nodes);
    }
}

void growing_lists::replace(list_of_values* list, program::value_index rows, std::size_t appended) {
    value all = value::of(kind::tensor, rows);
    if (appended > 1)
        all =
            caller_.call_operator("aten::flatten", {{all, value::of(std::int64_t{0}), value::of(std::int64_t{1})}, {}});
    if (!list->items.empty()) {
        value const before = caller_.call_operator("aten::stack", {{heap_.list(list->items)}, {}});
        all = caller_.call_operator("aten::cat", {{heap_.list({before, all})}, {}});
    }
    value const grown = value::of(kind::rows, values_.tensor_of(all));
    for (auto& [name, v] : at_.current()->variables)
        if (v.is() == kind::list && v.list() == list) v = grown;
}

} // namespace ATON_NAMESPACE::torchscript
