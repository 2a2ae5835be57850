// SPDX-License-Identifier: MIT
// Convolutions as matrix products with the elements of each window.
#include "runtime/compute/spatial.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

#include "windows.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

constexpr std::int64_t max_bytes = std::int64_t{256} << 20; ///< maximum bytes of columns at a time

std::int64_t product(sizes const& of, std::size_t first, std::size_t count) {
    return count_of(std::span(of).subspan(first, count));
}

void check_operands(tensor const& x, tensor const& weight, tensor const& bias, window const& w, std::int64_t groups,
                    bool transposed) {
    std::size_t const axes = spatial_rank(x);
    check(w, axes);
    bool fits = weight.rank() == x.rank() && groups >= 1 && x.size(1) % groups == 0;
    for (std::size_t i = 0; fits && i != axes; ++i) fits = weight.size(i + 2) == w.kernel[i];
    fits = fits && (transposed ? weight.size(0) == x.size(1)
                               : weight.size(1) == x.size(1) / groups && weight.size(0) % groups == 0);
    if (!fits)
        throw error("a weight of shape " + to_string(weight.sizes()) + " does not fit " + to_string(x.sizes()) +
                    " with " + std::to_string(groups) + " groups");
    std::int64_t const channels = transposed ? count_of(sizes{weight.size(1), groups}) : weight.size(0);
    if (bias && (bias.rank() != 1 || bias.size(0) != channels))
        throw error("a bias of shape " + to_string(bias.sizes()) + " does not fit " + std::to_string(channels) +
                    " channels");
}

tensor with_bias(tensor const& y, tensor const& bias) {
    if (!bias) return y;
    sizes to(y.rank(), 1);
    to[1] = bias.count();
    return y + reshape(bias, to);
}

/// The product of windows [N, C, out..., kernel...] and weights [M, C / groups, kernel...].
tensor times_weight(tensor const& seen, tensor const& weight, std::int64_t groups) {
    std::size_t const axes = seen.rank() / 2 - 1;
    std::int64_t const n = seen.size(0);
    std::int64_t const out = product(seen.sizes(), 2, axes);
    std::int64_t const rows = seen.size(1) / groups * product(seen.sizes(), 2 + axes, axes);
    std::int64_t const channels = weight.size(0);
    sizes to = {n, channels};
    for (std::size_t i = 0; i != axes; ++i) to.push_back(seen.size(i + 2));
    constexpr std::int64_t few = 128; // columns up to which those of all images form one matrix
    std::vector<std::size_t> order = {1};
    for (std::size_t i = 0; i != axes; ++i) order.push_back(2 + axes + i);
    bool const joins = groups == 1 && n > 1 && out < few;
    order.insert(joins ? order.end() : order.begin(), 0);
    for (std::size_t i = 0; i != axes; ++i) order.push_back(2 + i);
    tensor const ordered = seen.permuted(order);
    if (!joins) {
        tensor const columns = reshape(ordered, {n, groups, rows, out});
        return reshape(matmul(reshape(weight, {groups, channels / groups, rows}), columns), to);
    }
    tensor const y = matmul(reshape(weight, {channels, rows}), reshape(ordered, {rows, n * out}));
    return reshape(reshape(y, {channels, n, out}).permuted(std::vector<std::size_t>{1, 0, 2}), to);
}

/// times_weight in parts, which bounds the memory of columns.
tensor in_parts(tensor const& seen, tensor const& weight, std::int64_t groups) {
    std::size_t const axes = seen.rank() / 2 - 1;
    auto const each = static_cast<std::int64_t>(element_bytes(seen.dtype()));
    std::int64_t const image = std::max<std::int64_t>(1, product(seen.sizes(), 1, seen.rank() - 1) * each);
    if (seen.is_contiguous() || image <= max_bytes / std::max<std::int64_t>(1, seen.size(0)))
        return times_weight(seen, weight, groups);
    std::int64_t const images = std::max<std::int64_t>(1, max_bytes / image);
    std::int64_t const row = image / std::max<std::int64_t>(1, seen.size(2));
    std::int64_t const rows = images > 1 ? seen.size(2) : std::clamp<std::int64_t>(max_bytes / row, 1, seen.size(2));
    device_kernels const& kernels = kernels_of(seen.where());
    sizes to = {seen.size(0), weight.size(0)};
    for (std::size_t i = 0; i != axes; ++i) to.push_back(seen.size(i + 2));
    tensor out = tensor::empty(seen.dtype(), to, kernels.memory());
    for (std::int64_t n = 0; n < seen.size(0); n += images)
        for (std::int64_t r = 0; r < seen.size(2); r += rows) {
            auto const part = [&](tensor const& t) {
                return t.sliced(0, n, std::min(images, t.size(0) - n)).sliced(2, r, std::min(rows, t.size(2) - r));
            };
            kernels.copy(times_weight(part(seen), weight, groups), part(out));
        }
    return out;
}

