// SPDX-License-Identifier: MIT
// ATen operators: Fourier transforms (torch.fft) along one or several dimensions.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "runtime/compute/fourier.hpp"
#include <aton/aten/promotion.hpp>

#include "axes.hpp"
#include "runtime/compute/complex.hpp"
#include "transforms.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

tensor as_signal(tensor const& x) {
    dtype const type = to_real(x.dtype());
    if (compute_type(type) != type) throw error("transforms do not support " + std::string(name(type)));
    return cast(x, type);
}

complex_parts parts_of(tensor const& x) {
    if (!is_complex(x.dtype())) return {x, {}};
    return {real_part(x), imaginary_part(x)};
}
void require_real(tensor const& x) {
    if (is_complex(x.dtype())) throw error("real numbers are expected, not " + std::string(name(x.dtype())));
}

namespace {

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

double elements_along(tensor const& x, std::vector<std::size_t> const& axes) {
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

} // namespace

// The three kinds, normalized, over several dimensions, of which the last is halved. Computed in float64, since sums of
// large numbers cancel.

tensor complex_to_complex(complex_parts const& x, std::vector<std::size_t> const& axes, norm_mode norm, bool forward) {
    complex_parts const y = along(in(x, dtype::float64), axes, !forward);
    return whole(in(scaled(y, norm, elements_along(x.real, axes)), x.real.dtype()));
}

tensor real_to_complex(tensor const& x, std::vector<std::size_t> axes, norm_mode norm, bool forward, bool onesided) {
    if (axes.empty()) return whole({x, {}});
    double const count = elements_along(x, axes);
    std::size_t const last = axes.back();
    axes.pop_back();
    complex_parts const first = fourier(in({x, {}}, dtype::float64), signed_axis(last), !forward);
    complex_parts const y = along(onesided ? half(first, last) : first, axes, !forward);
    return whole(in(scaled(y, norm, count), x.dtype()));
}

namespace {

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
    return cast(scaled({out, {}}, norm, elements_along(out, axes)).real, type);
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

void require_complex(tensor const& x) {
    if (!is_complex(x.dtype())) throw error("the tensor is " + std::string(name(x.dtype())) + ", not complex");
}
results c2c(call const& c) {
    tensor const x = c.t("self");
    require_complex(x);
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
    require_complex(x);
    std::vector<std::size_t> const axes = distinct_axes(c.ints("dim"), x.rank());
    if (axes.empty()) throw error("at least one dimension must be transformed");
    return complex_to_real(parts_of(x), axes, norm_of(c.i("normalization")), false, c.i("last_dim_size"));
}

/// 0, 1, ..., and for a whole spectrum then ..., -2, -1, divided by n d.
template <bool Half>
results frequencies(call const& c) {
    std::int64_t const n = c.i("n");
    if (n < 0) throw error("a spectrum of " + std::to_string(n) + " elements");
    dtype const type = c.type("dtype", aton::aten::default_dtype);
    if (!is_floating(type)) throw error("frequencies require a floating-point dtype");
    auto const range = [&](std::int64_t from, std::int64_t to) {
        tensor out = tensor::empty(dtype::int64, {to - from});
        for (std::int64_t i = from; i != to; ++i) out.data<std::int64_t>()[i - from] = i;
        return out;
    };
    std::vector<tensor> const both = {range(0, n / 2 + n % 2), range(-(n / 2), 0)};
    tensor const steps = cast(to_device(Half ? range(0, n / 2 + 1) : concat(both, 0), c.where()), type);
    dtype const wide = compute_type(type);
    tensor const factor = cast(tensor::of_scalar(1 / (static_cast<double>(n) * c.f("d")), dtype::float64), wide);
    return cast(cast(steps, wide) * to_device(factor, c.where()), type);
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
        {"fft_fftfreq", frequencies<false>},
        {"fft_rfftfreq", frequencies<true>},
        {"fft_fftshift", shifted<false>},
        {"fft_ifftshift", shifted<true>},
        {"_fft_c2c", c2c},
        {"_fft_r2c", r2c},
        {"_fft_c2r", c2r},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
