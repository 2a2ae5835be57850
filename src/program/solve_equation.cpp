// SPDX-License-Identifier: MIT
// The equation as a linear sum that is 0, solved for a term with the factor 1 or -1.
#include "solve_equation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "linear.hpp"

namespace ATON_NAMESPACE::program {

namespace {

expression minus(expression e) { return {expression_kind::mul, 0, 0, {}, {whole(-1), std::move(e)}}; }

/// If a guard states y % 2 == 0, multiplies a sum with y // 2 by 2 to get rid of the division.
void remove_divisions(linear_sum& sum, std::vector<fact> const& facts) {
    for (std::size_t i = 0; i != sum.terms.size(); ++i) {
        expression const& e = sum.terms[i].atom;
        if (e.kind != expression_kind::floor_div || e.operands.size() != 2 ||
            e.operands[0].kind != expression_kind::symbol || e.operands[1].kind != expression_kind::integer ||
            e.operands[1].number < 2 || e.operands[1].number > 1 << 20)
            continue;
        expression const none = relation(expression_kind::mod, e.operands[0], e.operands[1]);
        if (std::none_of(facts.begin(), facts.end(), [&](fact const& f) {
                return f.condition == relation(expression_kind::equal, none, whole(0));
            }))
            continue;
        linear_sum scaled;
        bool fits = !__builtin_mul_overflow(sum.number, e.operands[1].number, &scaled.number);
        for (std::size_t k = 0; k != sum.terms.size() && fits; ++k) {
            std::int64_t factor = sum.terms[k].factor;
            fits = (k == i || !__builtin_mul_overflow(factor, e.operands[1].number, &factor)) &&
                   scaled.add(k == i ? e.operands[0] : sum.terms[k].atom, factor);
        }
        if (fits) sum = std::move(scaled);
        return;
    }
}

std::vector<std::string> symbols_of(program const& p, value_index v) {
    std::vector<std::string> out;
    auto const add = [&](extent const& e) {
        if (!e.is_number() && p.expressions[e.expression].kind == expression_kind::symbol)
            out.push_back(p.expressions[e.expression].symbol);
    };
    for (extent const& e : p.values[v].sizes) add(e);
    if (p.values[v].symbolic) add(*p.values[v].symbolic);
    return out;
}

/// Solves the equation sum == 0 for one of the candidates, if it occurs only as a term with the factor 1 or -1.
std::optional<solved_symbol> solve(linear_sum const& sum, std::vector<std::string> const& candidates,
                                   std::function<bool(std::string const&)> const& is_known) {
    for (std::string const& symbol : candidates) {
        linear_sum rest;
        rest.number = sum.number;
        std::int64_t own = 0;
        bool elsewhere = false;
        for (linear_sum::term const& t : sum.terms) {
            if (t.atom.kind == expression_kind::symbol && t.atom.symbol == symbol) own = t.factor;
            else if (mentions(t.atom, symbol)) elsewhere = true;
            else rest.terms.push_back(t);
        }
        if (elsewhere || (own != 1 && own != -1) || is_known(symbol)) continue;
        constexpr std::int64_t limit = std::int64_t{1} << 40; // factors of real sizes are small
        auto const small = [](std::int64_t n) { return n > -limit && n < limit; };
        if (!small(rest.number) ||
            !std::all_of(rest.terms.begin(), rest.terms.end(), [&](auto const& t) { return small(t.factor); }))
            continue;
        rest.number *= -own;
        for (linear_sum::term& t : rest.terms) t.factor *= -own;
        return solved_symbol{symbol, to_expression(rest)};
    }
    return std::nullopt;
}

} // namespace

std::optional<solved_symbol> solve_equation(program const& p, std::vector<fact> const& facts,
                                            std::function<bool(std::string const&)> const& is_known) {
    for (fact const& f : facts) {
        if (f.condition.kind != expression_kind::equal || f.condition.operands.size() != 2) continue;
        std::optional<linear_sum> sum =
            linear(relation(expression_kind::add, f.condition.operands[0], minus(f.condition.operands[1])));
        if (!sum || sum->terms.size() < 2) continue;
        remove_divisions(*sum, facts);
        for (auto in = p.inputs.rbegin(); in != p.inputs.rend(); ++in)
            if (in->kind == input_kind::user && in->value != no_value)
                if (auto found = solve(*sum, symbols_of(p, in->value), is_known)) return found;
    }
    return std::nullopt;
}

} // namespace ATON_NAMESPACE::program
