// SPDX-License-Identifier: MIT
#include <aton/fusions/built_in.hpp>

#include <aton/fusions.hpp>
#include <aton/fusions/recomposition.hpp>

namespace ATON_NAMESPACE::fusions {

rewrites_view built_in_rewrites() noexcept { return detail::all + recomposition; }

} // namespace ATON_NAMESPACE::fusions
