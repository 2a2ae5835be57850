// SPDX-License-Identifier: MIT
// Elementwise kernels for a device that is given by its launcher: `Launcher::run(loop, out, functor, in...)`. This text is compiled once
// for the CPU (src/runtime/kernels) and once by nvcc (cuda/).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <aton/dsl/error.hpp>
#include <aton/runtime/kernels/binary.hpp>
#include <aton/runtime/kernels/loop.hpp>
#include <aton/runtime/kernels/unary.hpp>
#include <aton/runtime/tensor.hpp>

namespace aton::runtime::kernels {

/// The loop over a result and operands that are expanded to its sizes.
template <class... In>
loop<1 + sizeof...(In)> make_loop(tensor const& out, In const&... in) {
    constexpr int operands = 1 + static_cast<int>(sizeof...(In));
    tensor const* const all[] = {&out, &in...};
    loop<operands> l;
    l.rank = 1;
    l.sizes[0] = 1;
    l.count = out.count();
    if (l.count == 0) return l;
    l.rank = 0;
    for (std::size_t i = 0; i != out.rank(); ++i) {
        if (out.size(i) == 1) continue;
        bool joins = l.rank != 0; // with the dimension before it
        for (int j = 0; j != operands && joins; ++j)
            joins = l.strides[j][l.rank - 1] == all[j]->strides()[i] * out.size(i);
        if (!joins && l.rank == most_dims)
            throw error("a kernel goes over at most " + std::to_string(most_dims) + " dimensions");
        if (!joins) ++l.rank;
        l.sizes[l.rank - 1] = (joins ? l.sizes[l.rank - 1] : 1) * out.size(i);
        for (int j = 0; j != operands; ++j) l.strides[j][l.rank - 1] = all[j]->strides()[i];
    }
    if (l.rank == 0) l.rank = 1; // one element
    return l;
}

template <auto Value>
struct constant {
    static constexpr auto value = Value;
};

/// Calls `f(constant<v>())` for the enumerator that `value` is.
template <class Enum, class Function>
void with_constant(Enum value, Function const& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (void)((static_cast<std::size_t>(value) == I && (f(constant<static_cast<Enum>(I)>()), true)) || ...);
    }(std::make_index_sequence<static_cast<std::size_t>(Enum::count_)>{});
}

[[noreturn]] inline void refuse_dtype(dtype t) { throw error("this function is not one of " + std::string(name(t))); }

/// Types of elements that arithmetic knows: not complex, not below 8 bits.
template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// Types that a launcher's arithmetic is compiled for. Where it does not fuse the conversion of float16 and bfloat16 into its loops,
/// they become float tensors before and after: the same numbers.
template <class Launcher, class T>
inline constexpr bool computes = std::is_arithmetic_v<T> || (Launcher::fuses_narrow && is_number<T>);

constexpr bool is_half(dtype t) { return t == dtype::float16 || t == dtype::bfloat16; }

template <class Launcher>
tensor cast_kernel(allocator& memory, tensor const& x, dtype to, bool saturate = true);

template <class Launcher>
tensor unary_kernel(allocator& memory, unary_op op, tensor const& x, unary_parameters const& p) {
    if (!Launcher::fuses_narrow && is_half(x.dtype())) {
        tensor const y = unary_kernel<Launcher>(memory, op, cast_kernel<Launcher>(memory, x, dtype::float32), p);
        return y.dtype() == dtype::bool_ ? y : cast_kernel<Launcher>(memory, y, x.dtype());
    }
    tensor out;
    visit(x.dtype(), [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T>) {
            with_constant(op, [&]<unary_op Op>(constant<Op> /*of*/) {
                if constexpr (takes<Op, computed<T>>()) {
                    using functor = unary<Op, T>;
                    using result = typename functor::result;
                    out = tensor::empty(gives_bool<Op> ? dtype::bool_ : x.dtype(), x.sizes(), memory);
                    Launcher::run(make_loop(out, x), out.data<result>(), functor{p}, x.data<T const>());
                }
            });
        }
    });
    if (!out) refuse_dtype(x.dtype());
    return out;
}

