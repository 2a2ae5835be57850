// SPDX-License-Identifier: MIT
// Equal results from fewer operators: signs, repeated functions, sums of squares.
// Public header.
#pragma once

#include <cstdint>

#include <aton/fusions/detail/common.hpp>

namespace ATON_NAMESPACE::fusions {

// clang-format off: one row per line
inline constexpr auto arithmetic = rewrites(
    rewrite<"double_negation">([](pattern<7> p, capture<value> x) { return p.op<"Neg">(p.op<"Neg">(x)); }, [](graph<7>, value x) { return x; }),
    rewrite<"add_negation">([](pattern<7> p, capture<value> x, capture<value> y) { return p.op<"Add">(x, p.op<"Neg">(y)); }, [](graph<7> g, value x, value y) { return g.op<"Sub">(x, y); }),
    rewrite<"subtract_negation">([](pattern<7> p, capture<value> x, capture<value> y) { return p.op<"Sub">(x, p.op<"Neg">(y)); }, [](graph<7> g, value x, value y) { return g.op<"Add">(x, y); }),
    rewrite<"multiply_negations">([](pattern<7> p, capture<value> x, capture<value> y) { return p.op<"Mul">(p.op<"Neg">(x), p.op<"Neg">(y)); }, [](graph<7> g, value x, value y) { return g.op<"Mul">(x, y); }),
    rewrite<"absolute_negation">([](pattern<7> p, capture<value> x) { return p.op<"Abs">(p.op<"Neg">(x)); }, [](graph<7> g, value x) { return g.op<"Abs">(x); }),
    rewrite<"repeated_abs">([](pattern<7> p, capture<value> x) { return p.op<"Abs">(p.op<"Abs">(x)); }, [](graph<7> g, value x) { return g.op<"Abs">(x); }),
    rewrite<"repeated_relu">([](pattern<7> p, capture<value> x) { return p.op<"Relu">(p.op<"Relu">(x)); }, [](graph<7> g, value x) { return g.op<"Relu">(x); }),
    rewrite<"repeated_floor">([](pattern<7> p, capture<value> x) { return p.op<"Floor">(p.op<"Floor">(x)); }, [](graph<7> g, value x) { return g.op<"Floor">(x); }),
    rewrite<"repeated_ceil">([](pattern<7> p, capture<value> x) { return p.op<"Ceil">(p.op<"Ceil">(x)); }, [](graph<7> g, value x) { return g.op<"Ceil">(x); }),
    rewrite<"sum_of_squares">([](pattern<18> p, capture<value> x, capture<value> axes, capture<std::int64_t> keep) { return p.op<"ReduceSum">(p.op<"Mul">(x, x), axes, attr::keepdims_i(keep)); }, [](value x, value, std::int64_t) { return x.dtype() == dtype::float32; }, [](graph<18> g, value x, value axes, std::int64_t keep) { return g.op<"ReduceSumSquare">(x, axes, attr::keepdims_i(keep)); }));
// clang-format on

} // namespace ATON_NAMESPACE::fusions
