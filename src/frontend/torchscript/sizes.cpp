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
        bool const is_integer =
            each.is() == kind::integer ||
            (each.is() == kind::symbol && out_.values[each.computed()].kind == program::value_kind::sym_int);
        if (!is_integer) return {};
    }
    bounds const b = bounds_of_difference(extent_of(x[0]), extent_of(x[1]));
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

/// The bounds of a - b, for all values of the symbols.
bounds interpreter::bounds_of_difference(program::extent const& a, program::extent const& b) const {
    program::expression const difference = make_expression(
        ek::add, {expression_of(a), make_expression(ek::mul, {integer_expression(-1), expression_of(b)})});
    return bounds_of(program::substitute(difference, {}), out_.ranges);
}

program::expression interpreter::expression_of(program::extent const& e) const {
    return e.is_number() ? integer_expression(e.number) : out_.expressions[e.expression];
}

program::extent interpreter::extent_of(program::expression e) {
    program::expression plain = program::substitute(e, {});
    if (plain.kind == ek::integer) return {plain.number, program::extent::none};
    std::string text = program::to_string(plain);
    if (text.size() > 2000) at_.fail("a size is too complicated: an expression of more than 2000 characters");
    auto const [known, is_new] =
        expressions_.try_emplace(std::move(text), static_cast<std::uint32_t>(out_.expressions.size()));
    if (is_new) out_.expressions.push_back(std::move(plain));
    return {0, known->second};
}

program::extent interpreter::extent_of(value const& v) {
    if (v.is() == kind::integer || v.is() == kind::boolean)
        return {v.number()->to<std::int64_t>(), program::extent::none};
    if (v.is() != kind::symbol) at_.fail("uses " + std::string(describe(v)) + " as a size");
    std::optional<program::extent>& known = out_.values[v.computed()].symbolic;
    if (!known) known = fresh_extent();
    return *known;
}

/// A size that is not known before the model runs. Its name tells that it depends on data.
program::extent interpreter::fresh_extent() {
    program::expression e;
    e.kind = ek::symbol;
    do {
        e.symbol = "u" + std::to_string(next_symbol_++);
    } while (out_.ranges.contains(e.symbol)); // the user may have named a dimension so
    out_.ranges[e.symbol] = {0, std::numeric_limits<std::int64_t>::max()};
    return extent_of(std::move(e));
}

/// The size of a dimension: a number, or a node that reads it.
value interpreter::size_value(program::value_index tensor, std::size_t axis) {
    inferred_type const type = type_of(tensor);
    program::extent const size = type.sizes.at(axis).value();
    if (size.is_number()) return value::of(size.number);
    auto const [known, is_new] = sizes_.try_emplace({tensor, axis}, program::no_value);
    if (is_new) {
        program::node n;
        n.op = "aten::sym_size.int";
        n.schema = aten::find_schema(n.op);
        n.arguments.push_back(program::argument::of_tensor(tensor).named("self"));
        n.arguments.push_back(program::argument::of_number(static_cast<std::int64_t>(axis)).named("dim"));
        n.origin = origin_here();
        known->second = add_value("sym_size_int", program::value_kind::sym_int);
        out_.values[known->second].symbolic = size;
        n.name = out_.values[known->second].name;
        n.results.push_back({{known->second}, false});
        out_.main.nodes.push_back(std::move(n));
    }
    return value::of(kind::symbol, known->second);
}

} // namespace ATON_NAMESPACE::torchscript
