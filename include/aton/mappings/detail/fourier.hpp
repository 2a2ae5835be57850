// SPDX-License-Identifier: MIT
// Fourier transforms along axes of a signal, whose trailing axis has its real and imaginary parts: as products with a
// matrix, or by DFT.
// Internal header.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <aton/mappings/creation.hpp>
#include <aton/mappings/detail/complex.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Maximum elements of the table of one transform below opset 17: 2048 real or 1024 complex numbers.
inline constexpr std::int64_t max_fourier_table = std::int64_t{1} << 22;

/// The divisor of the result, numbered as in at::native::fft_norm_mode.
enum class fourier_norm : std::uint8_t { none, by_root, by_size };

inline fourier_norm norm_of(std::int64_t number) {
    if (number < 0 || number > 2) throw unsupported_error("normalization " + std::to_string(number));
    return static_cast<fourier_norm>(number);
}
inline fourier_norm norm_of(std::optional<std::string_view> name, bool forward) {
    std::string_view const n = name.value_or("backward");
    if (n == "ortho") return fourier_norm::by_root;
    if (n != "backward" && n != "forward") throw unsupported_error("norm '" + std::string(n) + "'");
    return (n == "forward") == forward ? fourier_norm::by_size : fourier_norm::none;
}

/// A dimension to transform, and to how many elements it is trimmed or padded first; none for its own size.
struct transformed_axis {
    std::int64_t axis;
    std::optional<sym_int> length;
    bool half = false; ///< of real numbers: only the first length / 2 + 1 results
};
using transformed_axes = safe_vector<transformed_axis>;

inline sym_int length_along(graph<9> g, value x, transformed_axis const& a) {
    sym_int const n = a.length ? *a.length : g.size(x, a.axis);
    if (n.is_constant() && n.constant() < 1)
        throw unsupported_error("a transform of " + std::to_string(n.constant()) + " elements");
    if (x.size(a.axis) == dim(0)) throw unsupported_error("a transform of an empty dimension");
    return n;
}

inline bool holds_reals(complex_value const& z) { return !z.is_pair() && !is_complex(z.tensor().dtype()); }

/// x with a trailing axis: of size 2 if it is complex, otherwise of size 1. Integers are converted to float32.
inline value as_signal(graph<9> g, complex_value const& z) {
    bool const real = holds_reals(z);
    dtype const type = real ? to_floating(z.tensor().dtype()) : part_type(z.dtype());
    if (type != dtype::float32 && type != dtype::float64)
        throw unsupported_error("a Fourier transform of " + std::string(name(type)) +
                                ", which ATen computes on GPUs only");
    return real ? unsqueeze(g, g.cast(z.tensor(), type), -1) : g.as_real(z);
}
inline bool has_imaginary(value x) { return x.size(-1).is_static() && x.size(-1).size() == 2; }

/// cos and sin of -2 pi t / n, for 0 <= t < n; quarters of the circle are exact.
inline std::pair<double, double> root_of_unity(std::int64_t t, std::int64_t n) {
    constexpr double quarters[] = {1, 0, -1, 0, 1};
    if (4 * t % n == 0) return {quarters[4 * t / n], quarters[4 * t / n + 1]};
    double const angle = -2 * std::numbers::pi * static_cast<double>(t) / static_cast<double>(n);
    return {std::cos(angle), std::sin(angle)};
}

/// The longest transforms that are products with a matrix where DFT exists. ONNX Runtime's DFT of a length that is no
/// power of two makes three transforms of more than twice the length: 400 elements take four times as long as the
/// product.
inline constexpr std::int64_t max_product_length = 512;
/// Of a power of two, if the matrix also replaces the nodes around DFT: 64 elements take half as long.
inline constexpr std::int64_t max_product_length_of_power = 64;

/// What a product with a matrix replaces: DFT alone, also the nodes around it, or those that make real numbers of a
/// spectrum. The last are so many that a product is worth its transpositions along other axes than the last.
enum class replaced : std::uint8_t { dft, nodes_around, spectrum_to_reals };

