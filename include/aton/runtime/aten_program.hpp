// SPDX-License-Identifier: MIT
// Runs torch.export programs without conversion: ATen operators, arithmetic on sizes, branches and loops.
// Public header.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <aton/program/program.hpp>
#include <aton/runtime/aten_operator.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::runtime {

/// Called with each node of the main graph, in order, and its results; results that are lists are flattened.
using aten_observer = std::function<void(program::node const&, std::span<value const>)>;

/// A program that is ready to run: functionalized, operators looked up, weights on the device. Assertions and guards
/// are not checked.
class aten_program {
public:
    /// Throws aton::error (one line that names the node) for operators that cannot run and for weights that cannot be
    /// read.
    explicit aten_program(program::program p, aten_options options = {});
    aten_program(aten_program&&) noexcept;
    aten_program& operator=(aten_program&&) noexcept;
    ~aten_program();

    /// The functionalized program. Its outputs are those of `run`, including mutated inputs and buffers.
    [[nodiscard]] program::program const& functional() const;
    /// Returns the outputs for the user's inputs, in the program's order; numbers are 0-d tensors (int64, float64,
    /// bool), None is an empty value. Throws aton::error: one line with the node and the user's source line.
    /// Thread-safe.
    [[nodiscard]] std::vector<value> run(std::span<value const> inputs, aten_observer const& observer = {}) const;

private:
    struct state;
    class frame;
    std::unique_ptr<state> state_;
};

} // namespace ATON_NAMESPACE::runtime
