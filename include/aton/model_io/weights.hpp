// SPDX-License-Identifier: MIT
// Where the weights of a written model go. They never pass through protobuf: bytes go from file to file.
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/model_io/model_io.hpp>

namespace ATON_NAMESPACE {

/// Where the bytes of weights are written.
enum class weight_mode : std::uint8_t {
    embed,    ///< in the .onnx file; at most 2 GiB together
    external, ///< in one file beside it, "model.onnx.data", each at a multiple of 4096 bytes (small ones of 64)
    reference, ///< where they are: the .onnx file points into the file that they come from, which must lie in the same folder
};

/// How a model with stored tensors is written.
struct weight_options {
    weight_mode mode = weight_mode::embed;
    std::string source; ///< reference: path of the file that stored tensors point into
    std::function<void(std::uint64_t done, std::uint64_t total)> progress; ///< bytes of weights
};

/// What was written of weights.
struct weight_report {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rewritten = 0; ///< of these, not copied as they stand
};

/// Writes a model whose initializers may be stored tensors. Both files appear whole or not at all. Bytes that stay as they are go from
/// file to file in the kernel; tensors that are not plain are laid out by a thread of its own through buffers of at most 12 MiB. In
/// reference mode those that only lie in another order (transposed, channels_last) get a Transpose node, and the others are in the .onnx
/// file itself. So are, in both modes with another file, tensors of less than 1 KiB (reference: floating ones of less than 64 bytes).
/// Those of subgraphs always are, and pass through memory. Throws aton::error.
weight_report write_model(graph_data const& graph, std::string const& path, weight_options const& weights,
                          model_options const& options = {});

/// The elements of a stored tensor in row-major order, handed over in pieces of at most 4 MiB.
/// Throws aton::error for a tensor whose elements are not all in its file, and for a file that cannot be read.
void read_stored(stored_tensor const& from, std::function<void(std::byte const*, std::size_t)> const& sink);

/// A small stored tensor as a constant.
/// Throws aton::error as read_stored() does.
[[nodiscard]] tensor load(stored_tensor const& from);

} // namespace ATON_NAMESPACE
