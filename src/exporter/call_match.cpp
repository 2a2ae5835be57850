// SPDX-License-Identifier: MIT
#include "call_match.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <aton/aten/default_argument.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

using kind = program::argument_kind;

bool is_constant(program::argument const& a) {
    return (a.kind == kind::number && !a.number.is_computed()) ||
           (a.kind == kind::numbers &&
            std::none_of(a.numbers.begin(), a.numbers.end(), [](program::number const& n) { return n.is_computed(); }));
}

bool same_number(program::number const& a, program::number const& b) {
    return a.computed == b.computed && (a.is_computed() || a.constant == b.constant);
}

bool same(program::argument const& a, program::argument const& b) {
    return a.kind == b.kind && a.tensor.index == b.tensor.index && same_number(a.number, b.number) &&
           std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(), same_number) &&
           a.text == b.text && a.type == b.type;
}

/// Where and how a tensor is stored, which a graph does not say.
bool is_placement(aten::schema_argument const& formal) {
    using aten::base_type;
    return formal.type.base == base_type::layout || formal.type.base == base_type::device ||
           formal.type.base == base_type::memory_format || formal.name == "pin_memory" || formal.name == "non_blocking";
}

bool is_default(program::argument const& given, aten::schema_argument const& formal) {
    if (given.kind == kind::missing || is_placement(formal)) return true;
    program::argument const otherwise = aten::default_argument<program::argument>(formal);
    if (given.kind == kind::number && otherwise.kind == kind::number && !given.number.is_computed())
        return given.number.constant.to<double>() == otherwise.number.constant.to<double>();
    return same(given, otherwise);
}

/// Also a list of this number, as which ATen takes a number for `int[2]`.
bool is_number(program::argument const& given, double wanted) {
    auto const is_wanted = [&](program::number const& n) {
        return !n.is_computed() && !n.constant.is_complex() && n.constant.to<double>() == wanted;
    };
    if (given.kind == kind::number) return is_wanted(given.number);
    return given.kind == kind::numbers && !given.numbers.empty() &&
           std::all_of(given.numbers.begin(), given.numbers.end(), is_wanted);
}

bool is_list(program::argument const& given, std::span<std::int64_t const> wanted) {
    auto const is_same = [](program::number const& n, std::int64_t i) { return n.integer() == i; };
    if (given.kind == kind::number) return wanted.size() == 1 && is_same(given.number, wanted[0]);
    return given.kind == kind::numbers &&
           std::equal(given.numbers.begin(), given.numbers.end(), wanted.begin(), wanted.end(), is_same);
}

/// Whether a capture of this kind takes the argument.
bool fits(capture_kind wanted, program::argument const& given) {
    using enum capture_kind;
    switch (wanted) {
    case value: return given.kind == kind::tensor && given.tensor;
    case number: return given.kind == kind::number && is_constant(given);
    case real: return given.kind == kind::number && is_constant(given) && !given.number.constant.is_complex();
    case integer: return program::integer_of(given).has_value();
    case boolean: return given.kind == kind::number && is_constant(given) && given.number.constant.is_bool();
    case integers: {
        auto const is_integer = [](program::number const& n) { return n.integer().has_value(); };
        return given.kind == kind::numbers && std::all_of(given.numbers.begin(), given.numbers.end(), is_integer);
    }
    case text: return given.kind == kind::text;
    case type: return given.kind == kind::type && given.type != dtype::undefined;
    case constant: break;
    }
    return false;
}

/// The argument of a call; the default if the call omits it.
program::argument argument_of(program::node const& n, aten::schema_argument const& formal, std::size_t position) {
    for (std::size_t i = 0; i != n.arguments.size(); ++i) {
        program::argument const& a = n.arguments[i];
        if (a.name.empty() ? i == position : a.name == formal.name) return a;
    }
    return formal.has_default ? aten::default_argument<program::argument>(formal) : program::argument();
}

} // namespace

value_uses::value_uses(program::program const& p) : producers_(p.values.size()), counts_(p.values.size()) {
    add(p.main);
    for (program::graph const& g : p.subgraphs) add(g);
}

void value_uses::add(program::graph const& g) {
    for (program::node const& n : g.nodes) add(n);
    for (program::argument const& a : g.outputs)
        program::for_each_value(a, [&](program::value_index v) { ++counts_[v]; });
}

void value_uses::remove(program::node const& n) {
    for (program::argument const& a : n.arguments)
        program::for_each_value(a, [&](program::value_index v) { --counts_[v]; });
    for (program::value_index v : program::result_values(n))
        if (v != program::no_value) producers_[v] = nullptr;
}

