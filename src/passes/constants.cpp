// SPDX-License-Identifier: MIT
// The constants and weights that a rewriter knows, adds and shares: equal ones are kept once.
#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rewriter.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr std::size_t max_shared_bytes = 65536; // larger constants are not compared

std::size_t hash_of(tensor const& t) {
    std::size_t h = std::hash<std::string_view>()(t.bytes) * 31 + static_cast<std::size_t>(t.type);
    for (std::int64_t s : t.sizes) h = h * 1000003 + static_cast<std::size_t>(s);
    return h;
}

bool same_bytes(stored_tensor const& a, stored_tensor const& b) {
    if (a.type != b.type || a.sizes != b.sizes || a.parts.size() != 1 || b.parts.size() != 1) return false;
    stored_part const& p = a.parts[0];
    stored_part const& q = b.parts[0];
    return p.bytes.file == q.bytes.file && p.bytes.position == q.bytes.position && p.bytes.data == q.bytes.data &&
           p.bytes.size == q.bytes.size && p.sizes == q.sizes && p.strides == q.strides && p.offset == q.offset &&
           p.factors == q.factors && p.stored_as == q.stored_as;
}

} // namespace

/// Merges equal small constants.
void rewriter::share_equal_constants() {
    for (graph_initializer const& i : graph().initializers) {
        if (i.stored != nullptr || is_input(i.value) || i.data.bytes.size() > max_shared_bytes) continue;
        std::size_t const h = hash_of(i.data);
        value_id const equal = find_constant(i.data, h);
        if (equal == no_value) constants_.emplace(h, i.value);
        else replace(i.value, equal);
    }
}

/// Merges weights that are equal views of the same storage.
void rewriter::share_equal_weights() {
    std::unordered_map<std::uint64_t, std::vector<value_id>> by_place; // candidates
    for (graph_initializer const& i : graph().initializers) {
        if (i.stored == nullptr || i.stored->parts.size() != 1 || is_input(i.value)) continue;
        stored_part const& part = i.stored->parts[0];
        auto& same_place = by_place[part.bytes.position + static_cast<std::uint64_t>(part.offset)];
        auto const equal = std::find_if(same_place.begin(), same_place.end(), [&](value_id other) {
            return same_bytes(*stored(other), *i.stored);
        });
        if (equal == same_place.end()) same_place.push_back(i.value);
        else replace(i.value, *equal);
    }
}

tensor const* rewriter::constant(value_id id) const {
    if (id == no_value) return nullptr;
    if (value_id const outer = graph().values[id].outer; outer != no_value)
        return outer_ == nullptr ? nullptr : outer_->constant(outer);
    if (graph().values[id].initializer < 0 || is_input(id)) return nullptr;
    graph_initializer const& i = graph().initializers[static_cast<std::size_t>(graph().values[id].initializer)];
    return i.stored == nullptr ? &i.data : nullptr;
}

stored_tensor const* rewriter::stored(value_id id) const {
    if (id == no_value) return nullptr;
    if (value_id const outer = graph().values[id].outer; outer != no_value)
        return outer_ == nullptr ? nullptr : outer_->stored(outer);
    if (graph().values[id].initializer < 0 || is_input(id)) return nullptr;
    return graph().initializers[static_cast<std::size_t>(graph().values[id].initializer)].stored;
}

value_id rewriter::find_constant(tensor const& data, std::size_t hash) const {
    auto const [from, to] = constants_.equal_range(hash);
    for (auto i = from; i != to; ++i)
        if (*constant(i->second) == data) return i->second;
    return no_value;
}

value_id rewriter::add_constant(tensor data, value_id as) {
    bool const shared = data.bytes.size() <= max_shared_bytes;
    std::size_t const h = shared ? hash_of(data) : 0;
    if (shared)
        if (value_id const known = find_constant(data, h); known != no_value) return known;
    value_type type{data.type, shape(data.sizes)};
    if (as == no_value) {
        as = graph().add_value(std::move(type));
    } else {
        graph().values[as].producer = -1;
        graph().values[as].type = std::move(type);
    }
    graph().set_initializer(as, std::move(data));
    grow();
    if (shared) constants_.emplace(h, as);
    return as;
}

value_id rewriter::add_integers(std::vector<std::int64_t> const& numbers) {
    return add_constant(int64_tensor(numbers));
}

/// Adds the weight to the outermost graph, so that its bytes are copied from file to file.
value_id rewriter::add_stored(stored_tensor data, std::string name) {
    if (outer_ != nullptr) {
        value_id const outer = outer_->add_stored(std::move(data), std::move(name));
        outer_->mark_used(outer);
        value_id const id = graph().add_value(outer_->type(outer));
        graph().values[id].outer = outer;
        grow();
        mark_input(id);
        return id;
    }
    weights_.push_back(std::move(data));
    stored_tensor const& kept = weights_.back();
    value_id const id = graph().add_value({kept.type, shape(kept.sizes)}, std::move(name));
    graph().set_initializer(id, tensor{}, &kept);
    grow();
    return id;
}

} // namespace ATON_NAMESPACE::passes
