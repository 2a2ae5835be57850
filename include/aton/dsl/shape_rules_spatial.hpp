// SPDX-License-Identifier: MIT
// Shape rules of operators over (batch, channel, spatial...): convolutions, pooling, resizing, and the recurrent layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <aton/dsl/shape_context.hpp>
#include <aton/dsl/shape_rules_layout.hpp>

namespace aton::dsl::detail::shapes {

/// Kernel, strides, pads and dilations of one spatial dimension.
struct window {
    std::int64_t kernel = -1; ///< -1: not known
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t before = 0;
    std::int64_t after = 0;

    [[nodiscard]] std::int64_t extent() const { return checked_int(checked_int(kernel) - 1) * dilation + 1; }
};

/// The window over spatial dimension `i` of `n`; the kernel's size comes from the weight where no attribute says it.
template <class Context>
window window_at(Context const& c, std::size_t i, std::size_t n, dims const& weight) {
    auto const pick = [&](std::string_view name, std::size_t at, std::int64_t fallback) {
        node_attribute const* a = c.attribute(name);
        return a != nullptr && at < a->ints.size() ? a->ints[at] : fallback;
    };
    window w;
    w.kernel = pick("kernel_shape", i, weight.size() == n + 2 ? weight[i + 2].size() : -1);
    w.stride = pick("strides", i, 1);
    w.dilation = pick("dilations", i, 1);
    bool const explicit_pads = c.text("auto_pad", "NOTSET") == "NOTSET";
    w.before = explicit_pads ? pick("pads", i, 0) : 0;
    w.after = explicit_pads ? pick("pads", i + n, 0) : 0;
    return w;
}

/// How many windows fit; unknown where runtimes disagree (ceil_mode whose last window starts in the padding).
template <class = void>
dim windows(dim const& in, window const& w, std::string_view auto_pad, bool ceil_mode) {
    if (!in.is_static() || w.stride < 1) return {};
    if (auto_pad.starts_with("SAME")) return ceil_div(in.size(), w.stride);
    if (w.kernel < 0) return {};
    std::int64_t const room = checked_int(in.size()) + w.before + w.after - w.extent();
    if (room < 0)
        throw illegal_call("a window of " + std::to_string(w.extent()) + " elements over " + std::to_string(in.size()));
    std::int64_t const fitting = room / w.stride + 1;
    if (!ceil_mode || room % w.stride == 0) return fitting;
    return checked_int(fitting) * w.stride >= in.size() + w.before ? dim() : dim(fitting + 1);
}

template <class Context>
dims spatial(Context const& c, dims const& weight, dim const& channels, bool ceil_mode) {
    dims const& in = c.in(0);
    dims out{in[0], channels};
    for (std::size_t i = 0; i + 2 < in.size(); ++i)
        out.push_back(
            windows(in[i + 2], window_at(c, i, in.size() - 2, weight), c.text("auto_pad", "NOTSET"), ceil_mode));
    return out;
}

/// Conv and its kin; `w` is the position of the weight.
template <class Context>
void conv(Context& c, std::size_t w) {
    if (!c.ranked(0) || c.rank(0) < 2) return c.ranked(w) ? c.set_rank(0, c.rank(w)) : void();
    c.set(0, spatial(c, c.in(w), c.ranked(w) && c.rank(w) == c.rank(0) ? c.in(w)[0] : dim(), false));
}

template <class Context>
void conv_transpose(Context& c) {
    if (!c.ranked(0) || c.rank(0) < 2) return c.ranked(1) ? c.set_rank(0, c.rank(1)) : void();
    dims const& in = c.in(0);
    dims const& weight = c.in(1);
    std::size_t const n = in.size() - 2;
    bool const matching = weight.size() == in.size();
    dims out{in[0],
             matching && weight[1].is_static() ? dim(checked_int(weight[1].size()) * c.number("group", 1)) : dim()};
    list const sizes = c.numbers("output_shape");
    list const extra = c.numbers("output_padding");
    std::int64_t const group = c.number("group", 1);
    if (group < 1 || (in[1].is_static() && in[1].size() % group != 0))
        c.refuse("channels in " + std::to_string(group) + " groups");
    for (std::int64_t n : extra.values)
        if (n < 0) c.refuse("a negative output_padding");
    if (matching) expect_same(in[1], weight[0], "onnx::ConvTranspose: channels");
    for (std::size_t i = 0; i != n; ++i) {
        window const w = window_at(c, i, n, weight);
        bool const known = in[i + 2].is_static() && w.kernel >= 0 && !c.text("auto_pad", "NOTSET").starts_with("SAME");
        std::int64_t const padding = i < extra.size() ? extra[i] : 0;
        if (c.attribute("output_shape") != nullptr) out.push_back(sizes.size() == n ? dim(sizes[i]) : dim());
        else if (known)
            out.emplace_back(checked_int(w.stride) * (in[i + 2].size() - 1) + padding + w.extent() - w.before -
                             w.after);
        else out.emplace_back();
    }
    c.set(0, out);
}

template <class Context>
void pool(Context& c) {
    if (!c.ranked(0) || c.rank(0) < 2) return;
    c.set(0, spatial(c, {}, c.in(0)[1], c.number("ceil_mode", 0) != 0));
    c.set(1, spatial(c, {}, c.in(0)[1], c.number("ceil_mode", 0) != 0));
}

template <class Context>
void global_pool(Context& c) {
    if (!c.ranked(0)) return;
    dims out = c.in(0);
    for (std::size_t i = 2; i < out.size(); ++i) out[i] = 1;
    c.set(0, out);
}

/// Regions of interest cut out of (batch, channel, height, width).
template <class Context>
void roi(Context& c, dim const& height, dim const& width) {
    c.set(0,
          {c.ranked(1) && c.rank(1) > 0 ? c.in(1)[0] : dim(),
           c.ranked(0) && c.rank(0) == 4 ? c.in(0)[1] : dim(),
           height,
           width});
}

template <class Context>
void roi_align(Context& c) {
    roi(c, c.number("output_height", 1), c.number("output_width", 1));
}

template <class Context>
void max_roi_pool(Context& c) {
    list const size = c.numbers("pooled_shape");
    if (size.size() == 2) roi(c, size[0], size[1]);
}

template <class Context>
void max_unpool(Context& c) {
    if (c.has(2)) return shape_from(c, 2);
    if (!c.ranked(0) || c.rank(0) < 2) return;
    dims out(c.in(0).size());
    for (std::size_t i = 0; i != 2; ++i) out[i] = c.in(0)[i];
    c.set(0, out);
}

/// Det: the matrices are the last two dimensions.
template <class Context>
void determinant(Context& c) {
    if (!c.ranked(0)) return;
    if (c.rank(0) < 2) c.refuse("a tensor of rank " + std::to_string(c.rank(0)));
    expect_same(c.in(0)[c.in(0).size() - 2], c.in(0).back(), "onnx::Det: rows and columns");
    dims out;
    append(out, c.in(0), 0, c.rank(0) - 2);
    c.set(0, out);
}

/// One dimension scaled; unknown where float and double arithmetic round differently.
template <class = void>
dim scaled(dim const& d, double scale) {
    if (scale == 1.0) return d;
    double const wide = static_cast<double>(d.size()) * scale;
    if (!d.is_static() || !(wide >= 0 && wide < 0x1p31)) return {};
    auto const size = static_cast<std::int64_t>(wide);
    return static_cast<std::int64_t>(static_cast<float>(d.size()) * static_cast<float>(scale)) == size ? dim(size)
                                                                                                       : dim();
}

/// Upsample and Resize.
template <class Context>
void resize(Context& c) {
    if (!c.ranked(0)) return;
    std::size_t const factors_at = c.inputs() > 2 ? 2 : 1; // opset 10 has no roi
    bool const cropped =
        c.text("coordinate_transformation_mode", "") == "tf_crop_and_resize"; // the size depends on roi as well
    tensor const* factors = cropped ? nullptr : c.constant(factors_at);
    node_attribute const* listed = c.attribute("scales"); // Upsample before opset 9
    list const sizes = c.text("keep_aspect_ratio_policy", "stretch") == "stretch" ? c.elements(3) : list{};
    list axes = c.numbers("axes");
    dims out = c.in(0);
    for (std::int64_t i = 0; !axes && i != c.rank(0); ++i) axes.values.push_back(i);
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const axis = axis_of(axes[i], c.rank(0));
        if (axis < 0) return;
        dim const& in = c.in(0)[index(axis)];
        dim& d = out[index(axis)];
        d = dim();
        if (c.has(3)) d = i < sizes.size() ? sizes.as_dim(i) : dim();
        else if (listed != nullptr)
            d = i < listed->floats.size() ? scaled(in, static_cast<double>(listed->floats[i])) : dim();
        else if (factors != nullptr && static_cast<std::int64_t>(i) < factors->element_count())
            d = scaled(in, factors->at(i).to<double>());
    }
    c.set(0, out);
}

