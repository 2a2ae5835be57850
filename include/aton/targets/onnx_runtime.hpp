// SPDX-License-Identifier: MIT
// ONNX Runtime: rewrites to operators of com.microsoft that its CPU kernels run in float32 (release 1.31).
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <aton/domains/com_microsoft.hpp>
#include <aton/fusions/activation.hpp>
#include <aton/fusions/attention.hpp>
#include <aton/onnx/kernels.hpp>
#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::targets {

namespace detail::onnx_runtime {

using namespace dsl; // NOLINT(google-build-using-namespace): the table is written in this language
using domains::com_microsoft;
using fusions::detail::half_product;
using fusions::detail::integers;
using fusions::detail::is_same;

inline constexpr auto is_float32 = [](value x) { return x.dtype() == dtype::float32; };

/// Whether `bias` is added to each row of `x`.
inline constexpr auto is_bias = [](value x, value bias) {
    return x.dtype() == dtype::float32 && fusions::detail::is_per_last_axis(x, bias);
};

/// Whether a sum is that of two values of the same sizes, with three dimensions, as the kernels demand.
inline bool is_sum(value x, value skip) {
    if (x.rank() != 3 || skip.rank() != 3) return false;
    return is_same(x.size(0), skip.size(0)) && is_same(x.size(1), skip.size(1)) && is_same(x.size(2), skip.size(2));
}

/// Whether a Transpose with this permutation swaps the last two axes only.
inline bool swaps_last_two(integers const& perm) {
    std::size_t const rank = perm.size();
    if (rank < 2) return false;
    for (std::size_t i = 0; i != rank; ++i) {
        std::size_t const from = i + 2 < rank ? i : i + 1 == rank ? rank - 2 : rank - 1;
        if (perm[i] != static_cast<std::int64_t>(from)) return false;
    }
    return true;
}
/// Whether the products of FusedMatMul are those of MatMul: it takes matrices and stacks of them, in float32.
inline bool are_matrices(value a, value b) {
    return a.dtype() == dtype::float32 && a.has_rank() && b.has_rank() && a.rank() >= 2 && b.rank() >= 2;
}

// Attention over four dimensions at opsets without the operator Attention: MultiHeadAttention takes queries of three
// dimensions.

inline constexpr auto are_heads = [](value q, value k, value v, double c, std::int64_t axis) {
    return fusions::detail::is_attention(q, k, v, c, axis) && q.size(1).is_static() && q.size(3).is_static() &&
           v.size(3).is_static() && is_same(q.size(3), v.size(3)) && k.size(2) != dim(0) && q.size(1) != dim(0) &&
           q.size(3) != dim(0);
};

/// (batch, heads, positions, size) as (batch, positions, heads * size).
inline value joined_heads(graph<14, 22, com_microsoft> g, value x) {
    std::int64_t const width = x.size(1).size() * x.size(3).size();
    return g.op<"Reshape">(g.op<"Transpose">(x, attr::perm_i({0, 2, 1, 3})), g.ints({0, 0, width}));
}

inline value multi_head(graph<14, 22, com_microsoft> g, value q, value k, value v, double scale) {
    std::int64_t const heads = q.size(1).size();
    std::int64_t const size = q.size(3).size();
    value const joined = g.op<"com.microsoft::MultiHeadAttention">(
        joined_heads(g, q), joined_heads(g, k), joined_heads(g, v), attr_i<"num_heads">(heads), attr_f<"scale">(scale));
    return g.op<"Transpose">(g.op<"Reshape">(joined, g.ints({0, 0, heads, size})), attr::perm_i({0, 2, 1, 3}));
}

template <class Scaled>
inline constexpr auto attention_pattern =
    [](pattern<14, 22> p, capture<value> q, capture<value> k, capture<value> v, capture<double> c,
       capture<std::int64_t> axis) { return fusions::detail::weighted(p, Scaled::scores(p, q, k, c), v, axis); };
template <class Scaled>
inline constexpr auto attention = [](graph<14, 22, com_microsoft> g, value q, value k, value v, double c,
                                     std::int64_t) { return multi_head(g, q, k, v, Scaled::scale(c)); };

/// tanh((q k^T) * c / cap) * cap + mask.
inline constexpr auto capped_pattern = [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v,
                                          capture<double> c, capture<std::int64_t> axis, capture<value> mask,
                                          capture<double> cap) {
    auto const scores = fusions::detail::scaled_product::scores(p, q, k, c);
    auto const capped = p.op<"Mul">(p.op<"Tanh">(p.op<"Div">(scores, cap)), cap);
    return fusions::detail::weighted(p, p.op<"Add">(capped, mask), v, axis);
};
inline constexpr auto is_capped = [](value q, value k, value v, double c, std::int64_t axis, value mask, double cap) {
    return fusions::detail::is_masked_attention(q, k, v, c, axis, mask) && cap > 0 &&
           cap < std::numeric_limits<double>::infinity();
};
/// The operator caps scores before it adds the mask, on the CPU as by ONNX. ONNX Runtime's CUDA kernel refuses caps, so
/// that without this target the formula stays.
inline constexpr auto capped = [](graph<23> g, value q, value k, value v, double c, std::int64_t, value mask,
                                  double cap) {
    value const y = g.op<"Attention">(q, k, v, mask, attr::scale_f(c), attr::softcap_f(cap));
    value const best = g.op<"ReduceMax">(mask, g.ints({-1}), attr::keepdims_i(1));
    value const nan = g.scalar_like(std::numeric_limits<double>::quiet_NaN(), y);
    return g.op<"Where">(g.op<"Equal">(best, g.scalar_like(-std::numeric_limits<double>::infinity(), mask)), nan, y);
};

inline constexpr auto table = rewrites(
    rewrite<"onnxruntime.bias_gelu">(
        [](pattern<13, 19> p, capture<value> x, capture<value> bias) {
            auto const sum = p.op<"Add">(x, bias);
            return half_product(p, sum, fusions::detail::twice_normal_cdf(p, sum));
        },
        is_bias,
        [](graph<13, 19, com_microsoft> g, value x, value bias) { return g.op<"com.microsoft::BiasGelu">(x, bias); }),
    rewrite<"onnxruntime.bias_gelu">(
        [](pattern<20> p, capture<value> x, capture<value> bias) { return p.op<"Gelu">(p.op<"Add">(x, bias)); },
        is_bias,
        [](graph<20, com_microsoft> g, value x, value bias) { return g.op<"com.microsoft::BiasGelu">(x, bias); }),
    rewrite<"onnxruntime.gelu">(
        [](pattern<13, 19> p, capture<value> x) { return half_product(p, x, fusions::detail::twice_normal_cdf(p, x)); },
        is_float32, [](graph<13, 19, com_microsoft> g, value x) { return g.op<"com.microsoft::Gelu">(x); }),
    rewrite<"onnxruntime.fast_gelu_bias">(
        [](pattern<20> p, capture<value> x, capture<value> bias, capture<std::string> formula) {
            return p.op<"Gelu">(p.op<"Add">(x, bias), attr::approximate_s(formula));
        },
        [](value x, value bias, std::string const& formula) { return is_bias(x, bias) && formula == "tanh"; },
        [](graph<20, com_microsoft> g, value x, value bias, std::string const&) {
            return g.op<"com.microsoft::FastGelu">(x, bias);
        }),
    rewrite<"onnxruntime.fast_gelu">(
        [](pattern<13, 19> p, capture<value> x) { return half_product(p, x, fusions::detail::twice_gelu_tanh(p, x)); },
        is_float32, [](graph<13, 19, com_microsoft> g, value x) { return g.op<"com.microsoft::FastGelu">(x); }),
    rewrite<"onnxruntime.fast_gelu_factored">(
        [](pattern<13, 19> p, capture<value> x) {
            return half_product(p, x, fusions::detail::twice_factored_gelu_tanh(p, x));
        },
        is_float32, [](graph<13, 19, com_microsoft> g, value x) { return g.op<"com.microsoft::FastGelu">(x); }),
    rewrite<"onnxruntime.quick_gelu">(
        [](pattern<13> p, capture<value> x, capture<double> alpha) {
            return p.op<"Mul">(x, p.op<"Sigmoid">(p.op<"Mul">(x, alpha)));
        },
        [](value x, double) { return is_float32(x); },
        [](graph<13, com_microsoft> g, value x, double alpha) {
            return g.op<"com.microsoft::QuickGelu">(x, attr_f<"alpha">(alpha));
        }),
    rewrite<"onnxruntime.swish">(
        [](pattern<13> p, capture<value> x) { return p.op<"Mul">(x, p.op<"Sigmoid">(x)); }, is_float32,
        [](graph<13, com_microsoft> g, value x) { return g.op<"com.microsoft::QuickGelu">(x, attr_f<"alpha">(1)); }),
    rewrite<"onnxruntime.skip_layer_normalization">(
        [](pattern<17> p, capture<value> x, capture<value> skip, capture<value> scale, capture<value> bias,
           capture<double> epsilon) {
            auto const sum = p.op<"Add">(x, skip);
            return std::tuple(p.op<"LayerNormalization">(sum, scale, bias, attr::epsilon_f(epsilon)), sum);
        },
        [](value x, value skip, value scale, value bias, double epsilon) {
            return is_sum(x, skip) && is_bias(x, scale) && is_bias(x, bias) && epsilon >= 0;
        },
        [](graph<17, com_microsoft> g, value x, value skip, value scale, value bias, double epsilon) {
            auto const [y, mean, deviation, sum] = g.op<"com.microsoft::SkipLayerNormalization">(
                x, skip, scale, bias, attr_f<"epsilon">(epsilon), outputs<4>);
            return std::tuple(y, sum);
        }),
    rewrite<"onnxruntime.skip_simplified_layer_normalization">(
        [](pattern<23> p, capture<value> x, capture<value> skip, capture<value> scale, capture<double> epsilon) {
            auto const sum = p.op<"Add">(x, skip);
            return std::tuple(p.op<"RMSNormalization">(sum, scale, attr::epsilon_f(epsilon)), sum);
        },
        [](value x, value skip, value scale, double epsilon) {
            return is_sum(x, skip) && is_bias(x, scale) && epsilon >= 0;
        },
        [](graph<23, com_microsoft> g, value x, value skip, value scale, double epsilon) {
            auto const [y, mean, deviation, sum] = g.op<"com.microsoft::SkipSimplifiedLayerNormalization">(
                x, skip, scale, attr_f<"epsilon">(epsilon), outputs<4>);
            return std::tuple(y, sum);
        }),
    rewrite<"onnxruntime.attention_capped">(capped_pattern, is_capped, capped),
    rewrite<"onnxruntime.attention_both">(attention_pattern<fusions::detail::scaled_both>, are_heads,
                                          attention<fusions::detail::scaled_both>),
    rewrite<"onnxruntime.attention_queries">(attention_pattern<fusions::detail::scaled_queries>, are_heads,
                                             attention<fusions::detail::scaled_queries>),
    rewrite<"onnxruntime.attention_product">(attention_pattern<fusions::detail::scaled_product>, are_heads,
                                             attention<fusions::detail::scaled_product>),
    rewrite<"onnxruntime.attention_divided">(attention_pattern<fusions::detail::divided_product>, are_heads,
                                             attention<fusions::detail::divided_product>));

/// Products, which are parts of many patterns.
inline constexpr auto products = rewrites(
    rewrite<"onnxruntime.scaled_product_of_transposed">(
        [](pattern<13> p, capture<value> a, capture<value> b, capture<integers> perm, capture<double> c) {
            return p.op<"Mul">(p.op<"MatMul">(a, p.op<"Transpose">(b, attr::perm_i(perm))), c);
        },
        [](value a, value b, integers const& perm, double) { return are_matrices(a, b) && swaps_last_two(perm); },
        [](graph<13, com_microsoft> g, value a, value b, integers const&, double c) {
            return g.op<"com.microsoft::FusedMatMul">(a, b, attr_i<"transB">(1), attr_f<"alpha">(c));
        }),
    rewrite<"onnxruntime.scaled_product">([](pattern<13> p, capture<value> a, capture<value> b,
                                             capture<double> c) { return p.op<"Mul">(p.op<"MatMul">(a, b), c); },
                                          [](value a, value b, double) { return are_matrices(a, b); },
                                          [](graph<13, com_microsoft> g, value a, value b, double c) {
                                              return g.op<"com.microsoft::FusedMatMul">(a, b, attr_f<"alpha">(c));
                                          }),
    rewrite<"onnxruntime.product_of_transposed">(
        [](pattern<13> p, capture<value> a, capture<value> b, capture<integers> perm) {
            return p.op<"MatMul">(a, p.op<"Transpose">(b, attr::perm_i(perm)));
        },
        [](value a, value b, integers const& perm) { return are_matrices(a, b) && swaps_last_two(perm); },
        [](graph<13, com_microsoft> g, value a, value b, integers const&) {
            return g.op<"com.microsoft::FusedMatMul">(a, b, attr_i<"transB">(1));
        }),
    rewrite<"onnxruntime.transposed_product">(
        [](pattern<13> p, capture<value> a, capture<value> b, capture<integers> perm) {
            return p.op<"MatMul">(p.op<"Transpose">(a, attr::perm_i(perm)), b);
        },
        [](value a, value b, integers const& perm) { return are_matrices(a, b) && swaps_last_two(perm); },
        [](graph<13, com_microsoft> g, value a, value b, integers const&) {
            return g.op<"com.microsoft::FusedMatMul">(a, b, attr_i<"transA">(1));
        }));

} // namespace detail::onnx_runtime

/// ONNX Runtime with its own operators. A model for it does not run elsewhere.
inline constexpr target onnx_runtime{
    .name = "onnxruntime",
    .title = "ONNX Runtime 1.31.1",
    .about = "operators of the domain com.microsoft that need fewer nodes; the model runs in ONNX Runtime only",
    .until = onnx::onnxruntime::newest_opset,
    .rewrites = detail::onnx_runtime::table,
    .last_rewrites = detail::onnx_runtime::products,
    .integer_kernels = onnx::onnx_runtime_integer_kernels,
    .has_onnxruntime_kernels = true,
    .version = onnx::onnxruntime::release};

} // namespace ATON_NAMESPACE::targets
