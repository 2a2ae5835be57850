// SPDX-License-Identifier: MIT
// Decides for every guard of a program whether the exported model must check it.
#pragma once

#include "guard_facts.hpp"
#include "integer_search.hpp"

namespace ATON_NAMESPACE::program {

/// The condition of a guard in terms of the program's symbols.
[[nodiscard]] expression in_symbols(program const& p, expression const& condition);

/// Sets the state of every guard. Runtimes check inputs only against static sizes.
void set_guard_states(program& p, integer_search& search);

} // namespace ATON_NAMESPACE::program
