// SPDX-License-Identifier: MIT
// Patterns as text: "Mul(x0, Sigmoid(x0))".
// Public header.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/core/dtype.hpp>
#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE {

namespace detail {

/// Writes one pattern.
class pattern_writer {
public:
    explicit pattern_writer(pattern_view const& p) : p_(p), uses_(p.nodes.size()), names_(p.nodes.size()) {
        for (pattern_term const& t : p.terms)
            if (t.what == pattern_term::kind::node) ++uses_[static_cast<std::size_t>(t.index)];
    }

    [[nodiscard]] std::string text_of(pattern_term const& t) {
        using enum pattern_term::kind;
        auto const index = static_cast<std::size_t>(t.index);
        switch (t.what) {
        case absent: return "absent";
        case capture: return name_of(t.index);
        case number: return number_text(t.number);
        case integers: return list_text(index, static_cast<std::size_t>(t.count));
        case either: return '(' + joined(t, " or ") + ')';
        case by_default: return {};
        case text: return '"' + std::string(p_.text.substr(index, static_cast<std::size_t>(t.count))) + '"';
        case type: return std::string(name(static_cast<dtype>(t.index)));
        case list: return '[' + joined(t, ", ") + ']';
        case anything: return "...";
        case node: break;
        }
        return shared_text(index) + (t.output == 0 ? "" : '#' + std::to_string(t.output));
    }

private:
    /// A node that is used again gets a name where it appears first.
    std::string shared_text(std::size_t index) {
        if (uses_[index] < 2) return node_text(p_.nodes[index]);
        if (!names_[index].empty()) return names_[index];
        names_[index] = 'y' + std::to_string(named_++);
        return names_[index] + ": " + node_text(p_.nodes[index]);
    }
    static std::string name_of(std::int16_t capture) { return 'x' + std::to_string(capture); }
    static std::string number_text(double n) {
        char text[32];
        auto const [end, fault] = std::to_chars(text, text + sizeof text, n);
        return {text, end};
    }
    [[nodiscard]] std::string joined(pattern_term const& t, std::string_view separator) {
        std::string s;
        for (std::size_t i = 0; i != static_cast<std::size_t>(t.count); ++i)
            s.append(i == 0 ? std::string_view() : separator)
                .append(text_of(p_.terms[static_cast<std::size_t>(t.index) + i]));
        return s;
    }
    [[nodiscard]] std::string list_text(std::size_t first, std::size_t count) const {
        std::string s = "[";
        for (std::int64_t i : p_.integers.subspan(first, count)) s += (s.size() == 1 ? "" : ", ") + std::to_string(i);
        return s + ']';
    }
    [[nodiscard]] std::string node_text(pattern_node const& n) {
        std::string s;
        if (!n.domain.empty()) s.append(n.domain).append("::");
        s.append(n.op).append("(");
        std::string_view separator;
        auto const add = [&](std::string_view what) {
            s.append(separator).append(what);
            separator = ", ";
        };
        aten::argument_cursor formals(n.schema);
        aten::schema_argument formal;
        for (std::size_t i = 0; i != static_cast<std::size_t>(n.operand_count); ++i) {
            pattern_term const& t = p_.terms[static_cast<std::size_t>(n.first_operand) + i];
            bool const is_named = !n.schema.empty() && formals.next(formal) && i != 0;
            if (t.what == pattern_term::kind::by_default) continue;
            bool const is_value = t.what == pattern_term::kind::node || t.what == pattern_term::kind::list;
            add((is_named && !is_value ? std::string(formal.name) + '=' : std::string()) + text_of(t));
        }
        for (std::size_t i = 0; i != static_cast<std::size_t>(n.attribute_count); ++i) {
            pattern_attribute const& a = p_.attributes[static_cast<std::size_t>(n.first_attribute) + i];
            add(std::string(a.name) + '=' + attribute_text(a));
        }
        return s + ')';
    }
    [[nodiscard]] std::string attribute_text(pattern_attribute const& a) const {
        auto const first = static_cast<std::size_t>(a.first);
        auto const count = static_cast<std::size_t>(a.count);
        if (a.capture >= 0) return name_of(a.capture);
        if (a.type == onnx::attr_type::i) return std::to_string(a.i);
        if (a.type == onnx::attr_type::f) return number_text(static_cast<double>(a.f));
        if (a.type == onnx::attr_type::s) return '"' + std::string(p_.text.substr(first, count)) + '"';
        return list_text(first, count);
    }

    pattern_view const& p_;
    std::vector<std::size_t> uses_;  // by node
    std::vector<std::string> names_; // by node; empty: none yet
    std::size_t named_ = 0;
};

} // namespace detail

/// A pattern as text: captures are x0, x1, ... in their order, alternatives "(a or b)"; a node with several uses is "y0: Cos(x0)", then
/// "y0"; calls have the names of their arguments; several results are separated by commas.
inline std::string to_string(pattern_view const& p) {
    detail::pattern_writer writer(p);
    std::string s = writer.text_of(p.root);
    for (pattern_term const& t : p.further) s += ", " + writer.text_of(t);
    return s;
}

} // namespace ATON_NAMESPACE
