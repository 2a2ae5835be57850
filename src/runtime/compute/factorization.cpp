// SPDX-License-Identifier: MIT
// Matrix decompositions on the host, by Eigen if its conventions are those of LAPACK.
#include "runtime/compute/factorization.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <aton/core/error.hpp>

#include "complex.hpp"
#include "host_matrices.hpp"
#include "runtime/eigen.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

template <class T>
std::int32_t factor_lu(Eigen::Map<matrix<T>> a, std::int32_t* pivots, bool exchanges) {
    std::int32_t info = 0;
    for (index k = 0; k != std::min(a.rows(), a.cols()); ++k) {
        index best = k;
        for (index i = k + 1; exchanges && i < a.rows(); ++i)
            if (magnitude(a(i, k)) > magnitude(a(best, k))) best = i;
        pivots[k] = static_cast<std::int32_t>(best + 1);
        if (best != k) a.row(k).swap(a.row(best));
        bool const is_singular = a(k, k) == T{};
        if (is_singular && info == 0) info = static_cast<std::int32_t>(k + 1);
        for (index i = k + 1; i < a.rows(); ++i) {
            T const factor = is_singular ? a(i, k) : a(i, k) / a(k, k);
            a(i, k) = factor; // also of 0, as in LAPACK, whose zeros get their signs by it
            for (index j = k + 1; j < a.cols(); ++j) a(i, j) -= factor * a(k, j);
        }
    }
    return info;
}

template <class T>
std::int32_t factor_cholesky(Eigen::Map<matrix<T>> a) {
    for (index j = 0; j != a.rows(); ++j) {
        double rest = std::real(a(j, j));
        for (index k = 0; k != j; ++k) rest -= std::norm(a(j, k));
        if (!(rest > 0)) {
            a(j, j) = rest; // as LAPACK leaves it
            return static_cast<std::int32_t>(j + 1);
        }
        a(j, j) = std::sqrt(rest);
        for (index i = j + 1; i < a.rows(); ++i) {
            T sum = a(i, j);
            for (index k = 0; k != j; ++k) sum -= a(i, k) * Eigen::numext::conj(a(j, k));
            a(i, j) = sum / a(j, j);
        }
    }
    return 0;
}

} // namespace

dtype widest(dtype t) { return is_complex(t) ? dtype::complex128 : dtype::float64; }

lu_factors lu_factor(tensor const& a, bool exchanges) {
    return in_type(a.dtype(), [&](auto number) -> lu_factors {
        using T = decltype(number);
        auto const lu = matrices<T>::of(a);
        auto const pivots = matrices<std::int32_t>::made(front_of(a), std::min(lu.rows, lu.columns), 1);
        auto const info = matrices<std::int32_t>::made(front_of(a), 1, 1);
        for (index i = 0; i != lu.count(); ++i)
            info.data()[i] = factor_lu<T>(lu[i], pivots.data() + i * pivots.rows, exchanges);
        return {lu.t, pivots.vectors(), info.numbers()};
    });
}

tensor exchange_rows(tensor const& b, tensor const& pivots, bool back) {
    auto const [whole, both] = together(b, pivots.unsqueezed(pivots.rank()));
    return in_type(b.dtype(), [&](auto number) {
        using T = decltype(number);
        auto const out = matrices<T>::of(whole);
        auto const p = matrices<std::int32_t>::of(both);
        for (index i = 0; i != out.count(); ++i)
            for (index k = 0; k != p.rows; ++k) {
                index const at = back ? p.rows - 1 - k : k;
                index const with = index{p[i](at, 0)} - 1;
                if (with < 0 || with >= out.rows || at >= out.rows) throw error("a pivot is out of range");
                if (with != at) out[i].row(at).swap(out[i].row(with));
            }
        return out.t;
    });
}

// By columns, so that two equal rows of a matrix stay equal to the last bit, as in LAPACK: the sums of Eigen's own order would not.
tensor solve_triangle(tensor const& a, tensor const& b, bool upper, bool unit) {
    require_square(a);
    auto const [left, right] = together(a, b);
    if (a.size(a.rank() - 1) != b.size(b.rank() - 2)) throw error("the shapes of the matrices do not match");
    tensor const all = left;
    tensor const given = right;
    return in_type(a.dtype(), [&](auto number) {
        using T = decltype(number);
        auto const from = matrices<T>::of(all);
        auto const out = matrices<T>::of(given);
        for (index i = 0; i != from.count() && out.columns != 0; ++i) {
            auto const factor = from[i];
            auto x = out[i];
            for (index done = 0, n = out.rows; done != n; ++done) {
                index const k = upper ? n - 1 - done : done;
                index const rest = upper ? 0 : k + 1; // the rows that are still to be solved
                if (!unit) x.row(k) /= factor(k, k);
                x.middleRows(rest, n - 1 - done).noalias() -= factor.col(k).segment(rest, n - 1 - done) * x.row(k);
            }
        }
        return out.t;
    });
}

