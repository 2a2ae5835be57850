// SPDX-License-Identifier: MIT
// Fourier transforms: torch.fft. Complex numbers are pairs along a trailing axis, as in DFT.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <aton/mappings/detail/fourier.hpp>
#include <aton/mappings/repeating.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

// The three kinds of transforms.

template <bool Forward>
inline constexpr auto fft = [](graph<9> g, complex_value self, transformed_axes const& axes, fourier_norm norm) {
    if (axes.empty()) return g.cast(self, to_complex(to_floating(self.tensor().dtype())));
    return g.as_complex(complex_spectrum(g, as_signal(g, self), axes, norm, Forward));
};
template <bool Forward>
inline constexpr auto rfft = [](graph<9> g, value self, transformed_axes axes, fourier_norm norm) {
    if (axes.empty()) throw unsupported_error("a real transform of no dimension");
    axes.back().half = true;
    std::swap(axes.front(), axes.back()); // the dimension of real numbers first
    return g.as_complex(complex_spectrum(g, as_signal(g, complex_value(self)), axes, norm, Forward));
};
template <bool Forward>
inline constexpr auto irfft =
    [](graph<9> g, complex_value self, transformed_axes const& axes, fourier_norm norm) -> value {
    if (axes.empty()) throw unsupported_error("a real transform of no dimension");
    return real_signal(g, as_signal(g, self), axes, norm, Forward);
};

// Their arguments.

inline transformed_axes axes_to_transform(std::int64_t rank, std::optional<size_list> s, std::optional<axis_list> dim) {
    safe_vector<std::int64_t> axes;
    if (dim && !dim->empty()) {
        if (rank == 0) throw unsupported_error("a Fourier transform of a 0-d tensor");
        axes = normalize_axes(*dim, rank);
    } else if (!dim) {
        std::int64_t const count = s ? static_cast<std::int64_t>(s->size()) : rank;
        if (count > rank) throw unsupported_error("s has more elements than the tensor has dimensions");
        for (std::int64_t i = rank - count; i != rank; ++i) axes.push_back(i);
    }
    if (has_duplicates(axes)) throw unsupported_error("dim has duplicates");
    if (s && s->size() != axes.size()) throw unsupported_error("s and dim have different lengths");
    transformed_axes out;
    for (std::size_t i = 0; i != axes.size(); ++i)
        out.push_back({axes[i], s && !(*s)[i].is(-1) ? std::optional<sym_int>((*s)[i]) : std::nullopt});
    return out;
}

template <auto const& Transform, bool Forward, class Self = complex_value>
inline constexpr auto along_one =
    [](graph<9> g, Self self, std::optional<sym_int> n, std::int64_t dim, std::optional<std::string_view> norm) {
        std::optional<size_list> const s = n ? std::optional<size_list>(size_list(&*n, 1)) : std::nullopt;
        return Transform(g, self, axes_to_transform(self.rank(), s, axis_list(&dim, 1)), norm_of(norm, Forward));
    };
template <auto const& Transform, bool Forward, class Self = complex_value>
inline constexpr auto along_any = [](graph<9> g, Self self, std::optional<size_list> s, std::optional<axis_list> dim,
                                     std::optional<std::string_view> norm) {
    return Transform(g, self, axes_to_transform(self.rank(), s, dim), norm_of(norm, Forward));
};
template <auto const& Transform, bool Forward, class Self = complex_value>
inline constexpr auto along_two =
    [](graph<9> g, Self self, std::optional<size_list> s, axis_list dim, std::optional<std::string_view> norm) {
        return along_any<Transform, Forward, Self>(g, self, s, dim, norm);
    };

inline void require_complex(complex_value const& z) {
    if (holds_reals(z))
        throw unsupported_error("a transform of complex numbers that are " + std::string(name(z.tensor().dtype())));
}
inline constexpr auto fft_c2c = symbolic<"aten::_fft_c2c(self, dim, normalization, forward)">(
    [](graph<9> g, complex_value self, axis_list dim, std::int64_t normalization, bool forward) {
        require_complex(self);
        transformed_axes const axes = axes_to_transform(self.rank(), std::nullopt, dim);
        return forward ? fft<true>(g, self, axes, norm_of(normalization))
                       : fft<false>(g, self, axes, norm_of(normalization));
    });
inline constexpr auto fft_r2c = symbolic<"aten::_fft_r2c(self, dim, normalization, onesided)">(
    [](graph<9> g, value self, axis_list dim, std::int64_t normalization, bool onesided) {
        transformed_axes const axes = axes_to_transform(self.rank(), std::nullopt, dim);
        if (onesided && !axes.empty()) return rfft<true>(g, self, axes, norm_of(normalization));
        return fft<true>(g, complex_value(self), axes, norm_of(normalization));
    });
