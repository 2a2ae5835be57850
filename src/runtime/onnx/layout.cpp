// SPDX-License-Identifier: MIT
// ONNX operators: layout and shape.
#include "call.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

std::int64_t times(std::int64_t a, std::int64_t b) {
    if (a < 0 || b < 0 || (a != 0 && b > std::numeric_limits<std::int64_t>::max() / a))
        throw error("a size of " + std::to_string(a) + " times " + std::to_string(b) + " is too large");
    return a * b;
}

/// Numbers that are an attribute before version `since` and an input from then on; empty if omitted.
std::vector<std::int64_t> numbers(call const& c, std::string_view attribute, std::size_t input, int since) {
    if (c.opset() < since) return c.ints(attribute);
    return c.has(input) ? c.integers(input) : std::vector<std::int64_t>();
}

/// Sizes, starts, ends or steps: the integers of an input, which must be 1-d.
std::vector<std::int64_t> list(call const& c, std::size_t input) {
    if (c.in(input).rank() != 1)
        throw error("input " + std::to_string(input) + " must have 1 dimension, not " +
                    std::to_string(c.in(input).rank()));
    return c.integers(input);
}

/// Axes for this rank, counted from the front, in ascending order.
std::vector<std::size_t> distinct_axes(std::vector<std::int64_t> const& axes, std::size_t rank) {
    std::vector<std::size_t> out;
    for (std::int64_t axis : axes) {
        if (rank == 0) throw error("a 0-d tensor has no axis " + std::to_string(axis));
        out.push_back(axis_at(axis, rank));
    }
    std::sort(out.begin(), out.end());
    if (std::adjacent_find(out.begin(), out.end()) != out.end()) throw error("an axis is given twice");
    return out;
}

results identity(call const& c) { return c.any(0); }

results shape_of(call const& c) {
    sizes const& all = c.in(0).sizes();
    auto const rank = static_cast<std::int64_t>(all.size());
    auto const bound = [rank](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
    std::int64_t const start = bound(c.i("start", 0));
    std::int64_t const end = std::max(start, bound(c.i("end", rank)));
    auto const part = std::span(all).subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start));
    return to_device(tensor::of_integers(part), c.where());
}

results size_of(call const& c) { return full(c.in(0).count(), dtype::int64, {}, c.where()); }

results reshaped(call const& c) {
    tensor const& x = c.in(0);
    sizes to = c.opset() < 5 ? c.ints("shape") : list(c, 1);
    bool const allow_zero = c.i("allowzero", 0) != 0;
    std::int64_t known = 1;
    auto unknown = to.end();
    for (auto s = to.begin(); s != to.end(); ++s) {
        auto const at = static_cast<std::size_t>(s - to.begin());
        if (*s == 0 && !allow_zero) {
            if (at >= x.rank())
                throw error("size 0 at axis " + std::to_string(at) + " has no corresponding input axis");
            *s = x.size(at);
        }
        if (*s >= 0) known = times(known, *s);
        else if (*s != -1 || unknown != to.end()) throw error("the shape " + to_string(to) + " is not valid");
        else unknown = s;
    }
    if (unknown != to.end()) {
        if (known == 0 || x.count() % known != 0)
            throw error("shape " + to_string(x.sizes()) + " cannot be reshaped to " + to_string(to));
        *unknown = x.count() / known;
    }
    return reshape(x, to);
}

