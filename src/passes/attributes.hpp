// SPDX-License-Identifier: MIT
// Reads attributes of a node by name, with default values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// "" for ONNX's default domain, which has two names.
inline std::string_view plain_domain(std::string_view domain) {
    return domain == "ai.onnx" ? std::string_view() : domain;
}

inline std::int64_t int_attribute(graph_node const& n, std::string_view name, std::int64_t otherwise) {
    node_attribute const* const a = n.attribute(name);
    return a == nullptr || a->type != onnx::attr_type::i ? otherwise : a->i;
}

inline float float_attribute(graph_node const& n, std::string_view name, float otherwise) {
    node_attribute const* const a = n.attribute(name);
    return a == nullptr || a->type != onnx::attr_type::f ? otherwise : a->f;
}

inline void set_int_attribute(graph_node& n, std::string_view name, std::int64_t i) {
    for (node_attribute& a : n.attributes) {
        if (a.name != name) continue;
        a.i = i;
        return;
    }
    node_attribute& a = n.attributes.emplace_back();
    a.name = name;
    a.type = onnx::attr_type::i;
    a.i = i;
}

inline void set_ints_attribute(graph_node& n, std::string_view name, std::vector<std::int64_t> ints) {
    for (node_attribute& a : n.attributes) {
        if (a.name != name) continue;
        a.ints = std::move(ints);
        return;
    }
    node_attribute& a = n.attributes.emplace_back();
    a.name = name;
    a.type = onnx::attr_type::ints;
    a.ints = std::move(ints);
}

/// The input, or no_value if it is omitted.
inline value_id input(graph_node const& n, std::size_t i) { return i < n.inputs.size() ? n.inputs[i] : no_value; }

/// The elements of an int64 or int32 tensor.
inline std::vector<std::int64_t> integers(tensor const& t) {
    std::vector<std::int64_t> out;
    auto const n = static_cast<std::size_t>(t.element_count());
    out.reserve(n);
    for (std::size_t i = 0; i != n; ++i)
        out.push_back(t.type == dtype::int64 ? detail::read_bytes<std::int64_t>(t.bytes, i)
                                             : t.at(i).to<std::int64_t>());
    return out;
}

inline bool is_index_tensor(tensor const& t) {
    return (t.type == dtype::int64 || t.type == dtype::int32) && t.sizes.size() <= 1;
}

/// The non-negative axis; nothing if it is out of range.
inline std::optional<std::size_t> axis_at(std::int64_t axis, std::size_t rank) {
    auto const n = static_cast<std::int64_t>(rank);
    if (axis < -n || axis >= n) return {};
    return static_cast<std::size_t>(axis < 0 ? axis + n : axis);
}

/// A slice of n elements, with `start` and `end` clamped as by Slice and Shape.
struct cut {
    std::int64_t start = 0;
    std::int64_t step = 1;
    std::int64_t count = 0;
};

inline cut cut_of(std::int64_t n, std::int64_t start, std::int64_t end, std::int64_t step = 1) {
    auto const clamp = [](std::int64_t v, std::int64_t low, std::int64_t high) {
        return v < low ? low : v > high ? high : v;
    };
    if (n <= 0) return {0, step, 0};
    bool const forward = step > 0;
    start = clamp(start < 0 ? start + n : start, 0, forward ? n : n - 1);
    end = clamp(end < 0 && (forward || end >= -n) ? end + n : end, forward ? 0 : -1, forward ? n : n - 1);
    std::int64_t const distance = forward ? end - start : start - end;
    std::int64_t const stride = forward ? step : step == INT64_MIN ? INT64_MAX : -step;
    return {start, step, distance <= 0 ? 0 : (distance - 1) / stride + 1};
}

} // namespace ATON_NAMESPACE::passes
