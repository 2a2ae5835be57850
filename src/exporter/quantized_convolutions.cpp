// SPDX-License-Identifier: MIT
// Convolutions whose operands and result are quantized.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "quantized_product.hpp"

namespace ATON_NAMESPACE::exporter {

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
    // ConvInteger would compute these: in ONNX Runtime 1.31 it takes three times as long as Conv.
    if (!has_constant_scale()) return "its scale is computed at run time";
    if (!feeds_quantize(n_.outputs[0])) return "its output is not quantized";
    make_bias_integer(at_, 2);
    return {};
}

} // namespace ATON_NAMESPACE::exporter
