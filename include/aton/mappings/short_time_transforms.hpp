// SPDX-License-Identifier: MIT
// Fourier transforms of the frames of a signal: aten's stft and istft. STFT (opset 17) has neither float32 angles that
// are exact, nor complex windows.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <aton/mappings/padding.hpp>
#include <aton/mappings/slicing.hpp>
#include <aton/mappings/transforms.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The window, centered in a frame; nothing if it is all ones.
inline std::optional<complex_value> centered_window(graph<9> g, std::optional<complex_value> const& window, dtype type,
                                                    std::int64_t length, std::int64_t size) {
    if (window && (window->rank() != 1 || (window->shape()[0].is_static() && window->shape()[0].size() != length)))
        throw unsupported_error("a window of another length than win_length");
    if (!window && length == size) return std::nullopt;
    std::int64_t const before = (size - length) / 2;
    sym_int const pads[] = {before, size - length - before};
    auto const padded = [&](value w) { return pad_constant(g, w, pads, 0); };
    if (!window) return complex_value(padded(filled(g, safe_vector<sym_int>{length}, 1, type)));
    if (holds_reals(*window)) return complex_value(padded(window->tensor()));
    return g.complex(padded(g.real(*window)), padded(g.imag(*window)));
}

/// The arguments that both overloads of stft have.
struct frame_arguments {
    std::int64_t size;
    std::optional<std::int64_t> hop, window_length;
    bool normalized;
    std::optional<bool> onesided, return_complex, aligned;
};

/// The longest frames whose transforms are a convolution. Up to 1024 elements, it takes 0.08 to 0.6 of the time of a
/// transform of each frame in ONNX Runtime, and 1.15 of it for 2048.
inline constexpr std::int64_t max_convolved_frame = 1024;

/// [2 * bins, 1, size]: the real parts of the waves of all frequencies, then the imaginary parts, each frequency times
/// its factor.
template <class Factor>
value waves(graph<9> g, std::int64_t bins, std::int64_t size, Factor factor_of_bin) {
    budget::expect("the waves of a short-time Fourier transform", 2 * checked_int(bins) * size);
    safe_vector<std::pair<double, double>> roots;
    for (std::int64_t t = 0; t != size; ++t) roots.push_back(root_of_unity(t, size));
    tensor all{dtype::float32, {2 * bins, 1, size}, {}};
    for (bool const imaginary : {false, true})
        for (std::int64_t k = 0; k != bins; ++k)
            for (std::int64_t t = 0; t != size; ++t) {
                auto const& [cosine, sine] = roots[static_cast<std::size_t>(k * t % size)];
                all.append(factor_of_bin(k) * (imaginary ? sine : cosine));
            }
    return g.constant(std::move(all));
}

/// The transforms of the frames of a real signal [batch, 1, time], as a convolution with the real and with the
/// imaginary part of every frequency, windowed: [batch, frequency, frame] each.
inline complex_value convolved_frames(graph<9> g, value x, optional_value window, frame_arguments const& a) {
    std::int64_t const bins = a.onesided.value_or(true) ? a.size / 2 + 1 : a.size;
    double const factor = a.normalized ? 1 / std::sqrt(static_cast<double>(a.size)) : 1;
    value const kernels = waves(g, bins, a.size, [&](std::int64_t) { return factor; });
    value const y = g.op<"Conv">(x,
                                 window ? value(g.op<"Mul">(kernels, *window)) : kernels,
                                 attr::kernel_shape_i({a.size}),
                                 attr::strides_i({a.hop.value_or(a.size / 4)}));
    sym_int const halves[] = {bins, bins};
    safe_vector<value> const parts = split(g, y, halves, 1);
    return {parts[0], parts[1]};
}

