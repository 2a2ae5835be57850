// SPDX-License-Identifier: MIT
// States of guards: kept, if the static sizes or the views of the model already demand it, frozen, or to be checked.
#include "guard_states.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/scalar.hpp>

#include "intervals.hpp"
#include "linear.hpp"
#include "python_value.hpp"

namespace ATON_NAMESPACE::program {

namespace {

bool is_constant(expression const& e) {
    return e.kind == expression_kind::integer || e.kind == expression_kind::real || e.kind == expression_kind::boolean;
}

/// Whether evaluating the expression involves floats.
bool has_float(expression const& e) {
    switch (e.kind) {
    case expression_kind::real:
    case expression_kind::to_float:
    case expression_kind::true_div:
    case expression_kind::other: return true;
    default: return std::any_of(e.operands.begin(), e.operands.end(), has_float);
    }
}

/// Whether a guard fixes a number that was computed from sizes, such as size // 2 == 3. Floats are always computed for their value.
bool freezes_number(expression const& e) {
    if (e.kind == expression_kind::equal && e.operands.size() == 2 &&
        is_constant(e.operands[0]) != is_constant(e.operands[1]))
        return true;
    if (e.kind == expression_kind::all_of || e.kind == expression_kind::any_of || e.kind == expression_kind::negation ||
        e.kind == expression_kind::boolean)
        return std::any_of(e.operands.begin(), e.operands.end(), freezes_number);
    return has_float(e);
}

std::size_t operations(expression const& e) {
    std::size_t out = e.operands.empty() ? 0 : 1;
    for (expression const& each : e.operands) out += operations(each);
    return out;
}

/// Converts a condition on a single number, with floats, or with many operations if it `is_checked`, to integer ranges of that number, which
/// are exact; nullopt if there are too many.
std::optional<expression> in_integers(program const& p, expression const& condition, bool is_checked,
                                      integer_search& search) {
    constexpr std::size_t of_a_range = 3; // from low to high
    symbol_names symbols;
    collect_symbols(condition, symbols);
    if (symbols.size() != 1 || !is_python(condition)) return std::nullopt;
    if (!has_float(condition) && (!is_checked || operations(condition) <= of_a_range)) return std::nullopt;
    std::string const& symbol = *symbols.begin();
    fact const own{condition, p.guards.size(), symbols};
    integer_range const domain{p.guard_sources.at(symbol).axis < 0 ? -max_size : 0, max_size};
    constexpr std::size_t most_ranges = 4;
    auto const accepted = search.all_numbers(symbol, domain, own, most_ranges);
    if (!accepted) return std::nullopt;
    expression out;
    out.kind = expression_kind::any_of;
    for (integer_range const& r : *accepted) {
        expression both;
        both.kind = expression_kind::all_of;
        if (r.low == r.high) both.operands.push_back(relation(expression_kind::equal, named(symbol), whole(r.low)));
        if (r.low != r.high && r.low != domain.low)
            both.operands.push_back(relation(expression_kind::greater_equal, named(symbol), whole(r.low)));
        if (r.low != r.high && r.high != domain.high)
            both.operands.push_back(relation(expression_kind::less_equal, named(symbol), whole(r.high)));
        if (both.operands.empty()) return std::nullopt;
        out.operands.push_back(both.operands.size() == 1 ? both.operands[0] : both);
    }
    if (out.operands.empty()) return std::nullopt;
    return out.operands.size() == 1 ? out.operands[0] : out;
}

/// Whether a guard such as size % 2 == 0 comes from a view that splits a dimension; the view itself fails if the guard does not hold.
bool divides_in_view(program const& p, expression const& e) {
    if (e.kind != expression_kind::equal || e.operands.size() != 2) return false;
    expression const& rest = e.operands[0];
    if (rest.kind != expression_kind::mod || rest.operands.size() != 2 || e.operands[1] != whole(0)) return false;
    auto const text_of = [](expression const& size) { return to_string(substitute_in_condition(size, {})); };
    std::string const part = text_of(relation(expression_kind::floor_div, rest.operands[0], rest.operands[1]));
    constexpr std::array<std::string_view, 6> views{"aten::view",
                                                    "aten::reshape",
                                                    "aten::_unsafe_view",
                                                    "aten::unflatten.int",
                                                    "aten::view_copy",
                                                    "aten::_reshape_copy"};
    for (node const& n : p.main.nodes) {
        if (std::find(views.begin(), views.end(), n.op) == views.end()) continue;
        for (value_index v : result_values(n))
            if (v != no_value)
                for (extent const& size : p.values[v].sizes)
                    if (!size.is_number() && text_of(p.expressions[size.expression]) == part) return true;
    }
    return false;
}

/// Whether a guard is a remainder that is 0 whatever the sizes are, if it can be computed: (8*size + 8) % (size + 1) == 0.
bool always_divides(expression const& e) {
    if (e.kind != expression_kind::equal || e.operands.size() != 2 || e.operands[1] != whole(0)) return false;
    expression const& rest = e.operands[0];
    if (rest.kind != expression_kind::mod || rest.operands.size() != 2) return false;
    std::optional<linear_sum> const all = linear(rest.operands[0]);
    std::optional<linear_sum> const part = linear(rest.operands[1]);
    if (!all || !part || part->terms.empty() || all->terms.size() != part->terms.size()) return false;
    auto const factor_of = [&](linear_sum::term const& t) {
        auto const same = std::ranges::find(all->terms, t.text, &linear_sum::term::text);
        return same == all->terms.end() ? std::int64_t{0} : same->factor;
    };
    constexpr std::int64_t max_factor = std::int64_t{1} << 31; // no product of two overflows
    auto const is_small = [](std::int64_t n) { return n >= -max_factor && n <= max_factor; };
    linear_sum::term const& first = part->terms[0];
    if (!is_small(first.factor) || !is_small(factor_of(first))) return false;
    std::int64_t const times = factor_of(first) / first.factor;
    auto const is_multiple = [&](std::int64_t of_all, std::int64_t of_part) {
        return is_small(of_part) && of_all == times * of_part;
    };
    return times != 0 && is_multiple(all->number, part->number) &&
           std::ranges::all_of(part->terms,
                               [&](linear_sum::term const& t) { return is_multiple(factor_of(t), t.factor); });
}

/// Whether a guard is size == 1 or size == other, of sizes that the program declares to be the same symbol.
bool is_broadcast(expression const& e) {
    return e.kind == expression_kind::any_of &&
           std::any_of(e.operands.begin(), e.operands.end(), [](expression const& each) {
               return each.kind == expression_kind::equal && each.operands.size() == 2 &&
                      each.operands[0].kind == expression_kind::symbol && each.operands[0] == each.operands[1];
           });
}

/// Whether a guard is torch.isin's choice between comparing all pairs and sorting, which give the same result:
/// len(test_elements) < 10 * len(elements) ** 0.145.
bool chooses_search(expression const& e) {
    bool const is_limit = e.kind == expression_kind::power && e.operands.size() == 2 &&
                          e.operands[1].kind == expression_kind::real && e.operands[1].real == 0.145;
    return is_limit || std::any_of(e.operands.begin(), e.operands.end(), chooses_search);
}

expression with_number(expression const& e, expression const& computed, expression const& number) {
    if (e == computed) return number;
    expression out = e;
    for (expression& each : out.operands) each = with_number(each, computed, number);
    return out;
}

/// A condition in which expressions that others fix at a number are that number. An equal condition becomes true.
expression reduced(expression condition, std::vector<expression> const& others) {
    for (expression const& each : others) {
        if (each.kind != expression_kind::equal || each.operands.size() != 2) continue;
        bool const first = is_integer(each.operands[0]);
        expression const& computed = each.operands[first ? 1 : 0];
        expression const& number = each.operands[first ? 0 : 1];
        if (!is_integer(number) || computed.operands.empty()) continue;
        expression replaced = with_number(condition, computed, number);
        if (replaced != condition) condition = substitute_in_condition(replaced, {});
    }
    return condition;
}

} // namespace

expression in_symbols(program const& p, expression const& condition) {
    expressions_of_symbols sizes;
    for (auto const& [name, source] : p.guard_sources) {
        value const& v = p.values[source.input];
        extent const e = source.axis < 0 ? v.symbolic.value() : v.sizes.at(static_cast<std::size_t>(source.axis));
        sizes.emplace(name, e.is_number() ? whole(e.number) : p.expressions[e.expression]);
    }
    return substitute_in_condition(condition, sizes);
}

void set_guard_states(program& p, integer_search& search) {
    expressions_of_symbols fixed;
    ranges_of_symbols free;
    for (auto const& [name, source] : p.guard_sources) {
        value const& v = p.values[source.input];
        if (source.axis >= 0 && v.sizes[static_cast<std::size_t>(source.axis)].is_number())
            fixed.emplace(name, whole(v.sizes[static_cast<std::size_t>(source.axis)].number));
        else free.emplace(name, integer_range{source.axis < 0 ? -max_size : 0, max_size});
    }
    std::vector<guard*> shortest_first;
    for (guard& g : p.guards)
        if (g.condition) shortest_first.push_back(&g);
    std::ranges::stable_sort(shortest_first, {}, [](guard const* g) { return g->text.size(); });
    std::vector<expression> checked; // the conditions that the model checks
    for (guard* const g : shortest_first) {
        expression const given = substitute_in_condition(*g->condition, fixed);
        expression const now = reduced(given, checked);
        std::optional<scalar> const value = is_python(now) ? python_value(now, {}) : std::nullopt;
        if (value ? value->to<bool>() : holds(now, free) == truth::yes) {
            g->state = guard_state::kept;
            continue;
        }
        expression const declared = in_symbols(p, *g->condition);
        bool const is_computed = freezes_number(given) && !is_broadcast(declared) && !divides_in_view(p, declared) &&
                                 !always_divides(declared) && !chooses_search(declared);
        if (is_computed) {
            g->state = guard_state::frozen;
            checked.push_back(now);
        }
        if (auto exact = in_integers(p, now, is_computed, search)) {
            if (is_computed && std::ranges::find(checked, *exact) != checked.end()) g->state = guard_state::kept;
            if (is_computed) checked.push_back(*exact);
            g->condition = std::move(exact);
        } else if (now != given) {
            g->condition = now;
        }
    }
}

} // namespace ATON_NAMESPACE::program
