// SPDX-License-Identifier: MIT
// Where a program and a graph part.
#pragma once

#include <cstdint>
#include <span>

#include <aton/runtime/aten_program.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/models.hpp>

namespace ATON_NAMESPACE::verify {

/// Runs both once more, keeps what the nodes of the graph give, and looks in it for the result of each node of the program: under the
/// same name, or else the same numbers under any. Fused nodes have none, so that a node counts as wrong where its namesake differs, or
/// where neither it nor anything that is computed from it is found. `output` is that of the program that differs, `narrowest` what the
/// program's values were rounded to (narrowest_dtypes).
[[nodiscard]] parting find_parting(runtime::aten_program const& p, std::span<runtime::value const> inputs,
                                   runtime::onnx_model const& g, std::span<runtime::value const> graph_inputs,
                                   std::size_t output, std::span<dtype const> narrowest, std::int64_t terms);

} // namespace ATON_NAMESPACE::verify
