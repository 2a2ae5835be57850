// SPDX-License-Identifier: MIT
// Fourier transforms of the frames of a signal: aten's stft. STFT (opset 17) has neither float32 angles that are exact, nor complex windows.
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
    auto const framed = [&](value x) {
        if (centered || !edge.is(0) || !end.is(0)) x = pad_any(g, x, pads, pad_mode.value_or("constant"), std::nullopt);
        if (dim const& d = x.size(time); d.is_static() && d.size() < a.size)
            throw unsupported_error("a frame that is longer than the signal");
        return gather(g, x, window_positions(g, g.size(x, time), a.size, hop), time);
    };
    auto const frames = [&] {
        std::optional<complex_value> const w = centered_window(g, window, self.tensor().dtype(), length, a.size);
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

inline constexpr auto stft = [](graph<9> g, complex_value self, std::int64_t n_fft, std::optional<std::int64_t> hop,
                                std::optional<std::int64_t> win_length, std::optional<complex_value> window,
                                bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex,
                                std::optional<bool> align_to_window) -> value {
    frame_arguments const a = {n_fft, hop, win_length, normalized, onesided, return_complex, align_to_window};
    return short_time(g, self, window, a, std::nullopt);
};
inline constexpr auto stft_centered =
    [](graph<9> g, complex_value self, std::int64_t n_fft, std::optional<std::int64_t> hop,
       std::optional<std::int64_t> win_length, std::optional<complex_value> window, bool center,
       std::string_view pad_mode, bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex,
       std::optional<bool> align_to_window) -> value {
    frame_arguments const a = {n_fft, hop, win_length, normalized, onesided, return_complex, align_to_window};
    return short_time(g, self, window, a, center ? std::optional(pad_mode) : std::nullopt);
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto short_time_transforms = table(
    symbolic<"aten::stft(self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex, align_to_window)">(detail::stft),
    symbolic<"aten::stft.center(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex, align_to_window)">(detail::stft_centered));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
