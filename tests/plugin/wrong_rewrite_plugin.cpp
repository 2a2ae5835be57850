// SPDX-License-Identifier: MIT
// A plugin with two rewrites that change nodes: one keeps the numbers, the other one is wrong.
#include <aton/aton.hpp>
#include <aton/dsl/rewrite.hpp>
#include <aton/plugin.hpp>

namespace {

using namespace aton::dsl;

constexpr auto mine =
    table(symbolic<"mine::twice(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Add">(x, x); }));

constexpr auto my_rewrites = rewrites(
    rewrite<"mine.clip">([](pattern<13> p, capture<value> x) { return p.op<"Relu">(x); },
                         [](value x) { return x.dtype() == dtype::float32; },
                         [](graph<13> g, value x) { return g.op<"Max">(std::vector{x, g.scalar_like(0, x)}); }),
    rewrite<"mine.wrong">([](pattern<13> p, capture<value> x) { return p.op<"Max">(x, 0); },
                          [](value x) { return x.dtype() == dtype::float32; },
                          [](graph<13> g, value x) { return g.op<"Abs">(x); }));

} // namespace

ATON_PLUGIN(mine, my_rewrites)
