// SPDX-License-Identifier: MIT
// Weights of classes that programs use as a whole: what they stand for, as a computation on the tensors in them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/frontend/pt2/archive.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::pt2 {

/// A weight of a class, and where its use is.
struct opaque_weight {
    program::program& in;
    std::vector<program::node>& nodes; ///< those before its use, to which the computation is added
    tensor_subclass const& tensor;
    program::value_index value; ///< that of the weight in the program
    program::node& user;        ///< whose other operands may be replaced; empty: an output of the program
    /// Adds a tensor as an input of the program, under the path of an attribute. Returns its value.
    std::function<program::value_index(std::string_view path, stored_tensor data)> const& add;
};

/// Adds the computation of the weight's numbers. Nothing, and the rest of a sentence about the weight, if its class is unknown
/// or has attributes that change what it computes.
[[nodiscard]] std::optional<program::value_index> dequantize_opaque(opaque_weight& from, std::string& reason);

} // namespace ATON_NAMESPACE::pt2
