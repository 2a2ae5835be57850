// SPDX-License-Identifier: MIT
// Where to write the weights of a model. They never pass through protobuf: bytes go from file to file.
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/model_io/model_io.hpp>

namespace ATON_NAMESPACE {

/// Where the bytes of weights are written.
enum class weight_mode : std::uint8_t {
    embed,    ///< in the .onnx file; at most 2 GiB in total
    external, ///< in one file next to it, "model.onnx.data", each aligned to 4096 bytes (small ones to 64)
    reference, ///< in their own files, to which the .onnx file refers; these must be in its folder, or in folders in there
};

/// How a model with stored tensors is written.
struct weight_options {
    weight_mode mode = weight_mode::embed;
    std::vector<std::string> sources; ///< reference: paths of the files with the stored tensors
    std::vector<std::string>
        optional_sources; ///< reference: if the model cannot refer to one of these, weights are copied
    std::function<void(std::uint64_t done, std::uint64_t total)> progress; ///< bytes of weights
};

/// A weight that weight_mode::reference could not leave in its file.
struct copied_weight {
    std::string name;
    std::uint64_t bytes = 0;
    std::string reason; ///< "is bfloat16 in its file, but float32 in the model"
};

/// What was written of weights.
struct weight_report {
    std::size_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t rewritten = 0;       ///< the part that was not copied unchanged
    std::vector<copied_weight> copied; ///< reference: those that are not in their own files, but small ones
};

/// Writes a model whose initializers may be stored tensors; both files are written atomically. Unchanged bytes are copied from file to
/// file in the kernel; a separate thread lays out tensors that are not plain, in buffers of at most 12 MiB in total. In reference mode,
/// tensors that are only permuted (transposed, channels_last) get a Transpose node, and the rest are in a data file as in external mode. Both
/// modes also embed tensors of less than 1 KiB (reference: floating-point tensors of less than 64 bytes). Initializers of subgraphs are
/// always embedded, and pass through memory. Throws aton::error.
weight_report write_model(graph_data const& graph, std::string const& path, weight_options const& weights,
                          model_options const& options = {});

/// Passes the elements of a stored tensor to `sink` in row-major order, in pieces of at most 4 MiB.
/// Throws aton::error for a tensor whose elements are not all in its file, and for a file that cannot be read.
void read_stored(stored_tensor const& from, std::function<void(std::byte const*, std::size_t)> const& sink);

/// A small stored tensor as a constant.
/// Throws aton::error as read_stored() does.
[[nodiscard]] tensor load(stored_tensor const& from);

} // namespace ATON_NAMESPACE