/// LSTM, GRU and RNN: all hidden states, the last one, and the last cell (LSTM only).
template <class Context>
void recurrent(Context& c) {
    bool const batch_first = c.number("layout", 0) != 0;
    bool const known = c.ranked(0) && c.rank(0) == 3;
    dim const steps = known ? c.in(0)[batch_first ? 1 : 0] : dim();
    dim const batch = known ? c.in(0)[batch_first ? 0 : 1] : dim();
    dim const directions = c.text("direction", "forward") == "bidirectional" ? 2 : 1;
    dim hidden = c.ranked(2) && c.rank(2) == 3 ? c.in(2)[2] : dim();
    if (c.attribute("hidden_size") != nullptr) hidden = c.number("hidden_size", -1);
    c.set(0, batch_first ? dims{batch, steps, directions, hidden} : dims{steps, directions, batch, hidden});
    for (std::size_t i = 1; i != 3; ++i)
        c.set(i, batch_first ? dims{batch, directions, hidden} : dims{directions, batch, hidden});
}

/// DepthToSpace and SpaceToDepth.
template <class Context>
void move_depth(Context& c, bool to_space) {
    std::int64_t const block = c.number("blocksize", 0);
    if (!c.ranked(0) || c.rank(0) != 4 || block < 1) return c.set_rank(0, 4);
    auto const more = [](dim const& d, std::int64_t n) {
        return d.is_static() ? dim(checked_int(d.size()) * n) : dim();
    };
    auto const less = [](dim const& d, std::int64_t n) { return d.is_static() ? dim(d.size() / n) : dim(); };
    dims const& in = c.in(0);
    if (to_space)
        c.set(0, {in[0], less(in[1], checked_multiply(block, block)), more(in[2], block), more(in[3], block)});
    else c.set(0, {in[0], more(in[1], checked_multiply(block, block)), less(in[2], block), less(in[3], block)});
}

