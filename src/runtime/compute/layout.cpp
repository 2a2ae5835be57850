// SPDX-License-Identifier: MIT
// Layout of tensors: reshape, concatenation, padding.
#include <aton/runtime/compute.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/runtime/value.hpp>

#include "complex.hpp"

namespace ATON_NAMESPACE::runtime {

tensor contiguous(tensor const& x) { return x.is_contiguous() ? x : kernels_of(x.where()).contiguous(x); }

tensor reshape(tensor const& x, sizes const& to) {
    if (count_of(to) != x.count())
        throw error("shape " + to_string(x.sizes()) + " cannot be reshaped to " + to_string(to));
    return contiguous(x).viewed(to, contiguous_strides(to));
}

tensor flatten(tensor const& x) { return reshape(x, {x.count()}); }

tensor transpose(tensor const& x, std::int64_t a, std::int64_t b) {
    if (x.rank() == 0) return x;
    std::vector<std::size_t> axes(x.rank());
    for (std::size_t i = 0; i != axes.size(); ++i) axes[i] = i;
    std::swap(axes[axis_at(a, x.rank())], axes[axis_at(b, x.rank())]);
    return x.permuted(axes);
}

tensor conjugate(tensor const& x) { return is_complex(x.dtype()) ? complex_of(real_part(x), -imaginary_part(x)) : x; }
tensor adjoint(tensor const& x) { return transpose(conjugate(x), -1, -2); }

tensor concat(std::span<tensor const> parts, std::int64_t axis) {
    if (parts.empty()) throw error("at least one tensor is required");
    tensor const& first = parts[0];
    if (first.rank() == 0) throw error("0-d tensors cannot be concatenated");
    std::size_t const at = axis_at(axis, first.rank());
    sizes to = first.sizes();
    to[at] = 0;
    for (tensor const& part : parts) {
        sizes fitting = part.sizes();
        bool const fits = part.rank() == first.rank() && part.dtype() == first.dtype();
        if (fits) {
            to[at] += fitting[at];
            fitting[at] = first.size(at);
        }
        if (!fits || fitting != first.sizes())
            throw error("tensors of shapes " + to_string(first.sizes()) + " and " + to_string(part.sizes()) +
                        " cannot be concatenated along axis " + std::to_string(at));
    }
    tensor out = tensor::empty(first.dtype(), to, kernels_of(first.where()).memory());
    std::int64_t start = 0;
    for (tensor const& part : parts) {
        copy(part, out.sliced(at, start, part.size(at)));
        start += part.size(at);
    }
    return out;
}

tensor stack(std::span<tensor const> parts, std::int64_t axis) {
    if (parts.empty()) throw error("at least one tensor is required");
    std::size_t const at = axis_at(axis, parts[0].rank() + 1);
    std::vector<tensor> wide;
    wide.reserve(parts.size());
    for (tensor const& part : parts) wide.push_back(part.unsqueezed(std::min(at, part.rank())));
    return concat(wide, static_cast<std::int64_t>(at));
}

tensor clone(tensor const& x) {
    tensor out = tensor::empty(x.dtype(), x.sizes(), kernels_of(x.where()).memory());
    copy(x, out);
    return out;
}

void copy(tensor const& from, tensor const& to) {
    if (to.count() != 0) kernels_of(to.where()).copy(from, to);
}

tensor to_device(tensor const& x, device where) {
    if (!x || x.where() == where || x.is_strings()) return x;
    tensor const here = x.where() == device{} ? x : kernels_of(x.where()).to_host(x);
    return where == device{} ? here : kernels_of(where).from_host(here);
}

value to_device(value const& v, device where) {
    if (v.is_tensor()) return to_device(v.one(), where);
    if (!v.is_sequence()) return {};
    std::vector<tensor> all;
    for (tensor const& t : v.many()) all.push_back(to_device(t, where));
    return all;
}

namespace {

/// The size of an axis after padding.
std::int64_t padded(std::int64_t size, std::int64_t before, std::int64_t after, std::size_t axis) {
    constexpr std::int64_t limit = std::int64_t{1} << 60;
    bool const sound = before > -limit && before < limit && after > -limit && after < limit;
    if (!sound || before < -size || after < -size || size + std::min<std::int64_t>(before, 0) + after < 0)
        throw error("axis " + std::to_string(axis) + " of size " + std::to_string(size) + " cannot be padded with " +
                    std::to_string(before) + " and " + std::to_string(after));
    return size + before + after;
}

/// `x` cropped by the negative pads, and the shape after all pads.
std::pair<tensor, sizes> cropped(tensor const& x, sizes const& before, sizes const& after) {
    if (before.size() != x.rank() || after.size() != x.rank())
        throw error("the number of pads does not match the axes");
    tensor from = x;
    sizes to = x.sizes();
    for (std::size_t i = 0; i != x.rank(); ++i) {
        to[i] = padded(x.size(i), before[i], after[i], i);
        std::int64_t const start = std::max<std::int64_t>(0, -before[i]);
        from = from.sliced(i, start, x.size(i) - start - std::max<std::int64_t>(0, -after[i]));
    }
    return {from, to};
}

/// The source index of each element of a padded axis.
tensor sources(std::int64_t size, std::int64_t before, std::int64_t count, pad_mode mode, device where) {
    tensor const at = range(count, -before, 1, where);
    auto const number = [](std::int64_t n) { return scalar(static_cast<long long>(n)); };
    if (mode == pad_mode::edge) return maximum(minimum(at, number(size - 1)), 0);
    if (mode == pad_mode::wrap) return binary(binary_op::remainder, at, number(size));
    std::int64_t const period = std::max<std::int64_t>(1, 2 * (size - 1));
    tensor const in_period = binary(binary_op::remainder, at, number(period));
    return minimum(in_period, number(period) - in_period);
}

} // namespace

tensor pad(tensor const& x, sizes const& before, sizes const& after, tensor const& value) {
    auto const [from, to] = cropped(x, before, after);
    if (from.sizes() == to) return contiguous(from);
    tensor out = tensor::empty(x.dtype(), to, kernels_of(x.where()).memory());
    copy(value, out);
    tensor inner = out;
    for (std::size_t i = 0; i != x.rank(); ++i)
        inner = inner.sliced(i, std::max<std::int64_t>(0, before[i]), from.size(i));
    copy(from, inner);
    return out;
}

tensor pad(tensor const& x, sizes const& before, sizes const& after, scalar const& value) {
    return pad(x, before, after, full(value, x.dtype(), {}, x.where()));
}

tensor pad(tensor const& x, sizes const& before, sizes const& after, pad_mode mode) {
    auto [out, to] = cropped(x, before, after);
    (void)count_of(to);
    for (std::size_t i = 0; i != x.rank(); ++i) {
        if (out.size(i) == to[i]) continue;
        if (out.size(i) == 0) throw error("axis " + std::to_string(i) + " has no element to pad with");
        std::int64_t const more = std::max<std::int64_t>(0, before[i]);
        out = index_select(out, static_cast<std::int64_t>(i), sources(out.size(i), more, to[i], mode, x.where()));
    }
    return contiguous(out);
}

} // namespace ATON_NAMESPACE::runtime
