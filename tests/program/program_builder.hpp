// SPDX-License-Identifier: MIT
// Builds small programs for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

using numbers = std::vector<std::int64_t>;
using strings = std::vector<std::string>;

inline argument tensor(std::string name, value_index v) { return argument::of_tensor(v).named(std::move(name)); }
/// A SymInt, SymFloat or SymBool that a node computes.
inline argument computed(std::string name, value_index v) {
    return argument::of_number(number::of_value(v)).named(std::move(name));
}
inline argument tensors(std::string name, std::vector<value_index> const& v) {
    return argument::of_tensors({v.begin(), v.end()}).named(std::move(name));
}
inline argument integer(std::string name, std::int64_t n) { return argument::of_number(n).named(std::move(name)); }
inline argument integers(std::string name, numbers const& n) {
    return argument::of_numbers({n.begin(), n.end()}).named(std::move(name));
}
inline argument real(std::string name, double n) { return argument::of_number(n).named(std::move(name)); }
inline argument boolean(std::string name, bool b) { return argument::of_number(b).named(std::move(name)); }
inline argument type(std::string name, dtype t) { return argument::of_type(t).named(std::move(name)); }
inline argument text(std::string name, std::string t) { return argument::of_text(std::move(t)).named(std::move(name)); }
inline argument subgraph(std::int64_t index) { return argument::of_graph(index, {}); }

/// The constants of a list of integers.
inline numbers integers_of(argument const& a) {
    numbers out;
    for (number const& n : a.numbers) out.push_back(n.integer().value());
    return out;
}
/// The values of a list of tensors, or of the only tensor.
inline std::vector<value_index> values_of(argument const& a) { return {tensors_of(a).begin(), tensors_of(a).end()}; }

inline numbers contiguous_strides(numbers const& sizes) {
    numbers strides(sizes.size());
    std::int64_t stride = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
        strides[i] = stride;
        stride *= sizes[i] > 1 ? sizes[i] : 1;
    }
    return strides;
}

class program_builder {
public:
    program p;

    program_builder() {
        p.file = "model.pt2";
        p.origins.resize(2);
        p.origins[1].source = "model.py:12 in forward";
    }

    value_index value_of(std::string name, numbers const& sizes, dtype type = dtype::float32) {
        return value_of(std::move(name), sizes, contiguous_strides(sizes), type);
    }
    value_index value_of(std::string name, numbers const& sizes, numbers const& strides, dtype type = dtype::float32) {
        value v;
        v.name = std::move(name);
        v.has_type = true;
        v.type = type;
        for (std::int64_t each : sizes) v.sizes.push_back({each, extent::none});
        for (std::int64_t each : strides) v.strides.push_back({each, extent::none});
        p.values.push_back(std::move(v));
        return static_cast<value_index>(p.values.size() - 1);
    }

    /// A SymInt, SymFloat or SymBool.
    value_index number_value(std::string name, value_kind kind) {
        value v;
        v.name = std::move(name);
        v.kind = kind;
        p.values.push_back(std::move(v));
        return static_cast<value_index>(p.values.size() - 1);
    }

    value_index input(input_kind kind, std::string name, numbers const& sizes, dtype type = dtype::float32) {
        value_index const v = value_of(name, sizes, type);
        p.main.inputs.push_back(v);
        struct input made;
        made.kind = kind;
        made.value = v;
        made.target = std::move(name);
        p.inputs.push_back(std::move(made));
        return v;
    }

    /// The argument, where tensor() of a SymInt, SymFloat or SymBool is a computed number.
    [[nodiscard]] argument resolved(argument a) const {
        if (a.kind != argument_kind::tensor) return a;
        value_kind const kind = p.values.at(a.tensor).kind;
        bool const is_number =
            kind == value_kind::sym_int || kind == value_kind::sym_float || kind == value_kind::sym_bool;
        return is_number ? computed(a.name, a.tensor) : a;
    }

    node make(std::string op, std::vector<argument> arguments, std::vector<value_index> results) {
        for (argument& a : arguments) a = resolved(std::move(a));
        node n;
        n.op = std::move(op);
        n.kind = n.op.starts_with("higher_order::")     ? node_kind::higher_order
                 : n.op.find("::") == std::string::npos ? node_kind::python
                                                        : node_kind::aten;
        n.schema = aten::find_schema(n.op);
        n.arguments = std::move(arguments);
        for (value_index v : results) n.results.push_back({{v}, false});
        n.name = results.empty() ? "" : p.values[results.front()].name;
        n.origin = 1;
        return n;
    }
    /// A node with the given results.
    void add_node(std::string op, std::vector<argument> arguments, std::vector<value_index> results) {
        p.main.nodes.push_back(make(std::move(op), std::move(arguments), std::move(results)));
    }
    /// A node with one contiguous result.
    value_index add(std::string op, std::vector<argument> arguments, numbers const& sizes,
                    dtype type = dtype::float32) {
        value_index const v = value_of(std::to_string(p.values.size()), sizes, type);
        add_node(std::move(op), std::move(arguments), {v});
        return v;
    }
    /// A node whose result is a list.
    std::vector<value_index> add_list(std::string op, std::vector<argument> arguments,
                                      std::vector<std::pair<numbers, numbers>> const& layouts) {
        std::vector<value_index> out;
        for (auto const& [sizes, strides] : layouts)
            out.push_back(value_of(std::to_string(p.values.size()), sizes, strides));
        p.main.nodes.push_back(make(std::move(op), std::move(arguments), {}));
        p.main.nodes.back().results = {result{out, true}};
        return out;
    }

    void output(value_index v, output_kind kind = output_kind::user) {
        p.main.outputs.push_back(resolved(tensor("", v)));
        p.outputs.push_back({kind, {}});
    }

    /// The operators of the main graph, in order.
    [[nodiscard]] std::vector<std::string> ops() const {
        std::vector<std::string> out;
        for (node const& each : p.main.nodes) out.push_back(each.op);
        return out;
    }
    /// The node that computes a value, or null.
    [[nodiscard]] node const* producer(value_index v) const {
        for (node const& n : p.main.nodes)
            for (result const& r : n.results)
                for (value_index each : r.values)
                    if (each == v) return &n;
        return nullptr;
    }
};

/// An argument of a node; throws if it is missing.
inline argument const& argument_of(node const& n, std::string const& name) {
    for (argument const& a : n.arguments)
        if (a.name == name) return a;
    throw std::out_of_range(n.op + " has no argument " + name);
}

/// functionalize() of a program whose operators torch declares.
inline void functionalized(program& p) { functionalize(p); }

/// The message of the error with which a rewrite refuses a program.
template <class Rewrite>
std::string message_of(Rewrite rewrite, program const& refused) {
    program p = refused;
    try {
        rewrite(p);
    } catch (aton::error const& e) {
        return e.what();
    }
    return "no error";
}

inline bool is_said(std::string const& message, std::string const& part) {
    return message.find(part) != std::string::npos;
}

/// The value of an argument of the node that computes `v`.
inline value_index operand(program_builder const& b, value_index v, std::string const& name) {
    node const* const n = b.producer(v);
    REQUIRE(n != nullptr);
    return argument_of(*n, name).tensor;
}

} // namespace ATON_NAMESPACE::program
