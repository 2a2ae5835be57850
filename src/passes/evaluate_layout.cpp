// SPDX-License-Identifier: MIT
// Evaluators of operators that only move elements.
#include "evaluate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <utility>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

evaluated with_sizes(tensor const& from, std::vector<std::int64_t> sizes) {
    tensor out{from.type, std::move(sizes), {}};
    if (std::any_of(out.sizes.begin(), out.sizes.end(), [](std::int64_t s) { return s < 0; }) ||
        out.element_count() != from.element_count())
        return {};
    out.bytes = from.bytes;
    return out;
}

/// Axes from an attribute or, in newer opsets, an input; nothing if there are none.
std::optional<std::vector<std::int64_t>> given_axes(constant_call const& c) {
    if (node_attribute const* const a = c.node.attribute("axes"); a != nullptr) return a->ints;
    if (tensor const* const t = c.input(1); t != nullptr && is_index_tensor(*t)) return integers(*t);
    return {};
}

evaluated identity(constant_call const& c) { return *c.inputs[0]; }

evaluated reshape(constant_call const& c) {
    tensor const* const to = c.input(1);
    if (to == nullptr || !is_index_tensor(*to)) return {};
    std::vector<std::int64_t> sizes = integers(*to);
    bool const copies = int_attribute(c.node, "allowzero", 0) == 0;
    std::int64_t rest = 1;
    std::ptrdiff_t inferred = -1;
    for (std::size_t i = 0; i != sizes.size(); ++i) {
        if (sizes[i] == 0 && copies) {
            if (i >= c.inputs[0]->sizes.size()) return {};
            sizes[i] = c.inputs[0]->sizes[i];
        }
        if (sizes[i] == -1) {
            if (inferred >= 0) return {};
            inferred = static_cast<std::ptrdiff_t>(i);
            continue;
        }
        if (sizes[i] < 0 || sizes[i] > c.max_bytes) return {};
        rest *= sizes[i];
        if (rest > c.max_bytes) return {};
    }
    if (inferred >= 0) {
        if (rest == 0) return {};
        sizes[static_cast<std::size_t>(inferred)] = c.inputs[0]->element_count() / rest;
    }
    return with_sizes(*c.inputs[0], std::move(sizes));
}

evaluated squeeze(constant_call const& c) {
    std::vector<std::int64_t> sizes = c.inputs[0]->sizes;
    auto const axes = given_axes(c);
    if (!axes && (c.inputs.size() > 1 && c.inputs[1] != nullptr)) return {};
    if (!axes) {
        std::erase(sizes, 1);
        return with_sizes(*c.inputs[0], std::move(sizes));
    }
    for (std::int64_t a : *axes) {
        auto const at = axis_at(a, c.inputs[0]->sizes.size());
        if (!at || (sizes[*at] != 1 && sizes[*at] != -1)) return {};
        sizes[*at] = -1;
    }
    std::erase(sizes, -1);
    return with_sizes(*c.inputs[0], std::move(sizes));
}

evaluated unsqueeze(constant_call const& c) {
    auto const axes = given_axes(c);
    if (!axes) return {};
    std::vector<std::int64_t> sizes(c.inputs[0]->sizes.size() + axes->size(), -1);
    for (std::int64_t a : *axes) {
        auto const at = axis_at(a, sizes.size());
        if (!at || sizes[*at] == 1) return {};
        sizes[*at] = 1;
    }
    auto from = c.inputs[0]->sizes.begin();
    for (std::int64_t& s : sizes)
        if (s == -1) s = *from++;
    return with_sizes(*c.inputs[0], std::move(sizes));
}

evaluated flatten(constant_call const& c) {
    auto const& sizes = c.inputs[0]->sizes;
    auto const rank = static_cast<std::int64_t>(sizes.size());
    std::int64_t axis = int_attribute(c.node, "axis", 1);
    if (axis < -rank || axis > rank) return {};
    if (axis < 0) axis += rank;
    auto const product = [](auto from, auto to) {
        return std::accumulate(from, to, std::int64_t{1}, std::multiplies<>());
    };
    return with_sizes(*c.inputs[0],
                      {product(sizes.begin(), sizes.begin() + axis), product(sizes.begin() + axis, sizes.end())});
}

evaluated transpose(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    std::size_t const rank = x.sizes.size();
    node_attribute const* const perm = c.node.attribute("perm");
    if (perm != nullptr && perm->ints.size() != rank) return {};
    std::vector<std::int64_t> const own = dense_strides(x.sizes);
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    for (std::size_t i = 0; i != rank; ++i) {
        auto const from = axis_at(perm == nullptr ? static_cast<std::int64_t>(rank - 1 - i) : perm->ints[i], rank);
        if (!from) return {};
        sizes.push_back(x.sizes[*from]);
        strides.push_back(own[*from]);
    }
    return take(x, std::move(sizes), strides, 0);
}

