// SPDX-License-Identifier: MIT
// Operators of torchvision: deformable convolution.
#include <cmath>
#include <cstdint>

#include <aton/core/budget.hpp>
#include <aton/core/error.hpp>

#include "libraries.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

struct geometry {
    std::int64_t stride[2], pad[2], dilation[2];
    std::int64_t groups, offset_groups;

    explicit geometry(call const& c)
        : stride{c.i("stride_h"), c.i("stride_w")},
          pad{c.i("pad_h"), c.i("pad_w")},
          dilation{c.i("dilation_h"), c.i("dilation_w")},
          groups(c.i("groups")),
          offset_groups(c.i("offset_groups")) {
        for (int i = 0; i != 2; ++i)
            if (stride[i] < 1 || pad[i] < 0 || dilation[i] < 1)
                throw error("a stride, a padding or a dilation is out of range");
        if (groups < 1 || offset_groups < 1) throw error("the number of groups is below 1");
    }
    [[nodiscard]] std::int64_t outputs(int axis, std::int64_t size, std::int64_t taps) const {
        return (size + 2 * checked_int(pad[axis]) - (checked_int(dilation[axis]) * (taps - 1) + 1)) / stride[axis] + 1;
    }
};

/// A plane of zeros around the image: pixels outside of it count as 0.
template <class T>
T sample(T const* plane, std::int64_t height, std::int64_t width, T y, T x) {
    if (!(y > -1 && y < static_cast<T>(height) && x > -1 && x < static_cast<T>(width))) return 0;
    T const top = std::floor(y);
    T const left = std::floor(x);
    T sum = 0;
    for (int i = 0; i != 2; ++i)
        for (int k = 0; k != 2; ++k) {
            auto const row = static_cast<std::int64_t>(top) + i;
            auto const column = static_cast<std::int64_t>(left) + k;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            T const down = i == 0 ? 1 - (y - top) : y - top;
            T const across = k == 0 ? 1 - (x - left) : x - left;
            sum += down * across * plane[row * width + column];
        }
    return sum;
}

template <class T>
tensor convolved(call const& c) {
    auto const host = [&](std::string_view name) { return contiguous(to_host(c.t(name))); };
    geometry const d(c);
    tensor const input = host("input");
    tensor const weight = host("weight");
    tensor const offset = host("offset");
    tensor const mask = host("mask");
    tensor const bias = host("bias");
    bool const masked = c.b("use_mask");
    if (input.rank() != 4 || weight.rank() != 4 || offset.rank() != 4) throw error("expected tensors of rank 4");
    std::int64_t const rows = d.outputs(0, input.size(2), weight.size(2));
    std::int64_t const columns = d.outputs(1, input.size(3), weight.size(3));
    std::int64_t const taps = weight.size(2) * weight.size(3);
    std::int64_t const channels = input.size(1);
    if (rows < 1 || columns < 1) throw error("the result has no pixels");
    if (channels % d.groups != 0 || weight.size(0) % d.groups != 0 || weight.size(1) != channels / d.groups ||
        channels % d.offset_groups != 0)
        throw error("the channels do not fit the groups");
    std::int64_t const moved = checked_int(d.offset_groups) * taps;
    if (offset.sizes() != sizes{input.size(0), 2 * checked_int(moved), rows, columns})
        throw error("the offset has the wrong shape");
    if (masked && mask.sizes() != sizes{input.size(0), moved, rows, columns})
        throw error("the mask has the wrong shape");
    if (bias.sizes() != sizes{weight.size(0)}) throw error("the bias has the wrong shape");
    for (tensor const& t : {weight, offset, bias})
        if (t.dtype() != input.dtype()) throw error("the operands differ in dtype");
    if (masked && mask.dtype() != input.dtype()) throw error("the operands differ in dtype");
    tensor out = tensor::empty(input.dtype(), {input.size(0), weight.size(0), rows, columns});
    T* to = out.data<T>();
    T const* const moves = offset.data<T const>();
    std::int64_t const outputs_of_group = weight.size(0) / d.groups;
    for (std::int64_t n = 0; n != input.size(0); ++n)
        for (std::int64_t o = 0; o != weight.size(0); ++o)
            for (std::int64_t i = 0; i != rows; ++i)
                for (std::int64_t j = 0; j != columns; ++j) {
                    T sum = 0;
                    for (std::int64_t k = 0; k != weight.size(1); ++k) {
                        std::int64_t const channel = o / outputs_of_group * weight.size(1) + k;
                        std::int64_t const group = channel / (channels / d.offset_groups);
                        T const* const plane =
                            input.data<T const>() + (n * channels + channel) * input.size(2) * input.size(3);
                        for (std::int64_t tap = 0; tap != taps; ++tap) {
                            std::int64_t const of_tap = (n * d.offset_groups + group) * taps + tap;
                            auto const move = [&](std::int64_t axis) {
                                return moves[((of_tap * 2 + axis) * rows + i) * columns + j];
                            };
                            T const y =
                                static_cast<T>(i * d.stride[0] - d.pad[0] + tap / weight.size(3) * d.dilation[0]) +
                                move(0);
                            T const x =
                                static_cast<T>(j * d.stride[1] - d.pad[1] + tap % weight.size(3) * d.dilation[1]) +
                                move(1);
                            T const factor = masked ? mask.data<T const>()[(of_tap * rows + i) * columns + j] : T{1};
                            sum += weight.data<T const>()[(o * weight.size(1) + k) * taps + tap] * factor *
                                   sample(plane, input.size(2), input.size(3), y, x);
                        }
                    }
                    *to++ = sum + bias.data<T const>()[o];
                }
    return to_device(out, c.where());
}

results deform_conv2d(call const& c) {
    if (c.t("input").dtype() == dtype::float32) return convolved<float>(c);
    if (c.t("input").dtype() == dtype::float64) return convolved<double>(c);
    throw error("the input is float32 or float64");
}

} // namespace

rows deformable_convolution() {
    static constexpr row all[] = {
        {"torchvision::deform_conv2d", deform_conv2d},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
