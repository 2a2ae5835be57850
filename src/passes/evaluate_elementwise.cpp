// SPDX-License-Identifier: MIT
// Evaluators of casts, arithmetic, comparisons and logic. They give no result if that of a runtime is not certain.
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "attributes.hpp"
#include "elements.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

bool is_number(dtype t) { return tensor::can_hold(t) && t != dtype::bool_ && !is_complex(t); }

/// Integers wrap, as in a runtime.
template <class T, class Function>
T wrapping(T a, T b, Function f) {
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
    } else {
        return f(a, b);
    }
}

template <class T>
bool divides(T a, T b) {
    if (b == 0) return false;
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) return b != -1 || a != std::numeric_limits<T>::min();
    return true;
}

template <class T>
std::optional<T> integer_power(T base, std::int64_t exponent) {
    T out = 1;
    if (exponent < 0 || exponent > 64) return {};
    for (std::int64_t i = 0; i != exponent; ++i) {
        // Must be exact in a double: runtimes compute in different types.
        double const next = static_cast<double>(out) * static_cast<double>(base);
        if (std::fabs(next) > 9007199254740992.0 || next > static_cast<double>(std::numeric_limits<T>::max()) ||
            next < static_cast<double>(std::numeric_limits<T>::lowest()))
            return {};
        out = static_cast<T>(out * base);
    }
    return out;
}

/// One element of a binary operator.
template <class T>
std::optional<T> combine(std::string_view op, graph_node const& n, T a, T b) {
    if (op == "Add") return wrapping(a, b, [](auto x, auto y) { return x + y; });
    if (op == "Sub") return wrapping(a, b, [](auto x, auto y) { return x - y; });
    if (op == "Mul") return wrapping(a, b, [](auto x, auto y) { return x * y; });
    if (op == "Div") return divides(a, b) ? std::optional(static_cast<T>(a / b)) : std::nullopt;
    if constexpr (std::is_floating_point_v<T>) {
        if (op == "Mod")
            return b == 0 || int_attribute(n, "fmod", 0) == 0 ? std::nullopt : std::optional<T>(std::fmod(a, b));
        if (op == "Pow") return static_cast<T>(std::pow(static_cast<double>(a), static_cast<double>(b)));
        if (std::isnan(a) || std::isnan(b)) return {};
    } else {
        if (op == "Mod") {
            if (!divides(a, b)) return {};
            T const rest = static_cast<T>(a % b);
            bool const fix = int_attribute(n, "fmod", 0) == 0 && rest != 0 && (rest < 0) != (b < 0);
            return fix ? static_cast<T>(rest + b) : rest;
        }
        if (op == "Pow") return b > 64 ? std::nullopt : integer_power(a, static_cast<std::int64_t>(b));
    }
    return op == "Min" ? std::min(a, b) : std::max(a, b);
}

/// Two operands, broadcast to the same sizes.
template <class T>
struct operands {
    std::vector<std::int64_t> sizes;
    std::vector<T> a;
    std::vector<T> b;
};

template <class T>
std::optional<operands<T>> broadcast_operands(constant_call const& c, tensor const& a, tensor const& b) {
    auto sizes = broadcast(a.sizes, b.sizes);
    if (!sizes || !c.count(*sizes, a.type)) return {};
    return operands<T>{*sizes, load<T>(broadcast_to(a, *sizes)), load<T>(broadcast_to(b, *sizes))};
}

evaluated arithmetic_on(constant_call const& c, tensor const& a, tensor const& b) {
    if (a.type != b.type || !is_number(a.type)) return {};
    return with_number_type(a.type, [&]<class T>(T) -> evaluated {
        auto x = broadcast_operands<T>(c, a, b);
        if (!x) return {};
        for (std::size_t i = 0; i != x->a.size(); ++i) {
            auto const result = combine(c.node.op, c.node, x->a[i], x->b[i]);
            if (!result) return {};
            x->a[i] = *result;
        }
        return store(x->a, a.type, std::move(x->sizes));
    });
}

evaluated arithmetic(constant_call const& c) {
    if (c.inputs.size() != 2 || c.inputs[1] == nullptr) return {};
    return arithmetic_on(c, *c.inputs[0], *c.inputs[1]);
}

/// Min and Max of any number of operands.
evaluated extreme(constant_call const& c) {
    evaluated out = *c.inputs[0];
    for (std::size_t i = 1; out && i != c.inputs.size(); ++i)
        out = c.inputs[i] == nullptr ? evaluated() : arithmetic_on(c, *out, *c.inputs[i]);
    return out;
}

