// SPDX-License-Identifier: MIT
#include <aton/program/expression.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "make_expression.hpp"

namespace ATON_NAMESPACE::program {

namespace {

using renamed_symbols = std::map<std::string, std::string, std::less<>>;

/// Operator precedence, as in Python.
enum class precedence : std::uint8_t { disjunction, conjunction, negation, relation, sum, product, power, atom };

struct rendered {
    std::string text;
    precedence level = precedence::atom;
};

std::string parenthesized(rendered r, precedence min) {
    if (r.level >= min) return std::move(r.text);
    std::string out = "(";
    out.append(r.text).append(")");
    return out;
}
/// The next higher precedence.
constexpr precedence tighter(precedence b) { return static_cast<precedence>(static_cast<std::uint8_t>(b) + 1); }

std::string real_text(double value) {
    char buffer[40];
    char* const stop = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    std::string out(buffer, stop);
    if (out.find_first_of(".enai") == std::string::npos) out += ".0";
    return out;
}

bool is_literal(expression const& e) { return is_integer(e) || e.kind == expression_kind::real; }
/// Rational(3, 4).
bool is_ratio(expression const& e) {
    return e.kind == expression_kind::true_div && e.operands.size() == 2 && is_integer(e.operands[0]) &&
           is_integer(e.operands[1]);
}

class expression_printer {
public:
    explicit expression_printer(renamed_symbols const& renamed) : renamed_(renamed) {}

    [[nodiscard]] rendered print(expression const& e) const {
        switch (e.kind) {
        case expression_kind::integer:
            return {std::to_string(e.number), e.number < 0 ? precedence::sum : precedence::atom};
        case expression_kind::real: return {real_text(e.real), e.real < 0 ? precedence::sum : precedence::atom};
        case expression_kind::boolean: return {e.number != 0 ? "true" : "false", precedence::atom};
        case expression_kind::symbol: {
            auto const found = renamed_.find(e.symbol);
            return {found == renamed_.end() ? e.symbol : found->second, precedence::atom};
        }
        case expression_kind::add: return sum(e);
        case expression_kind::mul: return product(e);
        case expression_kind::power: return infix(e, "**", precedence::power, precedence::atom, precedence::atom);
        case expression_kind::floor_div:
            return infix(e, "//", precedence::product, precedence::product, tighter(precedence::product));
        case expression_kind::true_div:
            return infix(e, "/", precedence::product, precedence::product, tighter(precedence::product));
        case expression_kind::mod:
            return infix(e, " % ", precedence::product, precedence::product, tighter(precedence::product));
        case expression_kind::greater: return relation(e, " > ");
        case expression_kind::greater_equal: return relation(e, " >= ");
        case expression_kind::less: return relation(e, " < ");
        case expression_kind::less_equal: return relation(e, " <= ");
        case expression_kind::equal: return relation(e, " == ");
        case expression_kind::unequal: return relation(e, " != ");
        case expression_kind::all_of: return joined(e, " and ", precedence::conjunction);
        case expression_kind::any_of: return joined(e, " or ", precedence::disjunction);
        case expression_kind::negation:
            if (e.operands.size() != 1) return call(e, "not");
            return {"not " + parenthesized(print(e.operands[0]), precedence::negation), precedence::negation};
        case expression_kind::ceil_div: return call(e, "ceil_div");
        case expression_kind::modular_indexing: return call(e, "modular_indexing");
        case expression_kind::maximum: return call(e, "max", true);
        case expression_kind::minimum: return call(e, "min", true);
        case expression_kind::truncate: return call(e, "trunc");
        case expression_kind::floor: return call(e, "floor");
        case expression_kind::ceiling: return call(e, "ceil");
        case expression_kind::round: return call(e, "round");
        case expression_kind::to_float: return call(e, "float");
        case expression_kind::absolute: return call(e, "abs");
        case expression_kind::piecewise: return call(e, "piecewise");
        case expression_kind::other: break;
        }
        return e.operands.empty() ? rendered{e.symbol, precedence::atom} : call(e, e.symbol);
    }

private:
    /// Sorts the terms by their strings, with subtracted terms after added ones and numbers last, so that equal sums have equal strings.
    [[nodiscard]] rendered sum(expression const& e) const {
        struct term {
            int rank = 0; ///< 0 added, 1 subtracted, 2 numbers
            bool negative = false;
            std::string text;
        };
        std::vector<term> terms;
        for (expression const& each : e.operands) {
            std::string text =
                parenthesized(print(each), each.kind == expression_kind::add ? precedence::product : precedence::sum);
            bool const number = is_literal(each);
            bool const negative = text.starts_with('-');
            if (negative) text.erase(0, 1);
            terms.push_back({number ? 2 : (negative ? 1 : 0), negative, std::move(text)});
        }
        if (terms.empty()) return {"0", precedence::atom};
        std::sort(terms.begin(), terms.end(), [](term const& a, term const& b) {
            return a.rank != b.rank ? a.rank < b.rank : a.text < b.text;
        });
        std::string out;
        for (term const& each : terms) {
            if (!out.empty()) out += each.negative ? " - " : " + ";
            else if (each.negative) out += '-';
            out += each.text;
        }
        return {std::move(out), precedence::sum};
    }