void value_uses::add(program::node const& n) {
    for (program::argument const& a : n.arguments)
        program::for_each_value(a, [&](program::value_index v) { ++counts_[v]; });
    for (program::value_index v : program::result_values(n))
        if (v != program::no_value) producers_[v] = &n;
}

call_match::call_match(value_uses const& uses, program::node const& root, pattern_view const& pattern,
                       pattern_variant const& variant)
    : uses_(uses),
      root_(root),
      pattern_(pattern),
      variant_(variant),
      nodes_(pattern.nodes.size()),
      captures_(pattern.captures.size()),
      is_captured_(pattern.captures.size()) {}

bool call_match::succeeds() {
    pattern_term const& t = chosen_term(pattern_, variant_, pattern_.terms.size());
    return t.output == 0 && match_node(static_cast<std::size_t>(t.index), root_) && is_private();
}

bool call_match::match(std::size_t term, program::argument const& given, aten::schema_argument const& formal) {
    using enum pattern_term::kind;
    pattern_term const& t = term_at(pattern_, term);
    auto const index = static_cast<std::size_t>(t.index);
    auto const count = static_cast<std::size_t>(t.count);
    switch (t.what) {
    case anything: return true;
    case by_default: return is_default(given, formal);
    case absent: return given.kind == kind::none || given.kind == kind::missing;
    case capture: return this->capture(index, given);
    case number: return is_number(given, t.number);
    case integers: return is_list(given, pattern_.integers.subspan(index, count));
    case text: return given.kind == kind::text && given.text == pattern_.text.substr(index, count);
    case type: return given.kind == kind::type && given.type == static_cast<dtype>(t.index);
    case either: return match(index + variant_.chosen[term], given, formal);
    case list: {
        if (given.kind != kind::tensors || given.tensors.size() != count) return false;
        for (std::size_t i = 0; i != count; ++i)
            if (!match(index + i, program::argument::of_tensor(given.tensors[i]), formal)) return false;
        return true;
    }
    case node: {
        if (given.kind != kind::tensor || !given.tensor) return false;
        program::node const* const n = uses_.producer(given.tensor);
        if (n == nullptr) return false;
        std::vector<program::value_index> const results = program::result_values(*n);
        return t.output < results.size() && results[t.output] == given.tensor.index && match_node(index, *n);
    }
    }
    return false;
}

bool call_match::match_node(std::size_t index, program::node const& n) {
    if (nodes_[index] != nullptr) return nodes_[index] == &n;
    pattern_node const& p = pattern_.nodes[index];
    if (n.kind != program::node_kind::aten || n.op != p.op) return false;
    if (p.list_length != 0 && program::result_values(n).size() != p.list_length) return false;
    nodes_[index] = &n;
    aten::argument_cursor formals(p.schema);
    aten::schema_argument formal;
    for (std::size_t i = 0; formals.next(formal); ++i) {
        bool const exchanged = i < 2 && p.commutes && variant_.swapped[index] != 0;
        std::size_t const operand = static_cast<std::size_t>(p.first_operand) + (exchanged ? 1 - i : i);
        if (!match(operand, argument_of(n, formal, i), formal)) return false;
    }
    return true;
}

bool call_match::capture(std::size_t index, program::argument const& given) {
    if (!fits(pattern_.captures[index], given)) return false;
    if (is_captured_[index]) return same(captures_[index], given);
    is_captured_[index] = true;
    captures_[index] = given;
    return true;
}

/// Whether only nodes of the match use the results of its nodes, except those of the root and of shared nodes.
bool call_match::is_private() const {
    std::vector<program::node const*> matched;
    for (program::node const* n : nodes_)
        if (n != nullptr && std::find(matched.begin(), matched.end(), n) == matched.end()) matched.push_back(n);
    std::map<program::value_index, std::size_t> inside;
    for (program::node const* n : matched)
        for (program::argument const& a : n->arguments)
            program::for_each_value(a, [&](program::value_index v) { ++inside[v]; });
    for (std::size_t p = 0; p != nodes_.size(); ++p) {
        program::node const* const n = nodes_[p];
        if (n == nullptr || pattern_.nodes[p].shared) continue;
        std::vector<program::value_index> const results = program::result_values(*n);
        for (std::size_t i = 0; i != results.size(); ++i) {
            if (results[i] == program::no_value || (n == &root_ && i == 0)) continue;
            if (inside[results[i]] != uses_.count(results[i])) return false;
        }
    }
    return true;
}

std::vector<program::node const*> call_match::inner_nodes() const {
    std::vector<program::node const*> out;
    for (std::size_t p = 0; p != nodes_.size(); ++p)
        if (nodes_[p] != nullptr && nodes_[p] != &root_ && !pattern_.nodes[p].shared) out.push_back(nodes_[p]);
    return out;
}

} // namespace ATON_NAMESPACE::exporter
