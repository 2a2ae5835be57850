// SPDX-License-Identifier: MIT
#include "loops.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "frontend/files/text.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using files::in_quotes;

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

/// What only nodes of a part use of the values around it, beside its own inputs.
std::vector<program::value_index> captured_by(std::vector<program::value_index> known,
                                              std::vector<program::node> const& nodes,
                                              std::vector<program::argument> const& outputs,
                                              std::vector<program::value_index> const& inputs) {
    known.insert(known.begin(), inputs.begin(), inputs.end());
    collect_free(nodes, outputs, known);
    known.erase(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(inputs.size()));
    return known;
}

} // namespace

void loops::run(stmt const& s, std::optional<value> const& count) {
    loop of;
    std::set<std::string> assigned;
    collect_assigned(s.body, assigned);
    for (std::string const& name : assigned)
        if (at_.current()->variables.contains(name)) of.names.push_back(name);
    of.lists = lists_.find(s);
    interpret(s, of);
    at_.go_to(s);
    append_outputs(of);
    std::size_t const variables = of.state.start.size();
    std::vector<outside_write> const writes = carry_writes(of);
    std::size_t const carried = of.state.outputs.size();
    std::move(of.state.collected.begin(), of.state.collected.end(), std::back_inserter(of.state.outputs));
    std::vector<inferred_type> rows;
    for (std::size_t i = carried; i != of.state.outputs.size(); ++i) {
        rows.push_back(types_.type_of(of.state.outputs[i].tensor));
        rows.back().sizes.insert(rows.back().sizes.begin(), count ? build_.extent_of(*count) : build_.fresh_extent());
    }
    program::node n = node_of(of);
    std::vector<program::value_index> results = carry_results(of);
    for (std::size_t i = variables; i != of.state.in_body.size(); ++i)
        results.push_back(build_.copy_value(of.state.in_body[i]));
    for (inferred_type const& each : rows) results.push_back(build_.add_tensor("rows", each));
    for (program::value_index const v : results) n.results.push_back({{v}, false});
    build_.nodes().push_back(std::move(n));
    for (auto const& [tensor, result] : writes) writes_.write_back(tensor, results[result]);
    for (std::size_t i = 0; i != of.lists.size(); ++i)
        lists_.replace(of.lists[i], results[carried + i], of.state.appended[i]);
}

/// The state of the body and of the test. The attributes that the body changes are known once it is interpreted.
void loops::carry_state(loop& of) {
    auto const carry_both = [&](value const& before, value& in_body, value& in_test) {
        std::vector<program::value_index> same;
        std::size_t const first = of.state.in_body.size();
        in_body = carried_.carry(before, of.state.start, of.state.in_body);
        for (auto const& [position, axis] : of.resized)
            if (position >= first && position < of.state.in_body.size())
                carried_.open_axis(of.state.in_body[position], axis);
        in_test = carried_.carry(in_body, same, of.state.in_test);
    };
    of.state = {};
    for (std::string const& name : of.names)
        carry_both(at_.current()->variables.at(name), of.body_state[name], of.test_state[name]);
    for (auto const& [key, each] : of.body.attributes) {
        of.body_attributes[key].object = of.test_attributes[key].object = each.object;
        carry_both(each.object->attributes[key.second], of.body_attributes[key].held, of.test_attributes[key].held);
    }
}

void loops::enter(std::unordered_map<std::string, value> const& variables, outside_attributes const& attributes) {
    for (auto& [name, v] : at_.current()->variables)
        if (auto const found = variables.find(std::string(name)); found != variables.end()) v = found->second;
    for (auto const& [key, each] : attributes) attributes_.set(*each.object, key.second, each.held);
}

