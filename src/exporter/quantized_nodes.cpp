// SPDX-License-Identifier: MIT
#include "quantized_nodes.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <aton/ir/kernels.hpp>

#include "make_attribute.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

value_type type_of(dtype type, std::vector<std::int64_t> const& sizes) {
    return {type, shape(std::vector<dim>(sizes.begin(), sizes.end()))};
}

} // namespace

bool has_bits_kernel(std::string_view op, dtype type, int opset) {
    graph_data g;
    graph_node n;
    n.domain = microsoft;
    n.op = op;
    value_id const data = g.add_value(value_type{dtype::uint8, {}});
    value_id const other = g.add_value(value_type{op == "MatMulNBits" ? type : dtype::int64, {}});
    n.inputs = op == "MatMulNBits" ? std::vector{other, data} : std::vector{data, other};
    n.inputs.push_back(g.add_value(value_type{type, {}}));
    n.outputs = {g.add_value(value_type{type, {}})};
    return kernels::runs(g, n, opset);
}

quantized_nodes::quantized_nodes(exported_graph& made, quantize_options const& options, bool for_onnxruntime,
                                 bool shares_bytes)
    : stored_(made.rewritten),
      graph_(made.graph),
      options_(options),
      for_onnxruntime_(for_onnxruntime),
      shares_bytes_(shares_bytes) {
    for (graph_value const& v : graph_.values) names_.insert(v.name);
}

void quantized_nodes::append(graph_node n) {
    for (value_id const id : n.outputs)
        if (id != no_value) graph_.values[id].producer = static_cast<std::int64_t>(graph_.nodes.size());
    graph_.nodes.push_back(std::move(n));
}

value_id quantized_nodes::append(graph_node const& like, std::string_view domain, std::string_view op,
                                 std::vector<value_id> inputs, value_id result,
                                 std::vector<node_attribute> attributes) {
    graph_node n;
    n.domain = domain;
    n.op = op;
    n.inputs = std::move(inputs);
    n.outputs = {result};
    n.attributes = std::move(attributes);
    n.source = like.source;
    n.origin = like.origin;
    append(std::move(n));
    return result;
}

value_id quantized_nodes::add(stored_tensor tensor, std::string const& name) {
    stored_tensor const& kept = stored_.emplace_back(std::move(tensor));
    std::string free = name;
    for (int k = 1; !names_.insert(free).second; ++k) free = name + "." + std::to_string(k);
    value_id const id = graph_.add_value(type_of(kept.type, kept.sizes), std::move(free));
    graph_.set_initializer(id, aton::tensor{}, &kept);
    return id;
}

void quantized_nodes::add_scales(integer_matrix& m) {
    if (m.scales != no_value) return;
    m.scales = add(m.matrix.scales(), m.name + ".scales");
    if (options_.how.symmetric) return;
    m.zero_points =
        add(for_onnxruntime_ ? m.matrix.packed_zero_points() : m.matrix.zero_points(), m.name + ".zero_points");
}

void quantized_nodes::add_blocks(integer_matrix& m) {
    add_scales(m);
    if (m.blocks == no_value) m.blocks = add(m.matrix.packed_blocks(), m.name + ".quantized");
}

void quantized_nodes::add_rows(integer_matrix& m, graph_node const& n) {
    add_scales(m);
    if (m.rows != no_value) return;
    stored_tensor rows = m.matrix.packed_rows();
    if (shares_bytes_ || !m.has_products || rows.computed != m.matrix.packed_blocks().computed) {
        m.rows = add(std::move(rows), m.name + ".quantized_rows");
        return;
    }
    add_blocks(m);
    aton::tensor sizes{dtype::int64, {2}, {}};
    for (std::int64_t const s : rows.sizes) sizes.append(s);
    value_id const to = graph_.add_value(type_of(dtype::int64, {2}));
    graph_.set_initializer(to, std::move(sizes));
    m.rows = append(n, "", "Reshape", {m.blocks, to}, graph_.add_value(type_of(dtype::uint8, rows.sizes)));
}

void quantized_nodes::add_elements(integer_matrix& m) {
    add_scales(m);
    if (m.elements == no_value) m.elements = add(m.matrix.integers(), m.name + ".quantized");
}

