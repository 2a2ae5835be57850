// SPDX-License-Identifier: MIT
// Functions of numbers, beside the operators that numbers of the program have too.
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <numeric>

#include "builtins.hpp"
#include "text_functions.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using arguments = builtin_arguments;
using result = builtin_result;
using complex = std::complex<double>;

result of_complex(complex z) { return result::of(scalar::complex(z.real(), z.imag())); }
complex complex_at(arguments const& x, std::size_t i) { return {x.real(i), x.number(i).imaginary()}; }
result pair(scalar a, scalar b) { return {result::shape::tuple, {constant(a), constant(b)}}; }

std::int64_t gcd(std::int64_t a, std::int64_t b) {
    auto const size = [](std::int64_t n) {
        auto const bits = static_cast<std::uint64_t>(n);
        return n < 0 ? 0 - bits : bits;
    };
    return static_cast<std::int64_t>(std::gcd(size(a), size(b)));
}

result factorial(std::int64_t n) {
    if (n < 0) return result::refused("factorial() of a negative number");
    if (n > 20) return result::refused("factorial() of a number whose result does not fit in 64 bits");
    std::int64_t out = 1;
    for (std::int64_t i = 2; i <= n; ++i) out *= i;
    return result::of(scalar(out));
}

#define ATON_REAL(name, expression)                                                                                    \
    {name, "float", [](arguments const& a) {                                                                           \
         double const x = a.real(0);                                                                                   \
         return result::of(scalar(expression));                                                                        \
     }}
#define ATON_REAL_PAIR(name, expression)                                                                               \
    {name, "float float", [](arguments const& a) {                                                                     \
         double const x = a.real(0);                                                                                   \
         double const y = a.real(1);                                                                                   \
         return result::of(scalar(expression));                                                                        \
     }}
#define ATON_COMPLEX(name, expression)                                                                                 \
    {name, "complex", [](arguments const& a) {                                                                         \
         complex const z = complex_at(a, 0);                                                                           \
         return of_complex(expression);                                                                                \
     }}
#define ATON_COMPLEX_PAIR(name, expression)                                                                            \
    {name, "complex complex", [](arguments const& a) {                                                                 \
         complex const z = complex_at(a, 0);                                                                           \
         complex const w = complex_at(a, 1);                                                                           \
         return of_complex(expression);                                                                                \
     }}

constexpr builtin number_rows[] = {
    ATON_REAL("exp", std::exp(x)),
    ATON_REAL("expm1", std::expm1(x)),
    ATON_REAL("log", std::log(x)),
    ATON_REAL("log2", std::log2(x)),
    ATON_REAL("log10", std::log10(x)),
    ATON_REAL("log1p", std::log1p(x)),
    ATON_REAL("sin", std::sin(x)),
    ATON_REAL("cos", std::cos(x)),
    ATON_REAL("tan", std::tan(x)),
    ATON_REAL("asin", std::asin(x)),
    ATON_REAL("acos", std::acos(x)),
    ATON_REAL("atan", std::atan(x)),
    ATON_REAL("sinh", std::sinh(x)),
    ATON_REAL("cosh", std::cosh(x)),
    ATON_REAL("tanh", std::tanh(x)),
    ATON_REAL("asinh", std::asinh(x)),
    ATON_REAL("acosh", std::acosh(x)),
    ATON_REAL("atanh", std::atanh(x)),
    ATON_REAL("erf", std::erf(x)),
    ATON_REAL("erfc", std::erfc(x)),
    ATON_REAL("gamma", std::tgamma(x)),
    ATON_REAL("lgamma", std::lgamma(x)),
    ATON_REAL("fabs", std::abs(x)),
    ATON_REAL("degrees", x * 180.0 / std::numbers::pi),
    ATON_REAL("radians", x* std::numbers::pi / 180.0),
    ATON_REAL("isnan", std::isnan(x)),
    ATON_REAL("isinf", std::isinf(x)),
    ATON_REAL("isfinite", std::isfinite(x)),
    ATON_REAL("angle", std::isnan(x) ? x
                       : x < 0       ? std::numbers::pi
                                     : 0.0),
    ATON_REAL_PAIR("log", std::log(x) / std::log(y)),
    ATON_REAL_PAIR("atan2", std::atan2(x, y)),
    ATON_REAL_PAIR("copysign", std::copysign(x, y)),
    ATON_REAL_PAIR("fmod", std::fmod(x, y)),
    ATON_REAL_PAIR("mathremainder", std::remainder(x, y)),
    {"ldexp",
     "float int",
     [](arguments const& x) {
         return result::of(scalar(std::ldexp(x.real(0), scalar(x.integer(1)).to_saturated<int>())));
     }},
    {"modf",
     "float",
     [](arguments const& x) {
         double whole = 0;
         double const rest = std::modf(x.real(0), &whole);
         return pair(scalar(rest), scalar(whole));
     }},
    {"frexp",
     "float",
     [](arguments const& x) {
         int exponent = 0;
         double const size = std::frexp(x.real(0), &exponent);
         return pair(scalar(size), scalar(exponent));
     }},
    {"factorial", "int", [](arguments const& x) { return factorial(x.integer(0)); }},
    {"gcd", "int int", [](arguments const& x) { return result::of(scalar(gcd(x.integer(0), x.integer(1)))); }},
    {"__round_to_zero_floordiv",
     "int int",
     [](arguments const& x) {
         if (x.integer(1) == 0 || (x.integer(1) == -1 && x.integer(0) == std::numeric_limits<std::int64_t>::min()))
             return result::refused("an integer is divided by zero, or the result does not fit in 64 bits");
         return result::of(scalar(x.integer(0) / x.integer(1)));
     }},
    {"hash", "int", [](arguments const& x) { return result::of(scalar(x.integer(0))); }},
    {"hash",
     "float",
     [](arguments const&) { return result::refused("the hash of a float differs between builds of torch"); }},
    {"hex", "int", [](arguments const& x) { return result::of(texts::in_base(x.integer(0), 16, "0x")); }},
    {"oct", "int", [](arguments const& x) { return result::of(texts::in_base(x.integer(0), 8, "0o")); }},
    {"bin", "int", [](arguments const& x) { return result::of(texts::in_base(x.integer(0), 2, "0b")); }},
    {"chr",
     "int",
     [](arguments const& x) {
         if (x.integer(0) < 0 || x.integer(0) > 127) return result::refused("chr() of a number that is not in ASCII");
         return result::of(std::string(1, static_cast<char>(x.integer(0))));
     }},
    {"Complex", "float float?", [](arguments const& x) { return of_complex({x.real(0), x.has(1) ? x.real(1) : 0.0}); }},
    {"complex", "float float?", [](arguments const& x) { return of_complex({x.real(0), x.has(1) ? x.real(1) : 0.0}); }},
    {"polar", "float float", [](arguments const& x) { return of_complex(std::polar(x.real(0), x.real(1))); }},
};

