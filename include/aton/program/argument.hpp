// SPDX-License-Identifier: MIT
// Arguments of a program's nodes: tensors are indices of values, numbers are constants or indices of values that nodes compute.
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include <aton/aten/argument.hpp>
#include <aton/core/scalar.hpp>

namespace ATON_NAMESPACE::program {

/// An index into `program::values`.
using value_index = std::uint32_t;
/// The index of no value: None.
inline constexpr value_index no_value = ~value_index{0};

/// A tensor or custom object of a program, by its index; no_value: None.
struct value_ref {
    value_index index = no_value;

    value_ref() = default;
    // NOLINTBEGIN(google-explicit-constructor): it is an index.
    /// From the index of a value.
    value_ref(value_index i) : index(i) {}
    /// The index of the value.
    operator value_index() const { return index; }
    // NOLINTEND(google-explicit-constructor)
    /// Whether it is a value, and not None.
    explicit operator bool() const { return index != no_value; }
};

/// A number of a program: a constant, or the SymInt, SymFloat or SymBool that a node computes.
struct number {
    scalar constant;
    value_index computed = no_value; ///< no_value: `constant`

    number() = default;
    // NOLINTBEGIN(google-explicit-constructor): a number of C++ is a number.
    /// From a constant.
    template <class T>
        requires std::is_arithmetic_v<T>
    number(T n) : constant(n) {}
    number(scalar n) : constant(n) {}
    // NOLINTEND(google-explicit-constructor)
    /// The number that a value of the program is.
    [[nodiscard]] static number of_value(value_index v) {
        number n;
        n.computed = v;
        return n;
    }

    /// Whether a node computes it.
    [[nodiscard]] bool is_computed() const { return computed != no_value; }
    /// The constant, if it is an integer.
    [[nodiscard]] std::optional<std::int64_t> integer() const {
        if (is_computed() || !constant.is_integral()) return {};
        return constant.to<std::int64_t>();
    }
};

/// An argument of a node. Devices, layouts and memory formats are tags.
using argument = aten::basic_argument<value_ref, number>;
using aten::argument_kind;

/// The value that an argument is: a tensor or a computed number; no_value for all others.
[[nodiscard]] inline value_index value_of(argument const& a) {
    if (a.kind == argument_kind::tensor) return a.tensor;
    return a.kind == argument_kind::number ? a.number.computed : no_value;
}

/// The integer that an argument is; nothing for all others.
[[nodiscard]] inline std::optional<std::int64_t> integer_of(argument const& a) {
    return a.kind == argument_kind::number ? a.number.integer() : std::nullopt;
}

/// The tensors of an argument: one, those of a list (no_value: None), or none.
[[nodiscard]] inline std::span<value_ref const> tensors_of(argument const& a) {
    if (a.kind == argument_kind::tensor) return {&a.tensor, 1};
    return a.kind == argument_kind::tensors ? std::span<value_ref const>(a.tensors) : std::span<value_ref const>();
}
[[nodiscard]] inline std::span<value_ref> tensors_of(argument& a) {
    if (a.kind == argument_kind::tensor) return {&a.tensor, 1};
    return a.kind == argument_kind::tensors ? std::span<value_ref>(a.tensors) : std::span<value_ref>();
}

/// Calls `f` with the index of each value that an argument uses, tensors and computed numbers. `f` may change it.
template <class Argument, class Function>
void for_each_value(Argument& a, Function f) {
    for (auto& each : tensors_of(a))
        if (each) f(each.index);
    if (a.kind == argument_kind::number && a.number.is_computed()) f(a.number.computed);
    if (a.kind == argument_kind::numbers)
        for (auto& each : a.numbers)
            if (each.is_computed()) f(each.computed);
}

} // namespace ATON_NAMESPACE::program
