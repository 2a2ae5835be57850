// SPDX-License-Identifier: MIT
// Matrix products on the CPU: floats by Eigen, integers by loops.
#include <aton/runtime/platform.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

// Eigen's functions are templates too, so each instruction set needs its own namespace.
#define ATON_EIGEN_OF(variant) eigen_##variant
#define ATON_EIGEN(variant) ATON_EIGEN_OF(variant)
#define Eigen ATON_EIGEN(ATON_KERNEL_VARIANT) // NOLINT(readability-identifier-naming)

#include "runtime/kernels/elementwise.hpp"

#include "cpu.hpp"
#include "cpu_launch.hpp"
#include "runtime/eigen_core.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

namespace {

using index = Eigen::Index;

template <class T, int Order>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>;
template <class T, int Order>
using view = Eigen::Map<matrix<T, Order> const, 0, Eigen::OuterStride<>>;

/// Calls `f` with the matrix as Eigen supports it: row-major, column-major, or copied if it is neither.
template <class T, class Function>
void with_view(T const* x, index rows, index columns, matrix_strides s, Function const& f) {
    auto const stride = [](std::int64_t by) { return Eigen::OuterStride<>(by); };
    if ((s.column == 1 || columns == 1) && s.row >= 0)
        return f(view<T, Eigen::RowMajor>(x, rows, columns, stride(s.row)));
    if ((s.row == 1 || rows == 1) && s.column >= 0)
        return f(view<T, Eigen::ColMajor>(x, rows, columns, stride(s.column)));
    matrix<T, Eigen::RowMajor> copy(rows, columns);
    for (index i = 0; i != rows; ++i)
        for (index j = 0; j != columns; ++j) copy(i, j) = x[i * s.row + j * s.column];
    f(view<T, Eigen::RowMajor>(copy.data(), rows, columns, stride(columns)));
}

template <class T>
void multiply(matmul_shape const& s, T* out, T const* a, T const* b) {
    with_view(a, s.m, s.k, s.a, [&](auto const& left) {
        with_view(b, s.k, s.n, s.b, [&](auto const& right) {
            Eigen::Map<matrix<T, Eigen::RowMajor>>(out, s.m, s.n).noalias() = left * right;
        });
    });
}

/// Eigen distributes large and single products over the threads; many small ones run in parallel.
template <class T>
void multiply_all(matmul_shape const& s, T* out, T const* a, T const* b) {
    std::int64_t const work = s.m * s.n * s.k;
    constexpr std::int64_t large = std::int64_t{1} << 22;
    auto const run = [&](std::int64_t first, std::int64_t last) {
        row_cursor<3> at(s.batches, first);
        for (; first != last; ++first, at.advance(1))
            multiply(s, out + at.offset(0), a + at.offset(1), b + at.offset(2));
    };
    if (s.batches.count == 1 || work >= large) run(0, s.batches.count);
    else in_parts(s.batches.count, units_for_a_thread(work / 4), run);
}

/// Computes rows of the result as sums of rows of b.
template <class T>
void multiply_integers(matmul_shape const& s, T* out, T const* a, T const* b) {
    using wrapping = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
    auto const wide = [](T v) { return static_cast<wrapping>(static_cast<std::make_unsigned_t<T>>(v)); };
    in_parts(s.batches.count * s.m, units_for_a_thread(s.k * s.n), [&](std::int64_t first, std::int64_t last) {
        for (; first != last; ++first) {
            std::int64_t const batch = first / s.m;
            std::int64_t const row = first % s.m;
            T* const to = out + offset_of(s.batches, 0, batch) + row * s.n;
            T const* const x = a + offset_of(s.batches, 1, batch) + row * s.a.row;
            T const* const y = b + offset_of(s.batches, 2, batch);
            std::fill_n(to, s.n, T{0});
            for (std::int64_t i = 0; i != s.k; ++i) {
                auto const factor = wide(x[i * s.a.column]);
                T const* const from = y + i * s.b.row;
                for (std::int64_t j = 0; j != s.n; ++j)
                    to[j] = static_cast<T>(wide(to[j]) + factor * wide(from[j * s.b.column]));
            }
        }
    });
}

bool launch_matmul(dtype t, matmul_shape const& s, void* out, void const* a, void const* b) {
    bool known = false;
    visit(t, [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
            auto* const to = static_cast<T*>(out);
            auto const* const x = static_cast<T const*>(a);
            auto const* const y = static_cast<T const*>(b);
            if constexpr (std::is_integral_v<T>) multiply_integers(s, to, x, y);
            else multiply_all(s, to, x, y);
            known = true;
        }
    });
    return known;
}

} // namespace

void add_matmul(launches& to) { to.matmul = launch_matmul; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
