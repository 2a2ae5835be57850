// SPDX-License-Identifier: MIT
// Floating-point numbers that must be equal in every bit that counts, without the warning that `==` gives (-Wfloat-equal).
// Internal header.
#pragma once

#include <type_traits>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// `a == b`, where no tolerance is meant: NaN equals nothing, -0 equals 0.
template <class T>
constexpr bool exactly_equal(T a, std::type_identity_t<T> b) {
    return a <= b && b <= a;
}

} // namespace ATON_NAMESPACE
