// SPDX-License-Identifier: MIT
// Runs functors on the CPU: chunks of elements on threads, the rows of a chunk in loops that the compiler vectorizes.
// Code that does not depend on the functor is compiled once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "runtime/kernels/loop.hpp"

#include "cpu_threads.hpp"

/// Precedes a loop whose iterations are independent.
#if defined(__clang__)
#define ATON_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define ATON_INDEPENDENT _Pragma("GCC ivdep")
#else
#define ATON_INDEPENDENT
#endif

namespace ATON_NAMESPACE::runtime::kernels {

/// Elements of the innermost dimension, the result first.
template <int Operands>
struct row {
    std::int64_t count = 0;
    std::byte* data[Operands] = {};
    std::int64_t strides[Operands] = {}; ///< in elements
    void const* functor = nullptr;
};

/// Runs all rows of a loop over operands of these element sizes, on all threads if there is enough work.
template <int Operands>
void run_rows(loop<Operands> const& l, row<Operands> first, std::size_t const* widths,
              void (*run)(row<Operands> const&));
extern template void run_rows<2>(loop<2> const&, row<2>, std::size_t const*, void (*)(row<2> const&));
extern template void run_rows<3>(loop<3> const&, row<3>, std::size_t const*, void (*)(row<3> const&));
extern template void run_rows<4>(loop<4> const&, row<4>, std::size_t const*, void (*)(row<4> const&));

inline namespace ATON_KERNEL_VARIANT {

struct cpu_launcher {
    static constexpr bool takes_halves = false;
    using wide = double; ///< accumulator of float32 sums

    /// out[...] = f(in[...]...) for all elements of the loop; operand 0 is the result.
    template <int Operands, class Out, class Function, class... In>
    static void run(loop<Operands> const& l, Out* out, Function const& f, In const*... in) {
        static_assert(Operands == 1 + sizeof...(In));
        std::size_t const widths[] = {sizeof(Out), sizeof(In)...};
        // NOLINTBEGIN(*-reinterpret-cast, *-const-cast): memory, until a row gives it its types back
        row<Operands> const first{
            0, {reinterpret_cast<std::byte*>(out), reinterpret_cast<std::byte*>(const_cast<In*>(in))...}, {}, &f};
        // NOLINTEND(*-reinterpret-cast, *-const-cast)
        run_rows<Operands>(l, first, widths, [](row<Operands> const& r) {
            run_row<Out, Function, In...>(r, std::index_sequence_for<In...>());
        });
    }

    template <class Function>
    static void for_each(std::int64_t count, Function const& f) {
        in_parts(count, work_for_a_thread, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t i = first; i != last; ++i) f(i);
        });
    }

    /// In order, on one thread.
    template <class T, class Function>
    static void put(loop<2> const& l, T* into, Function const& f, std::int64_t const* positions, T const* values) {
        row_cursor<2> at(l, 0);
        std::int64_t const* const strides[] = {&l.strides[0][l.rank - 1], &l.strides[1][l.rank - 1]};
        for (std::int64_t left = l.count; left != 0;) {
            std::int64_t const n = at.left();
            for (std::int64_t i = 0; i != n; ++i) {
                T& there = into[positions[at.offset(0) + i * *strides[0]]];
                there = f(there, values[at.offset(1) + i * *strides[1]]);
            }
            left -= n;
            at.advance(n);
        }
    }

private:
    static constexpr std::int64_t block = 256;

    /// Gathers elements that are not adjacent into blocks first, so that one loop serves all strides.
    template <class Out, class Function, class... In, int Operands, std::size_t... I>
    static void run_row(row<Operands> const& r, std::index_sequence<I...> /*operands*/) {
        static_assert(sizeof(Out) <= 16 && ((sizeof(In) <= 16) && ...));
        auto const& f = *static_cast<Function const*>(r.functor);
        auto* const out = reinterpret_cast<Out*>(r.data[0]);
        if (r.strides[0] == 1 && ((r.strides[I + 1] == 1) && ...))
            return run_dense(f, r.count, out, reinterpret_cast<In const*>(r.data[I + 1])...);
        alignas(64) std::byte rooms[Operands][block * 16];
        for (std::int64_t first = 0; first < r.count; first += block) {
            std::int64_t const n = std::min(r.count - first, block);
            Out* const to = r.strides[0] == 1 ? out + first : reinterpret_cast<Out*>(rooms[0]);
            run_dense(f,
                      n,
                      to,
                      gathered(reinterpret_cast<In const*>(r.data[I + 1]) + first * r.strides[I + 1],
                               r.strides[I + 1],
                               n,
                               reinterpret_cast<In*>(rooms[I + 1]))...);
            if (r.strides[0] != 1)
                for (std::int64_t i = 0; i != n; ++i) out[(first + i) * r.strides[0]] = to[i];
        }
    }

    template <class T>
    static T const* gathered(T const* x, std::int64_t stride, std::int64_t n, T* to) {
        if (stride == 1) return x;
        if (stride == 0) std::fill_n(to, n, *x);
        else
            for (std::int64_t i = 0; i != n; ++i) to[i] = x[i * stride];
        return to;
    }

    template <class Function, class Out, class... In>
    static void run_dense(Function const& given, std::int64_t n, Out* out, In const*... in) {
        Function const f = given; // a local copy, which stores cannot modify
        if constexpr (requires { requires Function::has_easy_way; }) {
            run_easy<Function>(n, out, in...);
        } else {
            ATON_INDEPENDENT
            for (std::int64_t i = 0; i < n; ++i) out[i] = f(in[i]...);
        }
    }

    /// In blocks: branch-free for blocks in which all numbers allow it.
    template <class Function, class T>
    static void run_easy(std::int64_t count, T* out, T const* x) {
        for (std::int64_t first = 0; first < count; first += block) {
            std::int64_t const last = std::min(count, first + block);
            int hard = 0;
            for (std::int64_t i = first; i < last; ++i) hard |= Function::is_easy(x[i]) ? 0 : 1;
            if (hard == 0) {
                ATON_INDEPENDENT
                for (std::int64_t i = first; i < last; ++i) out[i] = Function::easy(x[i]);
            } else {
                for (std::int64_t i = first; i < last; ++i) out[i] = Function{}(x[i]);
            }
        }
    }
};

} // namespace ATON_KERNEL_VARIANT

} // namespace ATON_NAMESPACE::runtime::kernels