evaluated expand(constant_call const& c) {
    tensor const* const to = c.input(1);
    if (to == nullptr || !is_index_tensor(*to)) return {};
    auto const sizes = broadcast(c.inputs[0]->sizes, integers(*to));
    if (!sizes || !c.count(*sizes, c.inputs[0]->type)) return {};
    return broadcast_to(*c.inputs[0], *sizes);
}

evaluated concat(constant_call const& c) {
    tensor out = *c.inputs[0];
    auto const axis = axis_at(int_attribute(c.node, "axis", 0), out.sizes.size());
    if (!axis) return {};
    std::int64_t total = 0;
    for (tensor const* t : c.inputs) {
        if (t == nullptr || t->type != out.type || t->sizes.size() != out.sizes.size()) return {};
        for (std::size_t i = 0; i != out.sizes.size(); ++i)
            if (i != *axis && t->sizes[i] != out.sizes[i]) return {};
        total += t->sizes[*axis];
    }
    out.sizes[*axis] = total;
    if (!c.count(out.sizes, out.type)) return {};
    std::int64_t outer = 1;
    for (std::size_t i = 0; i != *axis; ++i) outer *= out.sizes[i];
    out.bytes.clear();
    for (std::int64_t o = 0; o != outer; ++o)
        for (tensor const* t : c.inputs) {
            std::size_t const chunk = t->bytes.size() / static_cast<std::size_t>(outer);
            out.bytes.append(t->bytes, static_cast<std::size_t>(o) * chunk, chunk);
        }
    return out;
}

evaluated slice(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    std::size_t const rank = x.sizes.size();
    std::vector<std::int64_t> lists[4]; // starts, ends, axes, steps
    char const* const names[] = {"starts", "ends", "axes"};
    for (std::size_t i = 0; i != 4; ++i) {
        if (tensor const* const t = c.input(i + 1); t != nullptr) {
            if (!is_index_tensor(*t)) return {};
            lists[i] = integers(*t);
        } else if (i < 3) {
            if (node_attribute const* const a = c.node.attribute(names[i]); a != nullptr) lists[i] = a->ints;
        }
    }
    auto& [starts, ends, axes, steps] = lists;
    if (axes.empty() && starts.size() <= rank)
        for (std::size_t i = 0; i != starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (steps.empty()) steps.assign(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) return {};
    std::vector<std::int64_t> sizes = x.sizes;
    std::vector<std::int64_t> strides = dense_strides(x.sizes);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i != starts.size(); ++i) {
        auto const axis = axis_at(axes[i], rank);
        if (!axis || steps[i] == 0 || std::count(axes.begin(), axes.end(), axes[i]) != 1) return {};
        cut const s = cut_of(x.sizes[*axis], starts[i], ends[i], steps[i]);
        sizes[*axis] = s.count;
        if (s.count == 0) continue;
        offset += s.start * strides[*axis];
        if (s.count > 1) strides[*axis] *= s.step;
    }
    return take(x, std::move(sizes), strides, offset);
}

evaluated gather(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    tensor const* const at = c.input(1);
    if (at == nullptr || (at->type != dtype::int64 && at->type != dtype::int32)) return {};
    auto const axis = axis_at(int_attribute(c.node, "axis", 0), x.sizes.size());
    if (!axis) return {};
    tensor out{x.type, {x.sizes.begin(), x.sizes.begin() + static_cast<std::ptrdiff_t>(*axis)}, {}};
    out.sizes.insert(out.sizes.end(), at->sizes.begin(), at->sizes.end());
    out.sizes.insert(out.sizes.end(), x.sizes.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, x.sizes.end());
    if (!c.count(out.sizes, out.type)) return {};
    std::int64_t const n = x.sizes[*axis];
    std::size_t inner = bits(x.type) / 8;
    std::size_t outer = 1;
    for (std::size_t i = 0; i != x.sizes.size(); ++i) {
        if (i < *axis) outer *= static_cast<std::size_t>(x.sizes[i]);
        if (i > *axis) inner *= static_cast<std::size_t>(x.sizes[i]);
    }
    std::vector<std::int64_t> indices = integers(*at);
    for (std::int64_t& i : indices) {
        if (i < -n || i >= n) return {};
        if (i < 0) i += n;
    }
    for (std::size_t o = 0; o != outer; ++o)
        for (std::int64_t i : indices)
            out.bytes.append(x.bytes, (o * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)) * inner, inner);
    return out;
}

evaluated tile(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    tensor const* const repeats = c.input(1);
    if (repeats == nullptr || !is_index_tensor(*repeats)) return {};
    std::vector<std::int64_t> const times = integers(*repeats);
    if (times.size() != x.sizes.size()) return {};
    std::vector<std::int64_t> const own = dense_strides(x.sizes);
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    std::vector<std::int64_t> result;
    for (std::size_t i = 0; i != times.size(); ++i) {
        if (times[i] < 0 || times[i] > max_constant_bytes) return {};
        sizes.insert(sizes.end(), {times[i], x.sizes[i]});
        strides.insert(strides.end(), {0, own[i]});
        result.push_back(times[i] * x.sizes[i]);
    }
    if (!c.count(result, x.type)) return {};
    tensor out = take(x, std::move(sizes), strides, 0);
    out.sizes = std::move(result);
    return out;
}

