// SPDX-License-Identifier: MIT
// Elementwise kernels for a device that is given by its launcher: `Launcher::run(loop, out, functor, in...)`. Compiled
// for the CPU (src/runtime/kernels) and by nvcc.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "runtime/kernels/binary.hpp"
#include "runtime/kernels/launches.hpp"
#include "runtime/kernels/unary.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

template <auto Value>
struct constant {
    static constexpr auto value = Value;
};

/// Calls `f(constant<v>())` for the enumerator v that equals `value`.
template <class Enum, class Function>
void with_constant(Enum value, Function const& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (void)((static_cast<std::size_t>(value) == I && (f(constant<static_cast<Enum>(I)>()), true)) || ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Enum::count_)>{});
}

/// Element types with arithmetic: not complex, not below 8 bits.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// Types for which a launcher compiles arithmetic.
template <class Launcher, class T>
inline constexpr bool computes = std::is_arithmetic_v<T> || (Launcher::takes_halves && is_number<T>);

/// T, or the unsigned type of its width.
template <bool Unsigned, class T>
constexpr auto element_of() {
    if constexpr (Unsigned && std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return type_tag<std::make_unsigned_t<T>>();
    else return type_tag<T>();
}

/// The special functions, or all others.
template <class Launcher, bool Special = false>
bool launch_unary(unary_op op, dtype t, loop<2> const& l, void* out, void const* x, unary_parameters const& p) {
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T>) {
            with_constant(op, [&]<unary_op Op>(constant<Op> /*of*/) {
                if constexpr (takes<Op, computed<T>>() && is_special(Op) == Special) {
                    using result = typename unary<Op, T>::result;
                    Launcher::run(l, static_cast<result*>(out), unary<Op, T>{p}, static_cast<T const*>(x));
                    known = true;
                }
            });
        }
    });
    return known;
}

template <class Launcher, bool Special = false>
bool launch_binary(binary_op op, dtype t, loop<3> const& l, void* out, void const* x, void const* y) {
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T>) {
            with_constant(op, [&]<binary_op Op>(constant<Op> /*of*/) {
                if constexpr (takes<Op, computed<T>>() && is_special(Op) == Special) {
                    using element = typename decltype(element_of<ignores_sign(Op), T>())::type;
                    using result = typename binary<Op, element>::result;
                    Launcher::run(l,
                                  static_cast<result*>(out),
                                  binary<Op, element>{},
                                  static_cast<element const*>(x),
                                  static_cast<element const*>(y));
                    known = true;
                }
            });
        }
    });
    return known;
}

/// Elements that are only copied, by their size in bytes.
template <std::size_t Bytes>
struct alignas(Bytes < 8 ? Bytes : 8) raw {
    std::byte bytes[Bytes];
};

struct copied {
    template <class T>
    ATON_HD T operator()(T x) const {
        return x;
    }
};
struct selected {
    template <class T>
    ATON_HD T operator()(bool condition, T const& yes, T const& no) const {
        return condition ? yes : no;
    }
};

/// Calls `f(type_tag<T>())` with a type of this size.
template <class Function>
void visit_width(std::size_t bytes, Function const& f) {
    switch (bytes) {
    case 1: return f(type_tag<raw<1>>());
    case 2: return f(type_tag<raw<2>>());
    case 4: return f(type_tag<raw<4>>());
    case 8: return f(type_tag<raw<8>>());
    default: return f(type_tag<raw<16>>());
    }
}

template <class Launcher>
void launch_copy(std::size_t width, loop<2> const& l, void* out, void const* x) {
    visit_width(width, [&]<class T>(type_tag<T> /*of*/) {
        Launcher::run(l, static_cast<T*>(out), copied{}, static_cast<T const*>(x));
    });
}

template <class Launcher>
void launch_select(std::size_t width, loop<4> const& l, void* out, bool const* condition, void const* yes,
                   void const* no) {
    visit_width(width, [&]<class T>(type_tag<T> /*of*/) {
        Launcher::run(
            l, static_cast<T*>(out), selected{}, condition, static_cast<T const*>(yes), static_cast<T const*>(no));
    });
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
