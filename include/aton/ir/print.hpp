// SPDX-License-Identifier: MIT
// Prints graphs in PyTorch's form: `%y : Float(2, 3) = onnx::Elu[alpha=0.5](%x)`.
// Templates only so that an include does not instantiate them.
// Public header.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/scalar.hpp>
#include <aton/core/shape.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/names.hpp>

namespace ATON_NAMESPACE {

namespace detail {

inline constexpr std::size_t max_printed_elements = 8;
inline constexpr std::size_t max_printed_numbers = 64; ///< of a list attribute

/// The shortest text that reads back as the same number.
template <class Number>
void print_number(std::string& out, Number n) {
    char text[64];
    out.append(text, std::to_chars(text, text + sizeof text, n).ptr);
}

/// Like PyTorch, "1." where an integer would look the same.
template <class = void>
void print_float(std::string& out, float f) {
    std::size_t const start = out.size();
    print_number(out, f);
    if (out.find_first_of(".eni", start) == std::string::npos) out += '.';
}

/// In double quotes, on one line.
template <class = void>
void print_quoted(std::string& out, std::string_view text) {
    out += '"';
    for (char c : text) {
        auto const code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') (out += '\\') += c;
        else if (c == '\n') out += "\\n";
        else if (c == '\t') out += "\\t";
        else if (code < 0x20 || code == 0x7f)
            ((out += "\\x") += "0123456789abcdef"[code >> 4]) += "0123456789abcdef"[code & 15];
        else out += c;
    }
    out += '"';
}

/// A name as it is, or quoted where it could be mistaken for something else.
template <class = void>
void print_name(std::string& out, std::string_view name) {
    bool plain = !name.empty();
    for (char c : name)
        plain = plain && static_cast<unsigned char>(c) > 0x20 && c != 0x7f &&
                std::string_view("\"\\%,()[]{}=#").find(c) == std::string_view::npos;
    if (plain) out += name;
    else print_quoted(out, name);
}

template <class = void>
void print_scalar(std::string& out, scalar const& s, dtype t) {
    bool const narrow = t != dtype::float64 && t != dtype::complex128;
    auto const real = [&](double d) { narrow ? print_number(out, static_cast<float>(d)) : print_number(out, d); };
    if (s.is_bool()) out += s.to<std::int64_t>() != 0 ? "true" : "false";
    else if (t == dtype::uint64) print_number(out, s.to<std::uint64_t>());
    else if (s.is_integral()) print_number(out, s.to<std::int64_t>());
    else real(s.to<double>());
    if (!s.is_complex()) return;
    if (!(s.imaginary() < 0)) out += '+';
    real(s.imaginary());
    out += 'j';
}

template <class = void>
void print_tensor(std::string& out, tensor const& t) {
    auto const n = static_cast<std::size_t>(t.element_count());
    bool const has_elements = t.type == dtype::string
                                  ? n == t.strings.size()
                                  : tensor::can_hold(t.type) && n <= t.bytes.size() / (bits(t.type) / 8);
    std::size_t const shown = !has_elements ? 0 : n <= max_printed_elements ? n : 3;
    out += '{';
    for (std::size_t i = 0; i != shown; ++i) {
        if (i != 0) out += ", ";
        if (t.type == dtype::string) print_quoted(out, t.strings[i]);
        else print_scalar(out, t.at(i), t.type);
    }
    if (shown != n) {
        out += shown != 0 ? ", ... " : "... ";
        print_number(out, n);
        out += " elements";
    }
    out += '}';
}

template <class = void>
void print_dims(std::string& out, shape const& s) {
    out += '(';
    for (std::size_t i = 0; i != s.rank(); ++i) {
        if (i != 0) out += ", ";
        if (s[i].is_static()) print_number(out, s[i].size());
        else if (s[i].is_symbolic()) print_name(out, s[i].symbol());
        else out += '*';
    }
    out += ')';
}

template <class = void>
void print_type(std::string& out, value_type const& t) {
    bool const sequence = t.kind == value_kind::sequence || t.kind == value_kind::optional_sequence;
    bool const optional = t.kind == value_kind::optional_tensor || t.kind == value_kind::optional_sequence;
    out += printed_name(t.dtype);
    if (t.shape.has_rank()) print_dims(out, t.shape);
    if (sequence) out += "[]";
    if (optional) out += '?';
}

/// Prints a graph with its nested graphs, indented, and its functions.
template <class Graph>
class graph_printer {
public:
    [[nodiscard]] std::string print(Graph const& g) {
        block(g, [&] { out_ += "graph"; }, 0);
        for (auto const& f : g.functions) function(f);
        return std::move(out_);
    }

private:
    void indent(std::size_t depth) { out_.append(2 * depth, ' '); }

