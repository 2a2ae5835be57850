// SPDX-License-Identifier: MIT
// Replaces nodes by constants: Constant nodes, nodes with constant inputs, and an If with a constant condition.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include <aton/ir/quantized.hpp>

#include "attributes.hpp"
#include "evaluate.hpp"
#include "rewriter.hpp"
#include "splice.hpp"
#include "weights.hpp"

namespace ATON_NAMESPACE::passes {

/// Turns a Constant node into an initializer, or replaces it by an equal one.
bool lift_constant(rewriter& r, graph_node& n) {
    if (n.attributes.size() != 1 || n.outputs.size() != 1) return false;
    node_attribute& a = n.attributes[0];
    tensor data;
    if (a.name == "value" && a.tensors.size() == 1) {
        data = std::move(a.tensors[0]);
    } else if (a.name == "value_int") {
        data = scalar_tensor(a.i, dtype::int64);
    } else if (a.name == "value_float") {
        data = scalar_tensor(a.f, dtype::float32);
    } else if (a.name == "value_ints") {
        data = int64_tensor(a.ints);
    } else if (a.name == "value_floats") {
        data = {dtype::float32, {static_cast<std::int64_t>(a.floats.size())}, {}};
        for (float f : a.floats) data.append(f);
    } else {
        return false;
    }
    value_id const out = n.outputs[0];
    value_id const made = r.add_constant(std::move(data), r.graph().values[out].name.empty() ? no_value : out);
    if (made != out) r.replace(out, made);
    return true;
}

namespace {

/// How many bytes a computed weight may add to the file. Interpolation takes long: a table of positions may grow more.
std::uint64_t max_growth(graph_node const& n) {
    return n.op == "Resize" ? std::uint64_t{4} << 20U : std::uint64_t{65536};
}

/// Whether a node makes reals of an integer weight. Those of half precision are computed: runtimes round the products of the formula less.
bool dequantizes(rewriter const& r, graph_node const& n) {
    if (n.op != "Cast" || n.outputs.size() != 1) return false;
    dtype const to = r.type(n.outputs[0]).dtype;
    if (to != dtype::float32 && !(r.is_first_sweep() && is_floating(to))) return false;
    dtype const from = r.type(n.inputs[0]).dtype;
    return from != dtype::bool_ && bits(from) <= 32 && !is_floating(from) &&
           r.shape_of(n.inputs[0]).element_count_or(0) >= quantized_ir::min_weight_elements;
}

/// Whether computing the results of a node on large constants makes the file smaller, or hardly larger.
bool is_worth_computing(rewriter& r, graph_node const& n) {
    std::uint64_t result = 0;
    for (value_id id : n.outputs) {
        if (id == no_value) continue;
        shape const& s = r.shape_of(id);
        if (!s.is_static() || r.type(id).dtype == dtype::undefined) return false;
        result += static_cast<std::uint64_t>(s.element_count()) * bits(r.type(id).dtype) / 8;
    }
    std::uint64_t freed = 0;
    std::vector<value_id> ids = n.inputs;
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (value_id id : ids) {
        if (id == no_value) continue;
        auto const here = std::count(n.inputs.begin(), n.inputs.end(), id);
        if (static_cast<std::int64_t>(r.uses(id)) != here || !r.weights().is_only_used_here(id)) continue;
        if (stored_tensor const* const s = r.stored(id); s != nullptr) freed += s->byte_count();
        else if (tensor const* const t = r.constant(id); t != nullptr) freed += t->bytes.size();
    }
    return result <= freed + max_growth(n) && r.may_compute(result);
}

} // namespace

bool fold_constants(rewriter& r, graph_node& n) {
    bool const split = n.op == "Split";
    evaluator const evaluate = split ? nullptr : find_evaluator(n.op);
    if ((evaluate == nullptr && !split) || n.inputs.empty() || n.inputs[0] == no_value) return false;
    if (evaluate != nullptr && n.outputs.size() != 1) return false;
    if (r.options().keeps_integers && dequantizes(r, n)) return false;
    if (std::ranges::any_of(n.attributes, [](node_attribute const& a) { return !a.reference.empty(); })) return false;
    bool is_large = false;
    for (value_id id : n.inputs) {
        if (id == no_value) continue;
        // rewrite_weight handles layout operators on weights, so that the weight stays in its file and keeps its name.
        stored_tensor const* const s = r.stored(id);
        tensor const* const t = r.weights().loaded(id);
        if (s != nullptr && is_floating(s->type) && is_layout_operator(n) && (n.op != "Gather" || t == nullptr))
            return false;
        if (t == nullptr && (s == nullptr || split || !r.options().rewrite_weights || r.is_first_sweep())) return false;
        if (bits(r.type(id).dtype) < 8 || (t != nullptr && !is_movable(*t))) return false;
        is_large = is_large || t == nullptr || !small_count(t->sizes, t->type);
    }
    if (is_large && !is_worth_computing(r, n)) return false;
    std::int64_t const max_bytes = is_large ? max_computed_bytes : max_constant_bytes;
    std::deque<tensor> read; // weights, for this node only
    std::vector<tensor const*> inputs;
    for (value_id id : n.inputs) {
        tensor const* t = r.weights().loaded(id);
        if (t == nullptr && id != no_value) {
            std::optional<tensor> weight = load_weight(*r.stored(id), static_cast<std::uint64_t>(max_bytes));
            if (!weight) return false;
            t = &read.emplace_back(std::move(*weight));
        }
        inputs.push_back(t);
    }
    constant_call const call{n, inputs, r.graph().opset, max_bytes};
    std::vector<tensor> results;
    if (split) {
        auto parts = evaluate_split(call);
        if (!parts) return false;
        results = std::move(*parts);
    } else {
        evaluated result = evaluate(call);
        if (!result || !call.count(result->sizes, result->type)) return false;
        results.push_back(std::move(*result));
    }
    for (std::size_t i = 0; i != results.size(); ++i) {
        // The recorded type takes precedence: if the result contradicts it, do not fold.
        value_type const& known = r.type(n.outputs[i]);
        if (known.dtype != dtype::undefined && known.dtype != results[i].type) return false;
        if (known.shape.has_rank() && known.shape.rank() != results[i].sizes.size()) return false;
    }
    for (std::size_t i = 0; i != results.size(); ++i) r.replace(n.outputs[i], r.add_constant(std::move(results[i])));
    return true;
}

/// Replaces an If with a constant condition by the nodes of its branch.
bool inline_branch(rewriter& r, graph_node& n) {
    tensor const* const condition = r.constant(input(n, 0));
    if (condition == nullptr || condition->bytes.size() != 1) return false;
    node_attribute const* const a = n.attribute(condition->bytes[0] != 0 ? "then_branch" : "else_branch");
    if (a == nullptr || a->graphs.size() != 1) return false;
    graph_data const& branch = a->graphs[0];
    if (branch.outputs.size() != n.outputs.size() || !branch.inputs.empty()) return false;
    if (std::find(branch.outputs.begin(), branch.outputs.end(), no_value) != branch.outputs.end()) return false;
    std::vector<value_id> ids;
    for (graph_value const& v : branch.values) ids.push_back(v.outer == no_value ? unassigned : v.outer);
    std::vector<graph_node> nodes = splice(r.graph(), branch, ids, n);
    r.grow();
    for (graph_node& made : nodes) r.count_uses(made);
    for (std::size_t i = 0; i != n.outputs.size(); ++i)
        if (n.outputs[i] != no_value) r.replace(n.outputs[i], ids[branch.outputs[i]]);
    r.expand({std::move(nodes), r.rewrite_depth()});
    return true;
}

} // namespace ATON_NAMESPACE::passes
