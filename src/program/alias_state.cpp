// SPDX-License-Identifier: MIT
#include "alias_state.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include <aton/core/error.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

constexpr std::uint32_t max_view_depth = 4096;

/// A key that is equal for equal operators with equal arguments, ignoring the tensor at `source`.
std::string key_of(node const& n, std::size_t source) {
    std::string key = n.op;
    auto const add = [&key](auto number) { key += ',' + std::to_string(number); };
    for (std::size_t i = 0; i != n.arguments.size(); ++i) {
        argument const& a = n.arguments[i];
        key += ';' + a.name + ':' + a.text;
        if (i == source && a.kind == argument_kind::tensor) continue;
        add(static_cast<int>(a.kind));
        add(static_cast<int>(a.type));
        add(a.index);
        for (value_index each : tensors_of(a)) add(each);
        auto const add_number = [&](number const& n) {
            add(n.computed);
            add(static_cast<int>(n.constant.type()));
            bool const is_whole = n.constant.is_integral() || n.constant.is_bool();
            if (is_whole) add(n.constant.to<std::int64_t>());
            else add(std::bit_cast<std::uint64_t>(n.constant.to<double>()));
            add(std::bit_cast<std::uint64_t>(n.constant.imaginary()));
        };
        if (a.kind == argument_kind::number) add_number(a.number);
        for (number const& each : a.numbers) add_number(each);
    }
    return key;
}

} // namespace

alias_state::alias_state(node_emitter& out, layouts const& layout, std::size_t value_count)
    : out_(out),
      layout_(layout),
      object_of_(value_count, none) {}

std::uint32_t alias_state::new_record(record r) {
    records_.push_back(std::move(r));
    return static_cast<std::uint32_t>(records_.size() - 1);
}

void alias_state::grow_to_hold(value_index v) {
    if (v >= object_of_.size()) object_of_.resize(std::max<std::size_t>(v + 1, 2 * object_of_.size()), none);
}

void alias_state::new_object(value_index v, std::uint32_t r) {
    grow_to_hold(v);
    object_of_[v] = static_cast<std::uint32_t>(records_of_.size());
    records_of_.push_back(r);
}

void alias_state::add_tensor(value_index v) {
    record r;
    r.memory = static_cast<std::uint32_t>(memories_.size());
    r.described_by = v;
    r.current = v;
    std::uint32_t const index = new_record(std::move(r));
    memory m;
    m.root = index;
    memories_.push_back(std::move(m));
    new_object(v, index);
}

void alias_state::add_same(value_index v, value_index other) {
    grow_to_hold(v);
    object_of_[v] = object_of_[other];
}

/// Returns whether the view is new.
bool alias_state::add_view(value_index v, record made, std::string const& key) {
    record const& parent = records_[made.parent];
    if (made.rule == view_rule::same) {
        new_object(v, made.parent);
        return false;
    }
    std::string place = std::to_string(made.parent) + '/' + std::to_string(made.result) + '/';
    place += std::to_string(made.element) + '/' + key;
    auto const [known, is_new] = found_.try_emplace(std::move(place), none);
    if (is_new) {
        made.memory = parent.memory;
        made.depth = parent.depth + 1;
        made.described_by = v;
        made.current = v;
        made.source = parent.current;
        known->second = new_record(std::move(made));
    }
    new_object(v, known->second);
    return is_new;
}

void alias_state::add_views(node n, std::vector<std::optional<view_of>> const& views,
                            std::vector<value_index> const& from) {
    auto view = std::make_shared<view_node>();
    for (auto const& each : views)
        if (each) view->argument = each->argument;
    std::string const key = key_of(n, view->argument);
    bool is_needed = false;
    std::size_t i = 0;
    for (std::size_t r = 0; r != n.results.size(); ++r) {
        for (std::size_t e = 0; e != n.results[r].values.size(); ++e, ++i) {
            value_index const v = n.results[r].values[e];
            if (v == no_value) continue;
            if (!views[i]) {
                add_tensor(v);
                is_needed = true;
                continue;
            }
            value_index const source = from[views[i]->element];
            record made;
            made.parent = records_of_[object_of_[source]];
            made.rule = views[i]->rule;
            made.view = view;
            made.list_element = views[i]->element;
            made.result = r;
            made.element = e;
            if (made.rule == view_rule::as_strided) { // strides refer to the memory, not to the viewed tensor
                auto const layout = layout_.of(described_by(source));
                if (!has_all_elements(made.parent) || !layout || !layouts::is_contiguous(*layout))
                    made.rule = view_rule::unknown;
            }
            is_needed = add_view(v, std::move(made), key) || is_needed;
        }
    }
    if (!is_needed) return;
    argument const& source = n.arguments[view->argument];
    auto const sources = tensors_of(source);
    if (sources.size() == 1) view->applied.emplace(std::pair{std::size_t{0}, sources.front().index}, n.results);
    view->op = n;
    out_.append(std::move(n));
}

