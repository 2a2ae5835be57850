// SPDX-License-Identifier: MIT
// An honest plugin, compiled with an aton/version.hpp of another version in front of ours.
#include <aton/aton.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

inline constexpr auto rows =
    table(symbolic<"old::op(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Abs">(x); }));

ATON_PLUGIN(rows)
