// SPDX-License-Identifier: MIT
#include "rewrite_match.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <aton/onnx/registry.hpp>

#include "attributes.hpp"
#include "captures.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

std::string list_text(std::vector<std::int64_t> const& list) {
    std::string s = "[";
    for (std::int64_t i : list) s += (s.size() == 1 ? "" : ", ") + std::to_string(i);
    return s + ']';
}

/// The default of an attribute, whose text is formatted as in ONNX's documentation. Lists are only compared, as text.
node_attribute default_of(onnx::attribute const& a) {
    node_attribute out;
    out.name = a.name;
    out.type = a.type;
    std::string const text(a.default_text);
    if (a.type == onnx::attr_type::i) out.i = std::strtoll(text.c_str(), nullptr, 10);
    if (a.type == onnx::attr_type::f) out.f = std::strtof(text.c_str(), nullptr);
    if (a.type == onnx::attr_type::s) out.s = text;
    return out;
}

bool is_default(node_attribute const& a, onnx::attribute const& schema) {
    if (schema.default_text.empty() || a.type != schema.type) return false;
    node_attribute const d = default_of(schema);
    switch (a.type) {
    case onnx::attr_type::i: return a.i == d.i;
    case onnx::attr_type::f: return a.f == d.f;
    case onnx::attr_type::s: return a.s == d.s;
    case onnx::attr_type::ints: return list_text(a.ints) == schema.default_text;
    default: return false;
    }
}

bool same(captured const& a, captured const& b) {
    bool const same_constant =
        a.constant == b.constant ||
        (a.constant != nullptr && b.constant != nullptr && a.constant->type == b.constant->type &&
         a.constant->sizes == b.constant->sizes && a.constant->bytes == b.constant->bytes);
    return a.value == b.value && same_constant && a.number == b.number && a.integers == b.integers &&
           a.text == b.text && a.type == b.type;
}

} // namespace

pattern_match::pattern_match(rewriter& r, graph_node const& root, pattern_view const& pattern,
                             pattern_variant const& variant)
    : r_(r),
      root_(root),
      pattern_(pattern),
      variant_(variant),
      nodes_(pattern.nodes.size()),
      captures_(pattern.captures.size()),
      is_captured_(pattern.captures.size()) {}

bool pattern_match::succeeds() {
    pattern_term const& t = chosen_term(pattern_, variant_, pattern_.terms.size());
    return t.output == 0 && match_node(static_cast<std::size_t>(t.index), root_) && is_private();
}

bool pattern_match::match(std::size_t term, value_id id, graph_node const* user) {
    using enum pattern_term::kind;
    pattern_term const& t = term_at(pattern_, term);
    if (t.what == absent || id == no_value) return t.what == absent && id == no_value;
    auto const index = static_cast<std::size_t>(t.index);
    switch (t.what) {
    case capture: return capture_operand(index, id, user);
    case integers: return matches_list(t, id);
    case either: return match(index + variant_.chosen[term], id, user);
    case number: {
        tensor const* const c = single_number(id, user);
        return c != nullptr && fits(scalar(t.number), c->type) && c->bytes == scalar_tensor(t.number, c->type).bytes;
    }
    case node: {
        std::int64_t const producer = r_.graph().values[id].producer;
        if (producer < 0 || !r_.is_alive(id)) return false;
        graph_node const& n = r_.graph().nodes[static_cast<std::size_t>(producer)];
        return t.output < n.outputs.size() && n.outputs[t.output] == id && match_node(index, n);
    }
    default: return false;
    }
}

bool pattern_match::match_node(std::size_t index, graph_node const& n) {
    if (nodes_[index] != nullptr) return nodes_[index] == &n;
    pattern_node const& p = pattern_.nodes[index];
    auto const count = static_cast<std::size_t>(p.operand_count);
    if (n.op != p.op || plain_domain(n.domain) != p.domain || operand_count(n) != count || !match_attributes(p, n))
        return false;
    nodes_[index] = &n;
    auto const is_constant = [&](value_id id) { return id != no_value && r_.is_constant(id); };
    bool const exchanged = (p.commutes && has_constant_first(n, is_constant)) != (variant_.swapped[index] != 0);
    for (std::size_t i = 0; i != count; ++i)
        if (!match(static_cast<std::size_t>(p.first_operand) + (exchanged ? count - 1 - i : i), n.inputs[i], &n))
            return false;
    return true;
}

