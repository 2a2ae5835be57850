// SPDX-License-Identifier: MIT
// Replaces the nodes whose integers a runtime computes through floating point, or compares wrongly, unless their numbers are small.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/einsum_equation.hpp>
#include <aton/ir/producers.hpp>
#include <aton/passes/passes.hpp>

#include "attributes.hpp"
#include "integer_ranges.hpp"
#include "splice.hpp"

namespace ATON_NAMESPACE {

namespace passes {

namespace {

using onnx::integer_arithmetic;
using onnx::integer_calls;
using onnx::integer_kernel;

constexpr double exact_in_float64 = 9007199254740992; // 2^53
constexpr double exact_in_float32 = 16777216;         // 2^24

/// The axes of an operand of Einsum that are summed alone.
std::vector<std::int64_t> lone_axes(graph_data const& graph, graph_node const& n, std::size_t operand) {
    std::vector<shape> shapes;
    for (value_id const id : n.inputs) shapes.push_back(graph.values[id].type.shape);
    node_attribute const* const equation = n.attribute("equation");
    auto const indices = equation == nullptr ? std::nullopt : read_einsum(equation->s, shapes);
    if (!indices) return {};
    std::vector<std::int64_t> out;
    std::string const& letters = indices->operands[operand];
    for (std::size_t axis = 0; axis != letters.size(); ++axis)
        if (indices->is_summed_alone(letters[axis], shapes)) out.push_back(static_cast<std::int64_t>(axis));
    return out;
}

/// What one graph computes inexactly. The graph does not change while it is asked.
class inexact_nodes {
public:
    inexact_nodes(graph_data const& graph, std::span<integer_kernel const> kernels, integer_ranges& ranges)
        : graph_(graph),
          kernels_(kernels),
          ranges_(ranges) {}

    [[nodiscard]] bool contain(graph_node const& n) {
        if (!plain_domain(n.domain).empty() || n.inputs.empty() || n.inputs[0] == no_value || n.outputs.size() != 1)
            return false;
        value_type const& type = graph_.values[n.inputs[0]].type;
        if (type.kind != value_kind::tensor || !is_integral(type.dtype)) return false;
        return std::any_of(kernels_.begin(), kernels_.end(), [&](integer_kernel const& k) {
            return k.op == n.op && is_about(k, n) && k.types.contains(type.dtype) && !is_exact(k, n);
        });
    }

private:
    [[nodiscard]] bool is_about(integer_kernel const& k, graph_node const& n) const {
        switch (k.calls) {
        case integer_calls::all: return true;
        case integer_calls::truncating: return int_attribute(n, "fmod", 0) != 0;
        case integer_calls::lone_sums: return true;
        case integer_calls::interpolating: {
            node_attribute const* const mode = n.attribute("mode");
            return mode != nullptr && mode->s != "nearest";
        }
        }
        return true;
    }

    [[nodiscard]] bool is_exact(integer_kernel const& k, graph_node const& n) {
        if (k.how == integer_arithmetic::by_signed_halves) {
            integer_range const all = range_of(dtype::int32);
            bool const reduces = n.op.starts_with("Reduce");
            std::int64_t const elements = graph_.values[n.outputs[0]].type.shape.element_count_or(-1);
            if (!reduces && elements >= 0 && elements <= 1) return true; // not a vector
            std::size_t const count = reduces ? 1 : n.inputs.size();
            for (std::size_t i = 0; i != count; ++i)
                if (n.inputs[i] != no_value && !ranges_.of(n.inputs[i]).within(all.low, all.high)) return false;
            return true;
        }
        double const limit = k.how == integer_arithmetic::in_float64 ? exact_in_float64 : exact_in_float32;
        if (n.op == "Mod" || n.op == "Range") return magnitude(n, 0) <= limit && magnitude(n, 1) <= limit;
        double const most = range_of(graph_.values[n.inputs[0]].type.dtype).high;
        return greatest(n) <= std::min(limit, most);
    }

    [[nodiscard]] double magnitude(graph_node const& n, std::size_t operand) {
        return ranges_.of(input(n, operand)).magnitude();
    }

