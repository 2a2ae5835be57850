// SPDX-License-Identifier: MIT
#include <aton/program/text_writer.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::program {

text_writer::text_writer(program const& p) : p_(p) {
    for (expression const& e : p.expressions) expressions_.push_back(to_string(e));
}

std::string text_writer::take() { return std::exchange(text_, {}); }

void text_writer::separate() {
    if (!text_.empty() && text_.back() != '(' && text_.back() != '[') text_ += ", ";
}

void text_writer::plain(std::string_view text) { text_ += clipped(std::string(text), std::string::npos); }

void text_writer::reference(value_index v) {
    if (v == no_value) {
        text_ += "None";
        return;
    }
    text_ += '%';
    plain(p_.values[v].name);
}

void text_writer::size(extent const& e) {
    text_ += e.is_number() ? std::to_string(e.number) : expressions_[e.expression];
}

void text_writer::type(value_index v) {
    value const& x = p_.values[v];
    switch (x.kind) {
    case value_kind::sym_int:
        text_ += "SymInt";
        if (x.symbolic) {
            text_ += '(';
            size(*x.symbolic);
            text_ += ')';
        }
        return;
    case value_kind::sym_float: text_ += "SymFloat"; return;
    case value_kind::sym_bool: text_ += "SymBool"; return;
    case value_kind::custom_object: text_ += "Object"; return;
    case value_kind::token: text_ += "Token"; return;
    case value_kind::tensor: break;
    }
    if (!x.has_type) return;
    text_ += std::string(printed_name(x.type)) + '(';
    for (extent const& e : x.sizes) {
        separate();
        size(e);
    }
    text_ += ')';
}

void text_writer::typed(value_index v) {
    reference(v);
    if (v == no_value) return;
    text_ += ": ";
    std::size_t const start = text_.size();
    type(v);
    if (text_.size() == start) text_.resize(start - 2);
}

void text_writer::real(double d) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", d);
    text_ += text;
}

void text_writer::write_number(number const& n) {
    scalar const& s = n.constant;
    if (n.is_computed()) return reference(n.computed);
    if (s.is_bool()) text_ += s.to<bool>() ? "True" : "False";
    else if (s.is_integral()) text_ += std::to_string(s.to<std::int64_t>());
    else real(s.to<double>());
    if (!s.is_complex()) return;
    text_ += '+';
    real(s.imaginary());
    text_ += 'j';
}

void text_writer::value_of(argument const& a) {
    auto const text = [&](std::string const& s) {
        text_ += '"';
        plain(s);
        text_ += '"';
    };
    switch (a.kind) {
    case argument_kind::missing:
    case argument_kind::none: text_ += "None"; return;
    case argument_kind::tensor: return reference(a.tensor);
    case argument_kind::tensors: return list(a.tensors, [&](value_index v) { reference(v); });
    case argument_kind::number: return write_number(a.number);
    case argument_kind::numbers: return list(a.numbers, [&](number const& n) { write_number(n); });
    case argument_kind::number_lists:
        return list(aten::lists_of(a, [](number const& n) { return n; }),
                    [&](auto const& each) { list(each, [&](number const& n) { write_number(n); }); });
    case argument_kind::text: return text(a.text);
    case argument_kind::texts: return list(a.texts, text);
    case argument_kind::type: text_ += name(a.type); return;
    case argument_kind::graph: text_ += "graph "; return plain(a.text);
    default: return plain(a.text);
    }
}

} // namespace ATON_NAMESPACE::program
