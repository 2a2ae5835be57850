// SPDX-License-Identifier: MIT
// A plugin with rewrites beside a row: one that applies, one that refuses, one that throws, and one of ATen calls.
#include <stdexcept>

#include <aton/aton.hpp>
#include <aton/dsl/rewrite.hpp>
#include <aton/plugin.hpp>

namespace {

using namespace aton::dsl;

constexpr auto mine =
    table(symbolic<"mine::twice(Tensor x) -> Tensor">([](graph<13> g, value x) { return g.op<"Add">(x, x); }));

constexpr auto my_rewrites =
    rewrites(rewrite<"mine.double">([](pattern<13> p, capture<value> x) { return p.op<"Add">(x, x); },
                                    [](value x) { return x.dtype() == dtype::float32; },
                                    [](graph<13> g, value x) { return g.op<"Mul">(x, g.scalar_like(2, x)); }),
             rewrite<"mine.refuses">([](pattern<13> p, capture<value> x) { return p.op<"Sin">(p.op<"Cos">(x)); },
                                     [](graph<13> g, value) -> value { return g.unsupported("sin(cos(x))"); }),
             rewrite<"mine.throws">([](pattern<13> p, capture<value> x) { return p.op<"Cos">(p.op<"Sin">(x)); },
                                    [](graph<13>, value) -> value { throw std::runtime_error("out of luck"); }),
             rewrite<"mine.calls">(
                 [](pattern<13> p, capture<value> x, capture<double> by) {
                     return p.call<"mine::scaled(Tensor x, float by) -> Tensor">(p.call<"aten::relu">(x), by);
                 },
                 [](value, double by) { return by > 0; },
                 [](graph<13> g, value x, double by) { return g.op<"ThresholdedRelu">(x, attr::alpha_f(by)); }));

} // namespace

ATON_PLUGIN(mine, my_rewrites)