    /// The greatest number that a node computes on its way.
    [[nodiscard]] double greatest(graph_node const& n) {
        double const x = magnitude(n, 0);
        if (n.op == "Pow") {
            integer_range const exponent = ranges_.of(input(n, 1));
            return exponent.low < 0 ? INFINITY : std::max(x, std::pow(x, exponent.high));
        }
        if (n.op == "Einsum") {
            double most = 0;
            for (std::size_t i = 0; i != n.inputs.size(); ++i)
                if (std::vector<std::int64_t> const axes = lone_axes(graph_, n, i); !axes.empty())
                    most = std::max(most, magnitude(n, i) * ranges_.count_along(n.inputs[i], axes));
            return most;
        }
        std::optional<std::vector<std::int64_t>> axes;
        if (!n.op.starts_with("Reduce")) return x;
        double const count = read_axes(graph_, n, axes) ? ranges_.count_along(n.inputs[0], axes) : max_elements;
        if (n.op == "ReduceProd") {
            if (ranges_.are_sizes_of_one_tensor(n.inputs[0])) return max_elements;
            return x <= 1 ? x : std::pow(x, count);
        }
        return std::max(1.0, count) * (n.op == "ReduceSumSquare" ? x * x : x);
    }

    graph_data const& graph_;
    std::span<integer_kernel const> kernels_;
    integer_ranges& ranges_;
};

/// A node in a graph of its own, whose inputs are the operands of the node.
struct single_node {
    graph_data graph;
    graph_node node;
    std::vector<value_id> ids; ///< by value of `graph`: the value of the outer graph, or unassigned

    single_node(graph_data const& from, graph_node const& n) : node(n) {
        constexpr std::int64_t max_elements_read = 1 << 16;
        graph.opset = from.opset;
        for (value_id& id : node.inputs) {
            if (id == no_value) continue;
            value_id const outer = id;
            auto const known = std::find(ids.begin(), ids.end(), outer);
            id = static_cast<value_id>(known - ids.begin());
            if (known != ids.end()) continue;
            graph.add_value(from.values[outer].type);
            ids.push_back(outer);
            tensor const* const t = from.constant(outer);
            if (t != nullptr && t->element_count() <= max_elements_read) graph.set_initializer(id, *t);
        }
    }

    /// The nodes of the form, which compute the result of the node in `to`; none if there is no form.
    std::vector<graph_node> build(exact_form form, graph_data& to) {
        value_id result = no_value;
        try {
            result = form(graph, node);
        } catch (refused const&) { // the node stays
            return {};
        }
        if (result >= graph.values.size() || graph.values[result].producer < 0) return {};
        ids.resize(graph.values.size(), unassigned);
        std::erase_if(graph.initializers, [&](graph_initializer const& i) { return ids[i.value] != unassigned; });
        ids[result] = node.outputs[0];
        return splice(to, std::move(graph), ids, node);
    }
};

bool replace_nodes(graph_data& graph, std::span<integer_kernel const> kernels, exact_form form, integer_ranges* outer,
                   bool counts_iterations) {
    integer_ranges ranges(graph, outer, counts_iterations);
    inexact_nodes inexact(graph, kernels, ranges);
    bool changed = false;
    std::vector<std::uint8_t> marked;
    for (graph_node& n : graph.nodes) {
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs)
                changed = replace_nodes(nested, kernels, form, &ranges, n.op == "Loop") || changed;
        marked.push_back(inexact.contain(n));
    }
    if (std::find(marked.begin(), marked.end(), 1) == marked.end()) return changed;
    std::vector<graph_node> replacements;
    std::vector<std::size_t> first(graph.nodes.size() + 1);
    for (std::size_t i = 0; i != graph.nodes.size(); ++i) {
        first[i] = replacements.size();
        if (marked[i] == 0) continue;
        std::vector<graph_node> nodes = single_node(graph, graph.nodes[i]).build(form, graph);
        std::move(nodes.begin(), nodes.end(), std::back_inserter(replacements));
    }
    first.back() = replacements.size();
    if (replacements.empty()) return changed;
    std::vector<graph_node> nodes = std::exchange(graph.nodes, {});
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        if (first[i] == first[i + 1]) graph.nodes.push_back(std::move(nodes[i]));
        for (std::size_t k = first[i]; k != first[i + 1]; ++k) graph.nodes.push_back(std::move(replacements[k]));
    }
    number_producers(graph);
    return true;
}

} // namespace

} // namespace passes

bool use_exact_integers(graph_data& graph, std::span<onnx::integer_kernel const> kernels, exact_form build) {
    return passes::replace_nodes(graph, kernels, build, nullptr, false);
}

} // namespace ATON_NAMESPACE
