// SPDX-License-Identifier: MIT
// Substitutes expressions for symbols, and normalizes the result to sums of terms with integer factors.
#include <aton/program/expression.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "linear.hpp"
#include "make_expression.hpp"

namespace ATON_NAMESPACE::program {

namespace {

constexpr std::size_t max_terms = 1000;

/// Whether an expression is an integer for all integer values of its symbols, without floats as intermediate results.
bool is_whole(expression const& e, int depth) {
    if (depth > max_expression_depth) return false;
    switch (e.kind) {
    case expression_kind::integer:
    case expression_kind::symbol: return true;
    case expression_kind::add:
    case expression_kind::mul:
    case expression_kind::floor_div:
    case expression_kind::ceil_div:
    case expression_kind::mod:
    case expression_kind::modular_indexing:
    case expression_kind::maximum:
    case expression_kind::minimum:
        return std::all_of(
            e.operands.begin(), e.operands.end(), [&](expression const& each) { return is_whole(each, depth + 1); });
    default: return false;
    }
}

bool has_symbol(expression const& e) {
    if (e.kind == expression_kind::symbol || e.kind == expression_kind::other) return true;
    return std::any_of(e.operands.begin(), e.operands.end(), has_symbol);
}

/// Adds `factor` * `e` to a sum; returns false on overflow, or if there are too many terms.
bool collect(expression const& e, std::int64_t factor, linear_sum& to) {
    if (is_integer(e)) {
        std::int64_t product = 0;
        return !__builtin_mul_overflow(e.number, factor, &product) &&
               !__builtin_add_overflow(to.number, product, &to.number);
    }
    if (e.kind == expression_kind::add)
        return std::all_of(
            e.operands.begin(), e.operands.end(), [&](expression const& each) { return collect(each, factor, to); });
    if (e.kind == expression_kind::mul) {
        expression rest;
        rest.kind = expression_kind::mul;
        for (expression const& each : e.operands)
            if (!is_integer(each)) rest.operands.push_back(each);
            else if (__builtin_mul_overflow(factor, each.number, &factor)) return false;
        if (rest.operands.empty()) return collect(whole(1), factor, to);
        if (rest.operands.size() == 1 && rest.operands[0].kind == expression_kind::add)
            return collect(rest.operands[0], factor, to);
        if (rest.operands.size() == 1) return to.add(std::move(rest.operands[0]), factor);
        std::sort(rest.operands.begin(), rest.operands.end(), [](expression const& a, expression const& b) {
            return to_string(a) < to_string(b);
        });
        return to.add(std::move(rest), factor);
    }
    return to.add(e, factor);
}

/// Simplifies (6*x + y) // 3 to 2*x + y // 3, and (6*x + y) % 3 to y % 3.
expression divided(expression e, bool is_quotient) {
    std::int64_t const by = e.operands[1].number;
    std::optional<linear_sum> const sum = linear(e.operands[0]);
    if (!sum) return e;
    linear_sum out;
    linear_sum rest;
    for (linear_sum::term const& t : sum->terms)
        if (t.factor % by != 0) rest.terms.push_back(t);
        else if (is_quotient) out.terms.push_back({t.text, t.atom, t.factor / by});
    rest.number = (sum->number % by + by) % by;
    if (is_quotient) out.number = (sum->number - rest.number) / by;
    if (!rest.terms.empty() && (out.terms.empty() && out.number == 0)) { // no term is divisible
        e.operands[0] = to_expression(rest);
        return e;
    }
    if (!rest.terms.empty()) {
        expression left;
        left.kind = e.kind;
        left.operands = {to_expression(rest), whole(by)};
        if (!out.add(std::move(left), 1)) return e;
    } else if (!is_quotient) {
        out.number = rest.number;
    }
    return to_expression(out);
}

expression normal(expression e) {
    if ((e.kind == expression_kind::add || e.kind == expression_kind::mul) && is_whole(e, 0))
        if (std::optional<linear_sum> const sum = linear(e)) return to_expression(*sum);
    bool const is_quotient = e.kind == expression_kind::floor_div;
    if ((is_quotient || e.kind == expression_kind::mod) && e.operands.size() == 2 && is_integer(e.operands[1]) &&
        e.operands[1].number > 0)
        return divided(std::move(e), is_quotient);
    return e;
}

expression replaced(expression const& e, std::map<std::string, expression, std::less<>> const& symbols, int depth) {
    if (e.kind == expression_kind::symbol) {
        auto const found = symbols.find(e.symbol);
        return found == symbols.end() ? e : found->second;
    }
    if (e.operands.empty() || depth > max_expression_depth) return e;
    expression out = e;
    for (expression& each : out.operands) each = replaced(each, symbols, depth + 1);
    if (is_whole(out, depth) && !has_symbol(out))
        if (std::optional<std::int64_t> const n = evaluate(out, {})) return whole(*n);
    return normal(std::move(out));
}

} // namespace

bool linear_sum::add(expression atom, std::int64_t factor) {
    std::string text = to_string(atom);
    auto const at = std::find_if(terms.begin(), terms.end(), [&](term const& t) { return t.text == text; });
    if (at == terms.end()) {
        if (terms.size() == max_terms) return false;
        terms.push_back({std::move(text), std::move(atom), factor});
        return true;
    }
    if (__builtin_add_overflow(at->factor, factor, &at->factor)) return false;
    if (at->factor == 0) terms.erase(at);
    return true;
}

std::optional<linear_sum> linear(expression const& e) {
    linear_sum out;
    if (!is_whole(e, 0) || !collect(e, 1, out)) return std::nullopt;
    return out;
}

expression to_expression(linear_sum const& sum) {
    expression out;
    out.kind = expression_kind::add;
    for (linear_sum::term const& t : sum.terms) {
        if (t.factor == 1) {
            out.operands.push_back(t.atom);
            continue;
        }
        expression product;
        product.kind = expression_kind::mul;
        product.operands.push_back(whole(t.factor));
        if (t.atom.kind == expression_kind::mul)
            product.operands.insert(product.operands.end(), t.atom.operands.begin(), t.atom.operands.end());
        else product.operands.push_back(t.atom);
        out.operands.push_back(std::move(product));
    }
    std::sort(out.operands.begin(), out.operands.end(), [](expression const& a, expression const& b) {
        return to_string(a) < to_string(b);
    });
    if (sum.number != 0 || out.operands.empty()) out.operands.insert(out.operands.begin(), whole(sum.number));
    return out.operands.size() == 1 ? std::move(out.operands[0]) : out;
}

expression substitute_in_condition(expression const& e, std::map<std::string, expression, std::less<>> const& symbols) {
    return replaced(e, symbols, 0);
}

expression substitute(expression const& e, std::map<std::string, expression, std::less<>> const& symbols) {
    expression out = replaced(e, symbols, 0);
    // Evaluates results without symbols, such as half of an even number.
    if (!out.operands.empty() && !has_symbol(out))
        if (std::optional<std::int64_t> const n = evaluate(out, {})) return whole(*n);
    return out;
}

} // namespace ATON_NAMESPACE::program
