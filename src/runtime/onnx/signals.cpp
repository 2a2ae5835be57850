// SPDX-License-Identifier: MIT
// ONNX operators: signal processing. Window functions run by their function bodies.
#include "runtime/compute/fourier.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "runtime/compute/normalization.hpp"
#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

std::int64_t integer(call const& c, std::size_t i) { return c.number(i).to<std::int64_t>(); }

/// The last axis has a real number, or both parts of a complex one.
complex_parts parts_of(tensor const& x) {
    std::size_t const last = x.rank() - 1;
    if (x.rank() == 0 || x.size(last) < 1 || x.size(last) > 2)
        throw error("the last axis of " + to_string(x.sizes()) + " must have size 1 or 2");
    auto const part = [&](std::int64_t i) { return x.sliced(last, i, 1).squeezed(last); };
    return {part(0), x.size(last) == 2 ? part(1) : tensor()};
}

tensor joined(complex_parts const& x) {
    std::vector<tensor> const parts = {x.real, x.imaginary};
    return stack(parts, -1);
}

/// The first size / 2 + 1 elements.
complex_parts one_side(complex_parts const& x, std::size_t axis) {
    std::int64_t const kept = x.real.size(axis) / 2 + 1;
    return {x.real.sliced(axis, 0, kept), x.imaginary.sliced(axis, 0, kept)};
}

results dft(call const& c) {
    tensor const x = widened(c.in(0));
    if (x.rank() < 2) throw error("a signal must have at least rank 2, not shape " + to_string(x.sizes()));
    bool const inverse = c.i("inverse", 0) != 0;
    bool const one_sided = c.i("onesided", 0) != 0;
    std::int64_t given = c.opset() < 20 ? c.i("axis", 1) : -2;
    if (c.opset() >= 20 && c.has(2)) given = integer(c, 2);
    std::size_t const axis = axis_at(given, x.rank());
    if (axis + 1 == x.rank()) throw error("the last axis holds real and imaginary parts");
    std::int64_t const size = x.size(axis);
    std::int64_t const length = c.has(1) ? integer(c, 1) : inverse && one_sided ? 2 * (size - 1) : size;
    if (length < 1) throw error("dft_length is " + std::to_string(length));
    complex_parts signal = parts_of(x);
    auto const at = static_cast<std::int64_t>(axis);
    double const scale = inverse ? 1 / static_cast<double>(length) : 1;
    if (inverse && one_sided)
        return cast((fourier_to_real(signal, at, length) * scalar(scale)).unsqueezed(x.rank() - 1), c.in(0).dtype());
    sizes const before(x.rank() - 1, 0);
    sizes after(x.rank() - 1, 0);
    after[axis] = length - size;
    signal.real = pad(signal.real, before, after, 0);
    if (signal.imaginary) signal.imaginary = pad(signal.imaginary, before, after, 0);
    complex_parts const y = fourier(signal, at, inverse);
    tensor const out = joined(one_sided ? one_side(y, axis) : y);
    return cast(inverse ? out * scalar(scale) : out, c.in(0).dtype());
}

results stft(call const& c) {
    tensor const x = contiguous(widened(c.in(0)));
    if (x.rank() != 3) throw error("a signal of shape [B, L, 1 or 2] is expected, not " + to_string(x.sizes()));
    std::int64_t const step = integer(c, 1);
    tensor const window = c.maybe(2);
    std::int64_t const length = c.has(3) ? integer(c, 3) : window ? window.count() : x.size(1);
    if (step < 1 || length < 1 || length > x.size(1))
        throw error("frame_length is " + std::to_string(length) + " and frame_step is " + std::to_string(step));
    if (window && (window.rank() != 1 || window.count() != length))
        throw error("the window does not have the length of a frame");
    std::int64_t const frames = (x.size(1) - length) / step + 1;
    std::vector<std::int64_t> const& s = x.strides();
    tensor seen = x.viewed({x.size(0), frames, length, x.size(2)}, {s[0], frames > 1 ? s[1] * step : 1, s[1], s[2]});
    if (window) seen = seen * reshape(cast(window, x.dtype()), {length, 1});
    complex_parts const y = fourier(parts_of(seen), 2, false);
    return cast(joined(c.i("onesided", 1) != 0 ? one_side(y, 2) : y), c.in(0).dtype());
}

/// Computed on the host, since it has few elements.
results mel_weight_matrix(call const& c) {
    std::int64_t const bands = integer(c, 0);
    std::int64_t const length = integer(c, 1);
    std::int64_t const rate = integer(c, 2);
    if (bands < 0 || length < 0 || rate < 1) throw error("the parameters of the mel matrix are out of range");
    auto const mel = [](double hertz) { return 2595 * std::log1p(hertz / 700) / std::log(10.0); };
    double const low = mel(c.number(3).to<double>());
    double const high = mel(c.number(4).to<double>());
    std::int64_t const bins = length / 2 + 1;
    tensor const out = tensor::empty(dtype::float64, {bins, bands});
    if (bands == 0) return cast(out, c.type("output_datatype", dtype::float32));
    kernels_of({}).copy(full(0, dtype::float64, out.sizes()), out);
    double const step = (high - low) / static_cast<double>(bands + 2);
    auto const bin = [&](std::int64_t i) { // of the i-th edge
        double const hertz = 700 * std::expm1((static_cast<double>(i) * step + low) / 2595 * std::log(10.0));
        double const at = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
        return static_cast<std::int64_t>(std::isnan(at) ? -1 : std::min(std::max(at, -1.0), static_cast<double>(bins)));
    };
    auto const set = [&](std::int64_t row, std::int64_t band, double weight) {
        if (row >= 0 && row < bins) out.data<double>()[row * bands + band] = weight;
    };
    for (std::int64_t i = 0; i != bands; ++i) {
        std::int64_t const left = bin(i);
        std::int64_t const centre = bin(i + 1);
        std::int64_t const right = bin(i + 2);
        if (left == centre) set(centre, i, 1);
        for (std::int64_t j = left; j <= centre && left < centre; ++j)
            set(j, i, static_cast<double>(j - left) / static_cast<double>(centre - left));
        for (std::int64_t j = centre; j < right; ++j)
            set(j, i, static_cast<double>(right - j) / static_cast<double>(right - centre));
    }
    return to_device(cast(out, c.type("output_datatype", dtype::float32)), c.where());
}

} // namespace

rows signals() {
    static constexpr row all[] = {
        {"DFT", dft},
        {"MelWeightMatrix", mel_weight_matrix},
        {"STFT", stft},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
