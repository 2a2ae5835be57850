// SPDX-License-Identifier: MIT
// Shape rules of operators over (batch, channel, spatial...): convolutions, pooling, resizing, and the recurrent layers.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <aton/ir/shapes/context.hpp>
#include <aton/ir/shapes/layout.hpp>

namespace ATON_NAMESPACE::shapes {

/// Kernel, strides, pads and dilations of one spatial dimension.
struct window {
    std::int64_t kernel = -1; ///< -1: unknown
    std::int64_t stride = 1;
    std::int64_t dilation = 1;
    std::int64_t before = 0;
    std::int64_t after = 0;

    [[nodiscard]] std::int64_t extent() const { return checked_int(checked_int(kernel) - 1) * dilation + 1; }
};

/// Refuses window attributes of the wrong length or with invalid sizes; `w` is the index of the weight input, or 0.
template <class Context>
void expect_windows(Context const& c, std::size_t w) {
    c.expect_rank(0, 3);
    std::size_t const n = c.in(0).size() - 2;
    if (w != 0 && c.ranked(w) && c.rank(w) != c.rank(0))
        c.refuse("a weight of rank " + std::to_string(c.rank(w)) + " for an input of rank " +
                 std::to_string(c.rank(0)));
    c.expect_numbers("kernel_shape", n, 1);
    c.expect_numbers("strides", n, 1);
    c.expect_numbers("dilations", n, 1);
    c.expect_numbers("pads", 2 * n, 0);
    if (c.attribute("pads") != nullptr && c.text("auto_pad", "NOTSET") != "NOTSET")
        c.refuse("both pads and auto_pad are given");
    for (std::size_t i = 2; w != 0 && c.attribute("kernel_shape") == nullptr && i < c.in(w).size(); ++i)
        if (c.in(w)[i].is(0)) c.refuse("the window has size 0");
}

/// The window over spatial dimension `i` of `n`. The kernel size comes from the attribute, or else from the weight.
template <class Context>
window window_at(Context const& c, std::size_t i, std::size_t n, dims const& weight) {
    auto const pick = [&](std::string_view name, std::size_t at, std::int64_t fallback) {
        node_attribute const* a = c.attribute(name);
        return a != nullptr && at < a->ints.size() ? a->ints[at] : fallback;
    };
    window w;
    w.kernel = pick("kernel_shape", i, weight.size() == n + 2 ? weight[i + 2].size_or(-1) : -1);
    w.stride = pick("strides", i, 1);
    w.dilation = pick("dilations", i, 1);
    bool const explicit_pads = c.text("auto_pad", "NOTSET") == "NOTSET";
    w.before = explicit_pads ? pick("pads", i, 0) : 0;
    w.after = explicit_pads ? pick("pads", i + n, 0) : 0;
    return w;
}

/// The number of windows that fit. With ceil_mode, a last window that starts in the padding is ignored since opset 22. Before, ONNX's
/// inference and runtimes disagree, so the size is unknown.
template <class = void>
dim windows(dim const& in, window const& w, std::string_view auto_pad, bool ceil_mode, int opset) {
    std::int64_t const extent = w.kernel < 0 ? 0 : w.extent();
    if (!in.is_static() || w.stride < 1) return {};
    (void)checked_add(in.size(), extent);
    if (auto_pad.starts_with("SAME")) return ceil_div(in.size(), w.stride);
    if (w.kernel < 0) return {};
    std::int64_t const space = checked_int(in.size()) + w.before + w.after - extent;
    if (space < 0)
        throw illegal_call("a window of size " + std::to_string(extent) +
                           " does not fit in a padded dimension of size " + std::to_string(extent + space));
    if (!ceil_mode) return space / w.stride + 1;
    std::int64_t const count = checked_int(ceil_div(space, w.stride)) + 1;
    bool const in_padding = checked_int(count - 1) * w.stride >= in.size() + w.before;
    return !in_padding ? dim(count) : opset >= 22 ? dim(count - 1) : dim();
}

template <class Context>
dims spatial(Context const& c, dims const& weight, dim const& channels, bool ceil_mode) {
    dims const& in = c.in(0);
    dims out{in[0], channels};
    for (std::size_t i = 0; i + 2 < in.size(); ++i)
        out.push_back(windows(
            in[i + 2], window_at(c, i, in.size() - 2, weight), c.text("auto_pad", "NOTSET"), ceil_mode, c.opset()));
    return out;
}

/// Conv and similar; `w` is the index of the weight input.
template <class Context>
void conv(Context& c, std::size_t w) {
    if (!c.ranked(0)) return c.ranked(w) ? c.set_rank(0, c.rank(w)) : void();
    expect_windows(c, w);
    c.set(0, spatial(c, c.in(w), c.ranked(w) && c.rank(w) == c.rank(0) ? c.in(w)[0] : dim(), false));
}

template <class Context>
void conv_transpose(Context& c) {
    if (!c.ranked(0)) return c.ranked(1) ? c.set_rank(0, c.rank(1)) : void();
    expect_windows(c, 1);
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
        c.refuse("the channels cannot be divided into " + std::to_string(group) + " groups");
    c.expect_numbers("output_padding", n, 0);
    c.expect_numbers("output_shape", n, 0);
    if (matching) expect_same(in[1], weight[0], "onnx::ConvTranspose: channel counts");
    for (std::size_t i = 0; i != n; ++i) {
        window const w = window_at(c, i, n, weight);
        bool const known = in[i + 2].is_static() && w.kernel >= 0 && !c.text("auto_pad", "NOTSET").starts_with("SAME");
        std::int64_t const padding = i < extra.size() ? extra[i] : 0;
        if (sizes && sizes[i] < in[i + 2].size_or(0)) c.refuse("output_shape is smaller than the input");
        if (sizes) out.emplace_back(sizes[i]);
        else if (known) {
            std::int64_t const size =
                checked_int(w.stride) * (in[i + 2].size() - 1) + padding + w.extent() - w.before - w.after;
            if (size < 0) c.refuse("a dimension of the result has size " + std::to_string(size));
            out.emplace_back(size);
        } else out.emplace_back();
    }
    c.set(0, out);
}

template <class Context>
void pool(Context& c) {
    if (!c.ranked(0)) return;
    expect_windows(c, 0);
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
    if (c.rank(0) < 2) c.refuse("the input has rank " + std::to_string(c.rank(0)) + ", expected at least 2");
    expect_same(c.in(0)[c.in(0).size() - 2], c.in(0).back(), "onnx::Det: numbers of rows and columns");
    dims out;
    append(out, c.in(0), 0, c.rank(0) - 2);
    c.set(0, out);
}

/// A scaled dimension. Refused if float arithmetic (ONNX Runtime) and double arithmetic (ONNX's inference) round to different sizes.
template <class = void>
dim scaled(dim const& d, double scale) {
    if (exactly_equal(scale, 1)) return d;
    if (!d.is_static()) return {};
    double const wide = static_cast<double>(d.size()) * scale;
    float const narrow = static_cast<float>(d.size()) * static_cast<float>(scale);
    constexpr double limit = 0x1p62;
    if (!(wide >= 0 && wide < limit) || !(static_cast<double>(narrow) < limit) ||
        static_cast<std::int64_t>(wide) != static_cast<std::int64_t>(narrow))
        throw illegal_call("onnx::Resize: size " + std::to_string(d.size()) +
                           " times its scale does not fit in 64 bits, or depends on rounding");
    return static_cast<std::int64_t>(wide);
}

/// Refuses a Resize unless it has either sizes or scales, one for each axis.
template <class Context>
void expect_one_resize(Context const& c, std::size_t axes, tensor const* scales) {
    auto const of_axes = [&](std::int64_t n, char const* what) {
        if (n >= 0 && n != static_cast<std::int64_t>(axes))
            c.refuse(std::to_string(n) + what + std::to_string(axes) + " axes");
    };
    bool const has_sizes = c.has(3) && c.length(3) != 0;
    bool const has_scales = c.has(2) && (scales == nullptr || scales->element_count() != 0);
    c.expect_rank(3, 1, 1);
    if (has_sizes && c.length(3) < 0) c.refuse("the number of sizes is unknown");
    if (has_sizes) of_axes(c.length(3), " sizes for ");
    if (has_scales && scales != nullptr) of_axes(scales->element_count(), " scales for ");
    for (std::int64_t i = 0; has_scales && scales != nullptr && i != scales->element_count(); ++i)
        if (!(scales->at(index(i)).to<double>() > 0)) c.refuse("a scale is not positive");
    if (c.opset() >= 13 && has_sizes == has_scales) c.refuse("either sizes or scales must be given");
    std::string_view const policy = c.text("keep_aspect_ratio_policy", "stretch");
    if (policy != "stretch" && (has_scales || (policy != "not_larger" && policy != "not_smaller")))
        c.refuse("invalid keep_aspect_ratio_policy");
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
    if (axes.size() == 0)
        for (std::int64_t i = 0; i != c.rank(0); ++i) axes.values.push_back(i);
    ints resized;
    if (!mark(axes.values, c.rank(0), resized)) c.refuse("an axis is out of range or duplicated");
    if (c.node().op == "Resize" && c.opset() >= 11) expect_one_resize(c, axes.size(), c.constant(2));
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const axis = axis_of(axes[i], c.rank(0));
        dim const& in = c.in(0)[index(axis)];
        dim& d = out[index(axis)];
        d = dim();
        if (c.has(3) && c.length(3) != 0) d = i < sizes.size() ? sizes.as_dim(i) : dim();
        else if (listed != nullptr)
            d = i < listed->floats.size() ? scaled(in, static_cast<double>(listed->floats[i])) : dim();
        else if (factors != nullptr && static_cast<std::int64_t>(i) < factors->element_count())
            d = scaled(in, factors->at(i).to<double>());
    }
    c.set(0, out);
}

