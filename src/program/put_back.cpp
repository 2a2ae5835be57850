// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include <aton/core/error.hpp>

#include "node_arguments.hpp"
#include "view_rules.hpp"

namespace ATON_NAMESPACE::program {

namespace {

/// The arguments of a view except the viewed tensor.
std::vector<argument> geometry(node const& view) {
    std::vector<argument> out;
    for (argument const& each : view.arguments)
        if (each.name != "self" && each.name != "A") out.push_back(each);
    return out;
}

/// The arguments of `select_scatter` and similar operators: whole, part, geometry.
std::vector<argument> scatter_arguments(value_index whole, value_index part, std::vector<argument> rest) {
    rest.insert(rest.begin(), {value_argument("self", whole), value_argument("src", part)});
    return rest;
}

/// `part` reshaped to the sizes of `whole`.
value_index reshaped(node_emitter& out, value_index whole, value_index part, node const& cause, value_index made) {
    value const& like = out.owner().values[whole];
    std::vector<std::int64_t> sizes;
    std::size_t computed = 0;
    bool empty = false;
    for (extent const& each : like.sizes) {
        sizes.push_back(each.is_number() ? each.number : -1);
        computed += each.is_number() ? 0 : 1;
        empty = empty || (each.is_number() && each.number == 0);
    }
    if (!like.has_type || computed > 1 || (computed == 1 && empty))
        return out.emit(
            "aten::reshape_as", cause, {value_argument("self", part), value_argument("other", whole)}, made);
    return out.emit(
        "aten::reshape", cause, {value_argument("self", part), integers_argument("shape", std::move(sizes))}, made);
}

argument inverse_permutation(argument const& dims) {
    auto const rank = static_cast<std::int64_t>(dims.integers.size());
    std::vector<std::int64_t> inverse(dims.integers.size());
    for (std::int64_t i = 0; i != rank; ++i) {
        std::int64_t const d = dims.integers[static_cast<std::size_t>(i)];
        std::int64_t const from = d < 0 ? d + rank : d;
        if (from >= 0 && from < rank) inverse[static_cast<std::size_t>(from)] = i;
    }
    return integers_argument(dims.name, std::move(inverse));
}

/// start + length, either of which may be computed.
argument end_of(node_emitter& out, argument const& start, argument const& length, node const& cause) {
    if (start.kind == argument_kind::integer && length.kind == argument_kind::integer) {
        std::int64_t const end = start.integer + length.integer;
        // If start is negative, so is the end, unless it is the end of the dimension.
        bool const to_the_end = start.integer < 0 && end >= 0;
        return integer_argument("end", to_the_end ? std::numeric_limits<std::int64_t>::max() : end);
    }
    if (start.kind == argument_kind::integer && start.integer == 0) return renamed(length, "end");
    if (start.kind == argument_kind::integer && start.integer < 0)
        throw error(describe(out.owner(), cause) +
                    ": writes to a slice with a computed length and a negative start; use a nonnegative start");
    value sum;
    sum.name = out.owner().values[(start.values.empty() ? length : start).values.front()].name;
    sum.kind = value_kind::sym_int;
    value_index const made = out.fresh(std::move(sum));
    node n;
    n.kind = node_kind::python;
    n.op = "_operator.add";
    n.name = out.owner().values[made].name;
    n.arguments = {renamed(start, "a"), renamed(length, "b")};
    n.results = {result{{made}, false}};
    n.origin = cause.origin;
    out.append(std::move(n));
    return value_argument("end", made);
}

std::vector<argument> narrow_arguments(node_emitter& out, node const& view, value_index whole, value_index part,
                                       node const& cause) {
    argument const* const start = find_argument(view, "start");
    argument const* const length = find_argument(view, "length");
    bool const plain = start != nullptr && length != nullptr &&
                       (start->values.empty() || out.owner().values[start->values.front()].kind != value_kind::tensor);
    if (!plain)
        throw error(describe(out.owner(), cause) + ": writes to a slice whose start is a tensor; use an integer start");
    argument end = end_of(out, *start, *length, cause);
    return scatter_arguments(
        whole, part, {integer_argument("dim", integer_of(view, "dim", 0)), *start, std::move(end)});
}

std::vector<argument> diagonal_arguments(node const& view, value_index whole, value_index part) {
    bool const last = view.op == "aten::linalg_diagonal";
    return scatter_arguments(whole,
                             part,
                             {integer_argument("offset", integer_of(view, "offset", 0)),
                              integer_argument("dim1", integer_of(view, "dim1", last ? -2 : 0)),
                              integer_argument("dim2", integer_of(view, "dim2", last ? -1 : 1))});
}

std::int64_t split_dimension(program const& p, node const& view, value_index whole) {
    if (view.op.starts_with("aten::hsplit")) return p.values[whole].sizes.size() > 1 ? 1 : 0;
    if (view.op.starts_with("aten::vsplit")) return 0;
    if (view.op.starts_with("aten::dsplit")) return 2;
    return integer_of(view, "dim", 0);
}

} // namespace

value_index put_back(node_emitter& out, node const& view, view_rule rule, std::size_t element, value_index whole,
                     std::vector<value_index> const& parts, value_index part, node const& cause) {
    if (rule == view_rule::same) return part;
    value_index const made = out.fresh(whole);
    switch (rule) {
    case view_rule::reshape: return reshaped(out, whole, part, cause, made);
    case view_rule::self_inverse: {
        std::vector<argument> arguments = geometry(view);
        arguments.insert(arguments.begin(), value_argument("self", part));
        return out.emit(view.op, cause, std::move(arguments), made);
    }
    case view_rule::permute: {
        argument const* const dims = find_argument(view, "dims");
        if (dims == nullptr) break;
        return out.emit("aten::permute", cause, {value_argument("self", part), inverse_permutation(*dims)}, made);
    }
    case view_rule::move_dimensions: {
        argument const* const from = find_argument(view, "source");
        argument const* const to = find_argument(view, "destination");
        if (from == nullptr || to == nullptr) break;
        return out.emit(view.op,
                        cause,
                        {value_argument("self", part), renamed(*to, "source"), renamed(*from, "destination")},
                        made);
    }
    case view_rule::select:
        return out.emit("aten::select_scatter", cause, scatter_arguments(whole, part, geometry(view)), made);
    case view_rule::slice:
        return out.emit("aten::slice_scatter", cause, scatter_arguments(whole, part, geometry(view)), made);
    case view_rule::narrow:
        return out.emit("aten::slice_scatter", cause, narrow_arguments(out, view, whole, part, cause), made);
    case view_rule::diagonal:
        return out.emit("aten::diagonal_scatter", cause, diagonal_arguments(view, whole, part), made);
    case view_rule::as_strided:
        return out.emit("aten::as_strided_scatter", cause, scatter_arguments(whole, part, geometry(view)), made);
    case view_rule::unbind: {
        std::vector<argument> place = {integer_argument("dim", integer_of(view, "dim", 0)),
                                       integer_argument("index", static_cast<std::int64_t>(element))};
        return out.emit("aten::select_scatter", cause, scatter_arguments(whole, part, std::move(place)), made);
    }
    case view_rule::pieces: {
        std::vector<value_index> joined = parts;
        joined[element] = part;
        std::int64_t const dim = split_dimension(out.owner(), view, whole);
        return out.emit(
            "aten::cat", cause, {values_argument("tensors", std::move(joined)), integer_argument("dim", dim)}, made);
    }
    default: break;
    }
    if (rule == view_rule::unknown)
        throw error(describe(out.owner(), cause) + ": writes to the result of " + view.op +
                    ", but the program does not tell whether it is a copy; write to a clone() of it");
    throw error(describe(out.owner(), cause) + ": writes through " + view.op +
                ", which is not invertible; write to a clone() of it");
}

} // namespace ATON_NAMESPACE::program
