// SPDX-License-Identifier: MIT
// ATen's padding: constant, reflection, replication and circular. Negative pads crop.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Pads of one dimension.
struct axis_pad {
    std::int64_t axis;
    sym_int before, after;
};

/// Reads ATen's list of pads: two numbers per dimension, the last dimension first.
inline safe_vector<axis_pad> pads_by_axis(value x, size_list pad) {
    if (pad.size() % 2 != 0 || static_cast<std::int64_t>(pad.size() / 2) > x.rank())
        throw unsupported_error(std::to_string(pad.size()) + " pads for a tensor of rank " + std::to_string(x.rank()));
    safe_vector<axis_pad> out;
    for (std::size_t i = 0; i != pad.size(); i += 2)
        out.push_back({x.rank() - 1 - static_cast<std::int64_t>(i / 2), pad[i], pad[i + 1]});
    return out;
}

/// Crops x by the negative pads and sets them to 0.
inline value crop(graph<7> g, value x, safe_vector<axis_pad>& pads) {
    safe_vector<std::int64_t> starts, ends, axes;
    for (axis_pad& p : pads) {
        auto const cut = [](sym_int& n) -> std::int64_t {
            if (!n.is_constant() || n.constant() >= 0) return 0;
            return checked_subtract(0, std::exchange(n, 0).constant());
        };
        std::int64_t const first = cut(p.before);
        std::int64_t const last = cut(p.after);
        if (first == 0 && last == 0) continue;
        starts.push_back(first);
        ends.push_back(last == 0 ? to_the_end : -last);
        axes.push_back(p.axis);
    }
    return axes.empty() ? x : slice(g, x, starts, ends, axes);
}

inline bool nothing_to_pad(safe_span<axis_pad const> pads) {
    return std::all_of(pads.begin(), pads.end(), [](axis_pad const& p) { return p.before.is(0) && p.after.is(0); });
}

/// ONNX's list of pads: the pads before all dimensions, then those after.
inline safe_vector<sym_int> onnx_pads(value x, safe_span<axis_pad const> pads) {
    auto const rank = static_cast<std::size_t>(x.rank());
    safe_vector<sym_int> all(2 * rank, 0);
    for (axis_pad const& p : pads) {
        all[static_cast<std::size_t>(p.axis)] = p.before;
        all[static_cast<std::size_t>(p.axis) + rank] = p.after;
    }
    return all;
}

/// Pads with a number, converted to the dtype of x.
inline value pad_with_number(graph<7> g, value x, safe_span<axis_pad const> pads, number filler) {
    if (nothing_to_pad(pads)) return x;
    return mappings::pad(g, x, onnx_pads(x, pads), element(g, filler, x.dtype()));
}

/// The same; negative pads crop, by Slice if there are no others.
inline constexpr auto pad_constant =
    symbolic<"aten::constant_pad_nd(self, pad, value)">([](graph<7> g, value x, size_list pad, number filler) -> value {
        safe_vector<axis_pad> pads = pads_by_axis(x, pad);
        auto const adds = [](sym_int const& n) { return !n.is_constant() || n.constant() > 0; };
        bool const any =
            std::any_of(pads.begin(), pads.end(), [&](axis_pad const& p) { return adds(p.before) || adds(p.after); });
        if (!any) x = crop(g, x, pads);
        return pad_with_number(g, x, pads, filler);
    }).by_parts<"self", "value">();

/// The elements at positions -before to the size + after, limited to those that the axis has.
inline value replicate_by_positions(graph<11> g, value x, axis_pad const& p) {
    value const size = g.to_value(g.size(x, p.axis));
    value const end = g.op<"Add">(size, p.after.constant());
    value const at = g.op<"Range">(g.scalar(-p.before.constant(), dtype::int64), end, g.scalar(1, dtype::int64));
    return gather_of(g, x, clip(g, at, g.scalar(0, dtype::int64), g.op<"Sub">(size, 1)), p.axis);
}

/// Replication along axes that cropping would leave empty, where ATen repeats the element that is cropped last.
inline value replicate_cropped(graph<7> g, value x, safe_vector<axis_pad>& pads) {
    for (axis_pad& p : pads) {
        dim const& d = x.size(p.axis);
        if (!p.before.is_constant() || !p.after.is_constant()) continue;
        if (!d.is_static()) {
            bool const both = std::min(p.before.constant(), p.after.constant()) < 0 &&
                              std::max(p.before.constant(), p.after.constant()) > 0;
            if (!both || g.opset() < 11) continue;
            x = replicate_by_positions(g.within<11>(), x, p);
            p = {p.axis, 0, 0};
            continue;
        }
        std::int64_t const in = d.size();
        std::int64_t const before = p.before.constant();
        std::int64_t const after = p.after.constant();
        if (in == 0 || std::min(before, after) > -in) continue;
        safe_vector<std::int64_t> index;
        std::int64_t const out = checked_int(before) + in + after;
        budget::expect("a table of positions", out);
        for (std::int64_t o = 0; o < out; ++o) index.push_back(std::clamp<std::int64_t>(o - before, 0, in - 1));
        x = gather_of(g, x, g.ints(index), p.axis);
        p = {p.axis, 0, 0};
    }
    return x;
}