/// Interprets the test and the body until the attributes, sizes and constant tensors that the body changes are those of the state.
void loops::interpret(stmt const& s, loop& of) {
    for (bool is_complete = false; !is_complete;) {
        std::size_t const known = of.body.attributes.size();
        std::set<program::value_index> const changed = aliases_.changed();
        auto const first = static_cast<program::value_index>(build_.made().values.size());
        carry_state(of);
        of.test = parts_.interpret([&] {
            enter(of.test_state, of.test_attributes);
            return code_.evaluate(s.value);
        });
        for (list_of_values* const each : of.lists) containers_.start_growing(each);
        of.body = parts_.interpret([&] {
            enter(of.body_state, of.body_attributes);
            if (code_.run_block(s.body) == flow::returned) at_.fail("returns inside a loop that depends on data");
            return value{};
        });
        std::size_t const open = of.resized.size();
        bool const has_all = of.body.attributes.size() == known;
        if (has_all) find_resized(of);
        else of.resized.clear(); // other positions
        is_complete = has_all && of.resized.size() == open && !elements_.have_changed(changed, first);
    }
}

void loops::find_resized(loop& of) {
    std::size_t position = 0;
    for (std::string const& name : of.names)
        carried_.find_resized(of.body_state[name], of.body.variables[name], position, of.resized);
    for (auto const& [key, each] : of.body.attributes)
        carried_.find_resized(of.body_attributes[key].held, each.held, position, of.resized);
}

/// What the test and the body return.
void loops::append_outputs(loop& of) {
    for (auto const& [key, each] : of.test.attributes)
        if (auto const found = of.test_attributes.find(key);
            found == of.test_attributes.end() || !found->second.held.is_same(each.held))
            at_.fail("the condition of a loop that depends on data changes an attribute");
    for (std::string const& name : of.names)
        carried_.append("variable " + in_quotes(name),
                        of.body_state[name],
                        of.body.variables[name],
                        of.body.nodes,
                        of.state.outputs);
    for (auto const& [key, each] : of.body.attributes)
        carried_.append("attribute " + in_quotes(text_of(attribute_name(each.object->path, key.second))),
                        of.body_attributes[key].held,
                        each.held,
                        of.body.nodes,
                        of.state.outputs);
    lists_.collect(of.body, of.lists, of.state);
    std::swap(build_.nodes(), of.test.nodes);
    of.state.tested.push_back(values_.condition_argument(of.test.result));
    std::swap(build_.nodes(), of.test.nodes);
}

/// The node of the loop, without its results.
program::node loops::node_of(loop& of) {
    loop_state& state = of.state;
    program::node n;
    n.kind = program::node_kind::higher_order;
    n.op = "higher_order::while_loop";
    n.name = build_.unique_name("while_loop");
    n.origin = build_.origin_here();
    std::vector<program::value_index> captured = captured_by({}, of.test.nodes, state.tested, state.in_test);
    captured = captured_by(std::move(captured), of.body.nodes, state.outputs, state.in_body);
    n.arguments.push_back(
        build_.make_graph("cond_graph", state.in_test, captured, std::move(of.test.nodes), state.tested));
    n.arguments.push_back(
        build_.make_graph("body_graph", state.in_body, captured, std::move(of.body.nodes), std::move(state.outputs)));
    n.arguments.push_back(program::argument::of_tensors({state.start.begin(), state.start.end()}));
    n.arguments.push_back(program::argument::of_tensors({captured.begin(), captured.end()}));
    return n;
}

/// Lets variables and attributes have the results of the loop, which it returns.
std::vector<program::value_index> loops::carry_results(loop& of) {
    std::vector<program::value_index> unused;
    std::vector<program::value_index> results;
    for (std::string const& name : of.names) {
        value const after = carried_.carry(of.body_state[name], unused, results);
        at_.current()->variables.find(name)->second = after;
    }
    for (auto const& [key, each] : of.body.attributes)
        attributes_.set(*each.object, key.second, carried_.carry(of.body_attributes[key].held, unused, results));
    return results;
}

std::vector<outside_write> loops::carry_writes(loop& of) {
    part& test = of.test;
    part& body = of.body;
    loop_state& state = of.state;
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

} // namespace ATON_NAMESPACE::torchscript
