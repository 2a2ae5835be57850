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
    check_resized(r, cause);
    if (!m.is_written) return records_[r].current;
    if (m.dirty != none && is_inside(r, m.dirty)) {
        refresh(path_to(r, m.dirty, cause), cause);
    } else {
        write_through_views(m);
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

void alias_state::write_through_views(memory& m) {
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
        r.source = write_through_view(
            out_, {r.view->op, r.rule, r.element, parent.current, std::move(parts), r.current, writer});
        parent.current = r.source;
    }
}

void alias_state::write(value_index v, value_index now, node const& cause) {
    std::uint32_t const r = records_of_[object_of_[v]];
    memory& m = memories_[records_[r].memory];
    check_resized(r, cause);
    if (m.dirty != r) write_through_views(m);
    m.is_written = true;
    records_[r].current = now;
    if (records_[r].parent == none) return;
    m.dirty = r;
    m.writer = std::make_shared<node const>(cause);
}

bool alias_state::has_no_elements(std::uint32_t r) const {
    std::vector<extent> const& sizes = out_.owner().values[records_[r].described_by].sizes;
    return std::find(sizes.begin(), sizes.end(), extent{0}) != sizes.end();
}

void alias_state::check_resized(std::uint32_t r, node const& cause) const {
    memory const& m = memories_[records_[r].memory];
    if (!m.resizer || has_no_elements(r)) return;
    throw error(describe(out_.owner(), cause) + ": uses " + out_.owner().values[records_[r].described_by].name +
                ", whose memory " + m.resizer->op +
                " has resized as that of its out tensor; create the out tensor with the sizes of the result");
}

void alias_state::resize(value_index v, value_index now, node const& cause) {
    memory& left = memories_[record_of(v).memory];
    if (left.resizer)
        throw error(describe(out_.owner(), cause) +
                    ": resizes its out tensor, whose memory was resized before through another tensor; create it with "
                    "the sizes of the result");
    left.resizer = std::make_shared<node const>(cause);
    record r;
    r.memory = static_cast<std::uint32_t>(memories_.size());
    r.described_by = now;
    r.current = now;
    memory made;
    made.root = new_record(std::move(r));
    made.is_written = true;
    records_of_[object_of_[v]] = made.root;
    memories_.push_back(std::move(made));
}

alias_state::final_value alias_state::finish(value_index v) {
    memory& m = memories_[record_of(v).memory];
    write_through_views(m);
    return {records_[m.root].current, m.is_written};
}

bool alias_state::share_memory(value_index a, value_index b) const {
    return record_of(a).memory == record_of(b).memory;
}

} // namespace ATON_NAMESPACE::program
