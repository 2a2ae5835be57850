// SPDX-License-Identifier: MIT
// Tensors as matrices on the host, in float64 or complex128, for decompositions.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <type_traits>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>

#include "runtime/eigen.hpp"

namespace ATON_NAMESPACE::runtime {

using complex_number = std::complex<double>;
using index = Eigen::Index;

template <class T>
using matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class T>
constexpr dtype type_of() {
    if constexpr (std::is_same_v<T, complex_number>) return dtype::complex128;
    else if constexpr (std::is_same_v<T, std::int32_t>) return dtype::int32;
    else return dtype::float64;
}

/// A tensor on the host as a sequence of matrices.
template <class T>
struct matrices {
    tensor t;
    index rows = 0;
    index columns = 0;

    /// Zero matrices.
    static matrices made(sizes front, index rows, index columns) {
        front.insert(front.end(), {rows, columns});
        matrices m{tensor::empty(type_of<T>(), front), rows, columns};
        std::fill_n(m.data(), m.t.count(), T{});
        return m;
    }
    /// A copy of a tensor.
    static matrices of(tensor const& x) {
        if (x.rank() < 2) throw error("a matrix must have at least 2 dimensions");
        std::size_t const n = x.rank();
        return {clone(cast(to_host(x), type_of<T>())), x.size(n - 2), x.size(n - 1)};
    }

    [[nodiscard]] T* data() const { return reinterpret_cast<T*>(t.bytes()); } // NOLINT(*-reinterpret-cast): as laid out
    [[nodiscard]] index count() const {
        index n = 1;
        for (std::size_t i = 0; i + 2 < t.rank(); ++i) n *= t.size(i);
        return n;
    }
    [[nodiscard]] Eigen::Map<matrix<T>> operator[](index i) const {
        return {data() + i * rows * columns, rows, columns};
    }
    /// Removes the last dimension, which must have size 1.
    [[nodiscard]] tensor vectors() const { return t.squeezed(t.rank() - 1); }
    [[nodiscard]] tensor numbers() const { return vectors().squeezed(t.rank() - 2); }
};

inline sizes front_of(tensor const& x) {
    return {x.sizes().begin(), x.sizes().end() - std::min<std::ptrdiff_t>(2, static_cast<std::ptrdiff_t>(x.rank()))};
}

/// Calls `f` with a number of the type in which a dtype is computed.
template <class Function>
auto in_type(dtype t, Function const& f) {
    if (!is_floating(t) && !is_complex(t)) throw error("matrices of " + std::string(name(t)) + " cannot be decomposed");
    return is_complex(t) ? f(complex_number{}) : f(double{});
}

inline void require_square(tensor const& x) {
    if (x.rank() < 2 || x.size(x.rank() - 2) != x.size(x.rank() - 1))
        throw error("the matrices " + to_string(x.sizes()) + " are not square");
}

/// The magnitude by which LAPACK compares complex numbers.
inline double magnitude(double x) { return std::abs(x); }
inline double magnitude(complex_number const& x) { return std::abs(x.real()) + std::abs(x.imag()); }

/// Broadcasts the leading dimensions of both.
inline std::pair<tensor, tensor> together(tensor const& a, tensor const& b) {
    sizes const front = broadcast(front_of(a), front_of(b));
    auto const spread = [&](tensor const& x) {
        sizes to = front;
        to.insert(to.end(), x.sizes().end() - 2, x.sizes().end());
        return x.expanded(to);
    };
    if (a.rank() < 2 || b.rank() < 2) throw error("a matrix must have at least 2 dimensions");
    return {spread(a), spread(b)};
}

} // namespace ATON_NAMESPACE::runtime
