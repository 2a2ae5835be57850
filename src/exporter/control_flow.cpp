// SPDX-License-Identifier: MIT
// Converts higher-order operators: their dispatch, their graphs, and torch.cond. Loops are in loops.cpp.
#include "inner_graph.hpp"
#include "result_types.hpp"

#include <algorithm>
#include <iterator>

namespace ATON_NAMESPACE::exporter {

namespace {

/// Restores the old value at the end of the scope.
template <class T>
class restored {
public:
    explicit restored(T& place) : place_(place), old_(place) {}
    restored(restored const&) = delete;
    restored& operator=(restored const&) = delete;
    ~restored() { place_ = std::move(old_); }

private:
    T& place_;
    T old_;
};

/// The value of a condition that is known at export.
std::optional<bool> truth_of(binding const& b) {
    if (b.number.has_value()) return b.number->is_bool() ? std::optional(b.number->to<bool>()) : std::nullopt;
    if (!b.computed || b.computed->dtype() != dtype::bool_ || !b.computed->is_constant() ||
        b.computed->constant().element_count() != 1)
        return std::nullopt;
    return b.computed->constant<bool>();
}

} // namespace

void converter::convert_higher_order(program::node const& n) {
    restored<std::uint32_t> const around(caller_);
    caller_ = origin_index(n);
    graph_->context.overload = n.op;
    if (n.op == "higher_order::cond") return convert_cond(n);
    if (n.op == "higher_order::while_loop") return convert_while_loop(n, false);
    if (n.op == "higher_order::while_loop_stack_output") return convert_while_loop(n, true);
    if (n.op == "higher_order::scan") return convert_scan(n);
    if (n.op == "higher_order::map_impl") return convert_map(n);
    if (n.op == "higher_order::associative_scan") return convert_associative_scan(n);
    throw unsupported_error("no mapping");
}

program::graph const& converter::graph_argument(program::node const& n, std::size_t position) const {
    if (position < n.arguments.size() && n.arguments[position].kind == program::argument_kind::graph) {
        std::int64_t const index = n.arguments[position].index;
        if (index >= 0 && static_cast<std::size_t>(index) < program_.subgraphs.size())
            return program_.subgraphs[static_cast<std::size_t>(index)];
    }
    throw unsupported_error("argument " + std::to_string(position) + " is not a graph");
}

/// The name of a graph argument.
std::string converter::graph_name(program::node const& n, std::size_t position) {
    std::string const& name = n.arguments[position].text;
    return name.empty() ? "graph" : name;
}

std::vector<binding> converter::list_of(program::node const& n, std::size_t position) const {
    bool const is_given = position < n.arguments.size() && n.arguments[position].kind != program::argument_kind::none;
    return is_given ? bound_list(n.arguments[position]) : std::vector<binding>();
}

/// Converts the nodes of a graph into the one under construction. Returns its outputs in order.
std::vector<binding> converter::results_of(program::graph const& g, std::vector<binding> given) {
    if (given.size() != g.inputs.size())
        throw unsupported_error("its graph takes " + std::to_string(g.inputs.size()) +
                                " values, but the program passes " + std::to_string(given.size()));
    restored<node_context> const context(graph_->context);
    for (std::size_t i = 0; i != given.size(); ++i)
        if (g.inputs[i] != program::no_value) bind(g.inputs[i], std::move(given[i]));
    for (program::node const& n : g.nodes) convert(n);
    std::vector<binding> out;
    for (program::argument const& a : g.outputs) {
        std::vector<binding> each = bound_list(a);
        std::move(each.begin(), each.end(), std::back_inserter(out));
    }
    return out;
}

/// Converts a binding to a type, as far as it is known. Numbers promote as in Python: bool to int to float.
dsl::value converter::typed(binding const& b, value_type const& wanted, std::string_view subject) {
    if (!b.computed && !b.number.has_value()) throw unsupported_error(b.missing);
    if (!b.number.has_value()) return conform(*b.computed, wanted, subject);
    value_type const given{dtype_of(*b.number), shape(std::vector<dim>()), value_kind::tensor};
    if (wanted.dtype == dtype::undefined) return as_value(b, given.dtype);
    if (kind_of(given.dtype) > kind_of(wanted.dtype) || (wanted.shape.has_rank() && wanted.shape.rank() != 0))
        throw unsupported_error(mismatch(subject, given, wanted));
    return as_value(b, wanted.dtype);
}

/// The value of a condition, which must be a single bool.
dsl::value converter::condition_of(binding const& b) {
    dsl::value const v = typed(b, {}, "the condition is");
    bool const is_one = !v.has_rank() || !v.shape().is_static() || v.shape().element_count() == 1;
    bool const is_bool = v.dtype() == dtype::bool_ || v.dtype() == dtype::undefined;
    if (!is_bool || !is_one)
        throw unsupported_error("its condition is " + describe(v.type()) + ", but must be a single bool");
    return v;
}

/// Appends a node with outputs for these values of the program. no_value is an unused output, which ONNX Runtime requires.
void converter::append_node(program::node const& n, graph_node made, std::vector<program::value_index> const& results) {
    made.source = n.op;
    made.origin = graph_->context.origin;
    auto const index = static_cast<std::int64_t>(graph_->nodes.size());
    for (program::value_index v : results) {
        bool const is_used = v != program::no_value;
        value_id const id =
            is_used ? graph_->add_value(type_of(v), program_.values[v].name) : graph_->add_value(value_type());
        graph_->values[id].producer = index;
        made.outputs.push_back(id);
        if (is_used) bind(v, {dsl::value(*graph_, id), {}, {}});
    }
    graph_->nodes.push_back(std::move(made));
}

/// Converts to If, whose branches capture the operands. If the condition is known at export, only its branch is emitted.
void converter::convert_cond(program::node const& n) {
    binding const which = n.arguments.empty() ? binding{{}, {}, "it has no condition"} : bound(n.arguments[0]);
    if (!which.computed && !which.number.has_value()) throw unsupported_error(which.missing);
    program::graph const* const branches[] = {&graph_argument(n, 1), &graph_argument(n, 2)};
    std::vector<binding> const operands = list_of(n, 3);
    std::vector<program::value_index> results = result_values(n);
    auto const result_of_branch = [&](binding const& given, program::value_index wanted) -> binding {
        if (!given.computed) return given;
        return {conform(*given.computed, type_of(wanted), "a branch returns"), {}, {}};
    };
    auto const check = [&](std::vector<binding> const& given) {
        if (given.size() < results.size())
            throw unsupported_error("a branch returns " + std::to_string(given.size()) +
                                    " values, but the program has " + std::to_string(results.size()));
    };
    if (std::optional<bool> const known = truth_of(which); known.has_value()) {
        std::vector<binding> given = results_of(*branches[*known ? 0 : 1], operands);
        check(given);
        for (std::size_t i = 0; i != results.size(); ++i)
            if (results[i] != program::no_value) bind(results[i], result_of_branch(given[i], results[i]));
        return;
    }
    graph_node made;
    made.op = "If";
    made.inputs = {captured(condition_of(which))};
    for (std::size_t i = 0; i != 2; ++i) {
        inner_graph inner(*this, graph_name(n, i + 1));
        std::vector<binding> const given = results_of(*branches[i], operands);
        check(given);
        for (std::size_t k = 0; k != results.size(); ++k)
            if (results[k] != program::no_value)
                inner.add_output(typed(given[k], type_of(results[k]), "a branch returns"));
        made.attributes.push_back(inner.take(i == 0 ? "then_branch" : "else_branch"));
    }
    std::erase(results, program::no_value);
    if (!results.empty()) append_node(n, std::move(made), results);
}

} // namespace ATON_NAMESPACE::exporter
