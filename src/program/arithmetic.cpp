// SPDX-License-Identifier: MIT
#include <aton/program/arithmetic.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace ATON_NAMESPACE::program {

namespace {

bool is_integral(scalar const& s) { return s.is_integral() || s.is_bool(); }

std::optional<scalar> integer_of(double d) {
    if (!(d >= -0x1p62 && d <= 0x1p62)) return std::nullopt;
    return scalar(static_cast<std::int64_t>(d));
}

std::optional<scalar> unary(std::string_view op, scalar const& a) {
    if (op == "torch.sym_not" || op == "_operator.not_") return scalar(!a.to<bool>());
    if (op == "torch.sym_float") return scalar(a.to<double>());
    if (op == "torch._sym_sqrt") return scalar(std::sqrt(a.to<double>()));
    if (is_integral(a)) {
        auto const n = a.to<std::int64_t>();
        if (op == "_operator.neg" || op == "_operator.abs") {
            if (n == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
            return scalar(op == "_operator.neg" ? -n : std::abs(n));
        }
        return a;
    }
    auto const d = a.to<double>();
    if (op == "_operator.neg") return scalar(-d);
    if (op == "_operator.abs") return scalar(std::abs(d));
    if (op == "_operator.pos") return a;
    if (op == "math.floor") return integer_of(std::floor(d));
    if (op == "math.ceil") return integer_of(std::ceil(d));
    if (op == "round") return integer_of(std::nearbyint(d));
    return op == "math.trunc" || op == "torch.sym_int" ? integer_of(std::trunc(d)) : std::nullopt;
}

template <class T>
std::optional<scalar> compared(std::string_view op, T a, T b) {
    if (op == "_operator.eq") return scalar(a == b);
    if (op == "_operator.ne") return scalar(a != b);
    if (op == "_operator.lt") return scalar(a < b);
    if (op == "_operator.le") return scalar(a <= b);
    if (op == "_operator.gt") return scalar(a > b);
    if (op == "_operator.ge") return scalar(a >= b);
    if (op == "torch.sym_max") return scalar(a < b ? b : a);
    if (op == "torch.sym_min") return scalar(b < a ? b : a);
    return std::nullopt;
}

std::optional<std::int64_t> power(std::int64_t base, std::int64_t exponent) {
    if (exponent < 0 || exponent >= 64) return std::nullopt;
    std::int64_t out = 1;
    for (std::int64_t i = 0; i != exponent; ++i)
        if (__builtin_mul_overflow(out, base, &out)) return std::nullopt;
    return out;
}

/// Python's // (rounded down), % (with the sign of the divisor) and /.
std::optional<scalar> divided(std::string_view op, std::int64_t a, std::int64_t b) {
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
    bool const rounds = a % b != 0 && (a < 0) != (b < 0);
    if (op == "_operator.mod") return scalar(rounds ? a % b + b : a % b);
    if (op == "_operator.floordiv") return scalar(rounds ? a / b - 1 : a / b);
    if (op == "_operator.truediv") return scalar(static_cast<double>(a) / static_cast<double>(b));
    return std::nullopt;
}

std::optional<scalar> integers(std::string_view op, std::int64_t a, std::int64_t b) {
    if (auto const c = compared(op, a, b)) return c;
    std::int64_t out = 0;
    if (op == "_operator.add") return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(scalar(out));
    if (op == "_operator.sub") return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(scalar(out));
    if (op == "_operator.mul") return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(scalar(out));
    if (op == "_operator.and_") return scalar(a & b);
    if (op == "_operator.or_") return scalar(a | b);
    if (op == "_operator.xor") return scalar(a ^ b);
    bool const left = op == "_operator.lshift";
    if (op == "_operator.pow" || left || op == "_operator.rshift") {
        std::optional<std::int64_t> const factor = op == "_operator.pow" ? power(a, b) : power(2, b);
        if (!factor) return std::nullopt;
        if (op == "_operator.pow") return scalar(*factor);
        return left ? integers("_operator.mul", a, *factor) : divided("_operator.floordiv", a, *factor);
    }
    return divided(op, a, b);
}

std::optional<scalar> reals(std::string_view op, double a, double b) {
    if (auto const c = compared(op, a, b)) return c;
    if (op == "_operator.add") return scalar(a + b);
    if (op == "_operator.sub") return scalar(a - b);
    if (op == "_operator.mul") return scalar(a * b);
    if (op == "_operator.pow") return scalar(std::pow(a, b));
    if (b == 0) return std::nullopt;
    if (op == "_operator.truediv") return scalar(a / b);
    double const rest = std::fmod(a, b);
    double const modulus = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    if (op == "_operator.mod") return scalar(modulus);
    return op == "_operator.floordiv" ? std::optional(scalar(std::round((a - modulus) / b))) : std::nullopt;
}

} // namespace

std::optional<scalar> compute(std::string_view op, std::span<scalar const> operands) {
    if (op == "torch.sym_sum") {
        std::optional<scalar> sum = scalar(0);
        for (scalar const& each : operands) {
            scalar const both[] = {*sum, each};
            if (sum = compute("_operator.add", both); !sum) return std::nullopt;
        }
        return sum;
    }
    if (operands.size() == 1) return unary(op, operands[0]);
    if (op == "torch.sym_ite" && operands.size() == 3) return operands[0].to<bool>() ? operands[1] : operands[2];
    if (operands.size() != 2) return std::nullopt;
    return is_integral(operands[0]) && is_integral(operands[1])
               ? integers(op, operands[0].to<std::int64_t>(), operands[1].to<std::int64_t>())
               : reals(op, operands[0].to<double>(), operands[1].to<double>());
}

} // namespace ATON_NAMESPACE::program
