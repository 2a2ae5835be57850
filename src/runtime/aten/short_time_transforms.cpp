// SPDX-License-Identifier: MIT
// ATen operators: Fourier transforms of the frames of a signal.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <aton/aten/promotion.hpp>
#include <aton/core/budget.hpp>
#include <aton/core/error.hpp>

#include "runtime/compute/complex.hpp"

#include "axes.hpp"
#include "transforms.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The window, centered in `size` elements; ones if none is given.
tensor window_of(call const& c, tensor const& like, std::int64_t length, std::int64_t size) {
    tensor const given = c.given("window") ? c.t("window") : full(1, like.dtype(), {length}, like.where());
    if (given.rank() != 1 || given.size(0) != length) throw error("the window has shape " + to_string(given.sizes()));
    std::int64_t const before = (size - length) / 2;
    return pad(given, {before}, {size - length - before}, 0);
}

/// Pads [batch, time] on both sides, for centered windows.
tensor padded_around(call const& c, tensor const& x, std::int64_t by) {
    return c
        .run("aten::pad",
             {aten_argument::of_tensor(x.unsqueezed(1)).named("self"),
              aten_argument::of_numbers({by, by}).named("pad"),
              aten_argument(c.argument("pad_mode")).named("mode")})
        .results.at(0)
        .one()
        .squeezed(1);
}

results stft(call const& c) {
    if (!is_floating(to_real(c.t("self").dtype()))) throw error("a signal of integers");
    tensor const self = as_signal(c.t("self"));
    if (self.rank() != 1 && self.rank() != 2)
        throw error("[batch, time] or [time] is expected, not " + to_string(self.sizes()));
    std::int64_t const size = c.i("n_fft");
    std::int64_t const hop = c.maybe_i("hop_length").value_or(size / 4);
    std::int64_t const length = c.maybe_i("win_length").value_or(size);
    bool const centered = c.has_argument("center") && c.b("center");
    bool const aligned = c.has_argument("align_to_window") && c.given("align_to_window") && c.b("align_to_window");
    if (aligned && centered) throw error("center and align_to_window cannot be combined");
    tensor x = self.rank() == 1 ? self.unsqueezed(0) : self;
    if (size < 1 || hop < 1 || length < 1 || length > size)
        throw error("n_fft, hop_length or win_length is out of range");
    if (centered) x = padded_around(c, x, size / 2);
    if (aligned) x = pad(x, {0, (size - length) / 2}, {0, (size - length + 1) / 2}, 0);
    if (x.size(1) < size) throw error("a window is longer than the signal");
    std::int64_t const frames = (x.size(1) - size) / hop + 1;
    x = contiguous(x);
    tensor const cut = x.viewed({x.size(0), frames, size}, {x.strides()[0], frames > 1 ? hop : 1, 1});
    tensor const window = window_of(c, self, length, size);
    dtype const type = aten::promote_types(cut.dtype(), window.dtype());
    tensor const signal = cast(cut, type) * cast(window, type);
    norm_mode const norm = c.b("normalized") ? norm_mode::by_root : norm_mode::none;
    bool const onesided = c.given("onesided") ? c.b("onesided") : !is_complex(type);
    if (onesided) require_real(signal);
    if (!c.given("return_complex") && !is_complex(type)) throw error("return_complex is required for real signals");
    tensor out = onesided ? real_to_complex(signal, {2}, norm, true, true)
                          : complex_to_complex(parts_of(signal), {2}, norm, true);
    out = transpose(out, 1, 2);
    if (self.rank() == 1) out = out.squeezed(0);
    bool const as_complex = c.given("return_complex") ? c.b("return_complex") : is_complex(type);
    return as_complex ? out : out.as_pairs();
}

/// Adds the frames of [batch, frame, size] at distances of `hop`: [batch, time].
tensor overlapped(call const& c, tensor const& frames, std::int64_t hop) {
    std::int64_t const size = frames.size(2);
    std::int64_t const length = size + hop * (frames.size(1) - 1);
    return c
        .run("aten::col2im",
             {aten_argument::of_tensor(transpose(frames, 1, 2)).named("self"),
              aten_argument::of_numbers({1, length}).named("output_size"),
              aten_argument::of_numbers({1, size}).named("kernel_size"),
              aten_argument::of_numbers({1, 1}).named("dilation"),
              aten_argument::of_numbers({0, 0}).named("padding"),
              aten_argument::of_numbers({1, hop}).named("stride")})
        .results.at(0)
        .one()
        .squeezed(1)
        .squeezed(1);
}

/// The inverse transform of each frame of [batch, frame, frequency].
tensor frames_of(call const& c, tensor const& spectrum, std::int64_t size) {
    std::vector<aten_argument> const given = {
        aten_argument::of_tensor(spectrum).named("self"),
        aten_argument::of_number(size).named("n"),
        aten_argument::of_text(c.b("normalized") ? "ortho" : "backward").named("norm")};
    return c.run(c.b("return_complex") ? "aten::fft_ifft" : "aten::fft_irfft", given).results.at(0).one();
}

results istft(call const& c) {
    tensor const self = c.t("self");
    if (!is_complex(self.dtype())) throw error("a spectrum that is not complex");
    if ((self.rank() != 2 && self.rank() != 3) || self.count() == 0)
        throw error("[batch, frequency, frame] is expected, not " + to_string(self.sizes()));
    std::int64_t const size = c.i("n_fft");
    std::int64_t const hop = c.maybe_i("hop_length").value_or(size / 4);
    std::int64_t const length = c.maybe_i("win_length").value_or(size);
    if (hop < 1 || hop > length || length > size) throw error("n_fft, hop_length or win_length is out of range");
    tensor const x = self.rank() == 2 ? self.unsqueezed(0) : self;
    bool const onesided = c.given("onesided") ? c.b("onesided") : x.size(1) != size;
    if (x.size(1) != (onesided ? size / 2 + 1 : size)) throw error("the number of frequencies does not fit n_fft");
    if (onesided && c.b("return_complex")) throw error("onesided and return_complex cannot be combined");
    tensor const window = window_of(c, full(0, part_type(self.dtype()), {}, self.where()), length, size);
    if (is_complex(window.dtype())) throw error("a complex window");

    tensor const ones = full(1, window.dtype(), {1, x.size(2), 1}, self.where());
    tensor const squares = overlapped(c, square(window) * ones, hop);
    std::int64_t const start = c.b("center") ? size / 2 : 0;
    std::optional<std::int64_t> const wanted = c.maybe_i("length");
    std::int64_t const end = wanted ? checked_add(start, *wanted) : squares.size(1) - start;
    std::int64_t const last = std::min(end, squares.size(1));
    tensor const weights = python_slice(squares, 1, start, last);
    if (weights.size(1) < 1) throw error("a signal of no samples");
    if (to_host(min(weights, all_axes(weights))).item().to<double>() < 1e-11)
        throw error("a sample that no window covers");
    auto const signal = [&](tensor const& frames) {
        tensor y = python_slice(overlapped(c, frames * window, hop), 1, start, last) / weights;
        if (end > last) y = pad(y, {0, 0}, {0, end - last}, 0);
        return self.rank() == 2 ? y.squeezed(0) : y;
    };
    complex_parts const frames = parts_of(frames_of(c, transpose(x, 1, 2), size));
    return frames.imaginary ? complex_of(signal(frames.real), signal(frames.imaginary)) : signal(frames.real);
}

} // namespace

rows short_time_transforms() {
    static constexpr row all[] = {
        {"istft", istft},
        {"stft", stft},
        {"stft.center", stft},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
