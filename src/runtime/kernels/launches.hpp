// SPDX-License-Identifier: MIT
// The table of kernels that a device provides to launched_kernels.hpp: functions of raw memory, not of
// tensors.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/kernels/loop.hpp"
#include <aton/core/dtype.hpp>
#include <aton/runtime/kernels.hpp>

namespace ATON_NAMESPACE::runtime::kernels {

/// Loops over the operand: the dimensions that remain, in the order of the contiguous result, and those that are
/// reduced.
struct reduce_shape {
    loop<1> kept;
    loop<1> reduced_dims;
};

/// Lines along an axis of a result and an operand: their starts, and the strides along them.
struct line_shape {
    loop<2> starts;
    std::int64_t length = 0;
    std::int64_t strides[2] = {};
};

/// A contiguous tensor, split at an axis into outer size, axis and inner size.
struct axis_shape {
    std::int64_t outer = 0;
    std::int64_t length = 0;
    std::int64_t inner = 0;
};

/// Contiguous rows.
struct sort_shape {
    std::int64_t rows = 0;
    std::int64_t length = 0;
    bool descending = false;
};

/// The strides of a matrix, in elements.
struct matrix_strides {
    std::int64_t row = 0;
    std::int64_t column = 0;
};
/// Products of [m, k] and [k, n]. The loop iterates over the first elements of the matrices of the result, which are
/// contiguous, of a and of b.
struct matmul_shape {
    loop<3> batches;
    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    matrix_strides a;
    matrix_strides b;
};

/// Windows over two operands: a loop over their starts, with the contiguous result first, and the elements of one
/// window with the strides of each operand.
struct window_shape {
    loop<3> starts;
    loop<2> places;
};

/// The kernels of a device, one `launch_...<Launcher>` each. A launcher is a class of static functions that run functors:
///     run(loop, out, f, in...)                out[...] = f(in[...]...)
///     for_each(count, f)                      f(0), ..., f(count - 1)
///     reduce<Functor>(shape, out, x)          kernels/reduce.hpp: identity, load, combine, finish
///     scan<Functor>(lines, out, x)            kernels/scan.hpp: the same functions
///     softmax<Parts>(shape, out, x)           kernels/scan.hpp
///     sort(shape, values, indices, x)         by sort_key of kernels/sort.hpp
///     put(loop, into, f, positions, values)   into[p] = f(into[p], value)
/// It also defines `wide`, the accumulator of float32 sums, and `takes_halves`; each launcher has its own matrix product.
///
/// A function that returns bool returns false, and does nothing, if it does not support the dtype. Those that only move
/// elements take their size in bytes. Results come first in loops and in parameters.
struct launches {
    /// Whether kernels support float16 and bfloat16. If not, operands are converted to float32 and results back.
    bool takes_halves = false;

    bool (*unary)(unary_op op, dtype t, loop<2> const& l, void* out, void const* x,
                  unary_parameters const& p) = nullptr;
    bool (*binary)(binary_op op, dtype t, loop<3> const& l, void* out, void const* x, void const* y) = nullptr;
    /// For functions with `is_special`.
    bool (*special_unary)(unary_op op, dtype t, loop<2> const& l, void* out, void const* x,
                          unary_parameters const& p) = nullptr;
    bool (*special_binary)(binary_op op, dtype t, loop<3> const& l, void* out, void const* x, void const* y) = nullptr;
    void (*select)(std::size_t width, loop<4> const& l, void* out, bool const* c, void const* yes,
                   void const* no) = nullptr;
    void (*copy)(std::size_t width, loop<2> const& l, void* out, void const* x) = nullptr;
    /// One of the dtypes is the intermediate type of the other: see kernels/cast.hpp.
    bool (*cast)(dtype from, dtype to, loop<2> const& l, void* out, void const* x, bool saturate) = nullptr;
    bool (*reduce)(reduce_op op, dtype t, reduce_shape const& s, void* out, void const* x) = nullptr;
    bool (*arg_reduce)(reduce_op op, bool last, dtype t, reduce_shape const& s, std::int64_t* out,
                       void const* x) = nullptr;
    bool (*scan)(scan_op op, dtype t, line_shape const& s, void* out, void const* x) = nullptr;
    bool (*sort)(dtype t, sort_shape const& s, void* values, std::int64_t* indices, void const* x) = nullptr;
    bool (*softmax)(bool logarithm, dtype t, axis_shape const& s, void* out, void const* x) = nullptr;
    bool (*matmul)(dtype t, matmul_shape const& s, void* out, void const* a, void const* b) = nullptr;
    /// Optional, as in device_kernels.
    bool (*sum_of_products)(dtype t, window_shape const& s, void* out, void const* x, void const* y) = nullptr;
    bool (*first_largest)(dtype t, window_shape const& s, void* values, std::int64_t* numbers, void const* x,
                          std::int64_t const* beside) = nullptr;
    /// The loop iterates over the result and the positions, `at` over x.
    void (*take)(std::size_t width, loop<2> const& l, void* out, std::int64_t const* positions, loop<1> const& at,
                 void const* x) = nullptr;
    /// The loop iterates over positions and values.
    bool (*put)(put_op op, dtype t, loop<2> const& l, void* into, std::int64_t const* positions,
                void const* values) = nullptr;
    void (*range)(std::int64_t count, std::int64_t* out) = nullptr;
    void (*random_bits)(std::int64_t count, std::uint64_t seed, std::uint32_t* out) = nullptr;
};

} // namespace ATON_NAMESPACE::runtime::kernels