template <class Launcher>
tensor binary_kernel(allocator& memory, binary_op op, tensor const& x, tensor const& y) {
    if (x.dtype() != y.dtype())
        throw error("operands of " + std::string(name(x.dtype())) + " and " + std::string(name(y.dtype())) +
                    " do not meet");
    if (!Launcher::fuses_narrow && is_half(x.dtype())) {
        tensor const z = binary_kernel<Launcher>(memory,
                                                 op,
                                                 cast_kernel<Launcher>(memory, x, dtype::float32),
                                                 cast_kernel<Launcher>(memory, y, dtype::float32));
        return z.dtype() == dtype::bool_ ? z : cast_kernel<Launcher>(memory, z, x.dtype());
    }
    sizes const to = broadcast(x.sizes(), y.sizes());
    tensor const a = x.expanded(to);
    tensor const b = y.expanded(to);
    tensor out;
    visit(x.dtype(), [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (computes<Launcher, T>) {
            with_constant(op, [&]<binary_op Op>(constant<Op> /*of*/) {
                if constexpr (takes<Op, computed<T>>()) {
                    using result = typename binary<Op, T>::result;
                    out = tensor::empty(compares(Op) ? dtype::bool_ : x.dtype(), to, memory);
                    Launcher::run(make_loop(out, a, b),
                                  out.data<result>(),
                                  binary<Op, T>{},
                                  a.data<T const>(),
                                  b.data<T const>());
                }
            });
        }
    });
    if (!out) refuse_dtype(x.dtype());
    return out;
}

/// Elements that are only moved, by their width.
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

/// Calls `f(type_tag<T>())` with a type as wide as the elements.
template <class Function>
void visit_width(dtype t, Function const& f) {
    switch (element_bytes(t)) {
    case 1: return f(type_tag<raw<1>>());
    case 2: return f(type_tag<raw<2>>());
    case 4: return f(type_tag<raw<4>>());
    case 8: return f(type_tag<raw<8>>());
    case 16: return f(type_tag<raw<16>>());
    default: refuse_dtype(t);
    }
}

template <class Launcher>
void copy_kernel(tensor const& from, tensor const& to) {
    if (from.dtype() != to.dtype()) throw error("a copy keeps its dtype");
    tensor const source = from.expanded(to.sizes());
    visit_width(to.dtype(), [&]<class T>(type_tag<T> /*of*/) {
        Launcher::run(make_loop(to, source), to.data<T>(), copied{}, source.data<T const>());
    });
}

template <class Launcher>
tensor select_kernel(allocator& memory, tensor const& condition, tensor const& yes, tensor const& no) {
    if (yes.dtype() != no.dtype() || condition.dtype() != dtype::bool_)
        throw error("select takes a bool and two of one dtype");
    sizes const to = broadcast(broadcast(condition.sizes(), yes.sizes()), no.sizes());
    tensor const c = condition.expanded(to);
    tensor const a = yes.expanded(to);
    tensor const b = no.expanded(to);
    tensor out = tensor::empty(yes.dtype(), to, memory);
    visit_width(yes.dtype(), [&]<class T>(type_tag<T> /*of*/) {
        Launcher::run(make_loop(out, c, a, b),
                      out.data<T>(),
                      selected{},
                      c.data<bool const>(),
                      a.data<T const>(),
                      b.data<T const>());
    });
    return out;
}

/// The number in another type: floats to integers towards zero, what is too large by the lower bits of int64.
template <class From, class To>
struct converted {
    ATON_HD To operator()(From x) const {
        if constexpr (std::is_same_v<From, To>) return x;
        else if constexpr (std::is_same_v<To, bool>) return static_cast<computed<From>>(x) != computed<From>{0};
        else if constexpr (std::is_integral_v<From>) {
            if constexpr (std::is_integral_v<To>) return static_cast<To>(x);
            else return static_cast<To>(static_cast<computed<To>>(x));
        } else if constexpr (std::is_integral_v<To>) {
            return from_real(static_cast<double>(static_cast<computed<From>>(x)));
        } else {
            return static_cast<To>(static_cast<computed<To>>(static_cast<computed<From>>(x)));
        }
    }

private:
    ATON_HD static To from_real(double x) {
        if (is_nan(x)) return To{0};
        if (x >= 9223372036854775808.0) {
            if constexpr (std::is_same_v<To, std::uint64_t>)
                if (x < 18446744073709551616.0) return static_cast<std::uint64_t>(x);
            return static_cast<To>(INT64_MAX);
        }
        return static_cast<To>(x <= -9223372036854775808.0 ? INT64_MIN : static_cast<std::int64_t>(x));
    }
};

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<complex<T>> = true;

