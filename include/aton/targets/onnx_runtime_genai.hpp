// SPDX-License-Identifier: MIT
// onnxruntime-genai: the operators of ONNX Runtime, and its attention for decoders, which is right as generators feed it:
// prompts are padded on the right, and each text of a batch continues with single tokens.
// Public header.
#pragma once

#include <cstdint>
#include <tuple>

#include <aton/domains/com_microsoft.hpp>
#include <aton/fusions/attention.hpp>
#include <aton/fusions/detail/common.hpp>
#include <aton/fusions/rotary.hpp>
#include <aton/targets/decoder_masks.hpp>
#include <aton/targets/onnx_runtime.hpp>
#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::targets {

namespace detail::generator {

using domains::com_microsoft;
using fusions::detail::integers;
using fusions::detail::is_same;

/// Whether the sizes are those that the mask is computed from: `earlier` is the cache of any layer.
inline constexpr auto is_decoder = [](value q, value k, value v, value past_k, value past_v, value tokens, value ids,
                                      value earlier, double scale, double cap, std::int64_t heads,
                                      std::int64_t groups) {
    if (!(scale > 0 && cap >= 0)) return false; // 0 is the default scale of the kernel, and a negative one has no root
    bool const usable = q.dtype() == dtype::float32 && q.rank() == 3 && k.rank() == 3 && v.rank() == 3 &&
                        past_k.rank() == 4 && past_v.rank() == 4 && tokens.rank() == 2 && ids.rank() == 2 &&
                        earlier.rank() == 4 && tokens.dtype() == dtype::int64 && heads > 0 && groups > 0;
    if (!usable || heads % groups != 0 || !q.size(2).is_static()) return false;
    std::int64_t const elements = q.size(2).size() / heads;
    if (elements == 0 || elements % 8 != 0) return false; // the kernel has no other heads
    dim const size(elements);
    dim const width(elements * groups);
    return is_same(ids.size(0), q.size(0)) && is_same(ids.size(1), q.size(1)) && is_same(k.size(1), q.size(1)) &&
           is_same(v.size(1), q.size(1)) && is_same(earlier.size(2), past_k.size(2)) &&
           is_same(past_v.size(2), past_k.size(2)) && is_same(tokens.size(0), q.size(0)) && k.size(2) == width &&
           v.size(2) == width && past_k.size(3) == size && past_v.size(3) == size;
};

/// The operator, with the numbers of tokens of each text and of the longest one.
inline auto decoder(graph<23, com_microsoft> g, value q, value k, value v, value past_k, value past_v, value tokens,
                    double scale, double cap, std::int64_t heads, std::int64_t groups, std::int64_t window) {
    value const count = g.op<"ReduceSum">(tokens, g.ints({1}), attr::keepdims_i(0));
    value const lengths = g.op<"Cast">(g.op<"Sub">(count, 1), attr::to_i(dtype_c<dtype::int32>));
    value const longest = g.op<"Cast">(g.op<"Shape">(tokens, attr::start_i(1)), attr::to_i(dtype_c<dtype::int32>));
    return g.op<"com.microsoft::GroupQueryAttention">(q,
                                                      k,
                                                      v,
                                                      past_k,
                                                      past_v,
                                                      lengths,
                                                      longest,
                                                      attr_i<"num_heads">(heads),
                                                      attr_i<"kv_num_heads">(groups),
                                                      attr_i<"local_window_size">(window),
                                                      attr_i<"do_rotary">(0),
                                                      attr_f<"scale">(scale),
                                                      attr_f<"softcap">(cap),
                                                      outputs<3>);
}

/// Attention as Attention 23 has it, with a cache and a mask.
inline constexpr auto masked = [](auto p, auto q, auto k, auto v, auto visible, auto past_k, auto past_v, auto scale,
                                  auto cap, auto heads, auto groups) {
    return p.template op<"Attention">(q,
                                      k,
                                      v,
                                      visible,
                                      past_k,
                                      past_v,
                                      attr::scale_f(scale),
                                      attr::softcap_f(cap),
                                      attr::q_num_heads_i(heads),
                                      attr::kv_num_heads_i(groups),
                                      outputs<3>);
};

/// RotaryEmbedding with the rows of two tables.
inline constexpr auto rotated = [](auto p, auto x, auto cosines, auto sines, auto places, auto heads, auto interleaved,
                                   auto size) {
    auto const rows = [&](auto table) { return p.shared(p.template op<"Gather">(table, places, attr::axis_i(0))); };
    return p.template op<"RotaryEmbedding">(x,
                                            rows(cosines),
                                            rows(sines),
                                            attr::num_heads_i(heads),
                                            attr::interleaved_i(interleaved),
                                            attr::rotary_embedding_dim_i(size));
};

/// GroupQueryAttention, as decoder() makes it.
inline constexpr auto grouped = [](auto p, auto q, auto k, auto v, auto past_k, auto past_v, auto lengths, auto longest,
                                   auto heads, auto groups, auto window, auto scale, auto cap, auto const&... more) {
    return p.template op<"com.microsoft::GroupQueryAttention">(q,
                                                               k,
                                                               v,
                                                               past_k,
                                                               past_v,
                                                               lengths,
                                                               longest,
                                                               more...,
                                                               attr_i<"num_heads">(heads),
                                                               attr_i<"kv_num_heads">(groups),
                                                               attr_i<"local_window_size">(window),
                                                               attr_f<"scale">(scale),
                                                               attr_f<"softcap">(cap),
                                                               outputs<3>);
};

/// The same with rotary embeddings inside.
inline constexpr auto rotating = [](auto p, auto q, auto k, auto v, auto past_k, auto past_v, auto lengths,
                                    auto longest, auto cosines, auto sines, auto heads, auto groups, auto window,
                                    auto scale, auto cap, auto interleaved) {
    return grouped(p,
                   q,
                   k,
                   v,
                   past_k,
                   past_v,
                   lengths,
                   longest,
                   heads,
                   groups,
                   window,
                   scale,
                   cap,
                   cosines,
                   sines,
                   attr_i<"do_rotary">(1),
                   attr_i<"rotary_interleaved">(interleaved));
};
/// The operator with rotary embeddings inside. Without `k` and `v`, q has the keys and the values as well.
template <class Keys, class Values>
auto rotating_decoder(graph<23, com_microsoft> g, value q, Keys k, Values v, value past_k, value past_v, value lengths,
                      value longest, value cosines, value sines, std::int64_t heads, std::int64_t groups,
                      std::int64_t window, double scale, double cap, std::int64_t interleaved) {
    return g.op<"com.microsoft::GroupQueryAttention">(q,
                                                      k,
                                                      v,
                                                      past_k,
                                                      past_v,
                                                      lengths,
                                                      longest,
                                                      cosines,
                                                      sines,
                                                      attr_i<"num_heads">(heads),
                                                      attr_i<"kv_num_heads">(groups),
                                                      attr_i<"local_window_size">(window),
                                                      attr_i<"do_rotary">(1),
                                                      attr_i<"rotary_interleaved">(interleaved),
                                                      attr_f<"scale">(scale),
                                                      attr_f<"softcap">(cap),
                                                      outputs<3>);
}
inline constexpr auto packed = [](auto g, value x, auto const&... rest) {
    return rotating_decoder(g, x, absent, absent, rest...);
};

inline constexpr auto table = rewrites(
    rewrite<"onnxruntime-genai.rotary_embedding">(
        [](pattern<23> p, capture<value> x, capture<value> cosines, capture<value> sines, capture<integers> half,
           capture<integers> end, capture<integers> axes, capture<std::int64_t> axis, capture<std::int64_t> last) {
            auto const doubled = [&](auto row) {
                return p.shared(p.op<"Unsqueeze">(p.shared(p.op<"Concat">(row, row, attr::axis_i(last))), p.ints({1})));
            };
            return p.op<"Add">(p.op<"Mul">(x, doubled(cosines)),
                               p.op<"Mul">(fusions::detail::rotate_half(p, x, half, end, axes, axis), doubled(sines)));
        },
        [](value x, value cosines, value sines, integers const& half, integers const& end, integers const& axes,
           std::int64_t axis, std::int64_t last) {
            if (x.dtype() != dtype::float32 || x.rank() != 4 || cosines.rank() != 3 || sines.rank() != 3 ||
                !x.size(3).is_static() || half.size() != 1 || end.size() != 1)
                return false;
            auto const fits = [&](value rows) {
                return is_same(rows.size(0), x.size(0)) && is_same(rows.size(1), x.size(2)) &&
                       rows.size(2) == dim(half[0]);
            };
            std::int64_t const size = x.size(3).size();
            return size == 2 * half[0] && end[0] >= size && fusions::detail::is_last_axis(x, axes) &&
                   (axis == -1 || axis == 3) && (last == -1 || last == 2) && fits(cosines) && fits(sines);
        },
        [](graph<23> g, value x, value cosines, value sines, integers const&, integers const&, integers const&,
           std::int64_t, std::int64_t) { return g.op<"RotaryEmbedding">(x, cosines, sines); }),
    // tanh((q k^T) * c / cap) * cap + (visible ? 0 : lowest). Every token sees itself, so that no row hides all keys.
    rewrite<"onnxruntime-genai.attention_capped">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<double> c,
           capture<std::int64_t> axis, capture<value> visible, capture<double> lowest, capture<double> cap) {
            auto const scores = fusions::detail::scaled_product::scores(p, q, k, c);
            auto const capped = p.op<"Mul">(p.op<"Tanh">(p.op<"Div">(scores, cap)), cap);
            auto const mask = p.shared(p.op<"Where">(visible, 0, lowest));
            return fusions::detail::weighted(p, p.op<"Add">(capped, mask), v, axis);
        },
        [](value q, value k, value v, double c, std::int64_t axis, value visible, double lowest, double cap) {
            constexpr double hides = -1e30; // beside it, no score that is capped has a weight
            return onnx_runtime::is_capped(q, k, v, c, axis, visible, cap) && lowest < hides && cap < -hides;
        },
        [](graph<23> g, value q, value k, value v, double c, std::int64_t, value visible, double, double cap) {
            return g.op<"Attention">(q, k, v, visible, attr::scale_f(c), attr::softcap_f(cap));
        }),
    rewrite<"onnxruntime-genai.decoder">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> past_k,
           capture<value> past_v, capture<value> tokens, capture<value> ids, capture<value> earlier,
           capture<double> scale, capture<double> cap, capture<std::int64_t> heads, capture<std::int64_t> groups) {
            auto const visible = visible_keys(p, tokens, ids, earlier);
            return masked(p, q, k, v, visible, past_k, past_v, scale, cap, heads, groups);
        },
        [](value q, value k, value v, value past_k, value past_v, value tokens, value ids, value earlier, double scale,
           double cap, std::int64_t heads, std::int64_t groups) {
            return is_decoder(q, k, v, past_k, past_v, tokens, ids, earlier, scale, cap, heads, groups);
        },
        [](graph<23, com_microsoft> g, value q, value k, value v, value past_k, value past_v, value tokens, value,
           value, double scale, double cap, std::int64_t heads,
           std::int64_t groups) { return decoder(g, q, k, v, past_k, past_v, tokens, scale, cap, heads, groups, -1); }),
    rewrite<"onnxruntime-genai.decoder_window">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> past_k,
           capture<value> past_v, capture<value> tokens, capture<value> ids, capture<value> earlier,
           capture<double> scale, capture<double> cap, capture<std::int64_t> heads, capture<std::int64_t> groups,
           capture<std::int64_t> window) {
            auto const visible = visible_keys_of_window(p, tokens, ids, earlier, window);
            return masked(p, q, k, v, visible, past_k, past_v, scale, cap, heads, groups);
        },
        [](value q, value k, value v, value past_k, value past_v, value tokens, value ids, value earlier, double scale,
           double cap, std::int64_t heads, std::int64_t groups, std::int64_t window) {
            return window > 0 && window <= INT32_MAX &&
                   is_decoder(q, k, v, past_k, past_v, tokens, ids, earlier, scale, cap, heads, groups);
        },
        [](graph<23, com_microsoft> g, value q, value k, value v, value past_k, value past_v, value tokens, value,
           value, double scale, double cap, std::int64_t heads, std::int64_t groups, std::int64_t window) {
            return decoder(g, q, k, v, past_k, past_v, tokens, scale, cap, heads, groups, window);
        }),
    rewrite<"onnxruntime-genai.decoder_rotary">(
        [](pattern<23, com_microsoft> p, capture<value> q, capture<value> k, capture<value> v, capture<value> past_k,
           capture<value> past_v, capture<value> lengths, capture<value> longest, capture<value> cosines,
           capture<value> sines, capture<value> places, capture<std::int64_t> heads, capture<std::int64_t> groups,
           capture<std::int64_t> window, capture<double> scale, capture<double> cap, capture<std::int64_t> interleaved,
           capture<std::int64_t> size) {
            auto const [y, present_k, present_v] =
                grouped(p,
                        rotated(p, q, cosines, sines, places, heads, interleaved, size),
                        rotated(p, k, cosines, sines, places, groups, interleaved, size),
                        v,
                        past_k,
                        past_v,
                        lengths,
                        longest,
                        heads,
                        groups,
                        window,
                        scale,
                        cap,
                        attr_i<"do_rotary">(0));
            return std::tuple(y, present_k, present_v);
        },
        [](value q, value, value, value, value, value, value, value cosines, value sines, value places,
           std::int64_t heads, std::int64_t, std::int64_t, double, double, std::int64_t, std::int64_t size) {
            // The kernel rotates a multiple of 16 elements, of heads of a multiple of 16.
            bool const usable = q.rank() == 3 && q.size(2).is_static() && q.size(2).size() % (heads * 16) == 0;
            return usable && cosines.rank() == 2 && sines.rank() == 2 && places.rank() == 2 &&
                   cosines.size(1).is_static() && cosines.size(1).size() % 8 == 0 && cosines.size(1) == sines.size(1) &&
                   (size == 0 || size == 2 * cosines.size(1).size());
        },
        [](graph<23, com_microsoft> g, value q, value k, value v, value past_k, value past_v, value lengths,
           value longest, value cosines, value sines, value, std::int64_t heads, std::int64_t groups,
           std::int64_t window, double scale, double cap, std::int64_t interleaved, std::int64_t) {
            return rotating_decoder(g,
                                    q,
                                    k,
                                    v,
                                    past_k,
                                    past_v,
                                    lengths,
                                    longest,
                                    cosines,
                                    sines,
                                    heads,
                                    groups,
                                    window,
                                    scale,
                                    cap,
                                    interleaved);
        }),
    rewrite<"onnxruntime-genai.packed_decoder">(
        [](pattern<23, com_microsoft> p, capture<value> x, capture<integers> sizes, capture<value> past_k,
           capture<value> past_v, capture<value> lengths, capture<value> longest, capture<value> cosines,
           capture<value> sines, capture<std::int64_t> heads, capture<std::int64_t> groups,
           capture<std::int64_t> window, capture<double> scale, capture<double> cap,
           capture<std::int64_t> interleaved) {
            auto const [q, k, v] = p.op<"Split">(x, sizes, attr::axis_i(2), outputs<3>);
            return rotating(p,
                            q,
                            k,
                            v,
                            past_k,
                            past_v,
                            lengths,
                            longest,
                            cosines,
                            sines,
                            heads,
                            groups,
                            window,
                            scale,
                            cap,
                            interleaved);
        },
        [](graph<23, com_microsoft> g, value x, integers const&, value past_k, value past_v, value lengths,
           value longest, value cosines, value sines, std::int64_t heads, std::int64_t groups, std::int64_t window,
           double scale, double cap, std::int64_t interleaved) {
            return packed(
                g, x, past_k, past_v, lengths, longest, cosines, sines, heads, groups, window, scale, cap, interleaved);
        }),
    rewrite<"onnxruntime-genai.packed_decoder_slices">(
        [](pattern<23, com_microsoft> p, capture<value> x, capture<integers> first, capture<integers> second,
           capture<integers> end, capture<integers> axes, capture<value> past_k, capture<value> past_v,
           capture<value> lengths, capture<value> longest, capture<value> cosines, capture<value> sines,
           capture<std::int64_t> heads, capture<std::int64_t> groups, capture<std::int64_t> window,
           capture<double> scale, capture<double> cap, capture<std::int64_t> interleaved) {
            auto const q = p.op<"Slice">(x, p.ints({0}), first, axes);
            auto const k = p.op<"Slice">(x, first, second, axes);
            auto const v = p.op<"Slice">(x, second, end, axes);
            return rotating(p,
                            q,
                            k,
                            v,
                            past_k,
                            past_v,
                            lengths,
                            longest,
                            cosines,
                            sines,
                            heads,
                            groups,
                            window,
                            scale,
                            cap,
                            interleaved);
        },
        [](value x, integers const& first, integers const& second, integers const& end, integers const& axes, value,
           value, value, value, value, value, std::int64_t heads, std::int64_t groups, std::int64_t, double, double,
           std::int64_t) {
            if (x.rank() != 3 || !x.size(2).is_static() || first.size() != 1 || second.size() != 1 || end.size() != 1)
                return false;
            std::int64_t const width = second[0] - first[0];
            return fusions::detail::is_last_axis(x, axes) && width > 0 && first[0] * groups == width * heads &&
                   x.size(2).size() == second[0] + width && end[0] >= x.size(2).size();
        },
        [](graph<23, com_microsoft> g, value x, integers const&, integers const&, integers const&, integers const&,
           value past_k, value past_v, value lengths, value longest, value cosines, value sines, std::int64_t heads,
           std::int64_t groups, std::int64_t window, double scale, double cap, std::int64_t interleaved) {
            return packed(
                g, x, past_k, past_v, lengths, longest, cosines, sines, heads, groups, window, scale, cap, interleaved);
        }));

} // namespace detail::generator

/// Generators of ONNX Runtime: onnxruntime-genai, and what feeds a decoder as it does.
inline constexpr target onnx_runtime_genai{
    .name = "onnxruntime-genai",
    .title = "onnxruntime-genai 0.18",
    .about = "onnxruntime, and GroupQueryAttention for decoders with a cache; right only as generators feed it",
    .until = onnx::onnxruntime::newest_opset,
    .rewrites = detail::generator::table + detail::onnx_runtime::table,
    .last_rewrites = detail::onnx_runtime::products,
    .integer_kernels = onnx::onnx_runtime_integer_kernels,
    .has_onnxruntime_kernels = true};

} // namespace ATON_NAMESPACE::targets