inline bool is_product(graph<9> g, value x, transformed_axis const& a, replaced what = replaced::dft) {
    if (g.opset() < 17) return true;
    sym_int const n = length_along(g, x, a);
    if (!n.is_constant() || !x.size(a.axis).is_static()) return false;
    if (what != replaced::spectrum_to_reals && a.axis != x.rank() - 2) return false;
    bool const is_power = (n.constant() & (n.constant() - 1)) == 0;
    return n.constant() <= (!is_power ? max_product_length : what != replaced::dft ? max_product_length_of_power : 0);
}

/// What the matrix of a transform contains besides the transform.
struct fourier_table {
    bool forward = true; ///< false: the inverse transform, without its divisor
    double factor = 1;
    bool to_reals = false; ///< of the first half of a spectrum, whose other half is its mirror image
};

/// A transform as a product with a matrix.
inline value transform_by_table(graph<9> g, value x, transformed_axis const& a, fourier_table const& kind = {}) {
    sym_int const length = length_along(g, x, a);
    if (!x.size(a.axis).is_static() || !length.is_constant())
        throw unsupported_error("a Fourier transform of a dynamic length, below opset 17");
    std::int64_t const n = length.constant();
    x = slice(g, x, a.axis, 0, n);
    std::int64_t const rows = x.size(a.axis).size();
    std::int64_t const columns = a.half ? n / 2 + 1 : n;
    std::int64_t const parts = has_imaginary(x) ? 2 : 1;
    budget::expect(
        "the table of a Fourier transform below opset 17,", checked_int(2 * parts) * rows * columns, max_fourier_table);
    // What element j adds to the real and the imaginary part of result k.
    auto const entry = [&](std::int64_t j, std::int64_t k) -> std::pair<double, double> {
        std::int64_t const row = j / parts;
        bool const imaginary = j % parts == 1;
        bool const has_mirror_image = kind.to_reals && row != 0 && row != n - row;
        double const weight = has_mirror_image ? 2 * kind.factor : kind.factor;
        auto const [re, sine] = root_of_unity(row * k % n, n);
        double const im = kind.forward ? sine : -sine;
        return {weight * (imaginary ? -im : re), weight * (imaginary ? re : im)};
    };
    if (kind.to_reals && a.axis == x.rank() - 3) { // a product from the left keeps the order of the dimensions
        tensor table{x.dtype(), {columns, rows * parts}, {}};
        for (std::int64_t k = 0; k != columns; ++k)
            for (std::int64_t j = 0; j != rows * parts; ++j) table.append(entry(j, k).first);
        std::int64_t const last = x.rank() - 1;
        std::int64_t const before = x.rank() - 2;
        safe_vector<sym_int> sizes = g.sizes(x);
        sizes[static_cast<std::size_t>(a.axis)] = rows * parts;
        sizes.pop_back();
        value const columns_of_parts = reshape(g, move_axes(g, x, {&last, 1}, {&before, 1}), sizes);
        return g.op<"MatMul">(g.constant(std::move(table)), columns_of_parts);
    }
    tensor table{x.dtype(), {rows * parts, kind.to_reals ? columns : 2 * columns}, {}};
    for (std::int64_t j = 0; j != rows * parts; ++j) {
        for (std::int64_t k = 0; k != columns; ++k) {
            auto const [re, im] = entry(j, k);
            table.append(re);
            if (!kind.to_reals) table.append(im);
        }
    }
    std::int64_t const last = x.rank() - 2;
    x = move_axes(g, x, {&a.axis, 1}, {&last, 1});
    safe_vector<sym_int> sizes = g.sizes(x);
    sizes.pop_back();
    sizes.back() = rows * parts;
    value y = g.op<"MatMul">(reshape(g, x, sizes), g.constant(std::move(table)));
    if (!kind.to_reals) {
        sizes.back() = columns;
        sizes.push_back(2);
        y = reshape(g, y, sizes);
    }
    return move_axes(g, y, {&last, 1}, {&a.axis, 1});
}

