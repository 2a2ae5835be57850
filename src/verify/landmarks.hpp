// SPDX-License-Identifier: MIT
// Elements close to the numbers that a call has as arguments: thresholds, limits, margins. A row that is wrong only there is wrong for few of
// the elements that chance draws.
#pragma once

#include <string_view>
#include <vector>

#include <aton/runtime/aten_operator.hpp>

#include "random_source.hpp"

namespace ATON_NAMESPACE::verify {

/// The real numbers among the arguments of a call with this schema, defaults included; their products and quotients, because thresholds are
/// compared with elements that have been scaled. Without extreme numbers.
[[nodiscard]] std::vector<double> landmarks_of(std::string_view schema,
                                               std::vector<runtime::aten_argument> const& arguments);

/// A contiguous copy in which some elements are a landmark, or within one percent of it, or the negative of such a number, as far as the
/// range allows them. Tensors that are neither of floats nor of integers are not changed.
[[nodiscard]] runtime::tensor with_landmarks(random_source& random, runtime::tensor const& x,
                                             std::vector<double> const& landmarks, element_range const& range);

} // namespace ATON_NAMESPACE::verify
