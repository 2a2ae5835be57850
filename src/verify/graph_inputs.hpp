// SPDX-License-Identifier: MIT
// Random inputs for ONNX models, by their declared types.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <aton/model_io/model_parts.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// How many different inputs to try: no declaration says which sizes fit together, or how large an index may be.
inline constexpr int max_graph_tries = 24;

/// A value for each input. Equal symbols have equal sizes, which differ from each other in the first tries; later ones have equal sizes, and
/// those of images and sounds. Throws aton::error if an input cannot be drawn.
[[nodiscard]] std::vector<runtime::value> draw_inputs(std::span<part_value const> inputs, std::uint64_t seed,
                                                      int try_number);

/// Values for all inputs of a graph; those that are not `names`, which have an initializer, stay empty.
[[nodiscard]] std::vector<runtime::value> in_graph_order(graph_data const& g, std::span<part_value const> names,
                                                         std::span<runtime::value const> given);

struct accepted_run {
    std::vector<runtime::value> inputs; ///< of model_parts::inputs()
    std::vector<runtime::value> outputs;
};
/// Runs a model on `given` or, if that is empty, on drawn inputs that it accepts. Throws aton::error if it accepts none. `observer` also sees
/// the nodes of runs that fail.
[[nodiscard]] accepted_run run_accepted(runtime::onnx_model const& graph, model_parts const& model,
                                        std::span<runtime::value const> given, std::uint64_t seed,
                                        runtime::onnx_observer const& observer);

} // namespace ATON_NAMESPACE::verify