    /// Numbers come first, divisors last.
    [[nodiscard]] rendered product(expression const& e) const {
        std::vector<std::string> numbers;
        std::vector<std::string> factors;
        std::vector<std::string> divisors;
        bool negative = false;
        auto const number = [&](std::string_view text) {
            if (text.starts_with('-')) text.remove_prefix(1), negative = !negative;
            if (text != "1") numbers.emplace_back(text);
        };
        for (expression const& each : e.operands) {
            if (is_literal(each)) {
                number(print(each).text);
            } else if (is_ratio(each)) {
                number(print(each.operands[0]).text);
                divisors.push_back(parenthesized(print(each.operands[1]), precedence::power));
            } else {
                factors.push_back(parenthesized(print(each), tighter(precedence::product)));
            }
        }
        std::sort(numbers.begin(), numbers.end());
        std::sort(factors.begin(), factors.end());
        std::sort(divisors.begin(), divisors.end());
        std::string out = negative ? "-" : "";
        std::size_t const sign = out.size();
        for (auto const* list : {&numbers, &factors})
            for (std::string const& each : *list) (out += out.size() == sign ? "" : "*") += each;
        if (out.size() == sign) out += '1';
        for (std::string const& each : divisors) (out += '/') += each;
        bool const alone = divisors.empty() && numbers.size() + factors.size() <= 1;
        return {std::move(out), negative ? precedence::sum : (alone ? precedence::power : precedence::product)};
    }

    [[nodiscard]] rendered infix(expression const& e, std::string_view op, precedence own, precedence left,
                                 precedence right) const {
        if (e.operands.size() != 2) return call(e, op);
        std::string out = parenthesized(print(e.operands[0]), left);
        out.append(op).append(parenthesized(print(e.operands[1]), right));
        return {std::move(out), own};
    }

    [[nodiscard]] rendered relation(expression const& e, std::string_view op) const {
        return infix(e, op, precedence::relation, precedence::sum, precedence::sum);
    }

    [[nodiscard]] rendered joined(expression const& e, std::string_view op, precedence own) const {
        std::vector<std::string> parts;
        for (expression const& each : e.operands) parts.push_back(parenthesized(print(each), tighter(own)));
        std::sort(parts.begin(), parts.end());
        std::string out;
        for (std::string const& each : parts) (out += out.empty() ? std::string_view{} : op) += each;
        return {std::move(out), own};
    }

    [[nodiscard]] rendered call(expression const& e, std::string_view name, bool any_order = false) const {
        std::vector<std::string> parts;
        for (expression const& each : e.operands) parts.push_back(print(each).text);
        if (any_order) std::sort(parts.begin(), parts.end());
        std::string out(name);
        out += '(';
        for (std::size_t i = 0; i != parts.size(); ++i) (out += i == 0 ? "" : ", ") += parts[i];
        out += ')';
        return {std::move(out), precedence::atom};
    }

    renamed_symbols const& renamed_;
};

} // namespace

std::string to_string(expression const& e, renamed_symbols const& renamed) {
    return expression_printer(renamed).print(e).text;
}

} // namespace ATON_NAMESPACE::program
