// SPDX-License-Identifier: MIT
#include <aton/program/expression.hpp>

#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "make_expression.hpp"

namespace ATON_NAMESPACE::program {

namespace {

using symbol_values = std::map<std::string, std::int64_t, std::less<>>;

/// An intermediate result: a fraction if it is exact, otherwise a double.
struct quantity {
    std::int64_t n = 0;
    std::int64_t d = 1; ///< > 0, coprime to n; 0 if the number is `r`
    double r = 0;

    [[nodiscard]] bool is_real() const { return d == 0; }
    [[nodiscard]] double real() const { return is_real() ? r : static_cast<double>(n) / static_cast<double>(d); }
};
using maybe_quantity = std::optional<quantity>;

maybe_quantity real_number(double r) { return std::isfinite(r) ? maybe_quantity(quantity{0, 0, r}) : std::nullopt; }

std::optional<std::int64_t> sum(std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
    return out;
}
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
    std::int64_t out = 0;
    if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
    return out;
}

maybe_quantity fraction(std::optional<std::int64_t> n, std::optional<std::int64_t> d) {
    if (!n || !d || *d == 0) return std::nullopt;
    if (*d < 0) return fraction(product(*n, -1), product(*d, -1));
    // The magnitude is unsigned, because the minimum of int64 cannot be negated.
    std::uint64_t const magnitude = *n < 0 ? 0 - static_cast<std::uint64_t>(*n) : static_cast<std::uint64_t>(*n);
    auto const common = static_cast<std::int64_t>(std::gcd(magnitude, static_cast<std::uint64_t>(*d)));
    return quantity{*n / common, *d / common, 0};
}
maybe_quantity whole_quantity(std::int64_t n) { return quantity{n, 1, 0}; }

maybe_quantity add(quantity const& a, quantity const& b) {
    if (a.is_real() || b.is_real()) return real_number(a.real() + b.real());
    auto const left = product(a.n, b.d);
    auto const right = product(b.n, a.d);
    return left && right ? fraction(sum(*left, *right), product(a.d, b.d)) : std::nullopt;
}
maybe_quantity multiply(quantity const& a, quantity const& b) {
    if (a.is_real() || b.is_real()) return real_number(a.real() * b.real());
    return fraction(product(a.n, b.n), product(a.d, b.d));
}
maybe_quantity divide(quantity const& a, quantity const& b) {
    if (a.is_real() || b.is_real()) return b.real() == 0 ? std::nullopt : real_number(a.real() / b.real());
    return fraction(product(a.n, b.d), product(a.d, b.n));
}

std::int64_t floor_of(std::int64_t n, std::int64_t d) { return n / d - (n % d < 0 ? 1 : 0); }

maybe_quantity floor_number(quantity const& a) {
    return a.is_real() ? real_number(std::floor(a.r)) : whole_quantity(floor_of(a.n, a.d));
}
maybe_quantity ceiling_number(quantity const& a) {
    if (a.is_real()) return real_number(std::ceil(a.r));
    return a.d == 1 ? whole_quantity(a.n) : whole_quantity(floor_of(a.n, a.d) + 1);
}
maybe_quantity truncated(quantity const& a) {
    return a.is_real() ? real_number(std::trunc(a.r)) : whole_quantity(a.n / a.d);
}
/// Rounds half to even, as in Python.
maybe_quantity rounded(quantity const& a) {
    if (a.is_real()) return real_number(std::nearbyint(a.r));
    std::int64_t const below = floor_of(a.n, a.d);
    std::int64_t const rest = a.n % a.d + (a.n % a.d < 0 ? a.d : 0);
    bool const up = rest > a.d - rest || (rest == a.d - rest && below % 2 != 0);
    return whole_quantity(up ? below + 1 : below);
}

maybe_quantity floor_divide(quantity const& a, quantity const& b) {
    maybe_quantity const q = divide(a, b);
    return q ? floor_number(*q) : std::nullopt;
}
maybe_quantity modulo(quantity const& a, quantity const& b) {
    maybe_quantity const q = floor_divide(a, b);
    maybe_quantity const whole_part = q ? multiply(*q, b) : std::nullopt;
    maybe_quantity const negative = whole_part ? multiply(*whole_part, quantity{-1, 1, 0}) : std::nullopt;
    return negative ? add(a, *negative) : std::nullopt;
}

maybe_quantity power(quantity const& base, quantity const& exponent) {
    if (base.is_real() || exponent.d != 1) return real_number(std::pow(base.real(), exponent.real()));
    maybe_quantity factor = exponent.n < 0 ? fraction(base.d, base.n) : maybe_quantity(base);
    std::uint64_t left =
        exponent.n < 0 ? 0 - static_cast<std::uint64_t>(exponent.n) : static_cast<std::uint64_t>(exponent.n);
    maybe_quantity out = whole_quantity(1);
    while (factor && out && left != 0) {
        if (left % 2 != 0) out = multiply(*out, *factor);
        left /= 2;
        if (left != 0) factor = multiply(*factor, *factor);
    }
    return factor ? out : std::nullopt;
}

/// -1, 0 or 1.
std::optional<int> order(quantity const& a, quantity const& b) {
    if (a.is_real() || b.is_real()) return a.real() < b.real() ? -1 : (a.real() > b.real() ? 1 : 0);
    auto const left = product(a.n, b.d);
    auto const right = product(b.n, a.d);
    if (!left || !right) return std::nullopt;
    return *left < *right ? -1 : (*left > *right ? 1 : 0);
}

class exact_evaluation {
public:
    explicit exact_evaluation(symbol_values const& symbols) : symbols_(symbols) {}