constexpr builtin complex_rows[] = {
    ATON_COMPLEX_PAIR("add", z + w),
    ATON_COMPLEX_PAIR("sub", z - w),
    ATON_COMPLEX_PAIR("mul", z* w),
    ATON_COMPLEX_PAIR("div", z / w),
    ATON_COMPLEX_PAIR("pow", std::pow(z, w)),
    ATON_COMPLEX_PAIR("log", std::log(z) / std::log(w)),
    ATON_COMPLEX("neg", -z),
    ATON_COMPLEX("exp", std::exp(z)),
    ATON_COMPLEX("log", std::log(z)),
    ATON_COMPLEX("log10", std::log10(z)),
    ATON_COMPLEX("sqrt", std::sqrt(z)),
    ATON_COMPLEX("sin", std::sin(z)),
    ATON_COMPLEX("cos", std::cos(z)),
    ATON_COMPLEX("tan", std::tan(z)),
    ATON_COMPLEX("asin", std::asin(z)),
    ATON_COMPLEX("acos", std::acos(z)),
    ATON_COMPLEX("atan", std::atan(z)),
    ATON_COMPLEX("sinh", std::sinh(z)),
    ATON_COMPLEX("cosh", std::cosh(z)),
    ATON_COMPLEX("tanh", std::tanh(z)),
    ATON_COMPLEX("asinh", std::asinh(z)),
    ATON_COMPLEX("acosh", std::acosh(z)),
    ATON_COMPLEX("atanh", std::atanh(z)),
    ATON_COMPLEX("Complex", z),
    ATON_COMPLEX("complex", z),
    {"abs", "complex", [](arguments const& x) { return result::of(scalar(std::abs(complex_at(x, 0)))); }},
    {"angle", "complex", [](arguments const& x) { return result::of(scalar(std::arg(complex_at(x, 0)))); }},
    {"isnan",
     "complex",
     [](arguments const& x) {
         return result::of(scalar(std::isnan(x.real(0)) || std::isnan(x.number(0).imaginary())));
     }},
    {"isinf",
     "complex",
     [](arguments const& x) {
         return result::of(scalar(std::isinf(x.real(0)) || std::isinf(x.number(0).imaginary())));
     }},
    {"isfinite",
     "complex",
     [](arguments const& x) {
         return result::of(scalar(std::isfinite(x.real(0)) && std::isfinite(x.number(0).imaginary())));
     }},
    {"eq", "complex complex", [](arguments const& x) { return result::of(scalar(x.number(0) == x.number(1))); }},
    {"ne", "complex complex", [](arguments const& x) { return result::of(scalar(!(x.number(0) == x.number(1)))); }},
};

#undef ATON_REAL
#undef ATON_REAL_PAIR
#undef ATON_COMPLEX
#undef ATON_COMPLEX_PAIR

} // namespace

std::span<builtin const> number_builtins() { return number_rows; }
std::span<builtin const> complex_builtins() { return complex_rows; }

} // namespace ATON_NAMESPACE::torchscript
