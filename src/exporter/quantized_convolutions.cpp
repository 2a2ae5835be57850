// SPDX-License-Identifier: MIT
// Convolutions of integers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "quantized_product.hpp"

namespace ATON_NAMESPACE::exporter {

namespace ir = quantized_ir;

/// A bias as int32 with the scale of the product: what is fused then equals what is not, and ONNX Runtime fuses every form. One that int32
/// does not hold stays.
void product::make_bias_integer(std::size_t node, std::size_t slot) {
    if (slot >= g_.node(node).inputs.size() || g_.node(node).inputs[slot] == no_value) return;
    value_id const old = g_.node(node).inputs[slot];
    auto const bias = g_.constant(old);
    auto const all = scales();
    if (!bias || bias->type != dtype::float32 || bias->sizes.size() != 1 || !all) return;
    auto const count = static_cast<std::size_t>(bias->element_count());
    bool const is_one = all->size() == 1;
    if (!is_one && (all->size() != count || g_.graph().opset < 13)) return;
    tensor numbers{dtype::int32, bias->sizes, {}};
    for (std::size_t i = 0; i != count; ++i) {
        double const n = std::nearbyint(bias->at(i).to<double>() / static_cast<double>((*all)[is_one ? 0 : i]));
        if (!(std::abs(n) < 2147483647.0)) return;
        numbers.append(static_cast<std::int64_t>(n));
    }
    std::vector<std::int64_t> const sizes = is_one ? std::vector<std::int64_t>{} : bias->sizes;
    tensor scale{dtype::float32, sizes, {}};
    tensor zero{dtype::int32, sizes, {}};
    for (float const s : *all) {
        scale.append(static_cast<double>(s));
        zero.append(0);
    }
    std::vector<value_id> inputs{
        g_.add_constant(std::move(numbers)), g_.add_constant(std::move(scale)), g_.add_constant(std::move(zero))};
    std::vector<node_attribute> attributes;
    if (!is_one) attributes.push_back(make_attribute("axis", std::int64_t{0}));
    value_type type = g_.type(old);
    g_.set_input(
        node, slot, g_.add(node, n_, "DequantizeLinear", std::move(inputs), std::move(type), std::move(attributes)));
}

std::string product::write_convolution() {
    if (n_.op == "ConvTranspose") return "there is no kernel for transposed convolutions";
    if (has_constant_scale() && feeds_quantize(n_.outputs[0])) {
        make_bias_integer(at_, 2);
        return {};
    }
    if (std::string reason = weight_reason(0); !reason.empty()) return reason;
    if (ir::has_axis(*right_) && has_zero_points(*right_)) return "its weight has a zero point for each channel";
    if (!g_.type(n_.outputs[0]).shape.has_rank()) return "the rank of its output is not known";
    write_integer_convolution();
    return {};
}

/// One number, or one for each channel, beside (batch, channel, ...).
value_id product::spread(tensor t, std::size_t rank) {
    std::int64_t const count = t.element_count();
    t.sizes.assign(count == 1 ? 0 : rank - 1, 1);
    if (count != 1) t.sizes[0] = count;
    return g_.add_constant(std::move(t));
}

/// ConvInteger, whose sums become reals, plus the bias.
void product::write_integer_convolution() {
    value_type const type = g_.type(n_.outputs[0]);
    std::size_t const rank = type.shape.rank();
    value_type integers = type;
    integers.dtype = dtype::int32;
    value_id const sums = g_.add(at_, n_, "ConvInteger", integer_operands(), integers, n_.attributes);
    value_id const reals = g_.add(at_, n_, "Cast", {sums}, type, {make_attribute("to", std::int64_t{1})});
    tensor const weight = *g_.constant(right_->inputs[ir::scale]);
    value_id scale = no_value;
    if (auto const all = scales()) {
        tensor both{dtype::float32, weight.sizes, {}};
        for (float const s : *all) both.append(static_cast<double>(s));
        scale = spread(std::move(both), rank);
    } else {
        scale = spread(weight, rank);
        scale = g_.add(at_, n_, "Mul", {left_->inputs[ir::scale], scale}, g_.type(scale));
    }
    if (n_.inputs.size() < 3 || n_.inputs[2] == no_value) return g_.replace(at_, "Mul", {reals, scale});
    value_id const scaled = g_.add(at_, n_, "Mul", {reals, scale}, type);
    value_id bias = n_.inputs[2];
    if (auto const known = g_.constant(bias)) {
        bias = spread(*known, rank);
    } else {
        tensor to{dtype::int64, {static_cast<std::int64_t>(rank) - 1}, {}};
        for (std::size_t i = 1; i != rank; ++i) to.append(i == 1 ? -1 : 1);
        value_type flat{dtype::float32, {}};
        bias = g_.add(at_, n_, "Reshape", {bias, g_.add_constant(std::move(to))}, std::move(flat));
    }
    g_.replace(at_, "Add", {scaled, bias});
}

} // namespace ATON_NAMESPACE::exporter
