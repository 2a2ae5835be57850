// SPDX-License-Identifier: MIT
// torch.vmap: makes the dimensions that it hides ordinary ones.
#pragma once

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// A file has a function under torch.vmap as it was traced: `_add_batch_dim` hides a dimension, the operators after it are recorded
/// without it, and `_remove_batch_dim` shows it again. Here the batch dimensions come before the others, operators are changed to leave
/// them alone, and both become permutations. Throws aton::error, with the node, for an operator for which that is not known.
void expand_vmap(program& p);

} // namespace ATON_NAMESPACE::program
