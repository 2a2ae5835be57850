// SPDX-License-Identifier: MIT
// Makes one program of several runs: what differs between them becomes an expression of the sizes.
#pragma once

#include <vector>

#include <aton/program/program.hpp>

#include "recorder.hpp"

namespace ATON_NAMESPACE::torch {

/// The program of runs at different sizes and with different numbers; `dims` names the sizes of inputs that may differ. Throws aton::error,
/// which names the call, if the runs differ in anything else.
[[nodiscard]] program::program unify(std::vector<recording> const& runs, std::vector<dim_name> const& dims);

} // namespace ATON_NAMESPACE::torch
