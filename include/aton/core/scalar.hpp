// SPDX-License-Identifier: MIT
// A number whose type is known at run time: ATen's Scalar (int, float, bool or complex).
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <aton/core/dtype.hpp>
#include <aton/core/exactly_equal.hpp>
#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// ATen's `Scalar`. `to<T>()` converts as C++ does, and takes the real part of a complex number.
class scalar {
public:
    /// The four types of number that a Scalar can have.
    enum class kind : std::uint8_t { integer, floating, boolean, complex };

    constexpr scalar() = default;
    /// From a number of C++; the type decides the kind.
    // NOLINTBEGIN(google-explicit-constructor): a number is a scalar.
    constexpr scalar(bool b) : kind_(kind::boolean), integer_(b ? 1 : 0) {}
    constexpr scalar(int i) : integer_(i) {}
    constexpr scalar(long i) : integer_(i) {}
    constexpr scalar(long long i) : integer_(i) {}
    constexpr scalar(float f) : kind_(kind::floating), real_(static_cast<double>(f)) {}
    constexpr scalar(double f) : kind_(kind::floating), real_(f) {}
    /// A complex number from its two parts.
    // NOLINTEND(google-explicit-constructor)
    static constexpr scalar complex(double real, double imaginary) {
        scalar s(real);
        s.kind_ = kind::complex;
        s.imaginary_ = imaginary;
        return s;
    }

    /// The kind of the number, which takes part in type promotion.
    [[nodiscard]] constexpr kind type() const { return kind_; }
    /// Whether it is an integer; a bool is not.
    [[nodiscard]] constexpr bool is_integral() const { return kind_ == kind::integer; }
    /// Whether it is a real floating-point number.
    [[nodiscard]] constexpr bool is_floating() const { return kind_ == kind::floating; }
    /// Whether it is a bool.
    [[nodiscard]] constexpr bool is_bool() const { return kind_ == kind::boolean; }
    /// Whether it is a complex number, even with an imaginary part of 0.
    [[nodiscard]] constexpr bool is_complex() const { return kind_ == kind::complex; }
    /// The imaginary part; 0 of a number that is not complex.
    [[nodiscard]] constexpr double imaginary() const { return imaginary_; }

    /// The number as a `T`, by static_cast. A value that `T` cannot represent is undefined, as in C++; see `to_saturated`.
    template <class T>
    [[nodiscard]] constexpr T to() const {
        if (kind_ == kind::integer || kind_ == kind::boolean) return static_cast<T>(integer_);
        if constexpr (std::is_same_v<T, bool>) return !exactly_equal(real_, 0);
        else return static_cast<T>(real_);
    }

    /// The same, but numbers out of range become the minimum or maximum of T, and NaN becomes 0.
    template <class T>
    [[nodiscard]] constexpr T to_saturated() const {
        if (kind_ == kind::integer || kind_ == kind::boolean) return static_cast<T>(integer_);
        constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
        constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
        if (!exactly_equal(real_, real_)) return T{0};
        if (real_ <= low) return std::numeric_limits<T>::min();
        return real_ >= high ? std::numeric_limits<T>::max() : static_cast<T>(real_);
    }

    /// Equal as numbers: 1 == 1.0 == true.
    friend constexpr bool operator==(scalar const& a, scalar const& b) {
        bool const exact = a.has_integer() && b.has_integer();
        return (exact ? a.integer_ == b.integer_ : exactly_equal(a.to<double>(), b.to<double>())) &&
               exactly_equal(a.imaginary_, b.imaginary_);
    }

private:
    [[nodiscard]] constexpr bool has_integer() const { return kind_ == kind::integer || kind_ == kind::boolean; }

    kind kind_ = kind::integer;
    std::int64_t integer_ = 0;
    double real_ = 0;
    double imaginary_ = 0;
};

/// The dtype of the number in Python: bool, int64, float64 or complex128.
constexpr dtype dtype_of(scalar const& number) {
    return number.is_bool()       ? dtype::bool_
           : number.is_integral() ? dtype::int64
           : number.is_complex()  ? dtype::complex128
                                  : dtype::float64;
}

} // namespace ATON_NAMESPACE
