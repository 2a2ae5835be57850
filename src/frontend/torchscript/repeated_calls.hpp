// SPDX-License-Identifier: MIT
// The program of a module whose attributes keep something from one call of `forward` to the next.
#pragma once

#include <aton/frontend/torchscript/read_program.hpp>
#include <aton/program/program.hpp>

#include "library.hpp"

namespace ATON_NAMESPACE::torchscript {

/// Interprets one call of `forward` after another, until what the attributes hold between two calls has the same form.
[[nodiscard]] program::program interpret(library& code, read_options const& options);

} // namespace ATON_NAMESPACE::torchscript
