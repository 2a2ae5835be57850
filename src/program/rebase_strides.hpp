// SPDX-License-Identifier: MIT
// Makes the strides of as_strided those of a tensor that is known.
#pragma once

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// Calls `as_strided` on tensors whose elements are in the order of their memory. Its strides address memory: of a view, the memory of
/// the viewed tensor; of a permuted tensor, the elements in the order of its strides. Calls on tensors whose memory the program does not
/// tell stay as they are.
void rebase_strides(program& p, graph& g);

} // namespace ATON_NAMESPACE::program
