// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "autocast.hpp"
#include "node_arguments.hpp"
#include "node_emitter.hpp"
#include "vmap.hpp"
#include <aton/program/subgraphs.hpp>

namespace ATON_NAMESPACE::program {

namespace {

constexpr int max_nesting = 256;

/// Operators that compute the same as their first graph: gradient modes, checkpoints, regions that are compiled once, the forward graph of a
/// torch.autograd.Function.
bool is_wrapper(node const& n) {
    static constexpr std::string_view names[] = {"higher_order::wrap_with_set_grad_enabled",
                                                 "higher_order::wrap_with_autocast",
                                                 "higher_order::wrap_activation_checkpoint",
                                                 "higher_order::tag_activation_checkpoint",
                                                 "higher_order::autograd_function_apply",
                                                 "higher_order::dynamo_bypassing_wrapper",
                                                 "higher_order::hints_wrapper",
                                                 "higher_order::invoke_subgraph",
                                                 "higher_order::run_const_graph",
                                                 "higher_order::wrap",
                                                 "higher_order::strict_mode"};
    return n.kind == node_kind::higher_order && std::find(std::begin(names), std::end(names), n.op) != std::end(names);
}

/// Values of a wrapped graph to what replaces them: values of the outer graph, or numbers.
using substitution = std::unordered_map<value_index, argument>;

void substitute(number& n, substitution const& by) {
    auto const found = by.find(n.computed);
    if (found != by.end() && found->second.kind == argument_kind::number) n = found->second.number;
}

void substitute(argument& a, substitution const& by) {
    if (value_index const v = value_of(a); v != no_value) {
        if (auto const found = by.find(v); found != by.end()) a = argument(found->second).named(std::move(a.name));
        return;
    }
    if (a.kind == argument_kind::tensors)
        for (value_ref& each : a.tensors)
            if (auto const found = by.find(each); found != by.end()) each = found->second.tensor;
    if (a.kind == argument_kind::numbers)
        for (number& each : a.numbers) substitute(each, by);
}

class inliner {
public:
    inliner(program& p, autocast_regions hidden)
        : program_(p),
          out_(p, p.main.nodes.size() + count_nodes(p)),
          autocast_(std::move(hidden)) {}

    void run(graph& g) {
        substitution by;
        std::vector<node> const old = std::move(g.nodes);
        out_.nodes().clear();
        for (node const& each : old) add(each, by, 0);
        for (argument& each : g.outputs) substitute(each, by);
        g.nodes = std::move(out_.nodes());
        out_.nodes() = {};
    }

private:
    static std::size_t count_nodes(program const& p) {
        std::size_t count = 0;
        for (graph const& each : p.subgraphs) count += each.nodes.size();
        return count;
    }

    /// Adds a node after substituting its arguments; inlines it if it is a wrapper.
    void add(node n, substitution& by, int depth) {
        for (argument& each : n.arguments) substitute(each, by);
        if (!is_wrapper(n)) {
            cast_operands(out_, autocast_, n);
            return out_.append(std::move(n));
        }
        if (depth == max_nesting) throw error(describe(program_, n) + ": is nested too deeply");
        auto const wrapped = std::find_if(
            n.arguments.begin(), n.arguments.end(), [](argument const& a) { return a.kind == argument_kind::graph; });
        if (wrapped == n.arguments.end() || !subgraph_of(program_, *wrapped).has_value())
            throw error(describe(program_, n) + ": does not have a graph");
        autocast_regions around = autocast_;
        if (n.op == "higher_order::wrap_with_autocast") autocast_ = enter_autocast(program_, n, around);
        inline_graph(n, program_.subgraphs[static_cast<std::size_t>(wrapped->index)], operands(n, wrapped), by, depth);
        autocast_ = std::move(around);
    }

