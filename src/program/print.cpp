// SPDX-License-Identifier: MIT
// Prints a program as text, one line per node.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

namespace {

class printer {
public:
    explicit printer(program const& p) : p_(p) {
        for (expression const& e : p.expressions) expressions_.push_back(to_string(e));
    }

    std::string print() {
        for (auto const& [symbol, range] : p_.ranges) {
            bool const open = range.max == symbol_range().max;
            out_ += "# " + symbol + ": " + std::to_string(range.min) +
                    (open ? " or more" : " to " + std::to_string(range.max)) + '\n';
        }
        for (guard const& g : p_.guards) {
            out_ += "# guard: ";
            plain(g.text);
            out_ += '\n';
        }
        out_ += "graph(";
        for (input const& in : p_.inputs)
            if (in.kind == input_kind::user && in.value != no_value) {
                separate();
                typed(in.value);
            }
        out_ += "):\n";
        for (input const& in : p_.inputs) weight(in);
        nodes(p_.main, 1);
        return std::move(out_);
    }

private:
    void separate() {
        if (out_.back() != '(' && out_.back() != '[') out_ += ", ";
    }
    /// Prints a string of the file without line breaks and control characters.
    void plain(std::string_view text) {
        for (char c : text) out_ += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
    void reference(value_index v) {
        if (v == no_value) {
            out_ += "None";
            return;
        }
        out_ += '%';
        plain(p_.values[v].name);
    }
    void size(extent const& e) { out_ += e.is_number() ? std::to_string(e.number) : expressions_[e.expression]; }

    void typed(value_index v) {
        reference(v);
        if (v == no_value) return;
        value const& x = p_.values[v];
        switch (x.kind) {
        case value_kind::sym_int:
            out_ += ": SymInt";
            if (x.symbolic) {
                out_ += '(';
                size(*x.symbolic);
                out_ += ')';
            }
            return;
        case value_kind::sym_float: out_ += ": SymFloat"; return;
        case value_kind::sym_bool: out_ += ": SymBool"; return;
        case value_kind::custom_object: out_ += ": Object"; return;
        case value_kind::token: out_ += ": Token"; return;
        case value_kind::tensor: break;
        }
        if (!x.has_type) return;
        out_ += ": " + std::string(printed_name(x.type)) + '(';
        for (extent const& e : x.sizes) {
            separate();
            size(e);
        }
        out_ += ')';
    }

    void weight(input const& in) {
        std::string_view what;
        if (in.kind == input_kind::parameter) what = "parameter";
        if (in.kind == input_kind::buffer) what = "buffer";
        if (in.kind == input_kind::constant) what = "constant";
        if (in.kind == input_kind::custom_object) what = "object";
        if (what.empty() || in.value == no_value) return;
        out_ += "  ";
        typed(in.value);
        out_ += " = ";
        out_ += what;
        out_ += ' ';
        plain(in.target);
        out_ += '\n';
    }

    void real(double d) {
        char text[32];
        std::snprintf(text, sizeof text, "%.9g", d);
        out_ += text;
    }
    void print_number(number const& n) {
        scalar const& s = n.constant;
        if (n.is_computed()) return reference(n.computed);
        if (s.is_bool()) out_ += s.to<bool>() ? "True" : "False";
        else if (s.is_integral()) out_ += std::to_string(s.to<std::int64_t>());
        else real(s.to<double>());
        if (!s.is_complex()) return;
        out_ += '+';
        real(s.imaginary());
        out_ += 'j';
    }

    template <class List, class Print>
    void list(List const& elements, Print print_element) {
        out_ += '[';
        for (auto const& each : elements) {
            separate();
            print_element(each);
        }
        out_ += ']';
    }

    void argument_value(argument const& a) {
        auto const text = [&](std::string const& s) {
            out_ += '"';
            plain(s);
            out_ += '"';
        };
        switch (a.kind) {
        case argument_kind::missing:
        case argument_kind::none: out_ += "None"; return;
        case argument_kind::tensor: return reference(a.tensor);
        case argument_kind::tensors: return list(a.tensors, [&](value_index v) { reference(v); });
        case argument_kind::number: return print_number(a.number);
        case argument_kind::numbers: return list(a.numbers, [&](number const& n) { print_number(n); });
        case argument_kind::number_lists:
            return list(aten::lists_of(a, [](number const& n) { return n; }),
                        [&](auto const& each) { list(each, [&](number const& n) { print_number(n); }); });
        case argument_kind::text: return text(a.text);
        case argument_kind::texts: return list(a.texts, text);
        case argument_kind::type: out_ += name(a.type); return;
        case argument_kind::graph: out_ += "graph "; return plain(a.text);
        default: return plain(a.text);
        }
    }

    void nodes(graph const& g, std::size_t depth) {
        std::string const indent(2 * depth, ' ');
        for (node const& n : g.nodes) {
            out_ += indent;
            results(n);
            plain(n.op);
            out_ += '(';
            for (argument const& a : n.arguments) {
                separate();
                if (!a.name.empty()) {
                    plain(a.name);
                    out_ += '=';
                }
                argument_value(a);
            }
            out_ += ')';
            comment(p_.origins[n.origin]);
            out_ += '\n';
            for (argument const& a : n.arguments)
                if (a.kind == argument_kind::graph) subgraph(a, depth + 1);
        }
        out_ += indent + "return (";
        for (argument const& a : g.outputs) {
            separate();
            argument_value(a);
        }
        out_ += ")\n";
    }

    void results(node const& n) {
        std::size_t const start = out_.size();
        for (result const& r : n.results)
            for (value_index v : r.values) {
                if (out_.size() != start) out_ += ", ";
                typed(v);
            }
        if (out_.size() != start) out_ += " = ";
    }

    void comment(origin const& from) {
        if (from.module.empty() && from.source.empty()) return;
        out_ += "  # ";
        plain(from.module);
        if (!from.module.empty() && !from.source.empty()) out_ += ", ";
        plain(from.source);
    }

    void subgraph(argument const& a, std::size_t depth) {
        graph const& g = p_.subgraphs.at(static_cast<std::size_t>(a.index));
        out_ += std::string(2 * depth, ' ') + "graph ";
        plain(a.text);
        out_ += '(';
        for (value_index v : g.inputs) {
            separate();
            typed(v);
        }
        out_ += "):\n";
        nodes(g, depth + 1);
    }

    program const& p_;
    std::vector<std::string> expressions_;
    std::string out_;
};

} // namespace

std::string to_string(program const& p) { return printer(p).print(); }

} // namespace ATON_NAMESPACE::program