    template <class Head>
    void block(Graph const& g, Head const& head, std::size_t depth) {
        auto outer = std::exchange(names_, namer_.add(g));
        indent(depth);
        head();
        out_ += '(';
        typed_values(g, g.inputs);
        out_ += "):\n";
        for (graph_initializer const& init : g.initializers) {
            indent(depth + 1);
            typed_values(g, {init.value});
            out_ += " = ";
            if (init.stored != nullptr) stored(g.values[init.value].type);
            else print_tensor(out_, init.data);
            out_ += '\n';
        }
        for (graph_node const& n : g.nodes) node(g, n, depth + 1);
        indent(depth + 1);
        out_ += "return (";
        values(g.outputs);
        out_ += ")\n";
        namer_.leave();
        names_ = std::move(outer);
    }

    /// The body of an operator, whose values are named separately.
    template <class Function>
    void function(Function const& f) {
        for (Graph const& body : f.body) {
            namer_ = {};
            auto const head = [&] {
                out_ += "function ";
                op_name(f.domain, f.name, f.overload);
                if (!f.attributes.empty()) parameters(f);
            };
            block(body, head, 0);
        }
    }

    /// [alpha, beta = 0.5]
    template <class Function>
    void parameters(Function const& f) {
        for (std::size_t i = 0; i != f.attributes.size(); ++i) {
            out_ += i == 0 ? "[" : ", ";
            print_name(out_, f.attributes[i]);
            for (node_attribute const& d : f.defaults)
                if (d.name == f.attributes[i]) out_ += " = ", attribute(d);
        }
        out_ += ']';
    }

    void op_name(std::string_view domain, std::string_view op, std::string_view overload) {
        print_name(out_, domain.empty() ? "onnx" : domain);
        out_ += "::";
        print_name(out_, op);
        if (overload.empty()) return;
        out_ += '.';
        print_name(out_, overload);
    }

    /// Printed instead of the elements of a tensor in a file.
    void stored(value_type const& type) {
        out_ += "stored";
        bool known = type.shape.has_rank();
        auto bytes = static_cast<std::int64_t>(bits(type.dtype) / 8);
        for (dim const& d : type.shape.dims()) {
            known = known && d.is_static();
            bytes *= known ? d.size() : 0;
        }
        if (!known) return;
        out_ += '(';
        print_number(out_, bytes);
        out_ += " bytes)";
    }

    void value(value_id id) {
        if (id >= names_.size()) {
            out_ += "none";
            return;
        }
        out_ += '%';
        print_name(out_, names_[id]);
    }
    void values(std::vector<value_id> const& ids) {
        for (std::size_t i = 0; i != ids.size(); ++i) {
            if (i != 0) out_ += ", ";
            value(ids[i]);
        }
    }
    void typed_values(Graph const& g, std::vector<value_id> const& ids) {
        for (std::size_t i = 0; i != ids.size(); ++i) {
            if (i != 0) out_ += ", ";
            value(ids[i]);
            if (ids[i] >= g.values.size()) continue;
            out_ += " : ";
            print_type(out_, g.values[ids[i]].type);
        }
    }

