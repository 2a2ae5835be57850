// SPDX-License-Identifier: MIT
// How far two right computations of a call may be apart: what the operator makes of inputs that are off by a rounding.
#pragma once

#include <string_view>
#include <vector>

#include <aton/verify/check.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// For each result the error that each of its elements may have, by the conditioning of the operator at this call: rounding an
/// intermediate value is as bad as rounding inputs is, in a computation that is stable. `call` runs in float64, where the call can be
/// widened, on the inputs and on some that are off in random directions by so little that it is linear there; the change is scaled to a
/// unit roundoff of the narrowest dtype that takes part. What is not proportional to the step is a jump, which no rounding excuses.
/// Where nothing can be said (no floats, other sizes in float64, a call that is refused there) there are no bounds.
[[nodiscard]] std::vector<element_bounds> rounding_bounds(reference const& call, sample const& s,
                                                          std::string_view schema,
                                                          std::vector<runtime::value> const& results);

} // namespace ATON_NAMESPACE::verify
