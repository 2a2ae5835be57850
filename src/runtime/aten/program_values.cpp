// SPDX-License-Identifier: MIT
// Reads arguments of nodes from the values of a run, and stores results.
#include "program_frame.hpp"

#include <algorithm>
#include <utility>

namespace ATON_NAMESPACE::runtime {

using program::argument_kind;
using program::no_value;
using program::value_index;
using program::value_kind;

namespace {

/// The value in the kind that the program declares: sizes become numbers.
slot typed(slot given, value_kind kind) {
    if (!given) return given;
    switch (kind) {
    case value_kind::sym_int: return {{}, scalar(given.as_number().to_saturated<std::int64_t>())};
    case value_kind::sym_float: return {{}, scalar(given.as_number().to<double>())};
    case value_kind::sym_bool: return {{}, scalar(given.truth())};
    default: return given;
    }
}

} // namespace

slot const& aten_program::frame::at(value_index v) const {
    slot const& s = values_.at(v);
    if (!s) throw error("'" + p_.values[v].name + "' is used before it is computed");
    return s;
}

slot aten_program::frame::slot_of(program::number const& n) const {
    return n.is_computed() ? at(n.computed) : slot{{}, n.constant};
}

slot aten_program::frame::slot_of(program::argument const& a) const {
    switch (a.kind) {
    case argument_kind::none: return {};
    case argument_kind::tensor: return at(a.tensor);
    case argument_kind::number: return slot_of(a.number);
    default: throw error("argument '" + a.name + "' is not a value");
    }
}

std::vector<slot> aten_program::frame::slots_of(program::argument const& a) const {
    std::vector<slot> out;
    if (a.kind == argument_kind::tensors)
        for (program::value_ref const& v : a.tensors) out.push_back(v ? at(v) : slot());
    else if (a.kind == argument_kind::numbers)
        for (program::number const& n : a.numbers) out.push_back(slot_of(n));
    else out.push_back(slot_of(a));
    return out;
}

std::vector<slot> aten_program::frame::list_at(program::node const& n, std::size_t position) const {
    if (position >= n.arguments.size() || n.arguments[position].kind == argument_kind::none) return {};
    return slots_of(n.arguments[position]);
}

aten_argument aten_program::frame::argument_of(program::argument const& a, std::string_view name) const {
    if (a.kind == argument_kind::tensor)
        if (slot const& s = at(a.tensor); s.number) return aten_argument::of_number(*s.number).named(std::string(name));
    if (a.kind == argument_kind::numbers && a.numbers.empty()) // torch serializes `[]` in several ways
        return aten_argument::of_tensors({}).named(std::string(name));
    auto const to_tensor = [this](program::value_ref v) {
        return v ? at(v).as_tensor(state_.options.where) : tensor();
    };
    auto const to_number = [this](program::number const& n) { return slot_of(n).as_number(); };
    return aten::transform(a, to_tensor, to_number).named(std::string(name));
}

void aten_program::frame::bind(value_index v, slot given) {
    if (v != no_value) values_.at(v) = typed(std::move(given), p_.values[v].kind);
}

void aten_program::frame::bind_all(program::node const& n, std::vector<slot> given) {
    std::vector<value_index> const to = result_values(n);
    if (given.size() < to.size())
        throw error(std::to_string(given.size()) + " results were computed, the program has " +
                    std::to_string(to.size()));
    for (std::size_t i = 0; i != to.size(); ++i) bind(to[i], std::move(given[i]));
}

} // namespace ATON_NAMESPACE::runtime
