// SPDX-License-Identifier: MIT
#include "call_rewrites.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/contradiction.hpp>
#include <aton/passes/patterns.hpp>

#include "call_match.hpp"
#include "converter.hpp"
#include "select_rewrites.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

/// Runs the replacement of a rewrite whose condition holds.
void run_row(dsl::invocation& in) {
    auto const& rewrite = *static_cast<rewrite_entry const*>(in.row->foreign);
    std::vector<captured> const captures = dsl::detail::captures_of(in);
    value_id result = no_value;
    rewrite.build(in.graph, in.opset, captures, std::span(&result, 1));
    in.results.emplace_back().single = dsl::value(in.graph, result);
}

} // namespace

/// Matches the calls of a program, and replaces them in a copy.
class rewritten_calls::pass {
public:
    pass(rewritten_calls& owner, dimension_names const& dims, bool exact_nan)
        : owner_(owner),
          dims_(dims),
          exact_nan_(exact_nan),
          uses_(owner.original_) {
        for (rewrite_entry const& r : owner.rewrites_)
            for (pattern_variant& v : variants_of(r.pattern)) {
                pattern_term const& result = chosen_term(r.pattern, v, r.pattern.terms.size());
                pattern_node const& last = r.pattern.nodes[static_cast<std::size_t>(result.index)];
                std::vector<std::string_view> operands = operands_of(r.pattern, v, last);
                by_last_call_[last.op].push_back({&r, std::move(v), std::move(operands)});
            }
    }

    /// Finds what matches, from the last node to the first, so that the largest match comes first.
    void match(program::graph const& g) {
        for (auto n = g.nodes.rbegin(); n != g.nodes.rend(); ++n) {
            auto const rewrites = by_last_call_.find(n->op);
            if (rewrites == by_last_call_.end() || removed_.contains(&*n)) continue;
            std::vector<std::string_view> const computed = operators_of_arguments(*n);
            auto const is_computed = [&](std::string_view op) {
                return std::find(computed.begin(), computed.end(), op) != computed.end();
            };
            for (candidate const& c : rewrites->second) {
                if (!std::all_of(c.operands.begin(), c.operands.end(), is_computed)) continue;
                call_match match(uses_, *n, c.rewrite->pattern, c.variant);
                if (!match.succeeds() || !holds(*c.rewrite, match.captures(), result_of(*n))) continue;
                for (program::node const* inner : match.inner_nodes())
                    if (removed_.insert(inner).second) uses_.remove(*inner);
                uses_.remove(*n);
                uses_.add(made_.emplace(&*n, replacement(*n, *c.rewrite, match.captures())).first->second);
                break;
            }
        }
    }
    [[nodiscard]] bool has_matches() const { return !made_.empty(); }

    /// Replaces what matches in a copy of the graph.
    void apply(program::graph const& original, program::graph& copy) const {
        std::vector<program::node> kept;
        for (std::size_t i = 0; i != original.nodes.size(); ++i) {
            program::node const* const n = &original.nodes[i];
            if (removed_.contains(n)) continue;
            auto const made = made_.find(n);
            kept.push_back(made == made_.end() ? std::move(copy.nodes[i]) : made->second);
        }
        copy.nodes = std::move(kept);
    }

private:
    struct candidate {
        rewrite_entry const* rewrite;
        pattern_variant variant;
        std::vector<std::string_view> operands; ///< operators that compute arguments of the last call
    };

    static std::vector<std::string_view> operands_of(pattern_view const& p, pattern_variant const& v,
                                                     pattern_node const& n) {
        std::vector<std::string_view> all;
        for (std::size_t i = 0; i != static_cast<std::size_t>(n.operand_count); ++i) {
            pattern_term const& t = chosen_term(p, v, static_cast<std::size_t>(n.first_operand) + i);
            if (t.what == pattern_term::kind::node) all.push_back(p.nodes[static_cast<std::size_t>(t.index)].op);
        }
        return all;
    }
    [[nodiscard]] std::vector<std::string_view> operators_of_arguments(program::node const& n) const {
        std::vector<std::string_view> all;
        for (program::argument const& a : n.arguments)
            for (program::value_ref const& v : program::tensors_of(a))
                if (program::node const* const producer = v ? uses_.producer(v) : nullptr; producer != nullptr)
                    all.push_back(producer->op);
        return all;
    }
    static program::value_index result_of(program::node const& n) {
        std::vector<program::value_index> const all = program::result_values(n);
        return all.empty() ? program::no_value : all[0];
    }
    [[nodiscard]] value_type type_of(program::value_index index) const {
        return recorded_type(owner_.original_.values[index], dims_);
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
        std::vector<value_id> const made = build_replacement(graph, rewrite, captures);
        return !made.empty() && !aton::detail::contradicts(type_of(result), graph.values[made[0]].type);
    }

    [[nodiscard]] program::node replacement(program::node const& n, rewrite_entry const& rewrite,
                                            std::span<program::argument const> captures) {
        program::node made;
        made.op = row_of(rewrite).overload;
        made.name = n.name;
        for (program::argument const& a : captures)
            made.arguments.push_back(program::argument(a).named("x" + std::to_string(made.arguments.size())));
        made.results = {{{result_of(n)}, false}};
        made.origin = n.origin;
        made.is_functional = true;
        return made;
    }
    dsl::entry const& row_of(rewrite_entry const& rewrite) {
        for (dsl::entry const& e : owner_.rows_.rows())
            if (e.foreign == &rewrite) return e;
        return owner_.rows_.add(rewrite, &run_row);
    }

    rewritten_calls& owner_;
    dimension_names const& dims_;
    bool exact_nan_;
    value_uses uses_;
    std::map<std::string_view, std::vector<candidate>, std::less<>> by_last_call_;
    std::map<program::node const*, program::node> made_; // by the last node of the match
    std::set<program::node const*> removed_;
};

rewritten_calls::rewritten_calls(program::program const& p, export_options const& options, dimension_names const& dims,
                                 bool exact_nan)
    : original_(p),
      options_(options) {
    if (p.main.nodes.empty() || !options.optimize || options.operators == operator_mode::aten) return;
    for (rewrite_entry const& r : select_rewrites(options).first)
        if (r.pattern.is_of_calls() && r.holds_at(options.opset)) rewrites_.push_back(r);
    if (rewrites_.empty()) return;
    pass rewrites(*this, dims, exact_nan);
    rewrites.match(p.main);
    for (program::graph const& g : p.subgraphs) rewrites.match(g);
    if (!rewrites.has_matches()) return;
    changed_ = std::make_unique<program::program>(p);
    rewrites.apply(p.main, changed_->main);
    for (std::size_t i = 0; i != p.subgraphs.size(); ++i) rewrites.apply(p.subgraphs[i], changed_->subgraphs[i]);
    program::remove_dead_nodes(*changed_);
    options_.tables.push_back(rows_.rows());
}

} // namespace ATON_NAMESPACE::exporter
