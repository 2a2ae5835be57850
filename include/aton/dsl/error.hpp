// SPDX-License-Identifier: MIT
// What goes wrong while a graph is built: refusals of a mapping, and calls that the target opset does not allow.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace aton {

/// The base of Aton's exceptions; what() is one line that says what, where and what to do.
class error : public std::exception {
public:
    explicit error(std::string message) : message_(std::move(message)) {}
    [[nodiscard]] char const* what() const noexcept override { return message_.c_str(); }

private:
    std::string message_;
};

/// A mapping cannot express this call (`g.unsupported(...)`), or an argument has a value that no row takes.
class unsupported_error : public error {
public:
    using error::error;
};

/// An ONNX operator was called with operands that are illegal at the target opset.
class illegal_call : public error {
public:
    using error::error;
};

} // namespace aton
