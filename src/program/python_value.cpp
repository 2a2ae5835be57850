// SPDX-License-Identifier: MIT
#include "python_value.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include <aton/program/arithmetic.hpp>

#include "make_expression.hpp"

namespace ATON_NAMESPACE::program {

namespace {

using symbol_values = std::map<std::string, std::int64_t, std::less<>>;
using maybe_scalar = std::optional<scalar>;

struct function_row {
    std::string_view name;
    real_function function;
};
constexpr function_row functions[] = {
    {"sqrt", [](double x) { return std::sqrt(x); }},
    {"exp", [](double x) { return std::exp(x); }},
    {"log", [](double x) { return std::log(x); }},
    {"log2", [](double x) { return std::log2(x); }},
    {"log10", [](double x) { return std::log10(x); }},
    {"sin", [](double x) { return std::sin(x); }},
    {"cos", [](double x) { return std::cos(x); }},
    {"tan", [](double x) { return std::tan(x); }},
    {"asin", [](double x) { return std::asin(x); }},
    {"acos", [](double x) { return std::acos(x); }},
    {"atan", [](double x) { return std::atan(x); }},
    {"sinh", [](double x) { return std::sinh(x); }},
    {"cosh", [](double x) { return std::cosh(x); }},
    {"tanh", [](double x) { return std::tanh(x); }},
};

bool is_whole(scalar const& s) { return s.is_integral() || s.is_bool(); }

/// compute(), or nullopt if the result is not finite.
maybe_scalar binary(std::string_view op, scalar const& a, scalar const& b) {
    scalar const both[] = {a, b};
    maybe_scalar const out = compute(op, both);
    return out && out->is_floating() && !std::isfinite(out->to<double>()) ? std::nullopt : out;
}

maybe_scalar power(scalar const& a, scalar const& b) {
    if (is_whole(a) && is_whole(b) && b.to<std::int64_t>() < 0) { // a float in Python, too
        if (a.to<std::int64_t>() == 0) return std::nullopt;
        return binary("_operator.pow", scalar(a.to<double>()), b);
    }
    return binary("_operator.pow", a, b);
}

class python_evaluation {
public:
    explicit python_evaluation(symbol_values const& symbols) : symbols_(symbols) {}

    [[nodiscard]] maybe_scalar value(expression const& e, int depth) const {
        if (depth > max_expression_depth) return std::nullopt;
        switch (e.kind) {
        case expression_kind::integer: return scalar(e.number);
        case expression_kind::boolean: return scalar(e.number != 0);
        case expression_kind::real: return scalar(e.real);
        case expression_kind::symbol: {
            auto const found = symbols_.find(e.symbol);
            return found == symbols_.end() ? std::nullopt : maybe_scalar(scalar(found->second));
        }
        case expression_kind::all_of: return first_that_is(e, false, depth);
        case expression_kind::any_of: return first_that_is(e, true, depth);
        case expression_kind::piecewise: return chosen(e, depth);
        default: return computed(e, depth);
        }
    }

private:
    /// `and` and `or` evaluate operands only up to the one that decides.
    [[nodiscard]] maybe_scalar first_that_is(expression const& e, bool wanted, int depth) const {
        for (expression const& each : e.operands) {
            maybe_scalar const x = value(each, depth + 1);
            if (!x || x->to<bool>() == wanted) return x ? maybe_scalar(scalar(wanted)) : std::nullopt;
        }
        return scalar(!wanted);
    }

    [[nodiscard]] maybe_scalar chosen(expression const& e, int depth) const {
        for (std::size_t i = 0; i + 1 < e.operands.size(); i += 2) {
            maybe_scalar const condition = value(e.operands[i + 1], depth + 1);
            if (!condition) return std::nullopt;
            if (condition->to<bool>()) return value(e.operands[i], depth + 1);
        }
        return std::nullopt;
    }