    /// The operands of the wrapped graph: the last arguments after it, except a second graph (the backward one) and dicts of hints.
    std::vector<argument> operands(node const& n, std::vector<argument>::const_iterator wrapped) const {
        std::size_t const count = program_.subgraphs[static_cast<std::size_t>(wrapped->index)].inputs.size();
        std::vector<argument> out;
        for (auto each = wrapped + 1; each != n.arguments.end(); ++each) {
            if (each->kind == argument_kind::tensors) {
                for (value_index v : each->tensors) out.push_back(value_argument(program_, v));
            } else if (each->name.empty() && each->kind != argument_kind::graph && each->kind != argument_kind::op &&
                       each->kind != argument_kind::other) {
                out.push_back(*each);
            }
        }
        if (out.size() < count) throw error(describe(program_, n) + ": has fewer operands than its graph has inputs");
        out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(count));
        return out;
    }

    void inline_graph(node const& call, graph const& wrapped, std::vector<argument> const& given, substitution& outside,
                      int depth) {
        substitution inside;
        for (std::size_t i = 0; i != wrapped.inputs.size(); ++i)
            if (wrapped.inputs[i] != no_value) inside.insert_or_assign(wrapped.inputs[i], given[i]);
        std::vector<value_index> results;
        for (result const& each : call.results) results.insert(results.end(), each.values.begin(), each.values.end());
        std::vector<argument> const returned = outputs_of(wrapped);
        if (returned.size() < results.size())
            throw error(describe(program_, call) + ": has more results than its graph has outputs");

        // A value that the graph returns gets the name of the result.
        std::unordered_map<value_index, value_index> names;
        for (std::size_t i = 0; i != results.size(); ++i)
            if (results[i] != no_value && value_of(returned[i]) != no_value)
                names.try_emplace(value_of(returned[i]), results[i]);
        for (node const& each : wrapped.nodes) add_inside(each, call, inside, names, depth);
        for (std::size_t i = 0; i != results.size(); ++i) {
            argument now = returned[i];
            substitute(now, inside);
            bool const is_itself = value_of(now) == results[i];
            if (results[i] != no_value && !is_itself) outside.insert_or_assign(results[i], std::move(now));
        }
    }

    static std::vector<argument> outputs_of(graph const& g) {
        std::vector<argument> out;
        for (argument const& each : g.outputs) {
            if (each.kind != argument_kind::tensors) {
                out.push_back(each);
                continue;
            }
            for (value_index v : each.tensors) out.push_back(tensor_argument({}, v));
        }
        return out;
    }

    void add_inside(node n, node const& call, substitution& inside,
                    std::unordered_map<value_index, value_index> const& names, int depth) {
        for (result& each : n.results) {
            for (value_index& v : each.values) {
                if (v == no_value) continue;
                auto const named = names.find(v);
                value_index const now = named != names.end() ? named->second : out_.fresh(v);
                value& outer = program_.values[now];
                if (!outer.has_type) {
                    value typed = program_.values[v];
                    typed.name = outer.name;
                    outer = std::move(typed);
                }
                inside.insert_or_assign(v, value_argument(program_, now));
                v = now;
            }
        }
        if (n.origin == 0) n.origin = call.origin;
        add(std::move(n), inside, depth + 1);
    }

    program& program_;
    node_emitter out_;
    autocast_regions autocast_; ///< around the node that is added
};

} // namespace

void inline_wrappers(program& p) {
    autocast_regions const hidden = hidden_autocast(p);
    auto const is_changed = [&](node const& n) { return is_wrapper(n) || is_cast(p, hidden, n); };
    auto const has_any = [&](graph const& g) { return std::any_of(g.nodes.begin(), g.nodes.end(), is_changed); };
    if (has_any(p.main) || std::any_of(p.subgraphs.begin(), p.subgraphs.end(), has_any)) {
        inliner in(p, hidden);
        for_each_graph(p, [&in](graph& g) { in.run(g); });
    }
    expand_vmap(p);
}

} // namespace ATON_NAMESPACE::program
