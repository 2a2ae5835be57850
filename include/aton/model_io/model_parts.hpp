// SPDX-License-Identifier: MIT
// An ONNX file of any producer, whose nodes can be taken out as models of their own: everything stays as the file has it.
// Internal header.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// A node of the main graph.
struct model_node {
    std::string name; ///< may be empty
    std::string domain;
    std::string op;
    /// Values that the node takes, and those that its nested graphs capture, each once.
    std::vector<std::string> inputs;
    std::vector<std::string> outputs; ///< without those that are left out
};

/// "the 4th node, Conv 'conv1'", counted from 1.
[[nodiscard]] std::string describe(std::span<model_node const> nodes, std::size_t node);

/// A value of a part, with the type of its tensors.
struct part_value {
    std::string name;
    value_type type;
};

class model_parts {
public:
    /// Reads the file and its external tensors. Throws aton::error, one line that names the file, for what is not a readable model, or
    /// has more than 2 GiB.
    explicit model_parts(std::string const& path);
    model_parts(model_parts&&) noexcept;
    model_parts& operator=(model_parts&&) noexcept;
    ~model_parts();

    [[nodiscard]] std::string const& path() const;
    /// Of the main graph, in the order of the file.
    [[nodiscard]] std::vector<model_node> const& nodes() const;
    /// The inputs, without those that have an initializer.
    [[nodiscard]] std::vector<part_value> const& inputs() const;
    [[nodiscard]] std::vector<std::string> const& outputs() const;
    /// Whether an initializer has this name, and no input.
    [[nodiscard]] bool is_constant(std::string const& name) const;

    /// The model as bytes, with its external tensors inside.
    [[nodiscard]] std::string whole() const;
    /// The model with additional outputs, at the end.
    [[nodiscard]] std::string with_outputs(std::span<part_value const> outputs) const;
    /// These nodes as a model, with the initializers and the functions that they need.
    [[nodiscard]] std::string part(std::span<std::size_t const> nodes, std::span<part_value const> inputs,
                                   std::span<part_value const> outputs) const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace ATON_NAMESPACE
