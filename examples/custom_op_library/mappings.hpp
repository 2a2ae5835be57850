// SPDX-License-Identifier: MIT
// The mappings of custom_ops: one operator becomes ONNX nodes, two become operators of their own domain, with bodies in ONNX.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>

namespace custom_ops {

using namespace aton::dsl;

// swiglu: ONNX nodes.

inline constexpr auto activations =
    table(symbolic<"custom_ops::swiglu(Tensor x, float alpha=1.702, float limit=7.0) -> Tensor">(
        [](graph<13> g, value x, double alpha, double limit) {
            size const half = g.size(x, -1) / 2;
            auto const [gates, values] = g.op<"Split">(x, g.ints({half, half}), attr::axis_i(-1), outputs<2>);
            value const gate = g.op<"Clip">(gates, absent, limit);
            value const plus_one = g.op<"Add">(g.op<"Clip">(values, -limit, limit), 1);
            value const open = g.op<"Sigmoid">(g.op<"Mul">(gate, alpha));
            return g.op<"Mul">(g.op<"Mul">(gate, open), plus_one);
        }));

// foo_forward and rms_norm: operators of custom_domain. A runtime that has a kernel calls it; any other runs the body.

inline constexpr auto foo = [](graph<13> g, value x, value y, double attr1, std::int64_t attr2) {
    value const scaled = g.op<"Mul">(x, attr1);
    return g.op<"Add">(scaled, g.op<"Pow">(y, g.scalar(attr2, dtype::int64)));
};

inline constexpr auto normalized = [](graph<13> g, value x, optional_value w, double eps,
                                      std::int64_t axis) -> std::tuple<value, value> {
    value const squares = g.op<"Mul">(x, x);
    value const mean = g.opset() < 18 ? value(g.within<13, 17>().op<"ReduceMean">(squares, attr::axes_i({axis})))
                                      : g.within<18>().op<"ReduceMean">(squares, g.ints({axis}));
    value const inverse_rms = g.op<"Reciprocal">(g.op<"Sqrt">(g.op<"Add">(mean, eps)));
    value const y = g.op<"Mul">(x, inverse_rms);
    if (!w.has_value()) return {y, inverse_rms};
    // W has one dimension, which corresponds to `axis` of X.
    std::vector<std::int64_t> along(static_cast<std::size_t>(axis < 0 ? -axis : x.rank() - axis), 1);
    along[0] = -1;
    return {g.op<"Mul">(y, g.op<"Reshape">(*w, g.ints(along))), inverse_rms};
};

inline constexpr auto custom_domain =
    domain<"custom_domain", 2,
           op<"Foo(T X, T Y, float attr1, int attr2) -> (T Z = like(X))", "T: float16, float, double", body<foo>>,
           op<"RmsNorm(T X, T? W, float eps=1e-06, int axis=-1) -> (T Y = like(X), T InverseRms)",
              "T: float16, float, double", body<normalized>>>{};

inline constexpr auto kernels = table(
    symbolic<"custom_ops::foo_forward(Tensor input1, Tensor input2, float attr1, int attr2) -> Tensor">(
        [](graph<13, custom_domain> g, value input1, value input2, double attr1, std::int64_t attr2) {
            return g.op<"custom_domain::Foo">(input1, input2, attr_f<"attr1">(attr1), attr_i<"attr2">(attr2));
        }),
    symbolic<"custom_ops::rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06, int dim=-1) -> (Tensor, Tensor)">(
        [](graph<13, custom_domain> g, value x, optional_value weight, double eps, std::int64_t dim) {
            return g.op<"custom_domain::RmsNorm">(x, weight, attr_f<"eps">(eps), attr_i<"axis">(dim), outputs<2>);
        }));

inline constexpr auto mappings = activations + kernels;
static_assert(covers<mappings, 13, newest>);

} // namespace custom_ops
