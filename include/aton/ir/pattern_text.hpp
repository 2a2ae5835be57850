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

#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE {

namespace detail {

/// Writes one pattern.
class pattern_writer {
public:
    explicit pattern_writer(pattern_view const& p) : p_(p) {}

    [[nodiscard]] std::string text_of(pattern_term const& t) const {
        using enum pattern_term::kind;
        auto const index = static_cast<std::size_t>(t.index);
        switch (t.what) {
        case absent: return "absent";
        case capture: return name_of(t.index);
        case number: return number_text(t.number);
        case integers: return list_text(index, static_cast<std::size_t>(t.count));
        case either: {
            std::string s = "(";
            for (std::size_t i = 0; i != static_cast<std::size_t>(t.count); ++i)
                s += (i == 0 ? "" : " or ") + text_of(p_.terms[index + i]);
            return s + ')';
        }
        case node: break;
        }
        return node_text(p_.nodes[index]) + (t.output == 0 ? "" : '#' + std::to_string(t.output));
    }

private:
    static std::string name_of(std::int16_t capture) { return 'x' + std::to_string(capture); }
    static std::string number_text(double n) {
        char text[32];
        auto const [end, fault] = std::to_chars(text, text + sizeof text, n);
        return {text, end};
    }
    [[nodiscard]] std::string list_text(std::size_t first, std::size_t count) const {
        std::string s = "[";
        for (std::int64_t i : p_.integers.subspan(first, count)) s += (s.size() == 1 ? "" : ", ") + std::to_string(i);
        return s + ']';
    }
    [[nodiscard]] std::string node_text(pattern_node const& n) const {
        std::string s;
        if (!n.domain.empty()) s.append(n.domain).append("::");
        s.append(n.op).append("(");
        std::string_view separator;
        auto const add = [&](std::string_view what) {
            s.append(separator).append(what);
            separator = ", ";
        };
        for (std::size_t i = 0; i != static_cast<std::size_t>(n.operand_count); ++i)
            add(text_of(p_.terms[static_cast<std::size_t>(n.first_operand) + i]));
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
};

} // namespace detail

/// A pattern as text: captures are x0, x1, ... in their order, alternatives "(a or b)".
inline std::string to_string(pattern_view const& p) { return detail::pattern_writer(p).text_of(p.root); }

} // namespace ATON_NAMESPACE
