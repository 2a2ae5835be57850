// SPDX-License-Identifier: MIT
// Whether a value's type is one that an operator's schema has at an opset, and the sentence if it is not.
// Internal header.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <aton/core/error.hpp>
#include <aton/ir/graph.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE {

/// "output 'output' is float8_e5m2, which this opset does not return (opset 19 does)"
template <class Schema>
std::string refused_type(Schema const& schema, int opset, bool is_output, std::size_t position,
                         value_type const& given) {
    int const n = is_output ? schema.output_count() : schema.input_count();
    int const at = static_cast<int>(position) < n ? static_cast<int>(position) : n - 1;
    onnx::formal const formal = is_output ? schema.output(at) : schema.input(at);
    std::string out = (is_output ? "output '" : "input '") + std::string(formal.name) + "' is " +
                      std::string(name(given.dtype)) + ", which this opset does not " +
                      (is_output ? "return" : "accept");
    if constexpr (std::same_as<Schema, onnx::op_schema>)
        if (int const first = onnx::first_version_of_type(schema, is_output, at, set_of(given)); first > opset)
            out += " (opset " + std::to_string(first) + " does)";
    return out;
}

/// Throws illegal_call if the schema does not allow the type at this position. An unknown dtype is allowed.
template <class Schema>
void require_type(Schema const& schema, int opset, bool is_output, std::size_t position, value_type const& given) {
    int const n = is_output ? schema.output_count() : schema.input_count();
    if (n == 0 || given.dtype == dtype::undefined) return;
    int const at = static_cast<int>(position) < n ? static_cast<int>(position) : n - 1;
    if ((is_output ? schema.output(at) : schema.input(at)).types.contains(set_of(given))) return;
    std::string_view const domain = schema.domain();
    throw illegal_call(std::string(domain.empty() ? "onnx" : domain) + "::" + std::string(schema.name()) + " (opset " +
                       std::to_string(opset) + "): " + refused_type(schema, opset, is_output, position, given));
}

} // namespace ATON_NAMESPACE
