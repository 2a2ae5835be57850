// SPDX-License-Identifier: MIT
// Sequences: aten's arange, linspace, logspace and window functions, counted and rounded as ATen does.
// Public header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/mappings/creation.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The number of elements, computed like at::arange: exactly for int64, in double precision for other dtypes.
inline std::int64_t range_count(scalar start, scalar end, scalar step, dtype type) {
    if (type == dtype::int64) {
        auto const by = step.to<std::int64_t>();
        if (by == 0) throw unsupported_error("arange with a step of 0");
        return (checked_int(end.to<std::int64_t>()) - start.to<std::int64_t>() + by - (by > 0 ? 1 : -1)) / by;
    }
    double const n = std::ceil((end.to<double>() - start.to<double>()) / step.to<double>());
    if (!(std::abs(n) < 0x1p62)) throw unsupported_error("arange with an infinite or undefined number of elements");
    return static_cast<std::int64_t>(n);
}

/// A range that is too long for a constant, with the same elements as the loop in range_of.
inline value long_range(graph<7> g, scalar start, std::int64_t n, scalar step, dtype type) {
    if (is_integral(type))
        return g.cast(arithmetic_sequence(g, start.to<std::int64_t>(), n, step.to<std::int64_t>()), type);
    value const positions = g.cast(arithmetic_sequence(g, 0, n), dtype::float64);
    return g.cast(g.op<"Add">(g.op<"Mul">(positions, step.to<double>()), start.to<double>()), type);
}

/// The first n numbers of a range.
inline value first_of_range(graph<7> g, scalar start, scalar step, std::int64_t n, dtype type) {
    if (n < 0) throw unsupported_error("arange whose step points away from its end");
    if (n > budget::max_range) throw unsupported_error("arange of " + std::to_string(n) + " elements");
    if (n > budget::max_constant_range) return long_range(g, start, n, step, type);
    tensor all{type, {n}, {}};
    for (std::int64_t i = 0; i < n; ++i) {
        if (is_integral(type))
            all.append(std::int64_t{checked_int(start.to<std::int64_t>()) + checked_int(i) * step.to<std::int64_t>()});
        else all.append(start.to<double>() + static_cast<double>(i) * step.to<double>());
    }
    return g.constant(std::move(all));
}

inline value range_of(graph<7> g, scalar start, scalar end, scalar step, optional_dtype asked) {
    auto const is_whole = [](scalar s) { return s.is_integral() || s.is_bool(); };
    dtype const type =
        asked.value_or(is_whole(start) && is_whole(end) && is_whole(step) ? dtype::int64 : aten::default_dtype);
    return first_of_range(g, start, step, range_count(start, end, step, type), type);
}

/// aten::range includes its end. Numbers are converted to the dtype before they are counted.
inline constexpr auto range_with_end_by = symbolic<"aten::range.step(start, end, step, dtype)">(
    [](graph<7> g, scalar start, scalar end, scalar step, optional_dtype asked) -> value {
        dtype const type = asked.value_or(aten::default_dtype);
        if (is_integral(type)) {
            auto const by = step.to<std::int64_t>();
            if (by == 0) return g.unsupported("range with a step of 0");
            std::int64_t const across = checked_int(end.to<std::int64_t>()) - start.to<std::int64_t>();
            if (across != 0 && (across < 0) != (by < 0))
                return g.unsupported("range whose step points away from its end");
            return first_of_range(g, start, step, checked_int(across / by) + 1, type);
        }
        double const steps = (end.to<double>() - start.to<double>()) / step.to<double>();
        if (!(steps >= 0 && steps < 0x1p62)) return g.unsupported("range whose step does not lead to its end");
        return first_of_range(g, start, step, static_cast<std::int64_t>(steps + 1), type);
    });
inline constexpr auto range_with_end =
    symbolic<"aten::range(start, end, dtype)">([](graph<7> g, scalar start, scalar end, optional_dtype type) {
        return range_with_end_by(g, start, end, 1, type);
    });

