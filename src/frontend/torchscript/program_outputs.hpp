// SPDX-License-Identifier: MIT
// The outputs of the program: the tensors and numbers in what `forward` returns.
#pragma once

#include <string>

#include "code_position.hpp"
#include "program_builder.hpp"
#include "program_values.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// Adds an output for each tensor and number of a value. `path`: of the value in the result, "boxes.0".
void add_output(value const& v, program_builder& build, program_values& values, code_position& at,
                std::string const& path = {}, int depth = 1);

} // namespace ATON_NAMESPACE::torchscript
