// SPDX-License-Identifier: MIT
// TensorProto as a constant, whichever field its elements are in.
#pragma once

#include <cstddef>
#include <string>

#include "proto.hpp"

#include <aton/core/tensor.hpp>

namespace ATON_NAMESPACE::detail {

/// ONNX's number of an element type; undefined for one that is not known.
dtype read_dtype(int number);
/// The number of elements; throws aton::error, with `what`, for sizes that are negative or absurd.
std::size_t require_sizes(tensor const& t, std::string const& what);
/// Without elements where they are in another file. Throws aton::error where there are not as many as the sizes say.
tensor read_tensor(::onnx::TensorProto const& from, std::string const& what);

} // namespace ATON_NAMESPACE::detail
