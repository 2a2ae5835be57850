// SPDX-License-Identifier: MIT
#include <aton/targets/conditions.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/core/tensor.hpp>
#include <aton/onnx/registry.hpp>

#include "words.hpp"

namespace ATON_NAMESPACE::targets {

namespace {

std::string listed(std::string_view values) { return alternatives(words_in(values)); }

bool has_word(std::string_view values, std::string_view word) {
    std::vector<std::string_view> const words = words_in(values);
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_constant(graph_data const& g, value_id id) {
    graph_value const& v = g.values[id];
    if (v.outer != no_value && g.around != nullptr) return is_constant(*g.around, v.outer);
    return v.initializer >= 0 || g.constant(id) != nullptr;
}

graph_initializer const* initializer_of(graph_data const& g, value_id id) {
    graph_value const& v = g.values[id];
    if (v.outer != no_value && g.around != nullptr) return initializer_of(*g.around, v.outer);
    return v.initializer < 0 ? nullptr : &g.initializers[static_cast<std::size_t>(v.initializer)];
}

/// The bytes of a constant, if they are in memory or adjacent in a file.
std::optional<std::string_view> bytes_of(graph_data const& g, value_id id) {
    if (tensor const* t = g.constant(id)) return t->bytes;
    graph_initializer const* i = initializer_of(g, id);
    if (i == nullptr || i->stored == nullptr || i->stored->parts.size() != 1) return std::nullopt;
    stored_part const& part = i->stored->parts[0];
    std::size_t const size = bits(i->stored->type) / 8;
    if (part.bytes.data == nullptr || !part.is_unchanged() || !part.is_contiguous() || size == 0) return std::nullopt;
    return std::string_view(reinterpret_cast<char const*>(part.bytes.data) +
                                static_cast<std::size_t>(part.offset) * size,
                            static_cast<std::size_t>(part.element_count()) * size);
}

/// The words of a number or text of an attribute.
std::string text_of(node_attribute const& a) {
    if (a.type == onnx::attr_type::s) return a.s;
    if (a.type != onnx::attr_type::f) return std::to_string(a.i);
    return std::floor(a.f) == a.f && std::abs(a.f) < 1e9F ? std::to_string(static_cast<std::int64_t>(a.f))
                                                          : std::to_string(a.f);
}

/// The place of the operand that the operator's schema gives this name to; -1 if it has none.
int place_of(graph_node const& n, int opset, bool is_input, std::string_view name) {
    onnx::op_schema const schema = onnx::find(n.domain, n.op, opset);
    if (!schema) return -1;
    int const count = is_input ? schema.input_count() : schema.output_count();
    for (int i = 0; i != count; ++i)
        if ((is_input ? schema.input(i) : schema.output(i)).name == name) return i;
    return -1;
}

std::string about_operand(graph_data const& g, value_id id, node_condition const& c) {
    std::string const name(c.name);
    shape const& s = g.values[id].type.shape;
    dtype const type = g.values[id].type.dtype;
    if (c.test == "absent") return (c.part == "output" ? "has no result " : "has no input ") + name;
    if (c.test == "rank" && s.has_rank() && !has_word(c.values, std::to_string(s.rank())))
        return "takes only " + name + " of rank " + listed(c.values);
    if (c.test == "type" && type != dtype::undefined && !has_word(c.values, aton::name(type)))
        return "has only " + name + " of " + listed(c.values);
    if (c.test == "constant" && !is_constant(g, id)) return "needs a constant " + name;
    if (c.test == "static" && !s.is_static()) return "takes only " + name + " of known sizes";
    if (c.test == "last" && s.has_rank() && s.rank() != 0) {
        dim const& last = s.dims().back();
        if (!last.is_static() || !has_word(c.values, std::to_string(last.size())))
            return "takes only " + name + " whose last size is " + listed(c.values);
    }
    if (c.test == "zero") {
        std::optional<std::string_view> const bytes = bytes_of(g, id);
        if (!bytes || bytes->find_first_not_of('\0') != std::string_view::npos) return "takes only zeros as " + name;
    }
    if (c.test == "under") {
        tensor const* const t = g.constant(id);
        std::string const limit(c.values);
        if (t != nullptr && t->element_count() == 1 && t->at(0).to<double>() >= std::stod(limit))
            return "takes only " + name + " under " + limit;
    }
    return "";
}

/// Whether the first half is the second.
template <class T>
bool is_mirrored(std::vector<T> const& list) {
    auto const half = static_cast<std::ptrdiff_t>(list.size() / 2);
    return std::equal(list.begin(), list.begin() + half, list.begin() + half, list.end());
}

std::string about_attribute(graph_data const& g, graph_node const& n, node_condition const& c) {
    std::string const name(c.name);
    node_attribute const* const a = n.attribute(name);
    if (c.test == "static") {
        shape const& s = g.values[n.inputs[0]].type.shape;
        std::int64_t const axis = a == nullptr ? -1 : a->i;
        std::int64_t const rank = s.has_rank() ? static_cast<std::int64_t>(s.rank()) : 0;
        std::int64_t const at = axis < 0 ? axis + rank : axis;
        bool const is_known = at >= 0 && at < rank && s[static_cast<std::size_t>(at)].is_static();
        return is_known ? "" : "takes only a known size along its " + name;
    }
    if (a == nullptr) return "";
    if (c.test == "absent") return "has no attribute " + name;
    if (c.test == "is" && !has_word(c.values, text_of(*a))) return "has only " + name + ' ' + listed(c.values);
    if (c.test == "ones" && !std::all_of(a->ints.begin(), a->ints.end(), [](auto i) { return i == 1; }))
        return "has only " + name + " of 1";
    if (c.test == "mirrored" && !is_mirrored(a->ints)) return "takes only " + name + " that are equal at both ends";
    if (c.test == "counting")
        for (std::size_t i = 0; i != a->ints.size(); ++i)
            if (a->ints[i] != static_cast<std::int64_t>(i)) return "takes only " + name + " that count from 0";
    if (c.test == "both-directions") {
        node_attribute const* const direction = n.attribute("direction");
        if (direction != nullptr && direction->s == "bidirectional" && !is_mirrored(a->strings))
            return "takes only the same " + name + " in both directions";
    }
    return "";
}

graph_data const* body_of(graph_node const& n, std::string_view name) {
    node_attribute const* const a = n.attribute(name);
    return a == nullptr || a->graphs.empty() ? nullptr : a->graphs.data();
}

std::string about_branches(graph_node const& n) {
    graph_data const* const then = body_of(n, "then_branch");
    graph_data const* const other = body_of(n, "else_branch");
    if (then == nullptr || other == nullptr) return "";
    for (std::size_t i = 0; i != std::min(then->outputs.size(), other->outputs.size()); ++i) {
        shape const& a = then->values[then->outputs[i]].type.shape;
        shape const& b = other->values[other->outputs[i]].type.shape;
        if (a.has_rank() && b.has_rank() && a.rank() != b.rank())
            return "takes only branches whose results have the same rank";
    }
    return "";
}

std::string about_loop(graph_data const& g, graph_node const& n, node_condition const& c) {
    std::size_t const carried = n.inputs.size() < 2 ? 0 : n.inputs.size() - 2;
    if (c.test == "fixed-length") {
        for (std::size_t i = carried; i < n.outputs.size(); ++i) {
            if (n.outputs[i] == no_value) continue;
            shape const& s = g.values[n.outputs[i]].type.shape;
            if (!s.has_rank() || s.rank() == 0 || !s[0].is_static()) return "stacks only results of a known length";
        }
        return "";
    }
    graph_data const* const body = body_of(n, "body");
    for (std::size_t i = 0; body != nullptr && i != carried; ++i) {
        if (i + 2 >= body->inputs.size() || i + 1 >= body->outputs.size()) break;
        shape const& a = body->values[body->inputs[i + 2]].type.shape;
        shape const& b = body->values[body->outputs[i + 1]].type.shape;
        bool const known = a.is_static() && b.is_static();
        if (known ? a != b : a.has_rank() && b.has_rank() && a.rank() != b.rank())
            return "carries only values whose sizes stay";
    }
    return "";
}

/// A runtime has its kernels for versions of an operator's definition, not for opsets.
std::string about_schema(graph_node const& n, int opset, node_condition const& c) {
    onnx::op_schema const schema = onnx::find(n.domain, n.op, opset);
    if (!schema || has_word(c.values, std::to_string(schema.since()))) return "";
    return "of opset " + std::to_string(schema.since()) + " is not supported, only of " + listed(c.values);
}

struct known_condition {
    std::string_view part, test;
    bool has_values = false;
};
constexpr known_condition known[] = {
    {"input", "absent"},       {"input", "constant"},     {"input", "given"},        {"input", "last", true},
    {"input", "rank", true},   {"input", "static"},       {"input", "type", true},   {"input", "under", true},
    {"input", "zero"},         {"output", "absent"},      {"output", "type", true},  {"attribute", "absent"},
    {"attribute", "counting"}, {"attribute", "is", true}, {"attribute", "mirrored"}, {"attribute", "both-directions"},
    {"attribute", "ones"},     {"attribute", "static"},   {"branches", "same-rank"}, {"loop", "fixed-length"},
    {"loop", "same-sizes"},    {"schema", "since", true},
};

} // namespace

bool is_known(node_condition const& c) {
    bool const has_name = c.part != "branches" && c.part != "loop" && c.part != "schema";
    return has_name != c.name.empty() && std::any_of(std::begin(known), std::end(known), [&](known_condition const& k) {
               return k.part == c.part && k.test == c.test && k.has_values != c.values.empty();
           });
}

std::string broken(graph_data const& g, graph_node const& n, int opset, node_condition const& c) {
    if (c.part == "branches") return about_branches(n);
    if (c.part == "schema") return about_schema(n, opset, c);
    if (c.part == "loop") return about_loop(g, n, c);
    if (c.part == "attribute") return about_attribute(g, n, c);
    bool const is_input = c.part == "input";
    int const place = place_of(n, opset, is_input, c.name);
    if (place < 0) return "";
    std::vector<value_id> const& ids = is_input ? n.inputs : n.outputs;
    auto const at = static_cast<std::size_t>(place);
    if (at < ids.size() && ids[at] != no_value) return about_operand(g, ids[at], c);
    return is_input && c.test == "given" ? "needs its input " + std::string(c.name) : "";
}

} // namespace ATON_NAMESPACE::targets