/// Pow returns the dtype of its base; the exponent may have another dtype.
evaluated power(constant_call const& c) {
    if (c.inputs.size() != 2 || c.inputs[1] == nullptr || !is_number(c.inputs[1]->type)) return {};
    if (is_integral(c.inputs[0]->type) != is_integral(c.inputs[1]->type)) return {};
    tensor const exponent = c.inputs[1]->to(c.inputs[0]->type);
    if (exponent.to(c.inputs[1]->type) != *c.inputs[1]) return {};
    return arithmetic_on(c, *c.inputs[0], exponent);
}

template <class T>
bool compare(std::string_view op, T a, T b) {
    if (op == "Equal") return a == b;
    if (op == "Less") return a < b;
    if (op == "LessOrEqual") return a <= b;
    if (op == "Greater") return a > b;
    return a >= b;
}

evaluated comparison(constant_call const& c) {
    tensor const& a = *c.inputs[0];
    if (c.inputs.size() != 2 || c.inputs[1] == nullptr || a.type != c.inputs[1]->type) return {};
    auto const compared = [&]<class T>(T) -> evaluated {
        auto x = broadcast_operands<T>(c, a, *c.inputs[1]);
        if (!x) return {};
        std::vector<bool> out;
        for (std::size_t i = 0; i != x->a.size(); ++i) out.push_back(compare(c.node.op, x->a[i], x->b[i]));
        return store(out, std::move(x->sizes));
    };
    if (a.type == dtype::bool_) return c.node.op == "Equal" ? compared(std::uint8_t{}) : evaluated();
    return with_number_type(a.type, compared);
}

evaluated logic(constant_call const& c) {
    tensor const& a = *c.inputs[0];
    if (c.inputs.size() != 2 || c.inputs[1] == nullptr || a.type != dtype::bool_ || c.inputs[1]->type != dtype::bool_)
        return {};
    auto x = broadcast_operands<std::uint8_t>(c, a, *c.inputs[1]);
    if (!x) return {};
    std::vector<bool> out;
    for (std::size_t i = 0; i != x->a.size(); ++i) {
        bool const p = x->a[i] != 0;
        bool const q = x->b[i] != 0;
        out.push_back(c.node.op == "And" ? p && q : c.node.op == "Or" ? p || q : p != q);
    }
    return store(out, std::move(x->sizes));
}

evaluated negation(constant_call const& c) {
    if (c.inputs[0]->type != dtype::bool_) return {};
    tensor out = *c.inputs[0];
    for (char& e : out.bytes) e = static_cast<char>(e == 0 ? 1 : 0);
    return out;
}

double relu(double x) { return x < 0 ? 0 : x; }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

/// A function of one real number, computed in double.
template <double (*Function)(double)>
evaluated real(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        if constexpr (!std::is_floating_point_v<T>) return {};
        std::vector<T> elements = load<T>(x);
        for (T& e : elements) e = static_cast<T>(Function(static_cast<double>(e)));
        return store(elements, x.type, x.sizes);
    });
}

template <class T>
std::optional<T> transform(std::string_view op, T x) {
    if (op == "Neg") {
        if constexpr (std::is_floating_point_v<T>) return -x;
        else return wrapping(T{0}, x, [](auto a, auto b) { return a - b; });
    }
    if (op == "Abs") {
        if constexpr (std::is_floating_point_v<T>) return std::fabs(x);
        else return x < 0 ? wrapping(T{0}, x, [](auto a, auto b) { return a - b; }) : x;
    }
    if constexpr (std::is_floating_point_v<T>) {
        if (op == "Floor") return std::floor(x);
        if (op == "Ceil") return std::ceil(x);
        if (op == "Round") return std::nearbyint(x); // to even
        if (op == "Sqrt") return std::sqrt(x);
        if (op == "Reciprocal") return x == 0 ? std::nullopt : std::optional<T>(T{1} / x);
        if (op == "Log") return x > 0 ? std::optional(static_cast<T>(std::log(static_cast<double>(x)))) : std::nullopt;
        if (std::isnan(x) || (x == 0 && std::signbit(x))) return {}; // Sign
    }
    return op == "Sign" ? std::optional(static_cast<T>((x > 0 ? 1 : 0) - (x < 0 ? 1 : 0))) : std::nullopt;
}

evaluated unary(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        std::vector<T> elements = load<T>(x);
        for (T& e : elements) {
            auto const result = transform(c.node.op, e);
            if (!result) return {};
            e = *result;
        }
        return store(elements, x.type, x.sizes);
    });
}

template <class Predicate>
evaluated tested(constant_call const& c, Predicate is) {
    tensor const& x = *c.inputs[0];
    if (!is_floating(x.type)) return {};
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        std::vector<bool> out;
        for (T e : load<T>(x)) out.push_back(is(static_cast<double>(e)));
        return store(out, x.sizes);
    });
}

