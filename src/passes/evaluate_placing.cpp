// SPDX-License-Identifier: MIT
// Evaluators of operators that place or select elements by index: ScatterElements, ScatterND, GatherElements, GatherND, NonZero
// and Pad.
#include "evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "attributes.hpp"
#include "elements.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// An update of one element or of a row of adjacent ones, as positions of its first elements.
struct placement {
    std::int64_t to = 0;
    std::int64_t from = 0;
};

/// `data` with rows of `length` elements of `updates` copied or, by the attribute "reduction", combined. Nothing if two updates without a
/// reduction have the same place: their order is up to the runtime.
evaluated placed(constant_call const& c, tensor const& data, tensor const& updates, std::vector<placement> all,
                 std::int64_t length) {
    node_attribute const* const attribute = c.node.attribute("reduction");
    std::string_view const reduction = attribute == nullptr ? std::string_view("none") : attribute->s;
    if (reduction == "none") {
        std::vector<std::int64_t> places;
        for (placement const& p : all) places.push_back(p.to);
        std::sort(places.begin(), places.end());
        if (std::adjacent_find(places.begin(), places.end()) != places.end()) return {};
        tensor out = data;
        std::size_t const width = bits(data.type) / 8;
        for (placement const& p : all)
            std::memcpy(out.bytes.data() + static_cast<std::size_t>(p.to) * width,
                        updates.bytes.data() + static_cast<std::size_t>(p.from) * width,
                        static_cast<std::size_t>(length) * width);
        return out;
    }
    return with_number_type(data.type, [&]<class T>(T) -> evaluated {
        std::vector<T> out = load<T>(data);
        std::vector<T> const by = load<T>(updates);
        for (placement const& p : all)
            for (std::int64_t i = 0; i != length; ++i) {
                T& x = out[static_cast<std::size_t>(p.to + i)];
                T const y = by[static_cast<std::size_t>(p.from + i)];
                if constexpr (std::is_floating_point_v<T>) {
                    if (std::isnan(x) || std::isnan(y)) return {};
                }
                if (reduction == "add") x = static_cast<T>(x + y);
                else if (reduction == "mul") x = static_cast<T>(x * y);
                else if (reduction == "min") x = std::min(x, y);
                else if (reduction == "max") x = std::max(x, y);
                else return {};
            }
        return store(out, data.type, data.sizes);
    });
}

/// The places in a tensor of `sizes` that the indices select along an axis, one for each index; nothing if one is out of range.
std::optional<std::vector<std::int64_t>> places_along(std::int64_t axis_number, std::vector<std::int64_t> const& sizes,
                                                      tensor const& indices) {
    auto const axis = axis_at(axis_number, sizes.size());
    if (!axis || indices.sizes.size() != sizes.size()) return {};
    for (std::size_t d = 0; d != sizes.size(); ++d)
        if (d != *axis && indices.sizes[d] > sizes[d]) return {};
    std::vector<std::int64_t> const strides = dense_strides(sizes);
    std::vector<std::int64_t> index(sizes.size(), 0);
    std::vector<std::int64_t> out;
    for (std::int64_t at : integers(indices)) {
        if (at < -sizes[*axis] || at >= sizes[*axis]) return {};
        std::int64_t place = (at < 0 ? at + sizes[*axis] : at) * strides[*axis];
        for (std::size_t d = 0; d != sizes.size(); ++d)
            if (d != *axis) place += index[d] * strides[d];
        out.push_back(place);
        advance(index, indices.sizes);
    }
    return out;
}

bool are_indices(tensor const* t) { return t != nullptr && (t->type == dtype::int64 || t->type == dtype::int32); }

evaluated scatter_elements(constant_call const& c) {
    tensor const& data = *c.inputs[0];
    tensor const* const indices = c.input(1);
    tensor const* const updates = c.input(2);
    if (!are_indices(indices) || updates == nullptr || updates->type != data.type || updates->sizes != indices->sizes ||
        !c.count(data.sizes, data.type))
        return {};
    auto const places = places_along(int_attribute(c.node, "axis", 0), data.sizes, *indices);
    if (!places) return {};
    std::vector<placement> all;
    for (std::int64_t const place : *places) all.push_back({place, static_cast<std::int64_t>(all.size())});
    return placed(c, data, *updates, std::move(all), 1);
}

