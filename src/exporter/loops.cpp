// SPDX-License-Identifier: MIT
// Converts torch.while_loop to Loop, and scan, map and associative_scan to Scan. Bodies capture additional values.
#include "inner_graph.hpp"

#include <algorithm>

#include <aton/mappings/detail/operators.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

value_type scalar_type(dtype t) { return {t, shape(std::vector<dim>()), value_kind::tensor}; }

/// The type of a slice along the first dimension.
value_type slice_of(value_type stacked) {
    if (!stacked.shape.has_rank() || stacked.shape.rank() == 0) return {stacked.dtype, {}, stacked.kind};
    std::vector<dim> const& all = stacked.shape.dims();
    stacked.shape = shape(std::vector<dim>(all.begin() + 1, all.end()));
    return stacked;
}

void append(std::vector<binding>& to, std::vector<binding> const& more) {
    to.insert(to.end(), more.begin(), more.end());
}

std::vector<binding> bindings_of(std::vector<dsl::value> const& values) {
    std::vector<binding> out;
    for (dsl::value const& v : values) out.push_back({v, {}, {}});
    return out;
}

/// Checks that there are at least `wanted` results.
void check_count(std::vector<binding> const& results, std::size_t wanted) {
    if (results.size() < wanted)
        throw unsupported_error("its graph returns " + std::to_string(results.size()) +
                                " values, but the program needs " + std::to_string(wanted));
}

} // namespace

value_type converter::input_type(program::graph const& g, std::size_t i, value_type const& otherwise) const {
    if (i >= g.inputs.size() || g.inputs[i] == program::no_value) return otherwise;
    value_type type = type_of(g.inputs[i]);
    return type.dtype == dtype::undefined ? otherwise : type;
}

/// The initial state of a loop, in the dtypes of the body's inputs from `first` on.
std::vector<dsl::value> converter::initial_state(std::vector<binding> const& given, program::graph const& body,
                                                 std::size_t first) {
    std::vector<dsl::value> out;
    for (std::size_t i = 0; i != given.size(); ++i)
        out.push_back(typed(given[i], input_type(body, first + i, {}), "its initial state is"));
    return out;
}

/// Adds inputs to the inner graph for the inputs of the program's graph from `first` on.
std::vector<dsl::value> converter::add_body_inputs(inner_graph& inner, program::graph const& g, std::size_t first,
                                                   std::vector<value_type> const& types) {
    std::vector<dsl::value> out;
    for (std::size_t i = 0; i != types.size(); ++i) {
        bool const is_named = first + i < g.inputs.size() && g.inputs[first + i] != program::no_value;
        out.push_back(inner.add_input(is_named ? program_.values[g.inputs[first + i]].name : std::string(),
                                      input_type(g, first + i, types[i])));
    }
    return out;
}

/// The result of a condition graph, as a 0-d bool.
dsl::value converter::condition(program::graph const& g, std::vector<binding> given) {
    std::vector<binding> const results = results_of(g, std::move(given));
    check_count(results, 1);
    dsl::value const v = condition_of(results[0]);
    if (v.has_rank() && v.rank() == 0) return v;
    ops const g_here(*graph_, options_.opset);
    return g_here.op<"Reshape">(v, g_here.ints(std::vector<std::int64_t>()));
}

/// Converts to a Loop without a trip count; the condition is computed before the loop and at the end of each iteration. `stacks`: the
/// results of all iterations are stacked. What the body returns beyond the state is stacked, too, as a front end wants it for lists.
void converter::convert_while_loop(program::node const& n, bool stacks) {
    program::graph const& test = graph_argument(n, 0);
    program::graph const& body = graph_argument(n, 1);
    std::vector<binding> const carried = list_of(n, 2);
    std::vector<binding> const additional = list_of(n, 3);
    std::vector<program::value_index> results = result_values(n);
    std::size_t const returned = stacks ? carried.size() : std::max(body.outputs.size(), carried.size());
    if (results.size() > returned)
        throw unsupported_error("it has " + std::to_string(results.size()) + " results, but carries only " +
                                std::to_string(carried.size()));
    results.resize(returned, program::no_value);

    graph_node made;
    made.op = "Loop";
    std::vector<dsl::value> const start = initial_state(carried, body, 0);
    std::vector<binding> all = carried; // known numbers may make the condition constant
    append(all, additional);
    made.inputs = {aton::no_value, captured(condition(test, all))};
    std::vector<value_type> types;
    for (dsl::value const& v : start) {
        made.inputs.push_back(captured(v));
        types.push_back(v.type());
    }

    inner_graph inner(*this, graph_name(n, 1));
    (void)inner.add_input("trip", scalar_type(dtype::int64));
    (void)inner.add_input("go_on", scalar_type(dtype::bool_));
    std::vector<dsl::value> const state = add_body_inputs(inner, body, 0, types);
    all = bindings_of(state);
    append(all, additional);
    std::vector<binding> const given = results_of(body, all);
    check_count(given, returned);
    std::vector<dsl::value> next;
    for (std::size_t i = 0; i != state.size(); ++i)
        next.push_back(typed(given[i], state[i].type(), "the body returns"));
    all = bindings_of(next);
    append(all, additional);
    inner.add_output(condition(test, all));
    for (dsl::value const& v : next) inner.add_output(v);
    for (std::size_t i = carried.size(); i != returned; ++i) // what only the stack of all iterations has
        inner.add_output(typed(given[i],
                               results[i] == program::no_value ? value_type() : slice_of(type_of(results[i])),
                               "the body returns"));
    if (stacks) {
        for (dsl::value const& v : next) inner.add_output(v);
        results.insert(results.begin(), carried.size(), program::no_value);
    }
    made.attributes.push_back(inner.take("body"));
    append_node(n, std::move(made), results);
}