/// LSTM, GRU and RNN: all hidden states, the last one, and the last cell state (only LSTM).
template <class Context>
void recurrent(Context& c) {
    for (std::size_t i = 0; i != 3; ++i) c.expect_rank(i, 3, 3);
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
    c.expect_rank(0, 4, 4);
    if (block < 1) c.refuse("invalid blocksize " + std::to_string(block));
    (void)checked_multiply(block, block);
    if (!c.ranked(0)) return c.set_rank(0, 4);
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
    c.expect_rank(0, 3, 3);
    list const size = c.sizes(1);
    if (size && size.size() != 4 && size.size() != 5) c.refuse(std::to_string(size.size()) + " sizes, expected 4 or 5");
    if (!size) return;
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
    expect_same(c.in(0)[0], c.in(1)[0], "onnx::GridSample: batch sizes");
    expect_same(c.in(1).back(), c.rank(0) - 2, "onnx::GridSample: numbers of coordinates");
    dims out;
    append(out, c.in(0), 0, 2);
    out[0] = merge(out[0], c.in(1)[0]);
    append(out, c.in(1), 1, c.rank(1) - 1);
    c.set(0, out);
}

template <class Context>
void col2im(Context& c) {
    list const image = c.sizes(1);
    c.expect_rank(2, 1, 1);
    list const block = c.numbers(2);
    if (c.ranked(0) && c.rank(0) != 3) c.refuse("the input has rank " + std::to_string(c.rank(0)) + ", expected 3");
    std::int64_t n = -1; // number of spatial dimensions; unknown yet
    auto const expect_length = [&](std::int64_t length) {
        if (length >= 0 && n >= 0 && n != length)
            c.refuse(std::to_string(length) + " numbers for " + std::to_string(n) + " dimensions");
        n = larger(n, length);
    };
    expect_length(c.length(1));
    expect_length(c.length(2));
    for (char const* const name : {"dilations", "strides", "pads"})
        if (list const given = c.numbers(name)) {
            if (name[0] == 'p' && given.size() % 2 != 0) c.refuse("an odd number of pads");
            expect_length(static_cast<std::int64_t>(given.size() / (name[0] == 'p' ? 2 : 1)));
        }
    for (std::int64_t const size : block.values)
        if (block && size < 1) c.refuse("invalid block size " + std::to_string(size));
    if (!image) return;
    bool const known = c.ranked(0);
    checked_int area = block ? 1 : 0;
    for (std::int64_t b : block.values) area = area * (block ? b : 0);
    dims out{known ? c.in(0)[0] : dim(),
             known && c.in(0)[1].is_static() && area > 0 ? dim(c.in(0)[1].size() / std::int64_t{area}) : dim()};
    append(out, to_dims(image), 0, static_cast<std::int64_t>(image.size()));
    c.set(0, out);
}

} // namespace ATON_NAMESPACE::shapes
