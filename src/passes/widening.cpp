// SPDX-License-Identifier: MIT
// Replaces dtypes for which ONNX Runtime's CPU provider has no kernels: bools and small integers of some operators, and all arithmetic of
// bfloat16 in programs without bfloat16 inputs, outputs and weights.
#include "widening.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::passes {

namespace {

/// The dtype in which a node is computed instead of another one.
struct wider_dtype {
    dtype narrow = dtype::undefined;
    dtype wide = dtype::undefined;
    std::size_t first_operand = 0; ///< operands before it keep their dtype
};

/// Casts operands and results of the nodes of one graph.
class widening {
public:
    explicit widening(graph_data& graph) : graph_(graph) {}

    /// `choose` gives nothing for a node that stays.
    template <class Choice>
    void run(Choice const& choose) {
        std::vector<graph_node> nodes = std::exchange(graph_.nodes, {});
        for (graph_node& n : nodes) {
            std::optional<wider_dtype> const how = choose(n);
            if (how) widen(std::move(n), *how);
            else append(std::move(n));
        }
    }

private:
    [[nodiscard]] bool has_dtype(value_id id, dtype type) const {
        return id != no_value && graph_.values[id].type.dtype == type;
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

    void widen(graph_node n, wider_dtype const& how) {
        graph_node like; // the origin of its casts
        like.source = n.source;
        like.origin = n.origin;
        std::vector<std::pair<value_id, value_id>> casts;
        for (std::size_t i = how.first_operand; i < n.inputs.size(); ++i) {
            value_id& id = n.inputs[i];
            if (!has_dtype(id, how.narrow)) continue;
            auto known = std::find_if(casts.begin(), casts.end(), [&](auto const& each) { return each.first == id; });
            if (known == casts.end()) {
                known = casts.insert(known, {id, with_dtype(id, how.wide)});
                cast(known->first, known->second, how.wide, like);
            }
            id = known->second;
        }
        casts.clear();
        for (value_id& id : n.outputs) {
            if (!has_dtype(id, how.narrow)) continue;
            casts.emplace_back(with_dtype(id, how.wide), id);
            id = casts.back().first;
        }
        append(std::move(n));
        for (auto const& [wide, id] : casts) cast(wide, id, how.narrow, like);
    }

    graph_data& graph_;
};

bool is_one_of(std::string_view list, std::string const& op) { // separated by blanks
    return list.find(' ' + op + ' ') != std::string_view::npos;
}

/// Operators without kernels for some dtypes, which those of a wider one replace exactly.
struct missing_kernels {
    std::string_view ops;
    std::initializer_list<dtype> narrow;
    dtype wide;
    std::size_t operand = 0; ///< the first of the dtype in question
};

/// Of ONNX Runtime 1.31.
constexpr missing_kernels missing[] = {
    {" Where ", {dtype::bool_}, dtype::uint8, 1},
    {" Where ", {dtype::int16, dtype::uint16}, dtype::int32, 1},
    {" ArgMax ArgMin Clip Max Min Pad Relu Trilu ", {dtype::int16, dtype::uint16}, dtype::int32},
    {" Trilu ", {dtype::int8, dtype::uint8}, dtype::int32},
    {" Trilu ArgMax ArgMin ", {dtype::uint32}, dtype::int64},
    {" NonZero ",
     {dtype::int8, dtype::int16, dtype::uint16, dtype::uint32, dtype::uint64, dtype::float64},
     dtype::bool_},
    {" Unique ", {dtype::bool_, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32, dtype::uint32}, dtype::int64},
};

/// Operators that ATen computes in float32 and rounds once, and those that only move elements but have no kernel.
constexpr std::string_view with_bfloat16 =
    " Abs Add Ceil Cos CumSum Div Equal Erf Exp Expand Floor Greater GreaterOrEqual Less LessOrEqual Log LogSoftmax"
    " MatMul Max Min Mul Neg Pow Reciprocal ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Relu Round Sigmoid Sin"
    " Softmax Sqrt Sub Tanh Tile Where ";

} // namespace

void widen_integers(graph_data& graph) {
    for (graph_node& n : graph.nodes)
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) widen_integers(nested);
    widening(graph).run([&](graph_node const& n) -> std::optional<wider_dtype> {
        if (!n.domain.empty()) return {};
        for (missing_kernels const& m : missing) {
            if (!is_one_of(m.ops, n.op) || m.operand >= n.inputs.size() || n.inputs[m.operand] == no_value) continue;
            dtype const type = graph.values[n.inputs[m.operand]].type.dtype;
            if (std::find(m.narrow.begin(), m.narrow.end(), type) == m.narrow.end()) continue;
            return wider_dtype{type, m.wide, m.operand};
        }
        return {};
    });
}

void widen_bfloat16(graph_data& graph) {
    auto const is_bfloat16 = [](graph_value const& v) { return v.type.dtype == dtype::bfloat16; };
    if (std::none_of(graph.values.begin(), graph.values.end(), is_bfloat16)) return;
    auto const is_narrow = [&](value_id id) { return id != no_value && is_bfloat16(graph.values[id]); };
    bool const is_visible = std::any_of(graph.inputs.begin(), graph.inputs.end(), is_narrow) ||
                            std::any_of(graph.outputs.begin(), graph.outputs.end(), is_narrow) ||
                            std::any_of(graph.initializers.begin(),
                                        graph.initializers.end(),
                                        [&](graph_initializer const& i) { return is_narrow(i.value); });
    if (is_visible) return;
    widening(graph).run([&](graph_node const& n) -> std::optional<wider_dtype> {
        bool const has_narrow = std::any_of(n.inputs.begin(), n.inputs.end(), is_narrow);
        if (!has_narrow || !n.domain.empty() || !is_one_of(with_bfloat16, n.op)) return {};
        return wider_dtype{dtype::bfloat16, dtype::float32};
    });
}

} // namespace ATON_NAMESPACE::passes
