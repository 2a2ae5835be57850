// SPDX-License-Identifier: MIT
#include "call_rewrites.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/contradiction.hpp>
#include <aton/program/subgraphs.hpp>

#include "call_match.hpp"
#include "converter.hpp"
#include "nan_as_data.hpp"
#include "select_rewrites.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

/// Runs the replacement of a rewrite whose condition holds.
void run_row(dsl::invocation& in) {
    auto const& rewrite = *static_cast<rewrite_entry const*>(in.row->foreign);
    std::vector<captured> const captures = dsl::detail::captures_of(in);
    in.results.emplace_back().single = dsl::value(in.graph, rewrite.build(in.graph, in.opset, captures));
}

} // namespace

/// Replaces calls in one copy of the program.
class rewritten_calls::pass {
public:
    explicit pass(rewritten_calls& owner) : owner_(owner), dims_(owner.original_, owner.options_.dims) {
        exact_nan_ = owner.options_.nan == nan_mode::exact || has_nan_as_data(owner.original_);
        for (rewrite_entry const& r : owner.rewrites_)
            for (pattern_variant& v : variants_of(r.pattern)) {
                std::string_view const op = root_of(r.pattern, v).op;
                by_root_[op].push_back({&r, std::move(v)});
            }
    }

    /// Whether a call of the program may be the last one of a match.
    [[nodiscard]] bool has_roots(program::graph const& g) const {
        return std::any_of(g.nodes.begin(), g.nodes.end(), [&](program::node const& n) {
            return n.kind == program::node_kind::aten && by_root_.contains(n.op);
        });
    }

    /// From the last node to the first, so that the largest match comes first.
    void run(program::graph& g) {
        if (!has_roots(g)) return;
        value_uses uses(g);
        std::set<program::node const*> removed;
        for (auto n = g.nodes.rbegin(); n != g.nodes.rend(); ++n) {
            auto const rewrites = by_root_.find(n->op);
            if (rewrites == by_root_.end() || removed.contains(&*n)) continue;
            for (candidate const& c : rewrites->second) {
                call_match match(uses, *n, c.rewrite->pattern, c.variant);
                if (!match.succeeds() || !holds(*c.rewrite, match.captures(), result_of(*n))) continue;
                for (program::node const* inner : match.inner_nodes()) {
                    if (removed.insert(inner).second) uses.remove(*inner);
                }
                uses.remove(*n);
                replace(*n, *c.rewrite, match.captures());
                uses.add(*n);
                has_changed_ = true;
                break;
            }
        }
        std::vector<program::node> kept;
        for (program::node& n : g.nodes)
            if (!removed.contains(&n)) kept.push_back(std::move(n));
        g.nodes = std::move(kept);
    }
    [[nodiscard]] bool has_changed() const { return has_changed_; }

private:
    struct candidate {
        rewrite_entry const* rewrite;
        pattern_variant variant;
    };

    static pattern_node const& root_of(pattern_view const& p, pattern_variant const& v) {
        std::size_t term = p.terms.size();
        while (term_at(p, term).what == pattern_term::kind::either)
            term = static_cast<std::size_t>(term_at(p, term).index) + v.chosen[term];
        return p.nodes[static_cast<std::size_t>(term_at(p, term).index)];
    }
    static program::value_index result_of(program::node const& n) {
        std::vector<program::value_index> const all = program::result_values(n);
        return all.empty() ? program::no_value : all[0];
    }
    [[nodiscard]] value_type type_of(program::value_index index) const {
        program::value const& v = owner_.original_.values[index];
        value_type type;
        if (v.kind != program::value_kind::tensor || !v.has_type) return type;
        type.dtype = v.type;
        type.shape = dims_(v.sizes);
        return type;
    }

    /// Whether the replacement exists, has the recorded type, and the condition holds: builds it in a graph of its own.
    [[nodiscard]] bool holds(rewrite_entry const& rewrite, std::span<program::argument const> matched,
                             program::value_index result) const {
        if (result == program::no_value) return false;
        graph_data graph;
        graph.opset = owner_.options_.opset;
        graph.context.exact_nan = exact_nan_;
        std::map<program::value_index, value_id> inputs;
        std::vector<captured> captures;
        for (program::argument const& a : matched) {
            captured& c = captures.emplace_back(dsl::detail::captured_of(a));
            if (a.kind != program::argument_kind::tensor) continue;
            value_type const type = type_of(a.tensor);
            if (is_complex(type.dtype)) return false; // a replacement is written for reals
            auto const [at, is_new] = inputs.try_emplace(a.tensor, no_value);
            if (is_new) at->second = graph.add_input({}, type);
            c.value = at->second;
        }
        try {
            if (rewrite.holds != nullptr && !rewrite.holds(graph, graph.opset, captures)) return false;
            value_id const made = rewrite.build(graph, graph.opset, captures);
            return made < graph.values.size() && !contradicts(type_of(result), graph.values[made].type);
        } catch (refused const&) { // the calls stay as they are
            return false;
        } catch (std::bad_alloc const&) {
            throw;
        } catch (std::exception const& e) {
            throw error("rewrite " + std::string(rewrite.name) + ": " + e.what());
        }
    }
    static bool contradicts(value_type const& recorded, value_type const& made) {
        bool const known = recorded.dtype != dtype::undefined && made.dtype != dtype::undefined;
        return (known && recorded.dtype != made.dtype) || aton::detail::contradicts(recorded.shape, made.shape);
    }

    void replace(program::node& n, rewrite_entry const& rewrite, std::span<program::argument const> captures) {
        dsl::entry const& row = row_of(rewrite);
        program::node made;
        made.op = row.overload;
        made.name = std::move(n.name);
        for (program::argument const& a : captures)
            made.arguments.push_back(program::argument(a).named("x" + std::to_string(made.arguments.size())));
        made.results = {{{result_of(n)}, false}};
        made.origin = n.origin;
        made.is_functional = true;
        n = std::move(made);
    }
    dsl::entry const& row_of(rewrite_entry const& rewrite) {
        for (dsl::entry const& e : owner_.rows_.rows())
            if (e.foreign == &rewrite) return e;
        return owner_.rows_.add(rewrite, &run_row);
    }

    rewritten_calls& owner_;
    dimension_names dims_;
    bool exact_nan_ = false;
    bool has_changed_ = false;
    std::map<std::string_view, std::vector<candidate>, std::less<>> by_root_;
};

rewritten_calls::rewritten_calls(program::program const& p, export_options const& options)
    : original_(p),
      options_(options) {
    if (p.main.nodes.empty() || !options.optimize || options.operators == operator_mode::aten) return;
    for (rewrite_entry const& r : select_rewrites(options).first)
        if (r.pattern.is_of_calls() && r.holds_at(options.opset)) rewrites_.push_back(r);
    if (rewrites_.empty()) return;
    pass rewrites(*this);
    bool const may_match =
        rewrites.has_roots(p.main) || std::any_of(p.subgraphs.begin(), p.subgraphs.end(), [&](program::graph const& g) {
            return rewrites.has_roots(g);
        });
    if (!may_match) return;
    auto changed = std::make_unique<program::program>(p);
    program::for_each_graph(*changed, [&](program::graph& g) { rewrites.run(g); });
    if (!rewrites.has_changed()) return;
    program::remove_dead_nodes(*changed);
    changed_ = std::move(changed);
    options_.tables.push_back(rows_.rows());
}

} // namespace ATON_NAMESPACE::exporter