/// Depthwise: the sum over the places of the kernel.
tensor by_channel(tensor const& seen, tensor const& weight) {
    std::size_t const axes = seen.rank() / 2 - 1;
    sizes whole = {1, weight.size(0)};
    whole.resize(2 + axes, 1);
    whole.insert(whole.end(), weight.sizes().begin() + 2, weight.sizes().end());
    if (tensor y = kernels_of(seen.where()).sum_of_products(seen, reshape(weight, whole), 2 + axes)) return y;
    sizes flat = {weight.size(0)};
    flat.resize(1 + axes, 1);
    tensor const factors = reshape(weight, {weight.size(0), product(weight.sizes(), 2, axes)});
    tensor out;
    for (std::int64_t k = 0; k != factors.size(1); ++k) {
        tensor from = seen;
        std::int64_t left = k;
        for (std::size_t i = axes; i-- != 0;) {
            std::int64_t const size = weight.size(i + 2);
            from = from.sliced(2 + axes + i, left % size, 1).squeezed(2 + axes + i);
            left /= size;
        }
        tensor const term = from * reshape(factors.sliced(1, k, 1), flat);
        out = out ? out + term : term;
    }
    return out;
}

} // namespace

tensor convolution(tensor const& x, tensor const& weight, tensor const& bias, window const& w, std::int64_t groups) {
    check_operands(x, weight, bias, w, groups, false);
    bool const each = weight.size(1) == 1 && groups > 1 && weight.size(0) == groups;
    if (each && is_narrow(x)) {
        auto const wide = [](tensor const& t) { return t ? cast(t, dtype::float32) : t; };
        return cast(convolution(wide(x), wide(weight), wide(bias), w, groups), x.dtype());
    }
    tensor const seen = windows(x, w);
    return with_bias(each ? by_channel(seen, weight) : in_parts(seen, weight, groups), bias);
}

tensor transposed_convolution(tensor const& x, tensor const& weight, tensor const& bias, window const& w,
                              sizes const& extra, std::int64_t groups, bool widens) {
    check_operands(x, weight, bias, w, groups, true);
    check_output_padding(extra, w.axes());
    if (is_narrow(x) && widens) { // rounded once
        auto const wide = [](tensor const& t) { return t ? cast(t, dtype::float32) : t; };
        return cast(transposed_convolution(wide(x), wide(weight), wide(bias), w, extra, groups), x.dtype());
    }
    std::size_t const axes = w.axes();
    std::int64_t const n = x.size(0);
    std::int64_t const channels = weight.size(1) * groups;
    std::int64_t const places = product(x.sizes(), 2, axes);
    std::int64_t const rows = product(weight.sizes(), 1, axes + 1);
    tensor const by_group = reshape(weight, {groups, weight.size(0) / groups, rows});
    tensor const from = reshape(x, {n, groups, x.size(1) / groups, places});
    tensor const columns = matmul(transpose(by_group, 1, 2), from); // [N, groups, M / groups * kernel, places]
    sizes to = {n, channels};
    to.insert(to.end(), w.kernel.begin(), w.kernel.end());
    to.insert(to.end(), x.sizes().begin() + 2, x.sizes().end());
    std::vector<std::size_t> order = {0, 1};
    for (std::size_t i = 0; i != axes; ++i) order.push_back(2 + axes + i);
    for (std::size_t i = 0; i != axes; ++i) order.push_back(2 + i);
    sizes spatial;
    for (std::size_t i = 0; i != axes; ++i) {
        spatial.push_back(w.reach(i, x.size(i + 2)) + extra[i] - w.before[i] - w.after[i]);
        if (spatial.back() < 0) throw error("the result has a negative size along axis " + std::to_string(i));
    }
    return with_bias(fold(reshape(columns, to).permuted(order), w, spatial), bias);
}

} // namespace ATON_NAMESPACE::runtime
