// SPDX-License-Identifier: MIT
// Whether NaN is data of a program.
#pragma once

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::exporter {

/// Whether a program tests for NaN, ignores it as nanmean does, or has it as a number, so that its results depend on it on purpose.
[[nodiscard]] bool has_nan_as_data(program::program const& p);

} // namespace ATON_NAMESPACE::exporter
