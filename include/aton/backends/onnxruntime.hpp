// SPDX-License-Identifier: MIT
// ONNX Runtime, whose shared library is loaded while the program runs: its headers are not needed.
// Internal header.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <aton/backends/backend.hpp>

namespace ATON_NAMESPACE::backends {

/// A level of ONNX Runtime's optimizations of graphs.
struct optimization_level {
    std::string_view name;
    int number; ///< GraphOptimizationLevel
};
inline constexpr optimization_level onnxruntime_levels[] = {
    {"disabled", 0}, {"basic", 1}, {"extended", 2}, {"all", 99}};

/// The library of a Python package: of the active virtual environment, of the Pythons in PATH, or of the system. Empty: none was found.
[[nodiscard]] std::string find_onnxruntime();

class onnxruntime_library;

/// Loads the library. Throws aton::error, one line, for a file that is no such library, or has another version of the interface.
[[nodiscard]] std::shared_ptr<onnxruntime_library> load_onnxruntime(std::string const& path);
/// "1.31.1"
[[nodiscard]] std::string version_of(onnxruntime_library const& library);

/// The CPU provider, with one thread. Where the system can copy a process, each run has one of its own: a kernel that crashes ends only that.
/// `seconds`: the limit of a run there.
[[nodiscard]] std::unique_ptr<backend> make_onnxruntime(std::shared_ptr<onnxruntime_library> library,
                                                        optimization_level level, int seconds);

} // namespace ATON_NAMESPACE::backends
