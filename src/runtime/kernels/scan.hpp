// SPDX-License-Identifier: MIT
// Scans along an axis, and softmax.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/reduce.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

template <scan_op Op, class T>
constexpr bool takes() {
    using enum scan_op;
    if constexpr (Op == log_add_exp) return is_real<computed<T>>;
    else return Op == max || Op == min || !std::is_same_v<T, bool>;
}

/// log(exp(x) + exp(y)) without overflow.
template <class T>
ATON_HD T log_add_exp(T x, T y) {
    T const peak = binary<binary_op::maximum, T>{}(x, y);
    return is_finite(peak) ? peak + std::log1p(std::exp(-std::abs(x - y))) : peak;
}

template <scan_op Op, class T, class Wide>
struct scanning {
    using accumulator = std::conditional_t<Op == scan_op::max || Op == scan_op::min, computed<T>, summed<T, Wide>>;

    ATON_HD static constexpr accumulator identity() {
        using enum scan_op;
        if constexpr (Op == max || Op == log_add_exp) return minimum_of<accumulator>();
        else if constexpr (Op == min) return maximum_of<accumulator>();
        else return accumulator(Op == prod ? 1 : 0);
    }
    ATON_HD static accumulator load(T x) { return static_cast<accumulator>(static_cast<computed<T>>(x)); }
    ATON_HD static accumulator combine(accumulator x, accumulator y) {
        using enum scan_op;
        if constexpr (Op == log_add_exp) return kernels::log_add_exp(x, y);
        else
            return binary<Op == sum    ? binary_op::add
                          : Op == prod ? binary_op::mul
                          : Op == max  ? binary_op::maximum
                                       : binary_op::minimum,
                          accumulator>{}(x, y);
    }
    ATON_HD static T finish(accumulator x) { return static_cast<T>(static_cast<computed<T>>(x)); }
};

/// Runs `Launcher::scan<Functor>(lines, out, x)` and returns true if the function supports the dtype.
template <class Launcher>
bool launch_scan(scan_op op, dtype t, line_shape const& lines, void* out, void const* x) {
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T>) {
            with_constant(op, [&]<scan_op Op>(constant<Op> /*of*/) {
                if constexpr (takes<Op, T>()) {
                    using functor = scanning<Op, T, typename Launcher::wide>;
                    Launcher::template scan<functor>(lines, static_cast<T*>(out), static_cast<T const*>(x));
                    known = true;
                }
            });
        }
    });
    return known;
}

/// The parts of a softmax: the term of an element and the maximum of its line, then the result from the sum of the
/// terms.
template <bool Logarithm, class T>
struct softmax_parts {
    using number = computed<T>;
    static constexpr bool is_logarithm = Logarithm;
    ATON_HD static number term(number x, number peak) { return math::exp(x - peak); }
    /// The part that is constant along a line.
    ATON_HD static number line(number peak, number sum) {
        if constexpr (Logarithm) return peak + math::log(sum);
        else return number(1) / sum;
    }
    /// A logarithm needs the element, others its term.
    ATON_HD static T finish(number x, number term, number line) {
        if constexpr (Logarithm) return static_cast<T>(x - line);
        else return static_cast<T>(term * line);
    }
};

/// Like launch_scan, with `Launcher::softmax<Parts>(shape, out, x)`.
template <class Launcher>
bool launch_softmax(bool logarithm, dtype t, axis_shape const& shape, void* out, void const* x) {
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T> && is_real<computed<T>>) {
            auto* const to = static_cast<T*>(out);
            auto const* const from = static_cast<T const*>(x);
            if (logarithm) Launcher::template softmax<softmax_parts<true, T>>(shape, to, from);
            else Launcher::template softmax<softmax_parts<false, T>>(shape, to, from);
            known = true;
        }
    });
    return known;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
