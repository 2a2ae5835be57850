// SPDX-License-Identifier: MIT
// What variables, attributes and tensors are after an `if` whose condition depends on data.
#include "branches.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "frontend/files/text.hpp"
#include "regions.hpp"
#include "scalar_codes.hpp"

namespace ATON_NAMESPACE::torchscript {

using files::in_quotes;

/// A value of the same type that a branch returns for a variable to which it gives none. Nothing reads it, so that a value from outside of the
/// other branch, whose nodes are `makers`, stands for itself.
value branches::stand_in(value const& like, std::vector<program::node> const& makers, std::vector<program::node>& nodes,
                         int depth) {
    if (depth > 20) at_.fail("a variable is nested more than 20 levels deep in a branch that depends on data");
    if (like.is() == kind::list || like.is() == kind::tuple || like.is() == kind::optional) {
        std::vector<value> items;
        for (value const& each : like.list()->items) items.push_back(stand_in(each, makers, nodes, depth + 1));
        return heap_.with_items(like, std::move(items));
    }
    bool const is_made = std::any_of(makers.begin(), makers.end(), [&](program::node const& n) {
        std::vector<program::value_index> const all = program::result_values(n);
        return std::find(all.begin(), all.end(), like.computed()) != all.end();
    });
    if ((like.is() != kind::symbol && like.is() != kind::tensor) || !is_made) return like;
    if (like.is() == kind::symbol) {
        switch (build_.kind_of(like)) {
        case program::value_kind::sym_float: return value::of(0.0);
        case program::value_kind::sym_bool: return value::of(false);
        default: return value::of(std::int64_t{0});
        }
    }
    inferred_type const type = types_.type_of(like.computed());
    std::vector<value> sizes;
    for (auto const& each : type.sizes)
        sizes.push_back(value::of(each && each->is_number() ? each->number : std::int64_t{1}));
    std::swap(build_.nodes(), nodes);
    value const out = caller_.call_operator(
        "aten::zeros", {{heap_.list(std::move(sizes))}, {{"dtype", value::of(code_of(type.type))}}});
    std::swap(build_.nodes(), nodes);
    return out;
}

/// The same for two values of which one is, or may be, None.
value branches::merge_optional(value const& a, value const& b, merged_outputs& to, int depth) {
    auto const is_none = [](value const& v) {
        return v.is() == kind::optional ? v.list()->items[0] : value::of(v.is() == kind::none);
    };
    auto const held = [](value const& v) {
        return v.is() == kind::none ? value::of(kind::nothing, std::string()) : without_none(v);
    };
    value const merged = merge(held(a), held(b), to, depth + 1);
    return heap_.optional(merge(is_none(a), is_none(b), to, depth + 1), merged);
}

/// The value of a variable after an `if`, which the node computes; `results` and the outputs of both branches grow.
value branches::merge(value const& a, value const& b, merged_outputs& to, int depth) {
    if (a.is_same(b)) return a;
    auto const tensor_behind = [&](value const& v) {
        return v.is() == kind::tensor   ? aliases_.same_tensor(v.computed())
               : v.is() == kind::weight ? values_.use_weight(v.weight())
                                        : program::no_value;
    };
    if (program::value_index const tensor = tensor_behind(a);
        tensor != program::no_value && tensor == tensor_behind(b)) // one branch has written to it
        return a.is() == kind::weight ? a : b.is() == kind::weight ? b : value::of(kind::tensor, tensor);
    if (depth > 20) at_.fail("a variable is nested more than 20 levels deep in a branch that depends on data");
    if (is_uninitialized(a)) return merge(stand_in(b, *to.second_nodes, *to.first_nodes, 0), b, to, depth + 1);
    if (is_uninitialized(b)) return merge(a, stand_in(a, *to.first_nodes, *to.second_nodes, 0), to, depth + 1);
    if (a.is() == kind::nothing || b.is() == kind::nothing) return a.is() == kind::nothing ? a : b;
    auto const may_be_none = [](value const& v) { return v.is() == kind::none || v.is() == kind::optional; };
    if (may_be_none(a) || may_be_none(b)) return merge_optional(a, b, to, depth);
    if (a.acts_as_tensor() && b.acts_as_tensor()) {
        to.first.push_back(program::argument::of_tensor(values_.tensor_in(*to.first_nodes, a)));
        to.second.push_back(program::argument::of_tensor(values_.tensor_in(*to.second_nodes, b)));
        inferred_type type = types_.type_of(to.first.back().tensor);
        inferred_type const other = types_.type_of(to.second.back().tensor);
        if (type.type != other.type || type.sizes.size() != other.sizes.size()) {
            to.first.pop_back();
            to.second.pop_back();
            return one_of(a, b, to, depth);
        }
        for (std::size_t i = 0; i != type.sizes.size(); ++i)
            if (type.sizes[i] != other.sizes[i]) type.sizes[i].reset();
        to.results.push_back(build_.add_tensor("cond", type));
        gradients_.merge(to.first.back(), to.second.back(), to.results.back());
        return value::of(kind::tensor, to.results.back());
    }
    // A number is not one with a tensor: code may ask for the type of a Union.
    if (a.is_any_number() && b.is_any_number() && !a.acts_as_tensor() && !b.acts_as_tensor()) {
        program::value_kind const k = values_.common_kind(a, b);
        to.first.push_back(program::argument::of_number(values_.number_of(a)));
        to.second.push_back(program::argument::of_number(values_.number_of(b)));
        to.results.push_back(build_.add_value("cond", k));
        if (k == program::value_kind::sym_int) build_.value_at(to.results.back()).symbolic = build_.fresh_extent();
        return value::of(kind::symbol, to.results.back());
    }
    if ((a.is() == kind::list || a.is() == kind::tuple) && a.is() == b.is() &&
        a.list()->items.size() == b.list()->items.size()) {
        std::vector<value> items;
        for (std::size_t i = 0; i != a.list()->items.size(); ++i)
            items.push_back(merge(a.list()->items[i], b.list()->items[i], to, depth + 1));
        return heap_.with_items(a, std::move(items));
    }
    bool const is_kind = a.is() == b.is();
    std::string const what(describe(a));
    return value::of(kind::nothing,
                     is_kind ? what + " that depends on data"
                             : what + " or " + std::string(describe(b)) + ", which depends on data");
}

value branches::join(value const& condition, part& first, part& second) {
    program::argument const which = values_.condition_argument(condition);
    merged_outputs to{condition, &first.nodes, &second.nodes, {}, {}, {}};
    std::set<std::string_view> names;
    for (auto const& [name, v] : first.variables)
        if (second.variables.contains(name)) names.insert(name);
    for (std::string_view const name : names) {
        value merged = merge(first.variables[name], second.variables[name], to, 0);
        at_.current()->variables[name] = std::move(merged);
    }
    value result = merge(first.result, second.result, to, 0);
    merge_attributes(first, second, to);
    std::vector<outside_write> const writes = merge_writes(first, second, to);
    program::node n;
    n.kind = program::node_kind::higher_order;
    n.op = "higher_order::cond";
    n.name = build_.unique_name("cond");
    n.origin = build_.origin_here();
    std::vector<program::value_index> captured;
    collect_free(first.nodes, to.first, captured);
    collect_free(second.nodes, to.second, captured);
    n.arguments.push_back(which);
    n.arguments.push_back(build_.make_graph("true_graph", {}, captured, std::move(first.nodes), std::move(to.first)));
    n.arguments.push_back(
        build_.make_graph("false_graph", {}, captured, std::move(second.nodes), std::move(to.second)));
    n.arguments.push_back(program::argument::of_tensors({captured.begin(), captured.end()}));
    for (program::value_index const v : to.results) n.results.push_back({{v}, false});
    build_.nodes().push_back(std::move(n));
    for (auto const& [tensor, written] : writes) writes_.write_back(tensor, to.results[written]);
    return result;
}

/// The value of a variable that is one of two tensors, of which the branches return both.
value branches::one_of(value const& a, value const& b, merged_outputs& to, int depth) {
    value const none = value::of(kind::nothing, std::string());
    value first = merge(a, none, to, depth + 1);
    value second = merge(none, b, to, depth + 1);
    return heap_.either(to.condition, std::move(first), std::move(second));
}

/// Gives the attributes that one of two branches has changed the value that the condition chooses.
void branches::merge_attributes(part const& first, part const& second, merged_outputs& to) {
    outside_attributes all = first.attributes;
    all.insert(second.attributes.begin(), second.attributes.end());
    for (auto const& [key, each] : all) {
        auto const after = [&](part const& branch) -> value const& {
            auto const found = branch.attributes.find(key);
            return found == branch.attributes.end() ? each.object->attributes[key.second] : found->second.held;
        };
        value const merged = merge(after(first), after(second), to, 0);
        if (merged.is() == kind::nothing)
            at_.fail(
                "the attribute " + in_quotes(text_of(attribute_name(each.object->path, key.second))) +
                " is changed in a branch that depends on data: it must hold a number, a tensor of the same dtype and "
                "rank, or a list of them after both branches");
        attributes_.set(*each.object, key.second, merged);
    }
}

/// Lets both branches return the tensors that one of them writes to.
std::vector<outside_write> branches::merge_writes(part& first, part& second, merged_outputs& to) {
    std::vector<program::value_index> const by_first = aliases_.written_outside(first.nodes, first.written);
    std::vector<program::value_index> const by_second = aliases_.written_outside(second.nodes, second.written);
    std::vector<program::value_index> written = by_first;
    for (program::value_index const v : by_second)
        if (std::find(written.begin(), written.end(), v) == written.end()) written.push_back(v);
    std::vector<program::value_index> used;
    collect_free(first.nodes, to.first, used);
    collect_free(second.nodes, to.second, used);
    std::vector<outside_write> out;
    if (!aliases_.are_apart(written, used)) return out; // refused later, with the line of the write
    for (program::value_index const v : written) {
        auto const in =
            [&](part& branch, std::vector<program::value_index> const& own, std::vector<program::argument>& outputs) {
                bool const writes = std::find(own.begin(), own.end(), v) != own.end();
                outputs.push_back(program::argument::of_tensor(writes ? writes_.clone_in(branch, v, outputs) : v));
            };
        in(first, by_first, to.first);
        in(second, by_second, to.second);
        out.push_back({v, to.results.size()});
        to.results.push_back(build_.add_tensor("cond", types_.type_of(v)));
    }
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
