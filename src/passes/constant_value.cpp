// SPDX-License-Identifier: MIT
// Evaluates values of a graph under construction that depend on constants only.
#include <aton/passes/passes.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "evaluate.hpp"

namespace ATON_NAMESPACE {

namespace {

/// Follows a value to its operands. The nodes of a graph may form long chains: what takes more nodes is not a constant.
class constant_search {
public:
    explicit constant_search(graph_data const& graph) : graph_(graph) {}

    tensor const* find(value_id id) {
        if (tensor const* const known = graph_.constant(id); known != nullptr) return known;
        auto const [at, is_new] = found_.try_emplace(id);
        if (is_new && nodes_left_ != 0) {
            --nodes_left_;
            at->second = computed(id);
        }
        return at->second ? &*at->second : nullptr;
    }

private:
    std::optional<tensor> computed(value_id id) {
        graph_value const& v = graph_.values[id];
        if (v.producer < 0) return v.outer == no_value || graph_.around == nullptr ? std::nullopt : outer(v.outer);
        graph_node const& n = graph_.nodes[static_cast<std::size_t>(v.producer)];
        bool const splits = n.op == "Split";
        passes::evaluator const evaluate = splits ? nullptr : passes::find_evaluator(n.op);
        if (!n.domain.empty() || n.inputs.empty() || (evaluate == nullptr && !splits)) return {};
        if (std::ranges::any_of(n.attributes, [](node_attribute const& a) { return !a.reference.empty(); })) return {};
        std::vector<tensor const*> inputs;
        for (value_id const input : n.inputs) {
            tensor const* const known = input == no_value ? nullptr : find(input);
            bool const fits = known != nullptr && passes::is_movable(*known) &&
                              passes::small_count(known->sizes, known->type).has_value();
            if (input != no_value && !fits) return {};
            inputs.push_back(known);
        }
        passes::constant_call const call{n, inputs, graph_.opset};
        std::optional<tensor> out;
        if (splits) {
            auto const at = static_cast<std::size_t>(std::ranges::find(n.outputs, id) - n.outputs.begin());
            if (auto parts = passes::evaluate_split(call); parts && at < parts->size()) out = std::move((*parts)[at]);
        } else if (n.outputs.size() == 1) {
            out = evaluate(call);
        }
        bool const fits = out && passes::small_count(out->sizes, out->type).has_value() &&
                          (v.type.dtype == dtype::undefined || v.type.dtype == out->type);
        return fits ? std::move(out) : std::nullopt;
    }

    [[nodiscard]] std::optional<tensor> outer(value_id id) const { return constant_of(*graph_.around, id); }

    graph_data const& graph_;
    std::map<value_id, std::optional<tensor>> found_;
    std::size_t nodes_left_ = 256;
};

} // namespace

std::optional<tensor> constant_of(graph_data const& graph, value_id id) {
    constant_search search(graph);
    tensor const* const found = search.find(id);
    return found == nullptr ? std::nullopt : std::optional(*found);
}

} // namespace ATON_NAMESPACE
