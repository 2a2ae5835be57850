// SPDX-License-Identifier: MIT
// Convolutions and products of matrices whose operands are quantized, in the form that runtimes compute with integers.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "quantized_product.hpp"

namespace ATON_NAMESPACE::exporter {

namespace ir = quantized_ir;

namespace {

/// A matrix with its axes swapped.
tensor turned(tensor const& t) {
    tensor out{t.type, {t.sizes[1], t.sizes[0]}, {}};
    auto const width = static_cast<std::size_t>(bits(t.type)) / 8;
    auto const rows = static_cast<std::size_t>(t.sizes[0]);
    auto const columns = static_cast<std::size_t>(t.sizes[1]);
    out.bytes.resize(t.bytes.size());
    for (std::size_t i = 0; i != rows; ++i)
        for (std::size_t k = 0; k != columns; ++k)
            std::copy_n(t.bytes.data() + (i * columns + k) * width, width, out.bytes.data() + (k * rows + i) * width);
    return out;
}

} // namespace

/// Why these operands are not multiplied as integers.
std::string product::operand_reason() const {
    if (left_ == nullptr) return "its input is not quantized";
    if (right_ == nullptr) return "its weight is not quantized";
    for (graph_node const* const d : {left_, right_}) {
        if (d->inputs.size() > ir::table) return "its weight is a table of numbers";
        dtype const type = ir::type_of(*d);
        if (type != dtype::int8 && type != dtype::uint8) return "there is no kernel for " + std::string(name(type));
        if (ir::number(*d, ir::block_attribute, 0) != 0) return "its weight has a scale for each block";
    }
    if (ir::has_axis(*left_) || g_.type(left_->inputs[ir::scale]).shape.element_count_or(2) != 1)
        return "its input has several scales";
    return {};
}

/// Why MatMulInteger does not take the weight, whose scales must be along this axis.
std::string product::weight_reason(std::int64_t axis) const {
    if (!is_weight()) return "its weight is computed";
    if (!has_integer_zero_points()) return "its zero points are not integers of the dtype";
    if (!ir::has_axis(*right_)) return {};
    if (ir::number(*right_, ir::axis_attribute, 0) != axis)
        return "the scales of its weight are not those of its output";
    return {};
}

/// Whether all that reads a value is Quantize.
bool product::feeds_quantize(value_id id) const {
    auto const readers = g_.readers(id);
    return readers && !readers->empty() && std::all_of(readers->begin(), readers->end(), [&](std::size_t i) {
               return ir::is(g_.node(i), ir::quantize);
           });
}

bool product::has_zero_points(graph_node const& d) const {
    value_id const id = ir::input_of(d, ir::zero_point);
    if (id == no_value) return false;
    auto const zeros = g_.constant(id);
    if (!zeros) return true;
    for (std::size_t i = 0; i != static_cast<std::size_t>(zeros->element_count()); ++i)
        if (zeros->at(i).to<double>() != 0) return true;
    return false;
}

/// The zero points of numbers in their dtype.
value_id product::zero_points_of(graph_node const& d) {
    dtype const type = ir::type_of(d);
    value_id const id = ir::input_of(d, ir::zero_point);
    if (id == no_value) {
        tensor zero{type, {}, {}};
        zero.append(0);
        return g_.add_constant(std::move(zero));
    }
    auto const known = g_.constant(id);
    return g_.type(id).dtype == type || !known ? id : g_.add_constant(known->to(type));
}

/// Whether MatMulInteger takes the zero points.
bool product::has_integer_zero_points() const {
    for (graph_node const* const d : {left_, right_}) {
        value_id const id = ir::input_of(*d, ir::zero_point);
        if (id == no_value) continue;
        auto const known = g_.constant(id);
        if (!known && g_.type(id).dtype != ir::type_of(*d)) return false;
        ir::integer_limits const limits = ir::limits_of(ir::type_of(*d));
        for (std::int64_t i = 0; known && i != known->element_count(); ++i) {
            double const z = known->at(static_cast<std::size_t>(i)).to<double>();
            if (std::nearbyint(z) != z || z < static_cast<double>(limits.low) || z > static_cast<double>(limits.high))
                return false;
        }
    }
    return true;
}

/// Numbers and zero points of both operands.
std::vector<value_id> product::integer_operands() {
    std::vector<value_id> out{left_->inputs[ir::data], right_->inputs[ir::data], zero_points_of(*left_)};
    if (has_zero_points(*right_)) out.push_back(zero_points_of(*right_));
    return out;
}

/// The scale of the product: one, or one for each channel; nothing if it is not known.
std::optional<std::vector<float>> product::scales() const {
    auto const input = g_.constant(left_->inputs[ir::scale]);
    auto const weight = g_.constant(right_->inputs[ir::scale]);
    if (!input || !weight || input->element_count() != 1) return {};
    std::vector<float> out;
    for (std::size_t i = 0; i != static_cast<std::size_t>(weight->element_count()); ++i)
        out.push_back(input->at(0).to<float>() * weight->at(i).to<float>());
    return out;
}

/// The node that adds a bias of one dimension to the product, and that bias; the product itself if there is none.
std::size_t product::sum_after(value_id& bias) const {
    if (n_.op == "Gemm") {
        bias = n_.inputs.size() > 2 ? n_.inputs[2] : no_value;
        return at_;
    }
    auto const readers = g_.readers(n_.outputs[0]);
    if (!readers || readers->size() != 1) return at_;
    graph_node const& sum = g_.node((*readers)[0]);
    if (sum.op != "Add" || !sum.domain.empty() || sum.inputs[0] == sum.inputs[1]) return at_;
    value_id const other = sum.inputs[sum.inputs[0] == n_.outputs[0] ? 1 : 0];
    value_type const& type = g_.type(other);
    value_type const& own = g_.type(n_.outputs[0]);
    if (!type.shape.has_rank() || type.shape.rank() != 1 || !own.shape.has_rank() || own.shape.rank() < 2) return at_;
    dim const& width = own.shape[own.shape.rank() - 1];
    if (!width.is_static() || !(type.shape[0] == width)) return at_;
    bias = other;
    return (*readers)[0];
}

std::string product::write_matrices() {
    if (!is_plain_gemm()) return "it has a factor";
    value_id bias = no_value;
    std::size_t const last = sum_after(bias);
    bool const is_vector = bias == no_value || g_.type(bias).shape.rank() == 1;
    if (!has_constant_scale()) {
        std::int64_t const axis = n_.op == "Gemm" && int_of(n_, "transB") != 0 ? 0 : 1;
        if (std::string reason = weight_reason(axis); !reason.empty()) return reason;
        if (!is_vector || !use_columns()) return "its bias is not a vector, or its weight not a matrix";
        write_integer_matrices(last, bias);
        return {};
    }
    if (bias == no_value) return {};
    // ONNX Runtime would fuse a bias of int32 too, but that rounds it, so that numbers are one step off.
    if (!is_weight() || !is_vector || !use_columns()) return "its bias is not a vector, or its weight not a matrix";
    separate_bias(last, bias);
    return {};
}

/// The weight with one column for each output. Whether it has that now.
bool product::use_columns() {
    if (n_.op == "MatMul") return g_.type(n_.inputs[1]).shape.has_rank() && g_.type(n_.inputs[1]).shape.rank() == 2;
    if (int_of(n_, "transB") == 0) return true;
    auto const numbers = g_.constant(right_->inputs[ir::data]);
    if (!numbers || numbers->sizes.size() != 2 || bits(numbers->type) != 8) return false;
    graph_node d = *right_;
    for (std::size_t i = ir::scale; i < d.inputs.size(); ++i) {
        auto const p = g_.constant(d.inputs[i]);
        if (!p) return false;
        if (p->sizes.size() == 2) d.inputs[i] = g_.add_constant(turned(*p));
    }
    d.inputs[ir::data] = g_.add_constant(turned(*numbers));
    ir::set_number(d, ir::axis_attribute, 1 - ir::number(d, ir::axis_attribute, 0));
    value_type type = g_.type(n_.inputs[1]);
    type.shape = shape({numbers->sizes[1], numbers->sizes[0]});
    d.outputs = {g_.graph().add_value(std::move(type))};
    g_.insert(at_, d);
    std::erase_if(n_.attributes, [](node_attribute const& a) { return a.name == "transB"; });
    g_.set_input(at_, 1, d.outputs[0]);
    columns_ = std::move(d);
    right_ = &columns_;
    return true;
}

/// MatMulInteger, whose sums become reals, plus the bias.
void product::write_integer_matrices(std::size_t last, value_id bias) {
    value_type const type = g_.type(n_.outputs[0]);
    value_type integers = type;
    integers.dtype = dtype::int32;
    value_id const sums = g_.add(at_, n_, "MatMulInteger", integer_operands(), integers);
    value_id const reals = g_.add(at_, n_, "Cast", {sums}, type, {make_attribute("to", std::int64_t{1})});
    value_id const weight = right_->inputs[ir::scale];
    value_id const scale = g_.add(at_, n_, "Mul", {left_->inputs[ir::scale], weight}, g_.type(weight));
    if (bias == no_value || last != at_) return g_.replace(at_, "Mul", {reals, scale});
    g_.replace(at_, "Add", {g_.add(at_, n_, "Mul", {reals, scale}, type), bias});
}

/// A bias of shape [1, 1, n], which ONNX Runtime does not join with the product to a Gemm before it finds what the operands are.
void product::separate_bias(std::size_t last, value_id bias) {
    auto const known = g_.constant(bias);
    value_type const type = g_.type(g_.node(last).outputs[0]);
    if (!known || !type.shape.has_rank() || type.shape.rank() < 2) return;
    tensor wide = *known;
    wide.sizes.insert(wide.sizes.begin(), {1, 1});
    value_id const added = g_.add_constant(std::move(wide));
    value_id product = n_.outputs[0];
    if (last == at_) {
        product = g_.add(at_, n_, "MatMul", {n_.inputs[0], n_.inputs[1]}, type);
    }
    if (type.shape.rank() > 2) return g_.replace(last, "Add", {product, added});
    value_type deep = type;
    deep.shape = shape({dim(1), type.shape[0], type.shape[1]});
    value_id const sum = g_.add(last, g_.node(last), "Add", {product, added}, std::move(deep));
    if (g_.graph().opset < 13)
        return g_.replace(last, "Squeeze", {sum}, {[] {
                              node_attribute axes = make_attribute("axes", onnx::attr_type::ints);
                              axes.ints = {0};
                              return axes;
                          }()});
    tensor axes{dtype::int64, {1}, {}};
    axes.append(0);
    g_.replace(last, "Squeeze", {sum, g_.add_constant(std::move(axes))});
}

/// Only the weight is quantized: ONNX Runtime makes MatMulNBits of MatMul with one column for each output, and of no other form.
void product::write_weight_only() {
    constexpr int first_opset_with_blocks = 21;
    if (style_.has_n_bits && write_n_bits()) return;
    if (!is_weight() || right_->inputs.size() > ir::table || !is_plain_gemm()) return;
    bool const has_blocks = ir::number(*right_, ir::block_attribute, 0) != 0;
    if (has_blocks && g_.graph().opset < first_opset_with_blocks) return;
    value_id bias = no_value;
    std::size_t const last = sum_after(bias);
    if (bias != no_value && (g_.type(bias).shape.rank() != 1 || !g_.constant(bias))) return;
    if (!use_columns()) return;
    if (bias != no_value) separate_bias(last, bias);
    else if (n_.op == "Gemm") g_.replace(at_, "MatMul", {n_.inputs[0], n_.inputs[1]});
}

namespace {

bool is_product(graph_node const& n) {
    return n.domain.empty() && (n.op == "Conv" || n.op == "ConvTranspose" || n.op == "MatMul" || n.op == "Gemm");
}

} // namespace

void write_products(quantized_graph& g, quantized_style const& style, std::vector<quantized_product>& report) {
    for (std::size_t i = 0; i != g.size(); ++i) {
        if (!is_product(g.node(i))) continue;
        product p(g, style, i);
        if (!p.is_quantized()) continue;
        graph_node const& n = g.node(i);
        std::vector<node_origin> const& origins = g.graph().origins;
        node_origin const& from = origins[n.origin < origins.size() ? n.origin : 0];
        quantized_product listed{n.subject(), from.name, from.source, {}};
        listed.reason = p.write();
        report.push_back(std::move(listed));
    }
}

} // namespace ATON_NAMESPACE::exporter