/// AffineGrid: from the sizes (batch, channels, size...) to (batch, size..., coordinate).
template <class Context>
void affine_grid(Context& c) {
    list const size = c.elements(1);
    if (size.size() < 4) return;
    dims out;
    for (std::size_t i = 0; i != size.size(); ++i)
        if (i != 1) out.push_back(size.as_dim(i));
    out.emplace_back(count(out) - 1);
    c.set(0, out);
}

template <class Context>
void grid_sample(Context& c) {
    if (!c.ranked(0) || !c.ranked(1)) return;
    if (c.rank(0) < 3 || c.rank(0) != c.rank(1))
        c.refuse("an input of rank " + std::to_string(c.rank(0)) + " with a grid of rank " + std::to_string(c.rank(1)));
    expect_same(c.in(0)[0], c.in(1)[0], "onnx::GridSample: batches");
    expect_same(c.in(1).back(), c.rank(0) - 2, "onnx::GridSample: coordinates");
    dims out;
    append(out, c.in(0), 0, 2);
    append(out, c.in(1), 1, c.rank(1) - 1);
    c.set(0, out);
}

template <class Context>
void col2im(Context& c) {
    list const image = c.elements(1);
    list const block = c.numbers(2);
    if (c.ranked(0) && c.rank(0) != 3) c.refuse("a tensor of rank " + std::to_string(c.rank(0)));
    if (!image) return;
    auto const expect_length = [&](list const& other) {
        if (other && other.size() != image.size())
            c.refuse(std::to_string(other.size()) + " numbers for " + std::to_string(image.size()) + " dimensions");
    };
    expect_length(block);
    expect_length(c.numbers("dilations"));
    expect_length(c.numbers("strides"));
    if (list const pads = c.numbers("pads"); pads && pads.size() != 2 * image.size())
        c.refuse(std::to_string(pads.size()) + " pads for " + std::to_string(image.size()) + " dimensions");
    bool const known = c.ranked(0);
    checked_int area = block ? 1 : 0;
    for (std::int64_t b : block.values) area = area * (block ? b : 0);
    dims out{known ? c.in(0)[0] : dim(),
             known && c.in(0)[1].is_static() && area > 0 ? dim(c.in(0)[1].size() / std::int64_t{area}) : dim()};
    append(out, to_dims(image), 0, static_cast<std::int64_t>(image.size()));
    c.set(0, out);
}

} // namespace aton::dsl::detail::shapes
