// SPDX-License-Identifier: MIT
// ONNX files: conversion between graphs and ModelProto, and the ONNX checker. Follows onnx/onnx.proto of ONNX 1.23.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// Metadata of a written model.
struct model_options {
    std::string producer_name = "aton";
    std::string producer_version; ///< empty: Aton's version
    std::string doc;
    std::vector<std::pair<std::string, std::string>> metadata; ///< metadata_props
    int ir_version = 0; ///< 0: the lowest version that is legal for the opset and the contents
};

/// A tensor of a model whose bytes are in another file.
struct external_tensor {
    std::string name;
    std::string location; ///< relative to the model's folder
    std::int64_t offset = 0;
    std::int64_t length = -1; ///< -1: to the end of the file
};

/// A model that was read. Tensors in other files have type and sizes, but no bytes.
struct model {
    graph_data graph;
    std::int64_t ir_version = 0;
    std::string producer_name;
    std::string producer_version;
    std::string doc;
    std::vector<std::pair<std::string, std::string>> metadata;
    std::vector<external_tensor> external;
};

/// The bytes of a ModelProto; deterministic. Constant nodes stay nodes, known types become value_info, and ONNX's inference completes
/// outputs of unknown type. Throws aton::error for what ONNX cannot represent: an output of unknown dtype, a tensor whose bytes do not
/// match its sizes, more than 2 GiB.
[[nodiscard]] std::string to_model_proto(graph_data const& graph, model_options const& options = {});

/// Writes the model to `path` atomically: a temporary file in the same folder is renamed.
/// Throws aton::error, as to_model_proto() does, and for a file that cannot be written.
void write_model(graph_data const& graph, std::string const& path, model_options const& options = {});

/// Writes bytes to a file atomically, or directly to a pipe or device. Throws aton::error.
void write_file(std::string_view bytes, std::string const& path);

/// For a process that is about to end because of a signal: removes the temporary files of every write and export in progress, in all
/// threads. Files that have their names are complete, and stay. Threads that create or finish a file from now on wait until the process
/// ends. Takes a lock, so that a thread that waits for the signal must call it, not a signal handler.
/// ```cpp
/// #include <csignal>
/// #include <unistd.h>
///
/// #include <aton/model_io/model_io.hpp>
///
/// inline void end_after(sigset_t const* signals) { // in a thread; all other threads block these signals
///     int signal = 0;
///     sigwait(signals, &signal);
///     aton::abandon_writes();
///     _exit(128 + signal);
/// }
/// ```
void abandon_writes() noexcept;

/// The model in a file. Throws aton::error, one line that names the file, for anything that is not a readable ONNX model.
/// ```cpp
/// #include <aton/model_io/model_io.hpp>
///
/// inline std::string listing(std::string const& path) {
///     aton::model m = aton::read_model(path);
///     aton::load_external(m, path);
///     return aton::to_string(m.graph);
/// }
/// ```
[[nodiscard]] model read_model(std::string const& path);
/// The model in memory. Messages use `name` for it.
/// Throws aton::error as read_model() does.
[[nodiscard]] model parse_model(std::string_view bytes, std::string_view name = "model");

/// Reads the initializers of the main graph that are in other files; `path` is that of the model. Throws aton::error for a file that
/// cannot be read, is outside the model's folder or is too short, and for external tensors that are not initializers.
void load_external(model& m, std::string const& path);

/// Runs ONNX's checker with full, strict shape inference on a file; external data must exist. Throws aton::error with the first
/// problem on one line.
/// ```cpp
/// #include <aton/model_io/model_io.hpp>
///
/// inline void write_checked(aton::graph_data const& graph, std::string const& path) {
///     aton::write_model(graph, path);
///     aton::check_model(path);
/// }
/// ```
void check_model(std::string const& path);
/// The same for a model in memory. External tensors are looked up in the working directory.
/// Throws aton::error as check_model() does.
void check_model_bytes(std::string_view bytes, std::string_view name = "model");

} // namespace ATON_NAMESPACE
