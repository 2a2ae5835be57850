// SPDX-License-Identifier: MIT
// TensorRT: rewrites of what its ONNX parser does not document. What it does is in data/targets.
// Internal header.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/dsl/rewrite.hpp>

namespace ATON_NAMESPACE::targets {

namespace detail::tensorrt {

using namespace dsl; // NOLINT(google-build-using-namespace): the table is written in this language

/// (batch, channels, length) as images of height 1.
inline value as_image(graph<13> g, value x) { return g.op<"Unsqueeze">(x, g.ints({2})); }
inline std::vector<std::int64_t> of_image(std::vector<std::int64_t> const& list, std::int64_t other) {
    if (list.size() == 1) return {other, list[0]};
    return {other, list[0], other, list[1]};
}

using integers = std::vector<std::int64_t>;

/// The meaning of ceil_mode changed at opset 22, for lines as for images.
template <int Since, int Until>
inline constexpr auto max_pool_of_lines = rewrite<"tensorrt.max_pool_of_lines">(
    [](pattern<Since, Until> p, capture<value> x, capture<integers> kernel, capture<integers> strides,
       capture<integers> pads, capture<std::int64_t> ceil) {
        return p.template op<"MaxPool">(
            x, attr::kernel_shape_i(kernel), attr::strides_i(strides), attr::pads_i(pads), attr::ceil_mode_i(ceil));
    },
    [](value x, integers const&, integers const&, integers const&, std::int64_t) { return x.rank() == 3; },
    [](graph<Since, Until> g, value x, integers const& kernel, integers const& strides, integers const& pads,
       std::int64_t ceil) {
        return g.template op<"Squeeze">(g.template op<"MaxPool">(as_image(g, x),
                                                                 attr::kernel_shape_i(of_image(kernel, 1)),
                                                                 attr::strides_i(of_image(strides, 1)),
                                                                 attr::pads_i(of_image(pads, 0)),
                                                                 attr::ceil_mode_i(ceil)),
                                        g.ints({2}));
    });
template <int Since, int Until>
inline constexpr auto average_pool_of_lines = rewrite<"tensorrt.average_pool_of_lines">(
    [](pattern<Since, Until> p, capture<value> x, capture<integers> kernel, capture<integers> strides,
       capture<integers> pads, capture<std::int64_t> ceil, capture<std::int64_t> counts) {
        return p.template op<"AveragePool">(x,
                                            attr::kernel_shape_i(kernel),
                                            attr::strides_i(strides),
                                            attr::pads_i(pads),
                                            attr::ceil_mode_i(ceil),
                                            attr::count_include_pad_i(counts));
    },
    [](value x, integers const&, integers const&, integers const&, std::int64_t, std::int64_t) {
        return x.rank() == 3;
    },
    [](graph<Since, Until> g, value x, integers const& kernel, integers const& strides, integers const& pads,
       std::int64_t ceil, std::int64_t counts) {
        return g.template op<"Squeeze">(g.template op<"AveragePool">(as_image(g, x),
                                                                     attr::kernel_shape_i(of_image(kernel, 1)),
                                                                     attr::strides_i(of_image(strides, 1)),
                                                                     attr::pads_i(of_image(pads, 0)),
                                                                     attr::ceil_mode_i(ceil),
                                                                     attr::count_include_pad_i(counts)),
                                        g.ints({2}));
    });

inline constexpr auto table =
    rewrites(rewrite<"tensorrt.non_zero">(
                 [](pattern<13> p, capture<value> x) { return p.op<"NonZero">(x); },
                 // It takes floats only. The smallest float64 are zeros in float32.
                 [](value x) { return tensors(dtype::bool_, dtype::int32, dtype::int64).contains(set_of(x.type())); },
                 [](graph<13> g, value x) { return g.op<"NonZero">(g.cast(x, dtype::float32)); }),
             rewrite<"tensorrt.compress">(
                 [](pattern<13> p, capture<value> x, capture<value> mask, capture<std::int64_t> axis) {
                     return p.op<"Compress">(x, mask, attr::axis_i(axis));
                 },
                 [](graph<13> g, value x, value mask, std::int64_t axis) {
                     return g.op<"Gather">(x, g.op<"Squeeze">(g.op<"NonZero">(mask), g.ints({0})), attr::axis_i(axis));
                 }),
             rewrite<"tensorrt.compress_all">(
                 [](pattern<13> p, capture<value> x, capture<value> mask) { return p.op<"Compress">(x, mask); },
                 [](graph<13> g, value x, value mask) {
                     return g.op<"Gather">(g.op<"Reshape">(x, g.ints({-1})),
                                           g.op<"Squeeze">(g.op<"NonZero">(mask), g.ints({0})));
                 }),
             max_pool_of_lines<13, 21>, max_pool_of_lines<22, onnx::newest_opset>, average_pool_of_lines<13, 21>,
             average_pool_of_lines<22, onnx::newest_opset>);

} // namespace detail::tensorrt

} // namespace ATON_NAMESPACE::targets
