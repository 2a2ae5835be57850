// SPDX-License-Identifier: MIT
// Quantized tensors of a mapping: `quantized_value`, and the functions that make it and take it apart.
// Internal header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/dsl/value.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/quantized.hpp>

namespace ATON_NAMESPACE::dsl {

/// What the numbers of a quantized tensor stand for: x = (number - zero_point) * scale, with numbers of `type` from `low` to `high`.
struct quantization_scheme {
    /// float32, or float16 for numbers that exist already. 0-d: for all elements. With `axis`: [n], for each index of it; with `block` too: the sizes of the tensor, with one element
    /// for each block of that many along the axis. Without `axis`, any sizes that broadcast to those of the tensor.
    value scale;
    optional_value zero_point; ///< integers of any dtype and the shape of the scale; absent: 0
    dtype type = dtype::int8;
    std::int64_t low = 0;
    std::int64_t high = 0;
    std::optional<std::int64_t> axis = {}; ///< not negative
    std::int64_t block = 0;                ///< 0: no blocks
    optional_value inverse =
        {}; ///< what ATen multiplies by to quantize, of the shape of the scale; absent: the reciprocal
    optional_value table = {}; ///< [n] float32: number i stands for table[i] * scale; there is no zero point
};

/// A quantized tensor. It is not a `value`: no row for reals takes one by accident. `dequantize` gives reals, and `numbers` the integers,
/// which ATen's operators on them take.
class quantized_value {
public:
    /// Numbers that exist already: a weight, or an argument of the program.
    quantized_value(value numbers, quantization_scheme scheme) : numbers_(numbers), scheme_(std::move(scheme)) {
        if (numbers.dtype() != scheme_.type)
            throw unsupported_error("dtype is not that of the input: quantized numbers of " +
                                    std::string(name(scheme_.type)) + " in a tensor of " +
                                    std::string(name(numbers.dtype())));
    }

    [[nodiscard]] value const& numbers() const { return numbers_; }
    [[nodiscard]] quantization_scheme const& scheme() const { return scheme_; }

private:
    value numbers_;
    quantization_scheme scheme_;
};

namespace detail {

/// Appends a node of the domain with these results.
template <class Graph>
std::vector<value> append_quantized(Graph& graph, std::string_view op, std::vector<optional_value> const& inputs,
                                    std::vector<node_attribute> attributes, std::vector<value_type> types) {
    typename Graph::node_type node;
    node.domain = quantized_ir::domain;
    node.op = op;
    for (optional_value const& v : inputs) node.inputs.push_back(v ? graph.capture((*v).owner(), (*v).id()) : no_value);
    while (!node.inputs.empty() && node.inputs.back() == no_value) node.inputs.pop_back();
    node.attributes = std::move(attributes);
    node.source = graph.context.overload;
    node.origin = graph.context.origin;
    std::vector<value> out;
    for (value_type& type : types) {
        value_id const id = graph.add_value(std::move(type));
        graph.values[id].producer = static_cast<std::int64_t>(graph.nodes.size());
        node.outputs.push_back(id);
        out.emplace_back(graph, id);
    }
    graph.nodes.push_back(std::move(node));
    return out;
}

inline std::vector<node_attribute> attributes_of(quantization_scheme const& s) {
    return quantized_ir::attributes_of({s.type, s.low, s.high, s.axis, s.block});
}

} // namespace detail

/// x rounded to numbers of a scheme; x is float32.
template <class Graph>
quantized_value quantize(Graph const& g, value x, quantization_scheme scheme) {
    if (x.dtype() != dtype::float32 || scheme.scale.dtype() != dtype::float32)
        throw unsupported_error("quantization of numbers or by scales that are not float32; cast them first");
    value_type type = x.type();
    type.dtype = scheme.type;
    value const numbers = detail::append_quantized(g.data(),
                                                   quantized_ir::quantize,
                                                   {x, scheme.scale, scheme.zero_point, scheme.inverse},
                                                   detail::attributes_of(scheme),
                                                   {std::move(type)})[0];
    return {numbers, std::move(scheme)};
}

/// The numbers that a quantized tensor stands for, in the dtype of its scale, to which they are rounded once.
template <class Graph>
value dequantize(Graph const& g, quantized_value const& q) {
    quantization_scheme const& s = q.scheme();
    if (s.scale.dtype() != dtype::float32 && s.scale.dtype() != dtype::float16)
        throw unsupported_error("scales that are neither float32 nor float16; cast them first");
    value_type type = q.numbers().type();
    type.dtype = s.scale.dtype();
    return detail::append_quantized(g.data(),
                                    quantized_ir::dequantize,
                                    {q.numbers(), s.scale, s.zero_point, s.table},
                                    detail::attributes_of(s),
                                    {std::move(type)})[0];
}

/// Scale and zero point of numbers from `low` to `high` for the range of x, extended to 0.
struct chosen_parameters {
    value scale;      ///< [1] float64
    value zero_point; ///< [1] int64
};
/// Those of ATen: the scale is at least `eps`. x is float32.
template <class Graph>
chosen_parameters choose_parameters(Graph const& g, value x, std::int64_t low, std::int64_t high, double eps) {
    node_attribute least;
    least.name = quantized_ir::eps_attribute;
    least.type = onnx::attr_type::f;
    least.f = static_cast<float>(eps);
    std::vector<value> const made =
        detail::append_quantized(g.data(),
                                 quantized_ir::choose_parameters,
                                 {x},
                                 {quantized_ir::integer_attribute(quantized_ir::low_attribute, low),
                                  quantized_ir::integer_attribute(quantized_ir::high_attribute, high),
                                  std::move(least)},
                                 {{dtype::float64, aton::shape({1})}, {dtype::int64, aton::shape({1})}});
    return {made[0], made[1]};
}

} // namespace ATON_NAMESPACE::dsl
