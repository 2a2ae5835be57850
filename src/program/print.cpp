// SPDX-License-Identifier: MIT
// Prints a program as text, one line per node.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <aton/program/program.hpp>
#include <aton/program/text_writer.hpp>

namespace ATON_NAMESPACE::program {

namespace {

class program_printer {
public:
    explicit program_printer(program const& p) : p_(p), to_(p), out_(to_.text()) {}

    std::string print() {
        for (auto const& [symbol, range] : p_.ranges) {
            bool const open = range.max == symbol_range().max;
            out_ += "# " + symbol + ": " + std::to_string(range.min) +
                    (open ? " or more" : " to " + std::to_string(range.max)) + '\n';
        }
        for (guard const& g : p_.guards) {
            out_ += "# guard: ";
            to_.plain(g.text);
            out_ += '\n';
        }
        out_ += "graph(";
        for (input const& in : p_.inputs)
            if (in.kind == input_kind::user && in.value != no_value) {
                to_.separate();
                to_.typed(in.value);
            }
        out_ += "):\n";
        for (input const& in : p_.inputs) weight(in);
        nodes(p_.main, 1);
        return to_.take();
    }

private:
    void weight(input const& in) {
        std::string_view what;
        if (in.kind == input_kind::parameter) what = "parameter";
        if (in.kind == input_kind::buffer) what = "buffer";
        if (in.kind == input_kind::constant) what = "constant";
        if (in.kind == input_kind::custom_object) what = "object";
        if (what.empty() || in.value == no_value) return;
        out_ += "  ";
        to_.typed(in.value);
        out_ += " = ";
        out_ += what;
        out_ += ' ';
        to_.plain(in.target);
        out_ += '\n';
    }

    void nodes(graph const& g, std::size_t depth) {
        std::string const indent(2 * depth, ' ');
        for (node const& n : g.nodes) {
            out_ += indent;
            results(n);
            to_.plain(n.op);
            out_ += '(';
            for (argument const& a : n.arguments) {
                to_.separate();
                if (!a.name.empty()) {
                    to_.plain(a.name);
                    out_ += '=';
                }
                to_.value_of(a);
            }
            out_ += ')';
            comment(p_.origins[n.origin]);
            out_ += '\n';
            for (argument const& a : n.arguments)
                if (a.kind == argument_kind::graph) subgraph(a, depth + 1);
        }
        out_ += indent + "return (";
        for (argument const& a : g.outputs) {
            to_.separate();
            to_.value_of(a);
        }
        out_ += ")\n";
    }

    void results(node const& n) {
        std::size_t const start = out_.size();
        for (result const& r : n.results)
            for (value_index v : r.values) {
                if (out_.size() != start) out_ += ", ";
                to_.typed(v);
            }
        if (out_.size() != start) out_ += " = ";
    }

    void comment(origin const& from) {
        if (from.module.empty() && from.source.empty()) return;
        out_ += "  # ";
        to_.plain(from.module);
        if (!from.module.empty() && !from.source.empty()) out_ += ", ";
        to_.plain(from.source);
    }

    void subgraph(argument const& a, std::size_t depth) {
        graph const& g = p_.subgraphs.at(static_cast<std::size_t>(a.index));
        out_ += std::string(2 * depth, ' ') + "graph ";
        to_.plain(a.text);
        out_ += '(';
        for (value_index v : g.inputs) {
            to_.separate();
            to_.typed(v);
        }
        out_ += "):\n";
        nodes(g, depth + 1);
    }

    program const& p_;
    text_writer to_;
    std::string& out_; ///< the text of to_
};

} // namespace

std::string to_string(program const& p) { return program_printer(p).print(); }

} // namespace ATON_NAMESPACE::program
