// SPDX-License-Identifier: MIT
// Windows over spatial axes, and their transpose.
#include "runtime/compute/spatial.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "windows.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

constexpr std::int64_t max_entry = std::int64_t{1} << 31; ///< maximum of a kernel size, stride, dilation or padding

void check_list(sizes const& list, std::size_t axes, std::int64_t min_entry, char const* what) {
    if (list.size() != axes)
        throw error(std::string(what) + " " + to_string(list) + " does not fit " + std::to_string(axes) +
                    " spatial axes");
    for (std::int64_t const n : list)
        if (n < min_entry || n > max_entry) throw error(std::string(what) + " " + to_string(list) + " is out of range");
}

} // namespace

window window::of(sizes kernel) {
    std::size_t const n = kernel.size();
    return {std::move(kernel), sizes(n, 1), sizes(n, 1), sizes(n, 0), sizes(n, 0)};
}

std::int64_t window::reach(std::size_t axis, std::int64_t windows) const {
    if (windows == 0) return 0;
    if (extent(axis) > max_elements || windows - 1 > (max_elements - extent(axis)) / strides[axis])
        throw error(std::to_string(windows) + " windows of " + std::to_string(extent(axis)) + " elements, " +
                    std::to_string(strides[axis]) + " apart, are too large");
    return (windows - 1) * strides[axis] + extent(axis);
}

void check(window const& w, std::size_t axes) {
    check_list(w.kernel, axes, 1, "kernel");
    check_list(w.strides, axes, 1, "strides");
    check_list(w.dilations, axes, 1, "dilations");
    check_list(w.before, axes, -max_entry, "padding");
    check_list(w.after, axes, -max_entry, "padding");
}

void check_output_padding(sizes const& extra, std::size_t axes) { check_list(extra, axes, 0, "output padding"); }

std::size_t spatial_rank(tensor const& x) {
    if (x.rank() < 3) throw error("[N, C, D1, ...] is expected, not " + to_string(x.sizes()));
    return x.rank() - 2;
}

sizes window_counts(window const& w, tensor const& x) {
    check(w, spatial_rank(x));
    sizes out;
    for (std::size_t i = 0; i != w.axes(); ++i) {
        std::int64_t const slack = x.size(i + 2) + w.before[i] + w.after[i] - w.extent(i);
        if (slack < 0 && (!w.ceil || slack <= -w.strides[i]))
            throw error("a window of " + std::to_string(w.extent(i)) + " elements is larger than the input, " +
                        to_string(x.sizes()));
        std::int64_t n = (slack + (w.ceil ? w.strides[i] - 1 : 0)) / w.strides[i] + 1;
        if (w.ceil && n > 1 && (n - 1) * w.strides[i] >= x.size(i + 2) + w.before[i]) --n;
        out.push_back(n);
    }
    return out;
}

tensor padded(tensor const& x, window const& w, sizes const& counts, scalar const& fill) {
    sizes before(x.rank(), 0);
    sizes after(x.rank(), 0);
    bool changes = false;
    for (std::size_t i = 0; i != w.axes(); ++i) {
        std::int64_t const reach = w.reach(i, counts[i]);
        before[i + 2] = w.before[i];
        after[i + 2] = std::max<std::int64_t>(0, reach - w.before[i] - x.size(i + 2));
        changes = changes || before[i + 2] != 0 || after[i + 2] != 0;
    }
    return changes ? pad(x, before, after, fill) : x;
}

tensor windows(tensor const& x, window const& w, scalar const& fill) {
    sizes const counts = window_counts(w, x);
    return seen_by(padded(x, w, counts, fill), w, counts);
}

tensor seen_by(tensor const& from, window const& w, sizes const& counts) {
    sizes to = {from.size(0), from.size(1)};
    std::vector<std::int64_t> strides = {from.strides()[0], from.strides()[1]};
    for (std::size_t i = 0; i != w.axes(); ++i) {
        to.push_back(counts[i]);
        strides.push_back(from.strides()[i + 2] * (counts[i] > 1 ? w.strides[i] : 1));
    }
    for (std::size_t i = 0; i != w.axes(); ++i) {
        to.push_back(w.kernel[i]);
        strides.push_back(from.strides()[i + 2] * (w.kernel[i] > 1 ? w.dilations[i] : 1));
    }
    return from.viewed(to, strides);
}

tensor fold(tensor const& columns, window const& w, sizes const& spatial) {
    std::size_t const axes = spatial.size();
    check(w, axes);
    if (columns.rank() != 2 + 2 * axes) throw error("[N, C, out..., kernel...] is expected");
    sizes to = {columns.size(0), columns.size(1)};
    sizes before = {0, 0}; // cropped from the result, or added to it
    sizes after = {0, 0};
    for (std::size_t i = 0; i != axes; ++i) {
        std::int64_t const reach = w.reach(i, columns.size(i + 2));
        if (columns.size(2 + axes + i) != w.kernel[i]) throw error("the size of the windows does not match the kernel");
        to.push_back(reach);
        before.push_back(-w.before[i]);
        after.push_back(spatial[i] + w.before[i] - reach);
    }
    device_kernels const& kernels = kernels_of(columns.where());
    tensor const out = tensor::empty(columns.dtype(), to, kernels.memory());
    if (out.count() != 0) kernels.copy(full(0, out.dtype(), to, out.where()), out);
    if (columns.count() != 0) {
        sizes k(axes, 0);
        bool left = true;
        while (left) {
            tensor from = columns;
            tensor at = out;
            for (std::size_t i = axes; i-- != 0;) from = from.sliced(2 + axes + i, k[i], 1).squeezed(2 + axes + i);
            for (std::size_t i = 0; i != axes; ++i)
                at = at.sliced(i + 2, k[i] * w.dilations[i], from.size(i + 2), w.strides[i]);
            kernels.copy(at + from, at);
            left = false;
            for (std::size_t i = axes; i-- != 0 && !left; k[i] = left ? k[i] : 0) left = ++k[i] != w.kernel[i];
        }
    }
    return pad(out, before, after, 0);
}

} // namespace ATON_NAMESPACE::runtime
