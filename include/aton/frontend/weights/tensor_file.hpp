// SPDX-License-Identifier: MIT
// Files with tensors by name: .npz of numpy, and safetensors. Format of .npz: a ZIP archive with a .npy file for each array.
// Internal header.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/core/tensor.hpp>

namespace ATON_NAMESPACE::weights {

/// The tensors of a file. `owner` keeps the file mapped.
struct tensor_file {
    std::vector<std::pair<std::string, stored_tensor>> tensors = {};
    std::shared_ptr<void const> owner = {};
};

/// Reads an .npz archive, or a safetensors file. Throws aton::error, one line that names the file: for what is damaged, and for arrays that
/// no tensor can hold, such as those of Python objects.
[[nodiscard]] tensor_file read_tensor_file(std::string const& path);

/// The bytes of an .npz archive, which is not compressed. Throws aton::error for a dtype that numpy does not have.
[[nodiscard]] std::string to_npz(std::span<std::pair<std::string, tensor> const> tensors);

} // namespace ATON_NAMESPACE::weights
