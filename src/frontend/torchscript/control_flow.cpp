// SPDX-License-Identifier: MIT
// Conditions that depend on data: both branches are interpreted and become graphs of a higher-order operator.
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "interpreter.hpp"
#include "regions.hpp"

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

/// Interprets a part of the code into nodes of its own. Containers and objects from outside must not change.
interpreter::part interpreter::interpret_apart(std::function<value()> const& body) {
    constexpr int max_depth = 32;
    if (++apart_ > max_depth) fail("branches and loops that depend on data are nested more than 32 levels deep");
    spend(frame_->variables.size() + sizes_.size() + resized_.size());
    part out;
    std::vector<program::node> nodes = std::exchange(out_.main.nodes, {});
    auto variables = frame_->variables;
    auto const sizes = sizes_;
    auto const resized = resized_;
    std::vector<program::value_index> written = std::exchange(written_, {});
    std::size_t const fence = std::exchange(heap_.fence, heap_.made);
    out.result = body();
    heap_.fence = fence;
    out.nodes = std::exchange(out_.main.nodes, std::move(nodes));
    out.variables = std::exchange(frame_->variables, std::move(variables));
    out.written = std::exchange(written_, std::move(written));
    sizes_ = sizes;
    resized_ = resized;
    --apart_;
    return out;
}

/// A copy of a value as the input of a nested graph.
program::value_index interpreter::copy_value(program::value_index v) {
    program::value copy = out_.values[v];
    copy.name = unique_name(copy.name);
    out_.values.push_back(std::move(copy));
    return static_cast<program::value_index>(out_.values.size() - 1);
}

/// Appends a nested graph, whose inputs are `inputs` and copies of `captured`.
program::argument interpreter::make_graph(std::string const& name, std::vector<program::value_index> inputs,
                                          std::vector<program::value_index> const& captured,
                                          std::vector<program::node> nodes, std::vector<program::argument> outputs) {
    replacements copies;
    for (program::value_index const v : captured) {
        copies[v] = copy_value(v);
        inputs.push_back(copies[v]);
    }
    replace_values(nodes, copies);
    replace_values(outputs, copies);
    auto const index = static_cast<std::int64_t>(out_.subgraphs.size());
    out_.subgraphs.push_back({std::move(inputs), std::move(nodes), std::move(outputs)});
    return program::argument::of_graph(index, name + '_' + std::to_string(index));
}

/// A condition as an argument: a 0-d bool tensor, or a SymBool.
program::argument interpreter::condition_argument(value const& condition) {
    if (condition.is() == kind::symbol)
        return program::argument::of_number(number_of(convert_number("bool", condition)));
    if (condition.is_number()) return program::argument::of_number(number_of(convert_number("bool", condition)));
    program::value_index const t = tensor_of(condition);
    if (type_of(t).type == dtype::bool_) return program::argument::of_tensor(t);
    return program::argument::of_tensor(
        tensor_of(call_operator("aten::ne", {{condition, value::of(std::int64_t{0})}, {}})));
}

/// The kind of a number that is one of two numbers.
program::value_kind interpreter::common_kind(value const& a, value const& b) const {
    auto const kind_of = [&](value const& v) {
        if (v.is() == kind::symbol) return out_.values[v.computed()].kind;
        return v.is() == kind::real      ? program::value_kind::sym_float
               : v.is() == kind::boolean ? program::value_kind::sym_bool
                                         : program::value_kind::sym_int;
    };
    program::value_kind const x = kind_of(a);
    program::value_kind const y = kind_of(b);
    if (x != y) fail("a number has another type after a branch or an iteration that depends on data");
    return x;
}

/// The tensor that a value is in a branch, or a body, that has these nodes.
program::value_index interpreter::tensor_in(std::vector<program::node>& nodes, value const& v) {
    std::swap(out_.main.nodes, nodes);
    program::value_index const out = tensor_of(v);
    std::swap(out_.main.nodes, nodes);
    return out;
}

