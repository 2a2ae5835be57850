// SPDX-License-Identifier: MIT
// Other runtimes, as a second opinion on numbers: ONNX Runtime's library, and commands of users.
// Internal header.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::backends {

using named_value = std::pair<std::string, runtime::value>;

/// A model that a runtime does not load or run: a fact about the model. That there is no such runtime is an aton::error.
class run_error : public error {
public:
    using error::error;
};

/// A runtime, with one way to optimize graphs.
class backend {
public:
    backend() = default;
    virtual ~backend() = default;
    backend(backend const&) = delete;
    backend& operator=(backend const&) = delete;

    /// "ONNX Runtime 1.31.1, extended"
    [[nodiscard]] virtual std::string title() const = 0;
    /// Runs the bytes of a model, and returns its outputs, which are named `outputs`, in this order. An input may be a tensor only. Throws
    /// run_error, one line.
    [[nodiscard]] virtual std::vector<runtime::value> run(std::string const& model, std::span<named_value const> inputs,
                                                          std::span<std::string const> outputs) const = 0;
};

/// The values as bytes, for a pipe between processes. Throws aton::error.
[[nodiscard]] std::string pack(std::span<runtime::value const> values);
/// Throws aton::error for anything but the bytes of pack().
[[nodiscard]] std::vector<runtime::value> unpack(std::string_view bytes);

} // namespace ATON_NAMESPACE::backends
