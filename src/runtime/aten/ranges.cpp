// SPDX-License-Identifier: MIT
// ATen operators: ranges and window functions.
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <string_view>

#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "elementwise.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

scalar integer(std::int64_t i) { return {static_cast<long long>(i)}; }

/// start + i * step, in double or int64.
tensor stepped(call const& c, scalar const& start, scalar const& step, std::int64_t count, dtype type) {
    tensor const n = range(count, 0, 1, c.where());
    if (is_integral(type))
        return cast(n * integer(step.to_saturated<std::int64_t>()) + integer(start.to_saturated<std::int64_t>()), type);
    return cast(cast(n, dtype::float64) * scalar(step.to<double>()) + scalar(start.to<double>()), type);
}

results arange(call const& c) {
    scalar const start = c.has_argument("start") ? c.number("start") : scalar(0);
    scalar const end = c.number("end");
    scalar const step = c.has_argument("step") ? c.number("step") : scalar(1);
    bool const whole = !start.is_floating() && !end.is_floating() && !step.is_floating();
    dtype const type = c.type("dtype", whole ? dtype::int64 : aton::aten::default_dtype);
    auto const number = [&](scalar const& s) {
        return type == dtype::int64 ? static_cast<double>(s.to_saturated<std::int64_t>()) : s.to<double>();
    };
    double const by = number(step);
    double const across = number(end) - number(start);
    if (by == 0 || !std::isfinite(by) || !std::isfinite(across))
        throw error("a range requires finite bounds and a nonzero step");
    if (across != 0 && (across < 0) != (by < 0)) throw error("the sign of the step does not lead from start to end");
    double const count = std::ceil(across / by);
    if (count > 1e15) throw error("a range of " + std::to_string(count) + " numbers is too long");
    return stepped(c, start, step, static_cast<std::int64_t>(count), type);
}

/// As arange, but with the end; numbers are converted to the dtype before they are counted.
results range_with_end(call const& c) {
    scalar const start = c.number("start");
    scalar const end = c.number("end");
    scalar const step = c.has_argument("step") ? c.number("step") : scalar(1);
    dtype const type = c.type("dtype", aton::aten::default_dtype);
    auto const number = [&](scalar const& s) {
        return is_integral(type) ? static_cast<double>(s.to_saturated<std::int64_t>()) : s.to<double>();
    };
    double const by = number(step);
    double const across = number(end) - number(start);
    if (by == 0 || !std::isfinite(by) || !std::isfinite(across))
        throw error("a range requires finite bounds and a nonzero step");
    if (across != 0 && (across < 0) != (by < 0)) throw error("the sign of the step does not lead from start to end");
    double const count = std::floor(across / by + 1);
    if (count > 1e15) throw error("a range of " + std::to_string(count) + " numbers is too long");
    return stepped(c, start, step, static_cast<std::int64_t>(count), type);
}

results indices_of_axis(call const& c) {
    tensor const x = c.t("like");
    return range(x.rank() == 0 ? 1 : x.size(axis_at(c.i("dim"), x.rank())), 0, 1, c.where());
}

/// The difference of the ends is infinite if it overflows the dtype of the results.
tensor between(tensor const& start, tensor const& end, std::int64_t steps, dtype type) {
    dtype const in = start.dtype();
    tensor const n = range(steps, 0, 1, start.where());
    tensor const exact = end - start;
    tensor const rounded = is_floating(type) ? cast(cast(exact, type), in) : exact;
    tensor const infinite = greater(abs(rounded), scalar(std::numeric_limits<double>::max()));
    tensor const step = where(infinite, rounded, exact) / scalar(static_cast<double>(steps > 1 ? steps - 1 : 1));
    tensor const first = start + cast(n, in) * step;
    tensor const second = end - cast(integer(steps - 1) - n, in) * step;
    return where(less(n, integer(steps / 2)), first, second);
}

/// Numbers from start to end, computed from the nearer end: in the dtype itself for narrow floats, in complex128 for complex numbers, and in
/// `otherwise` for the rest.
tensor spaced(call const& c, dtype type, dtype otherwise = dtype::float64) {
    std::int64_t const steps = c.i("steps");
    if (steps < 0) throw error("the number of steps is negative");
    for (std::string_view const name : {"start", "end"})
        if (c.argument(name).kind == aten::argument_kind::tensor && c.t(name).rank() != 0)
            throw error("start and end must be numbers or 0-d tensors");
    dtype const in = is_complex(type) ? dtype::complex128 : compute_type(type) != type ? type : otherwise;
    auto const end_point = [&](std::string_view name) {
        if (c.argument(name).kind == aten::argument_kind::number && is_integral(type)) {
            double const whole = std::trunc(c.f(name));
            if (!fits(whole, type) && !(is_unsigned_integral(type) && fits(-whole, type)))
                throw error(std::string(name) + " does not fit the dtype");
        }
        return cast(operand(c, name, type), in);
    };
    tensor const start = end_point("start");
    tensor const end = end_point("end");
    if (steps == 1) return start.expanded({1});
    if (!is_complex(in)) return between(start, end, steps, type);
    return complex_of(between(real_part(start), real_part(end), steps, dtype::float64),
                      between(imaginary_part(start), imaginary_part(end), steps, dtype::float64));
}

