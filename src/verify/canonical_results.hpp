// SPDX-License-Identifier: MIT
// Results whose choice is arbitrary in a form that does not depend on the choice.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// How the results of an operator are compared; `plain`: element by element.
enum class result_form : std::uint8_t {
    plain,
    eigenvectors, ///< values w and vectors V become w, V diag(w) V^H, V^H V
    /// Q, R of matrices that are not of full rank, whose columns of Q and signs of R are arbitrary, become Q^H Q, R^H R, Q R.
    orthogonal_factors,
    reflectors, ///< the factors that geqrf gives: where rounding decides on their signs, R^H R in the place of both
    inverse,    ///< an inverse and info become zeros, where info says that there is no inverse, and info
    singular_vectors, ///< U, S, V^H become U diag(S) V^H, S, U^H U, V^H V; so do U, S, V of the deprecated svd
};

/// The form that a rule names after `result:`.
[[nodiscard]] result_form form_of(std::string_view name);

/// Whether the results may depend on rounding, at calls where the operator is discontinuous.
[[nodiscard]] constexpr bool depends_on_rounding(result_form f) {
    return f == result_form::orthogonal_factors || f == result_form::reflectors;
}

/// The results in this form, without what rounding decides on if it decides at this call; unchanged if vectors are missing or their sizes do not fit.
[[nodiscard]] std::vector<runtime::value> canonical(std::vector<runtime::value> given, result_form form,
                                                    std::string_view overload, bool by_rounding = false);

} // namespace ATON_NAMESPACE::verify
