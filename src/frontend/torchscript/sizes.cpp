// SPDX-License-Identifier: MIT
// Sizes: numbers, or expressions of the symbols of dynamic dimensions.
#include <limits>
#include <utility>

#include <aton/aten/schema_table.hpp>

#include "bounds.hpp"
#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

using ek = program::expression_kind;

/// The result of a comparison that follows from the ranges of symbols.
std::optional<bool> interpreter::compare_symbols(std::string_view op, std::vector<value> const& x) {
    for (value const& each : x) {
        bool const is_integer = each.is() == kind::integer ||
                                (each.is() == kind::symbol && build_.kind_of(each) == program::value_kind::sym_int);
        if (!is_integer) return {};
    }
    bounds const b = build_.bounds_of_difference(build_.extent_of(x[0]), build_.extent_of(x[1]));
    bool const positive = b.min && *b.min > 0;
    bool const negative = b.max && *b.max < 0;
    bool const not_negative = b.min && *b.min >= 0;
    bool const not_positive = b.max && *b.max <= 0;
    auto const answer = [](bool yes, bool no) {
        return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt;
    };
    if (op == "_operator.lt") return answer(negative, not_negative);
    if (op == "_operator.le") return answer(not_positive, positive);
    if (op == "_operator.gt") return answer(positive, not_positive);
    if (op == "_operator.ge") return answer(not_negative, negative);
    bool const same = not_negative && not_positive;
    return op == "_operator.eq" ? answer(same, positive || negative) : answer(positive || negative, same);
}

/// The size of a dimension: a number, or a node that reads it.
value interpreter::size_value(program::value_index tensor, std::size_t axis) {
    inferred_type const type = types_.type_of(tensor);
    program::extent const size = type.sizes.at(axis).value();
    if (size.is_number()) return value::of(size.number);
    auto const [known, is_new] = sizes_.try_emplace({tensor, axis}, program::no_value);
    if (is_new) {
        program::node n;
        n.op = "aten::sym_size.int";
        n.schema = aten::find_schema(n.op);
        n.arguments.push_back(program::argument::of_tensor(tensor).named("self"));
        n.arguments.push_back(program::argument::of_number(static_cast<std::int64_t>(axis)).named("dim"));
        n.origin = build_.origin_here();
        known->second = build_.add_value("sym_size_int", program::value_kind::sym_int);
        build_.value_at(known->second).symbolic = size;
        build_.add_node(std::move(n), known->second);
    }
    return value::of(kind::symbol, known->second);
}

} // namespace ATON_NAMESPACE::torchscript
