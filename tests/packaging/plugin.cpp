// SPDX-License-Identifier: MIT
// A plugin of another project, with one row.
#include <aton/aton.hpp>
#include <aton/plugin.hpp>

using namespace aton::dsl;

namespace {

inline constexpr auto foreign_ops =
    table(symbolic<"foreign_ops::twice(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Mul">(x, 2); }));

} // namespace

ATON_PLUGIN(foreign_ops)