void alias_state::change_view(node n, view_of const& view, value_index v) {
    value_index const made = n.results.front().values.front();
    std::uint32_t const object = object_of_[v];
    add_views(std::move(n), {view}, {v});
    records_of_[object] = records_of_[object_of_[made]];
    object_of_[made] = object;
}

value_index alias_state::shape_of(value_index v) const { return records_[records_of_[object_of_[v]]].current; }

bool alias_state::are_same(value_index a, value_index b) const {
    return records_of_[object_of_[a]] == records_of_[object_of_[b]];
}

bool alias_state::is_inside(std::uint32_t r, std::uint32_t of) const {
    while (r != of && r != none) r = records_[r].parent;
    return r == of;
}

bool alias_state::has_all_elements(std::uint32_t r) const {
    while (records_[r].parent != none && keeps_all_elements(records_[r].rule)) r = records_[r].parent;
    return records_[r].parent == none;
}

std::vector<std::uint32_t> alias_state::path_to(std::uint32_t r, std::uint32_t top, node const& cause) const {
    if (records_[r].depth > max_view_depth)
        throw error(describe(out_.owner(), cause) + ": more than " + std::to_string(max_view_depth) +
                    " nested views of the tensor that is written to; write to a clone() of one of them");
    std::vector<std::uint32_t> path;
    for (; r != top; r = records_[r].parent) path.push_back(r);
    std::reverse(path.begin(), path.end());
    return path;
}

value_index alias_state::read(value_index v, node const& cause) {
    std::uint32_t const r = records_of_[object_of_[v]];
    memory& m = memories_[records_[r].memory];
    if (!m.is_written) return records_[r].current;
    if (m.dirty != none && is_inside(r, m.dirty)) {
        refresh(path_to(r, m.dirty, cause), cause);
    } else {
        put_back_writes(m);
        refresh(path_to(r, m.root, cause), cause);
    }
    return records_[r].current;
}

void alias_state::refresh(std::vector<std::uint32_t> const& path, node const& cause) {
    for (std::uint32_t each : path) {
        value_index const now = records_[records_[each].parent].current;
        if (records_[each].source == now) continue;
        record& r = records_[each];
        if (r.rule == view_rule::unknown)
            throw error(describe(out_.owner(), cause) + ": reads the result of " + r.view->op.op +
                        " after a write to its argument, but the program does not tell whether it is a copy; use "
                        "clone()");
        r.current = apply(*r.view, r.list_element, now, cause)[r.result].values[r.element];
        r.source = now;
    }
}

std::vector<result> const& alias_state::apply(view_node& view, std::size_t list_element, value_index to,
                                              node const& cause) {
    auto const [at, is_new] = view.applied.try_emplace({list_element, to});
    if (!is_new) return at->second;
    node n = view.op;
    tensors_of(n.arguments[view.argument])[list_element] = to;
    for (result& each : n.results)
        for (value_index& v : each.values)
            if (v != no_value) v = out_.fresh(v);
    n.origin = cause.origin;
    at->second = n.results;
    out_.append(std::move(n));
    return at->second;
}

void alias_state::put_back_writes(memory& m) {
    if (m.dirty == none) return;
    node const& writer = *m.writer;
    std::uint32_t each = std::exchange(m.dirty, none);
    std::vector<std::uint32_t> path = path_to(each, m.root, writer);
    path.pop_back();
    refresh(path, writer);
    for (; records_[each].parent != none; each = records_[each].parent) {
        record& r = records_[each];
        record& parent = records_[r.parent];
        std::vector<value_index> parts;
        if (r.rule == view_rule::pieces) parts = apply(*r.view, 0, parent.current, writer)[r.result].values;
        r.source = put_back(out_, {r.view->op, r.rule, r.element, parent.current, std::move(parts), r.current, writer});
        parent.current = r.source;
    }
}

void alias_state::write(value_index v, value_index now, node const& cause) {
    std::uint32_t const r = records_of_[object_of_[v]];
    memory& m = memories_[records_[r].memory];
    if (m.dirty != r) put_back_writes(m);
    m.is_written = true;
    records_[r].current = now;
    if (records_[r].parent == none) return;
    m.dirty = r;
    m.writer = std::make_shared<node const>(cause);
}

alias_state::final_value alias_state::finish(value_index v) {
    memory& m = memories_[record_of(v).memory];
    put_back_writes(m);
    return {records_[m.root].current, m.is_written};
}

bool alias_state::share_memory(value_index a, value_index b) const {
    return record_of(a).memory == record_of(b).memory;
}

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
