// SPDX-License-Identifier: MIT
// Conditions and loops that depend on data: both branches, or the body once, are interpreted and become graphs of higher-order operators.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "frontend/pt2/text.hpp"
#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using pt2::in_quotes;

bool is_same(value const& a, value const& b) {
    bool const same_text = a.text == b.text && a.is_tensor == b.is_tensor;
    bool const same_number = a.integer == b.integer && (a.real == b.real || (a.real != a.real && b.real != b.real));
    return a.is == b.is && same_text && same_number && a.list == b.list && a.dict == b.dict && a.object == b.object &&
           a.function == b.function && a.type == b.type;
}

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

} // namespace

/// Interprets a part of the code into nodes of its own. Containers and objects from outside must not change.
template <class Body>
interpreter::part interpreter::interpret_apart(Body const& body) {
    constexpr int max_depth = 32;
    if (++apart_ > max_depth) fail("branches and loops that depend on data are nested more than 32 levels deep");
    spend(frame_->variables.size() + sizes_.size() + resized_.size());
    part out;
    std::vector<program::node> nodes = std::exchange(out_.main.nodes, {});
    auto variables = frame_->variables;
    auto const sizes = sizes_;
    auto const resized = resized_;
    std::size_t const fence = std::exchange(heap_.fence, heap_.made);
    out.result = body();
    heap_.fence = fence;
    out.nodes = std::exchange(out_.main.nodes, std::move(nodes));
    out.variables = std::exchange(frame_->variables, std::move(variables));
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
    std::unordered_map<program::value_index, program::value_index> copies;
    for (program::value_index const v : captured) {
        copies[v] = copy_value(v);
        inputs.push_back(copies[v]);
    }
    auto const replace = [&](program::argument& a) {
        program::for_each_value(a, [&](program::value_index& v) {
            if (auto const found = copies.find(v); found != copies.end()) v = found->second;
        });
    };
    for (program::node& n : nodes)
        for (program::argument& a : n.arguments) replace(a);
    for (program::argument& a : outputs) replace(a);
    auto const index = static_cast<std::int64_t>(out_.subgraphs.size());
    out_.subgraphs.push_back({std::move(inputs), std::move(nodes), std::move(outputs)});
    return program::argument::of_graph(index, name + '_' + std::to_string(index));
}

/// A condition as an argument: a 0-d bool tensor, or a SymBool.
program::argument interpreter::condition_argument(value const& condition) {
    if (condition.is == kind::symbol) return program::argument::of_number(number_of(convert_number("bool", condition)));
    if (condition.is_number()) return program::argument::of_number(number_of(convert_number("bool", condition)));
    program::value_index const t = tensor_of(condition);
    if (type_of(t).type == dtype::bool_) return program::argument::of_tensor(t);
    return program::argument::of_tensor(
        tensor_of(call_operator("aten::ne", {{condition, value::of(std::int64_t{0})}, {}})));
}

/// The kind of a number that is one of two numbers.
program::value_kind interpreter::common_kind(value const& a, value const& b) const {
    auto const kind_of = [&](value const& v) {
        if (v.is == kind::symbol) return out_.values[static_cast<std::size_t>(v.integer)].kind;
        return v.is == kind::real      ? program::value_kind::sym_float
               : v.is == kind::boolean ? program::value_kind::sym_bool
                                       : program::value_kind::sym_int;
    };
    program::value_kind const x = kind_of(a);
    program::value_kind const y = kind_of(b);
    if (x != y) fail("a number has another type after a branch or an iteration that depends on data");
    return x;
}