inline value short_time(graph<9> g, complex_value const& self, std::optional<complex_value> const& window,
                        frame_arguments const& a, std::optional<std::string_view> pad_mode) {
    std::int64_t const length = a.window_length.value_or(a.size);
    std::int64_t const hop = a.hop.value_or(a.size / 4);
    bool const centered = pad_mode.has_value();
    if (a.size < 1 || hop < 1 || length < 1 || length > a.size)
        throw unsupported_error("n_fft, hop_length or win_length out of range");
    if (self.rank() != 1 && self.rank() != 2) throw unsupported_error("a signal that is not [batch, time] or [time]");
    if (!is_floating(self.tensor().dtype()) && holds_reals(self)) throw unsupported_error("stft of integers");
    if (a.aligned.value_or(false) && centered) throw unsupported_error("center together with align_to_window");
    sym_int const edge = centered ? a.size / 2 : a.aligned.value_or(false) ? (a.size - length) / 2 : 0;
    sym_int const end = !centered && a.aligned.value_or(false) ? sym_int((a.size - length + 1) / 2) : edge;
    sym_int const pads[] = {edge, end};
    std::int64_t const time = self.rank() - 1;
    auto const padded = [&](value x) {
        if (centered || !edge.is(0) || !end.is(0)) x = pad_any(g, x, pads, pad_mode.value_or("constant"), std::nullopt);
        if (dim const& d = x.size(time); d.is_static() && d.size() < a.size)
            throw unsupported_error("a frame that is longer than the signal");
        return x;
    };
    auto const framed = [&](value x) {
        x = padded(x);
        return gather_of(g, x, window_positions(g, g.size(x, time), a.size, hop), time);
    };
    std::optional<complex_value> const w = centered_window(g, window, self.tensor().dtype(), length, a.size);
    auto const is_real_float32 = [](complex_value const& z) { return z.tensor().dtype() == dtype::float32; };
    if (is_real_float32(self) && (!w || is_real_float32(*w)) && a.return_complex && a.size <= max_convolved_frame) {
        value const x = padded(self.tensor());
        complex_value y = convolved_frames(
            g, time == 0 ? unsqueeze(g, x, iota(2)) : unsqueeze(g, x, 1), w ? optional_value(w->tensor()) : absent, a);
        if (time == 0) y = {squeeze(g, g.real(y), 0), squeeze(g, g.imag(y), 0)};
        return *a.return_complex ? g.to_value(y) : g.as_real(y);
    }
    auto const frames = [&] {
        if (!holds_reals(self) || (w && !holds_reals(*w))) {
            complex_value const x = holds_reals(self) ? complex_value(framed(self.tensor()))
                                                      : g.complex(framed(g.real(self)), framed(g.imag(self)));
            return w ? multiply_complex(g, promoted(g, x, *w)) : x;
        }
        value const x = framed(self.tensor());
        if (!w) return complex_value(x);
        dtype const type = promote(x, w->tensor());
        return complex_value(value(g.op<"Mul">(g.cast(x, type), g.cast(w->tensor(), type))));
    }();
    bool const real = holds_reals(frames);
    if (real && !a.return_complex) throw unsupported_error("stft of reals without return_complex");
    bool const half = a.onesided.value_or(real);
    if (half && !real) throw unsupported_error("onesided with a complex signal or window");
    transformed_axes const axes = {{time + 1, std::nullopt, half}};
    fourier_norm const norm = a.normalized ? fourier_norm::by_root : fourier_norm::none;
    value const y = swap_axes(g, complex_spectrum(g, as_signal(g, frames), axes, norm, true), time, time + 1);
    return a.return_complex.value_or(true) ? g.to_value(g.as_complex(y)) : y;
}

inline constexpr auto stft = symbolic<
    "aten::stft(self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window)">(
    [](graph<9> g, complex_value self, std::int64_t n_fft, std::optional<std::int64_t> hop,
       std::optional<std::int64_t> win_length, std::optional<complex_value> window, bool normalized,
       std::optional<bool> onesided, std::optional<bool> return_complex, std::optional<bool> align_to_window) -> value {
        frame_arguments const a = {n_fft, hop, win_length, normalized, onesided, return_complex, align_to_window};
        return short_time(g, self, window, a, std::nullopt);
    });
