// SPDX-License-Identifier: MIT
// L D L^T of symmetric matrices with the pivots of LAPACK's sytrf.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "runtime/compute/factorization.hpp"
#include <aton/core/error.hpp>

#include "host_matrices.hpp"
#include "runtime/eigen.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

/// Bunch-Kaufman diagonal pivoting, with blocks of size 1 and 2. A pair of negative pivots denotes a block of size 2.
template <class T>
std::int32_t factor_ldl(Eigen::Map<matrix<T>> a, std::int32_t* pivots) {
    double const alpha = (1 + std::sqrt(17.0)) / 8;
    index const n = a.rows();
    std::int32_t info = 0;
    for (index k = 0; k < n;) {
        index step = 1;
        index with = k;
        index largest = k;
        double in_column = 0;
        for (index i = k + 1; i < n; ++i)
            if (magnitude(a(i, k)) > in_column) in_column = magnitude(a(largest = i, k));
        double const here = magnitude(a(k, k));
        if (std::max(here, in_column) == 0) {
            if (info == 0) info = static_cast<std::int32_t>(k + 1);
        } else if (here < alpha * in_column) {
            double in_row = 0;
            for (index j = k; j < largest; ++j) in_row = std::max(in_row, magnitude(a(largest, j)));
            for (index i = largest + 1; i < n; ++i) in_row = std::max(in_row, magnitude(a(i, largest)));
            if (here < alpha * in_column * (in_column / in_row)) {
                with = largest;
                if (magnitude(a(largest, largest)) < alpha * in_row) step = 2;
            }
        }
        index const moved = k + step - 1;
        if (with != moved) {
            for (index i = with + 1; i < n; ++i) std::swap(a(i, moved), a(i, with));
            for (index i = moved + 1; i < with; ++i) std::swap(a(i, moved), a(with, i));
            std::swap(a(moved, moved), a(with, with));
            if (step == 2) std::swap(a(k + 1, k), a(with, k));
        }
        if (step == 1 && a(k, k) != T{}) {
            for (index j = k + 1; j < n; ++j) {
                T const factor = a(j, k) / a(k, k);
                for (index i = j; i < n; ++i) a(i, j) -= a(i, k) * factor;
            }
            for (index i = k + 1; i < n; ++i) a(i, k) /= a(k, k);
        } else if (step == 2) {
            T const across = a(k + 1, k);
            T const d11 = a(k + 1, k + 1) / across;
            T const d22 = a(k, k) / across;
            T const scale = T(1) / (d11 * d22 - T(1)) / across;
            for (index j = k + 2; j < n; ++j) {
                T const first = scale * (d11 * a(j, k) - a(j, k + 1));
                T const second = scale * (d22 * a(j, k + 1) - a(j, k));
                for (index i = j; i < n; ++i) a(i, j) -= a(i, k) * first + a(i, k + 1) * second;
                a(j, k) = first;
                a(j, k + 1) = second;
            }
        }
        auto const pivot = static_cast<std::int32_t>(with + 1);
        pivots[k] = step == 1 ? pivot : -pivot;
        if (step == 2) pivots[k + 1] = -pivot;
        k += step;
    }
    return info;
}

template <class T>
void solve_ldl(Eigen::Map<matrix<T>> const& a, std::int32_t const* pivots, Eigen::Map<matrix<T>> b) {
    index const n = a.rows();
    auto const partner = [&](index k) {
        index const p = std::abs(pivots[k]) - 1;
        if (p < 0 || p >= n) throw error("a pivot is out of range");
        return p;
    };
    auto const below = [&](index k, index from) { return a.col(k).tail(n - from); };
    for (index k = 0; k < n;) {
        if (pivots[k] > 0 || k + 1 == n) {
            b.row(k).swap(b.row(partner(k)));
            b.bottomRows(n - k - 1).noalias() -= below(k, k + 1) * b.row(k);
            b.row(k) /= a(k, k);
            ++k;
            continue;
        }
        b.row(k + 1).swap(b.row(partner(k)));
        b.bottomRows(n - k - 2).noalias() -= below(k, k + 2) * b.row(k);
        b.bottomRows(n - k - 2).noalias() -= below(k + 1, k + 2) * b.row(k + 1);
        Eigen::Matrix<T, 2, 2> block;
        block << a(k, k), a(k + 1, k), a(k + 1, k), a(k + 1, k + 1);
        matrix<T> const both = block.inverse() * b.middleRows(k, 2);
        b.middleRows(k, 2) = both;
        k += 2;
    }
    for (index k = n - 1; k >= 0;) {
        index const first = pivots[k] > 0 || k == 0 ? k : k - 1;
        for (index j = first; j <= k; ++j) b.row(j) -= below(j, k + 1).transpose() * b.bottomRows(n - k - 1);
        b.row(k).swap(b.row(partner(k)));
        k = first - 1;
    }
}

} // namespace

lu_factors ldl_factor(tensor const& a) {
    require_square(a);
    return in_type(a.dtype(), [&](auto number) -> lu_factors {
        using T = decltype(number);
        auto const ld = matrices<T>::of(a);
        auto const pivots = matrices<std::int32_t>::made(front_of(a), ld.rows, 1);
        auto const info = matrices<std::int32_t>::made(front_of(a), 1, 1);
        for (index i = 0; i != ld.count(); ++i) info.data()[i] = factor_ldl<T>(ld[i], pivots.data() + i * ld.rows);
        return {ld.t, pivots.vectors(), info.numbers()};
    });
}

tensor ldl_solve(tensor const& ld, tensor const& pivots, tensor const& b) {
    require_square(ld);
    auto const pair = together(ld, b);
    if (ld.size(ld.rank() - 1) != b.size(b.rank() - 2)) throw error("the shapes of the matrices do not match");
    sizes of_pivots = front_of(pair.first);
    of_pivots.push_back(ld.sizes().back());
    tensor const all_pivots = pivots.expanded(of_pivots);
    return in_type(ld.dtype(), [&](auto number) {
        using T = decltype(number);
        auto const from = matrices<T>::of(pair.first);
        auto const out = matrices<T>::of(pair.second);
        auto const p = matrices<std::int32_t>::of(all_pivots.unsqueezed(all_pivots.rank()));
        for (index i = 0; i != from.count() && out.columns != 0; ++i)
            solve_ldl<T>(from[i], p.data() + i * p.rows, out[i]);
        return out.t;
    });
}

} // namespace ATON_NAMESPACE::runtime
