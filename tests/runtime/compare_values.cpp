// SPDX-License-Identifier: MIT
// Compares elements as doubles, integers, pairs or strings, and reports the first difference.
#include "compare_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <aton/core/error.hpp>

namespace aton::tests {

namespace {

using runtime::tensor;
using runtime::value;
using pair = std::complex<double>;

std::string text(double x) {
    char out[32];
    return {out, std::to_chars(out, out + sizeof out, x, std::chars_format::general, 7).ptr};
}
std::string text(pair x) { return text(x.real()) + (x.imag() < 0 ? "" : "+") + text(x.imag()) + 'j'; }
std::string text(std::int64_t x) { return std::to_string(x); }
std::string text(std::uint64_t x) { return std::to_string(x); }
std::string text(std::string const& x) { return '"' + x.substr(0, 40) + '"'; }

/// NaN is not close to a number.
bool is_close(double got, double expected, tolerance t) {
    if (std::isnan(expected)) return std::isnan(got);
    if (std::isinf(got) || std::isinf(expected)) return got == expected;
    return std::abs(got - expected) <= t.absolute + t.relative * std::abs(expected);
}
bool is_close(pair got, pair expected, tolerance t) {
    bool const finite = std::isfinite(expected.real()) && std::isfinite(expected.imag());
    if (!finite) return is_close(got.real(), expected.real(), t) && is_close(got.imag(), expected.imag(), t);
    return std::abs(got - expected) <= t.absolute + t.relative * std::abs(expected);
}
template <class Exact>
bool is_close(Exact const& got, Exact const& expected, tolerance) {
    return got == expected;
}

template <class T>
std::string compare_all(std::vector<T> const& got, std::vector<T> const& expected, tolerance t) {
    std::size_t wrong = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i != expected.size(); ++i)
        if (!is_close(got[i], expected[i], t) && wrong++ == 0) first = i;
    if (wrong == 0) return {};
    return std::to_string(wrong) + " of " + std::to_string(expected.size()) + " elements are wrong, the first at " +
           std::to_string(first) + ": " + text(got[first]) + ", expected " + text(expected[first]);
}

/// The form in which elements are compared: a double, an integer or a pair.
template <class Element>
auto comparable(Element const& e) {
    if constexpr (std::is_floating_point_v<Element>) return static_cast<double>(e);
    else if constexpr (std::is_same_v<Element, std::uint64_t>) return e;
    else if constexpr (std::is_arithmetic_v<Element>) return static_cast<std::int64_t>(e);
    else if constexpr (requires { e.imaginary; })
        return pair(static_cast<double>(e.real), static_cast<double>(e.imaginary));
    else if constexpr (requires { e.operator std::int64_t(); }) return e.operator std::int64_t();
    else return static_cast<double>(static_cast<float>(e));
}

/// The elements of a dense tensor.
template <class Element>
auto elements(tensor const& of) {
    auto const* const from = of.data<Element>();
    std::vector<decltype(comparable(*from))> out;
    out.reserve(static_cast<std::size_t>(of.count()));
    for (std::int64_t i = 0; i != of.count(); ++i) out.push_back(comparable(from[i]));
    return out;
}

std::string compare_tensors(tensor const& got, tensor const& expected, tolerance t) {
    if (got.dtype() != expected.dtype())
        return std::string(name(got.dtype())) + ", expected " + std::string(name(expected.dtype()));
    if (got.sizes() != expected.sizes())
        return "sizes " + runtime::to_string(got.sizes()) + ", expected " + runtime::to_string(expected.sizes());
    // Two units of bfloat16, as in ONNX's runner, whose function bodies round after every step.
    if (got.dtype() == dtype::bfloat16) t.relative = std::max(t.relative, 0x1p-6);
    tensor const a = got.contiguous();
    tensor const b = expected.contiguous();
    return runtime::visit(got.dtype(), [&](auto tag) {
        using element = typename decltype(tag)::type;
        if constexpr (std::is_void_v<element>) {
            auto const x = a.strings();
            auto const y = b.strings();
            return compare_all<std::string>({x.begin(), x.end()}, {y.begin(), y.end()}, t);
        } else {
            return compare_all(elements<element>(a), elements<element>(b), t);
        }
    });
}

char const* what(value const& v) { return v.is_sequence() ? "a sequence" : v.is_tensor() ? "a tensor" : "nothing"; }

/// The elements of a tensor of real numbers as doubles.
std::vector<double> numbers(value const& v) {
    if (!v.is_tensor()) throw error(std::string("a tensor is expected, not ") + what(v));
    tensor const dense = v.one().contiguous();
    return runtime::visit(dense.dtype(), [&](auto tag) -> std::vector<double> {
        using element = typename decltype(tag)::type;
        if constexpr (std::is_arithmetic_v<element> || std::is_same_v<element, runtime::float16> ||
                      std::is_same_v<element, runtime::bfloat16>) {
            auto const exact = elements<element>(dense);
            return {exact.begin(), exact.end()};
        } else throw error("real numbers are expected, not " + std::string(name(dense.dtype())));
    });
}

/// What is unlikely about `count` successes for this mean and variance; empty: nothing. The limit is six standard
/// deviations: once in 500 million.
std::string unlikely(double count, double mean, double variance) {
    if (std::abs(count - mean) <= 6 * std::sqrt(variance) + 1) return {};
    return text(count) + " successes, where " + text(mean) + " are to be expected";
}

std::string bernoulli_problem(std::vector<double> const& probabilities, std::vector<double> const& drawn) {
    double count = 0;
    double mean = 0;
    double variance = 0;
    for (std::size_t i = 0; i != drawn.size(); ++i) {
        double const p = probabilities.at(i);
        if ((drawn[i] != 0 && drawn[i] != 1) || (p == 0 && drawn[i] != 0) || (p == 1 && drawn[i] != 1))
            return text(drawn[i]) + " drawn with the probability " + text(p);
        count += drawn[i];
        mean += p;
        variance += p * (1 - p);
    }
    return unlikely(count, mean, variance);
}

std::string dropout_problem(std::span<value const> inputs, std::span<value const> got) {
    std::vector<double> const x = numbers(inputs[0]);
    std::vector<double> const y = numbers(got[0]);
    double const ratio = inputs.size() > 1 && inputs[1] ? numbers(inputs[1]).at(0) : 0.5;
    std::vector<double> const mask = got.size() > 1 ? numbers(got[1]) : std::vector<double>();
    double dropped = 0;
    for (std::size_t i = 0; i != y.size(); ++i) {
        double const kept = x.at(i) / (1 - ratio);
        if (y[i] != 0 && !is_close(y[i], kept, {}))
            return text(y[i]) + " at " + std::to_string(i) + ", expected 0 or " + text(kept);
        if (!mask.empty() && kept != 0 && (mask.at(i) != 0) != (y[i] != 0))
            return "the mask at " + std::to_string(i) + " is not what is dropped";
        dropped += y[i] == 0 ? 1 : 0;
    }
    auto const n = static_cast<double>(y.size());
    return unlikely(dropped, n * ratio, n * ratio * (1 - ratio));
}

} // namespace

