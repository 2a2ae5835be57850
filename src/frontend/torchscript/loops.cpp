// SPDX-License-Identifier: MIT
// Loops that depend on data: the body is interpreted once and becomes a graph, which gets the variables that it assigns as its state.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "frontend/files/text.hpp"
#include "interpreter.hpp"
#include "regions.hpp"

namespace ATON_NAMESPACE::torchscript {

using files::in_quotes;

namespace {

/// The variables that statements assign.
void collect_assigned(std::vector<stmt> const& block, std::set<std::string>& names) {
    std::function<void(expr const&)> const target = [&](expr const& e) {
        if (e.is == expr_kind::name) names.insert(e.text);
        if (e.is == expr_kind::tuple)
            for (expr const& each : e.items) target(each);
    };
    for (stmt const& s : block) {
        for (expr const& each : s.targets) target(each);
        collect_assigned(s.body, names);
        collect_assigned(s.other, names);
    }
}

} // namespace

/// The state of a loop at the start of an iteration, inside the graph of its body: the same types, other values.
value interpreter::carry(value const& v, std::vector<program::value_index>& start,
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
        value out = v.is() == kind::tuple ? heap_.tuple(std::move(items)) : heap_.list(std::move(items));
        out.list()->fields = v.list()->fields;
        return v.is() == kind::optional ? value::of(kind::optional, out.list()) : out;
    }
    return v;
}

/// Adds the values of a variable or an attribute at the end of an iteration to the outputs of the body, in the order of carry().
void interpreter::append_carried(std::string const& what, value const& before, value const& after,
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
            append_carried(what, before.list()->items[i], after.list()->items[i], nodes, outputs);
        return;
    }
    if (!before.is_same(after))
        at_.fail("the " + what + " changes in a loop that depends on data, which is not supported for " +
                 std::string(describe(before)));
}

/// Gives a dimension of the state of a loop a size of its own in each iteration.
void interpreter::open_axis(program::value_index carried, std::size_t axis) {
    open_axes_[carried].insert(axis);
    build_.value_at(carried).sizes[axis] = build_.fresh_extent();
}

