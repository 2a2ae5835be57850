// SPDX-License-Identifier: MIT
#include <aton/fusions/built_in.hpp>

#include <aton/fusions.hpp>

namespace ATON_NAMESPACE::fusions {

rewrites_view built_in_rewrites() noexcept { return library(); }

} // namespace ATON_NAMESPACE::fusions