inline value transform_by_dft(graph<17> g, value x, transformed_axis const& a) {
    sym_int const n = length_along(g, x, a);
    bool whole = !a.length || (n.is_constant() && x.size(a.axis) == dim(n.constant()));
    if (!whole && !n.is_constant() && g.opset() >= 20) // ONNX Runtime would take memory for the signal's length
        x = with_length(g, x, a.axis, n), whole = true;
    optional_value const length = whole ? optional_value() : optional_value(g.to_value(n));
    value y = g.opset() >= 20
                  ? value(g.within<20>().op<"DFT">(x, length, g.scalar(a.axis, dtype::int64), attr::onesided_i(a.half)))
                  : value(g.within<17, 19>().op<"DFT">(x, length, attr::axis_i(a.axis), attr::onesided_i(a.half)));
    safe_vector<dim> sizes(x.shape().dims().begin(), x.shape().dims().end());
    sizes.back() = 2;
    auto const at = static_cast<std::size_t>(a.axis);
    if (n.is_constant()) sizes[at] = a.half ? n.constant() / 2 + 1 : n.constant();
    else if (!whole || a.half) sizes[at] = dim();
    return y.set_shape(shape(sizes));
}

/// The transforms along some axes, without a divisor. Their order is free, except that real numbers have one half of a
/// spectrum only in the first: the product, if there is one, takes real numbers as they are.
inline value transform_along(graph<9> g, value x, transformed_axes axes) {
    auto const is_half = [](transformed_axis const& a) { return a.half; };
    auto const product = std::find_if(axes.begin(), axes.end(), [&](auto const& a) { return is_product(g, x, a); });
    if (product != axes.end() && std::none_of(axes.begin(), product, is_half))
        std::rotate(axes.begin(), product, product + 1);
    for (auto const& a : axes)
        x = is_product(g, x, a) ? transform_by_table(g, x, a) : transform_by_dft(g.within<17>(), x, a);
    return x;
}

/// Applies f to a signal in float64, except for a single short product: ONNX Runtime computes the angles of DFT in the
/// dtype of the signal. In float32, errors of lengths other than powers of two are 3e-4 of the largest result for 1000
/// elements, and 4e-3 for 16000.
template <class Function>
value with_exact_angles(graph<9> g, value x, transformed_axes const& axes, replaced what, Function f) {
    bool const is_short = axes.size() == 1 && is_product(g, x, axes[0], what) &&
                          length_along(g, x, axes[0]).is_constant() &&
                          length_along(g, x, axes[0]).constant() <= max_product_length;
    return is_short ? f(x) : g.cast(f(g.cast(x, dtype::float64)), x.dtype());
}

/// The inverse transform is that of the conjugates, conjugated: ONNX Runtime rounds the divisor of DFT's own inverse to
/// float32, and does not have a one-sided inverse.
inline value conjugate_pairs(graph<9> g, value x) {
    return has_imaginary(x) ? value(g.op<"Mul">(x, g.constant({1, -1}, x.dtype()))) : x;
}

/// The factor of the results, if it is known.
inline std::optional<double> factor_of(sym_int const& count, fourier_norm norm) {
    if (norm == fourier_norm::none) return 1;
    if (!count.is_constant()) return std::nullopt;
    auto const n = static_cast<double>(count.constant());
    return norm == fourier_norm::by_root ? 1 / std::sqrt(n) : 1 / n;
}

/// Divides the results by the number of elements or its root, and conjugates pairs.
inline value normalized(graph<9> g, value y, sym_int const& count, fourier_norm norm, bool conjugates) {
    std::optional<double> const factor = factor_of(count, norm);
    if (!factor) {
        value const n = g.cast(g.to_value(count), y.dtype());
        y = g.op<"Div">(y, norm == fourier_norm::by_root ? value(g.op<"Sqrt">(n)) : n);
        return conjugates ? conjugate_pairs(g, y) : y;
    }
    if (conjugates) return g.op<"Mul">(y, g.constant({*factor, -*factor}, y.dtype()));
    return exactly_equal(*factor, 1) ? y : value(g.op<"Mul">(y, *factor));
}

