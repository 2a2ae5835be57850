// SPDX-License-Identifier: MIT
// Builds the discrimination tree of rewrites, and walks through it.
#include "rewrite_index.hpp"

#include <algorithm>
#include <utility>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

std::string key(std::string_view domain, std::string_view op, std::size_t operands) {
    std::string k(plain_domain(domain));
    return (k += '\n').append(op).append("\n").append(std::to_string(operands));
}

} // namespace

std::size_t operand_count(graph_node const& n) {
    std::size_t count = n.inputs.size();
    while (count != 0 && n.inputs[count - 1] == no_value) --count;
    return count;
}

bool has_constant_first(graph_node const& n, std::function<bool(value_id)> const& is_constant) {
    return operand_count(n) == 2 && is_constant(n.inputs[0]) && !is_constant(n.inputs[1]);
}

rewrite_index::rewrite_index(std::span<rewrite_entry const> rewrites, int opset)
    : rewrites_(rewrites),
      tree_(1),
      commutes_(first_operator) {
    for (std::size_t i = 0; i != rewrites.size(); ++i)
        if (rewrites[i].holds_at(opset) && !rewrites[i].pattern.is_of_calls()) add(i);
}

int rewrite_index::intern(std::string_view domain, std::string_view op, std::size_t operands) {
    int const next = first_operator + static_cast<int>(operators_.size());
    auto const [found, is_new] = operators_.try_emplace(key(domain, op, operands), next);
    if (is_new) commutes_.push_back(false);
    return found->second;
}

int rewrite_index::find_operator(graph_node const& n) const {
    auto const found = operators_.find(key(n.domain, n.op, operand_count(n)));
    return found == operators_.end() ? -1 : found->second;
}

/// Appends the symbols of a variant in preorder.
void rewrite_index::flatten(pattern_view const& p, std::size_t at, pattern_variant const& v,
                            std::vector<int>& symbols) {
    using enum pattern_term::kind;
    pattern_term const& t = term_at(p, at);
    auto const index = static_cast<std::size_t>(t.index);
    if (t.what == either) return flatten(p, index + v.chosen[at], v, symbols);
    if (t.what != node) {
        symbols.push_back(t.what == absent                  ? absent_symbol
                          : is_constant_term(t, p.captures) ? constant_symbol
                                                            : any_symbol);
        return;
    }
    pattern_node const& n = p.nodes[index];
    auto const count = static_cast<std::size_t>(n.operand_count);
    int const symbol = intern(n.domain, n.op, count);
    symbols.push_back(symbol);
    if (n.commutes) commutes_[static_cast<std::size_t>(symbol)] = true;
    for (std::size_t i = 0; i != count; ++i)
        flatten(p, static_cast<std::size_t>(n.first_operand) + (v.swapped[index] != 0 ? count - 1 - i : i), v, symbols);
}

void rewrite_index::add(std::size_t rewrite) {
    pattern_view const& p = rewrites_[rewrite].pattern;
    for (pattern_variant& v : variants_of(p)) {
        std::vector<int> symbols;
        flatten(p, p.terms.size(), v, symbols);
        insert({rewrite, std::move(v)}, symbols);
    }
}

void rewrite_index::insert(candidate variant, std::vector<int> const& symbols) {
    std::size_t at = 0;
    for (int symbol : symbols) {
        auto& edges = tree_[at].edges;
        auto const found = std::find_if(edges.begin(), edges.end(), [&](auto const& e) { return e.first == symbol; });
        if (found != edges.end()) {
            at = found->second;
            continue;
        }
        edges.emplace_back(symbol, tree_.size());
        at = tree_.size();
        tree_.emplace_back();
    }
    tree_[at].ends.push_back(variants_.size());
    variants_.push_back(std::move(variant));
}

/// One walk: what is still to be visited is a stack of values.
struct rewrite_index::search {
    rewrite_index const& index;
    std::function<facts(value_id)> const& describe;
    std::vector<std::size_t> found;
    std::vector<value_id> pending;

    void enter(tree_node const& at, graph_node const& n, int symbol) {
        std::size_t const before = pending.size();
        for (std::size_t i = operand_count(n); i-- != 0;) pending.push_back(n.inputs[i]);
        auto const is_constant = [&](value_id id) { return id != no_value && describe(id).is_constant; };
        if (index.commutes_[static_cast<std::size_t>(symbol)] && has_constant_first(n, is_constant))
            std::swap(pending[before], pending[before + 1]);
        walk(at);
        pending.resize(before);
    }

    void walk(tree_node const& at) {
        if (pending.empty()) {
            found.insert(found.end(), at.ends.begin(), at.ends.end());
            return;
        }
        value_id const id = pending.back();
        pending.pop_back();
        facts const f = id == no_value ? facts{} : describe(id);
        int const op = f.producer == nullptr ? -1 : index.find_operator(*f.producer);
        for (auto const& [symbol, child] : at.edges) {
            tree_node const& next = index.tree_[child];
            bool const skips = (symbol == any_symbol && id != no_value) ||
                               (symbol == constant_symbol && f.is_constant) ||
                               (symbol == absent_symbol && id == no_value);
            if (skips) walk(next);
            else if (symbol >= first_operator && symbol == op) enter(next, *f.producer, symbol);
        }
        pending.push_back(id);
    }
};

std::vector<rewrite_index::candidate const*> rewrite_index::candidates(
    graph_node const& root, std::function<facts(value_id)> const& describe) const {
    int const op = find_operator(root);
    search s{*this, describe, {}, {}};
    for (auto const& [symbol, child] : tree_[0].edges)
        if (symbol == op) s.enter(tree_[child], root, symbol);
    std::sort(s.found.begin(), s.found.end()); // variants are in the order of their rewrites
    std::vector<candidate const*> all;
    for (std::size_t i : s.found) all.push_back(&variants_[i]);
    return all;
}

} // namespace ATON_NAMESPACE::passes
