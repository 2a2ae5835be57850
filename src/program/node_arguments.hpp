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
    return a != nullptr && a->kind == argument_kind::integer ? a->integer : fallback;
}

[[nodiscard]] inline bool boolean_of(node const& n, std::string_view name, bool fallback) {
    argument const* const a = find_argument(n, name);
    return a != nullptr && a->kind == argument_kind::boolean ? a->integer != 0 : fallback;
}

[[nodiscard]] inline argument value_argument(std::string_view name, value_index v) {
    argument a;
    a.name = std::string{name};
    a.kind = v == no_value ? argument_kind::none : argument_kind::value;
    if (v != no_value) a.values = {v};
    return a;
}

[[nodiscard]] inline argument values_argument(std::string_view name, std::vector<value_index> values) {
    argument a;
    a.name = std::string{name};
    a.kind = argument_kind::values;
    a.values = std::move(values);
    return a;
}

[[nodiscard]] inline argument integer_argument(std::string_view name, std::int64_t number) {
    argument a;
    a.name = std::string{name};
    a.kind = argument_kind::integer;
    a.integer = number;
    return a;
}

[[nodiscard]] inline argument integers_argument(std::string_view name, std::vector<std::int64_t> numbers) {
    argument a;
    a.name = std::string{name};
    a.kind = argument_kind::integers;
    a.integers = std::move(numbers);
    return a;
}

[[nodiscard]] inline argument real_argument(std::string_view name, double number) {
    argument a;
    a.name = std::string{name};
    a.kind = argument_kind::real;
    a.real = number;
    return a;
}

[[nodiscard]] inline argument type_argument(std::string_view name, dtype t) {
    argument a;
    a.name = std::string{name};
    a.kind = argument_kind::type;
    a.type = t;
    return a;
}

[[nodiscard]] inline argument renamed(argument a, std::string_view name) {
    a.name = std::string{name};
    return a;
}

} // namespace ATON_NAMESPACE::program
