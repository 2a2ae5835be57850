// SPDX-License-Identifier: MIT
// Window kernels on the CPU: one row of windows at a time, one element of the windows after the other.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/elementwise.hpp"

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

constexpr std::int64_t max_together = 256;

template <class T>
T added(T sum, T x, T y) {
    if constexpr (std::is_same_v<T, float>) return math::mul_add(x, y, sum);
    else return sum + x * y;
}

/// Calls `f` with the distance of two elements, as a constant if it is a common one.
template <class Function>
void with_stride(std::int64_t stride, Function const& f) {
    if (stride == 1) f(std::integral_constant<std::int64_t, 1>());
    else if (stride == 2) f(std::integral_constant<std::int64_t, 2>());
    else f(stride);
}

/// The offsets of the elements of a window in both operands.
struct places_of {
    explicit places_of(loop<2> const& l) : count(l.count), x(count), y(count) {
        row_cursor<2> at(l, 0);
        for (std::int64_t k = 0; k != count; ++k, at.advance(1)) {
            x[k] = at.offset(0);
            y[k] = at.offset(1);
        }
    }
    std::int64_t count;
    scratch<std::int64_t> x;
    scratch<std::int64_t> y;
};

/// Calls `f(n, at)` for rows of at most `max_together` windows.
template <class Function>
void for_rows(window_shape const& s, Function const& f) {
    in_parts(s.starts.count, units_for_a_thread(s.places.count), [&](std::int64_t first, std::int64_t last) {
        row_cursor<3> at(s.starts, first);
        while (first != last) {
            std::int64_t const n = std::min({last - first, at.left(), max_together});
            f(n, at);
            first += n;
            at.advance(n);
        }
    });
}

template <class T>
void sum_of_products(window_shape const& s, T* out, T const* x, T const* y) {
    places_of const places(s.places);
    int const inner = s.starts.rank - 1;
    std::int64_t const step_of_y = s.starts.strides[2][inner];
    with_stride(s.starts.strides[1][inner], [&](auto step) {
        for_rows(s, [&](std::int64_t n, row_cursor<3> const& at) {
            T sums[max_together];
            for (std::int64_t k = 0; k != places.count; ++k) {
                T const* const a = x + at.offset(1) + places.x[k];
                T const* const b = y + at.offset(2) + places.y[k];
                if (k == 0)
                    for (std::int64_t j = 0; j != n; ++j) sums[j] = a[j * step] * b[j * step_of_y];
                else if (T const factor = *b; step_of_y == 0)
                    for (std::int64_t j = 0; j != n; ++j) sums[j] = added(sums[j], a[j * step], factor);
                else
                    for (std::int64_t j = 0; j != n; ++j) sums[j] = added(sums[j], a[j * step], b[j * step_of_y]);
            }
            std::copy_n(sums, n, out + at.offset(0));
        });
    });
}

template <class T>
void first_largest(window_shape const& s, T* values, std::int64_t* numbers, T const* x, std::int64_t const* beside) {
    using place = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
    places_of const places(s.places);
    int const inner = s.starts.rank - 1;
    with_stride(s.starts.strides[1][inner], [&](auto step) {
        for_rows(s, [&](std::int64_t n, row_cursor<3> const& at) {
            T best[max_together];
            place where[max_together];
            T const* const from = x + at.offset(1);
            for (std::int64_t j = 0; j != n; ++j) best[j] = from[places.x[0] + j * step];
            for (std::int64_t j = 0; j != n; ++j) where[j] = 0;
            for (std::int64_t k = 1; k != places.count; ++k) {
                T const* const a = from + places.x[k];
                for (std::int64_t j = 0; j != n; ++j) {
                    T const value = a[j * step];
                    T const highest = best[j];
                    bool const better = value > highest || is_nan(value); // the last NaN wins
                    best[j] = better ? value : highest;
                    where[j] = better ? static_cast<place>(k) : where[j];
                }
            }
            std::int64_t const* const number = beside + at.offset(2);
            for (std::int64_t j = 0; j != n; ++j) {
                values[at.offset(0) + j] = best[j];
                numbers[at.offset(0) + j] = number[j * s.starts.strides[2][inner] + places.y[where[j]]];
            }
        });
    });
}

/// Calls `f(type_tag<T>())` for floats.
template <class Function>
bool with_float(dtype t, Function const& f) {
    if (t == dtype::float32) f(type_tag<float>());
    else if (t == dtype::float64) f(type_tag<double>());
    else return false;
    return true;
}

bool launch_sum_of_products(dtype t, window_shape const& s, void* out, void const* x, void const* y) {
    return with_float(t, [&]<class T>(type_tag<T> /*of*/) {
        sum_of_products(s, static_cast<T*>(out), static_cast<T const*>(x), static_cast<T const*>(y));
    });
}

bool launch_first_largest(dtype t, window_shape const& s, void* values, std::int64_t* numbers, void const* x,
                          std::int64_t const* beside) {
    return with_float(t, [&]<class T>(type_tag<T> /*of*/) {
        first_largest(s, static_cast<T*>(values), numbers, static_cast<T const*>(x), beside);
    });
}

} // namespace

void add_windows(launches& to) {
    to.sum_of_products = launch_sum_of_products;
    to.first_largest = launch_first_largest;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