dtype spaced_type(call const& c) {
    dtype const common = result_type(c, {"start", "end"});
    return c.type("dtype", is_complex(common) ? common : aton::aten::default_dtype);
}

results linspace(call const& c) {
    dtype const type = spaced_type(c);
    return cast(spaced(c, type), type);
}
results logspace(call const& c) {
    dtype const type = spaced_type(c);
    auto const powers = [&](tensor const& exponents) {
        return cast(binary(binary_op::pow, scalar(c.f("base")), exponents), type);
    };
    if (is_complex(type)) return powers(spaced(c, type));
    if (c.i("steps") == 1) // not rounded to the dtype
        return powers(cast(operand(c, "start", dtype::float64), dtype::float64).expanded({1}));
    if (is_floating(type)) return powers(spaced(c, type));
    return powers(cast(spaced(c, type, dtype::float32), dtype::float64)); // for integers
}

/// A window f(i, n - 1) for i = 0, ..., n - 1; a periodic one has n + 1 elements without the last.
template <class Function>
results window(call const& c, Function const& f) {
    std::int64_t const n = c.i("window_length");
    if (n < 0) throw error("window_length is negative");
    dtype const type = c.type("dtype", aton::aten::default_dtype);
    if (!is_floating(type)) throw error("windows require a floating-point dtype");
    if (n <= 1) return full(1, type, {n}, c.where());
    bool const periodic = !c.has_argument("periodic") || c.b("periodic");
    tensor const i = cast(range(n, 0, 1, c.where()), dtype::float64);
    return cast(f(i, static_cast<double>(periodic ? n : n - 1)), type);
}

double argument_or(call const& c, std::string_view name, double otherwise) {
    return c.has_argument(name) ? c.f(name) : otherwise;
}

/// alpha - beta cos(2 pi i / n) + gamma cos(4 pi i / n)
results cosines(call const& c, double alpha, double beta, double gamma) {
    return window(c, [&](tensor const& i, double n) {
        tensor const angle = i * scalar(2 * std::numbers::pi / n);
        return scalar(alpha) - cos(angle) * scalar(beta) + cos(angle * scalar(2)) * scalar(gamma);
    });
}
results hann(call const& c) { return cosines(c, 0.5, 0.5, 0); }
results hamming(call const& c) { return cosines(c, argument_or(c, "alpha", 0.54), argument_or(c, "beta", 0.46), 0); }
results blackman(call const& c) { return cosines(c, 0.42, 0.5, 0.08); }
results bartlett(call const& c) {
    return window(c, [](tensor const& i, double n) { return scalar(1) - abs(i * scalar(2 / n) - scalar(1)); });
}
results kaiser(call const& c) {
    double const beta = argument_or(c, "beta", 12);
    return window(c, [&](tensor const& i, double n) {
        tensor const at = square(i * scalar(2 / n) - scalar(1));
        tensor const inside = maximum(scalar(1) - at, scalar(0));
        return unary(unary_op::i0, sqrt(inside) * scalar(beta)) /
               unary(unary_op::i0, full(beta, dtype::float64, {}, c.where()));
    });
}

} // namespace

rows ranges() {
    static constexpr row all[] = {
        {"_dim_arange", indices_of_axis},
        {"arange", arange},
        {"arange.start", arange},
        {"arange.start_step", arange},
        {"bartlett_window", bartlett},
        {"bartlett_window.periodic", bartlett},
        {"blackman_window", blackman},
        {"blackman_window.periodic", blackman},
        {"hamming_window", hamming},
        {"hamming_window.periodic", hamming},
        {"hamming_window.periodic_alpha", hamming},
        {"hamming_window.periodic_alpha_beta", hamming},
        {"hann_window", hann},
        {"hann_window.periodic", hann},
        {"kaiser_window", kaiser},
        {"kaiser_window.beta", kaiser},
        {"kaiser_window.periodic", kaiser},
        {"range", range_with_end},
        {"range.step", range_with_end},
        {"linspace", linspace},
        {"linspace.Scalar_Tensor", linspace},
        {"linspace.Tensor_Scalar", linspace},
        {"linspace.Tensor_Tensor", linspace},
        {"logspace", logspace},
        {"logspace.Scalar_Tensor", logspace},
        {"logspace.Tensor_Scalar", logspace},
        {"logspace.Tensor_Tensor", logspace},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