inline sym_int elements_along(graph<9> g, value x, safe_span<transformed_axis const> axes) {
    sym_int count = 1;
    for (transformed_axis const& a : axes) count = count * length_along(g, x, a);
    return count;
}

/// Complex numbers, or real ones with `half`, to complex ones, of which the trailing axis remains.
inline value complex_spectrum(graph<9> g, value x, transformed_axes const& axes, fourier_norm norm, bool forward) {
    return with_exact_angles(g, x, axes, replaced::nodes_around, [&](value v) -> value {
        std::optional<double> const factor = factor_of(elements_along(g, v, axes), norm);
        if (!forward && axes.size() == 1 && factor && is_product(g, v, axes[0], replaced::nodes_around))
            return transform_by_table(g, v, axes[0], {forward, *factor});
        value const y = transform_along(g, forward ? v : conjugate_pairs(g, v), axes);
        return normalized(g, y, elements_along(g, v, axes), norm, !forward);
    });
}

/// The weights with which the first half of a spectrum of n elements, or its conjugates, stands for the whole: 1 for
/// the elements that are their own mirror image, and 2 for the others.
inline value mirrored(graph<9> g, value x, std::int64_t axis, sym_int const& n, bool conjugates) {
    std::int64_t const after = x.rank() - 1 - axis;
    if (dim const& d = x.size(axis); d.is_static() && n.is_constant()) {
        budget::expect("the weights of a Fourier transform", d.size());
        std::int64_t const parts = has_imaginary(x) ? 2 : 1;
        safe_vector<std::int64_t> sizes(static_cast<std::size_t>(after) + 1, 1);
        sizes[0] = d.size();
        sizes[sizes.size() - 1] = parts;
        tensor weights{x.dtype(), {sizes.begin(), sizes.end()}, {}};
        for (std::int64_t k = 0; k != d.size(); ++k) {
            double const w = k == 0 || k == n.constant() - k ? 1 : 2;
            weights.append(w);
            if (parts == 2) weights.append(conjugates ? -w : w);
        }
        return g.op<"Mul">(x, g.constant(std::move(weights)));
    }
    value const k = arithmetic_sequence(g, 0, g.size(x, axis));
    value const own = g.op<"Or">(is_equal(g, k, 0), is_equal(g, g.op<"Mul">(k, 2), g.to_value(n)));
    value const w = g.op<"Where">(own, g.scalar_like(1, x), g.scalar_like(2, x));
    safe_vector<std::int64_t> last = iota(after + 1);
    last.erase(last.begin());
    value const y = g.op<"Mul">(x, last.empty() ? w : unsqueeze(g, w, last));
    return conjugates ? conjugate_pairs(g, y) : y;
}

/// The first half of a spectrum along the last of the axes, to real numbers.
inline value real_signal(graph<9> g, value x, transformed_axes axes, fourier_norm norm, bool forward) {
    transformed_axis& last = axes.back();
    sym_int const n = last.length ? *last.length : (g.size(x, last.axis) - 1) * 2;
    if (last.length) x = slice(g, x, last.axis, 0, n / 2 + 1);
    last.length = n;
    return with_exact_angles(g, x, axes, replaced::spectrum_to_reals, [&](value v) -> value {
        sym_int const count = elements_along(g, v, axes);
        std::optional<double> const factor = factor_of(count, norm);
        if (factor && is_product(g, v, last, replaced::spectrum_to_reals)) {
            bool const alone = axes.size() == 1;
            if (!alone)
                v = transform_along(
                    g, forward ? v : conjugate_pairs(g, v), transformed_axes(axes.begin(), axes.end() - 1));
            return transform_by_table(g, v, last, {forward || !alone, *factor, true});
        }
        value const y = transform_along(g, mirrored(g, v, last.axis, n, !forward), axes);
        return normalized(g, select(g, y, -1, 0), count, norm, false);
    });
}

} // namespace ATON_NAMESPACE::mappings::detail
