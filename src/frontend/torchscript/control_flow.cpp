// SPDX-License-Identifier: MIT
// Conditions that depend on data: both branches are interpreted and become graphs of a higher-order operator.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "interpreter.hpp"
#include "regions.hpp"
#include "scalar_codes.hpp"

namespace ATON_NAMESPACE::torchscript {

/// Adds the values that nodes and outputs use and that no node computes.
void collect_free(std::vector<program::node> const& nodes, std::vector<program::argument> const& outputs,
                  std::vector<program::value_index>& free) {
    std::set<program::value_index> known(free.begin(), free.end());
    auto const use = [&](program::argument const& a) {
        program::for_each_value(a, [&](program::value_index v) {
            if (known.insert(v).second) free.push_back(v);
        });
    };
    for (program::node const& n : nodes)
        for (program::result const& r : n.results) known.insert(r.values.begin(), r.values.end());
    for (program::node const& n : nodes)
        for (program::argument const& a : n.arguments) use(a);
    for (program::argument const& a : outputs) use(a);
}

void replace_values(std::vector<program::argument>& arguments, replacements const& by) {
    for (program::argument& a : arguments)
        program::for_each_value(a, [&](program::value_index& v) {
            if (auto const found = by.find(v); found != by.end()) v = found->second;
        });
}
void replace_values(std::vector<program::node>& nodes, replacements const& by) {
    for (program::node& n : nodes) replace_values(n.arguments, by);
}

/// Interprets a part of the code into nodes of its own. Containers from outside must not change; variables and attributes have their values
/// from before when it ends, also by an exception of the module.
interpreter::part interpreter::interpret_separately(std::function<value()> const& body) {
    constexpr int max_depth = 32;
    if (++apart_ > max_depth) at_.fail("branches and loops that depend on data are nested more than 32 levels deep");
    at_.spend(at_.current()->variables.size() + values_.sizes().size() + types_.resized().size());
    part out;
    std::vector<program::node> nodes = std::exchange(build_.nodes(), {});
    auto variables = at_.current()->variables;
    program_values::known_sizes const sizes = values_.sizes();
    result_types::new_sizes const resized = types_.resized();
    std::vector<program::value_index> written = aliases_.exchange_written({});
    outside_attributes changed = attributes_.exchange_changed({});
    std::size_t const fence = std::exchange(heap_.fence, heap_.made);
    auto const leave = [&] {
        heap_.fence = fence;
        out.nodes = std::exchange(build_.nodes(), std::move(nodes));
        out.variables = std::exchange(at_.current()->variables, std::move(variables));
        out.written = aliases_.exchange_written(std::move(written));
        out.attributes = attributes_.exchange_changed(std::move(changed));
        for (auto& [key, each] : out.attributes) std::swap(each.object->attributes[key.second], each.held);
        values_.set_sizes(sizes);
        types_.set_resized(resized);
        --apart_;
    };
    frame* const here = at_.current();
    value const result = at_.current()->result;
    dtype const type = autocast_.type();
    bool const has_gradients = gradients_.is_enabled;
    auto const growing = containers_.growing();
    try {
        out.result = body();
    } catch (raised const&) {
        (void)at_.enter(here);
        at_.current()->result = result;
        autocast_.leave(type);
        gradients_.is_enabled = has_gradients;
        containers_.set_growing(growing);
        leave();
        throw;
    }
    leave();
    return out;
}

/// Nothing if the branch raises an exception whatever the data is.
std::optional<interpreter::part> interpreter::interpret_branch(std::function<value()> const& body) {
    try {
        return interpret_separately(body);
    } catch (raised const&) {
        return std::nullopt;
    }
}

/// A condition as an argument: a 0-d bool tensor, or a SymBool.
program::argument interpreter::condition_argument(value const& condition) {
    if (condition.is() == kind::symbol)
        return program::argument::of_number(values_.number_of(values_.convert_number("bool", condition)));
    if (condition.is_number())
        return program::argument::of_number(values_.number_of(values_.convert_number("bool", condition)));
    program::value_index const t = values_.tensor_of(condition);
    if (types_.type_of(t).type == dtype::bool_) return program::argument::of_tensor(t);
    return program::argument::of_tensor(
        values_.tensor_of(call_operator("aten::ne", {{condition, value::of(std::int64_t{0})}, {}})));
}

/// The kind of a number that is one of two numbers.
program::value_kind interpreter::common_kind(value const& a, value const& b) const {
    auto const kind_of = [&](value const& v) {
        if (v.is() == kind::symbol) return build_.kind_of(v);
        return v.is() == kind::real      ? program::value_kind::sym_float
               : v.is() == kind::boolean ? program::value_kind::sym_bool
                                         : program::value_kind::sym_int;
    };
    program::value_kind const x = kind_of(a);
    program::value_kind const y = kind_of(b);
    if (x != y) at_.fail("a number has another type after a branch or an iteration that depends on data");
    return x;
}

/// The tensor that a value is in a branch, or a body, that has these nodes.
program::value_index interpreter::tensor_in(std::vector<program::node>& nodes, value const& v) {
    std::swap(build_.nodes(), nodes);
    program::value_index const out = values_.tensor_of(v);
    std::swap(build_.nodes(), nodes);
    return out;
}

/// A value of the same type that a branch returns for a variable to which it gives none. Nothing reads it, so that a value from outside of the
/// other branch, whose nodes are `makers`, stands for itself.
value interpreter::stand_in(value const& like, std::vector<program::node> const& makers,
                            std::vector<program::node>& nodes, int depth) {
    if (depth > 20) at_.fail("a variable is nested more than 20 levels deep in a branch that depends on data");
    if (like.is() == kind::list || like.is() == kind::tuple || like.is() == kind::optional) {
        std::vector<value> items;
        for (value const& each : like.list()->items) items.push_back(stand_in(each, makers, nodes, depth + 1));
        value out = like.is() == kind::tuple ? heap_.tuple(std::move(items)) : heap_.list(std::move(items));
        out.list()->fields = like.list()->fields;
        return like.is() == kind::optional ? value::of(kind::optional, out.list()) : out;
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
    value const out =
        call_operator("aten::zeros", {{heap_.list(std::move(sizes))}, {{"dtype", value::of(code_of(type.type))}}});
    std::swap(build_.nodes(), nodes);
    return out;
}

/// The same for two values of which one is, or may be, None.
value interpreter::merge_optional(value const& a, value const& b, merged_outputs& to, int depth) {
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
value interpreter::merge(value const& a, value const& b, merged_outputs& to, int depth) {
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
        to.first.push_back(program::argument::of_tensor(tensor_in(*to.first_nodes, a)));
        to.second.push_back(program::argument::of_tensor(tensor_in(*to.second_nodes, b)));
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
        program::value_kind const k = common_kind(a, b);
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
        value out = a.is() == kind::list ? heap_.list(std::move(items)) : heap_.tuple(std::move(items));
        out.list()->fields = a.list()->fields;
        return out;
    }
    bool const is_kind = a.is() == b.is();
    std::string const what(describe(a));
    return value::of(kind::nothing,
                     is_kind ? what + " that depends on data"
                             : what + " or " + std::string(describe(b)) + ", which depends on data");
}

interpreter::flow interpreter::run_cond(stmt const& s, value const& condition) {
    auto const branch = [&](std::vector<stmt> const& block) {
        return interpret_branch([&] {
            if (run_block(block) == flow::returned) at_.fail("returns inside a branch that depends on data");
            return value{};
        });
    };
    std::optional<part> holds = branch(s.body);
    std::optional<part> fails = branch(s.other);
    at_.go_to(s);
    if (!holds || !fails) { // as a branch that only raises is
        build_.drop("ops.prim.RaiseException");
        return run_block(holds ? s.body : s.other);
    }
    (void)join(condition, *holds, *fails);
    return flow::next;
}

/// Adds the node that runs one of two parts. Variables and attributes have its values from now on; returns its result.
value interpreter::join(value const& condition, part& first, part& second) {
    program::argument const which = condition_argument(condition);
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
    for (auto const& [tensor, written] : writes) write_back(tensor, to.results[written]);
    return result;
}

} // namespace ATON_NAMESPACE::torchscript
