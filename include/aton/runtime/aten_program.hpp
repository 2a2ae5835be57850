// SPDX-License-Identifier: MIT
// Runs programs of torch.export as they stand: operators of ATen, arithmetic on sizes, branches and loops.
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

/// Sees each node of the main graph with its results, those of lists one after the other, in order.
using aten_observer = std::function<void(program::node const&, std::span<value const>)>;

/// A program that is ready to run: made functional, operators looked up, weights on the device. Assertions and guards are not checked.
class aten_program {
public:
    /// Throws aton::error, one line with the node, for operators that cannot run and for weights that cannot be read.
    explicit aten_program(program::program p, aten_options options = {});
    aten_program(aten_program&&) noexcept;
    aten_program& operator=(aten_program&&) noexcept;
    ~aten_program();

    /// The functional program: its outputs are those of `run`, mutations of inputs and buffers among them.
    [[nodiscard]] program::program const& functional() const;
    /// The outputs for the user's inputs in the program's order; numbers are 0-d tensors (int64, float64, bool), None is none. Throws
    /// aton::error, one line with the node and the user's source line. Thread-safe.
    [[nodiscard]] std::vector<value> run(std::span<value const> inputs, aten_observer const& see = {}) const;

private:
    struct state;
    class frame;
    std::unique_ptr<state> state_;
};

} // namespace ATON_NAMESPACE::runtime
