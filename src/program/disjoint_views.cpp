// SPDX-License-Identifier: MIT
// Which views of a memory have no element in common.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "alias_state.hpp"
#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

/// The elements along one dimension of a viewed tensor that a view contains: [first, end).
struct alias_state::part {
    std::int64_t dim = 0;
    std::int64_t first = 0;
    std::int64_t end = 0;
};

std::optional<alias_state::part> alias_state::part_of(record const& r) const {
    std::vector<extent> const& whole = out_.owner().values[records_[r.parent].described_by].sizes;
    node const& view = r.view->op;
    auto const rank = static_cast<std::int64_t>(whole.size());
    auto const number = [&](std::string_view name, std::int64_t fallback) -> std::optional<std::int64_t> {
        argument const* const a = find_argument(view, name);
        if (is_none(a)) return fallback;
        return integer_of(*a);
    };
    part out;
    std::int64_t const dim = number("dim", 0).value_or(rank);
    out.dim = dim < 0 ? dim + rank : dim;
    if (out.dim < 0 || out.dim >= rank) return {};
    extent const size = whole[static_cast<std::size_t>(out.dim)];
    // Converts an index that counts from the end, if the size is known.
    auto const place = [&](std::optional<std::int64_t> i) -> std::optional<std::int64_t> {
        if (!i || *i >= 0) return i;
        return size.is_number() ? std::optional(std::max<std::int64_t>(0, *i + size.number)) : std::nullopt;
    };
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    std::optional<std::int64_t> first;
    std::optional<std::int64_t> end;
    switch (r.rule) {
    case view_rule::select: first = place(number("index", 0)); break;
    case view_rule::unbind: first = static_cast<std::int64_t>(r.element); break;
    case view_rule::slice:
        first = place(number("start", 0));
        end = place(number("end", all));
        break;
    case view_rule::narrow:
        first = place(number("start", 0));
        end = number("length", 0);
        if (first && end) end = *end > all - *first ? all : *first + *end;
        break;
    default: return {};
    }
    if (r.rule == view_rule::select || r.rule == view_rule::unbind)
        if (first && *first != all) end = *first + 1;
    if (!first || !end) return {};
    out.first = *first;
    out.end = *end;
    return out;
}

/// The first and the last element of a tensor, as offsets in the tensor that it is ultimately a view of.
struct alias_state::element_range {
    std::int64_t first = 0;
    std::int64_t last = 0;
};

std::optional<alias_state::element_range> alias_state::range_of(std::uint32_t r) const {
    constexpr std::int64_t limit = std::int64_t{1} << 31; // so that no product overflows
    element_range out;
    value const& shown = out_.owner().values[records_[r].described_by];
    for (std::size_t d = 0; d != shown.sizes.size(); ++d) {
        extent const size = shown.sizes[d];
        extent const stride = d < shown.strides.size() ? shown.strides[d] : extent{0, 0};
        bool const fits = size.is_number() && stride.is_number() && size.number > 0 && size.number <= limit &&
                          stride.number >= 0 && stride.number <= limit;
        if (!fits) return {};
        out.last += (size.number - 1) * stride.number;
        if (out.last > limit) return {};
    }
    for (; records_[r].parent != none; r = records_[r].parent) {
        if (keeps_all_elements(records_[r].rule)) continue;
        std::int64_t start = 0;
        switch (records_[r].rule) {
        case view_rule::as_strided: start = integer_of(records_[r].view->op, "storage_offset", limit + 1); break;
        default: {
            std::optional<part> const p = part_of(records_[r]);
            value const& whole = out_.owner().values[records_[records_[r].parent].described_by];
            if (!p || p->first > limit || static_cast<std::size_t>(p->dim) >= whole.strides.size()) return {};
            extent const stride = whole.strides[static_cast<std::size_t>(p->dim)];
            if (!stride.is_number() || stride.number < 0 || stride.number > limit) return {};
            start = p->first * stride.number;
        }
        }
        if (start < 0 || start > limit) return {};
        out.first += start;
        out.last += start;
        if (out.last > 2 * limit) return {};
    }
    return out;
}

bool alias_state::are_disjoint(value_index a, value_index b) const {
    if (!share_memory(a, b)) return true;
    std::uint32_t one = records_of_[object_of_[a]];
    std::uint32_t other = records_of_[object_of_[b]];
    std::uint32_t below_one = none;
    std::uint32_t below_other = none;
    while (one != other) { // up to their common ancestor
        bool const first_is_deeper = records_[one].depth >= records_[other].depth;
        std::uint32_t& deeper = first_is_deeper ? one : other;
        (first_is_deeper ? below_one : below_other) = deeper;
        deeper = records_[deeper].parent;
        if (deeper == none) return false;
    }
    if (below_one == none || below_other == none) return false;
    record const& x = records_[below_one];
    record const& y = records_[below_other];
    if (x.rule == view_rule::pieces && x.view == y.view) return x.result == y.result && x.element != y.element;
    std::optional<part> const p = part_of(x);
    std::optional<part> const q = part_of(y);
    if (p && q && p->dim == q->dim && (p->end <= q->first || q->end <= p->first)) return true;
    std::optional<element_range> const v = range_of(records_of_[object_of_[a]]);
    std::optional<element_range> const w = range_of(records_of_[object_of_[b]]);
    return v && w && (v->last < w->first || w->last < v->first);
}

} // namespace ATON_NAMESPACE::program
