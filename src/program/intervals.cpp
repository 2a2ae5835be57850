// SPDX-License-Identifier: MIT
#include "intervals.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <limits>

#include "make_expression.hpp"
#include "python_value.hpp"

namespace ATON_NAMESPACE::program {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double exact = 9007199254740992.0; // 2^53: integers below are exact

struct interval {
    double low = -infinite;
    double high = infinite;

    [[nodiscard]] bool is_point() const { return low == high; }
    [[nodiscard]] bool holds_zero() const { return low <= 0 && high >= 0; }
};

bool is_exact(double x) { return x == std::floor(x) && std::abs(x) < exact; }

/// Widens an interval by the rounding error; returns the whole line if a bound is NaN.
interval rounded(double low, double high) {
    if (std::isnan(low) || std::isnan(high)) return {};
    auto const next = [](double x, double to) { return is_exact(x) ? x : std::nextafter(std::nextafter(x, to), to); };
    return {next(low, -infinite), next(high, infinite)};
}

template <class Operation>
interval of_corners(interval const& a, interval const& b, Operation operation) {
    auto const corners = {
        operation(a.low, b.low), operation(a.low, b.high), operation(a.high, b.low), operation(a.high, b.high)};
    if (std::any_of(corners.begin(), corners.end(), [](double x) { return std::isnan(x); })) return {};
    return rounded(std::min(corners), std::max(corners));
}

interval times(interval const& a, interval const& b) {
    return of_corners(a, b, [](double x, double y) { return x == 0 || y == 0 ? 0.0 : x * y; });
}
interval quotient(interval const& a, interval const& b) {
    if (b.holds_zero()) return {};
    return of_corners(a, b, [](double x, double y) { return x / y; });
}
interval floors(interval const& a) { return {std::floor(a.low), std::floor(a.high)}; }

interval remainder(interval const& a, interval const& b) {
    if (b.low <= 0) return {};
    interval const q = floors(quotient(a, b));
    if (b.is_point() && q.is_point() && std::abs(q.low) < exact) {
        double const taken = q.low * b.low;
        return rounded(a.low - taken, a.high - taken);
    }
    return {0, b.high};
}

interval powers(interval const& a, interval const& b) {
    if (a.low < 0 || !b.is_point() || (b.low < 0 && a.low == 0)) return {};
    double const x = std::pow(a.low, b.low);
    double const y = std::pow(a.high, b.low);
    // The error of pow() may exceed half a unit in the last place.
    double const slack = is_exact(x) && is_exact(y) ? 0 : 1e-14;
    return rounded(std::min(x, y) * (1 - slack), std::max(x, y) * (1 + slack));
}

class interval_evaluation {
public:
    explicit interval_evaluation(ranges_of_symbols const& ranges) : ranges_(ranges) {}

    [[nodiscard]] truth condition(expression const& e, int depth) const {
        if (depth > max_expression_depth) return truth::unknown;
        switch (e.kind) {
        case expression_kind::boolean: return e.number != 0 ? truth::yes : truth::no;
        case expression_kind::all_of: return joined(e, truth::no, truth::yes, depth);
        case expression_kind::any_of: return joined(e, truth::yes, truth::no, depth);
        case expression_kind::negation:
            return e.operands.size() == 1 ? opposite(condition(e.operands[0], depth + 1)) : truth::unknown;
        case expression_kind::greater: return compared(e, 1, 0, depth);
        case expression_kind::less_equal: return opposite(compared(e, 1, 0, depth));
        case expression_kind::less: return compared(e, 0, 1, depth);
        case expression_kind::greater_equal: return opposite(compared(e, 0, 1, depth));
        case expression_kind::equal: return equal(e, depth);
        case expression_kind::unequal: return opposite(equal(e, depth));
        default: return truth::unknown;
        }
    }

private:
    static truth opposite(truth t) { return t == truth::unknown ? t : t == truth::yes ? truth::no : truth::yes; }

    [[nodiscard]] truth joined(expression const& e, truth decides, truth fallback, int depth) const {
        truth out = fallback;
        for (expression const& each : e.operands) {
            truth const t = condition(each, depth + 1);
            if (t == decides) return t;
            if (t == truth::unknown) out = t;
        }
        return out;
    }

