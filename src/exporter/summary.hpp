// SPDX-License-Identifier: MIT
// One line about operators that cannot be exported.
#pragma once

#include <string>
#include <vector>

#include <aton/exporter/exporter.hpp>

namespace ATON_NAMESPACE::exporter {

/// "2 operators cannot be converted at opset 20: aten::foo (no mapping; nearest aten::fooo; 3 times, first at model.py:12 in forward); ..." The list must not be empty;
/// `what` is "cannot be converted at opset 20".
[[nodiscard]] std::string summary(std::vector<unconvertible> const& all, std::string const& what);

/// Counts another use of an operator that cannot be exported. A place that it already has is not added again.
void add_use(unconvertible& to, refused_call call, std::string const& place);

} // namespace ATON_NAMESPACE::exporter
