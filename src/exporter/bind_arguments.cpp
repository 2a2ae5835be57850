// SPDX-License-Identifier: MIT
// Converts the arguments of a program's node to those of a mapping: matched by name, in the order of the schema.
#include "converter.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::exporter {

namespace {

using kind = program::argument_kind;

scalar number_of(program::argument const& a) {
    switch (a.kind) {
    case kind::integer: return a.integer;
    case kind::boolean: return a.integer != 0;
    case kind::complex: return scalar::complex(a.reals.at(0), a.reals.at(1));
    default: return a.real;
    }
}

} // namespace

binding const& converter::bound(program::value_index index) const {
    binding const& b = bound_.at(index);
    if (!b.computed && !b.number.has_value())
        throw unsupported_error(
            b.missing.empty() ? "'" + program_.values[index].name + "' is used before it is computed" : b.missing);
    return b;
}

/// The binding of an argument, or the reason why it has no value.
binding converter::bound(program::argument const& a) const {
    switch (a.kind) {
    case kind::value: return bound_.at(a.values.at(0));
    case kind::none: return {{}, {}, "None is used as a value"};
    case kind::integer:
    case kind::real:
    case kind::boolean:
    case kind::complex: return {{}, number_of(a), {}};
    default: throw unsupported_error("argument '" + a.name + "' is " + a.text + ", which is not a value");
    }
}

/// The elements of a list, or the argument itself if it is not a list.
std::vector<binding> converter::bound_list(program::argument const& a) const {
    bool const is_list =
        a.kind == kind::values || a.kind == kind::integers || a.kind == kind::reals || a.kind == kind::booleans;
    if (!is_list) return {bound(a)};
    std::vector<binding> out;
    std::size_t const count = std::max({a.values.size(), a.integers.size(), a.reals.size()});
    for (std::size_t i = 0; i != count; ++i) {
        program::argument element;
        bool const computed = i < a.values.size() && a.values[i] != program::no_value;
        if (computed) {
            element.kind = kind::value;
            element.values = {a.values[i]};
        } else if (i < a.integers.size()) {
            element.kind = a.kind == kind::booleans ? kind::boolean : kind::integer;
            element.integer = a.integers[i];
        } else if (i < a.reals.size()) {
            element.kind = kind::real;
            element.real = a.reals[i];
        }
        out.push_back(bound(element));
    }
    return out;
}

/// A number as a 0-d constant; a value unchanged.
dsl::value converter::as_value(binding const& b, dtype type) {
    return b.number.has_value() ? ops(*graph_, options_.opset).scalar(*b.number, type) : *b.computed;
}

/// The numbers of a list, some of which may be computed.
std::vector<dsl::number> converter::numbers_of(program::argument const& a) const {
    std::vector<dsl::number> out;
    for (binding const& b : bound_list(a)) {
        if (!b.number.has_value() && !b.computed)
            throw unsupported_error("argument '" + a.name +
                                    "': " + (b.missing.empty() ? "a number is used before it is computed" : b.missing));
        out.push_back(b.number.has_value() ? dsl::number(*b.number) : dsl::number(*b.computed));
    }
    return out;
}

dsl::argument converter::to_argument(program::argument const& a) const {
    using dsl::argument;
    switch (a.kind) {
    case kind::none: return argument::none();
    case kind::value: {
        binding const& b = bound(a.values.at(0));
        if (b.number.has_value()) return argument::of_number(*b.number);
        bool const is_tensor = program_.values[a.values[0]].kind == program::value_kind::tensor;
        return is_tensor ? argument::of_tensor(b.computed) : argument::of_number(*b.computed);
    }
    case kind::values: {
        std::vector<dsl::optional_value> all;
        for (program::value_index v : a.values)
            all.push_back(v == program::no_value ? dsl::optional_value() : bound(v).computed);
        return argument::of_tensors(std::move(all));
    }
    case kind::integer:
    case kind::real:
    case kind::boolean:
    case kind::complex: return argument::of_number(number_of(a));
    case kind::integers:
    case kind::reals:
    case kind::booleans: return argument::of_numbers(numbers_of(a));
    case kind::text: return argument::of_text(a.text);
    case kind::texts: return argument::of_texts(a.texts);
    case kind::type: return argument::of_type(a.type);
    case kind::memory_format:
    case kind::layout:
    case kind::device: return argument::of_tag(a.text);
    default: throw unsupported_error("argument '" + a.name + "' is " + a.text + ", which mappings do not support");
    }
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

} // namespace ATON_NAMESPACE::exporter