results flattened(call const& c) {
    tensor const& x = c.in(0);
    auto const rank = static_cast<std::int64_t>(x.rank());
    std::int64_t const axis = c.i("axis", 1);
    if (axis < -rank || axis > rank)
        throw error("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
    std::span const all(x.sizes());
    auto const at = static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
    return reshape(x, {count_of(all.subspan(0, at)), count_of(all.subspan(at))});
}

results squeeze(call const& c) {
    tensor x = c.in(0);
    std::vector<std::int64_t> axes = numbers(c, "axes", 1, 13);
    bool const given = c.opset() < 13 ? c.has_attribute("axes") : c.has(1);
    for (std::size_t i = 0; !given && i != x.rank(); ++i)
        if (x.size(i) == 1) axes.push_back(static_cast<std::int64_t>(i));
    std::vector<std::size_t> const at = distinct_axes(axes, x.rank());
    for (std::size_t axis : std::views::reverse(at)) x = x.squeezed(axis);
    return x;
}

results unsqueeze(call const& c) {
    tensor x = c.in(0);
    if (c.opset() >= 13) (void)c.in(1);
    std::vector<std::int64_t> const axes = numbers(c, "axes", 1, 13);
    for (std::size_t axis : distinct_axes(axes, x.rank() + axes.size())) x = x.unsqueezed(axis);
    return x;
}

results transposed(call const& c) {
    tensor const& x = c.in(0);
    std::vector<std::size_t> axes(x.rank());
    std::iota(axes.rbegin(), axes.rend(), 0);
    if (c.has_attribute("perm")) {
        std::vector<std::int64_t> const perm = c.ints("perm");
        if (distinct_axes(perm, x.rank()).size() != x.rank())
            throw error("'perm' is not a permutation of " + std::to_string(x.rank()) + " axes");
        for (std::size_t i = 0; i != axes.size(); ++i) axes[i] = axis_at(perm[i], x.rank());
    }
    return x.permuted(axes);
}

results expand(call const& c) {
    tensor const& x = c.in(0);
    sizes const shape = list(c, 1);
    (void)count_of(shape);
    return x.expanded(broadcast(x.sizes(), shape));
}

/// Repeats the tensor `repeats[i]` times along axis i.
tensor tiled(tensor const& x, std::vector<std::int64_t> const& repeats) {
    tensor wide = x;
    sizes expanded;
    sizes to;
    for (std::size_t i = 0; i != x.rank(); ++i) {
        wide = wide.unsqueezed(2 * i);
        expanded.push_back(repeats[i]);
        expanded.push_back(x.size(i));
        to.push_back(times(repeats[i], x.size(i)));
    }
    return reshape(wide.expanded(expanded), to);
}

results tile(call const& c) {
    tensor const& x = c.in(0);
    std::vector<std::int64_t> repeats;
    if (c.opset() < 6) {
        repeats.assign(x.rank(), 1);
        repeats[axis_in(x, c.number(2).to<std::int64_t>())] = c.number(1).to<std::int64_t>();
    } else {
        repeats = c.integers(1);
    }
    if (repeats.size() != x.rank())
        throw error(std::to_string(repeats.size()) + " repeats were given for rank " + std::to_string(x.rank()));
    return tiled(x, repeats);
}

results concatenated(call const& c) { return concat(c.tensors(), c.opset() < 4 ? c.i("axis", 1) : c.i("axis")); }

/// The default sizes of the outputs of a split: equal; from version 18 on the last ones may be smaller.
std::vector<std::int64_t> equal_parts(call const& c, std::int64_t size) {
    auto const count = static_cast<std::int64_t>(c.outputs());
    if (count == 0) throw error("a split needs at least one output");
    if (c.i("num_outputs", count) != count)
        throw error("'num_outputs' is not the number of outputs, " + std::to_string(count));
    if (c.opset() < 18 && size % count != 0)
        throw error("size " + std::to_string(size) + " cannot be split into " + std::to_string(count) + " equal parts");
    std::int64_t const each = (size + count - 1) / count;
    std::vector<std::int64_t> parts;
    for (std::int64_t i = 0; i != count; ++i) {
        parts.push_back(std::min(each, size));
        size -= parts.back();
    }
    return parts;
}

results split(call const& c) {
    tensor const& x = c.in(0);
    std::size_t const axis = axis_in(x, c.i("axis", 0));
    bool const by_input = c.has(1) && (c.opset() < 2 || c.opset() >= 13);
    if (by_input && c.has_attribute("num_outputs")) throw error("'split' and 'num_outputs' cannot be combined");
    std::vector<std::int64_t> parts;
    if (by_input) parts = cast(to_host(c.in(1)), dtype::int64).integers();
    else if (c.opset() < 13) parts = c.ints("split");
    if (parts.empty() && !(by_input || c.has_attribute("split"))) parts = equal_parts(c, x.size(axis));
    if (parts.size() != c.outputs())
        throw error(std::to_string(parts.size()) + " parts were given for " + std::to_string(c.outputs()) + " outputs");
    std::vector<value> out;
    std::int64_t start = 0;
    for (std::int64_t part : parts) {
        if (part < 0 || part > x.size(axis) - start)
            throw error("the parts do not add up to the axis of " + to_string(x.sizes()));
        out.emplace_back(x.sliced(axis, start, part));
        start += part;
    }
    if (start != x.size(axis)) throw error("the parts do not add up to the axis of " + to_string(x.sizes()));
    return out;
}

/// The elements of an axis from `start` to `end`, clamped by ONNX's rules.
tensor sliced(tensor const& x, std::size_t axis, std::int64_t start, std::int64_t end, std::int64_t step) {
    if (step == 0) throw error("the step of a slice is 0");
    std::int64_t const size = x.size(axis);
    std::int64_t const lower = step > 0 ? 0 : -1;
    auto const bound = [&](std::int64_t at, std::int64_t low) {
        return std::clamp(at < 0 ? at + size : at, low, std::max(low, size + lower));
    };
    std::int64_t const from = bound(start, 0);
    std::int64_t const to = bound(end, lower);
    auto const distance = static_cast<std::uint64_t>(step > 0 ? to - from : from - to);
    std::uint64_t const stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
    bool const none = size == 0 || (step > 0 ? to <= from : to >= from);
    auto const count = none ? 0 : static_cast<std::int64_t>((distance - 1) / stride + 1);
    return x.sliced(axis, none ? 0 : from, count, count <= 1 ? 1 : step);
}

results slice(call const& c) {
    tensor x = c.in(0);
    bool const old = c.opset() < 10;
    std::vector<std::int64_t> const starts = old ? c.ints("starts") : list(c, 1);
    std::vector<std::int64_t> const ends = old ? c.ints("ends") : list(c, 2);
    std::vector<std::int64_t> axes = numbers(c, "axes", 3, 10);
    std::vector<std::int64_t> steps = old || !c.has(4) ? std::vector<std::int64_t>(starts.size(), 1) : c.integers(4);
    if (axes.empty() && !(old ? c.has_attribute("axes") : c.has(3))) {
        axes.resize(starts.size());
        std::iota(axes.begin(), axes.end(), 0);
    }
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
        throw error("starts, ends, axes and steps must have the same length");
    (void)distinct_axes(axes, x.rank());
    for (std::size_t i = 0; i != axes.size(); ++i)
        x = sliced(x, axis_at(axes[i], x.rank()), starts[i], ends[i], steps[i]);
    return x;
}

/// The block size of an operator that moves blocks between depth and space; checks the input.
std::int64_t block_size(call const& c, tensor const& x) {
    if (x.rank() != 4) throw error("rank 4 is expected, not " + std::to_string(x.rank()));
    std::int64_t const b = c.i("blocksize");
    if (b <= 0 || b > std::numeric_limits<std::int32_t>::max()) throw error("'blocksize' must be positive");
    return b;
}

/// Whether blocks precede the depth ("DCR").
bool depth_last(call const& c, int since) {
    std::string const mode = c.opset() < since ? "DCR" : c.s("mode", "DCR");
    if (mode != "DCR" && mode != "CRD") throw error("unknown mode '" + mode + "'");
    return mode == "DCR";
}

tensor reordered(tensor const& x, sizes const& split_up, std::initializer_list<std::size_t> order, sizes const& to) {
    return reshape(reshape(x, split_up).permuted(std::vector<std::size_t>(order)), to);
}

results depth_to_space(call const& c) {
    tensor const& x = c.in(0);
    std::int64_t const b = block_size(c, x);
    if (x.size(1) % (b * b) != 0) throw error("the number of channels is not a multiple of " + std::to_string(b));
    std::int64_t const depth = x.size(1) / (b * b);
    sizes const to = {x.size(0), depth, times(x.size(2), b), times(x.size(3), b)};
    if (depth_last(c, 11)) return reordered(x, {x.size(0), b, b, depth, x.size(2), x.size(3)}, {0, 3, 4, 1, 5, 2}, to);
    return reordered(x, {x.size(0), depth, b, b, x.size(2), x.size(3)}, {0, 1, 4, 2, 5, 3}, to);
}

results space_to_depth(call const& c) {
    tensor const& x = c.in(0);
    std::int64_t const b = block_size(c, x);
    if (x.size(2) % b != 0 || x.size(3) % b != 0)
        throw error("height and width are not multiples of " + std::to_string(b));
    sizes const blocks = {x.size(0), x.size(1), x.size(2) / b, b, x.size(3) / b, b};
    sizes const to = {x.size(0), times(x.size(1), b * b), x.size(2) / b, x.size(3) / b};
    if (depth_last(c, 28)) return reordered(x, blocks, {0, 3, 5, 1, 2, 4}, to);
    return reordered(x, blocks, {0, 1, 3, 5, 2, 4}, to);
}

results reverse_sequence(call const& c) {
    tensor const& x = c.in(0);
    std::int64_t const batch_axis = c.i("batch_axis", 1);
    std::int64_t const time_axis = c.i("time_axis", 0);
    if (x.rank() < 2 || (batch_axis != 0 && batch_axis != 1) || time_axis != 1 - batch_axis)
        throw error("batch_axis and time_axis must be 0 and 1");
    auto const batch = static_cast<std::size_t>(batch_axis);
    std::size_t const time = 1 - batch;
    tensor const lengths = cast(c.in(1), dtype::int64);
    if (lengths.sizes() != sizes{x.size(batch)}) throw error("sequence_lens must have one length per batch entry");
    tensor const ends = lengths.unsqueezed(time); // broadcasts along the time axis
    tensor const at = range(x.size(time), 0, 1, x.where()).unsqueezed(batch);
    tensor const from = where(less(at, ends), ends - at - scalar(1), at);
    tensor const sequence = range(x.size(batch), 0, 1, x.where()).unsqueezed(time);
    std::vector<tensor> const indices = batch == 0 ? std::vector{sequence, from} : std::vector{from, sequence};
    return take(x, positions(x.sizes(), indices));
}

} // namespace

rows layout() {
    static constexpr row all[] = {
        {"Concat", concatenated},
        {"DepthToSpace", depth_to_space},
        {"Expand", expand},
        {"Flatten", flattened},
        {"Identity", identity},
        {"Reshape", reshaped},
        {"ReverseSequence", reverse_sequence},
        {"Shape", shape_of},
        {"Size", size_of},
        {"Slice", slice},
        {"SpaceToDepth", space_to_depth},
        {"Split", split},
        {"Squeeze", squeeze},
        {"Tile", tile},
        {"Transpose", transposed},
        {"Unsqueeze", unsqueeze},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
