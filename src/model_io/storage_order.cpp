// SPDX-License-Identifier: MIT
// Finds weights that are a permutation of a contiguous block of bytes, and adds Transpose nodes for them.
#include "storage_order.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "stored_reader.hpp"

namespace ATON_NAMESPACE::detail {

namespace {

/// The dtypes of Transpose: bfloat16 since opset 13, float8 since 21 (float8_e8m0 is newer and counts as unsupported).
bool can_be_transposed(dtype t, int opset) {
    if (t >= dtype::float8_e4m3fn && t <= dtype::float8_e5m2fnuz) return opset >= 21;
    return t != dtype::float8_e8m0 && (t != dtype::bfloat16 || opset >= 13);
}

stored_tensor in_storage_order(stored_tensor const& t, std::vector<std::size_t> const& order) {
    stored_tensor out{t.type, {}, {t.parts[0]}};
    for (std::size_t d : order) out.sizes.push_back(t.sizes[d]);
    stored_part& part = out.parts[0];
    part.sizes = out.sizes;
    part.strides.assign(out.sizes.size(), 1);
    for (std::size_t i = out.sizes.size(); i-- > 1;) part.strides[i - 1] = part.strides[i] * out.sizes[i];
    return out;
}

graph_node transpose(value_id from, value_id to, std::vector<std::size_t> const& order) {
    node_attribute perm;
    perm.name = "perm";
    perm.type = onnx::attr_type::ints;
    perm.ints.resize(order.size());
    for (std::size_t i = 0; i != order.size(); ++i) perm.ints[order[i]] = static_cast<std::int64_t>(i);
    graph_node n;
    n.op = "Transpose";
    n.inputs = {from};
    n.outputs = {to};
    n.attributes.push_back(std::move(perm));
    return n;
}

} // namespace

std::optional<std::vector<std::size_t>> storage_order(stored_tensor const& t) {
    if (t.parts.size() != 1 || !t.parts[0].is_unchanged() || t.parts[0].sizes != t.sizes || stored_bytes(t) == 0)
        return {};
    stored_part const& part = t.parts[0];
    std::vector<std::size_t> order(t.sizes.size());
    std::iota(order.begin(), order.end(), 0);
    auto const is_one = [&](std::size_t d) { return part.sizes[d] == 1; }; // whose stride is irrelevant
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (is_one(a) || is_one(b) || part.strides[a] == part.strides[b])
            return is_one(a) != is_one(b) ? is_one(a) : a < b;
        return part.strides[a] > part.strides[b];
    });
    std::int64_t expected = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        if (!is_one(order[i]) && part.strides[order[i]] != expected) return {};
        expected *= part.sizes[order[i]];
    }
    if (part.is_contiguous()) return {};
    return order;
}

std::optional<graph_data> with_transposes(graph_data const& graph, std::deque<stored_tensor>& views,
                                          std::function<bool(stored_tensor const&)> const& is_wanted) {
    std::optional<graph_data> out;
    std::vector<graph_node> made;
    for (std::size_t k = 0; k != graph.initializers.size(); ++k) {
        value_id const id = graph.initializers[k].value;
        stored_tensor const* const stored = graph.initializers[k].stored;
        if (stored == nullptr || id >= graph.values.size() || !can_be_transposed(stored->type, graph.opset) ||
            !is_wanted(*stored))
            continue;
        if (std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end()) continue;
        auto const order = storage_order(*stored);
        if (!order) continue;
        if (!out) out = graph;
        stored_tensor const& view = views.emplace_back(in_storage_order(*stored, *order));
        graph_value& transposed = out->values[id];
        std::vector<dim> const sizes(stored->sizes.begin(), stored->sizes.end());
        std::vector<dim> const stored_sizes(view.sizes.begin(), view.sizes.end());
        transposed.type = {stored->type, shape(sizes), value_kind::tensor};
        value_id const raw = out->add_value({stored->type, shape(stored_sizes), value_kind::tensor},
                                            transposed.name.empty() ? std::string() : transposed.name + ".stored");
        out->values[raw].initializer = static_cast<std::int64_t>(k);
        out->initializers[k] = {raw, {}, &view};
        transposed.initializer = -1;
        made.push_back(transpose(raw, id, *order));
    }
    if (!out) return out;
    // the new nodes come first, which shifts the indices of the others
    auto const count = static_cast<std::int64_t>(made.size());
    for (graph_value& v : out->values)
        if (v.producer >= 0) v.producer += count;
    for (std::size_t k = 0; k != made.size(); ++k)
        out->values[made[k].outputs[0]].producer = static_cast<std::int64_t>(k);
    out->nodes.insert(out->nodes.begin(), std::make_move_iterator(made.begin()), std::make_move_iterator(made.end()));
    return out;
}

} // namespace ATON_NAMESPACE::detail
