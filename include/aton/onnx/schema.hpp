// SPDX-License-Identifier: MIT
// The constexpr form of onnx::OpSchema. The data is in generated/, look-up is in registry.hpp.
// Public header.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE::onnx {

/// How often a formal input or output may occur in a call: once, at most once, or any number of times.
enum class option : std::uint8_t { single, optional, variadic };

/// Attribute types, numbered as in AttributeProto.AttributeType.
enum class attr_type : std::uint8_t {
    undefined = 0,
    f = 1,
    i = 2,
    s = 3,
    t = 4,
    g = 5,
    floats = 6,
    ints = 7,
    strings = 8,
    tensors = 9,
    graphs = 10,
    sparse_tensor = 11,
    sparse_tensors = 12,
    type_proto = 13,
    type_protos = 14,
};

/// A formal input or output.
struct formal {
    std::string_view name;
    std::int8_t type_var = -1; ///< index into the schema's type_vars; -1: the fixed type in `types`
    option kind = option::single;
    bool homogeneous = true;    ///< variadic only: all operands share one type
    std::uint8_t min_arity = 1; ///< variadic only: the minimum number of operands
    type_set types;             ///< legal types; those of the type variable, if any
};

/// A type variable with its constraint, e.g. T in {tensor(float), tensor(double)}.
struct type_var {
    std::string_view name;
    type_set types;
};

/// An attribute with its default, formatted as in ONNX's documentation (empty: none).
struct attribute {
    std::string_view name;
    attr_type type = attr_type::undefined;
    bool required = false;
    std::string_view default_text;
};

} // namespace ATON_NAMESPACE::onnx
