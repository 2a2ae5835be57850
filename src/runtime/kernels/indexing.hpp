// SPDX-License-Identifier: MIT
// Gather and scatter by position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/elementwise.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

template <class T>
struct taken {
    T const* from;
    ATON_HD T operator()(std::int64_t position) const { return from[position]; }
};
template <class T>
struct taken_strided {
    T const* from;
    loop<1> at;
    ATON_HD T operator()(std::int64_t position) const { return from[offset_of(at, 0, position)]; }
};

/// out[...] = x[positions[...]] for elements of a given size; `at` iterates over x.
template <class Launcher>
void launch_take(std::size_t width, loop<2> const& l, void* out, std::int64_t const* positions, loop<1> const& at,
                 void const* x) {
    bool const contiguous = at.rank == 1 && (at.strides[0][0] == 1 || at.count == 1);
    visit_width(width, [&]<class T>(type_tag<T> /*of*/) {
        auto const* const from = static_cast<T const*>(x);
        if (contiguous) Launcher::run(l, static_cast<T*>(out), taken<T>{from}, positions);
        else Launcher::run(l, static_cast<T*>(out), taken_strided<T>{from, at}, positions);
    });
}

/// Combines the element at a position with the new value.
struct assigned {
    template <class T>
    ATON_HD T operator()(T const& /*there*/, T const& value) const {
        return value;
    }
};

/// Runs `Launcher::put<T>(loop, into, function, positions, values)` and returns true if the function supports the
/// dtype. The loop iterates over positions and values.
template <class Launcher>
bool launch_put(put_op op, dtype t, loop<2> const& l, void* into, std::int64_t const* positions, void const* values) {
    if (op == put_op::assign) {
        visit_width(element_bytes(t), [&]<class T>(type_tag<T> /*of*/) {
            Launcher::put(l, static_cast<T*>(into), assigned{}, positions, static_cast<T const*>(values));
        });
        return true;
    }
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (is_number<T>) {
            auto const run = [&]<binary_op Op>(constant<Op> /*of*/) {
                Launcher::put(l, static_cast<T*>(into), binary<Op, T>{}, positions, static_cast<T const*>(values));
            };
            if (op == put_op::add) run(constant<binary_op::add>());
            else if (op == put_op::mul) run(constant<binary_op::mul>());
            else if (op == put_op::max) run(constant<binary_op::maximum>());
            else run(constant<binary_op::minimum>());
            known = true;
        }
    });
    return known;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