/// The attributes that the pattern names match, and all others have their defaults.
bool pattern_match::match_attributes(pattern_node const& p, graph_node const& n) {
    auto const named = pattern_.attributes.subspan(static_cast<std::size_t>(p.first_attribute),
                                                   static_cast<std::size_t>(p.attribute_count));
    for (pattern_attribute const& a : named)
        if (!match_attribute(a, n)) return false;
    onnx::op_schema const schema =
        onnx::find(p.domain, p.op, p.domain.empty() ? r_.graph().opset : onnx::newest_version(p.domain));
    return std::all_of(n.attributes.begin(), n.attributes.end(), [&](node_attribute const& a) {
        if (std::any_of(named.begin(), named.end(), [&](auto const& each) { return each.name == a.name; })) return true;
        int const i = schema ? schema.find_attribute(a.name) : -1;
        return i >= 0 && is_default(a, schema.attr(i));
    });
}

bool pattern_match::match_attribute(pattern_attribute const& p, graph_node const& n) {
    node_attribute const* a = n.attribute(p.name);
    node_attribute otherwise;
    if (a == nullptr) {
        onnx::op_schema const schema = onnx::find(n.domain, n.op, r_.graph().opset);
        int const i = schema ? schema.find_attribute(p.name) : -1;
        if (i < 0 || schema.attr(i).default_text.empty()) return false;
        if (p.type == onnx::attr_type::ints) return false; // a list has a default in no operator that rewrites name
        otherwise = default_of(schema.attr(i));
        a = &otherwise;
    }
    if (a->type != p.type || !a->reference.empty()) return false;
    if (p.capture >= 0) {
        auto const index = static_cast<std::size_t>(p.capture);
        captured c;
        if (a->type == onnx::attr_type::f) c.number = scalar(static_cast<double>(a->f));
        bool const is_type = pattern_.captures[index] == capture_kind::type;
        if (is_type) c.type = dtype_from_onnx(a->i);
        else if (a->type == onnx::attr_type::i) c.number = scalar(a->i);
        c.integers = a->ints;
        c.text = a->s;
        return capture(index, std::move(c));
    }
    auto const first = static_cast<std::size_t>(p.first);
    auto const count = static_cast<std::size_t>(p.count);
    switch (p.type) {
    case onnx::attr_type::i: return a->i == p.i;
    case onnx::attr_type::f: return a->f == p.f;
    case onnx::attr_type::s: return a->s == pattern_.text.substr(first, count);
    case onnx::attr_type::ints: {
        auto const wanted = pattern_.integers.subspan(first, count);
        return std::equal(a->ints.begin(), a->ints.end(), wanted.begin(), wanted.end());
    }
    default: return false;
    }
}

/// A constant of one element that does not add dimensions to the result of its user; null for others.
tensor const* pattern_match::single_number(value_id id, graph_node const* user) {
    tensor const* const t = r_.weights().loaded(id);
    if (t == nullptr || t->element_count() != 1 || !tensor::can_hold(t->type) || is_complex(t->type)) return nullptr;
    std::size_t const rank = t->sizes.size();
    bool const fits =
        rank == 0 || (user != nullptr && std::any_of(user->inputs.begin(), user->inputs.end(), [&](value_id other) {
                          return other != id && other != no_value && r_.shape_of(other).has_rank() &&
                                 r_.shape_of(other).rank() >= rank;
                      }));
    return fits ? t : nullptr;
}

bool pattern_match::matches_list(pattern_term const& t, value_id id) {
    tensor const* const c = r_.weights().loaded(id);
    if (c == nullptr || !is_index_tensor(*c) || c->sizes.size() != 1) return false;
    std::vector<std::int64_t> const list = integers(*c);
    auto const wanted = pattern_.integers.subspan(static_cast<std::size_t>(t.index), static_cast<std::size_t>(t.count));
    return std::equal(list.begin(), list.end(), wanted.begin(), wanted.end());
}