/// A range of integers in opsets without Range.
inline value whole_range(graph<7> g, number const& start, number const& end, number const& step) {
    if (!step.is_constant() || step == 0) refuse_below(11, "a range with a computed step");
    auto const whole = [&](number const& n) -> sym_int {
        return n.is_constant() ? sym_int(n.constant<std::int64_t>()) : sym_int(g.scalar(n, dtype::int64));
    };
    auto const by = step.constant<std::int64_t>();
    sym_int const distance = whole(end) - whole(start);
    sym_int const count = (distance + (by > 0 ? by - 1 : by + 1)) / by;
    return arithmetic_sequence(g, whole(start), max(count, 0), by);
}
/// Whether sums of such numbers are exact in double precision up to 2^37: an integer, or a small multiple of 2^-16.
inline bool has_exact_sums(number const& n) {
    if (!n.is_constant()) return !n.is_floating();
    double const scaled = n.constant<double>() * 0x1p16;
    return exactly_equal(scaled, std::floor(scaled)) && std::abs(scaled) < 0x1p36;
}
/// The same with numbers that the graph computes.
inline value computed_range(graph<7> g, number start, number end, number step, optional_dtype asked) {
    if (start.is_constant() && end.is_constant() && step.is_constant())
        return range_of(g, start.constant(), end.constant(), step.constant(), asked);
    bool const whole = !start.is_floating() && !end.is_floating() && !step.is_floating();
    dtype const type = asked.value_or(whole ? dtype::int64 : aten::default_dtype);
    auto const in = [&](number const& n, dtype as) { return g.scalar(n, as); };
    if (whole || type == dtype::int64) {
        if (g.opset() < 11) return g.cast(whole_range(g, start, end, step), type);
        auto const since_11 = g.within<11>();
        return g.cast(since_11.op<"Range">(in(start, dtype::int64), in(end, dtype::int64), in(step, dtype::int64)),
                      type);
    }
    value const from = in(start, dtype::float64);
    value const by = in(step, dtype::float64);
    // ONNX Runtime adds the step again and again.
    if (is_floating(type) && g.opset() >= 11 && has_exact_sums(start) && has_exact_sums(step))
        return g.cast(g.within<11>().op<"Range">(from, in(end, dtype::float64), by), type);
    value const distance = g.op<"Sub">(in(end, dtype::float64), from);
    sym_int const count = value(g.cast(g.op<"Ceil">(g.op<"Div">(distance, by)), dtype::int64));
    value const positions = arithmetic_sequence(g, 0, count);
    if (is_integral(type)) {
        value const steps = g.op<"Mul">(positions, in(step, dtype::int64));
        return g.cast(g.op<"Add">(steps, in(start, dtype::int64)), type);
    }
    return g.cast(g.op<"Add">(g.op<"Mul">(g.cast(positions, dtype::float64), by), from), type);
}
inline constexpr auto arange_to = symbolic<"aten::arange(end, dtype)">(
    [](graph<7> g, number end, optional_dtype type) { return computed_range(g, 0, end, 1, type); });
inline constexpr auto arange_from = symbolic<"aten::arange.start(start, end, dtype)">(
    [](graph<7> g, number start, number end, optional_dtype type) { return computed_range(g, start, end, 1, type); });
inline constexpr auto arange_by = symbolic<"aten::arange.start_step(start, end, step, dtype)">(
    [](graph<7> g, number start, number end, number step, optional_dtype type) {
        return computed_range(g, start, end, step, type);
    });

/// `steps` numbers from start to end in a floating-point dtype; as in ATen, the second half is computed from the end.
inline value spaced(graph<7> g, value start, value end, sym_int const& steps, dtype type) {
    if (steps.is(1)) return g.op<"Reshape">(start, g.ints({1}));
    sym_int const half = min(steps, max(steps / 2, 1)); // the first of them is start, also the only one
    value const step = g.op<"Div">(g.op<"Sub">(end, start), g.scalar_like(number(max(steps - 1, 1)), start));
    value const front = g.cast(arithmetic_sequence(g, 0, half), type);
    value const back = g.cast(arithmetic_sequence(g, steps - 1 - half, steps - half, -1), type);
    value const first = g.op<"Add">(start, g.op<"Mul">(step, front));
    value const second = g.op<"Sub">(end, g.op<"Mul">(step, back));
    return g.op<"Concat">(safe_vector{first, second}, attr::axis_i(0));
}

inline void expect_steps(sym_int const& steps) {
    if (steps.is_constant() && (steps.constant() < 0 || steps.constant() > budget::max_range))
        throw unsupported_error(std::to_string(steps.constant()) + " steps");
}
/// Whether a sequence of so many steps becomes a constant if its other arguments are.
inline bool is_short(sym_int const& steps) {
    return steps.is_constant() && steps.constant() <= budget::max_constant_range;
}

