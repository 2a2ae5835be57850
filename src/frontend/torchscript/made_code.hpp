// SPDX-License-Identifier: MIT
// Statements in place of others, where only one form is interpreted.
#pragma once

#include <string>

#include "syntax.hpp"

namespace ATON_NAMESPACE::torchscript {

/// `a if condition else b` as an `if` whose branches assign to the variable.
[[nodiscard]] stmt branches_of(expr const& e, std::string const& variable);

/// `for i in range(end)` as a loop over a counter: `while torch.lt(#counter, #end): i = #counter; ...; #counter = torch.add(#counter, 1)`.
[[nodiscard]] stmt counted_loop(stmt const& s, std::string const& counter, std::string const& end);

} // namespace ATON_NAMESPACE::torchscript