/// Appends a Scan over the first dimension of `xs`. Its results are the states, followed by the stacked outputs.
void converter::append_scan(program::node const& n, std::vector<binding> const& states, std::vector<binding> const& xs,
                            std::vector<binding> const& additional) {
    program::graph const& body = graph_argument(n, 0);
    std::vector<program::value_index> const results = result_values(n);
    if (xs.empty()) throw unsupported_error("it has no tensor to iterate over");
    if (options_.opset < 9) throw unsupported_error("a scan needs opset 9");
    graph_node made;
    made.op = "Scan";
    std::vector<value_type> types;
    for (dsl::value const& v : initial_state(states, body, 0)) {
        made.inputs.push_back(captured(v));
        types.push_back(v.type());
    }
    for (binding const& x : xs) {
        dsl::value const v = typed(x, {}, "its operand is");
        made.inputs.push_back(captured(v));
        types.push_back({v.dtype(), {}, value_kind::tensor});
    }
    inner_graph inner(*this, graph_name(n, 0));
    std::vector<dsl::value> const inputs = add_body_inputs(inner, body, 0, types);
    std::vector<binding> all = bindings_of(inputs);
    append(all, additional);
    std::vector<binding> const given = results_of(body, all);
    check_count(given, std::max(results.size(), states.size()));
    for (std::size_t i = 0; i != results.size(); ++i) {
        value_type const known = results[i] == program::no_value ? value_type() : slice_of(type_of(results[i]));
        inner.add_output(typed(given[i], i < states.size() ? inputs[i].type() : known, "the body returns"));
    }
    made.attributes = {inner.take("body"), make_attribute("num_scan_inputs", static_cast<std::int64_t>(xs.size()))};
    append_node(n, std::move(made), results);
}

void converter::convert_scan(program::node const& n) { append_scan(n, list_of(n, 1), list_of(n, 2), list_of(n, 3)); }

void converter::convert_map(program::node const& n) { append_scan(n, {}, list_of(n, 1), list_of(n, 2)); }

/// Computes y[0] = x[0] and y[i] = f(y[i - 1], x[i]) sequentially. The first iteration uses x[0] in place of y, and discards the result.
void converter::convert_associative_scan(program::node const& n) {
    program::graph const& combine = graph_argument(n, 0);
    std::vector<binding> const xs = list_of(n, 1);
    std::vector<binding> const additional = list_of(n, 2);
    std::vector<program::value_index> results = result_values(n);
    if (xs.empty() || results.size() > xs.size()) throw unsupported_error("it has no tensor to iterate over");
    if (options_.opset < 9) throw unsupported_error("a scan needs opset 9");
    results.resize(xs.size(), program::no_value);
    ops const g(*graph_, options_.opset);
    graph_node made;
    made.op = "Scan";
    made.inputs = {g.scalar(true, dtype::bool_).id()};
    std::vector<value_type> types;
    std::vector<dsl::value> sequences;
    for (binding const& x : xs) {
        sequences.push_back(typed(x, {}, "its operand is"));
        dsl::value const first = g.op<"Gather">(sequences.back(), g.scalar(0, dtype::int64), dsl::attr::axis_i(0));
        made.inputs.push_back(first.id());
        types.push_back(first.type());
    }
    for (dsl::value const& v : sequences) made.inputs.push_back(captured(v));

    inner_graph inner(*this, graph_name(n, 0));
    dsl::value const is_first = inner.add_input("is_first", scalar_type(dtype::bool_));
    std::vector<dsl::value> const before = add_body_inputs(inner, combine, 0, types);
    std::vector<dsl::value> const now = add_body_inputs(inner, combine, xs.size(), types);
    std::vector<binding> all = bindings_of(before);
    append(all, bindings_of(now));
    append(all, additional);
    std::vector<binding> const given = results_of(combine, all);
    check_count(given, xs.size());
    ops const body(*graph_, options_.opset);
    inner.add_output(body.scalar(false, dtype::bool_));
    std::vector<dsl::value> next;
    for (std::size_t i = 0; i != xs.size(); ++i)
        next.push_back(mappings::where(body, is_first, now[i], typed(given[i], now[i].type(), "the body returns")));
    for (int copies = 0; copies != 2; ++copies)
        for (dsl::value const& v : next) inner.add_output(v);
    made.attributes = {inner.take("body"), make_attribute("num_scan_inputs", static_cast<std::int64_t>(xs.size()))};
    results.insert(results.begin(), xs.size() + 1, program::no_value);
    append_node(n, std::move(made), results);
}

} // namespace ATON_NAMESPACE::exporter
