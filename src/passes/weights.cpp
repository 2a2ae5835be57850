// SPDX-License-Identifier: MIT
// Applies layout operators to weights in a file: the node is removed, and the weight is written in the new layout.
#include "weights.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <aton/onnx/traits.hpp>

#include "attributes.hpp"
#include "captures.hpp"
#include "evaluate.hpp"
#include "rewriter.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// The weight as a single strided view with its own sizes, if possible.
std::optional<stored_part> as_view(stored_tensor const& t) {
    if (t.parts.size() != 1) return {};
    stored_part part = t.parts[0];
    if (part.sizes == t.sizes) return part;
    bool const same_rows = part.factors.empty() || (!t.sizes.empty() && t.sizes[0] == part.sizes[0]);
    if (!part.is_contiguous() || !same_rows) return {};
    part.sizes = t.sizes;
    part.strides = dense_strides(t.sizes);
    return part;
}

stored_tensor stored_view(dtype type, stored_part part) {
    std::vector<std::int64_t> sizes = part.sizes;
    stored_tensor out{type, std::move(sizes), {}};
    out.parts.push_back(std::move(part));
    return out;
}

/// Selects `count` elements along an axis, from `start` in steps of `step`.
bool narrow(stored_part& part, std::size_t axis, cut const& c) {
    if (c.step < 1) return false;
    if (!part.factors.empty() && axis == 0) {
        std::vector<double> kept;
        for (std::int64_t i = 0; i != c.count; ++i)
            kept.push_back(part.factors[static_cast<std::size_t>(c.start + i * c.step)]);
        part.factors = std::move(kept);
    }
    part.sizes[axis] = c.count;
    if (c.count == 0) return true; // no element is read
    part.offset += c.start * part.strides[axis];
    if (c.count > 1) part.strides[axis] *= c.step;
    return true;
}

