// SPDX-License-Identifier: MIT
#include "node_search.hpp"

#include <algorithm>

#include <aton/core/error.hpp>
#include <aton/verify/comparison.hpp>

namespace ATON_NAMESPACE::verify {

graph_results::graph_results(runtime::onnx_model const& g, std::span<runtime::value const> inputs) {
    try {
        (void)g.run(inputs, [&](graph_node const& n, std::span<runtime::value const> given) {
            for (std::size_t i = 0; i != given.size(); ++i)
                if (n.outputs[i] != no_value && given[i].is_tensor())
                    add({&n, g.graph().values[n.outputs[i]].name, given[i].one()});
        });
    } catch (error const&) {
        stopped_ = true; // keep the results so far
    }
}

graph_result const* graph_results::named(std::string const& name) const {
    auto const found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &all_[found->second];
}

graph_result const* graph_results::like(runtime::tensor const& wanted, std::int64_t terms, dtype rounded) const {
    auto const found = by_type_.find({wanted.dtype(), wanted.sizes()});
    if (found == by_type_.end() || !is_distinctive(wanted)) return nullptr;
    for (std::size_t const i : found->second)
        if (compare(all_[i].data, wanted, terms, rounded).same()) return &all_[i];
    return nullptr;
}

bool graph_results::is_distinctive(runtime::tensor const& x) {
    if (!is_floating(x.dtype()) || x.count() < 4) return false;
    runtime::tensor const first = x.reshaped({x.count()}).sliced(0, 0, 1, 1);
    return !compare(first.expanded({x.count()}), x.reshaped({x.count()})).same();
}

void graph_results::add(graph_result r) {
    if (!r.name.empty()) by_name_.emplace(r.name, all_.size());
    by_type_[{r.data.dtype(), r.data.sizes()}].push_back(all_.size());
    all_.push_back(std::move(r));
}

void node_search::add(std::span<std::size_t const> operands) {
    std::vector<std::size_t> producers;
    for (std::size_t const v : operands)
        if (auto const found = producers_.find(v); found != producers_.end()) producers.push_back(found->second);
    nodes_.emplace_back().producers = std::move(producers);
}

void node_search::judge(std::size_t value, std::string const& name, runtime::tensor const& expected, dtype rounded) {
    producers_[value] = nodes_.size() - 1;
    judged_node& to = nodes_.back();
    graph_result const* const namesake = graph_.named(name);
    graph_result const* other = namesake;
    if (to.value.empty()) to.value = name;
    if (other == nullptr && to.is == node_verdict::unknown) other = graph_.like(expected, terms_, rounded);
    if (other != nullptr) {
        comparison const c = compare(other->data, expected, terms_, rounded);
        to.error = std::max(to.error, c.error);
        if (namesake == nullptr) {
            to.is = node_verdict::same;
        } else if (to.is != node_verdict::different) {
            to.is = c.same() ? node_verdict::same : node_verdict::different;
            to.namesake = namesake;
            to.why = to_string(c);
            if (!c.same()) to.value = name;
        }
    }
    if (to.is == node_verdict::same && namesake == nullptr && !graph_results::is_distinctive(expected))
        to.is = node_verdict::unknown;
}

std::optional<std::size_t> node_search::first(std::span<std::size_t const> values, bool names_may_differ) {
    mark_needed(values);
    mark_leading();
    auto const count = [&](auto const& counts) { return std::count_if(nodes_.begin(), nodes_.end(), counts); };
    bool const by_numbers = names_may_differ && 2 * count([](judged_node const& n) {
                                                    return n.needed && n.namesake != nullptr;
                                                }) < count([](judged_node const& n) { return n.needed; });
    std::optional<std::size_t> wrong;
    for (std::size_t i = 0; i != nodes_.size() && !(by_numbers && wrong); ++i) {
        judged_node const& n = nodes_[i];
        if (!n.needed) continue;
        if (n.is == node_verdict::different) {
            wrong = i;
            break;
        }
        if (!wrong && n.is == node_verdict::unknown && !n.leads_to_same) wrong = i;
    }
    if (!wrong) return {};
    nodes_[*wrong].is_first = true;
    if (nodes_[*wrong].why.empty() && graph_.stopped()) nodes_[*wrong].why = "the graph stops before it";
    return wrong;
}

std::optional<std::size_t> node_search::first_inexact() const {
    for (std::size_t i = 0; i != nodes_.size(); ++i)
        if (nodes_[i].needed && nodes_[i].namesake != nullptr && nodes_[i].error > 0) return i;
    return {};
}

void node_search::mark_needed(std::span<std::size_t const> values) {
    for (std::size_t const v : values)
        if (auto const found = producers_.find(v); found != producers_.end()) nodes_[found->second].needed = true;
    for (std::size_t i = nodes_.size(); i-- != 0;)
        if (nodes_[i].needed)
            for (std::size_t const producer : nodes_[i].producers) nodes_[producer].needed = true;
}

void node_search::mark_leading() {
    for (std::size_t i = nodes_.size(); i-- != 0;)
        if (nodes_[i].needed && (nodes_[i].is == node_verdict::same || nodes_[i].leads_to_same))
            for (std::size_t const producer : nodes_[i].producers) nodes_[producer].leads_to_same = true;
}

std::vector<std::size_t> node_search::same_before(std::size_t node) const {
    std::vector<bool> seen(nodes_.size());
    std::vector<std::size_t> todo = nodes_[node].producers;
    std::vector<std::size_t> found;
    while (!todo.empty()) {
        std::size_t const i = todo.back();
        todo.pop_back();
        if (seen[i]) continue;
        seen[i] = true;
        if (nodes_[i].is == node_verdict::same) found.push_back(i);
        else todo.insert(todo.end(), nodes_[i].producers.begin(), nodes_[i].producers.end());
    }
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace ATON_NAMESPACE::verify
