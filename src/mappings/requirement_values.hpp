// SPDX-License-Identifier: MIT
// The values of the terms in conditions, which may be unknown, and what is computed with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/dsl/argument.hpp>

namespace ATON_NAMESPACE::mappings {

using unsure_numbers = std::vector<std::optional<double>>; ///< an element that is not known is absent

/// The value of a term.
struct quantity {
    enum class form : std::uint8_t { unknown, none, number, list, text, types };
    form is = form::unknown;
    unsure_numbers elements = {}; ///< of a list; of a number, one
    std::string text = {};
    std::vector<dtype> types = {}; ///< undefined: not known
};

[[nodiscard]] quantity number_quantity(double n);
[[nodiscard]] quantity list_quantity(unsure_numbers all);
/// As a message shows it.
[[nodiscard]] std::string to_text(quantity const& q);

/// The arguments of a call by their names.
class named_arguments {
public:
    /// `given`: in the order of the schema; missing ones get their defaults.
    named_arguments(std::string_view schema, std::span<dsl::argument const> given);
    /// nullptr: the schema has no such argument.
    [[nodiscard]] dsl::argument const* find(std::string_view name) const;

private:
    std::vector<std::pair<std::string_view, dsl::argument>> all_;
};

[[nodiscard]] quantity value_of(dsl::argument const& a);
// Of a tensor; of a list, those of all its tensors, but for the shape.
[[nodiscard]] quantity rank_of(dsl::argument const& a);
[[nodiscard]] quantity types_of(dsl::argument const& a);
[[nodiscard]] quantity shape_of(dsl::argument const& a);
/// The size along an axis.
[[nodiscard]] quantity size_of(dsl::argument const& a, quantity const& axis);

/// One of + - * / % and m, the maximum; of lists, element by element.
[[nodiscard]] quantity computed(char op, quantity const& a, quantity const& b);
/// A function of the language by its name; nothing if it has none with that number of operands.
[[nodiscard]] std::optional<quantity> call_function(std::string_view name, std::span<quantity const> operands);

enum class truth : std::uint8_t { no, yes, unknown };
/// One of = != < <= > >=.
[[nodiscard]] truth compared(std::string_view op, quantity const& a, quantity const& b);
/// Whether all dtypes are of a kind: floating, integral, index, bool, real or inexact. Throws std::logic_error for others.
[[nodiscard]] truth is_of_kind(quantity const& types, std::string_view kind);
/// A predicate of the language, as call_function.
[[nodiscard]] std::optional<truth> call_predicate(std::string_view name, std::span<quantity const> operands);

} // namespace ATON_NAMESPACE::mappings
