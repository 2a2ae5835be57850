// SPDX-License-Identifier: MIT
// The schema of an operator that torch does not declare, as far as the calls of a program show it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <aton/frontend/torchscript/called_operators.hpp>
#include <aton/program/program.hpp>

#include "stub_rows.hpp"

namespace aton::tool {

/// The operators that the program calls and torch does not declare, by name, with inferred schemas. The program must not have been prepared.
[[nodiscard]] std::map<std::string, stub> custom_operators_of(program::program const& p);

/// The same for the calls in the code of a TorchScript archive.
[[nodiscard]] std::map<std::string, stub> custom_operators_of(std::vector<torchscript::called_operator> const& calls);

} // namespace aton::tool
