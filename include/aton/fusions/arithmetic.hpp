// SPDX-License-Identifier: MIT
// Equal results from fewer operators: signs, repeated functions, sums of squares.
// Public header.
#pragma once

#include <cstdint>

#include <aton/fusions/detail/common.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

/// The square of the magnitude of a complex number in float32, which is computed as the norm of its parts in float64.
inline constexpr auto squared_modulus = [](pattern<18> p, capture<value> re, capture<value> im,
                                           capture<integers> re_axis, capture<integers> im_axis,
                                           capture<std::int64_t> axis, capture<integers> reduced) {
    auto const parts =
        p.op<"Concat">(p.op<"Unsqueeze">(re, re_axis), p.op<"Unsqueeze">(im, im_axis), attr::axis_i(axis));
    auto const norm = p.op<"ReduceL2">(
        p.op<"Cast">(parts, attr::to_i(dtype_c<dtype::float64>)), reduced, attr::keepdims_i(std::int64_t{0}));
    auto const modulus = p.op<"Cast">(norm, attr::to_i(dtype_c<dtype::float32>));
    return p.either(p.op<"Pow">(modulus, 2), p.op<"Mul">(modulus, modulus));
};
inline constexpr auto is_modulus = [](value re, value im, integers const& re_axis, integers const& im_axis,
                                      std::int64_t axis, integers const& reduced) {
    if (re.dtype() != dtype::float32 || im.dtype() != dtype::float32 || !re.has_rank() || !im.has_rank()) return false;
    std::int64_t const last = re.rank();
    auto const is_new = [&](integers const& axes) { return axes == integers{-1} || axes == integers{last}; };
    return im.rank() == last && is_new(re_axis) && is_new(im_axis) && is_new({axis}) && is_new(reduced);
};

} // namespace detail

inline constexpr auto arithmetic =
    rewrites(rewrite<"double_negation">([](pattern<7> p, capture<value> x) { return p.op<"Neg">(p.op<"Neg">(x)); },
                                        [](graph<7>, value x) { return x; }),
             rewrite<"add_negation">(
                 [](pattern<7> p, capture<value> x, capture<value> y) { return p.op<"Add">(x, p.op<"Neg">(y)); },
                 [](graph<7> g, value x, value y) { return g.op<"Sub">(x, y); }),
             rewrite<"subtract_negation">(
                 [](pattern<7> p, capture<value> x, capture<value> y) { return p.op<"Sub">(x, p.op<"Neg">(y)); },
                 [](graph<7> g, value x, value y) { return g.op<"Add">(x, y); }),
             rewrite<"multiply_negations">([](pattern<7> p, capture<value> x,
                                              capture<value> y) { return p.op<"Mul">(p.op<"Neg">(x), p.op<"Neg">(y)); },
                                           [](graph<7> g, value x, value y) { return g.op<"Mul">(x, y); }),
             rewrite<"absolute_negation">([](pattern<7> p, capture<value> x) { return p.op<"Abs">(p.op<"Neg">(x)); },
                                          [](graph<7> g, value x) { return g.op<"Abs">(x); }),
             rewrite<"repeated_abs">([](pattern<7> p, capture<value> x) { return p.op<"Abs">(p.op<"Abs">(x)); },
                                     [](graph<7> g, value x) { return g.op<"Abs">(x); }),
             rewrite<"repeated_relu">([](pattern<7> p, capture<value> x) { return p.op<"Relu">(p.op<"Relu">(x)); },
                                      [](graph<7> g, value x) { return g.op<"Relu">(x); }),
             rewrite<"repeated_floor">([](pattern<7> p, capture<value> x) { return p.op<"Floor">(p.op<"Floor">(x)); },
                                       [](graph<7> g, value x) { return g.op<"Floor">(x); }),
             rewrite<"repeated_ceil">([](pattern<7> p, capture<value> x) { return p.op<"Ceil">(p.op<"Ceil">(x)); },
                                      [](graph<7> g, value x) { return g.op<"Ceil">(x); }),
             rewrite<"squared_modulus">(
                 detail::squared_modulus, detail::is_modulus,
                 [](graph<18> g, value re, value im, detail::integers const&, detail::integers const&, std::int64_t,
                    detail::integers const&) { return g.op<"Add">(g.op<"Mul">(re, re), g.op<"Mul">(im, im)); }),
             rewrite<"sum_of_squares">(
                 [](pattern<18> p, capture<value> x, capture<value> axes, capture<std::int64_t> keep) {
                     return p.op<"ReduceSum">(p.op<"Mul">(x, x), axes, attr::keepdims_i(keep));
                 },
                 [](value x, value, std::int64_t) { return x.dtype() == dtype::float32; },
                 [](graph<18> g, value x, value axes, std::int64_t keep) {
                     return g.op<"ReduceSumSquare">(x, axes, attr::keepdims_i(keep));
                 }));

} // namespace ATON_NAMESPACE::fusions