evaluated is_nan(constant_call const& c) {
    return tested(c, [](double x) { return std::isnan(x); });
}

evaluated is_infinite(constant_call const& c) {
    bool const negative = int_attribute(c.node, "detect_negative", 1) != 0;
    bool const positive = int_attribute(c.node, "detect_positive", 1) != 0;
    return tested(c, [&](double x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

/// Clip. Nothing if a number is NaN, and before opset 11, where the bounds are attributes.
evaluated clip(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    if (c.opset < 11) return {};
    tensor const* const bounds[] = {c.input(1), c.input(2)};
    for (tensor const* b : bounds)
        if (b != nullptr && (b->type != x.type || b->element_count() != 1)) return {};
    return with_number_type(x.type, [&]<class T>(T) -> evaluated {
        std::vector<T> out = load<T>(x);
        for (std::size_t i = 0; i != 2; ++i) {
            if (bounds[i] == nullptr) continue;
            T const bound = load<T>(*bounds[i])[0];
            for (T& e : out) {
                if (std::isnan(static_cast<double>(e)) || std::isnan(static_cast<double>(bound))) return {};
                e = i == 0 ? std::max(e, bound) : std::min(e, bound);
            }
        }
        return store(out, x.type, x.sizes);
    });
}

/// Converts a number if C++ defines the result and runtimes agree.
template <class To, class From>
std::optional<To> converted(From x) {
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        // The bounds are powers of two, which are exact in both types.
        From const high = std::ldexp(From{1}, std::numeric_limits<To>::digits);
        From const low = std::is_signed_v<To> ? -high : From{0};
        From const whole = std::trunc(x);
        if (!(whole >= low && whole < high)) return {};
    }
    if constexpr (std::is_same_v<From, double> && std::is_same_v<To, float>) {
        if (std::isfinite(x) && std::fabs(x) > static_cast<double>(std::numeric_limits<float>::max())) return {};
    }
    return static_cast<To>(x);
}

evaluated cast(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    dtype const to = dtype_from_onnx(int_attribute(c.node, "to", 0));
    if (to == dtype::undefined) return {};
    if (to == x.type) return x;
    if (!tensor::can_hold(to) || !tensor::can_hold(x.type) || is_complex(to) || is_complex(x.type)) return {};
    auto const from_type = [&]<class From>(From) -> evaluated {
        std::vector<From> const elements = load<From>(x);
        if (to == dtype::bool_) {
            std::vector<bool> out;
            for (From e : elements) out.push_back(e != 0);
            return store(out, x.sizes);
        }
        return with_number_type(to, [&]<class To>(To) -> evaluated {
            std::vector<To> out;
            for (From e : elements) {
                auto const result = converted<To>(e);
                if (!result) return {};
                out.push_back(*result);
            }
            return store(out, to, x.sizes);
        });
    };
    return x.type == dtype::bool_ ? from_type(std::uint8_t{}) : with_number_type(x.type, from_type);
}

constexpr named_evaluator elementwise_table[] = {
    {"Abs", unary},
    {"Acos", real<std::acos>},
    {"Acosh", real<std::acosh>},
    {"Add", arithmetic},
    {"And", logic},
    {"Asin", real<std::asin>},
    {"Asinh", real<std::asinh>},
    {"Atan", real<std::atan>},
    {"Atanh", real<std::atanh>},
    {"Cast", cast},
    {"Ceil", unary},
    {"Clip", clip},
    {"Cos", real<std::cos>},
    {"Cosh", real<std::cosh>},
    {"Div", arithmetic},
    {"Equal", comparison},
    {"Erf", real<std::erf>},
    {"Exp", real<std::exp>},
    {"Floor", unary},
    {"Greater", comparison},
    {"GreaterOrEqual", comparison},
    {"IsInf", is_infinite},
    {"IsNaN", is_nan},
    {"Less", comparison},
    {"LessOrEqual", comparison},
    {"Log", unary},
    {"Max", extreme},
    {"Min", extreme},
    {"Mod", arithmetic},
    {"Mul", arithmetic},
    {"Neg", unary},
    {"Not", negation},
    {"Or", logic},
    {"Pow", power},
    {"Reciprocal", unary},
    {"Relu", real<relu>},
    {"Round", unary},
    {"Sigmoid", real<sigmoid>},
    {"Sign", unary},
    {"Sin", real<std::sin>},
    {"Sinh", real<std::sinh>},
    {"Softplus", real<softplus>},
    {"Sqrt", unary},
    {"Sub", arithmetic},
    {"Tan", real<std::tan>},
    {"Tanh", real<std::tanh>},
    {"Xor", logic},
};

} // namespace

std::span<named_evaluator const> elementwise_evaluators() { return elementwise_table; }

} // namespace ATON_NAMESPACE::passes
