// SPDX-License-Identifier: MIT
// Strings that code makes of values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "code_position.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

/// A string, or one that is not known, such as the text of a tensor: it may only be printed, raised or passed on.
[[nodiscard]] value made_text(code_position const& at, std::optional<std::string> text);
/// torch.format("a {} b", x)
[[nodiscard]] value format(code_position const& at, std::vector<value> const& x);
/// "%d of %s" % (a, b)
[[nodiscard]] value format_percent(code_position const& at, std::string const& pattern, std::vector<value> given);

} // namespace ATON_NAMESPACE::torchscript