    [[nodiscard]] maybe_scalar computed(expression const& e, int depth) const {
        std::vector<scalar> x;
        x.reserve(e.operands.size());
        for (expression const& each : e.operands) {
            maybe_scalar const v = value(each, depth + 1);
            if (!v) return std::nullopt;
            x.push_back(*v);
        }
        if (x.empty()) return std::nullopt;
        if (e.kind == expression_kind::other) {
            real_function const f = x.size() == 1 ? find_real_function(e.symbol) : nullptr;
            double const y = f == nullptr ? NAN : f(x[0].to<double>());
            return std::isfinite(y) ? maybe_scalar(scalar(y)) : std::nullopt;
        }
        if (x.size() == 1 && e.kind != expression_kind::add && e.kind != expression_kind::mul)
            return compute(python_name(e.kind), x);
        if (x.size() == 2 && e.kind == expression_kind::power) return power(x[0], x[1]);
        if (x.size() == 2 && e.kind == expression_kind::ceil_div) {
            maybe_scalar const q = binary("_operator.floordiv", x[0], x[1]);
            maybe_scalar const rest = binary("_operator.mod", x[0], x[1]);
            return q && rest ? binary("_operator.add", *q, scalar(rest->to<double>() != 0 ? 1 : 0)) : std::nullopt;
        }
        if (e.kind == expression_kind::modular_indexing) {
            maybe_scalar const q = x.size() == 3 ? binary("_operator.floordiv", x[0], x[1]) : std::nullopt;
            return q ? binary("_operator.mod", *q, x[2]) : std::nullopt;
        }
        bool const takes_many = e.kind == expression_kind::add || e.kind == expression_kind::mul ||
                                e.kind == expression_kind::maximum || e.kind == expression_kind::minimum;
        if (x.size() > 2 && !takes_many) return std::nullopt;
        maybe_scalar out = x[0];
        for (std::size_t i = 1; i != x.size() && out; ++i) out = binary(python_name(e.kind), *out, x[i]);
        return out;
    }

    symbol_values const& symbols_;
};

} // namespace

real_function find_real_function(std::string_view name) {
    auto const* const row =
        std::find_if(std::begin(functions), std::end(functions), [&](function_row const& r) { return r.name == name; });
    return row == std::end(functions) ? nullptr : row->function;
}

std::string_view python_name(expression_kind kind) {
    switch (kind) {
    case expression_kind::add: return "_operator.add";
    case expression_kind::mul: return "_operator.mul";
    case expression_kind::power: return "_operator.pow";
    case expression_kind::floor_div: return "_operator.floordiv";
    case expression_kind::true_div: return "_operator.truediv";
    case expression_kind::mod: return "_operator.mod";
    case expression_kind::maximum: return "torch.sym_max";
    case expression_kind::minimum: return "torch.sym_min";
    case expression_kind::truncate: return "math.trunc";
    case expression_kind::floor: return "math.floor";
    case expression_kind::ceiling: return "math.ceil";
    case expression_kind::round: return "round";
    case expression_kind::to_float: return "torch.sym_float";
    case expression_kind::absolute: return "_operator.abs";
    case expression_kind::greater: return "_operator.gt";
    case expression_kind::greater_equal: return "_operator.ge";
    case expression_kind::less: return "_operator.lt";
    case expression_kind::less_equal: return "_operator.le";
    case expression_kind::equal: return "_operator.eq";
    case expression_kind::unequal: return "_operator.ne";
    case expression_kind::negation: return "_operator.not_";
    default: return {};
    }
}

std::optional<scalar> python_value(expression const& e, symbol_values const& symbols) {
    return python_evaluation(symbols).value(e, 0);
}

bool is_python(expression const& e) {
    if (e.kind == expression_kind::other && (e.operands.size() != 1 || find_real_function(e.symbol) == nullptr))
        return false;
    return std::all_of(e.operands.begin(), e.operands.end(), is_python);
}

} // namespace ATON_NAMESPACE::program
