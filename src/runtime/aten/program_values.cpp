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

slot aten_program::frame::slot_of(program::argument const& a) const {
    switch (a.kind) {
    case argument_kind::none: return {};
    case argument_kind::value: return at(a.values.at(0));
    case argument_kind::integer: return {{}, scalar(a.integer)};
    case argument_kind::boolean: return {{}, scalar(a.integer != 0)};
    case argument_kind::real: return {{}, scalar(a.real)};
    case argument_kind::complex: return {{}, scalar::complex(a.reals.at(0), a.reals.at(1))};
    default: throw error("argument '" + a.name + "' is not a value");
    }
}

std::vector<slot> aten_program::frame::slots_of(program::argument const& a) const {
    bool const is_list = a.kind == argument_kind::values || a.kind == argument_kind::integers ||
                         a.kind == argument_kind::reals || a.kind == argument_kind::booleans;
    if (!is_list) return {slot_of(a)};
    std::vector<slot> out;
    std::size_t const count = std::max({a.values.size(), a.integers.size(), a.reals.size()});
    for (std::size_t i = 0; i != count; ++i) {
        if (i < a.values.size() && a.values[i] != no_value) out.push_back(at(a.values[i]));
        else if (a.kind == argument_kind::values) out.emplace_back();
        else if (a.kind == argument_kind::reals) out.push_back({{}, scalar(a.reals.at(i))});
        else if (a.kind == argument_kind::booleans) out.push_back({{}, scalar(a.integers.at(i) != 0)});
        else out.push_back({{}, scalar(a.integers.at(i))});
    }
    return out;
}

std::vector<slot> aten_program::frame::list_at(program::node const& n, std::size_t position) const {
    if (position >= n.arguments.size() || n.arguments[position].kind == argument_kind::none) return {};
    return slots_of(n.arguments[position]);
}

aten_argument aten_program::frame::argument_of(program::argument const& a, std::string_view name) const {
    using kind = aten::argument_kind;
    aten_argument out = aten_argument::none();
    out.name = name;
    switch (a.kind) {
    case argument_kind::none: return out;
    case argument_kind::type:
        out.kind = kind::type;
        out.type = a.type;
        return out;
    case argument_kind::text:
    case argument_kind::memory_format:
    case argument_kind::layout:
    case argument_kind::device:
        out.kind = kind::text;
        out.text = a.text;
        return out;
    case argument_kind::values:
    case argument_kind::integers:
    case argument_kind::reals:
    case argument_kind::booleans: {
        std::vector<slot> const all = slots_of(a);
        bool const numbers =
            !all.empty() && std::all_of(all.begin(), all.end(), [](slot const& s) { return s.number.has_value(); });
        out.kind = numbers || a.kind != argument_kind::values ? kind::numbers : kind::tensors;
        if (all.empty()) out.kind = kind::tensors; // an empty list may also be one of numbers
        for (slot const& s : all)
            if (out.kind == kind::numbers) out.numbers.push_back(s.as_number());
            else out.tensors.push_back(s.as_tensor(state_.options.where));
        return out;
    }
    default: {
        slot const s = slot_of(a);
        out.kind = s.number ? kind::number : kind::tensor;
        out.tensor = s.whole;
        if (s.number) out.number = *s.number;
        return out;
    }
    }
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
