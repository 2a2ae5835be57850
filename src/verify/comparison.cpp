// SPDX-License-Identifier: MIT
// Compares results element by element.
#include <aton/verify/comparison.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;
using runtime::value;

std::string type_of(tensor const& x) { return std::string(name(x.dtype())) + runtime::to_string(x.sizes()); }

std::string text(double v) {
    std::ostringstream out;
    out.precision(9);
    out << v;
    return out.str();
}

/// The index of the element with this row-major number, as text.
std::string place(std::int64_t number, runtime::sizes const& of) {
    runtime::sizes at(of.size());
    for (std::size_t i = of.size(); i-- != 0;) {
        at[i] = number % of[i];
        number /= of[i];
    }
    return runtime::to_string(at);
}

/// The error that rounding may leave where terms cancel: a unit roundoff of the largest element, which is about as large as the terms.
/// Twice that in float16 and bfloat16, even without sums: a graph rounds after each operator, ATen once. Elements above 1024, which
/// come from the special numbers, do not count.
double cancellation_error(aton::tensor const& expected, dtype t, std::int64_t terms) {
    constexpr double max = 1024;
    bool const narrow = t == dtype::float16 || t == dtype::bfloat16;
    if (!is_floating(t) || terms == 0 || (terms == 1 && !narrow)) return 0;
    double largest = 0;
    for (std::int64_t i = 0; i != expected.element_count(); ++i) {
        double const size = std::abs(expected.at(static_cast<std::size_t>(i)).to<double>());
        if (size <= max) largest = std::max(largest, size);
    }
    return (narrow ? 2 : 1) * unit_roundoff(t) * std::sqrt(static_cast<double>(std::max<std::int64_t>(1, terms))) *
           largest;
}

/// The error as a fraction of the tolerance; infinite if no tolerance applies.
double error_of(double got, double expected, tolerance const& allowance) {
    if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
    if (!std::isfinite(got) || !std::isfinite(expected)) return std::numeric_limits<double>::infinity();
    double const allowed = allowance.absolute + allowance.relative * std::abs(expected);
    double const off = std::abs(got - expected);
    return allowed == 0 ? std::numeric_limits<double>::infinity() : off / allowed;
}

} // namespace

double unit_roundoff(dtype t) {
    switch (t) {
    case dtype::float64:
    case dtype::complex128: return 0x1p-53;
    case dtype::float16: return 0x1p-11;
    case dtype::bfloat16: return 0x1p-8;
    default: return 0x1p-24;
    }
}

tolerance tolerance_of(dtype t, std::int64_t terms) {
    double const growth = std::sqrt(static_cast<double>(std::max<std::int64_t>(1, terms)));
    auto const of = [&](double relative, double absolute, double min) {
        return tolerance{relative * growth, terms == 0 ? min : absolute * growth};
    };
    switch (t) {
    case dtype::float64:
    case dtype::complex128: return of(1e-10, 1e-12, 0x1p-1022);
    case dtype::float32:
    case dtype::complex64: return of(1e-5, 1e-6, 0x1p-126);
    case dtype::float16: return of(2e-3, 1e-4, 0x1p-24);
    case dtype::bfloat16: return of(1.6e-2, 1e-3, 0x1p-126);
    default: return {};
    }
}

dtype narrower(dtype a, dtype b) {
    auto const rank = [](dtype t) {
        switch (t) {
        case dtype::float64:
        case dtype::complex128: return 1;
        case dtype::float32:
        case dtype::complex64: return 2;
        case dtype::float16: return 3;
        case dtype::bfloat16: return 4;
        default: return 0;
        }
    };
    if (rank(a) == 0 && rank(b) == 0) return dtype::undefined;
    return rank(b) > rank(a) ? b : a;
}

comparison compare(tensor const& got, tensor const& expected, std::int64_t terms, dtype rounded,
                   std::vector<double> const& bounds) {
    comparison out;
    if (!got || !expected) {
        if (static_cast<bool>(got) != static_cast<bool>(expected))
            out.difference = got ? "unexpected result" : "missing result";
        return out;
    }
    if (got.dtype() != expected.dtype() || got.sizes() != expected.sizes()) {
        out.difference = "is " + type_of(got) + ", expected " + type_of(expected);
        return out;
    }
    tensor const a = to_host(got);
    tensor const b = to_host(expected);
    if (is_complex(a.dtype()))
        return compare(contiguous(a).as_pairs(), contiguous(b).as_pairs(), terms, rounded, bounds);
    out.elements = a.count();
    if (a.is_strings()) {
        tensor const x = a.contiguous();
        tensor const y = b.contiguous();
        if (!std::equal(x.strings().begin(), x.strings().end(), y.strings().begin()))
            out.difference = "strings are not equal";
        return out;
    }
    bool const whole = !is_floating(a.dtype());
    aton::tensor const x = a.to_constant();
    aton::tensor const y = b.to_constant();
    if (whole && x.bytes == y.bytes) return out;
    dtype const number = whole || aton::tensor::can_hold(a.dtype()) ? a.dtype() : dtype::float32;
    aton::tensor const p = number == a.dtype() ? x : runtime::cast(a, number).to_constant();
    aton::tensor const q = number == a.dtype() ? y : runtime::cast(b, number).to_constant();
    dtype const narrowest = is_floating(a.dtype()) ? narrower(a.dtype(), rounded) : a.dtype();
    dtype const precision = narrowest == dtype::undefined ? a.dtype() : narrowest;
    tolerance base = tolerance_of(precision, terms);
    base.absolute += cancellation_error(q, precision, terms);
    std::int64_t wrong = 0;
    std::int64_t first = 0;
    for (std::int64_t i = 0; i != out.elements; ++i) {
        auto const at = static_cast<std::size_t>(i);
        tolerance each = base;
        if (at < bounds.size()) each.absolute += bounds[at];
        double const error =
            whole && p.at(at) == q.at(at) ? 0 : error_of(p.at(at).to<double>(), q.at(at).to<double>(), each);
        out.error = std::max(out.error, error);
        if (error > 1 && wrong++ == 0) first = i;
    }
    if (wrong != 0) {
        auto const at = static_cast<std::size_t>(first);
        out.difference = std::to_string(wrong) + " of " + std::to_string(out.elements) +
                         " elements differ, the first at " + place(first, a.sizes()) + ": " +
                         text(p.at(at).to<double>()) + ", expected " + text(q.at(at).to<double>());
    }
    return out;
}

comparison compare(value const& got, value const& expected, std::int64_t terms, dtype rounded,
                   element_bounds const& bounds) {
    static std::vector<double> const none;
    auto const of = [&](std::size_t i) -> std::vector<double> const& { return i < bounds.size() ? bounds[i] : none; };
    comparison out;
    if (got.is_sequence() != expected.is_sequence() ||
        (!got.is_sequence() && static_cast<bool>(got) != static_cast<bool>(expected))) {
        out.difference = "is not the expected kind of value";
        return out;
    }
    if (!got.is_sequence()) return compare(got.one(), expected.one(), terms, rounded, of(0));
    if (got.many().size() != expected.many().size()) {
        out.difference =
            "has " + std::to_string(got.many().size()) + " tensors, expected " + std::to_string(expected.many().size());
        return out;
    }
    for (std::size_t i = 0; i != got.many().size(); ++i) {
        comparison each = compare(got.many()[i], expected.many()[i], terms, rounded, of(i));
        out.error = std::max(out.error, each.error);
        out.elements += each.elements;
        if (out.same() && !each.same()) out.difference = "tensor " + std::to_string(i) + ": " + each.difference;
    }
    return out;
}

} // namespace ATON_NAMESPACE::verify
