// SPDX-License-Identifier: MIT
// Reads files of recorded calls, which docs/verify.md describes.
// Internal header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <aton/aten/argument.hpp>
#include <aton/core/scalar.hpp>
#include <aton/core/tensor.hpp>

namespace ATON_NAMESPACE::calls {

/// An argument or a result of a recorded call.
using argument = aten::basic_argument<std::optional<tensor>, scalar>;

struct recorded_call {
    std::string schema;
    std::string overload;
    std::vector<argument> arguments;
    std::vector<argument> results; ///< of the schema, then the new values of the arguments that the operator writes to
    std::string place;             ///< "calls/swiglu.jsonl:3"
    bool values = true;            ///< false: only dtypes and sizes are recorded
};

/// The calls of the .jsonl files of a folder, in the order of their names. Throws aton::error, which names the file, the line and what is
/// wrong.
[[nodiscard]] std::vector<recorded_call> read_calls(std::string const& folder);

} // namespace ATON_NAMESPACE::calls