/// The value of a variable after an `if`, which the node computes; `results` and the outputs of both branches grow.
value interpreter::merge(value const& a, value const& b, merged_outputs& to, int depth) {
    if (a.is_same(b)) return a;
    if (a.is() == kind::tensor && b.is() == kind::tensor) {
        program::value_index const tensor = same_tensor(a.computed());
        if (tensor == same_tensor(b.computed())) return value::of(kind::tensor, tensor); // one branch has written to it
    }
    if (depth > 20) fail("a variable is nested more than 20 levels deep in a branch that depends on data");
    // bool(x) of a tensor is a tensor, which another branch may give as a number.
    bool const tensors =
        (a.acts_as_tensor() && (b.acts_as_tensor() || b.is_any_number())) || (b.acts_as_tensor() && a.is_any_number());
    if (tensors) {
        to.first.push_back(program::argument::of_tensor(tensor_in(*to.first_nodes, a)));
        to.second.push_back(program::argument::of_tensor(tensor_in(*to.second_nodes, b)));
        inferred_type type = type_of(to.first.back().tensor);
        inferred_type const other = type_of(to.second.back().tensor);
        if (type.type != other.type || type.sizes.size() != other.sizes.size()) {
            to.first.pop_back();
            to.second.pop_back();
            return value::of(kind::nothing, "tensors of different types");
        }
        for (std::size_t i = 0; i != type.sizes.size(); ++i)
            if (type.sizes[i] != other.sizes[i]) type.sizes[i].reset();
        to.results.push_back(add_tensor("cond", type));
        gradients_.merge(to.first.back(), to.second.back(), to.results.back());
        return value::of(kind::tensor, to.results.back());
    }
    if (a.is_any_number() && b.is_any_number()) {
        program::value_kind const k = common_kind(a, b);
        to.first.push_back(program::argument::of_number(number_of(a)));
        to.second.push_back(program::argument::of_number(number_of(b)));
        to.results.push_back(add_value("cond", k));
        if (k == program::value_kind::sym_int) out_.values[to.results.back()].symbolic = fresh_extent();
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
    return value::of(kind::nothing, "values of different kinds");
}

interpreter::flow interpreter::run_cond(stmt const& s, value const& condition) {
    program::argument const which = condition_argument(condition);
    auto const branch = [&](std::vector<stmt> const& block) {
        return interpret_apart([&] {
            if (run_block(block) == flow::returned) fail("returns inside a branch that depends on data");
            return value{};
        });
    };
    part first = branch(s.body);
    part second = branch(s.other);
    go_to(s);
    merged_outputs to{&first.nodes, &second.nodes, {}, {}, {}};
    std::set<std::string_view> names;
    for (auto const& [name, v] : first.variables)
        if (second.variables.contains(name)) names.insert(name);
    for (std::string_view const name : names) {
        value merged = merge(first.variables[name], second.variables[name], to, 0);
        frame_->variables[name] = std::move(merged);
    }
    std::vector<outside_write> const writes = merge_writes(first, second, to);
    program::node n;
    n.kind = program::node_kind::higher_order;
    n.op = "higher_order::cond";
    n.name = unique_name("cond");
    n.origin = origin_here();
    std::vector<program::value_index> captured;
    collect_free(first.nodes, to.first, captured);
    collect_free(second.nodes, to.second, captured);
    n.arguments.push_back(which);
    n.arguments.push_back(make_graph("true_graph", {}, captured, std::move(first.nodes), std::move(to.first)));
    n.arguments.push_back(make_graph("false_graph", {}, captured, std::move(second.nodes), std::move(to.second)));
    n.arguments.push_back(program::argument::of_tensors({captured.begin(), captured.end()}));
    for (program::value_index const v : to.results) n.results.push_back({{v}, false});
    out_.main.nodes.push_back(std::move(n));
    for (auto const& [tensor, result] : writes) write_back(tensor, to.results[result]);
    return flow::next;
}

} // namespace ATON_NAMESPACE::torchscript