std::string difference(value const& got, value const& expected, tolerance t) {
    if (got.is_sequence() != expected.is_sequence() || got.is_tensor() != expected.is_tensor())
        return std::string(what(got)) + ", expected " + what(expected);
    if (!expected) return {};
    if (!expected.is_sequence()) return compare_tensors(got.one(), expected.one(), t);
    if (got.many().size() != expected.many().size())
        return std::to_string(got.many().size()) + " elements, expected " + std::to_string(expected.many().size());
    for (std::size_t i = 0; i != expected.many().size(); ++i)
        if (std::string const problem = compare_tensors(got.many()[i], expected.many()[i], t); !problem.empty())
            return "element " + std::to_string(i) + ": " + problem;
    return {};
}

std::string difference(std::span<value const> got, std::span<value const> expected, tolerance t) {
    if (got.size() != expected.size())
        return std::to_string(got.size()) + " outputs, expected " + std::to_string(expected.size());
    for (std::size_t i = 0; i != expected.size(); ++i)
        if (std::string const problem = difference(got[i], expected[i], t); !problem.empty())
            return "output " + std::to_string(i) + ": " + problem;
    return {};
}

std::string draw_problem(std::string_view check, std::span<value const> inputs, std::span<value const> got,
                         std::span<value const> expected) {
    for (std::size_t i = 0; i != expected.size() && i != got.size(); ++i) {
        if (got[i].is_tensor() && expected[i].is_tensor() && got[i].one().dtype() == expected[i].one().dtype() &&
            got[i].one().sizes() == expected[i].one().sizes())
            continue;
        return difference(got, expected, {}); // which reports it
    }
    if (got.size() != expected.size() || got.empty() || inputs.empty()) return difference(got, expected, {});
    if (check == "bernoulli") return bernoulli_problem(numbers(inputs[0]), numbers(got[0]));
    if (check == "dropout") return dropout_problem(inputs, got);
    throw error("there is no check '" + std::string(check) + "'");
}

} // namespace aton::tests