/// A number as a value of its own dtype, so that only the result is rounded.
inline value number_value(graph<7> g, number const& n) {
    return g.scalar(n, n.is_floating() || n.is_complex() ? dtype::float64 : dtype::int64);
}

/// The dtype in which linspace computes: float64 for integers.
inline dtype spacing_dtype(dtype type) { return is_floating(type) ? type : dtype::float64; }

/// A constant start or end in the dtype of the sequence. Integers are truncated; what does not fit is refused, as by ATen.
inline double end_point(number const& n, dtype type) {
    double const whole = std::trunc(n.constant<double>());
    bool const wraps = is_unsigned_integral(type) && fits(-whole, type);
    if (!is_floating(type) && type != dtype::bool_ && !fits(whole, type) && !wraps)
        throw unsupported_error("the number " + std::to_string(n.constant<double>()) + ", which does not fit in " +
                                std::string(name(type)));
    return scalar_tensor(n.constant(), type).at(0).to<double>();
}

/// The difference of two ends, which is infinite if it overflows the dtype; torch's steps then are infinite too.
inline double difference_of_ends(double from, double to, dtype type) {
    double const exact = to - from;
    double const rounded = is_floating(type) ? scalar_tensor(exact, type).at(0).to<double>() : exact;
    return std::isinf(rounded) ? rounded : exact;
}

inline constexpr auto linspace = symbolic<"aten::linspace.Tensor_Tensor(start, end, steps, dtype)">(
    [](graph<7> g, value start, value end, sym_int steps, optional_dtype asked) -> value {
        dtype const type = asked.value_or(aten::default_dtype);
        expect_steps(steps);
        if (steps.is(0)) return empty_constant(g, safe_vector<std::int64_t>{0}, type);
        auto const ready = [&](value v) { return g.cast(g.cast(v, type), spacing_dtype(type)); };
        return g.cast(spaced(g, ready(start), ready(end), steps, spacing_dtype(type)), type);
    });
/// The same for numbers: a constant if both are constant, unless it is too long.
inline constexpr auto linspace_of_numbers = symbolic<"aten::linspace(start, end, steps, dtype)">(
    [](graph<7> g, number start, number end, sym_int count, optional_dtype asked) -> value {
        expect_steps(count);
        if (!is_short(count) || !start.is_constant() || !end.is_constant())
            return linspace(g, number_value(g, start), number_value(g, end), count, asked);
        std::int64_t const steps = count.constant();
        dtype const type = asked.value_or(aten::default_dtype);
        tensor all{type, {steps}, {}};
        double const from = end_point(start, type);
        double const to = end_point(end, type);
        double const step = steps > 1 ? difference_of_ends(from, to, type) / static_cast<double>(steps - 1) : 0;
        for (std::int64_t i = 0; i != steps; ++i)
            all.append(i < steps / 2 || steps == 1 ? from + step * static_cast<double>(i)
                                                   : to - step * static_cast<double>(steps - 1 - i));
        return g.constant(std::move(all));
    });

/// A number as C++ converts it to an integer on x86-64: what does not fit in int32, or int64 for that dtype, is the
/// smallest number.
inline std::int64_t as_integer(double x, dtype type) {
    double const limit = type == dtype::int64 ? 0x1p63 : 0x1p31;
    if (x > (type == dtype::int64 ? -limit : -limit - 1) && x < limit) return static_cast<std::int64_t>(x);
    return type == dtype::int64 ? std::numeric_limits<std::int64_t>::min() : -static_cast<std::int64_t>(limit);
}

inline constexpr auto logspace = symbolic<"aten::logspace.Tensor_Tensor(start, end, steps, base, dtype)">(
    [](graph<7> g, value start, value end, sym_int steps, number base, optional_dtype asked) -> value {
        dtype const type = asked.value_or(aten::default_dtype);
        expect_steps(steps);
        if (steps.is(0)) return empty_constant(g, safe_vector<std::int64_t>{0}, type);
        if (!steps.is_constant() && !is_floating(type))
            return g.unsupported("integers, with a computed number of steps");
        value const radix = g.scalar(base, spacing_dtype(type));
        // For integers, ATen computes the exponents in float32 and the powers in float64. A single exponent is not
        // rounded at all.
        dtype const exact = is_floating(type) ? type : dtype::float32;
        auto const ready = [&](value v) { return g.cast(g.cast(v, type), exact); };
        value const exponents = steps.is(1)
                                    ? spaced(g, g.cast(start, spacing_dtype(type)), end, steps, exact)
                                    : g.cast(spaced(g, ready(start), ready(end), steps, exact), spacing_dtype(type));
        return g.cast(g.op<"Pow">(radix, exponents), type);
    });
