// SPDX-License-Identifier: MIT
// vllm: kernels that write to their arguments. A row returns what each written argument holds afterwards, in the order of the schema.
#pragma once

#include <cstdint>
#include <tuple>

#include <aton/aton.hpp>

namespace vllm {

using namespace aton::dsl;

// The mean is computed in float32, as by the kernel. ONNX has the operator since opset 23; before 18, `axes` was an attribute.
inline value normalized(graph<13> g, value x, value weight, double epsilon) {
    if (g.opset() >= 23)
        return g.within<23>().op<"RMSNormalization">(x, weight, attr::epsilon_f(epsilon), attr::axis_i(-1));
    value const wide = g.cast<dtype::float32>(x);
    value const squares = g.op<"Mul">(wide, wide);
    value const mean = g.opset() >= 18 ? value(g.within<18>().op<"ReduceMean">(squares, g.ints({-1})))
                                       : g.within<13, 17>().op<"ReduceMean">(squares, attr::axes_i({-1}));
    value const y = g.op<"Div">(wide, g.op<"Sqrt">(g.op<"Add">(mean, epsilon)));
    return g.op<"Mul">(g.cast_like(y, x), weight);
}

// A node of its own, which a runtime with vllm's kernel recognizes; any other runs the body.
inline constexpr auto rms_norm_body = [](graph<13> g, value x, value weight, double epsilon) {
    return normalized(g, x, weight, epsilon);
};
inline constexpr auto kernels =
    domain<"vllm", 1,
           op<"RmsNorm(T X, T W, float epsilon) -> (T Y = like(X))", "T: float16, float", body<rms_norm_body>>>{};

inline constexpr auto rms_norm =
    symbolic<"_C::rms_norm(Tensor! result, Tensor input, Tensor weight, float epsilon) -> ()">(
        [](graph<13, kernels> g, value /*result*/, value input, value weight, double epsilon) {
            return g.op<"vllm::RmsNorm">(input, weight, attr_f<"epsilon">(epsilon));
        });

inline constexpr auto fused_add_rms_norm =
    symbolic<"_C::fused_add_rms_norm(Tensor! input, Tensor! residual, Tensor weight, float epsilon) -> ()">(
        [](graph<13, kernels> g, value input, value residual, value weight,
           double epsilon) -> std::tuple<value, value> {
            value const sum = g.op<"Add">(input, residual);
            return {g.op<"vllm::RmsNorm">(sum, weight, attr_f<"epsilon">(epsilon)), sum};
        });

inline constexpr auto silu_and_mul =
    symbolic<"_C::silu_and_mul(Tensor! result, Tensor input) -> ()">([](graph<13> g, value, value input) {
        size const half = g.size(input, -1) / 2;
        auto const [gate, up] = g.op<"Split">(input, g.ints({half, half}), attr::axis_i(-1), outputs<2>);
        return g.op<"Mul">(g.op<"Mul">(gate, g.op<"Sigmoid">(gate)), up);
    });

// The last dimension from `begin` to `end` in steps.
inline value part(graph<13> g, value x, size begin, size end, std::int64_t step = 1) {
    return g.op<"Slice">(x, g.ints({begin}), g.ints({end}), g.ints({-1}), g.ints({step}));
}

// Turns pairs of numbers in the first `width` columns of each head: the halves of them, or neighbors.
inline value rotated(graph<13> g, value x, value cos_sin, size width, std::int64_t head_size, bool halves) {
    size const half = width / 2;
    value const heads = g.op<"Reshape">(x, g.ints({0, g.size(x, 1) / head_size, head_size}));
    value const factors = g.op<"Unsqueeze">(cos_sin, g.ints({1}));
    value const cos = part(g, factors, 0, half), sin = part(g, factors, half, width);
    value const first = halves ? part(g, heads, 0, half) : part(g, heads, 0, width, 2);
    value const second = halves ? part(g, heads, half, width) : part(g, heads, 1, width, 2);
    value const a = g.op<"Sub">(g.op<"Mul">(first, cos), g.op<"Mul">(second, sin));
    value const b = g.op<"Add">(g.op<"Mul">(second, cos), g.op<"Mul">(first, sin));
    value turned = g.op<"Concat">(a, b, attr::axis_i(-1));
    if (!halves) { // a0 a1 .. b0 b1 .. becomes a0 b0 a1 b1 ..
        value const pairs = g.op<"Reshape">(turned, g.ints({0, 0, 2, half}));
        turned = g.op<"Reshape">(g.op<"Transpose">(pairs, attr::perm_i({0, 1, 3, 2})), g.ints({0, 0, width}));
    }
    value const rest = part(g, heads, width, head_size);
    return g.op<"Reshape">(g.op<"Concat">(turned, rest, attr::axis_i(-1)), g.shape_of(x));
}

inline constexpr auto rotary_embedding =
    symbolic<"_C::rotary_embedding(Tensor positions, Tensor! query, Tensor!? key, int head_size, "
             "Tensor cos_sin_cache, bool is_neox) -> ()">(
        [](graph<13> g, value positions, value query, optional_value key, std::int64_t head_size, value cos_sin_cache,
           bool is_neox) -> std::tuple<value, optional_value> {
            value const cos_sin = g.op<"Gather">(cos_sin_cache, positions, attr::axis_i(0));
            size const width = g.size(cos_sin_cache, 1);
            value const new_query = rotated(g, query, cos_sin, width, head_size, is_neox);
            if (!key) return {new_query, absent};
            return {new_query, rotated(g, *key, cos_sin, width, head_size, is_neox)};
        });

inline constexpr auto mappings = table(rms_norm, fused_add_rms_norm, silu_and_mul, rotary_embedding);

} // namespace vllm