    /// Whether operand `small` is less than operand `large`.
    [[nodiscard]] truth compared(expression const& e, std::size_t small, std::size_t large, int depth) const {
        if (e.operands.size() != 2) return truth::unknown;
        if (e.operands[0] == e.operands[1]) return truth::no;
        interval const a = number(e.operands[small], depth + 1);
        interval const b = number(e.operands[large], depth + 1);
        if (a.high < b.low) return truth::yes;
        return a.low >= b.high ? truth::no : truth::unknown;
    }

    [[nodiscard]] truth equal(expression const& e, int depth) const {
        if (e.operands.size() != 2) return truth::unknown;
        if (e.operands[0] == e.operands[1]) return truth::yes;
        interval const a = number(e.operands[0], depth + 1);
        interval const b = number(e.operands[1], depth + 1);
        if (a.high < b.low || b.high < a.low) return truth::no;
        return a.is_point() && b.is_point() && is_exact(a.low) ? truth::yes : truth::unknown;
    }

    [[nodiscard]] interval number(expression const& e, int depth) const {
        if (depth > max_expression_depth) return {};
        switch (e.kind) {
        case expression_kind::integer: return rounded(static_cast<double>(e.number), static_cast<double>(e.number));
        case expression_kind::real: return {e.real, e.real};
        case expression_kind::symbol: {
            auto const found = ranges_.find(e.symbol);
            if (found == ranges_.end()) return {};
            return rounded(static_cast<double>(found->second.low), static_cast<double>(found->second.high));
        }
        case expression_kind::piecewise: return {};
        default: break;
        }
        if (e.operands.empty()) return {};
        interval out = number(e.operands[0], depth + 1);
        if (e.operands.size() == 1) return unary(e, out);
        if (e.kind == expression_kind::modular_indexing) return {};
        for (std::size_t i = 1; i != e.operands.size(); ++i)
            out = binary(e.kind, out, number(e.operands[i], depth + 1));
        return out;
    }

    [[nodiscard]] static interval unary(expression const& e, interval const& a) {
        switch (e.kind) {
        case expression_kind::add:
        case expression_kind::mul:
        case expression_kind::to_float: return a;
        case expression_kind::truncate: return {std::trunc(a.low), std::trunc(a.high)};
        case expression_kind::floor: return floors(a);
        case expression_kind::ceiling: return {std::ceil(a.low), std::ceil(a.high)};
        case expression_kind::round: return {std::nearbyint(a.low), std::nearbyint(a.high)};
        case expression_kind::absolute:
            return a.holds_zero() ? interval{0, std::max(-a.low, a.high)}
                                  : interval{std::min(std::abs(a.low), std::abs(a.high)),
                                             std::max(std::abs(a.low), std::abs(a.high))};
        case expression_kind::other: break;
        default: return {};
        }
        real_function const f = find_real_function(e.symbol);
        bool const rises = e.symbol == "sqrt" || e.symbol.starts_with("log") || e.symbol == "exp" ||
                           e.symbol == "atan" || e.symbol == "sinh" || e.symbol == "tanh";
        if (f == nullptr || !rises) return {};
        double const x = f(a.low);
        double const y = f(a.high);
        constexpr double slack = 1e-14;
        return rounded(x - std::abs(x) * slack, y + std::abs(y) * slack);
    }

    [[nodiscard]] static interval binary(expression_kind kind, interval const& a, interval const& b) {
        switch (kind) {
        case expression_kind::add: return rounded(a.low + b.low, a.high + b.high);
        case expression_kind::mul: return times(a, b);
        case expression_kind::true_div: return quotient(a, b);
        case expression_kind::floor_div: return floors(quotient(a, b));
        case expression_kind::ceil_div: {
            interval const q = quotient(a, b);
            return {std::ceil(q.low), std::ceil(q.high)};
        }
        case expression_kind::mod: return remainder(a, b);
        case expression_kind::power: return powers(a, b);
        case expression_kind::maximum: return {std::max(a.low, b.low), std::max(a.high, b.high)};
        case expression_kind::minimum: return {std::min(a.low, b.low), std::min(a.high, b.high)};
        default: return {};
        }
    }

    ranges_of_symbols const& ranges_;
};

} // namespace

truth holds(expression const& condition, ranges_of_symbols const& ranges) {
    return interval_evaluation(ranges).condition(condition, 0);
}

} // namespace ATON_NAMESPACE::program