    [[nodiscard]] maybe_quantity number(expression const& e, int depth) const {
        if (depth > max_expression_depth) return std::nullopt;
        switch (e.kind) {
        case expression_kind::integer:
        case expression_kind::boolean: return whole_quantity(e.number);
        case expression_kind::real: return real_number(e.real);
        case expression_kind::symbol: {
            auto const found = symbols_.find(e.symbol);
            return found == symbols_.end() ? std::nullopt : whole_quantity(found->second);
        }
        case expression_kind::piecewise: return first_that_holds(e, depth);
        case expression_kind::other: return std::nullopt;
        default: break;
        }
        std::vector<quantity> values;
        values.reserve(e.operands.size());
        for (expression const& each : e.operands) {
            maybe_quantity const value = number(each, depth + 1);
            if (!value) return std::nullopt;
            values.push_back(*value);
        }
        switch (values.size()) {
        case 0: return std::nullopt;
        case 1:
            if (maybe_quantity const out = of_one(e.kind, values[0])) return out;
            break;
        case 2:
            if (maybe_quantity const out = of_two(e.kind, values[0], values[1])) return out;
            break;
        default: break;
        }
        return of_many(e.kind, values);
    }

private:
    [[nodiscard]] maybe_quantity first_that_holds(expression const& e, int depth) const {
        for (std::size_t i = 0; i + 1 < e.operands.size(); i += 2) {
            maybe_quantity const condition = number(e.operands[i + 1], depth + 1);
            if (!condition) return std::nullopt;
            if (condition->real() != 0) return number(e.operands[i], depth + 1);
        }
        return std::nullopt;
    }

    static maybe_quantity of_one(expression_kind kind, quantity const& a) {
        switch (kind) {
        case expression_kind::truncate: return truncated(a);
        case expression_kind::floor: return floor_number(a);
        case expression_kind::ceiling: return ceiling_number(a);
        case expression_kind::round: return rounded(a);
        case expression_kind::to_float: return real_number(a.real());
        case expression_kind::absolute: return a.real() < 0 ? multiply(a, quantity{-1, 1, 0}) : maybe_quantity(a);
        case expression_kind::negation: return whole_quantity(a.real() == 0 ? 1 : 0);
        default: return std::nullopt;
        }
    }

    static maybe_quantity of_two(expression_kind kind, quantity const& a, quantity const& b) {
        auto const compared = [&](auto holds) -> maybe_quantity {
            std::optional<int> const o = order(a, b);
            return o ? whole_quantity(holds(*o) ? 1 : 0) : std::nullopt;
        };
        switch (kind) {
        case expression_kind::power: return power(a, b);
        case expression_kind::floor_div: return floor_divide(a, b);
        case expression_kind::ceil_div: {
            maybe_quantity const q = divide(a, b);
            return q ? ceiling_number(*q) : std::nullopt;
        }
        case expression_kind::true_div: return divide(a, b);
        case expression_kind::mod: return modulo(a, b);
        case expression_kind::greater: return compared([](int o) { return o > 0; });
        case expression_kind::greater_equal: return compared([](int o) { return o >= 0; });
        case expression_kind::less: return compared([](int o) { return o < 0; });
        case expression_kind::less_equal: return compared([](int o) { return o <= 0; });
        case expression_kind::equal: return compared([](int o) { return o == 0; });
        case expression_kind::unequal: return compared([](int o) { return o != 0; });
        default: return std::nullopt;
        }
    }

    static maybe_quantity of_many(expression_kind kind, std::vector<quantity> const& values) {
        if (kind == expression_kind::modular_indexing) {
            maybe_quantity const q = values.size() == 3 ? floor_divide(values[0], values[1]) : std::nullopt;
            return q ? modulo(*q, values[2]) : std::nullopt;
        }
        maybe_quantity out = values[0];
        for (std::size_t i = 1; i != values.size() && out; ++i) out = joined(kind, *out, values[i]);
        switch (kind) {
        case expression_kind::add:
        case expression_kind::mul:
        case expression_kind::maximum:
        case expression_kind::minimum: return out;
        case expression_kind::all_of:
        case expression_kind::any_of: return out ? whole_quantity(out->real() != 0 ? 1 : 0) : std::nullopt;
        default: return std::nullopt;
        }
    }

    static maybe_quantity joined(expression_kind kind, quantity const& a, quantity const& b) {
        switch (kind) {
        case expression_kind::add: return add(a, b);
        case expression_kind::mul: return multiply(a, b);
        case expression_kind::all_of: return whole_quantity(a.real() != 0 && b.real() != 0 ? 1 : 0);
        case expression_kind::any_of: return whole_quantity(a.real() != 0 || b.real() != 0 ? 1 : 0);
        default: break;
        }
        std::optional<int> const o = order(a, b);
        if (!o) return std::nullopt;
        if (kind == expression_kind::maximum) return *o < 0 ? b : a;
        if (kind == expression_kind::minimum) return *o > 0 ? b : a;
        return std::nullopt;
    }

    symbol_values const& symbols_;
};

} // namespace

std::optional<std::int64_t> evaluate(expression const& e, symbol_values const& symbols) {
    maybe_quantity const value = exact_evaluation(symbols).number(e, 0);
    if (!value) return std::nullopt;
    if (!value->is_real()) return value->d == 1 ? std::optional(value->n) : std::nullopt;
    constexpr double end = 9223372036854775808.0; // 2^63
    if (value->r != std::floor(value->r) || value->r < -end || value->r >= end) return std::nullopt;
    return static_cast<std::int64_t>(value->r);
}

} // namespace ATON_NAMESPACE::program
