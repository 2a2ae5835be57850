// SPDX-License-Identifier: MIT
// Operators whose results have as many elements as their data says.
#pragma once

#include <cstddef>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::torch {

/// Whether the size of a result along `axis` depends on elements, even if it is the same in all runs.
[[nodiscard]] bool has_size_of_data(program::program const& p, program::node const& n, std::size_t result,
                                    std::size_t axis);

} // namespace ATON_NAMESPACE::torch