inline constexpr auto fft_c2r = symbolic<"aten::_fft_c2r(self, dim, normalization, last_dim_size)">(
    [](graph<9> g, complex_value self, axis_list dim, std::int64_t normalization, sym_int size) {
        require_complex(self);
        transformed_axes axes = axes_to_transform(self.rank(), std::nullopt, dim);
        if (!axes.empty()) axes.back().length = size;
        return irfft<false>(g, self, axes, norm_of(normalization));
    });

/// Moves element 0 to the middle of its dimensions, or back.
template <bool Back>
inline constexpr auto shift_spectrum = [](graph<9> g, value self, std::optional<axis_list> dim) -> value {
    if (self.rank() == 0) return self;
    value x = self;
    for (std::int64_t const axis : dim ? normalize_axes(*dim, self.rank()) : iota(self.rank()))
        x = roll_axis(g, x, (g.size(x, axis) + (Back ? 1 : 0)) / 2, axis);
    return x;
};

/// The frequencies of a spectrum of n elements at a distance of d, computed like at::fft_fftfreq: rounded integers
/// times a rounded factor.
template <bool Half>
inline constexpr auto frequencies = [](graph<9> g, std::int64_t n, double d, optional_dtype asked) -> value {
    dtype const type = asked.value_or(aten::default_dtype);
    if (!is_floating(type)) return g.unsupported("frequencies of dtype " + std::string(name(type)));
    if (n < 0) return g.unsupported("a spectrum of " + std::to_string(n) + " elements");
    budget::expect("frequencies", n);
    std::int64_t const count = Half ? n / 2 + 1 : n;
    double const factor = 1 / (static_cast<double>(n) * d);
    tensor steps{type, {count}, {}};
    tensor all{type, {count}, {}};
    for (std::int64_t i = 0; i != count; ++i) {
        steps.append(Half || i < (n + 1) / 2 ? i : i - n);
        auto const step = steps.at(static_cast<std::size_t>(i)).to<double>();
        if (type == dtype::float64) all.append(step * factor);
        else all.append(static_cast<float>(step) * static_cast<float>(factor));
    }
    return g.constant(std::move(all));
};

} // namespace detail

inline constexpr auto transforms = table(
    symbolic<"aten::fft_fft(self, n, dim, norm)">(detail::along_one<detail::fft<true>, true>),
    symbolic<"aten::fft_ifft(self, n, dim, norm)">(detail::along_one<detail::fft<false>, false>),
    symbolic<"aten::fft_rfft(self, n, dim, norm)">(detail::along_one<detail::rfft<true>, true, value>),
    symbolic<"aten::fft_ihfft(self, n, dim, norm)">(detail::along_one<detail::rfft<false>, false, value>),
    symbolic<"aten::fft_irfft(self, n, dim, norm)">(detail::along_one<detail::irfft<false>, false>),
    symbolic<"aten::fft_hfft(self, n, dim, norm)">(detail::along_one<detail::irfft<true>, true>),
    symbolic<"aten::fft_fft2(self, s, dim, norm)">(detail::along_two<detail::fft<true>, true>),
    symbolic<"aten::fft_ifft2(self, s, dim, norm)">(detail::along_two<detail::fft<false>, false>),
    symbolic<"aten::fft_rfft2(self, s, dim, norm)">(detail::along_two<detail::rfft<true>, true, value>),
    symbolic<"aten::fft_ihfft2(self, s, dim, norm)">(detail::along_two<detail::rfft<false>, false, value>),
    symbolic<"aten::fft_irfft2(self, s, dim, norm)">(detail::along_two<detail::irfft<false>, false>),
    symbolic<"aten::fft_hfft2(self, s, dim, norm)">(detail::along_two<detail::irfft<true>, true>),
    symbolic<"aten::fft_fftn(self, s, dim, norm)">(detail::along_any<detail::fft<true>, true>),
    symbolic<"aten::fft_ifftn(self, s, dim, norm)">(detail::along_any<detail::fft<false>, false>),
    symbolic<"aten::fft_rfftn(self, s, dim, norm)">(detail::along_any<detail::rfft<true>, true, value>),
    symbolic<"aten::fft_ihfftn(self, s, dim, norm)">(detail::along_any<detail::rfft<false>, false, value>),
    symbolic<"aten::fft_irfftn(self, s, dim, norm)">(detail::along_any<detail::irfft<false>, false>),
    symbolic<"aten::fft_hfftn(self, s, dim, norm)">(detail::along_any<detail::irfft<true>, true>), detail::fft_c2c,
    detail::fft_r2c, detail::fft_c2r, symbolic<"aten::fft_fftfreq(n, d, dtype)">(detail::frequencies<false>),
    symbolic<"aten::fft_rfftfreq(n, d, dtype)">(detail::frequencies<true>),
    symbolic<"aten::fft_fftshift(self, dim)">(detail::shift_spectrum<false>).by_parts<"self">(),
    symbolic<"aten::fft_ifftshift(self, dim)">(detail::shift_spectrum<true>).by_parts<"self">());

} // namespace ATON_NAMESPACE::mappings