    void node(Graph const& g, graph_node const& n, std::size_t depth) {
        auto const sorted = by_name(n.attributes);
        indent(depth);
        typed_values(g, n.outputs);
        out_ += n.outputs.empty() ? "" : " = ";
        op_name(n.domain, n.op, n.overload);
        char separator = '[';
        for (node_attribute const* a : sorted) {
            if (!a->graphs.empty()) continue;
            (out_ += separator) += separator == ',' ? " " : "";
            separator = ',';
            print_name(out_, a->name);
            out_ += '=';
            attribute(*a);
        }
        if (separator == ',') out_ += ']';
        out_ += '(';
        values(n.inputs);
        out_ += ')';
        comment(n.source);
        out_ += '\n';
        for (node_attribute const* a : sorted)
            for (Graph const& nested : a->graphs) block(nested, [&] { print_name(out_, a->name); }, depth + 1);
    }

    template <class Attribute>
    static std::vector<Attribute const*> by_name(std::vector<Attribute> const& attributes) {
        std::vector<Attribute const*> out;
        for (Attribute const& a : attributes) {
            out.push_back(&a);
            for (std::size_t i = out.size() - 1; i != 0 && (out[i]->name) < (out[i - 1]->name); --i)
                std::swap(out[i], out[i - 1]);
        }
        return out;
    }

    void comment(std::string_view source) {
        if (source.empty()) return;
        out_ += "   # ";
        for (char c : source) out_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }

    template <class List, class Print>
    void list(List const& elements, Print print_one) {
        out_ += '[';
        for (std::size_t i = 0; i != elements.size() && i != max_printed_numbers; ++i) {
            if (i != 0) out_ += ", ";
            print_one(out_, elements[i]);
        }
        if (elements.size() > max_printed_numbers) {
            out_ += ", ... ";
            print_number(out_, elements.size());
            out_ += " in all";
        }
        out_ += ']';
    }

    /// sparse[3, 4]{1., 2.} at {0, 11}
    void sparse(node_attribute const& a) {
        out_ += "sparse";
        list(a.ints, print_number<std::int64_t>);
        for (std::size_t i = 0; i != a.tensors.size(); ++i) {
            if (i != 0) out_ += " at ";
            print_tensor(out_, a.tensors[i]);
        }
    }

    void attribute(node_attribute const& a) {
        using onnx::attr_type;
        if (!a.reference.empty()) return out_ += '@', print_name(out_, a.reference);
        switch (a.type) {
        case attr_type::f: return print_float(out_, a.f);
        case attr_type::i: return print_number(out_, a.i);
        case attr_type::s: return print_quoted(out_, a.s);
        case attr_type::floats: return list(a.floats, print_float<>);
        case attr_type::ints: return list(a.ints, print_number<std::int64_t>);
        case attr_type::strings: return list(a.strings, print_quoted<>);
        case attr_type::t: return a.tensors.empty() ? void(out_ += "{}") : print_tensor(out_, a.tensors[0]);
        case attr_type::tensors: return list(a.tensors, print_tensor<>);
        case attr_type::type_proto: return a.types.empty() ? void(out_ += '_') : print_type(out_, a.types[0]);
        case attr_type::type_protos: return list(a.types, print_type<>);
        case attr_type::sparse_tensor: return sparse(a);
        default: out_ += "..."; // lists of sparse tensors, which a graph cannot contain
        }
    }

    std::string out_;
    value_names<Graph> namer_;
    typename value_names<Graph>::list names_;
};

} // namespace detail

/// A type as in a printed graph: "Float(1, 3, height, *)"; "Long()" is 0-d, "Long" of unknown rank, "Float(2)[]" a sequence.
template <class = void>
std::string to_string(value_type const& type) {
    std::string out;
    detail::print_type(out, type);
    return out;
}

/// The graph in PyTorch's form, one node per line: results with their types, operator with its attributes in alphabetical order,
/// operands, and after # the origin of the node. Then its functions with their attributes: `Foo.half` is an overload, `@alpha` an
/// attribute of the call. `*` is an unknown size, `none` a skipped input, `1.` a float; large constants are abbreviated.
template <class = void>
std::string to_string(graph_data const& graph) {
    return detail::graph_printer<graph_data>().print(graph);
}

} // namespace ATON_NAMESPACE
