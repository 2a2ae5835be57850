// SPDX-License-Identifier: MIT
// Reads one external tensor.
#pragma once

#include <filesystem>

#include <aton/core/tensor.hpp>
#include <aton/model_io/model_io.hpp>

namespace ATON_NAMESPACE::detail {

/// Reads the elements of `to`, whose dtype and sizes are known, from a file in `folder`. Throws aton::error: what is wrong, after "the tensor".
void read_external(external_tensor const& e, std::filesystem::path const& folder, tensor& to);

} // namespace ATON_NAMESPACE::detail
