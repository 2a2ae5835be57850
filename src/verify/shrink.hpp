// SPDX-License-Identifier: MIT
// Makes a call that fails as small as it can be while it still fails.
#pragma once

#include <functional>

#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// `fails` says whether a call that was changed still does; it is asked a few hundred times at most.
[[nodiscard]] sample shrink(sample const& s, std::function<bool(sample const&)> const& fails);

} // namespace ATON_NAMESPACE::verify
