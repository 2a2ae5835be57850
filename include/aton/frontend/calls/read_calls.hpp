// SPDX-License-Identifier: MIT
// Reads files of recorded calls, which docs/verify.md describes.
// Internal header.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <aton/aten/argument.hpp>
#include <aton/core/error.hpp>
#include <aton/core/scalar.hpp>
#include <aton/core/tensor.hpp>

namespace ATON_NAMESPACE::calls {

/// An argument or a result of a recorded call.
using argument = aten::basic_argument<std::optional<tensor>, scalar>;

struct recorded_call {
    std::string schema;
    std::string overload;
    std::vector<argument> arguments;
    std::vector<std::string> constants; ///< arguments whose tensors are constants of the program
    std::vector<argument> results; ///< of the schema, then the new values of the arguments that the operator writes to
    std::string place;             ///< "calls/swiglu.jsonl:3"
    bool values = true;            ///< false: only dtypes and sizes are recorded
};

/// The calls of the .jsonl files of a folder, in the order of their names. Throws aton::error, which names the file, the line and what is
/// wrong.
[[nodiscard]] std::vector<recorded_call> read_calls(std::string const& folder);

/// Calls `visit` with each call of one file, and `refuse`, for each line that is none, with the sentence that read_calls() throws.
void visit_calls(std::string const& file, std::function<void(recorded_call)> const& visit,
                 std::function<void(error const&)> const& refuse);

} // namespace ATON_NAMESPACE::calls
