// SPDX-License-Identifier: MIT
// A valid plugin, compiled with an aton/version.hpp of another version.
#include <aton/aton.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

inline constexpr auto rows =
    table(symbolic<"old::op(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Abs">(x); }));

ATON_PLUGIN(rows)
