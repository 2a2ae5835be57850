// SPDX-License-Identifier: MIT
// ATen operators: Fourier transforms (torch.fft) along one or several dimensions, and in windows.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "runtime/compute/fourier.hpp"
#include <aton/aten/promotion.hpp>

#include "axes.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The divisor of the result, numbered as in at::native::fft_norm_mode.
enum class norm_mode : std::uint8_t { none, by_root, by_size };

norm_mode norm_of(std::int64_t number) {
    if (number < 0 || number > 2) throw error("unknown normalization " + std::to_string(number));
    return static_cast<norm_mode>(number);
}
norm_mode norm_of(call const& c, bool forward) {
    if (!c.given("norm") || c.text("norm") == "backward") return forward ? norm_mode::none : norm_mode::by_size;
    if (c.text("norm") == "ortho") return norm_mode::by_root;
    if (c.text("norm") == "forward") return forward ? norm_mode::by_size : norm_mode::none;
    throw error("unknown normalization '" + std::string(c.text("norm")) + "'");
}

/// Converts real numbers to a dtype that transforms support; complex ones stay.
tensor as_signal(tensor const& x) {
    dtype const type = to_real(x.dtype());
    if (compute_type(type) != type) throw error("transforms do not support " + std::string(name(type)));
    return cast(x, type);
}

complex_parts parts_of(tensor const& x) {
    if (!is_complex(x.dtype())) return {x, {}};
    return {real_part(x), imaginary_part(x)};
}
tensor whole(complex_parts const& x) {
    return complex_of(x.real, x.imaginary ? x.imaginary : full(0, x.real.dtype(), x.real.sizes(), x.real.where()));
}
complex_parts conjugated(complex_parts const& x) { return {x.real, x.imaginary ? -x.imaginary : tensor()}; }

/// Truncated or zero-padded at the end.
complex_parts resized(complex_parts const& x, std::size_t axis, std::int64_t size) {
    if (size < 1) throw error("a transform cannot have " + std::to_string(size) + " elements");
    auto const one = [&](tensor const& t) {
        if (!t || t.size(axis) == size) return t;
        sizes after(t.rank(), 0);
        after[axis] = size - t.size(axis);
        return pad(t, sizes(t.rank(), 0), after, 0);
    };
    return {one(x.real), one(x.imaginary)};
}

complex_parts scaled(complex_parts const& x, norm_mode norm, double count) {
    if (norm == norm_mode::none) return x;
    scalar const factor = norm == norm_mode::by_size ? 1 / count : 1 / std::sqrt(count);
    return {x.real * factor, x.imaginary ? x.imaginary * factor : tensor()};
}

double count_along(tensor const& x, std::vector<std::size_t> const& axes) {
    double count = 1;
    for (std::size_t const axis : axes) count *= static_cast<double>(x.size(axis));
    return count;
}

std::int64_t signed_axis(std::size_t axis) { return static_cast<std::int64_t>(axis); }

complex_parts along(complex_parts x, std::vector<std::size_t> const& axes, bool inverse) {
    for (std::size_t const axis : axes) x = fourier(x, signed_axis(axis), inverse);
    return x;
}

/// The first size / 2 + 1 elements, which determine the transform of real numbers.
complex_parts half(complex_parts const& x, std::size_t axis) {
    auto const one = [&](tensor const& t) { return t ? t.sliced(axis, 0, t.size(axis) / 2 + 1) : t; };
    return {one(x.real), one(x.imaginary)};
}

complex_parts in(complex_parts const& x, dtype type) {
    return {cast(x.real, type), x.imaginary ? cast(x.imaginary, type) : tensor()};
}

// The three kinds, normalized, over several dimensions, of which the last is halved. Computed in float64, since sums of
// large numbers cancel.

tensor complex_to_complex(complex_parts const& x, std::vector<std::size_t> const& axes, norm_mode norm, bool forward) {
    complex_parts const y = along(in(x, dtype::float64), axes, !forward);
    return whole(in(scaled(y, norm, count_along(x.real, axes)), x.real.dtype()));
}

tensor real_to_complex(tensor const& x, std::vector<std::size_t> axes, norm_mode norm, bool forward, bool onesided) {
    if (axes.empty()) return whole({x, {}});
    double const count = count_along(x, axes);
    std::size_t const last = axes.back();
    axes.pop_back();
    complex_parts const first = fourier(in({x, {}}, dtype::float64), signed_axis(last), !forward);
    complex_parts const y = along(onesided ? half(first, last) : first, axes, !forward);
    return whole(in(scaled(y, norm, count), x.dtype()));
}

/// `x` has size / 2 + 1 elements in the last dimension.
tensor complex_to_real(complex_parts x, std::vector<std::size_t> axes, norm_mode norm, bool forward,
                       std::int64_t size) {
    if (size < 1) throw error("a transform cannot have " + std::to_string(size) + " elements");
    if (!x.imaginary) x.imaginary = full(0, x.real.dtype(), x.real.sizes(), x.real.where());
    std::size_t const last = axes.back();
    axes.pop_back();
    dtype const type = x.real.dtype();
    x = along(in(resized(x, last, size / 2 + 1), dtype::float64), axes, !forward);
    tensor const out = fourier_to_real(forward ? conjugated(x) : x, signed_axis(last), size);
    axes.push_back(last);
    return cast(scaled({out, {}}, norm, count_along(out, axes)).real, type);
}

/// The transformed dimensions of a call and their sizes: one for fft and similar operators, several for fftn and fft2.
struct transformed {
    tensor x;
    std::vector<std::size_t> axes;
    sizes lengths;
    bool last_given = false;