void quantized_nodes::append_product(graph_node const& n, integer_matrix& m) {
    if (for_onnxruntime_) return append_n_bits(n, m);
    stored_tensor const& rows = m.matrix.rows();
    if (m.dequantized == no_value) {
        add_elements(m);
        std::vector<value_id> inputs{m.elements, m.scales};
        if (m.zero_points != no_value) inputs.push_back(m.zero_points);
        // Along axis 0, which would need no Transpose, ONNX Runtime 1.29 computes wrong numbers from 4 bits.
        m.dequantized = append(n,
                               "",
                               "DequantizeLinear",
                               std::move(inputs),
                               graph_.add_value(type_of(rows.type, rows.sizes)),
                               {make_attribute("axis", std::int64_t{1}), make_attribute("block_size", m.block())});
    }
    graph_node product = n;
    std::erase_if(product.attributes, [](node_attribute const& a) { return a.name == "transB"; });
    if (n.op == "Gemm") {
        product.attributes.push_back(make_attribute("transB", std::int64_t{1}));
        product.inputs[1] = m.dequantized;
        return append(std::move(product));
    }
    if (m.transposed == no_value) {
        node_attribute perm = make_attribute("perm", onnx::attr_type::ints);
        perm.ints = {1, 0};
        m.transposed = append(n,
                              "",
                              "Transpose",
                              {m.dequantized},
                              graph_.add_value(type_of(rows.type, {rows.sizes[1], rows.sizes[0]})),
                              {std::move(perm)});
    }
    product.inputs[1] = m.transposed;
    append(std::move(product));
}

/// alpha * (a @ b) + c, where only the product is certain to be there.
void quantized_nodes::append_n_bits(graph_node const& n, integer_matrix& m) {
    add_blocks(m);
    graph_.import_domain(microsoft, 1);
    stored_tensor const& rows = m.matrix.rows();
    value_id const result = n.outputs[0];
    float const alpha = float_of(n, "alpha", 1);
    value_id const bias = n.op == "Gemm" && n.inputs.size() > 2 ? n.inputs[2] : no_value;
    bool const has_row =
        bias != no_value && alpha == 1.0F && graph_.values[bias].type == type_of(rows.type, {rows.sizes[0]});
    bool const adds = bias != no_value && !has_row;
    auto const intermediate = [&] { return graph_.add_value(graph_.values[result].type); };
    std::vector<value_id> inputs{n.inputs[0], m.blocks, m.scales};
    if (has_row || m.zero_points != no_value) inputs.push_back(m.zero_points);
    if (has_row) inputs.insert(inputs.end(), {no_value, bias}); // g_idx is obsolete
    std::vector<node_attribute> attributes{make_attribute("K", rows.sizes[1]),
                                           make_attribute("N", rows.sizes[0]),
                                           make_attribute("bits", std::int64_t{options_.how.bits}),
                                           make_attribute("block_size", m.block())};
    if (options_.accuracy_level != 0)
        attributes.push_back(make_attribute("accuracy_level", std::int64_t{options_.accuracy_level}));
    value_id made = append(n,
                           microsoft,
                           "MatMulNBits",
                           std::move(inputs),
                           adds || alpha != 1.0F ? intermediate() : result,
                           std::move(attributes));
    if (alpha != 1.0F) {
        aton::tensor factor{rows.type, {}, {}};
        factor.append(static_cast<double>(alpha));
        value_id const by = graph_.add_value(type_of(rows.type, {}));
        graph_.set_initializer(by, std::move(factor));
        made = append(n, "", "Mul", {made, by}, adds ? intermediate() : result);
    }
    if (adds) append(n, "", "Add", {made, bias}, result);
}

void quantized_nodes::append_lookup(graph_node const& n, integer_matrix& m) {
    value_id const result = n.outputs[0];
    if (for_onnxruntime_) {
        add_rows(m, n);
        graph_.import_domain(microsoft, 1);
        std::vector<value_id> inputs{m.rows, n.inputs[1], m.scales};
        if (m.zero_points != no_value) inputs.push_back(m.zero_points);
        append(n,
               microsoft,
               "GatherBlockQuantized",
               std::move(inputs),
               result,
               {make_attribute("bits", std::int64_t{options_.how.bits}),
                make_attribute("block_size", m.block()),
                make_attribute("gather_axis", std::int64_t{0}),
                make_attribute("quantize_axis", std::int64_t{1})});
        return;
    }
    add_elements(m);
    std::vector<value_id> inputs;
    for (value_id const from : {m.elements, m.scales, m.zero_points}) {
        if (from == no_value) continue;
        value_type type = graph_.values[result].type;
        type.dtype = graph_.values[from].type.dtype;
        if (type.shape.has_rank()) {
            std::vector<dim> dims(type.shape.dims().begin(), type.shape.dims().end());
            dims.back() = graph_.values[from].type.shape[1];
            type.shape = shape(dims);
        }
        inputs.push_back(append(n, "", "Gather", {from, n.inputs[1]}, graph_.add_value(std::move(type))));
    }
    append(n,
           "",
           "DequantizeLinear",
           std::move(inputs),
           result,
           {make_attribute("axis", std::int64_t{-1}), make_attribute("block_size", m.block())});
}

} // namespace ATON_NAMESPACE::exporter
