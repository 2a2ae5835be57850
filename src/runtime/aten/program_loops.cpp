// SPDX-License-Identifier: MIT
// Branches and loops of an ATen program.
#include "program_frame.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ATON_NAMESPACE::runtime {

namespace {

std::vector<slot> joined(std::vector<slot> first, std::vector<slot> const& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

/// Collects the tensors of all iterations and stacks each list.
class stacks {
public:
    void add(std::size_t i, tensor const& x) {
        if (i >= parts_.size()) parts_.resize(i + 1);
        parts_[i].push_back(x);
    }
    [[nodiscard]] std::vector<slot> take(std::size_t count) const {
        if (count != 0 && parts_.empty()) throw error("a loop with zero iterations has no results to stack");
        std::vector<slot> out;
        for (std::size_t i = 0; i != count; ++i) out.push_back({stack(parts_.at(i), 0), {}});
        return out;
    }

private:
    std::vector<std::vector<tensor>> parts_;
};

/// The number of iterations of a loop over the first dimension of these inputs.
std::int64_t trips_over(std::vector<slot> const& xs) {
    std::optional<std::int64_t> trips;
    for (slot const& x : xs) {
        if (!x.whole || x.whole.rank() == 0) throw error("it iterates over an input without dimensions");
        if (trips.value_or(x.whole.size(0)) != x.whole.size(0))
            throw error("it iterates over tensors of different sizes");
        trips = x.whole.size(0);
    }
    if (!trips) throw error("it iterates over no tensor");
    return *trips;
}

std::vector<slot> at_trip(std::vector<slot> const& xs, std::int64_t trip) {
    std::vector<slot> out;
    for (slot const& x : xs) out.push_back({x.whole.sliced(0, trip, 1).squeezed(0), {}});
    return out;
}

} // namespace

void aten_program::frame::run_higher_order(program::node const& n) {
    if (n.op == "higher_order::cond") return run_cond(n);
    if (n.op == "higher_order::while_loop") return run_while_loop(n, false);
    if (n.op == "higher_order::while_loop_stack_output") return run_while_loop(n, true);
    if (n.op == "higher_order::scan") return run_scan(n, list_at(n, 1), list_at(n, 2), list_at(n, 3));
    if (n.op == "higher_order::map_impl") return run_scan(n, {}, list_at(n, 1), list_at(n, 2));
    if (n.op == "higher_order::associative_scan") return run_associative_scan(n);
    throw error("the runtime does not have this operator");
}

std::vector<slot> aten_program::frame::call_graph(program::node const& n, std::size_t position,
                                                  std::vector<slot> with) {
    bool const is_graph = position < n.arguments.size() && n.arguments[position].kind == program::argument_kind::graph;
    auto const index = is_graph ? static_cast<std::size_t>(n.arguments[position].index) : p_.subgraphs.size();
    if (index >= p_.subgraphs.size()) throw error("argument " + std::to_string(position) + " is not a graph");
    program::graph const& g = p_.subgraphs[index];
    if (with.size() != g.inputs.size())
        throw error("its graph takes " + std::to_string(g.inputs.size()) + " values, the program passes " +
                    std::to_string(with.size()));
    for (std::size_t i = 0; i != with.size(); ++i) bind(g.inputs[i], std::move(with[i]));
    execute(g, state_.subgraphs[index]);
    std::vector<slot> out;
    for (program::argument const& a : g.outputs) {
        std::vector<slot> each = slots_of(a);
        std::move(each.begin(), each.end(), std::back_inserter(out));
    }
    return out;
}

void aten_program::frame::run_cond(program::node const& n) {
    if (n.arguments.empty()) throw error("it has no condition");
    bind_all(n, call_graph(n, slot_of(n.arguments[0]).truth() ? 1 : 2, list_at(n, 3)));
}

void aten_program::frame::run_while_loop(program::node const& n, bool stacks_results) {
    std::vector<slot> state = list_at(n, 2);
    std::vector<slot> const additional = list_at(n, 3);
    std::size_t const count = state.size();
    stacks trips;
    auto const goes_on = [&] {
        std::vector<slot> const answer = call_graph(n, 0, joined(state, additional));
        if (answer.empty()) throw error("its condition returns nothing");
        return answer[0].truth();
    };
    while (goes_on()) {
        state = call_graph(n, 1, joined(std::move(state), additional));
        if (state.size() < count) throw error("its body returns " + std::to_string(state.size()) + " values");
        for (std::size_t i = count; !stacks_results && i != state.size(); ++i)
            trips.add(i - count, state[i].as_tensor(state_.options.where));
        state.resize(count);
        for (std::size_t i = 0; stacks_results && i != count; ++i)
            trips.add(i, state[i].as_tensor(state_.options.where));
    }
    std::size_t const wanted = result_values(n).size();
    if (stacks_results) bind_all(n, trips.take(wanted));
    else bind_all(n, joined(std::move(state), trips.take(wanted - std::min(wanted, count))));
}

void aten_program::frame::run_scan(program::node const& n, std::vector<slot> state, std::vector<slot> const& xs,
                                   std::vector<slot> const& additional) {
    std::size_t const count = state.size();
    std::size_t const wanted = result_values(n).size();
    stacks trips;
    for (std::int64_t trip = 0, last = trips_over(xs); trip != last; ++trip) {
        std::vector<slot> given = call_graph(n, 0, joined(joined(std::move(state), at_trip(xs, trip)), additional));
        if (given.size() < std::max(count, wanted))
            throw error("its body returns " + std::to_string(given.size()) + " values");
        for (std::size_t i = count; i < wanted; ++i) trips.add(i - count, given[i].as_tensor(state_.options.where));
        given.resize(count);
        state = std::move(given);
    }
    bind_all(n, joined(std::move(state), trips.take(wanted - std::min(wanted, count))));
}

void aten_program::frame::run_associative_scan(program::node const& n) {
    std::vector<slot> const xs = list_at(n, 1);
    std::vector<slot> const additional = list_at(n, 2);
    stacks trips;
    std::vector<slot> before;
    for (std::int64_t trip = 0, last = trips_over(xs); trip != last; ++trip) {
        std::vector<slot> now = at_trip(xs, trip);
        if (trip != 0) now = call_graph(n, 0, joined(joined(std::move(before), now), additional));
        if (now.size() < xs.size()) throw error("its graph returns " + std::to_string(now.size()) + " values");
        now.resize(xs.size());
        for (std::size_t i = 0; i != now.size(); ++i) trips.add(i, now[i].as_tensor(state_.options.where));
        before = std::move(now);
    }
    bind_all(n, trips.take(result_values(n).size()));
}

} // namespace ATON_NAMESPACE::runtime
