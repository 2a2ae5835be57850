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

/// Matches the calls of a program, and replaces them in a copy.
class rewritten_calls::pass {
public:
    explicit pass(rewritten_calls& owner) : owner_(owner), dims_(owner.original_, owner.options_.dims) {
        exact_nan_ = owner.options_.nan == nan_mode::exact || has_nan_as_data(owner.original_);
        for (rewrite_entry const& r : owner.rewrites_)
            for (pattern_variant& v : variants_of(r.pattern)) {
                pattern_node const& root = root_of(r.pattern, v);
                std::vector<std::string_view> operands = operands_of(r.pattern, v, root);
                by_root_[root.op].push_back({&r, std::move(v), std::move(operands)});
            }
    }

    /// Finds what matches, from the last node to the first, so that the largest match comes first.
    void match(program::graph const& g) {
        if (!has_roots(g)) return;
        value_uses uses(g, owner_.original_.values.size());
        for (auto n = g.nodes.rbegin(); n != g.nodes.rend(); ++n) {
            auto const rewrites = by_root_.find(n->op);
            if (rewrites == by_root_.end() || removed_.contains(&*n)) continue;
            std::vector<std::string_view> const computed = operators_of_arguments(*n, uses);
            auto const is_computed = [&](std::string_view op) {
                return std::find(computed.begin(), computed.end(), op) != computed.end();
            };
            for (candidate const& c : rewrites->second) {
                if (!std::all_of(c.operands.begin(), c.operands.end(), is_computed)) continue;
                call_match match(uses, *n, c.rewrite->pattern, c.variant);
                if (!match.succeeds() || !holds(*c.rewrite, match.captures(), result_of(*n))) continue;
                for (program::node const* inner : match.inner_nodes())
                    if (removed_.insert(inner).second) uses.remove(*inner);
                uses.remove(*n);
                uses.add(made_.emplace(&*n, replacement(*n, *c.rewrite, match.captures())).first->second);
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

    /// The term that a variant chooses.
    static pattern_term const& chosen(pattern_view const& p, pattern_variant const& v, std::size_t term) {
        while (term_at(p, term).what == pattern_term::kind::either)
            term = static_cast<std::size_t>(term_at(p, term).index) + v.chosen[term];
        return term_at(p, term);
    }
    static pattern_node const& root_of(pattern_view const& p, pattern_variant const& v) {
        return p.nodes[static_cast<std::size_t>(chosen(p, v, p.terms.size()).index)];
    }
    static std::vector<std::string_view> operands_of(pattern_view const& p, pattern_variant const& v,
                                                     pattern_node const& n) {
        std::vector<std::string_view> all;
        for (std::size_t i = 0; i != static_cast<std::size_t>(n.operand_count); ++i) {
            pattern_term const& t = chosen(p, v, static_cast<std::size_t>(n.first_operand) + i);
            if (t.what == pattern_term::kind::node) all.push_back(p.nodes[static_cast<std::size_t>(t.index)].op);
        }
        return all;
    }
    static std::vector<std::string_view> operators_of_arguments(program::node const& n, value_uses const& uses) {
        std::vector<std::string_view> all;
        for (program::argument const& a : n.arguments)
            for (program::value_ref const& v : program::tensors_of(a))
                if (program::node const* const producer = v ? uses.producer(v) : nullptr; producer != nullptr)
                    all.push_back(producer->op);
        return all;
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

    [[nodiscard]] bool has_roots(program::graph const& g) const {
        return std::any_of(g.nodes.begin(), g.nodes.end(), [&](program::node const& n) {
            return n.kind == program::node_kind::aten && by_root_.contains(n.op);
        });
    }

    rewritten_calls& owner_;
    dimension_names dims_;
    bool exact_nan_ = false;
    std::map<std::string_view, std::vector<candidate>, std::less<>> by_root_;
    std::map<program::node const*, program::node> made_; // by the last node of the match
    std::set<program::node const*> removed_;
};

rewritten_calls::rewritten_calls(program::program const& p, export_options const& options)
    : original_(p),
      options_(options) {
    if (p.main.nodes.empty() || !options.optimize || options.operators == operator_mode::aten) return;
    for (rewrite_entry const& r : select_rewrites(options).first)
        if (r.pattern.is_of_calls() && r.holds_at(options.opset)) rewrites_.push_back(r);
    if (rewrites_.empty()) return;
    pass rewrites(*this);
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
