// SPDX-License-Identifier: MIT
// Random operators: aten's dropout, which is random in training only.
// Public header.
#pragma once

#include <optional>
#include <tuple>

#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// In training, dropout is random unless p is 0 or 1.
inline constexpr auto dropout = [](graph<13> g, value x, double p, bool train) -> value {
    if (!train || p == 0) return x;
    if (p == 1) return g.op<"Mul">(x, 0);
    return g.unsupported("dropout in training: export the model in eval mode");
};

inline constexpr auto complex_dropout = [](graph<13> g, complex_value z, double p, bool train) -> complex_value {
    if (train && p != 0) return g.unsupported("dropout of complex numbers in training");
    return z;
};

/// train=None means training, as in ATen's CPU kernel.
inline constexpr auto native_dropout = [](graph<13> g, value x, double p,
                                          std::optional<bool> train) -> std::tuple<value, value> {
    if (is_empty(x)) return {x, x}; // for empty input, ATen's mask does not have dtype bool
    bool const training = train.value_or(true);
    value const y = dropout(g, x, p, training);
    return {y, filled_like(g, x, !training || p == 0, dtype::bool_)};
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto random = table(
    symbolic<"aten::dropout(input, p, train)">(detail::dropout).for_complex(detail::complex_dropout),
    symbolic<"aten::alpha_dropout(input, p, train)">(detail::dropout).for_complex(detail::complex_dropout),
    symbolic<"aten::feature_dropout(input, p, train)">(detail::dropout).for_complex(detail::complex_dropout),
    symbolic<"aten::feature_alpha_dropout(input, p, train)">(detail::dropout).for_complex(detail::complex_dropout),
    symbolic<"aten::native_dropout(input, p, train)">(detail::native_dropout));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
