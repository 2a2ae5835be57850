// SPDX-License-Identifier: MIT
// A run of an ATen program: the current values, and how nodes change them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/runtime/aten_program.hpp>
#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// A value during a run: a tensor, a number that the program calculates with, or nothing.
struct slot {
    tensor whole;
    std::optional<scalar> number;

    [[nodiscard]] explicit operator bool() const { return whole || number.has_value(); }
    [[nodiscard]] bool truth() const { return as_number().to<double>() != 0; }
    [[nodiscard]] scalar as_number() const {
        if (number) return *number;
        if (!whole) throw error("a value is used before it is computed");
        return to_host(whole).item();
    }
    [[nodiscard]] tensor as_tensor(device where) const {
        if (!number) return whole;
        return to_device(tensor::of_scalar(*number, dtype_of(*number)), where);
    }
};

/// For each node, the values that no later node needs.
using last_uses = std::vector<std::vector<program::value_index>>;

struct aten_program::state {
    state(program::program of, aten_options with);

    program::program p;
    aten_options options;
    std::vector<tensor> weights; ///< one per input; empty for the user's inputs
    last_uses main;
    std::vector<last_uses> subgraphs;

    void check(program::graph const& g) const {
        for (program::node const& n : g.nodes)
            if (n.kind == program::node_kind::aten && !has_aten_operator(n.op))
                throw error(program::describe(p, n) + ": the runtime does not have this operator");
    }
};

class aten_program::frame {
public:
    frame(state const& s, aten_observer const& observer)
        : state_(s),
          p_(s.p),
          observer_(observer),
          values_(s.p.values.size()),
          seed_(s.options.seed) {}

    [[nodiscard]] std::vector<value> run(std::span<value const> inputs);

private:
    void take_input(program::input const& in, value const& given);
    [[nodiscard]] value output(program::argument const& a) const;
    void execute(program::graph const& g, last_uses const& last);
    void spend_step();
    void run_node(program::node const& n);
    void show(program::node const& n) const;
    void run_operator(program::node const& n);
    void run_python(program::node const& n);

    // Arguments and results.
    [[nodiscard]] slot const& at(program::value_index v) const;
    [[nodiscard]] slot slot_of(program::number const& n) const;
    [[nodiscard]] slot slot_of(program::argument const& a) const;
    /// The elements of a list, or a single value as a list of one.
    [[nodiscard]] std::vector<slot> slots_of(program::argument const& a) const;
    /// The values of argument `position`; empty if it is not given.
    [[nodiscard]] std::vector<slot> list_at(program::node const& n, std::size_t position) const;
    [[nodiscard]] aten_argument argument_of(program::argument const& a, std::string_view name) const;
    void bind(program::value_index v, slot given);
    void bind_all(program::node const& n, std::vector<slot> given);

    // Branches and loops.
    void run_higher_order(program::node const& n);
    /// The flattened results of the graph in an argument.
    [[nodiscard]] std::vector<slot> call_graph(program::node const& n, std::size_t position, std::vector<slot> with);
    void run_cond(program::node const& n);
    void run_while_loop(program::node const& n, bool stacks_results);
    void run_scan(program::node const& n, std::vector<slot> state, std::vector<slot> const& xs,
                  std::vector<slot> const& additional);
    /// y[0] = x[0], y[i] = f(y[i - 1], x[i])
    void run_associative_scan(program::node const& n);

    state const& state_;
    program::program const& p_;
    aten_observer const& observer_;
    std::vector<slot> values_;
    std::uint64_t seed_;
    std::uint64_t steps_ = 0;
    int depth_ = 0;
};

} // namespace ATON_NAMESPACE::runtime
