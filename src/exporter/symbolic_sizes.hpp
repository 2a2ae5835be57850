// SPDX-License-Identifier: MIT
// What is known of sizes that the program computes: which of them depend on data, and which numbers they can be.
#pragma once

#include <cstdint>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::exporter {

/// Whether a size comes out of a tensor (torch calls its symbols u0, u1, ...) and may be 1. torch.export decides as if it were not, where
/// sizes of inputs are guarded.
[[nodiscard]] bool may_turn_out_one(program::program const& p, program::extent const& size);

/// Whether a mapping that says that this size is always `n` must be wrong.
[[nodiscard]] bool is_contradicted_by(program::program const& p, program::extent const& size, std::int64_t n);

} // namespace ATON_NAMESPACE::exporter
