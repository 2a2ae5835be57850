// SPDX-License-Identifier: MIT
// Reads a TensorProto as a constant, whichever field has its elements.
#pragma once

#include <cstddef>
#include <string>

#include "proto.hpp"

#include <aton/core/tensor.hpp>

namespace ATON_NAMESPACE::detail {

/// The dtype with this number in ONNX; undefined if it is unknown.
dtype read_dtype(int number);
/// The number of elements. Throws aton::error, naming `what`, for negative or excessive sizes.
std::size_t require_sizes(tensor const& t, std::string const& what);
/// The tensor, without elements if they are in another file. Throws aton::error if their number does not match the sizes.
tensor read_tensor(::onnx::TensorProto const& from, std::string const& what);

} // namespace ATON_NAMESPACE::detail