cholesky_factor cholesky(tensor const& a) {
    require_square(a);
    return in_type(a.dtype(), [&](auto number) -> cholesky_factor {
        using T = decltype(number);
        auto const lower = matrices<T>::of(a);
        auto const info = matrices<std::int32_t>::made(front_of(a), 1, 1);
        for (index i = 0; i != lower.count(); ++i) {
            info.data()[i] = factor_cholesky<T>(lower[i]);
            lower[i].template triangularView<Eigen::StrictlyUpper>().setZero();
        }
        return {lower.t, info.numbers()};
    });
}

reflections householder(tensor const& a) {
    return in_type(a.dtype(), [&](auto number) -> reflections {
        using T = decltype(number);
        auto const packed = matrices<T>::of(a);
        auto const tau = matrices<T>::made(front_of(a), std::min(packed.rows, packed.columns), 1);
        for (index i = 0; i != packed.count() && tau.rows != 0; ++i) {
            Eigen::HouseholderQR<matrix<T>> const qr(packed[i]);
            packed[i] = qr.matrixQR();
            tau[i] = qr.hCoeffs().conjugate(); // Eigen's reflectors are the adjoints of LAPACK's
        }
        return {packed.t, tau.vectors()};
    });
}

tensor reflected(reflections const& from, std::int64_t columns) {
    if (from.tau.rank() == 0) throw error("tau has no dimensions");
    return in_type(from.packed.dtype(), [&](auto number) {
        using T = decltype(number);
        auto const a = matrices<T>::of(from.packed);
        auto const tau = matrices<T>::of(from.tau.unsqueezed(from.tau.rank()));
        if (tau.count() != a.count() || tau.rows > std::min(a.rows, a.columns))
            throw error("the shape of tau does not match the reflectors");
        auto const out = matrices<T>::made(front_of(from.packed), a.rows, columns);
        for (index i = 0; i != a.count() && columns != 0; ++i) {
            auto q = out[i];
            q.setIdentity();
            for (index k = tau.rows; k-- != 0;) {
                Eigen::Matrix<T, Eigen::Dynamic, 1> v = a[i].col(k);
                v.head(k).setZero();
                v(k) = T(1);
                matrix<T> const shares = tau[i](k, 0) * (v.adjoint() * q);
                q.noalias() -= v * shares;
            }
        }
        return out.t;
    });
}

singular_values svd(tensor const& a, bool full) {
    return in_type(a.dtype(), [&](auto number) -> singular_values {
        using T = decltype(number);
        auto const from = matrices<T>::of(a);
        index const smaller = std::min(from.rows, from.columns);
        auto const u = matrices<T>::made(front_of(a), from.rows, full ? from.rows : smaller);
        auto const s = matrices<double>::made(front_of(a), smaller, 1);
        auto const vh = matrices<T>::made(front_of(a), full ? from.columns : smaller, from.columns);
        unsigned const which =
            full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV;
        for (index i = 0; i != from.count(); ++i) {
            if (smaller == 0) {
                u[i].setIdentity();
                vh[i].setIdentity();
                continue;
            }
            if (!from[i].allFinite()) throw error("the matrix has elements that are not finite");
            // BDCSVD is faster for large matrices, but takes four times as long to compile; below 16 columns it is JacobiSVD.
            Eigen::JacobiSVD<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>> const of(from[i], which);
            u[i] = of.matrixU();
            s[i] = of.singularValues();
            vh[i] = of.matrixV().adjoint();
        }
        return {u.t, s.vectors(), vh.t};
    });
}

eigenvalues eigh(tensor const& a) {
    require_square(a);
    return in_type(a.dtype(), [&](auto number) -> eigenvalues {
        using T = decltype(number);
        auto const vectors = matrices<T>::of(a);
        auto const values = matrices<double>::made(front_of(a), vectors.rows, 1);
        for (index i = 0; i != vectors.count() && vectors.rows != 0; ++i) {
            if (!vectors[i].allFinite()) throw error("the matrix has elements that are not finite");
            Eigen::SelfAdjointEigenSolver<matrix<T>> const of(vectors[i]);
            values[i] = of.eigenvalues();
            vectors[i] = of.eigenvectors();
        }
        return {values.vectors(), vectors.t};
    });
}

eigenvalues eig(tensor const& a) {
    require_square(a);
    return in_type(a.dtype(), [&](auto number) -> eigenvalues {
        using T = decltype(number);
        auto const from = matrices<T>::of(a);
        auto const values = matrices<complex_number>::made(front_of(a), from.rows, 1);
        auto const vectors = matrices<complex_number>::made(front_of(a), from.rows, from.rows);
        using solver = std::conditional_t<std::is_same_v<T, double>,
                                          Eigen::EigenSolver<matrix<double>>,
                                          Eigen::ComplexEigenSolver<matrix<complex_number>>>;
        for (index i = 0; i != from.count() && from.rows != 0; ++i) {
            if (!from[i].allFinite()) throw error("the matrix has elements that are not finite");
            solver const of(from[i]);
            values[i] = of.eigenvalues();
            vectors[i] = of.eigenvectors();
        }
        return {values.vectors(), vectors.t};
    });
}

} // namespace ATON_NAMESPACE::runtime