/// Adds the dimensions of tensors of the state, in the order of carry(), that have another size after an iteration.
void interpreter::find_resized(value const& before, value const& after, std::size_t& position,
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

/// Makes the tensors that the body of a loop writes to part of its state, which the tests and bodies of all iterations share.
std::vector<outside_write> interpreter::carry_writes(part& test, part& body, loop_state& state) {
    std::vector<program::value_index> const written = aliases_.written_outside(body.nodes, body.written);
    std::vector<program::value_index> used = state.start;
    collect_free(test.nodes, state.tested, used);
    collect_free(body.nodes, state.outputs, used);
    collect_free(body.nodes, state.collected, used);
    std::vector<outside_write> out;
    auto const position = [&](program::value_index v) {
        return static_cast<std::size_t>(std::find(state.in_body.begin(), state.in_body.end(), v) -
                                        state.in_body.begin());
    };
    std::vector<program::value_index> outside; // what the writes change in the first iteration
    for (program::value_index const v : written) {
        std::size_t const i = position(v);
        outside.push_back(i == state.in_body.size() ? v : state.start[i]);
        // A variable that is another tensor after the iteration: only the first iteration writes to the one from outside.
        if (i != state.in_body.size() && aliases_.same_tensor(state.outputs[i].tensor) != v) return out;
    }
    if (!aliases_.are_apart(outside, used) || !aliases_.written_outside(test.nodes, test.written).empty())
        return out; // refused later, with the line of the write
    for (std::size_t k = 0; k != written.size(); ++k) {
        program::value_index const v = written[k];
        std::size_t const i = position(v);
        program::value_index inside = v;
        if (i == state.in_body.size()) {
            inside = build_.copy_value(v);
            state.start.push_back(v);
            state.in_body.push_back(inside);
            state.in_test.push_back(build_.copy_value(v));
            state.outputs.push_back(program::argument::of_tensor(v));
            for (auto* const each : {&state.outputs, &state.collected}) replace_values(*each, {{v, inside}});
            replace_values(body.nodes, {{v, inside}});
            replace_values(test.nodes, {{v, state.in_test.back()}});
            replace_values(state.tested, {{v, state.in_test.back()}});
        }
        replace_values(state.collected, {{inside, writes_.clone_in(body, inside, state.outputs)}});
        out.push_back({outside[k], i});
    }
    return out;
}

/// `count`: the number of iterations, if it is known before the loop.
flow interpreter::run_while_loop(stmt const& s, std::optional<value> const& count) {
    std::set<std::string> assigned;
    collect_assigned(s.body, assigned);
    std::vector<std::string> names;
    for (std::string const& name : assigned)
        if (at_.current()->variables.contains(name)) names.push_back(name);
    loop_state state;
    std::unordered_map<std::string, value> body_state;
    std::unordered_map<std::string, value> test_state;
    outside_attributes body_attributes;
    outside_attributes test_attributes;
    state_axes resized;
    auto const carry_both = [&](value const& before, value& in_body, value& in_test) {
        std::vector<program::value_index> same;
        std::size_t const first = state.in_body.size();
        in_body = carry(before, state.start, state.in_body, 0);
        for (auto const& [position, axis] : resized)
            if (position >= first && position < state.in_body.size()) open_axis(state.in_body[position], axis);
        in_test = carry(in_body, same, state.in_test, 0);
    };
    auto const enter = [&](std::unordered_map<std::string, value> const& variables,
                           outside_attributes const& attributes) {
        for (auto& [name, v] : at_.current()->variables)
            if (auto const found = variables.find(std::string(name)); found != variables.end()) v = found->second;
        for (auto const& [key, each] : attributes) attributes_.set(*each.object, key.second, each.held);
    };
    part test;
    part again;
    std::vector<list_of_values*> const lists = find_growing(s);
    // The attributes, sizes and constant tensors that the body changes are known once it is interpreted.
    for (bool is_complete = false; !is_complete;) {
        std::size_t const known = again.attributes.size();
        std::set<program::value_index> const changed = aliases_.changed();
        auto const first = static_cast<program::value_index>(build_.made().values.size());
        state = {};
        for (std::string const& name : names)
            carry_both(at_.current()->variables.at(name), body_state[name], test_state[name]);
        for (auto const& [key, each] : again.attributes) {
            body_attributes[key].object = test_attributes[key].object = each.object;
            carry_both(each.object->attributes[key.second], body_attributes[key].held, test_attributes[key].held);
        }
        test = parts_.interpret([&] {
            enter(test_state, test_attributes);
            return evaluate(s.value);
        });
        for (list_of_values* const each : lists) containers_.start_growing(each);
        again = parts_.interpret([&] {
            enter(body_state, body_attributes);
            if (run_block(s.body) == flow::returned) at_.fail("returns inside a loop that depends on data");
            return value{};
        });
        std::size_t const open = resized.size();
        if (again.attributes.size() != known) resized.clear(); // other positions
        else {
            std::size_t position = 0;
            for (std::string const& name : names)
                find_resized(body_state[name], again.variables[name], position, resized);
            for (auto const& [key, each] : again.attributes)
                find_resized(body_attributes[key].held, each.held, position, resized);
        }
        is_complete =
            again.attributes.size() == known && resized.size() == open && !elements_.have_changed(changed, first);
    }
    at_.go_to(s);
    for (auto const& [key, each] : test.attributes)
        if (auto const found = test_attributes.find(key);
            found == test_attributes.end() || !found->second.held.is_same(each.held))
            at_.fail("the condition of a loop that depends on data changes an attribute");
    for (std::string const& name : names)
        append_carried(
            "variable " + in_quotes(name), body_state[name], again.variables[name], again.nodes, state.outputs);
    for (auto const& [key, each] : again.attributes)
        append_carried("attribute " + in_quotes(text_of(attribute_name(each.object->path, key.second))),
                       body_attributes[key].held,
                       each.held,
                       again.nodes,
                       state.outputs);
    collect(again, lists, state);
    std::swap(build_.nodes(), test.nodes);
    state.tested.push_back(values_.condition_argument(test.result));
    std::swap(build_.nodes(), test.nodes);
    std::size_t const variables = state.start.size();
    std::vector<outside_write> const writes = carry_writes(test, again, state);
    std::size_t const carried = state.outputs.size();
    std::move(state.collected.begin(), state.collected.end(), std::back_inserter(state.outputs));
    std::vector<inferred_type> rows;
    for (std::size_t i = carried; i != state.outputs.size(); ++i) {
        rows.push_back(types_.type_of(state.outputs[i].tensor));
        rows.back().sizes.insert(rows.back().sizes.begin(), count ? build_.extent_of(*count) : build_.fresh_extent());
    }
    program::node n;
    n.kind = program::node_kind::higher_order;
    n.op = "higher_order::while_loop";
    n.name = build_.unique_name("while_loop");
    n.origin = build_.origin_here();
    std::vector<program::value_index> captured = state.in_test;
    collect_free(test.nodes, state.tested, captured);
    captured.erase(captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(state.in_test.size()));
    captured.insert(captured.begin(), state.in_body.begin(), state.in_body.end());
    collect_free(again.nodes, state.outputs, captured);
    captured.erase(captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(state.in_body.size()));
    n.arguments.push_back(
        build_.make_graph("cond_graph", state.in_test, captured, std::move(test.nodes), state.tested));
    n.arguments.push_back(
        build_.make_graph("body_graph", state.in_body, captured, std::move(again.nodes), std::move(state.outputs)));
    n.arguments.push_back(program::argument::of_tensors({state.start.begin(), state.start.end()}));
    n.arguments.push_back(program::argument::of_tensors({captured.begin(), captured.end()}));
    std::vector<program::value_index> unused;
    std::vector<program::value_index> results;
    for (std::string const& name : names) {
        value const after = carry(body_state[name], unused, results, 0);
        at_.current()->variables.find(name)->second = after;
    }
    for (auto const& [key, each] : again.attributes)
        attributes_.set(*each.object, key.second, carry(body_attributes[key].held, unused, results, 0));
    for (std::size_t i = variables; i != state.in_body.size(); ++i)
        results.push_back(build_.copy_value(state.in_body[i]));
    for (inferred_type const& each : rows) results.push_back(build_.add_tensor("rows", each));
    for (program::value_index const v : results) n.results.push_back({{v}, false});
    build_.nodes().push_back(std::move(n));
    for (auto const& [tensor, result] : writes) writes_.write_back(tensor, results[result]);
    for (std::size_t i = 0; i != lists.size(); ++i) replace_grown(lists[i], results[carried + i], state.appended[i]);
    return flow::next;
}

/// The count of `range(count)` if the model computes it.
std::optional<value> interpreter::open_count(expr const& over) {
    bool const is_range = over.is == expr_kind::call && over.items[0].is == expr_kind::name &&
                          over.items[0].text == "range" && over.items.size() == 2;
    if (!is_range) return {};
    value const count = evaluate(over.items[1]);
    return count.is() == kind::symbol || count.is_from_tensor() ? std::optional(count) : std::nullopt;
}

/// `for i in range(count)` as a loop over a counter: `while torch.lt(#1, #2): i = #1; ...; #1 = torch.add(#1, 1)`.
flow interpreter::run_counted_loop(stmt const& s, value const& count) {
    auto const name = [&](std::string text) {
        expr e;
        e.is = expr_kind::name;
        e.line = s.line;
        e.offset = s.offset;
        e.text = std::move(text);
        return e;
    };
    auto const call = [&](std::string function, expr a, expr b) {
        expr callee;
        callee.is = expr_kind::attribute;
        callee.line = s.line;
        callee.offset = s.offset;
        callee.text = std::move(function);
        callee.items.push_back(name("torch"));
        expr e;
        e.is = expr_kind::call;
        e.line = s.line;
        e.offset = s.offset;
        e.items = {std::move(callee), std::move(a), std::move(b)};
        return e;
    };
    auto const assignment = [&](expr to, expr from) {
        stmt made;
        made.is = stmt_kind::assign;
        made.line = s.line;
        made.offset = s.offset;
        made.targets.push_back(std::move(to));
        made.value = std::move(from);
        return made;
    };
    std::string const number = std::to_string(made_.size());
    expr one;
    one.is = expr_kind::integer;
    one.integer = 1;
    expr const counter = name("#counter" + number);
    expr const end = name("#end" + number);
    stmt& loop = made_.emplace_back(); // the names of variables point into it
    loop.is = stmt_kind::while_;
    loop.line = s.line;
    loop.offset = s.offset;
    loop.value = call("lt", counter, end);
    loop.body.push_back(assignment(s.targets.at(0), counter));
    loop.body.insert(loop.body.end(), s.body.begin(), s.body.end());
    loop.body.push_back(assignment(counter, call("add", counter, one)));
    at_.current()->variables[loop.value.items[1].text] = value::of(std::int64_t{0});
    at_.current()->variables[loop.value.items[2].text] = count;
    return run_while_loop(loop, count);
}

} // namespace ATON_NAMESPACE::torchscript