/// The value of a variable after an `if`, which the node computes; `results` and the outputs of both branches grow.
value interpreter::merge(value const& a, value const& b, merged_outputs& to, int depth) {
    if (is_same(a, b)) return a;
    if (depth > 20) fail("a variable is nested more than 20 levels deep in a branch that depends on data");
    bool const tensors =
        (a.is == kind::tensor || a.is == kind::weight) && (b.is == kind::tensor || b.is == kind::weight);
    if (tensors) {
        to.first.push_back(program::argument::of_tensor(tensor_of(a)));
        to.second.push_back(program::argument::of_tensor(tensor_of(b)));
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
        return value::of(kind::tensor, to.results.back());
    }
    auto const is_plain_number = [](value const& v) { return (v.is_number() || v.is == kind::symbol) && !v.is_tensor; };
    if (is_plain_number(a) && is_plain_number(b)) {
        program::value_kind const k = common_kind(a, b);
        to.first.push_back(program::argument::of_number(number_of(a)));
        to.second.push_back(program::argument::of_number(number_of(b)));
        to.results.push_back(add_value("cond", k));
        if (k == program::value_kind::sym_int) out_.values[to.results.back()].symbolic = fresh_extent();
        return value::of(kind::symbol, to.results.back());
    }
    if ((a.is == kind::list || a.is == kind::tuple) && a.is == b.is && a.list->items.size() == b.list->items.size()) {
        std::vector<value> items;
        for (std::size_t i = 0; i != a.list->items.size(); ++i)
            items.push_back(merge(a.list->items[i], b.list->items[i], to, depth + 1));
        value out = a.is == kind::list ? heap_.list(std::move(items)) : heap_.tuple(std::move(items));
        out.list->fields = a.list->fields;
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
    line_ = s.line;
    merged_outputs to;
    std::set<std::string_view> names;
    for (auto const& [name, v] : first.variables)
        if (second.variables.contains(name)) names.insert(name);
    for (std::string_view const name : names) {
        value merged = merge(first.variables[name], second.variables[name], to, 0);
        frame_->variables[name] = std::move(merged);
    }
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
    return flow::next;
}

/// The state of a loop at the start of an iteration, inside the graph of its body: the same types, other values.
value interpreter::carry(value const& v, std::vector<program::value_index>& start,
                         std::vector<program::value_index>& inside, int depth) {
    if (depth > 20) fail("a variable of a loop is nested more than 20 levels deep");
    if (v.is == kind::tensor || v.is == kind::weight) {
        start.push_back(tensor_of(v));
        inside.push_back(copy_value(start.back()));
        return value::of(kind::tensor, inside.back());
    }
    if (v.is_number() || v.is == kind::symbol) {
        if (v.is_tensor) fail("carries a number as a tensor through a loop, which is not supported");
        program::value_kind const k = common_kind(v, v);
        value given = v;
        if (v.is == kind::boolean) given = add_python_node("torch.sym_not", {value::of(v.integer == 0)}, k, {});
        else if (v.is != kind::symbol)
            given = add_python_node(
                "_operator.add", {v, v.is == kind::real ? value::of(0.0) : value::of(std::int64_t{0})}, k, {});
        start.push_back(static_cast<program::value_index>(given.integer));
        inside.push_back(add_value("carried", k));
        if (k == program::value_kind::sym_int) out_.values[inside.back()].symbolic = fresh_extent();
        return value::of(kind::symbol, inside.back());
    }
    if (v.is == kind::list || v.is == kind::tuple) {
        std::vector<value> items;
        for (value const& each : v.list->items) items.push_back(carry(each, start, inside, depth + 1));
        value out = v.is == kind::list ? heap_.list(std::move(items)) : heap_.tuple(std::move(items));
        out.list->fields = v.list->fields;
        return out;
    }
    return v;
}

/// Adds the values of a variable at the end of an iteration to the outputs of the body, in the order of carry().
void interpreter::carry_on(std::string const& name, value const& before, value const& after,
                           std::vector<program::argument>& outputs) {
    if (before.is == kind::tensor) {
        if (after.is != kind::tensor && after.is != kind::weight)
            fail("the variable " + in_quotes(name) + " is " + std::string(describe(after)) +
                 " after an iteration that depends on data");
        program::value_index const v = tensor_of(after);
        inferred_type const old = type_of(static_cast<program::value_index>(before.integer));
        inferred_type const now = type_of(v);
        if (old.type != now.type || old.sizes != now.sizes)
            fail("the tensor " + in_quotes(name) + " changes its dtype or sizes in a loop that depends on data");
        return outputs.push_back(program::argument::of_tensor(v));
    }
    if (before.is == kind::symbol) {
        if (!after.is_number() && after.is != kind::symbol)
            fail("the variable " + in_quotes(name) + " is " + std::string(describe(after)) +
                 " after an iteration that depends on data");
        (void)common_kind(before, after);
        return outputs.push_back(program::argument::of_number(number_of(after)));
    }
    if ((before.is == kind::list || before.is == kind::tuple) && after.is == before.is &&
        after.list->items.size() == before.list->items.size()) {
        for (std::size_t i = 0; i != before.list->items.size(); ++i)
            carry_on(name, before.list->items[i], after.list->items[i], outputs);
        return;
    }
    if (!is_same(before, after))
        fail("the variable " + in_quotes(name) +
             " changes in a loop that depends on data, which is not supported for " + std::string(describe(before)));
}

interpreter::flow interpreter::run_while_loop(stmt const& s) {
    std::set<std::string> assigned;
    collect_assigned(s.body, assigned);
    std::vector<std::string> names;
    std::vector<program::value_index> start;
    std::vector<program::value_index> in_body;
    std::vector<program::value_index> in_test;
    std::unordered_map<std::string, value> body_state;
    std::unordered_map<std::string, value> test_state;
    for (std::string const& name : assigned) {
        auto const found = frame_->variables.find(name);
        if (found == frame_->variables.end()) continue;
        names.push_back(name);
        value const before = found->second;
        std::vector<program::value_index> same;
        body_state[name] = carry(before, start, in_body, 0);
        test_state[name] = carry(body_state[name], same, in_test, 0);
    }
    auto const enter = [&](std::unordered_map<std::string, value> const& state) {
        for (auto& [name, v] : frame_->variables)
            if (auto const found = state.find(std::string(name)); found != state.end()) v = found->second;
    };
    part test = interpret_apart([&] {
        enter(test_state);
        return evaluate(s.value);
    });
    part again = interpret_apart([&] {
        enter(body_state);
        if (run_block(s.body) == flow::returned) fail("returns inside a loop that depends on data");
        return value{};
    });
    line_ = s.line;
    std::vector<program::argument> outputs;
    for (std::string const& name : names) carry_on(name, body_state[name], again.variables[name], outputs);
    std::swap(out_.main.nodes, test.nodes);
    std::vector<program::argument> const tested{condition_argument(test.result)};
    std::swap(out_.main.nodes, test.nodes);
    program::node n;
    n.kind = program::node_kind::higher_order;
    n.op = "higher_order::while_loop";
    n.name = unique_name("while_loop");
    n.origin = origin_here();
    std::vector<program::value_index> captured = in_test;
    collect_free(test.nodes, tested, captured);
    captured.erase(captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(in_test.size()));
    captured.insert(captured.begin(), in_body.begin(), in_body.end());
    collect_free(again.nodes, outputs, captured);
    captured.erase(captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(in_body.size()));
    n.arguments.push_back(make_graph("cond_graph", in_test, captured, std::move(test.nodes), tested));
    n.arguments.push_back(make_graph("body_graph", in_body, captured, std::move(again.nodes), std::move(outputs)));
    n.arguments.push_back(program::argument::of_tensors({start.begin(), start.end()}));
    n.arguments.push_back(program::argument::of_tensors({captured.begin(), captured.end()}));
    std::vector<program::value_index> unused;
    std::vector<program::value_index> results;
    for (std::string const& name : names) {
        value const after = carry(body_state[name], unused, results, 0);
        frame_->variables.find(name)->second = after;
    }
    for (program::value_index const v : results) n.results.push_back({{v}, false});
    out_.main.nodes.push_back(std::move(n));
    return flow::next;
}

/// The count of `range(count)` if the model computes it.
std::optional<value> interpreter::open_count(expr const& over) {
    bool const is_range = over.is == expr_kind::call && over.items[0].is == expr_kind::name &&
                          over.items[0].text == "range" && over.items.size() == 2;
    if (!is_range) return {};
    value const count = evaluate(over.items[1]);
    return count.is == kind::symbol ? std::optional(count) : std::nullopt;
}

/// `for i in range(count)` as a loop over a counter: `while torch.lt(#1, #2): i = #1; ...; #1 = torch.add(#1, 1)`.
interpreter::flow interpreter::run_counted_loop(stmt const& s, value const& count) {
    auto const name = [&](std::string text) {
        expr e;
        e.is = expr_kind::name;
        e.line = s.line;
        e.text = std::move(text);
        return e;
    };
    auto const call = [&](std::string function, expr a, expr b) {
        expr callee;
        callee.is = expr_kind::attribute;
        callee.line = s.line;
        callee.text = std::move(function);
        callee.items.push_back(name("torch"));
        expr e;
        e.is = expr_kind::call;
        e.line = s.line;
        e.items = {std::move(callee), std::move(a), std::move(b)};
        return e;
    };
    auto const assignment = [&](expr to, expr from) {
        stmt made;
        made.is = stmt_kind::assign;
        made.line = s.line;
        made.targets.push_back(std::move(to));
        made.value = std::move(from);
        return made;
    };
    std::string const number = std::to_string(counted_.size());
    expr one;
    one.is = expr_kind::integer;
    one.integer = 1;
    expr const counter = name("#counter" + number);
    expr const end = name("#end" + number);
    stmt& loop = counted_.emplace_back(); // the names of variables point into it
    loop.is = stmt_kind::while_;
    loop.line = s.line;
    loop.value = call("lt", counter, end);
    loop.body.push_back(assignment(s.targets.at(0), counter));
    loop.body.insert(loop.body.end(), s.body.begin(), s.body.end());
    loop.body.push_back(assignment(counter, call("add", counter, one)));
    frame_->variables[loop.value.items[1].text] = value::of(std::int64_t{0});
    frame_->variables[loop.value.items[2].text] = count;
    return run_while_loop(loop);
}

} // namespace ATON_NAMESPACE::torchscript
