// SPDX-License-Identifier: MIT
// A command of the user's that runs a model.
// Internal header.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <aton/backends/backend.hpp>

namespace ATON_NAMESPACE::backends {

/// The words of a command: separated by blanks, in quotes or not; no shell sees it. Throws aton::error for a quote that is not closed.
[[nodiscard]] std::vector<std::string> words_of(std::string const& command);

/// "prog {model} {inputs} {outputs}": {model} is an .onnx file; {inputs} a folder with input_0.pb, ..., in the order of the model's inputs;
/// {outputs} a folder for output_0.pb, ... {inputs.npz} and {outputs.npz} are archives with arrays by name instead. Throws aton::error for
/// a command without a model and outputs.
[[nodiscard]] std::unique_ptr<backend> make_command(std::string const& command, int seconds);

} // namespace ATON_NAMESPACE::backends
