// SPDX-License-Identifier: MIT
// ATen operators: Fourier transforms of the frames of a signal.
#include <cstdint>

#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

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
    tensor const cut = x.viewed({x.size(0), frames, size}, {x.strides()[0], hop, 1});
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

} // namespace

rows short_time_transforms() {
    static constexpr row all[] = {
        {"stft", stft},
        {"stft.center", stft},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
