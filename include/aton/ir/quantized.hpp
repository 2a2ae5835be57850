// SPDX-License-Identifier: MIT
// Quantized tensors in a graph. While it is built, three nodes of a domain of Aton's own say how numbers are rounded and what they stand
// for; lowering turns them into what the opset and the runtime have.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::quantized_ir {

/// The domain of the nodes, which lowering removes.
inline constexpr std::string_view domain = "aton.quantized";
/// Quantize(x, scale, zero_point, inverse): round(x / scale) + zero_point, between `low` and `high`. `inverse` is what ATen multiplies by.
inline constexpr std::string_view quantize = "Quantize";
/// Dequantize(numbers, scale, zero_point): (numbers - zero_point) * scale in the dtype of the scale. With an input `table`, table[numbers] * scale.
inline constexpr std::string_view dequantize = "Dequantize";
/// ChooseParameters(x): scale (float64) and zero point (int64), both [1], for the range of all elements of x.
inline constexpr std::string_view choose_parameters = "ChooseParameters";

/// The inputs of Quantize and Dequantize.
enum input : std::uint8_t { data, scale, zero_point, inverse, table = inverse };

inline constexpr std::string_view axis_attribute = "axis";        ///< absent: the scale broadcasts to the tensor
inline constexpr std::string_view block_attribute = "block_size"; ///< absent: one scale for each index of the axis
inline constexpr std::string_view low_attribute = "low";
inline constexpr std::string_view high_attribute = "high";
inline constexpr std::string_view type_attribute = "to"; ///< the dtype of the numbers
inline constexpr std::string_view eps_attribute = "eps"; ///< of ChooseParameters: the smallest scale

/// Smaller constants are no weights: they are computed, and not kept as integers.
inline constexpr std::int64_t min_weight_elements = 64;

/// Whether a node is the one of this name.
template <class Node>
bool is(Node const& n, std::string_view op) {
    return n.domain == domain && n.op == op;
}

/// An integer attribute; `otherwise` if the node does not have it.
template <class Node>
std::int64_t number(Node const& n, std::string_view name, std::int64_t otherwise) {
    auto const* const a = n.attribute(name);
    return a == nullptr ? otherwise : a->i;
}

/// Sets an integer attribute that the node has.
template <class Node>
void set_number(Node& n, std::string_view name, std::int64_t i) {
    for (auto& a : n.attributes)
        if (a.name == name) a.i = i;
}

/// An input; no_value if the node does not have it.
template <class Node>
value_id input_of(Node const& n, std::size_t i) {
    return i < n.inputs.size() ? n.inputs[i] : no_value;
}

/// The dtype of the numbers.
template <class Node>
dtype type_of(Node const& n) {
    return static_cast<dtype>(number(n, type_attribute, 0));
}

/// Whether the scale is one for each index of an axis, or for each block along it.
template <class Node>
bool has_axis(Node const& n) {
    return n.attribute(axis_attribute) != nullptr;
}

template <class Attribute = node_attribute>
Attribute integer_attribute(std::string_view name, std::int64_t i) {
    Attribute a;
    a.name = name;
    a.type = onnx::attr_type::i;
    a.i = i;
    return a;
}

/// What the attributes of Quantize and Dequantize say.
struct number_format {
    dtype type = dtype::int8;
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::optional<std::int64_t> axis = {};
    std::int64_t block = 0; ///< 0: no blocks
};
template <class Attribute = node_attribute>
std::vector<Attribute> attributes_of(number_format const& f) {
    std::vector<Attribute> out{integer_attribute(low_attribute, f.low),
                               integer_attribute(high_attribute, f.high),
                               integer_attribute(type_attribute, static_cast<std::int64_t>(f.type))};
    if (f.axis) out.push_back(integer_attribute(axis_attribute, *f.axis));
    if (f.block != 0) out.push_back(integer_attribute(block_attribute, f.block));
    return out;
}

/// The range of a dtype of quantized integers; {0, -1} for other dtypes.
struct integer_limits {
    std::int64_t low = 0;
    std::int64_t high = -1;

    [[nodiscard]] bool contain(std::int64_t n) const { return low <= n && n <= high; }
    friend bool operator==(integer_limits const&, integer_limits const&) = default;
};
constexpr integer_limits limits_of(dtype type) {
    switch (type) {
    case dtype::uint8: return {0, 255};
    case dtype::int8: return {-128, 127};
    case dtype::uint16: return {0, 65535};
    case dtype::int16: return {-32768, 32767};
    case dtype::int32: return {-2147483648LL, 2147483647LL};
    case dtype::uint4: return {0, 15};
    case dtype::int4: return {-8, 7};
    default: return {};
    }
}

} // namespace ATON_NAMESPACE::quantized_ir
