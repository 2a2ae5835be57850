// SPDX-License-Identifier: MIT
#include "quantized_weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/ir/producers.hpp>
#include <aton/ir/quantized.hpp>

#include "evaluate.hpp"
#include "quantized_constants.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

namespace ir = quantized_ir;

/// Whether a line of constants changes reals that were integers.
class weight_trees {
public:
    explicit weight_trees(graph_data const& graph, constants_of const& constants)
        : graph_(graph),
          constants_(constants) {
        has_integers_.resize(graph.values.size());
        for (graph_node const& n : graph.nodes) {
            if (n.outputs.size() != 1 || !constants.contain(n.outputs[0])) continue;
            bool const makes_reals = n.op == "Cast" && n.domain.empty() && is_integer(n.inputs[0]);
            has_integers_[n.outputs[0]] =
                makes_reals || n.domain == ir::domain || std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id i) {
                    return i != no_value && has_integers_[i];
                });
        }
    }

    /// Whether a value is a weight of enough reals that are computed of integers, and more than Dequantize of them.
    [[nodiscard]] bool contain(value_id id) const {
        if (id == no_value || !has_integers_[id] || !constants_.contain(id)) return false;
        value_type const& type = graph_.values[id].type;
        bool const is_real = type.dtype == dtype::float32 || type.dtype == dtype::float16;
        if (!is_real || type.shape.element_count_or(0) < ir::min_weight_elements) return false;
        graph_node const* const n = constants_.producer(id);
        if (n == nullptr || !ir::is(*n, ir::dequantize)) return n != nullptr;
        return constants_.producer(n->inputs[ir::data]) != nullptr; // its numbers are computed
    }

private:
    [[nodiscard]] bool is_integer(value_id id) const {
        dtype const type = graph_.values[id].type.dtype;
        return is_integral(type) && type != dtype::bool_ && graph_.values[id].type.shape.element_count_or(0) > 1;
    }

    graph_data const& graph_;
    constants_of const& constants_;
    std::vector<bool> has_integers_; ///< by value
};

/// Numbers as int8 or uint8; nothing if they are in neither.
std::optional<tensor> as_bytes(tensor const& from, ir::integer_limits& range) {
    auto const count = static_cast<std::size_t>(from.element_count());
    range = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    for (std::size_t i = 0; i != count; ++i) {
        auto const n = from.at(i).to<std::int64_t>();
        range.low = std::min(range.low, n);
        range.high = std::max(range.high, n);
    }
    bool const is_signed = range.low >= -128 && range.high <= 127 && !(range.low >= 0 && from.type == dtype::uint8);
    if (!is_signed && (range.low < 0 || range.high > 255)) return {};
    return from.to(is_signed ? dtype::int8 : dtype::uint8);
}

/// One of each block of numbers that are equal in it.
tensor reduced(std::vector<float> const& all, std::vector<std::int64_t> const& sizes, scale_layout const& to) {
    tensor whole{dtype::float32, sizes, {}};
    for (float const x : all) detail::append_bytes(whole.bytes, x);
    std::vector<std::int64_t> strides = dense_strides(sizes);
    if (!to.axis) return take(whole, {}, {}, 0);
    auto const axis = static_cast<std::size_t>(*to.axis);
    if (to.block == 0) return take(whole, {sizes[axis]}, std::vector{strides[axis]}, 0);
    std::vector<std::int64_t> fewer = sizes;
    fewer[axis] /= to.block;
    strides[axis] *= to.block;
    return take(whole, fewer, strides, 0);
}

/// The dtype of zero points: that of the numbers if it holds them.
tensor integers_of(tensor const& zeros, dtype numbers) {
    ir::integer_limits const limits = ir::limits_of(numbers);
    for (std::size_t i = 0; i != static_cast<std::size_t>(zeros.element_count()); ++i) {
        float const z = zeros.at(i).to<float>();
        if (std::nearbyint(z) != z || z < static_cast<float>(limits.low) || z > static_cast<float>(limits.high))
            return zeros;
    }
    return zeros.to(numbers);
}

/// Whether a weight is what the graph computes, as far as that is known. Two products are rounded in another order.
bool gives(affine_weight const& w, std::optional<tensor> const& computed) {
    constexpr float tolerance = 1e-6F;
    if (!computed) return true; // with a Dequantize node, which is exact
    for (std::size_t i = 0; i != w.scales.size(); ++i) {
        float x = (w.numbers.at(i).to<float>() - w.zero_points[i]) * w.scales[i];
        if (w.type == dtype::float16) x = detail::half_to_float(detail::float_to_half(x));
        float const y = computed->at(i).to<float>();
        if (!(std::abs(x - y) <= tolerance * std::abs(y))) return false;
    }
    return true;
}

class recognizer {
public:
    explicit recognizer(graph_data& graph) : graph_(graph), constants_(graph), trees_(graph, constants_) {
        for (graph_value const& v : graph.values) names_.insert(v.name);
    }