evaluated gather_elements(constant_call const& c) {
    tensor const& data = *c.inputs[0];
    tensor const* const indices = c.input(1);
    if (!are_indices(indices) || !c.count(indices->sizes, data.type)) return {};
    auto const places = places_along(int_attribute(c.node, "axis", 0), data.sizes, *indices);
    if (!places) return {};
    tensor out{data.type, indices->sizes, {}};
    std::size_t const width = bits(data.type) / 8;
    for (std::int64_t const place : *places)
        out.bytes.append(data.bytes, static_cast<std::size_t>(place) * width, width);
    return out;
}

/// Where each index tuple, a row of `indices`, points to in a tensor of `sizes`; nothing if one is out of range.
struct tuple_places {
    std::vector<std::int64_t> first; ///< of each tuple, the first element that it selects
    std::vector<std::int64_t> sizes; ///< of all that is selected
    std::int64_t length = 1;         ///< how many elements a tuple selects
};
std::optional<tuple_places> places_of_tuples(std::vector<std::int64_t> const& sizes, tensor const* indices) {
    if (indices == nullptr || indices->type != dtype::int64 || indices->sizes.empty()) return {};
    auto const depth = static_cast<std::size_t>(indices->sizes.back());
    if (depth == 0 || depth > sizes.size()) return {};
    std::vector<std::int64_t> const strides = dense_strides(sizes);
    tuple_places out{{}, {indices->sizes.begin(), indices->sizes.end() - 1}, strides[depth - 1]};
    out.sizes.insert(out.sizes.end(), sizes.begin() + static_cast<std::ptrdiff_t>(depth), sizes.end());
    std::vector<std::int64_t> const list = integers(*indices);
    for (std::size_t at = 0; at != list.size(); at += depth) {
        std::int64_t& place = out.first.emplace_back(0);
        for (std::size_t d = 0; d != depth; ++d) {
            std::int64_t const i = list[at + d];
            if (i < -sizes[d] || i >= sizes[d]) return {};
            place += (i < 0 ? i + sizes[d] : i) * strides[d];
        }
    }
    return out;
}

evaluated gather_nd(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    if (int_attribute(c.node, "batch_dims", 0) != 0) return {};
    auto const places = places_of_tuples(x.sizes, c.input(1));
    if (!places || !c.count(places->sizes, x.type)) return {};
    tensor out{x.type, places->sizes, {}};
    std::size_t const width = bits(x.type) / 8;
    for (std::int64_t const place : places->first)
        out.bytes.append(
            x.bytes, static_cast<std::size_t>(place) * width, static_cast<std::size_t>(places->length) * width);
    return out;
}

evaluated scatter_nd(constant_call const& c) {
    tensor const& data = *c.inputs[0];
    tensor const* const updates = c.input(2);
    if (updates == nullptr || updates->type != data.type || !c.count(data.sizes, data.type)) return {};
    auto const places = places_of_tuples(data.sizes, c.input(1));
    if (!places || updates->sizes != places->sizes) return {};
    std::vector<placement> all;
    for (std::int64_t const place : places->first)
        all.push_back({place, static_cast<std::int64_t>(all.size()) * places->length});
    return placed(c, data, *updates, std::move(all), places->length);
}

constexpr std::int64_t padding = -1; ///< in place of an index

/// Which element of an axis of n elements each element of the padded axis is; nothing if the mode does not allow these pads.
std::optional<std::vector<std::int64_t>> padded_axis(std::string_view mode, std::int64_t n, std::int64_t before,
                                                     std::int64_t after) {
    std::vector<std::int64_t> out;
    bool const allowed = mode == "constant" || (n != 0 && (mode == "edge" || mode == "wrap")) ||
                         (mode == "reflect" && before < n && after < n);
    if (!allowed) return {};
    for (std::int64_t i = -before; i < n + after; ++i) {
        if (i >= 0 && i < n) out.push_back(i);
        else if (mode == "constant") out.push_back(padding);
        else if (mode == "edge") out.push_back(i < 0 ? 0 : n - 1);
        else if (mode == "wrap") out.push_back((i % n + n) % n);
        else out.push_back(i < 0 ? -i : 2 * (n - 1) - i);
    }
    return out;
}

