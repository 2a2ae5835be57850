// SPDX-License-Identifier: MIT
// Arithmetic on sizes: their product, broadcasting, axes from either end, strides.
#include <cstddef>
#include <string>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

std::int64_t count_of(std::span<std::int64_t const> sizes) {
    std::int64_t count = 1;
    bool empty = false;
    for (std::int64_t s : sizes) {
        if (s < 0) throw error("a tensor cannot have shape " + to_string(sizes));
        if (s == 0) {
            empty = true;
            continue;
        }
        if (count > max_elements / s) throw error("a tensor of shape " + to_string(sizes) + " is too large");
        count *= s;
    }
    return empty ? 0 : count;
}

std::string to_string(std::span<std::int64_t const> sizes) {
    std::string out = "[";
    for (std::int64_t s : sizes) out += (out.size() == 1 ? "" : ", ") + std::to_string(s);
    return out + ']';
}

sizes broadcast(std::span<std::int64_t const> a, std::span<std::int64_t const> b) {
    if (a.size() < b.size()) std::swap(a, b);
    sizes out(a.begin(), a.end());
    std::size_t const shift = a.size() - b.size();
    for (std::size_t i = 0; i != b.size(); ++i) {
        std::int64_t& size = out[shift + i];
        if (size != b[i] && size != 1 && b[i] != 1)
            throw error("shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
        if (size == 1) size = b[i];
    }
    return out;
}

std::size_t axis_at(std::int64_t axis, std::size_t rank) {
    auto const n = static_cast<std::int64_t>(rank == 0 ? 1 : rank);
    if (axis < -n || axis >= n)
        throw error("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
    return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

std::vector<std::int64_t> contiguous_strides(std::span<std::int64_t const> sizes) {
    std::vector<std::int64_t> strides(sizes.size(), 1);
    if (count_of(sizes) == 0) return strides; // no element is addressed
    std::int64_t next = 1;
    for (std::size_t i = sizes.size(); i-- != 0;) {
        strides[i] = next;
        next *= sizes[i];
    }
    return strides;
}

} // namespace ATON_NAMESPACE::runtime
