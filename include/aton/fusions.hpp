// SPDX-License-Identifier: MIT
// The built-in rewrites: standard operators instead of the formulas that programs contain.
// Public header.
#pragma once

#include <array>
#include <span>

#include <aton/fusions/activation.hpp>
#include <aton/fusions/arithmetic.hpp>
#include <aton/fusions/attention.hpp>
#include <aton/fusions/cache.hpp>
#include <aton/fusions/heads.hpp>
#include <aton/fusions/masks.hpp>
#include <aton/fusions/normalization.hpp>
#include <aton/fusions/rotary.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

inline constexpr auto all = activation + normalization + rotary + attention + cache + heads + masks + arithmetic;

} // namespace detail

/// Every built-in rewrite of nodes. Of several that match a node, the first one is applied.
constexpr rewrites_view library() { return detail::all; }

} // namespace ATON_NAMESPACE::fusions