/// The pads of each axis, before and after.
std::optional<std::vector<std::int64_t>> pads_of(constant_call const& c, std::size_t rank) {
    tensor const* const given = c.input(1);
    tensor const* const axes = c.input(3);
    if (given == nullptr || !is_index_tensor(*given) || (axes != nullptr && !is_index_tensor(*axes))) return {};
    std::vector<std::int64_t> const list = integers(*given);
    std::vector<std::int64_t> places;
    if (axes != nullptr) places = integers(*axes);
    for (std::size_t i = 0; axes == nullptr && i != rank; ++i) places.push_back(static_cast<std::int64_t>(i));
    if (list.size() != 2 * places.size()) return {};
    std::vector<std::int64_t> out(2 * rank, 0);
    for (std::size_t i = 0; i != places.size(); ++i) {
        auto const axis = axis_at(places[i], rank);
        if (!axis) return {};
        out[*axis] = list[i];
        out[rank + *axis] = list[places.size() + i];
    }
    return out;
}

evaluated pad(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    std::size_t const rank = x.sizes.size();
    node_attribute const* const attribute = c.node.attribute("mode");
    std::string_view const mode = attribute == nullptr ? std::string_view("constant") : attribute->s;
    tensor const* const filler = c.input(2);
    auto const pads = pads_of(c, rank);
    std::size_t const width = bits(x.type) / 8;
    if (!pads || (filler != nullptr && (filler->type != x.type || filler->bytes.size() != width))) return {};
    tensor out{x.type, {}, {}};
    for (std::size_t d = 0; d != rank; ++d) {
        constexpr std::int64_t max = max_constant_bytes;
        std::int64_t const before = (*pads)[d];
        std::int64_t const after = (*pads)[rank + d];
        if (before > max || after > max || before < -max || after < -max || x.sizes[d] + before + after < 0) return {};
        out.sizes.push_back(x.sizes[d] + before + after);
    }
    auto const count = c.count(out.sizes, out.type);
    if (!count) return {};
    std::vector<std::vector<std::int64_t>> sources; // of each axis
    for (std::size_t d = 0; d != rank; ++d) {
        auto list = padded_axis(mode, x.sizes[d], (*pads)[d], (*pads)[rank + d]);
        if (!list) return {};
        sources.push_back(std::move(*list));
    }
    std::string const fill = filler == nullptr ? std::string(width, '\0') : filler->bytes;
    std::vector<std::int64_t> const strides = dense_strides(x.sizes);
    std::vector<std::int64_t> index(rank, 0);
    for (std::int64_t i = 0; i != *count; ++i, advance(index, out.sizes)) {
        std::int64_t place = 0;
        bool inside = true;
        for (std::size_t d = 0; d != rank && inside; ++d) {
            std::int64_t const at = sources[d][static_cast<std::size_t>(index[d])];
            inside = at != padding;
            place += at * strides[d];
        }
        if (inside) out.bytes.append(x.bytes, static_cast<std::size_t>(place) * width, width);
        else out.bytes += fill;
    }
    return out;
}

/// The indices of all elements that are not 0: a column for each. Runtimes do not agree on tensors without dimensions.
evaluated non_zero(constant_call const& c) {
    tensor const& x = *c.inputs[0];
    if (x.sizes.empty()) return {};
    std::vector<std::vector<std::int64_t>> found;
    auto const search = [&]<class T>(T) -> evaluated {
        std::vector<std::int64_t> index(x.sizes.size(), 0);
        for (T const e : load<T>(x)) {
            if (e != T{}) found.push_back(index);
            advance(index, x.sizes);
        }
        std::vector<std::int64_t> out;
        for (std::size_t d = 0; d != x.sizes.size(); ++d)
            for (std::vector<std::int64_t> const& each : found) out.push_back(each[d]);
        return store(
            out, dtype::int64, {static_cast<std::int64_t>(x.sizes.size()), static_cast<std::int64_t>(found.size())});
    };
    return x.type == dtype::bool_ ? search(std::uint8_t{}) : with_number_type(x.type, search);
}

constexpr named_evaluator placing_table[] = {
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
    {"NonZero", non_zero},
    {"Pad", pad},
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd},
};

} // namespace

std::span<named_evaluator const> placing_evaluators() { return placing_table; }

} // namespace ATON_NAMESPACE::passes