std::optional<stored_tensor> sliced(rewriter const& r, graph_node const& n, stored_tensor const& from) {
    auto part = as_view(from);
    std::vector<std::int64_t> lists[4];
    for (std::size_t i = 0; i != 4; ++i) {
        tensor const* const t = r.constant(input(n, i + 1));
        if (t != nullptr && is_index_tensor(*t)) lists[i] = integers(*t);
        else if (input(n, i + 1) != no_value || i < 2) return {};
    }
    auto& [starts, ends, axes, steps] = lists;
    if (axes.empty())
        for (std::size_t i = 0; i != starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    if (steps.empty()) steps.assign(starts.size(), 1);
    if (!part || ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
        return {};
    for (std::size_t i = 0; i != axes.size(); ++i) {
        auto const axis = axis_at(axes[i], part->sizes.size());
        if (!axis || steps[i] < 1 || std::count(axes.begin(), axes.end(), axes[i]) != 1 ||
            !narrow(*part, *axis, cut_of(part->sizes[*axis], starts[i], ends[i], steps[i])))
            return {};
    }
    return stored_view(from.type, std::move(*part));
}

/// Ascending equidistant indices as a slice.
std::optional<cut> as_cut(tensor const& indices, std::int64_t size) {
    if ((indices.type != dtype::int64 && indices.type != dtype::int32) || indices.element_count() == 0) return {};
    std::vector<std::int64_t> list = integers(indices);
    for (std::int64_t& i : list) {
        if (i < -size || i >= size) return {};
        if (i < 0) i += size;
    }
    cut const out{list[0], list.size() > 1 ? list[1] - list[0] : 1, static_cast<std::int64_t>(list.size())};
    for (std::size_t i = 1; i != list.size(); ++i)
        if (list[i] - list[i - 1] != out.step) return {};
    return out.step > 0 ? std::optional(out) : std::nullopt;
}

std::optional<stored_tensor> gathered(rewriter const& r, graph_node const& n, stored_tensor const& from) {
    auto part = as_view(from);
    tensor const* const at = r.constant(input(n, 1));
    auto const axis = axis_at(int_attribute(n, "axis", 0), from.sizes.size());
    if (!part || at == nullptr || !axis) return {};
    auto const c = as_cut(*at, from.sizes[*axis]);
    if (!c || !narrow(*part, *axis, *c)) return {};
    stored_tensor out = stored_view(from.type, std::move(*part));
    // The axis is replaced by those of the indices; the order of elements does not change.
    auto const place = out.sizes.begin() + static_cast<std::ptrdiff_t>(*axis);
    out.sizes.insert(out.sizes.erase(place), at->sizes.begin(), at->sizes.end());
    return out;
}

std::optional<stored_tensor> transposed(graph_node const& n, stored_tensor const& from) {
    auto part = as_view(from);
    if (!part) return {};
    std::size_t const rank = part->sizes.size();
    node_attribute const* const perm = n.attribute("perm");
    if (perm != nullptr && perm->ints.size() != rank) return {};
    stored_part out = *part;
    for (std::size_t i = 0; i != rank; ++i) {
        auto const axis = axis_at(perm == nullptr ? static_cast<std::int64_t>(rank - 1 - i) : perm->ints[i], rank);
        if (!axis || (i == 0 && *axis != 0 && !part->factors.empty())) return {};
        out.sizes[i] = part->sizes[*axis];
        out.strides[i] = part->strides[*axis];
    }
    return stored_view(from.type, std::move(out));
}

/// Reshape and similar operators: the order of elements stays, the sizes are those of the result.
std::optional<stored_tensor> reshaped(rewriter const& r, graph_node const& n, stored_tensor const& from) {
    shape const& s = r.shape_of(n.outputs[0]);
    if (s.element_count_or(-1) != from.element_count()) return {};
    stored_tensor out = from;
    out.sizes.clear();
    for (dim const& d : s.dims()) out.sizes.push_back(d.size());
    return out;
}

bool split_weight(rewriter& r, graph_node& n, stored_tensor const& from) {
    auto const whole = as_view(from);
    auto const axis = axis_at(int_attribute(n, "axis", 0), from.sizes.size());
    if (!whole || !axis) return false;
    std::vector<stored_part> parts;
    std::int64_t start = 0;
    for (value_id out : n.outputs) {
        if (out == no_value) return false;
        shape const& s = r.shape_of(out); // the recorded sizes
        if (!s.is_static() || s.rank() != from.sizes.size()) return false;
        parts.push_back(*whole);
        std::int64_t const count = s[*axis].size();
        if (count > from.sizes[*axis] - start || !narrow(parts.back(), *axis, {start, 1, count})) return false;
        start += count;
    }
    if (start != from.sizes[*axis]) return false;
    dtype const type = from.type;
    for (std::size_t i = 0; i != parts.size(); ++i)
        r.replace(n.outputs[i],
                  r.add_stored(stored_view(type, std::move(parts[i])), r.weights().derived_name(n.inputs[0], false)));
    return true;
}

} // namespace

std::optional<tensor> load_weight(stored_tensor const& from, std::uint64_t at_most) {
    if (!tensor::can_hold(from.type) || from.byte_count() > at_most) return {};
    std::size_t const width = bits(from.type) / 8;
    tensor out{from.type, from.sizes, {}};
    for (stored_part const& part : from.parts) {
        if (!part.is_unchanged() || part.bytes.data == nullptr) return {};
        std::int64_t const count = part.element_count();
        std::vector<std::int64_t> index(part.sizes.size(), 0);
        std::int64_t at = part.offset;
        for (std::int64_t i = 0; i != count; ++i) {
            auto const position = static_cast<std::uint64_t>(at) * width;
            if (at < 0 || position + width > part.bytes.size) return {};
            out.bytes.append(reinterpret_cast<char const*>(part.bytes.data) + position, width);
            for (std::size_t d = index.size(); d-- > 0;) {
                at += part.strides[d];
                if (++index[d] != part.sizes[d]) break;
                at -= part.strides[d] * part.sizes[d];
                index[d] = 0;
            }
        }
    }
    if (out.bytes.size() != from.byte_count()) return {};
    return out;
}

bool rewrite_weight(rewriter& r, graph_node& n) {
    value_id const id = n.inputs[0];
    stored_tensor const* const from = r.stored(id);
    if (from == nullptr || !r.weights().may_rewrite(id)) return false;
    if (n.op == "Split") return split_weight(r, n, *from);
    std::optional<stored_tensor> to;
    if (n.op == "Transpose") to = transposed(n, *from);
    else if (n.op == "Slice") to = sliced(r, n, *from);
    else if (n.op == "Gather") to = gathered(r, n, *from);
    else to = reshaped(r, n, *from);
    if (!to) return false;
    // The recorded rank takes precedence: if the new one contradicts it, do not rewrite.
    shape const& s = r.shape_of(n.outputs[0]);
    if (s.has_rank() && s.rank() != to->sizes.size()) return false;
    r.replace(n.outputs[0], r.add_stored(std::move(*to), r.weights().derived_name(id, true)));
    return true;
}

/// Merges a Concat of weights along the first dimension that is not 1.
bool join_weights(rewriter& r, graph_node& n) {
    stored_tensor out;
    for (std::size_t i = 0; i != n.inputs.size(); ++i) {
        stored_tensor const* const t = r.stored(n.inputs[i]);
        if (t == nullptr || t->computed != nullptr || !r.weights().may_rewrite(n.inputs[i])) return false;
        auto const axis = axis_at(int_attribute(n, "axis", 0), t->sizes.size());
        if (!axis) return false;
        for (std::size_t d = 0; d != *axis; ++d)
            if (t->sizes[d] != 1) return false;
        if (i == 0) {
            out = *t;
            continue;
        }
        if (t->type != out.type || t->sizes.size() != out.sizes.size()) return false;
        for (std::size_t d = *axis + 1; d != t->sizes.size(); ++d)
            if (t->sizes[d] != out.sizes[d]) return false;
        out.sizes[*axis] += t->sizes[*axis];
        out.parts.insert(out.parts.end(), t->parts.begin(), t->parts.end());
    }
    r.replace(n.outputs[0], r.add_stored(std::move(out), r.weights().derived_name(n.inputs[0], false)));
    return true;
}

void weight_plan::plan(std::vector<graph_node> const& nodes) {
    rewritten_.assign(r_.graph().values.size(), 0);
    constexpr std::uint64_t blocked = ~std::uint64_t{0};
    auto const block = [&](value_id id) {
        if (id < rewritten_.size()) rewritten_[id] = blocked;
    };
    for (value_id id : r_.graph().outputs) block(id);
    for (graph_node const& n : nodes) {
        for_each_capture(n, [&](value_id id) { block(r_.resolve(id)); });
        bool movable = is_layout_operator(n);
        for (std::size_t i = 1; n.op != "Concat" && i < n.inputs.size(); ++i) {
            tensor const* const t = n.inputs[i] == no_value ? nullptr : r_.constant(r_.resolve(n.inputs[i]));
            movable = movable && (n.inputs[i] == no_value || t != nullptr);
            if (movable && n.op == "Gather") movable = as_cut(*t, INT64_MAX).has_value();
        }
        for (std::size_t i = 0; i != n.inputs.size(); ++i) {
            value_id const id = n.inputs[i] == no_value ? no_value : r_.resolve(n.inputs[i]);
            if (r_.stored(id) == nullptr || rewritten_[id] == blocked) continue;
            std::uint64_t bytes = 0;
            bool known = movable && (i == 0 || n.op == "Concat");
            for (value_id out : n.outputs) {
                std::int64_t const count = out == no_value ? -1 : r_.shape_of(out).element_count_or(-1);
                known = known && (count >= 0 || n.op == "Concat");
                if (known && n.op != "Concat")
                    bytes += static_cast<std::uint64_t>(count) * (bits(r_.stored(id)->type) / 8);
            }
            if (n.op == "Concat") bytes = r_.stored(id)->byte_count();
            rewritten_[id] = known ? rewritten_[id] + bytes : blocked;
        }
    }
}

bool weight_plan::may_rewrite(value_id id) const {
    if (!r_.options().rewrite_weights || id >= rewritten_.size()) return false;
    std::uint64_t const bytes = r_.stored(id)->byte_count();
    if (bytes > small_weight && !is_only_used_here(id)) return false;
    return bytes <= small_weight || (rewritten_[id] != ~std::uint64_t{0} && rewritten_[id] <= bytes + small_weight);
}

bool weight_plan::is_only_used_here(value_id id) const {
    value_id const outer = r_.graph().values[id].outer;
    return outer == no_value || (r_.outer()->uses(outer) == 1 && r_.outer()->weights().is_only_used_here(outer));
}

bool is_layout_operator(graph_node const& n) {
    return plain_domain(n.domain).empty() && onnx::traits_of(n.op).only_moves;
}

std::string weight_plan::derived_name(value_id id, bool is_only) {
    if (value_id const outer = r_.graph().values[id].outer; outer != no_value)
        return r_.outer()->weights().derived_name(outer, is_only && r_.uses(id) == 1);
    std::string& name = r_.graph().values[id].name;
    if (name.empty() || (is_only && r_.uses(id) == 1)) return std::exchange(name, {});
    return name + "." + std::to_string(++generated_names_);
}

tensor const* weight_plan::loaded(value_id id) {
    if (id == no_value) return nullptr;
    if (tensor const* const t = r_.constant(id); t != nullptr) return t;
    stored_tensor const* const s = r_.stored(id);
    if (s == nullptr || (!r_.options().rewrite_weights && !is_integral(s->type))) return nullptr;
    auto const known = loaded_.find(id);
    if (known != loaded_.end()) return &known->second;
    auto t = load_weight(*s, small_weight);
    return t ? &loaded_.emplace(id, std::move(*t)).first->second : nullptr;
}

} // namespace ATON_NAMESPACE::passes
