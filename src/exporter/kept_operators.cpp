// SPDX-License-Identifier: MIT
// `--operators keep`: an operator without a mapping becomes a node of its own domain. Tensors become inputs, everything else attributes.
#include "converter.hpp"
#include "make_attribute.hpp"

#include <cmath>
#include <limits>

#include <aton/aten/function_schema.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

using kind = program::argument_kind;

/// Whether an argument has no meaning in ONNX: devices, layouts and memory formats are left to the runtime.
bool is_irrelevant(program::argument const& a) { return a.kind == kind::none || a.kind == kind::tag; }

} // namespace

float attribute_float(std::string_view name, double value) {
    if (std::isfinite(value) && std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
        throw unsupported_error("argument '" + std::string(name) + "' is out of range for a float attribute");
    return static_cast<float>(value);
}

node_attribute attribute_of(program::argument const& a) {
    using onnx::attr_type;
    node_attribute out = make_attribute(a.name, attr_type::i);
    bool any_real = false;
    auto const check = [&](program::number const& n) {
        if (n.is_computed())
            throw unsupported_error("argument '" + a.name +
                                    "' is computed by the program; an attribute must be a constant");
        if (n.constant.is_complex())
            throw unsupported_error("argument '" + a.name + "' is a complex number, which an attribute cannot hold");
        any_real = any_real || n.constant.is_floating();
    };
    switch (a.kind) {
    case kind::number:
        check(a.number);
        if (any_real) out.type = attr_type::f, out.f = attribute_float(a.name, a.number.constant.to<double>());
        else out.i = a.number.constant.to<std::int64_t>();
        return out;
    case kind::numbers:
        for (program::number const& n : a.numbers) check(n);
        out.type = any_real ? attr_type::floats : attr_type::ints;
        for (program::number const& n : a.numbers)
            if (any_real) out.floats.push_back(attribute_float(a.name, n.constant.to<double>()));
            else out.ints.push_back(n.constant.to<std::int64_t>());
        return out;
    case kind::type: out.i = static_cast<std::int64_t>(a.type); return out;
    case kind::text:
        out.type = attr_type::s;
        out.s = a.text;
        return out;
    case kind::texts:
        out.type = attr_type::strings;
        out.strings = a.texts;
        return out;
    case kind::number_lists:
        throw unsupported_error("argument '" + a.name + "' is a list of lists, which an attribute cannot hold");
    default: throw unsupported_error("argument '" + a.name + "' is " + a.text + ", which an attribute cannot hold");
    }
}

/// Refuses an operator with complex tensors, which ONNX does not have, and one without a schema that, judging by its name and results,
/// writes to an argument: the program does not say to which one.
void converter::check_kept(program::node const& n) const {
    for (program::argument const& a : n.arguments)
        program::for_each_value(a, [&](program::value_index v) {
            if (is_complex(program_.values[v].type))
                throw unsupported_error("argument '" + a.name + "' is " + std::string(name(program_.values[v].type)) +
                                        ", which a kept operator cannot take");
        });
    for (program::value_index v : result_values(n))
        if (v != program::no_value && is_complex(program_.values[v].type))
            throw unsupported_error("'" + program_.values[v].name + "' is " +
                                    std::string(name(program_.values[v].type)) +
                                    ", which a kept operator cannot return");
    if (n.is_functional || !n.schema.empty()) return;
    aten::schema_head const head = aten::parse_head(n.op);
    bool const is_in_place = (head.name.ends_with('_') && !head.name.ends_with("__")) || head.overload == "out" ||
                             head.overload.ends_with("_out");
    if (!n.results.empty() && !is_in_place) return;
    throw unsupported_error(
        std::string(is_in_place ? "its name indicates that it writes to an argument"
                                : "its results are not used, so it must write to an argument") +
        ", but the program does not say to which one; load a plugin that has a row with its schema, or "
        "export after ep.run_decompositions()");
}

void converter::keep(program::node const& n) {
    check_kept(n);
    aten::schema_head const head = aten::parse_head(n.op);
    graph_node node;
    node.domain = head.ns;
    node.op = head.name;
    if (!head.overload.empty()) node.op += '.' + std::string(head.overload);
    for (program::argument const& a : n.arguments) {
        if (program::value_index const v = program::value_of(a); v != program::no_value) {
            node.inputs.push_back(captured(as_value(bound(v), dtype_of(program_.values[v].kind))));
        } else if (a.kind == kind::tensors) {
            for (program::value_index v : a.tensors)
                node.inputs.push_back(v == program::no_value
                                          ? aton::no_value
                                          : captured(as_value(bound(v), dtype_of(program_.values[v].kind))));
        } else if (!is_irrelevant(a)) {
            node.attributes.push_back(attribute_of(a));
        }
    }
    bool imported = false; // by operators that a plugin declares in this domain; kept operators have no version
    for (auto const& import : main_.opset_imports) imported = imported || import.first == node.domain;
    if (!imported) main_.import_domain(node.domain, 1);
    append_node(n, std::move(node), result_values(n));
}

} // namespace ATON_NAMESPACE::exporter