inline constexpr auto logspace_of_numbers = symbolic<"aten::logspace(start, end, steps, base, dtype)">(
    [](graph<7> g, number start, number end, sym_int count, number base, optional_dtype asked) -> value {
        expect_steps(count);
        bool const is_constant = start.is_constant() && end.is_constant() && base.is_constant();
        if (!is_short(count) || !is_constant)
            return logspace(g, number_value(g, start), number_value(g, end), count, base, asked);
        std::int64_t const steps = count.constant();
        dtype const type = asked.value_or(aten::default_dtype);
        tensor all{type, {steps}, {}};
        auto const append = [&](double exponent) {
            double const power = std::pow(base.constant<double>(), exponent);
            if (is_floating(type)) all.append(power);
            else all.append(as_integer(power, type));
        };
        if (steps == 1) {
            append(start.constant<double>());
            return g.constant(std::move(all));
        }
        double const from = end_point(start, type);
        double const to = end_point(end, type);
        bool const single = type != dtype::float64;
        auto const rounded = [single](double d) { return single ? static_cast<double>(static_cast<float>(d)) : d; };
        double const across = difference_of_ends(from, to, is_floating(type) ? type : dtype::float32);
        double const step = rounded(across / static_cast<double>(steps - 1));
        for (std::int64_t i = 0; i != steps; ++i) {
            bool const front = i < steps / 2;
            auto const distance = static_cast<double>(front ? i : i + 1 - steps);
            append(rounded((front ? from : to) + rounded(step * distance)));
        }
        return g.constant(std::move(all));
    });
inline constexpr std::int64_t max_window = std::int64_t{1} << 18; ///< each element of a Kaiser window is a series

/// A window function as a constant; a periodic window is the symmetric one of length + 1 without its last element.
template <class Function>
value window(graph<7> g, std::int64_t length, bool periodic, optional_dtype type, Function f) {
    if (length < 0) throw unsupported_error("a window of length " + std::to_string(length));
    budget::expect("a window", length, max_window);
    tensor all{type.value_or(aten::default_dtype), {length}, {}};
    auto const last = static_cast<double>(periodic ? length : length - 1);
    for (std::int64_t i = 0; i != length; ++i) all.append(length == 1 ? 1.0 : f(static_cast<double>(i), last));
    return g.constant(std::move(all));
}
inline value cosine_window(graph<7> g, std::int64_t length, bool periodic, optional_dtype type, double alpha,
                           double beta) {
    return window(g, length, periodic, type, [=](double i, double last) {
        return alpha - beta * std::cos(2 * std::numbers::pi * i / last);
    });
}
inline constexpr auto hann = [](graph<7> g, std::int64_t length, bool periodic, optional_dtype type) {
    return cosine_window(g, length, periodic, type, 0.5, 0.5);
};
inline constexpr auto hamming = [](graph<7> g, std::int64_t length, bool periodic, optional_dtype type) {
    return cosine_window(g, length, periodic, type, 0.54, 0.46);
};
inline constexpr auto hamming_with_alpha =
    symbolic<"aten::hamming_window.periodic_alpha(window_length, periodic, alpha, dtype)">(
        [](graph<7> g, std::int64_t length, bool periodic, double alpha, optional_dtype type) {
            return cosine_window(g, length, periodic, type, alpha, 0.46);
        });
inline constexpr auto hamming_with_beta =
    symbolic<"aten::hamming_window.periodic_alpha_beta(window_length, periodic, alpha, beta, dtype)">(
        [](graph<7> g, std::int64_t length, bool periodic, double alpha, double beta, optional_dtype type) {
            return cosine_window(g, length, periodic, type, alpha, beta);
        });
