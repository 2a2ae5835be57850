// SPDX-License-Identifier: MIT
// Properties of computed sizes: dependence on data, and possible values.
#pragma once

#include <cstdint>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::exporter {

/// Whether a size depends on data (torch names such symbols u0, u1, ...) and may be 1. torch.export assumes that it is not, instead of
/// adding a guard.
[[nodiscard]] bool may_be_one(program::program const& p, program::extent const& size);

/// Whether a size depends on data and may be 0.
[[nodiscard]] bool may_be_zero(program::program const& p, program::extent const& size);

/// Whether the size cannot always be `n`, so that a mapping with this result is wrong.
[[nodiscard]] bool is_contradicted_by(program::program const& p, program::extent const& size, std::int64_t n);

} // namespace ATON_NAMESPACE::exporter
