// SPDX-License-Identifier: MIT
// Runs functors on the CPU: chunks of elements on threads, the rows of a chunk in loops that the compiler vectorises. What does not
// depend on the functor is compiled once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <aton/runtime/kernels/loop.hpp>

#include "cpu_threads.hpp"

namespace aton::runtime::kernels {

/// Elements of the innermost dimension, the result first.
template <int Operands>
struct row {
    std::int64_t count = 0;
    std::byte* data[Operands] = {};
    std::int64_t strides[Operands] = {}; ///< in elements
    void const* functor = nullptr;
};

/// All rows of a loop over operands of these widths, on all threads where there is enough to do.
template <int Operands>
void run_rows(loop<Operands> const& l, row<Operands> first, std::size_t const* widths,
              void (*run)(row<Operands> const&));
extern template void run_rows<2>(loop<2> const&, row<2>, std::size_t const*, void (*)(row<2> const&));
extern template void run_rows<3>(loop<3> const&, row<3>, std::size_t const*, void (*)(row<3> const&));
extern template void run_rows<4>(loop<4> const&, row<4>, std::size_t const*, void (*)(row<4> const&));

inline namespace ATON_KERNEL_VARIANT {

struct cpu_launcher {
    static constexpr bool takes_halves = false;
    using wide = double; ///< what float32 is summed in

    /// out[...] = f(in[...]...) for all elements of the loop, whose operand 0 is the result.
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
    /// In step where strides are 1; one value for all where one of two is 0.
    template <class Out, class Function, class... In, int Operands, std::size_t... I>
    static void run_row(row<Operands> const& r, std::index_sequence<I...> /*operands*/) {
        Function const f = *static_cast<Function const*>(r.functor);
        auto* const out = reinterpret_cast<Out*>(r.data[0]);
        std::int64_t const n = r.count;
        bool const dense = r.strides[0] == 1;
        if (dense && ((r.strides[I + 1] == 1) && ...)) {
            if constexpr (requires { requires Function::has_easy_way; })
                return run_easy<Function>(r.count, out, reinterpret_cast<Out const*>(r.data[1]));
            for (std::int64_t i = 0; i != n; ++i) out[i] = f(reinterpret_cast<In const*>(r.data[I + 1])[i]...);
            return;
        }
        if constexpr (sizeof...(In) == 2) {
            if (dense && r.strides[1] == 1 && r.strides[2] == 0) return run_half<0, Out, Function, In...>(r, f, out);
            if (dense && r.strides[1] == 0 && r.strides[2] == 1) return run_half<1, Out, Function, In...>(r, f, out);
        }
        for (std::int64_t i = 0; i != n; ++i)
            out[i * r.strides[0]] = f(reinterpret_cast<In const*>(r.data[I + 1])[i * r.strides[I + 1]]...);
    }

    /// In blocks: without branches where all numbers of one allow it.
    template <class Function, class T>
    static void run_easy(std::int64_t n, T* out, T const* x) {
        constexpr std::int64_t most_together = 256;
        for (std::int64_t first = 0; first < n; first += most_together) {
            std::int64_t const last = std::min(n, first + most_together);
            int hard = 0;
            for (std::int64_t i = first; i != last; ++i) hard |= Function::is_easy(x[i]) ? 0 : 1;
            if (hard == 0)
                for (std::int64_t i = first; i != last; ++i) out[i] = Function::easy(x[i]);
            else
                for (std::int64_t i = first; i != last; ++i) out[i] = Function{}(x[i]);
        }
    }

    template <int Moving, class Out, class Function, class X, class Y>
    static void run_half(row<3> const& r, Function const& f, Out* out) {
        auto const* const x = reinterpret_cast<X const*>(r.data[1]);
        auto const* const y = reinterpret_cast<Y const*>(r.data[2]);
        X const first = *x;
        Y const second = *y;
        for (std::int64_t i = 0; i != r.count; ++i) {
            if constexpr (Moving == 0) out[i] = f(x[i], second);
            else out[i] = f(first, y[i]);
        }
    }
};

} // namespace ATON_KERNEL_VARIANT

} // namespace aton::runtime::kernels