inline constexpr auto bartlett = [](graph<7> g, std::int64_t length, bool periodic, optional_dtype type) {
    return window(g, length, periodic, type, [](double i, double last) { return 1 - std::abs(2 * i / last - 1); });
};
inline constexpr auto blackman = [](graph<7> g, std::int64_t length, bool periodic, optional_dtype type) {
    return window(g, length, periodic, type, [](double i, double last) {
        double const t = 2 * std::numbers::pi * i / last;
        return 0.42 - 0.5 * std::cos(t) + 0.08 * std::cos(2 * t);
    });
};
/// The modified Bessel function of order 0, by its power series.
inline double bessel_i0(double x) {
    double sum = 1;
    double term = 1;
    for (int k = 1; term > sum * 1e-17; ++k) sum += term *= x * x / (4.0 * k * k);
    return sum;
}
inline constexpr auto kaiser = symbolic<"aten::kaiser_window.beta(window_length, periodic, beta, dtype)">(
    [](graph<7> g, std::int64_t length, bool periodic, double beta, optional_dtype type) -> value {
        double const highest = bessel_i0(beta);
        return window(g, length, periodic, type, [=](double i, double last) {
            double const t = 2 * i / last - 1;
            return bessel_i0(beta * std::sqrt(std::fmax(1 - t * t, 0.0))) / highest;
        });
    });
template <auto const& Window>
inline constexpr auto periodic_window =
    [](graph<7> g, std::int64_t length, optional_dtype type) { return Window(g, length, true, type); };

inline constexpr auto dim_arange = symbolic<"aten::_dim_arange(like, dim)">(
    [](graph<7> g, value like, std::int64_t dim) { return arithmetic_sequence(g, 0, g.size(like, dim)); });

inline constexpr auto linspace_tensor_scalar = symbolic<"aten::linspace.Tensor_Scalar(start, end, steps, dtype)">(
    [](graph<7> g, value start, number end, sym_int steps, optional_dtype type) {
        return linspace(g, start, number_value(g, end), steps, type);
    });

inline constexpr auto linspace_scalar_tensor = symbolic<"aten::linspace.Scalar_Tensor(start, end, steps, dtype)">(
    [](graph<7> g, number start, value end, sym_int steps, optional_dtype type) {
        return linspace(g, number_value(g, start), end, steps, type);
    });

inline constexpr auto logspace_tensor_scalar = symbolic<"aten::logspace.Tensor_Scalar(start, end, steps, base, dtype)">(
    [](graph<7> g, value start, number end, sym_int steps, number base, optional_dtype type) {
        return logspace(g, start, number_value(g, end), steps, base, type);
    });

inline constexpr auto logspace_scalar_tensor = symbolic<"aten::logspace.Scalar_Tensor(start, end, steps, base, dtype)">(
    [](graph<7> g, number start, value end, sym_int steps, number base, optional_dtype type) {
        return logspace(g, number_value(g, start), end, steps, base, type);
    });

inline constexpr auto kaiser_window = symbolic<"aten::kaiser_window(window_length, dtype)">(
    [](graph<7> g, std::int64_t length, optional_dtype type) { return kaiser(g, length, true, 12.0, type); });
inline constexpr auto kaiser_periodic = symbolic<"aten::kaiser_window.periodic(window_length, periodic, dtype)">(
    [](graph<7> g, std::int64_t length, bool periodic, optional_dtype type) {
        return kaiser(g, length, periodic, 12.0, type);
    });

} // namespace detail

inline constexpr auto ranges =
    table(detail::arange_to, detail::arange_from, detail::arange_by, detail::range_with_end, detail::range_with_end_by,
          detail::dim_arange, detail::linspace_of_numbers, detail::linspace, detail::linspace_tensor_scalar,
          detail::linspace_scalar_tensor, detail::logspace_of_numbers, detail::logspace, detail::logspace_tensor_scalar,
          detail::logspace_scalar_tensor,
          symbolic<"aten::hann_window(window_length, dtype)">(detail::periodic_window<detail::hann>),
          symbolic<"aten::hann_window.periodic(window_length, periodic, dtype)">(detail::hann),
          symbolic<"aten::hamming_window(window_length, dtype)">(detail::periodic_window<detail::hamming>),
          symbolic<"aten::hamming_window.periodic(window_length, periodic, dtype)">(detail::hamming),
          detail::hamming_with_alpha, detail::hamming_with_beta,
          symbolic<"aten::bartlett_window(window_length, dtype)">(detail::periodic_window<detail::bartlett>),
          symbolic<"aten::bartlett_window.periodic(window_length, periodic, dtype)">(detail::bartlett),
          symbolic<"aten::blackman_window(window_length, dtype)">(detail::periodic_window<detail::blackman>),
          symbolic<"aten::blackman_window.periodic(window_length, periodic, dtype)">(detail::blackman),
          detail::kaiser_window, detail::kaiser_periodic, detail::kaiser);

} // namespace ATON_NAMESPACE::mappings