/// Numbers below 8 bits, float8 and complex numbers, to and from the one type that they pass through: float, int64, or double.
template <class From, class To>
struct passed {
    bool saturate = true;

    ATON_HD To operator()(From const& x) const {
        if constexpr (is_complex_number<To>) {
            using part = decltype(To::real);
            if constexpr (is_complex_number<From>) return {static_cast<part>(x.real), static_cast<part>(x.imaginary)};
            else return {static_cast<part>(x), part{0}};
        } else if constexpr (is_complex_number<From>) {
            return static_cast<To>(x.real);
        } else if constexpr (std::is_constructible_v<To, float, bool> && !std::is_arithmetic_v<To>) {
            return To(static_cast<float>(x), saturate);
        } else {
            return static_cast<To>(x);
        }
    }
};

/// The dtype that numbers of this one pass through on their way to another, `T::wide`; the same where they need not.
constexpr dtype passage_of(dtype t) {
    if (is_complex(t)) return dtype::float64;
    if (is_integral(t)) return bits(t) < 8 ? dtype::int64 : t;
    return is_floating(t) && bits(t) <= 8 ? dtype::float32 : t;
}

template <class Launcher, class From, class To, class Functor>
tensor converted_tensor(allocator& memory, tensor const& x, dtype to, Functor const& f) {
    tensor out = tensor::empty(to, x.sizes(), memory);
    Launcher::run(make_loop(out, x), out.data<To>(), f, x.data<From const>());
    return out;
}

/// Between a type and the one that its numbers pass through.
template <class Launcher>
tensor pass(allocator& memory, tensor const& x, dtype to, bool saturate) {
    tensor out;
    visit(x.dtype(), [&]<class From>(type_tag<From> /*of*/) {
        visit(to, [&]<class To>(type_tag<To> /*of*/) {
            if constexpr (std::is_void_v<From> || std::is_void_v<To>) {
                return;
            } else if constexpr (is_number<From> != is_number<To>) {
                using wide = std::conditional_t<is_number<From>, From, To>;
                using narrow = std::conditional_t<is_number<From>, To, From>;
                if constexpr (std::is_same_v<wide, typename narrow::wide>)
                    out = converted_tensor<Launcher, From, To>(memory, x, to, passed<From, To>{saturate});
            } else if constexpr (is_complex_number<From> && is_complex_number<To>) {
                out = converted_tensor<Launcher, From, To>(memory, x, to, passed<From, To>{});
            }
        });
    });
    if (!out) refuse_dtype(x.dtype());
    return out;
}

template <class Launcher>
tensor cast_kernel(allocator& memory, tensor const& x, dtype to, bool saturate) {
    if (x.dtype() == to) {
        if (x.is_contiguous()) return x;
        tensor out = tensor::empty(to, x.sizes(), memory);
        copy_kernel<Launcher>(x, out);
        return out;
    }
    if (is_complex(x.dtype()) && is_complex(to)) return pass<Launcher>(memory, x, to, saturate);
    if (dtype const via = passage_of(x.dtype()); via != x.dtype())
        return cast_kernel<Launcher>(memory, pass<Launcher>(memory, x, via, saturate), to, saturate);
    if (dtype const via = passage_of(to); via != to)
        return pass<Launcher>(memory, cast_kernel<Launcher>(memory, x, via, saturate), to, saturate);
    tensor out;
    visit(x.dtype(), [&]<class From>(type_tag<From> /*of*/) {
        visit(to, [&]<class To>(type_tag<To> /*of*/) {
            if constexpr (is_number<From> && is_number<To>)
                out = converted_tensor<Launcher, From, To>(memory, x, to, converted<From, To>{});
        });
    });
    if (!out) throw error(std::string(name(x.dtype())) + " cannot be cast to " + std::string(name(to)));
    return out;
}

} // namespace aton::runtime::kernels
