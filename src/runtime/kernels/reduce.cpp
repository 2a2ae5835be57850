// SPDX-License-Identifier: MIT
// Reductions on the CPU.
#include <type_traits>

#include "cpu.hpp"
#include "cpu_launch.hpp"
#include "cpu_reduce.hpp"
#include "reduce_line.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

template <class Functor, class Out, class T>
struct reducer_of {
    using accumulator = typename Functor::accumulator;
    static_assert(sizeof(accumulator) <= 16 && std::is_trivially_copyable_v<accumulator>);

    static void start(void* sums, std::int64_t count) {
        for (std::int64_t j = 0; j != count; ++j) static_cast<accumulator*>(sums)[j] = Functor::identity();
    }
    static void add_lines(void* sums, void const* x, line_block const& b) {
        auto* const to = static_cast<accumulator*>(sums);
        auto const* from = static_cast<T const*>(x);
        for (std::int64_t j = 0; j != b.count; ++j, from += b.stride)
            to[j] = Functor::combine(to[j], line_reduction<Functor>::of(from, b.n, b.step, b.index));
    }
    static void add_columns(void* sums, void const* x, line_block const& b) {
        auto* const to = static_cast<accumulator*>(sums);
        auto const* from = static_cast<T const*>(x);
        for (std::int64_t i = 0; i != b.n; ++i, from += b.step)
            for (std::int64_t j = 0; j != b.count; ++j)
                to[j] = Functor::combine(to[j], Functor::load(from[j], b.index + i));
    }
    static void merge(void* sums, void const* others, std::int64_t count) {
        auto* const to = static_cast<accumulator*>(sums);
        auto const* const from = static_cast<accumulator const*>(others);
        for (std::int64_t j = 0; j != count; ++j) to[j] = Functor::combine(to[j], from[j]);
    }
    static void finish(void* out, void const* sums, std::int64_t count) {
        auto const* const from = static_cast<accumulator const*>(sums);
        for (std::int64_t j = 0; j != count; ++j) static_cast<Out*>(out)[j] = Functor::finish(from[j]);
    }
};

struct reduce_launcher : cpu_launcher {
    template <class Functor, class Out, class T>
    static void reduce(reduce_shape const& s, Out* out, T const* x) {
        using r = reducer_of<Functor, Out, T>;
        reducer const by{sizeof(T),
                         sizeof(typename Functor::accumulator),
                         sizeof(Out),
                         r::start,
                         r::add_lines,
                         r::add_columns,
                         r::merge,
                         r::finish};
        run_reducer(by, s, out, x);
    }
};

} // namespace

void add_reduce(launches& to) {
    to.reduce = launch_reduce<reduce_launcher>;
    to.arg_reduce = launch_arg_reduce<reduce_launcher>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