inline constexpr auto stft_centered = symbolic<"aten::stft.center(self, n_fft, hop_length, win_length, window, center, "
                                               "pad_mode, normalized, onesided, return_complex, align_to_window)">(
    [](graph<9> g, complex_value self, std::int64_t n_fft, std::optional<std::int64_t> hop,
       std::optional<std::int64_t> win_length, std::optional<complex_value> window, bool center,
       std::string_view pad_mode, bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex,
       std::optional<bool> align_to_window) -> value {
        frame_arguments const a = {n_fft, hop, win_length, normalized, onesided, return_complex, align_to_window};
        return short_time(g, self, window, a, center ? std::optional(pad_mode) : std::nullopt);
    });

/// Adds the frames of [batch, frame, size] at distances of `hop`: [batch, time]. Frames are cut into pieces of a hop,
/// and the pieces that lie at the same place are added: a row of zeros more in each matrix of pieces shifts it by one
/// place against the one before.
inline value add_overlapping(graph<11> g, value frames, std::int64_t hop) {
    sym_int const batch = g.size(frames, 0), count = g.size(frames, 1);
    std::int64_t const size = frames.size(2).size();
    std::int64_t const pieces = (size + hop - 1) / hop;
    sym_int const to_whole_pieces[] = {0, pieces * hop - size}, more[] = {0, 0, 0, pieces};
    value x = pieces * hop == size ? frames : pad_constant(g, frames, to_whole_pieces, 0);
    x = swap_axes(g, reshape(g, x, {batch, count, pieces, hop}), 1, 2);
    sym_int const places = count + (pieces - 1);
    x = reshape(g, pad_constant(g, x, more, 0), {batch, (count + pieces) * pieces, hop});
    x = reshape(g, slice(g, x, 1, 0, places * pieces), {batch, pieces, places, hop});
    x = reshape(g, reduce_sum(g, x, std::array<std::int64_t, 1>{1}, false), {batch, places * hop});
    return slice(g, x, 1, 0, (count - 1) * hop + size);
}

struct wave_arguments {
    std::int64_t size, hop;
    double factor;
};

/// The signal [batch, time] of a spectrum [batch, frequency, frame], as the sum of windowed waves: a transposed
/// convolution, which divides by the sum of the squared windows.
inline value added_waves(graph<11> g, complex_value const& spectrum, optional_value window, wave_arguments const& a) {
    std::int64_t const bins = a.size / 2 + 1; // of both halves, ATen reads the first
    value const re = slice(g, g.real(spectrum), 1, 0, bins);
    value const im = slice(g, g.imag(spectrum), 1, 0, bins);
    value const kernels = waves(g, bins, a.size, [&](std::int64_t k) {
        bool const has_mirror_image = k != 0 && k != a.size - k;
        return has_mirror_image ? 2 * a.factor : a.factor;
    });
    auto const added = [&](value x, value weight) {
        return g.op<"ConvTranspose">(x, weight, attr::kernel_shape_i({a.size}), attr::strides_i({a.hop}));
    };
    value const parts = g.op<"Concat">(re, im, attr::axis_i(1));
    value const sum = added(parts, window ? value(g.op<"Mul">(kernels, *window)) : kernels);
    value const squares =
        window ? value(g.op<"Mul">(*window, *window)) : filled(g, safe_vector<sym_int>{a.size}, 1, dtype::float32);
    value const ones = filled(g, safe_vector<sym_int>{1, 1, g.size(re, 2)}, 1, dtype::float32);
    return squeeze(g, g.op<"Div">(sum, added(ones, unsqueeze(g, squares, iota(2)))), 1);
}

