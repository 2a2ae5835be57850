// SPDX-License-Identifier: MIT
// Mutants of graphs with the same operators in the same order are the same ones: each call adds to what is known of them.
#include "mutants.hpp"

#include <algorithm>
#include <optional>

#include <aton/dsl/error.hpp>
#include <aton/verify/mutation.hpp>

#include "traced_graph.hpp"

namespace aton::verify {

namespace {

std::string operators_of(graph_data const& g) {
    std::string out;
    for (graph_node const& n : g.nodes) out += n.op + ' ';
    return out;
}

bool same(theme const& a, theme const& b) {
    return a.sizes == b.sizes && a.values == b.values && a.type == b.type && a.scattered == b.scattered &&
           a.defaults == b.defaults;
}

} // namespace

bool row_mutants::family::has_survivors() const {
    return std::any_of(mutants.begin(), mutants.end(), [](auto const& m) { return m.second.survives(); });
}

void row_mutants::run(translation const& t, runtime::device where, theme const& drawn,
                      std::function<bool(std::vector<runtime::value> const&)> const& is_wrong) {
    family& f = families_[operators_of(t.graph)];
    if (std::none_of(f.themes.begin(), f.themes.end(), [&](theme const& other) { return same(drawn, other); }))
        f.themes.push_back(drawn);
    std::optional<traced_graph> traced;
    for (mutation& m : mutations_of(t.graph)) {
        auto& [key, state] = *f.mutants.try_emplace({m.node, m.what}).first;
        if (state.is_caught()) continue;
        if (!traced) traced.emplace(t, where);
        if (!traced->is_used(m.node)) continue;
        traced_graph::outcome const got = traced->run(m);
        switch (got.is) {
        case traced_graph::fate::illegal: break;
        case traced_graph::fate::fails: state.fails = true; break;
        case traced_graph::fate::same: state.ran = true; break;
        case traced_graph::fate::other:
            state.ran = true;
            state.differs = is_wrong(got.results);
        }
        if (state.is_caught()) ++caught_;
    }
}

bool row_mutants::has_survivors(translation const& t) const {
    auto const known = families_.find(operators_of(t.graph));
    return known == families_.end() || known->second.has_survivors();
}

theme const* row_mutants::next_theme() {
    family* least = nullptr;
    for (auto& [operators, f] : families_)
        if ((least == nullptr || f.asked < least->asked) && f.has_survivors()) least = &f;
    if (least == nullptr) return nullptr;
    return &least->themes[least->asked++ % least->themes.size()];
}

mutant_report row_mutants::report(std::string_view overload, std::span<equivalent_mutant const> known) const {
    mutant_report out;
    for (auto const& [operators, f] : families_)
        for (auto const& [key, m] : f.mutants) {
            if (!m.ran) continue;
            ++out.made;
            if (m.is_caught()) {
                ++out.caught;
                continue;
            }
            bool const is_known = std::any_of(known.begin(), known.end(), [&](equivalent_mutant const& e) {
                sampling_rule const one{e.operators, {}};
                return key.second.starts_with(e.what) &&
                       (e.operators.empty() || find_rule(std::span(&one, 1), overload) != nullptr);
            });
            if (is_known) ++out.equivalent;
            else out.survivors.push_back(key.second + " (node " + std::to_string(key.first) + ") in " + operators);
        }
    return out;
}

} // namespace aton::verify
