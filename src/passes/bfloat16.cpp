// SPDX-License-Identifier: MIT
// Replaces bfloat16 arithmetic in programs without bfloat16 inputs, outputs and weights: ONNX Runtime's CPU provider has none.
#include "bfloat16.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::passes {

namespace {

/// Separated by blanks: operators that ATen computes in float32 and rounds once, and those that only move elements but have no kernel.
constexpr std::string_view widened =
    " Abs Add Ceil Cos CumSum Div Equal Erf Exp Expand Floor Greater GreaterOrEqual Less LessOrEqual Log LogSoftmax"
    " MatMul Max Min Mul Neg Pow Reciprocal ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu Round Sigmoid Sin"
    " Softmax Sqrt Sub Tanh Tile Where ";

bool is_widened(graph_node const& n) {
    return n.domain.empty() && widened.find(' ' + n.op + ' ') != std::string_view::npos;
}

class widening {
public:
    explicit widening(graph_data& graph) : graph_(graph) {}

    void run() {
        std::vector<graph_node> nodes = std::exchange(graph_.nodes, {});
        for (graph_node& n : nodes) {
            bool const narrow =
                std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id id) { return is_narrow(id); });
            if (narrow && is_widened(n)) widen(std::move(n));
            else append(std::move(n));
        }
    }

    [[nodiscard]] bool is_narrow(value_id id) const {
        return id != no_value && graph_.values[id].type.dtype == dtype::bfloat16;
    }

private:
    void append(graph_node n) {
        for (value_id id : n.outputs)
            if (id != no_value) graph_.values[id].producer = static_cast<std::int64_t>(graph_.nodes.size());
        graph_.nodes.push_back(std::move(n));
    }
    void cast(value_id from, value_id to, dtype type, graph_node const& like) {
        graph_node n;
        n.op = "Cast";
        n.inputs = {from};
        n.outputs = {to};
        node_attribute& a = n.attributes.emplace_back();
        a.name = "to";
        a.type = onnx::attr_type::i;
        a.i = static_cast<std::int64_t>(type);
        n.source = like.source;
        n.origin = like.origin;
        append(std::move(n));
    }
    value_id as_float32(value_id id) {
        value_type type = graph_.values[id].type;
        type.dtype = dtype::float32;
        return graph_.add_value(std::move(type));
    }
    void widen(graph_node n) {
        std::vector<std::pair<value_id, value_id>> results;
        for (value_id& id : n.inputs) {
            if (!is_narrow(id)) continue;
            value_id const wide = as_float32(id);
            cast(id, wide, dtype::float32, n);
            id = wide;
        }
        for (value_id& id : n.outputs) {
            if (!is_narrow(id)) continue;
            results.emplace_back(as_float32(id), id);
            id = results.back().first;
        }
        graph_node like; // the origin of its casts
        like.source = n.source;
        like.origin = n.origin;
        append(std::move(n));
        for (auto const& [wide, id] : results) cast(wide, id, dtype::bfloat16, like);
    }

    graph_data& graph_;
};

} // namespace

void widen_bfloat16(graph_data& graph) {
    auto const is_bfloat16 = [](graph_value const& v) { return v.type.dtype == dtype::bfloat16; };
    if (std::none_of(graph.values.begin(), graph.values.end(), is_bfloat16)) return;
    widening w(graph);
    auto const narrow = [&](value_id id) { return w.is_narrow(id); };
    bool const is_visible = std::any_of(graph.inputs.begin(), graph.inputs.end(), narrow) ||
                            std::any_of(graph.outputs.begin(), graph.outputs.end(), narrow) ||
                            std::any_of(graph.initializers.begin(),
                                        graph.initializers.end(),
                                        [&](graph_initializer const& i) { return narrow(i.value); });
    if (!is_visible) w.run();
}

} // namespace ATON_NAMESPACE::passes
