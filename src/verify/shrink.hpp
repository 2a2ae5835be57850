// SPDX-License-Identifier: MIT
// Shrinks a failing call to a smaller one that still fails.
#pragma once

#include <functional>

#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// `fails` returns whether a changed call still fails; it is called about 150 times at most.
[[nodiscard]] sample shrink(sample const& s, std::function<bool(sample const&)> const& fails);

} // namespace ATON_NAMESPACE::verify