evaluated where(constant_call const& c) {
    tensor const* const x = c.input(1);
    tensor const* const y = c.input(2);
    if (x == nullptr || y == nullptr || c.inputs[0]->type != dtype::bool_ || x->type != y->type || !is_movable(*x))
        return {};
    auto sizes = broadcast(x->sizes, y->sizes);
    if (sizes) sizes = broadcast(*sizes, c.inputs[0]->sizes);
    if (!sizes || !c.count(*sizes, x->type)) return {};
    tensor const condition = broadcast_to(*c.inputs[0], *sizes);
    tensor out = broadcast_to(*x, *sizes);
    tensor const other = broadcast_to(*y, *sizes);
    std::size_t const width = bits(out.type) / 8;
    for (std::size_t i = 0; i != condition.bytes.size(); ++i)
        if (condition.bytes[i] == 0) std::memcpy(out.bytes.data() + i * width, other.bytes.data() + i * width, width);
    return out;
}

evaluated trilu(constant_call const& c) {
    tensor out = *c.inputs[0];
    std::size_t const rank = out.sizes.size();
    if (rank < 2) return {};
    bool const upper = int_attribute(c.node, "upper", 1) != 0;
    std::int64_t k = 0;
    if (tensor const* const t = c.input(1); t != nullptr) {
        if (t->type != dtype::int64 || t->element_count() != 1) return {};
        k = integers(*t)[0];
    }
    if (k > max_constant_bytes || k < -max_constant_bytes) return {};
    std::int64_t const rows = out.sizes[rank - 2];
    std::int64_t const columns = out.sizes[rank - 1];
    std::size_t const width = bits(out.type) / 8;
    std::int64_t const count = out.element_count();
    for (std::int64_t i = 0; i != count; ++i) {
        std::int64_t const column = i % columns;
        std::int64_t const row = i / columns % rows;
        if (upper ? column - row < k : column - row > k)
            std::memset(out.bytes.data() + static_cast<std::size_t>(i) * width, 0, width);
    }
    return out;
}

evaluated constant_of_shape(constant_call const& c) {
    if (!is_index_tensor(*c.inputs[0])) return {};
    node_attribute const* const a = c.node.attribute("value");
    tensor const one =
        a == nullptr || a->tensors.empty() ? tensor{dtype::float32, {1}, std::string(4, '\0')} : a->tensors[0];
    tensor out{one.type, integers(*c.inputs[0]), {}};
    auto const n = c.count(out.sizes, out.type);
    if (!n || !is_movable(one) || one.bytes.size() != bits(one.type) / 8) return {};
    for (std::int64_t i = 0; i != *n; ++i) out.bytes += one.bytes;
    return out;
}

constexpr named_evaluator layout_table[] = {
    {"Concat", concat},
    {"ConstantOfShape", constant_of_shape},
    {"Expand", expand},
    {"Flatten", flatten},
    {"Gather", gather},
    {"Identity", identity},
    {"Reshape", reshape},
    {"Slice", slice},
    {"Squeeze", squeeze},
    {"Tile", tile},
    {"Transpose", transpose},
    {"Trilu", trilu},
    {"Unsqueeze", unsqueeze},
    {"Where", where},
};

} // namespace

std::span<named_evaluator const> layout_evaluators() { return layout_table; }

std::optional<std::vector<tensor>> evaluate_split(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    auto const axis = axis_at(int_attribute(c.node, "axis", 0), x.sizes.size());
    if (!axis || !is_movable(x)) return {};
    std::size_t const parts = c.node.outputs.size();
    std::vector<std::int64_t> lengths;
    if (tensor const* const t = c.input(1); t != nullptr) {
        if (!is_index_tensor(*t)) return {};
        lengths = integers(*t);
    } else if (node_attribute const* const a = c.node.attribute("split"); a != nullptr) {
        lengths = a->ints;
    } else {
        std::int64_t const n = x.sizes[*axis];
        auto const count = static_cast<std::int64_t>(parts);
        std::int64_t const each = (n + count - 1) / count;
        for (std::int64_t i = 0; i != count; ++i) lengths.push_back(std::clamp<std::int64_t>(n - i * each, 0, each));
    }
    if (lengths.size() != parts ||
        std::any_of(lengths.begin(), lengths.end(), [&](auto n) { return n < 0 || n > x.sizes[*axis]; }) ||
        std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}) != x.sizes[*axis])
        return {};
    std::vector<tensor> out;
    std::vector<std::int64_t> const strides = dense_strides(x.sizes);
    std::int64_t start = 0;
    for (std::int64_t length : lengths) {
        std::vector<std::int64_t> sizes = x.sizes;
        sizes[*axis] = length;
        out.push_back(take(x, std::move(sizes), strides, start * strides[*axis]));
        start += length;
    }
    return out;
}

} // namespace ATON_NAMESPACE::passes
