// SPDX-License-Identifier: MIT
// Reductions as functors: the identity, how an element is loaded, how two accumulators are combined, and the final
// result.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/kernels/elementwise.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

/// The maximum and minimum of bools are `any` and `all`.
template <reduce_op Op, class T>
constexpr bool takes() {
    using enum reduce_op;
    return std::is_same_v<T, bool> ? Op == any || Op == all : Op != any && Op != all;
}

/// The minimum or the maximum of a type.
template <class T>
ATON_HD constexpr T minimum_of() {
    return is_real<T> ? static_cast<T>(-std::numeric_limits<T>::infinity()) : std::numeric_limits<T>::lowest();
}
template <class T>
ATON_HD constexpr T maximum_of() {
    return is_real<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
}

/// The accumulator type of T; floats of up to 32 bits are summed in Wide.
template <class T, class Wide>
using summed = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, Wide>;

constexpr bool sums(reduce_op op) { return op == reduce_op::sum || op == reduce_op::prod; }

template <reduce_op Op, class T, class Wide>
struct reduction {
    using accumulator = std::conditional_t<sums(Op), summed<T, Wide>, computed<T>>;

    ATON_HD static constexpr accumulator identity() {
        using enum reduce_op;
        if constexpr (Op == max) return minimum_of<accumulator>();
        else if constexpr (Op == min) return maximum_of<accumulator>();
        else return accumulator(Op == prod || Op == all ? 1 : 0);
    }
    /// `index`: position along the reduced dimensions.
    ATON_HD static accumulator load(T x, std::int64_t /*index*/) {
        return static_cast<accumulator>(static_cast<computed<T>>(x));
    }
    ATON_HD static accumulator combine(accumulator x, accumulator y) {
        using enum reduce_op;
        constexpr binary_op op = Op == sum                ? binary_op::add
                                 : Op == prod             ? binary_op::mul
                                 : Op == max || Op == any ? binary_op::maximum
                                                          : binary_op::minimum;
        return binary<op, accumulator>{}(x, y);
    }
    ATON_HD static T finish(accumulator x) { return static_cast<T>(static_cast<computed<T>>(x)); }
};

/// The index of the maximum or minimum: the first of equal elements, or the last.
template <bool Most, bool Last, class T>
struct arg_reduction {
    struct accumulator {
        computed<T> value;
        std::int64_t index; ///< -1: zero elements
    };

    ATON_HD static constexpr accumulator identity() { return {computed<T>{0}, -1}; }
    ATON_HD static accumulator load(T x, std::int64_t index) { return {static_cast<computed<T>>(x), index}; }
    ATON_HD static accumulator combine(accumulator x, accumulator y) {
        if (x.index < 0 || y.index < 0) return x.index < 0 ? y : x;
        bool const x_first = is_before(x.value, y.value);
        bool const y_first = is_before(y.value, x.value);
        if (x_first != y_first) return x_first ? x : y;
        return (x.index < y.index) != Last ? x : y;
    }
    ATON_HD static std::int64_t finish(accumulator x) { return x.index; }
    ATON_HD static bool is_before(computed<T> x, computed<T> y) {
        if (is_nan(y)) return false;
        return is_nan(x) || (Most ? x > y : x < y);
    }
};

/// Types that share a kernel: bools are bytes, and sums of integers do not depend on their sign.
template <reduce_op Op, class T>
constexpr auto reduced_as() {
    if constexpr (std::is_same_v<T, bool>) return type_tag<std::uint8_t>();
    else return element_of<sums(Op), T>();
}
constexpr reduce_op reduced_by(reduce_op op, dtype t) {
    if (t != dtype::bool_) return op;
    return op == reduce_op::max ? reduce_op::any : op == reduce_op::min ? reduce_op::all : op;
}

/// Runs the reduction and returns true if it supports the dtype. `Launcher::reduce<Functor>(shape, out, x)` writes one
/// element of `out` for each element of `shape.kept`.
template <class Launcher>
bool launch_reduce(reduce_op op, dtype t, reduce_shape const& shape, void* out, void const* x) {
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T>) {
            with_constant(reduced_by(op, t), [&]<reduce_op Op>(constant<Op> /*of*/) {
                if constexpr (takes<Op, T>()) {
                    using element = typename decltype(reduced_as<Op, T>())::type;
                    using functor = reduction<Op, element, typename Launcher::wide>;
                    Launcher::template reduce<functor>(
                        shape, static_cast<element*>(out), static_cast<element const*>(x));
                    known = true;
                }
            });
        }
    });
    return known;
}

template <class Launcher>
bool launch_arg_reduce(reduce_op op, bool last, dtype t, reduce_shape const& shape, std::int64_t* out, void const* x) {
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T>) {
            using element = typename decltype(reduced_as<reduce_op::max, T>())::type;
            auto const run = [&]<bool Most, bool Last>() {
                using functor = arg_reduction<Most, Last, element>;
                Launcher::template reduce<functor>(shape, out, static_cast<element const*>(x));
            };
            known = op == reduce_op::max || op == reduce_op::min;
            if (op == reduce_op::max && last) run.template operator()<true, true>();
            else if (op == reduce_op::max) run.template operator()<true, false>();
            else if (op == reduce_op::min && last) run.template operator()<false, true>();
            else if (op == reduce_op::min) run.template operator()<false, false>();
        }
    });
    return known;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
