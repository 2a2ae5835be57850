// SPDX-License-Identifier: MIT
// aton verify --torch: operators of libtorch as the truth. aton-verify-torch has it; aton-verify executes that program.
#pragma once

#include <aton/verify/check.hpp>

namespace aton::tool {

/// Executes aton-verify-torch, in the same folder, with these arguments; returns if this is that program. Throws aton::error if there is none.
void become_torch(char** argv);

/// Compares rows with libtorch.
void use_torch(verify::check_options& options);

} // namespace aton::tool
