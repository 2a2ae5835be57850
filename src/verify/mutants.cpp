// SPDX-License-Identifier: MIT
// Runs the mutants of a row on one call after another and records which are detected.
#include "mutants.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <aton/verify/mutation.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

std::string operators_of(graph_data const& g) {
    std::string out;
    for (graph_node const& n : g.nodes)
        if (n.op != "Constant") out += (out.empty() ? "" : " ") + n.op;
    return out;
}

std::uint64_t mix(std::uint64_t h, std::uint64_t with) {
    h = (h ^ with) * 0x9e3779b97f4a7c15U;
    return h ^ (h >> 29U);
}

std::uint64_t named(std::uint64_t h, std::string_view text) {
    for (char const c : text) h = mix(h, static_cast<unsigned char>(c));
    return h;
}

/// A hash for each node: equal for nodes at the same place of the graph.
std::vector<std::uint64_t> places_of(graph_data const& g) {
    std::vector<std::uint64_t> values(g.values.size(), 1);
    std::vector<std::uint64_t> out;
    for (graph_node const& n : g.nodes) {
        std::uint64_t h = named(2, n.op);
        for (value_id const id : n.inputs) h = mix(h, id == no_value ? 3 : values[id]);
        out.push_back(h);
        for (std::size_t i = 0; i != n.outputs.size(); ++i)
            if (n.outputs[i] != no_value) values[n.outputs[i]] = mix(h, i);
        if (n.op == "Cast") values[n.outputs[0]] = values[n.inputs[0]];
    }
    for (std::size_t n = 0; n != g.nodes.size(); ++n) {
        if (g.nodes[n].op != "Constant") continue;
        for (std::size_t user = n + 1; user != g.nodes.size(); ++user) {
            auto const& in = g.nodes[user].inputs;
            auto const at = std::find(in.begin(), in.end(), g.nodes[n].outputs[0]);
            if (at == in.end()) continue;
            out[n] = mix(out[user], static_cast<std::uint64_t>(at - in.begin()) + 7);
            break;
        }
    }
    return out;
}

} // namespace

row_mutants::row_mutants(std::string_view overload, std::span<equivalent_mutant const> known, int max_mutants)
    : max_mutants_(static_cast<std::size_t>(max_mutants)) {
    for (equivalent_mutant const& e : known)
        if (e.operators.empty() || names(e.operators, overload)) known_.push_back(e.what);
}

bool row_mutants::is_known(std::string_view what) const {
    return std::any_of(known_.begin(), known_.end(), [&](std::string_view start) { return what.starts_with(start); });
}

bool row_mutants::is_chosen(key const& k, std::size_t all) const {
    if (max_mutants_ == 0 || all <= max_mutants_) return true;
    return named(mix(k.place, k.number), k.what) % all < max_mutants_;
}

void row_mutants::run(translation const& t, runtime::device where, call_origin const* from, bool has_numbers,
                      std::function<bool(std::vector<runtime::value> const&)> const& is_wrong) {
    ++graphs_;
    max_nodes_ = std::max(
        max_nodes_,
        static_cast<std::size_t>(std::count_if(
            t.graph.nodes.begin(), t.graph.nodes.end(), [](graph_node const& n) { return n.op != "Constant"; })));
    std::vector<std::uint64_t> const places = places_of(t.graph);
    std::vector<std::size_t> numbers;
    for (auto place = places.begin(); place != places.end(); ++place)
        numbers.push_back(static_cast<std::size_t>(std::count(places.begin(), place, *place)));
    std::optional<traced_graph> traced;
    std::vector<mutation> const mutations = mutations_of(t.graph);
    for (mutation const& m : mutations) {
        key const at{places[m.node], numbers[m.node], m.what};
        if (!is_chosen(at, mutations.size())) continue;
        mutant& state = mutants_[at];
        if (state.is_detected()) continue;
        if (!traced) {
            try {
                traced.emplace(t, where);
            } catch (runtime::step_limit_error const&) {
                return; // too many steps: other calls have graphs that end sooner
            }
        }
        if (!traced->is_used(m.node)) continue;
        if (state.example.empty()) {
            state.example = operators_of(t.graph);
            state.known = is_known(m.what);
        }
        remember(state, from);
        judge(state, traced->run(m), has_numbers, is_wrong);
    }
}

void row_mutants::run(std::string const& what, bool known, call_origin const* from, bool has_numbers,
                      std::function<traced_graph::outcome()> const& outcome,
                      std::function<bool(std::vector<runtime::value> const&)> const& is_wrong) {
    mutant& state = mutants_[key{0, 0, what}];
    if (state.is_detected()) return;
    state.known = known || is_known(what);
    traced_graph::outcome const got = outcome();
    if (got.is != traced_graph::effect::illegal) remember(state, from);
    judge(state, got, has_numbers, is_wrong);
}

void row_mutants::remember(mutant& m, call_origin const* from) {
    constexpr std::size_t max_calls = 12;
    auto const is_of_profile = [&](call_origin const& c) { return c.drawn == from->drawn; };
    if (from != nullptr && m.calls.size() < max_calls && std::none_of(m.calls.begin(), m.calls.end(), is_of_profile))
        m.calls.push_back(*from);
}

void row_mutants::judge(mutant& m, traced_graph::outcome const& got, bool has_numbers,
                        std::function<bool(std::vector<runtime::value> const&)> const& is_wrong) {
    switch (got.is) {
    case traced_graph::effect::illegal: break;
    case traced_graph::effect::endless: m.ran = true; [[fallthrough]];
    case traced_graph::effect::fails: m.fails = true; break;
    case traced_graph::effect::same: m.ran = m.ran || has_numbers; break;
    case traced_graph::effect::other: m.differs = is_wrong(got.results); m.ran = m.ran || has_numbers || m.differs;
    }
    if (m.is_detected()) ++detected_;
}

call_origin const* row_mutants::next_call() {
    mutant* next = nullptr;
    for (auto& [key, m] : mutants_)
        if (m.needs_calls() && (next == nullptr || m.asked < next->asked)) next = &m;
    return next == nullptr ? nullptr : &next->calls[next->asked++ % next->calls.size()];
}

void row_mutants::add_to(std::vector<argument_report>& arguments) const {
    for (argument_report& a : arguments) {
        std::string const start = "argument " + a.name + ": ";
        for (auto const& [key, m] : mutants_) {
            if (!m.ran || !m.example.empty() || !key.what.starts_with(start)) continue;
            ++a.mutants;
            a.detected += m.is_detected() ? 1 : 0;
            a.equivalent += !m.is_detected() && m.known ? 1 : 0;
        }
    }
}

mutant_report row_mutants::report() const {
    mutant_report out;
    for (auto const& [key, m] : mutants_) {
        bool const is_of_argument = m.example.empty(); // counted by add_to()
        if (!m.ran || (is_of_argument && m.is_detected())) continue;
        if (is_of_argument && !m.known) out.survivors.push_back(key.what);
        if (is_of_argument) continue;
        ++out.made;
        if (m.is_detected()) {
            ++out.detected;
            continue;
        }
        if (m.known) ++out.equivalent;
        else out.survivors.push_back(key.what + " in " + m.example);
    }
    if (out.made >= 5) return out;
    if (graphs_ == 0) out.few = "no call has its numbers compared";
    else if (max_nodes_ == 0) out.few = "the graphs have no nodes";
    else out.few = "the graphs have at most " + std::to_string(max_nodes_) + (max_nodes_ == 1 ? " node" : " nodes");
    return out;
}

} // namespace ATON_NAMESPACE::verify
