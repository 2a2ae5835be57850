// SPDX-License-Identifier: MIT
// Bounds how far two correct computations of a call may differ, by the effect of rounding errors in the inputs.
#pragma once

#include <string_view>
#include <vector>

#include <aton/verify/check.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

inline constexpr double roundings_per_element = 4; ///< by either side, in the computation of an element

/// What a bound may rely on.
struct bounded_call {
    bool is_reference =
        true; ///< false: `call` is the row that is checked, and its distance from the results is no bound
    bool is_steep =
        false; ///< the effect of one rounding of the inputs may be far from linear: a softmax of large scores
};

/// For each result, the error that each of its elements may have according to the conditioning of the operator at this call: in a stable
/// computation, rounding an intermediate value is no worse than rounding the inputs. `call` is run in float64, on the inputs and on
/// inputs with random perturbations so small that the operator is linear there; the change is scaled to a unit roundoff of the narrowest
/// dtype involved. A change that is not proportional to the step adds nothing to the bound: it is a discontinuity or, where it is small,
/// the rounding of float64. Empty if no bound can be computed (no floats, other sizes in float64, or the float64 call is rejected).
[[nodiscard]] std::vector<element_bounds> rounding_bounds(reference const& call, sample const& s,
                                                          std::string_view schema,
                                                          std::vector<runtime::value> const& results,
                                                          bounded_call const& of = {});

/// Whether tiny perturbations of the inputs in float64 change an element of the results to another number: rounding decides on it, such as
/// on the sign of a column of Q whose pivot cancels.
[[nodiscard]] bool is_discontinuous(reference const& call, sample const& s, std::string_view schema,
                                    std::vector<runtime::value> const& results);

/// The results of `call` in float64 (complex128), not rounded to the dtypes of `results`; empty if it has none with the same sizes (as above).
[[nodiscard]] std::vector<runtime::value> in_float64(reference const& call, sample const& s, std::string_view schema,
                                                     std::vector<runtime::value> const& results);

} // namespace ATON_NAMESPACE::verify