/// Pads in the mode "reflect" or "edge".
inline value pad_with(graph<7> g, value x, size_list pad, std::string_view mode) {
    safe_vector<axis_pad> pads = pads_by_axis(x, pad);
    if (mode == "edge") x = replicate_cropped(g, x, pads);
    x = crop(g, x, pads);
    if (nothing_to_pad(pads)) return x;
    // ONNX Runtime supports bools only in the constant mode.
    dtype const type = x.dtype();
    value const y = pad_by_mode(g, g.cast(x, type == dtype::bool_ ? dtype::uint8 : type), onnx_pads(x, pads), mode);
    return g.cast(y, type);
}

/// Circular padding: Pad in the mode "wrap" since opset 19, before that as slices.
inline constexpr auto pad_circular =
    symbolic<"aten::_pad_circular(self, pad)">([](graph<7> g, value x, size_list pad) -> value {
        safe_vector<axis_pad> pads = pads_by_axis(x, pad);
        x = crop(g, x, pads);
        if (nothing_to_pad(pads)) return x;
        // ONNX Runtime's "wrap" fails for tensors without elements.
        if (g.opset() >= 19 && !is_empty(x)) return pad_by_mode(g, x, onnx_pads(x, pads), "wrap");
        for (axis_pad const& p : pads) {
            safe_vector<value> parts;
            if (!p.before.is(0)) parts.push_back(slice(g, x, p.axis, g.size(x, p.axis) - p.before, to_the_end));
            parts.push_back(x);
            if (!p.after.is(0)) parts.push_back(slice(g, x, p.axis, 0, p.after));
            if (parts.size() != 1) x = g.op<"Concat">(parts, attr::axis_i(p.axis));
        }
        return x;
    }).by_parts<"self">();

inline constexpr auto pad_any =
    symbolic<"aten::pad(self, pad, mode, value)">([](graph<7> g, value x, size_list pad, std::string_view mode,
                                                     std::optional<double> number) -> value {
        if (mode == "constant") return pad_constant(g, x, pad, number.value_or(0.0));
        if (number && !exactly_equal(*number, 0))
            return g.unsupported("padding mode '" + std::string(mode) + "' takes no value");
        if (mode == "reflect") return pad_with(g, x, pad, "reflect");
        if (mode == "replicate") return pad_with(g, x, pad, "edge");
        if (mode == "circular") return pad_circular(g, x, pad);
        return g.unsupported("padding mode '" + std::string(mode) + "'");
    }).by_parts<"self", "value">();

inline constexpr auto reflection_pad = [](graph<7> g, value self, size_list padding) {
    return pad_with(g, self, padding, "reflect");
};
inline constexpr auto replication_pad = [](graph<7> g, value self, size_list padding) {
    return pad_with(g, self, padding, "edge");
};

/// In the order of at::padding_mode.
inline constexpr auto pad_enum =
    symbolic<"aten::_pad_enum(self, pad, mode, value)">([](graph<7> g, value self, safe_span<size const> pad,
                                                           std::int64_t mode, std::optional<double> number) -> value {
        constexpr std::string_view names[] = {"reflect", "replicate", "circular", "constant"};
        if (mode < 0 || mode > 3) return g.unsupported("padding mode " + std::to_string(mode));
        return pad_any(g, self, pad, names[mode], number);
    }).by_parts<"self", "value">();

} // namespace detail

inline constexpr auto padding =
    table(detail::pad_constant, detail::pad_any, detail::pad_enum, detail::pad_circular,
          symbolic<"aten::reflection_pad1d(self, padding)">(detail::reflection_pad).by_parts<"self">(),
          symbolic<"aten::reflection_pad2d(self, padding)">(detail::reflection_pad).by_parts<"self">(),
          symbolic<"aten::reflection_pad3d(self, padding)">(detail::reflection_pad).by_parts<"self">(),
          symbolic<"aten::replication_pad1d(self, padding)">(detail::replication_pad).by_parts<"self">(),
          symbolic<"aten::replication_pad2d(self, padding)">(detail::replication_pad).by_parts<"self">(),
          symbolic<"aten::replication_pad3d(self, padding)">(detail::replication_pad).by_parts<"self">());

} // namespace ATON_NAMESPACE::mappings
