// SPDX-License-Identifier: MIT
// The language of requirements, and those of ATen's operators.
#pragma once

#include <span>
#include <string_view>

#include <aton/mappings/requirements.hpp>

namespace ATON_NAMESPACE::mappings {

/// Requirements of operators, in a small language:
///
///     {"conv1d conv2d conv3d", "size(weight, 1) * groups = size(input, 1 - rank(weight)); type(weight) = type(input)"}
///
/// `text` lists conditions, separated by semicolons; all must hold. A condition is one or several comparisons, joined by `or`. What is not
/// known while a program is converted (a dynamic size, a computed number, an argument that is None) makes its comparison hold.
///
/// - A name is the value of an argument: a number, a list, a string in quotes, a dtype. Booleans are 0 and 1. `[a, b]` is a list.
/// - `rank(x)`, `size(x, axis)`, `shape(x)`, `type(x)`: of a tensor, or lists of those of all tensors of a list.
/// - `count(list)`, `product(list)`, `head(list, n)` and `tail(list, n)`: the first or last n; `item(list, axis)`; `without(list, axis)`;
///   `axes(list, n)`: axes of n dimensions, counted from the front.
/// - `max(a, b)`; `sliced(size, start, end, step)`: the number of elements of a slice, whose bounds may be None.
/// - `+ - * / %`, of numbers, or of each element of a list.
/// - `= != < <= > >=`; a list and a number: each element with the number. `x in a..b`; `x in 'a' 'b'`.
/// - `type is floating`, `integral` (not bool), `index` (int32 or int64), `subscript` (these, uint8 or bool), `inexact` (floating
///   or complex), `real` (no complex numbers), `signed`, or the name of a dtype.
/// - `distinct(list)`, `same(list)`; `expands(from, to)`: whether a shape expands to another; `within(a, b, axis)`: whether no size of `a` is
///   larger than that of `b`, except along the axis.
struct requirement {
    std::string_view operators; ///< by spaces: "add.Tensor", "add" (all its overloads), "add." (the one without a name)
    std::string_view text;
};

/// The requirements of ATen's operators.
[[nodiscard]] std::span<requirement const> aten_requirements();

/// Checks the conditions of `text` against a call; throws as check_requirements does, and std::logic_error if the text itself is malformed
/// or names what is no argument of the schema.
void check_conditions(std::string_view text, std::string_view overload, std::string_view schema,
                      safe_span<dsl::argument const> arguments);

} // namespace ATON_NAMESPACE::mappings
