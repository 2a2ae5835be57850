// SPDX-License-Identifier: MIT
// Replaces dtypes for which ONNX Runtime's CPU provider has no kernels by wider ones, which have; ir/kernels.hpp chooses them.
#include "widening.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/kernels.hpp>
#include <aton/passes/passes.hpp>

#include "attributes.hpp"
#include "draws.hpp"

namespace ATON_NAMESPACE {

namespace passes {

namespace {

using dtype_changes = std::vector<kernels::replaced_dtype>;

/// Operators with an attribute that is the dtype of their first result.
struct dtype_attribute {
    std::string_view ops; ///< separated by blanks
    std::string_view name;
    bool is_default_dependent; ///< without it, the dtype is that of an input, or float32
};
constexpr dtype_attribute dtype_attributes[] = {
    {" Bernoulli EyeLike Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike ", "dtype", true},
    {" DequantizeLinear QuantizeLinear ", "output_dtype", false},
    {" BlackmanWindow HammingWindow HannWindow MelWeightMatrix ", "output_datatype", true},
};

/// Casts operands and results of the nodes of one graph.
class widening {
public:
    explicit widening(graph_data& graph) : graph_(graph) {}

    /// `choose` gives nothing for a node that stays. Returns whether a node was changed.
    template <class Choice>
    bool run(Choice const& choose) {
        bool has_changed = false;
        std::vector<graph_node> nodes = std::exchange(graph_.nodes, {});
        for (graph_node& n : nodes) {
            std::optional<dtype_changes> const how = choose(n);
            has_changed = has_changed || how;
            if (how) widen(std::move(n), *how);
            else append(std::move(n));
        }
        return has_changed;
    }

private:
    [[nodiscard]] bool has_dtype(value_id id, dtype type) const {
        return id != no_value && set_of(graph_.values[id].type) == tensors(type);
    }

    [[nodiscard]] value_id with_dtype(value_id id, dtype type) {
        value_type wide = graph_.values[id].type;
        wide.dtype = type;
        return graph_.add_value(std::move(wide));
    }

    void append(graph_node n) {
        for (value_id id : n.outputs)
            if (id != no_value) graph_.values[id].producer = static_cast<std::int64_t>(graph_.nodes.size());
        graph_.nodes.push_back(std::move(n));
    }

    void cast(value_id from, value_id to, graph_node const& like) {
        graph_node n;
        n.op = "Cast";
        n.inputs = {from};
        n.outputs = {to};
        set_int_attribute(n, "to", static_cast<std::int64_t>(graph_.values[to].type.dtype));
        n.source = like.source;
        n.origin = like.origin;
        append(std::move(n));
    }

    void widen(graph_node n, dtype_changes const& how) {
        graph_node like; // the origin of its casts
        like.source = n.source;
        like.origin = n.origin;
        std::vector<std::pair<value_id, value_id>> casts;
        for (kernels::replaced_dtype const& change : how)
            for (std::size_t i = 0; i != n.inputs.size(); ++i) {
                value_id& id = n.inputs[i];
                if (!change.operands.has_input(i) || !has_dtype(id, change.narrow)) continue;
                auto known = std::find_if(casts.begin(), casts.end(), [&](auto const& each) {
                    return each.first == id && has_dtype(each.second, change.wide);
                });
                if (known == casts.end()) {
                    known = casts.insert(known, {id, with_dtype(id, change.wide)});
                    cast(known->first, known->second, like);
                }
                id = known->second;
            }
        casts.clear();
        for (kernels::replaced_dtype const& change : how)
            for (std::size_t i = 0; i != n.outputs.size(); ++i) {
                value_id& id = n.outputs[i];
                if (!change.operands.has_result(i) || !has_dtype(id, change.narrow)) continue;
                casts.emplace_back(with_dtype(id, change.wide), id);
                id = casts.back().first;
            }
        set_dtype_attribute(n);
        append(std::move(n));
        for (auto const& [wide, id] : casts) cast(wide, id, like);
    }

    void set_dtype_attribute(graph_node& n) const {
        for (dtype_attribute const& a : dtype_attributes)
            if (kernels::detail::is_one_of(a.ops, n.op) && (a.is_default_dependent || n.attribute(a.name) != nullptr))
                set_int_attribute(n, a.name, static_cast<std::int64_t>(graph_.values[n.outputs[0]].type.dtype));
    }

    graph_data& graph_;
};

/// The changes that a node needs, if none is of a float that must stay.
std::optional<dtype_changes> changes_of(graph_data const& graph, graph_node const& n, int opset, type_set floats) {
    if (kernels::runs(graph, n, opset)) return {};
    std::optional<dtype_changes> how = kernels::wider_kernel(graph, n, opset);
    auto const must_stay = [&](kernels::replaced_dtype const& change) {
        return (change.narrow == dtype::float16 || change.narrow == dtype::bfloat16) && !floats.contains(change.narrow);
    };
    if (how && std::any_of(how->begin(), how->end(), must_stay)) how.reset();
    return how;
}

bool widen(graph_data& graph, int opset, type_set floats, bool with_draws) {
    bool has_changed = false;
    for (graph_node& n : graph.nodes)
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) has_changed = widen(nested, opset, floats, with_draws) || has_changed;
    return widening(graph).run([&](graph_node const& n) {
        return with_draws || !draws_random_numbers(n) ? changes_of(graph, n, opset, floats)
                                                      : std::optional<dtype_changes>();
    }) || has_changed;
}

} // namespace

void widen_before_rewrites(graph_data& graph) { widen(graph, graph.opset, hidden_floats(graph), false); }

} // namespace passes

type_set hidden_floats(graph_data const& graph) {
    type_set hidden = tensors(dtype::float16, dtype::bfloat16);
    auto const see = [&](value_id id) {
        if (id != no_value) hidden.plain &= ~(std::uint64_t{1} << static_cast<unsigned>(graph.values[id].type.dtype));
    };
    std::for_each(graph.inputs.begin(), graph.inputs.end(), see);
    std::for_each(graph.outputs.begin(), graph.outputs.end(), see);
    for (graph_initializer const& i : graph.initializers) see(i.value);
    return hidden;
}

bool needs_wider_dtypes(graph_data const& graph, type_set floats, int opset) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](graph_node const& n) {
        return passes::changes_of(graph, n, opset, floats) ||
               std::any_of(n.attributes.begin(), n.attributes.end(), [&](node_attribute const& a) {
                   return std::any_of(a.graphs.begin(), a.graphs.end(), [&](graph_data const& nested) {
                       return needs_wider_dtypes(nested, floats, opset);
                   });
               });
    });
}

bool widen_dtypes(graph_data& graph, type_set floats) { return passes::widen(graph, graph.opset, floats, true); }

} // namespace ATON_NAMESPACE
