// SPDX-License-Identifier: MIT
// Converts the arguments of a program's node to those of a mapping: matched by name, in the order of the schema.
#include "converter.hpp"

#include <optional>
#include <utility>
#include <vector>

#include <aton/dsl/append_constant.hpp>
#include <aton/passes/passes.hpp>

namespace ATON_NAMESPACE::exporter {

namespace {

using kind = program::argument_kind;

} // namespace

binding const& converter::bound(program::value_index index) const {
    binding const& b = bound_.at(index);
    if (!b.computed && !b.number.has_value())
        throw unsupported_error(
            b.missing.empty() ? "'" + program_.values[index].name + "' is used before it is computed" : b.missing);
    return b;
}

binding converter::bound(program::number const& n) const {
    return n.is_computed() ? bound_.at(n.computed) : binding{{}, n.constant, {}};
}

/// The binding of an argument, or the reason why it has no value.
binding converter::bound(program::argument const& a) const {
    switch (a.kind) {
    case kind::tensor: return bound_.at(a.tensor);
    case kind::number: return bound(a.number);
    case kind::missing:
    case kind::none: return {{}, {}, "None is used as a value"};
    default: throw unsupported_error("argument '" + a.name + "' is " + a.text + ", which is not a value");
    }
}

/// The elements of a list, or the argument itself if it is not a list.
std::vector<binding> converter::bound_list(program::argument const& a) const {
    std::vector<binding> out;
    if (a.kind == kind::tensors)
        for (program::value_ref const& v : a.tensors) out.push_back(bound(program::argument::of_tensor(v)));
    else if (a.kind == kind::numbers)
        for (program::number const& n : a.numbers) out.push_back(bound(n));
    else out.push_back(bound(a));
    return out;
}

/// A number as a 0-d constant; a value unchanged.
dsl::value converter::as_value(binding const& b, dtype type) {
    return b.number.has_value() ? ops(*graph_, options_.opset).scalar(*b.number, type) : *b.computed;
}

dsl::number converter::to_number(program::number const& n) const {
    if (!n.is_computed()) return n.constant;
    binding const& b = bound(n.computed);
    return b.number.has_value() ? dsl::number(*b.number) : dsl::number(*b.computed);
}

dsl::argument converter::to_argument(program::argument const& a) const {
    if (a.kind == kind::graph || a.kind == kind::op || a.kind == kind::other)
        throw unsupported_error("argument '" + a.name + "' is " + a.text + ", which mappings do not support");
    if (a.kind == kind::tensor)
        if (binding const& b = bound(a.tensor.index); b.number.has_value()) return dsl::argument::of_number(*b.number);
    auto const to_tensor = [this](program::value_ref v) { return v ? bound(v.index).computed : dsl::optional_value(); };
    return aten::transform(a, to_tensor, [this](program::number const& n) { return to_number(n); });
}

std::vector<dsl::argument> converter::bind_arguments(program::node const& n, std::string_view schema) const {
    std::vector<dsl::argument> out;
    std::vector<char> taken(n.arguments.size(), 0);
    aten::schema_argument formal;
    std::size_t position = 0;
    for (aten::argument_cursor cursor(schema); cursor.next(formal); ++position) {
        out.emplace_back();
        for (std::size_t i = 0; i != n.arguments.size(); ++i) {
            program::argument const& a = n.arguments[i];
            bool const fits = a.name.empty() ? i == position : a.name == formal.name;
            if (!fits || taken[i] != 0) continue;
            out.back() = to_argument(a);
            taken[i] = 1;
            break;
        }
    }
    for (std::size_t i = 0; i != taken.size(); ++i)
        if (taken[i] == 0)
            throw unsupported_error("argument '" + n.arguments[i].name + "' is not in the schema " +
                                    std::string(schema));
    return out;
}

/// Makes constants of the tensors that the program computes from constants, in the graph as it was before a row refused the arguments.
/// Returns whether there are any.
bool converter::fold_arguments(std::vector<dsl::argument>& arguments, dsl::graph_mark<graph_data> const& before) {
    std::vector<std::pair<dsl::optional_value*, tensor>> found;
    auto const look_at = [&](dsl::optional_value& v) {
        if (!v || v->is_constant()) return;
        if (std::optional<tensor> t = constant_of(v->owner(), v->id())) found.emplace_back(&v, std::move(*t));
    };
    for (dsl::argument& a : arguments) {
        look_at(a.tensor);
        for (dsl::optional_value& each : a.tensors) look_at(each);
    }
    if (found.empty()) return false;
    before.restore();
    for (auto& [v, t] : found) *v = dsl::value(*graph_, dsl::detail::append_constant(*graph_, std::move(t)));
    return true;
}

} // namespace ATON_NAMESPACE::exporter