bool pattern_match::capture_operand(std::size_t index, value_id id, graph_node const* user) {
    captured c;
    switch (pattern_.captures[index]) {
    case capture_kind::value: c.value = id; break;
    case capture_kind::constant:
        c.constant = r_.constant(id);
        if (c.constant == nullptr) return false;
        break;
    case capture_kind::number:
    case capture_kind::real:
    case capture_kind::integer: {
        tensor const* const t = single_number(id, user);
        if (t == nullptr || (pattern_.captures[index] == capture_kind::integer && !is_integral(t->type))) return false;
        c.number = t->at(0);
        break;
    }
    case capture_kind::integers: {
        tensor const* const t = r_.weights().loaded(id);
        if (t == nullptr || !is_index_tensor(*t) || t->sizes.size() != 1) return false;
        c.integers = integers(*t);
        break;
    }
    default: return false;
    }
    return capture(index, std::move(c));
}

bool pattern_match::capture(std::size_t index, captured c) {
    if (is_captured_[index]) return same(captures_[index], c);
    is_captured_[index] = true;
    captures_[index] = std::move(c);
    return true;
}

std::vector<graph_node const*> pattern_match::matched() const {
    std::vector<graph_node const*> all(nodes_);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (!all.empty() && all.front() == nullptr) all.erase(all.begin());
    return all;
}

/// The result of a matched node that a term is; no_value if the node was not matched or does not have it.
value_id pattern_match::value_of(pattern_term const& t) const {
    graph_node const* const n = nodes_[static_cast<std::size_t>(t.index)];
    return n != nullptr && t.output < n->outputs.size() ? n->outputs[t.output] : no_value;
}

bool pattern_match::is_result(value_id id) const {
    return std::any_of(
        pattern_.further.begin(), pattern_.further.end(), [&](auto const& t) { return value_of(t) == id; });
}

/// Whether a node outside the match that comes before the root uses a value.
bool pattern_match::is_used_already(value_id id, std::vector<graph_node const*> const& inside) const {
    std::int64_t const producer = r_.graph().values[id].producer;
    for (auto i = static_cast<std::size_t>(producer + 1); i < r_.graph().nodes.size(); ++i) {
        graph_node const& n = r_.graph().nodes[i];
        if (r_.is_dropped(i) || std::binary_search(inside.begin(), inside.end(), &n)) continue;
        bool uses = std::find(n.inputs.begin(), n.inputs.end(), id) != n.inputs.end();
        for_each_capture(n, [&](value_id captured) { uses = uses || captured == id; });
        if (uses) return true;
    }
    return false;
}

std::vector<pattern_match::result> pattern_match::further_results() const {
    std::vector<graph_node const*> const inside = matched();
    std::vector<result> all;
    for (pattern_term const& t : pattern_.further) {
        result& each = all.emplace_back(result{value_of(t), 0});
        if (each.value == no_value) continue;
        for (graph_node const* user : inside)
            each.inside_uses +=
                static_cast<std::uint32_t>(std::count(user->inputs.begin(), user->inputs.end(), each.value));
    }
    return all;
}

/// Whether only nodes of the match use the results of its nodes, except those of the root, of shared nodes and of the pattern.
bool pattern_match::is_private() const {
    std::vector<graph_node const*> const inside_nodes = matched();
    for (std::size_t p = 0; p != nodes_.size(); ++p) {
        graph_node const* const n = nodes_[p];
        if (n == nullptr) continue;
        for (std::size_t i = 0; i != n->outputs.size(); ++i) {
            value_id const out = n->outputs[i];
            if (out == no_value || (n == &root_ && i == 0)) continue;
            if (is_result(out)) {
                if (n != &root_ && is_used_already(out, inside_nodes)) return false;
                continue;
            }
            if (pattern_.nodes[p].shared) continue;
            std::size_t inside = 0;
            for (graph_node const* user : inside_nodes)
                inside += static_cast<std::size_t>(std::count(user->inputs.begin(), user->inputs.end(), out));
            if (inside != r_.uses(out)) return false;
        }
    }
    return true;
}

} // namespace ATON_NAMESPACE::passes