inline constexpr auto istft = symbolic<
    "aten::istft(self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex)">(
    [](graph<11> g, complex_value self, std::int64_t n_fft, std::optional<std::int64_t> hop,
       std::optional<std::int64_t> win_length, std::optional<complex_value> window, bool center, bool normalized,
       std::optional<bool> onesided, std::optional<std::int64_t> length, bool return_complex) -> value {
        require_complex(self);
        if (self.rank() != 2 && self.rank() != 3)
            return g.unsupported("a spectrum that is not [batch, frequency, frame]");
        std::int64_t const window_length = win_length.value_or(n_fft), step = hop.value_or(n_fft / 4);
        if (step < 1 || step > window_length || window_length > n_fft)
            return g.unsupported("n_fft, hop_length or win_length out of range");
        if (length && *length < 1) return g.unsupported("a signal of no samples");
        value x = as_signal(g, self);
        dim const bins = x.size(-3);
        if (!bins.is_static()) return g.unsupported("a number of frequencies that is not known at export");
        bool const half = onesided.value_or(bins.size() != n_fft);
        if (bins.size() != (half ? n_fft / 2 + 1 : n_fft))
            return g.unsupported("a number of frequencies that does not fit n_fft");
        if (half && return_complex) return g.unsupported("onesided together with return_complex");
        if (window && !holds_reals(*window)) return g.unsupported("a complex window");
        if (x.rank() == 3) x = unsqueeze(g, x, 0);

        std::int64_t const start = center ? n_fft / 2 : 0;
        sym_int const count = g.size(x, 2), total = (count - 1) * step + n_fft;
        auto const trimmed = [&](value y) -> value {
            if (self.rank() == 2) y = squeeze(g, y, 0);
            std::int64_t const time = self.rank() - 2;
            if (!length) return slice(g, y, time, start, total - start);
            if (total.is_constant() && total.constant() - start >= *length)
                return slice(g, y, time, start, start + *length);
            safe_vector<sym_int> const zeros = {0, *length};
            return slice(g, pad_constant(g, slice(g, y, time, start, total), zeros, 0), time, 0, *length);
        };
        fourier_norm const norm = normalized ? fourier_norm::by_root : fourier_norm::by_size;
        bool const all_float32 = x.dtype() == dtype::float32 && (!window || window->tensor().dtype() == dtype::float32);
        if (all_float32 && !return_complex && n_fft <= max_convolved_frame) {
            std::optional<complex_value> const w = centered_window(g, window, x.dtype(), window_length, n_fft);
            optional_value const factors = w ? optional_value(w->tensor()) : absent;
            auto const batched = [&](value part) { return self.rank() == 2 ? unsqueeze(g, part, 0) : part; };
            complex_value const parts = {batched(g.real(self)), batched(g.imag(self))};
            return trimmed(added_waves(g, parts, factors, {n_fft, step, *factor_of(n_fft, norm)}));
        }

        transformed_axes const axes = {{2, sym_int(n_fft)}};
        value const spectrum = swap_axes(g, x, 1, 2);
        value const frames = return_complex ? complex_spectrum(g, spectrum, {{2, std::nullopt}}, norm, false)
                                            : real_signal(g, spectrum, axes, norm, false);
        std::optional<complex_value> const padded = centered_window(g, window, frames.dtype(), window_length, n_fft);
        value const w = padded ? padded->tensor() : filled(g, safe_vector<sym_int>{n_fft}, 1, frames.dtype());
        dtype const type = promote(frames, w);
        value const ones = filled(g, safe_vector<sym_int>{1, count, 1}, 1, type);
        value const squares = g.op<"Mul">(ones, g.op<"Mul">(g.cast(w, type), g.cast(w, type)));
        value const weights = add_overlapping(g, squares, step);
        auto const signal = [&](value x_frames) -> value {
            value const windowed = g.op<"Mul">(g.cast(x_frames, type), g.cast(w, type));
            return trimmed(g.op<"Div">(add_overlapping(g, windowed, step), weights));
        };
        if (!return_complex) return signal(frames);
        return g.to_value(g.complex(signal(select(g, frames, -1, 0)), signal(select(g, frames, -1, 1))));
    });

} // namespace detail

inline constexpr auto short_time_transforms = table(detail::istft, detail::stft, detail::stft_centered);

} // namespace ATON_NAMESPACE::mappings
