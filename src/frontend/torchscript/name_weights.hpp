// SPDX-License-Identifier: MIT
// The names of a module's tensors and objects.
#pragma once

#include "code_position.hpp"
#include "library.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// Names all objects and tensors by their first place in the module, and finds their classes.
void name_weights(value const& module, library& code, heap& in, code_position const& at);

} // namespace ATON_NAMESPACE::torchscript
