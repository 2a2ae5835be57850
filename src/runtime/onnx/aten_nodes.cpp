// SPDX-License-Identifier: MIT
// `ATen` nodes of domain org.pytorch.aten, which run as ATen operators. docs/exporter.md describes their form.
#include <string>
#include <utility>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>
#include <aton/ir/graph.hpp>
#include <aton/runtime/aten_operator.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

using aten::base_type;
using kind = aten::argument_kind;

/// Numbers that the graph computes: 0-d, or 1-d for a list.
aten_argument numbers_of(tensor const& x, bool list) {
    tensor const here = to_host(x);
    if (!list) return aten_argument::of_number(here.item());
    std::vector<scalar> numbers;
    aton::tensor const all = here.to_constant();
    for (std::size_t i = 0; i != static_cast<std::size_t>(here.count()); ++i) numbers.push_back(all.at(i));
    return aten_argument::of_numbers(std::move(numbers));
}

aten_argument argument_of(node_attribute const& from, aten::schema_type const& type) {
    auto const number = [&](std::int64_t n) { return type.base == base_type::bool_ ? scalar(n != 0) : scalar(n); };
    std::vector<scalar> numbers;
    switch (from.type) {
    case onnx::attr_type::i:
        if (type.base != base_type::scalar_type) return aten_argument::of_number(number(from.i));
        return aten_argument::of_type(dtype_from_onnx(from.i));
    case onnx::attr_type::f: return aten_argument::of_number(from.f);
    case onnx::attr_type::ints:
        for (std::int64_t const n : from.ints) numbers.push_back(number(n));
        return aten_argument::of_numbers(std::move(numbers));
    case onnx::attr_type::floats: return aten_argument::of_numbers({from.floats.begin(), from.floats.end()});
    case onnx::attr_type::s: return aten_argument::of_text(from.s);
    default: throw error("attribute '" + from.name + "' has a type that no ATen operator takes");
    }
}

/// Assigns the inputs of a node to the arguments of its schema.
class input_reader {
public:
    explicit input_reader(call const& c) : c_(c), names_(c.strings("inputs")), named_(c.has_attribute("inputs")) {}

    /// Whether the next input belongs to an argument: the next one in the attribute `inputs`, or without it the next
    /// tensor.
    [[nodiscard]] bool has(std::string_view name, bool is_tensor) const {
        return named_ ? next_ < names_.size() && names_[next_] == name : is_tensor;
    }
    /// Empty if the input is skipped.
    [[nodiscard]] tensor take() { return c_.maybe(next_++); }

private:
    call const& c_;
    std::vector<std::string> names_;
    bool named_;
    std::size_t next_ = 0;
};

/// The argument of a node, or a missing one.
aten_argument argument_of(call const& c, aten::schema_argument const& formal, input_reader& inputs) {
    node_attribute const* const attribute = c.attribute(formal.name);
    bool const is_tensor = formal.type.base == base_type::tensor;
    if (is_tensor && formal.type.list) {
        if (attribute == nullptr) return {};
        std::vector<tensor> all;
        for (std::int64_t i = 0; i < attribute->i && static_cast<std::size_t>(i) < c.inputs() + 1; ++i)
            all.push_back(inputs.take());
        return aten_argument::of_tensors(std::move(all));
    }
    if (attribute != nullptr) return argument_of(*attribute, formal.type);
    if (!inputs.has(formal.name, is_tensor)) return {};
    tensor const x = inputs.take();
    if (!x) return {};
    return is_tensor ? aten_argument::of_tensor(x) : numbers_of(x, formal.type.list);
}

results aten_node(call const& c) {
    std::string overload = "aten::" + c.s("operator");
    if (std::string const name = c.s("overload_name", ""); !name.empty()) overload += '.' + name;
    std::string_view const schema = aten::find_schema(overload);
    if (schema.empty()) throw error(overload + ": ATen does not have this operator");
    std::vector<aten_argument> arguments;
    input_reader inputs(c);
    aten::schema_argument formal;
    for (aten::argument_cursor each{schema}; each.next(formal);) {
        aten_argument a = argument_of(c, formal, inputs);
        if (a.kind == kind::missing && !formal.has_default) a = aten_argument::none();
        a.name = formal.name;
        arguments.push_back(std::move(a));
    }
    aten_options options;
    options.where = c.where();
    options.seed = c.seed();
    std::vector<value> out;
    for (value& each : call_aten(overload, std::move(arguments), options).results) {
        if (each.is_sequence()) out.insert(out.end(), each.many().begin(), each.many().end());
        else out.push_back(std::move(each));
    }
    return out;
}

} // namespace

rows aten_nodes() {
    static constexpr row all[] = {{"ATen", aten_node, aten_domain}};
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