    [[nodiscard]] complex_parts input(bool with_last) const {
        complex_parts p = parts_of(x);
        for (std::size_t i = 0; i + (with_last ? 0 : 1) < axes.size(); ++i) p = resized(p, axes[i], lengths[i]);
        return p;
    }
    /// The full size of a halved last dimension.
    [[nodiscard]] std::int64_t whole_length() const {
        return last_given ? lengths.back() : 2 * (x.size(axes.back()) - 1);
    }
};

transformed transformed_of(call const& c) {
    transformed t;
    t.x = as_signal(c.t("self"));
    bool const one = c.has_argument("n");
    std::string_view const length = one ? "n" : "s";
    sizes const given = c.given(length) ? c.ints(length) : sizes();
    if (one || c.given("dim")) {
        if (t.x.rank() == 0 && (one || !c.ints("dim").empty())) throw error("a 0-d tensor has no dimensions");
        t.axes = distinct_axes(c.ints("dim"), t.x.rank());
        if (c.given(length) && given.size() != t.axes.size()) throw error("s and dim must have the same length");
    } else {
        std::size_t const count = c.given(length) ? given.size() : t.x.rank();
        if (count > t.x.rank()) throw error("s has more elements than the input has dimensions");
        for (std::size_t i = t.x.rank() - count; i != t.x.rank(); ++i) t.axes.push_back(i);
    }
    for (std::size_t i = 0; i != t.axes.size(); ++i)
        t.lengths.push_back(i < given.size() && given[i] != -1 ? given[i] : t.x.size(t.axes[i]));
    t.last_given = !given.empty() && given.back() != -1;
    return t;
}

void require_some(transformed const& t) {
    if (t.axes.empty()) throw error("at least one dimension must be transformed");
}
void require_real(tensor const& x) {
    if (is_complex(x.dtype())) throw error("real numbers are expected, not " + std::string(name(x.dtype())));
}

template <bool Forward>
results fft(call const& c) {
    transformed const t = transformed_of(c);
    return complex_to_complex(t.input(true), t.axes, norm_of(c, Forward), Forward);
}

/// rfft, and ihfft the other way round.
template <bool Forward>
results rfft(call const& c) {
    transformed const t = transformed_of(c);
    require_some(t);
    require_real(t.x);
    return real_to_complex(t.input(true).real, t.axes, norm_of(c, Forward), Forward, true);
}

/// irfft, and hfft the other way round.
template <bool Forward>
results irfft(call const& c) {
    transformed const t = transformed_of(c);
    require_some(t);
    return complex_to_real(t.input(false), t.axes, norm_of(c, Forward), Forward, t.whole_length());
}

tensor rolled(tensor const& x, std::size_t axis, std::int64_t by) {
    std::vector<tensor> const both = {x.sliced(axis, x.size(axis) - by, by), x.sliced(axis, 0, x.size(axis) - by)};
    return concat(both, signed_axis(axis));
}

template <bool Back>
results shifted(call const& c) {
    tensor x = c.t("self");
    std::vector<std::size_t> axes(x.rank());
    std::iota(axes.begin(), axes.end(), 0);
    if (c.given("dim")) axes = distinct_axes(c.ints("dim"), x.rank());
    if (x.rank() == 0) return x;
    for (std::size_t const axis : axes) x = rolled(x, axis, (x.size(axis) + (Back ? 1 : 0)) / 2);
    return x;
}

results c2c(call const& c) {
    tensor const x = c.t("self");
    return complex_to_complex(
        parts_of(x), distinct_axes(c.ints("dim"), x.rank()), norm_of(c.i("normalization")), c.b("forward"));
}
results r2c(call const& c) {
    tensor const x = as_signal(c.t("self"));
    require_real(x);
    return real_to_complex(
        x, distinct_axes(c.ints("dim"), x.rank()), norm_of(c.i("normalization")), true, c.b("onesided"));
}
results c2r(call const& c) {
    tensor const x = c.t("self");
    std::vector<std::size_t> const axes = distinct_axes(c.ints("dim"), x.rank());
    if (axes.empty()) throw error("at least one dimension must be transformed");
    return complex_to_real(parts_of(x), axes, norm_of(c.i("normalization")), false, c.i("last_dim_size"));
}

// Short-time transforms.

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
    tensor out = onesided ? real_to_complex(signal, {2}, norm, true, true)
                          : complex_to_complex(parts_of(signal), {2}, norm, true);
    out = transpose(out, 1, 2);
    if (self.rank() == 1) out = out.squeezed(0);
    bool const as_complex = is_complex(type) || (c.given("return_complex") && c.b("return_complex"));
    return as_complex ? out : out.as_pairs();
}

} // namespace

rows transforms() {
    static constexpr row all[] = {
        {"fft_fft", fft<true>},
        {"fft_fft2", fft<true>},
        {"fft_fftn", fft<true>},
        {"fft_ifft", fft<false>},
        {"fft_ifft2", fft<false>},
        {"fft_ifftn", fft<false>},
        {"fft_rfft", rfft<true>},
        {"fft_rfft2", rfft<true>},
        {"fft_rfftn", rfft<true>},
        {"fft_ihfft", rfft<false>},
        {"fft_ihfft2", rfft<false>},
        {"fft_ihfftn", rfft<false>},
        {"fft_irfft", irfft<false>},
        {"fft_irfft2", irfft<false>},
        {"fft_irfftn", irfft<false>},
        {"fft_hfft", irfft<true>},
        {"fft_hfft2", irfft<true>},
        {"fft_hfftn", irfft<true>},
        {"fft_fftshift", shifted<false>},
        {"fft_ifftshift", shifted<true>},
        {"_fft_c2c", c2c},
        {"_fft_r2c", r2c},
        {"_fft_c2r", c2r},
        {"stft", stft},
        {"stft.center", stft},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