    void run() {
        for (std::size_t i = 0; i != graph_.nodes.size(); ++i) {
            graph_node& n = graph_.nodes[i];
            if (n.outputs.size() == 1 && constants_.contain(n.outputs[0])) continue;
            for (value_id& in : n.inputs)
                if (trees_.contain(in)) in = replacement_of(in, i);
        }
        if (made_.empty()) return;
        std::vector<graph_node> nodes;
        auto next = made_.begin();
        for (std::size_t i = 0; i != graph_.nodes.size(); ++i) {
            for (; next != made_.end() && next->first == i; ++next) nodes.push_back(std::move(next->second));
            nodes.push_back(std::move(graph_.nodes[i]));
        }
        graph_.nodes = std::move(nodes);
        number_producers(graph_);
    }

private:
    value_id replacement_of(value_id id, std::size_t node) {
        auto const [at, is_new] = known_.try_emplace(id, id);
        if (!is_new) return at->second;
        std::optional<affine_weight> w = constants_.affine(id);
        bool const is_product = graph_.nodes[node].op == "MatMul" || graph_.nodes[node].op == "Gemm";
        if (!w || !(w->is_scaled || is_product) || !gives(*w, constants_.elements(id))) return id; // scaled afterwards
        auto layout = layout_of(*w);
        // ONNX Runtime makes MatMulNBits of a scale for each column, and not of one scale.
        if (!w->is_scaled && w->numbers.sizes.size() == 2) layout = scale_layout{1, 0};
        ir::integer_limits range;
        std::optional<tensor> numbers = as_bytes(w->numbers, range);
        if (!layout || !numbers) return id;
        return at->second = append(id, std::move(*numbers), *w, *layout, range, node);
    }

    value_id append(value_id id, tensor numbers, affine_weight const& w, scale_layout const& layout,
                    ir::integer_limits range, std::size_t node) {
        std::string const name = leaf_name(id);
        dtype const type = numbers.type;
        graph_node n;
        n.domain = ir::domain;
        n.op = ir::dequantize;
        n.source = constants_.producer(id)->source;
        n.origin = constants_.producer(id)->origin;
        std::vector<std::int64_t> const sizes = numbers.sizes;
        tensor zeros = integers_of(reduced(w.zero_points, sizes, layout), type);
        n.inputs = {add(std::move(numbers), name + ".quantized"),
                    add(reduced(w.scales, sizes, layout).to(w.type), name + ".scales"),
                    add(std::move(zeros), name + ".zero_points")};
        n.attributes = ir::attributes_of({type, range.low, range.high, layout.axis, layout.block});
        value_type result = graph_.values[id].type;
        dtype const wanted = std::exchange(result.dtype, w.type);
        n.outputs = {graph_.add_value(result)};
        if (wanted == w.type) return made_.emplace_back(node, std::move(n)).second.outputs[0];
        graph_node cast;
        cast.op = "Cast";
        cast.inputs = n.outputs;
        cast.source = n.source;
        cast.origin = n.origin;
        cast.attributes = {ir::integer_attribute("to", static_cast<std::int64_t>(wanted))};
        cast.outputs = {graph_.add_value(graph_.values[id].type)};
        made_.emplace_back(node, std::move(n));
        return made_.emplace_back(node, std::move(cast)).second.outputs[0];
    }

    value_id add(tensor t, std::string const& name) {
        std::string free = name;
        for (int k = 1; !names_.insert(free).second; ++k) free = name + "." + std::to_string(k);
        value_type type{t.type, shape(std::vector<dim>(t.sizes.begin(), t.sizes.end()))};
        value_id const id = graph_.add_value(std::move(type), std::move(free));
        graph_.set_initializer(id, std::move(t));
        return id;
    }

    /// The name of the weight with the most elements in a line of constants.
    std::string leaf_name(value_id id) const {
        for (int depth = 0; depth != max_constant_depth; ++depth) {
            graph_node const* const n = constants_.producer(id);
            if (n == nullptr || n->inputs.empty()) break;
            std::int64_t most = -1;
            for (value_id const in : n->inputs) {
                if (in == no_value) continue;
                std::int64_t const count = graph_.values[in].type.shape.element_count_or(0);
                if (count > most) id = in;
                most = std::max(most, count);
            }
        }
        std::string const& name = graph_.values[id].name;
        return name.empty() ? "weight" : name;
    }

    graph_data& graph_;
    constants_of constants_;
    weight_trees trees_;
    std::set<std::string, std::less<>> names_;
    std::unordered_map<value_id, value_id> known_;
    std::vector<std::pair<std::size_t, graph_node>> made_; ///< before which node
};

} // namespace

void recognize_quantized_weights(graph_data& graph) { recognizer(graph).run(); }

} // namespace ATON_NAMESPACE::passes
