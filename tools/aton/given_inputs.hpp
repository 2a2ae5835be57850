// SPDX-License-Identifier: MIT
// Inputs of a model in files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <aton/model_io/model_parts.hpp>
#include <aton/runtime/value.hpp>

namespace aton::tool {

/// Reads input_0.pb, input_1.pb, ... from a folder, as in ONNX's backend tests. `what`: "input"
[[nodiscard]] std::vector<runtime::value> read_values(std::string const& folder, std::string const& what);

/// A value for each input: from a folder with input_0.pb, ..., or by name from an .npz or safetensors file. Throws aton::error, one line,
/// for inputs that are missing, and for names that the model does not have.
[[nodiscard]] std::vector<runtime::value> read_inputs(std::string const& from, std::span<part_value const> inputs);

} // namespace aton::tool
