// SPDX-License-Identifier: MIT
// Helpers for rewriting nodes: find and make arguments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// Null if the argument is not recorded and has its default.
[[nodiscard]] inline argument const* find_argument(node const& n, std::string_view name) {
    for (argument const& each : n.arguments)
        if (each.name == name) return &each;
    return nullptr;
}
[[nodiscard]] inline argument* find_argument(node& n, std::string_view name) {
    return const_cast<argument*>(find_argument(std::as_const(n), name));
}

[[nodiscard]] inline bool is_none(argument const* a) { return a == nullptr || a->kind == argument_kind::none; }

[[nodiscard]] inline std::int64_t integer_of(node const& n, std::string_view name, std::int64_t fallback) {
    argument const* const a = find_argument(n, name);
    return a == nullptr ? fallback : integer_of(*a).value_or(fallback);
}

[[nodiscard]] inline bool boolean_of(node const& n, std::string_view name, bool fallback) {
    argument const* const a = find_argument(n, name);
    bool const is_bool = a != nullptr && a->kind == argument_kind::number && a->number.constant.is_bool();
    return is_bool && !a->number.is_computed() ? a->number.constant.to<bool>() : fallback;
}

/// A tensor; None for no_value.
[[nodiscard]] inline argument tensor_argument(std::string_view name, value_index v) {
    return argument::of_tensor(v).named(std::string(name));
}

[[nodiscard]] inline argument tensors_argument(std::string_view name, std::vector<value_index> const& values) {
    return argument::of_tensors({values.begin(), values.end()}).named(std::string(name));
}

[[nodiscard]] inline argument number_argument(std::string_view name, number const& n) {
    return argument::of_number(n).named(std::string(name));
}

[[nodiscard]] inline argument integers_argument(std::string_view name, std::vector<std::int64_t> const& numbers) {
    return argument::of_numbers({numbers.begin(), numbers.end()}).named(std::string(name));
}

[[nodiscard]] inline argument type_argument(std::string_view name, dtype t) {
    return argument::of_type(t).named(std::string(name));
}

/// A value of a program: a tensor, or a number that a node computes.
[[nodiscard]] inline argument value_argument(program const& p, value_index v) {
    if (v == no_value) return argument::none();
    value_kind const kind = p.values[v].kind;
    bool const is_number = kind == value_kind::sym_int || kind == value_kind::sym_float || kind == value_kind::sym_bool;
    return is_number ? argument::of_number(number::of_value(v)) : argument::of_tensor(v);
}

[[nodiscard]] inline argument renamed(argument a, std::string_view name) {
    a.name = std::string{name};
    return a;
}

} // namespace ATON_NAMESPACE::program
