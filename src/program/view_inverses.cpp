// SPDX-License-Identifier: MIT
// Puts writes to views back into the viewed tensors.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

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
    rest.insert(rest.begin(), {tensor_argument("self", whole), tensor_argument("src", part)});
    return rest;
}

/// A call of a torch operator.
struct call {
    std::string_view op;
    std::vector<argument> arguments;
};

/// `part` reshaped to the sizes of `whole`.
call reshape_call(program const& p, value_index whole, value_index part) {
    value const& like = p.values[whole];
    std::vector<std::int64_t> sizes;
    std::size_t computed = 0;
    bool empty = false;
    for (extent const& each : like.sizes) {
        sizes.push_back(each.is_number() ? each.number : -1);
        computed += each.is_number() ? 0 : 1;
        empty = empty || (each.is_number() && each.number == 0);
    }
    if (!like.has_type || computed > 1 || (computed == 1 && empty))
        return {"aten::reshape_as", {tensor_argument("self", part), tensor_argument("other", whole)}};
    return {"aten::reshape", {tensor_argument("self", part), integers_argument("shape", std::move(sizes))}};
}

argument inverse_permutation(argument const& dims) {
    auto const rank = static_cast<std::int64_t>(dims.numbers.size());
    std::vector<std::int64_t> inverse(dims.numbers.size());
    for (std::int64_t i = 0; i != rank; ++i) {
        std::int64_t const d = dims.numbers[static_cast<std::size_t>(i)].integer().value_or(rank);
        std::int64_t const from = d < 0 ? d + rank : d;
        if (from >= 0 && from < rank) inverse[static_cast<std::size_t>(from)] = i;
    }
    return integers_argument(dims.name, std::move(inverse));
}

/// start + length, either of which may be computed.
argument end_of(node_emitter& out, argument const& start, argument const& length, node const& cause) {
    std::optional<std::int64_t> const first = integer_of(start);
    std::optional<std::int64_t> const count = integer_of(length);
    if (first && count) {
        std::int64_t const end = *first + *count;
        // If start is negative, so is the end, unless it is the end of the dimension.
        bool const to_the_end = *first < 0 && end >= 0;
        return number_argument("end", to_the_end ? std::numeric_limits<std::int64_t>::max() : end);
    }
    if (first && *first == 0) return renamed(length, "end");
    if (first && *first < 0)
        throw error(describe(out.owner(), cause) +
                    ": writes to a slice with a computed length and a negative start; use a nonnegative start");
    value sum;
    sum.name = out.owner().values[value_of(first ? length : start)].name;
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
    return number_argument("end", number::of_value(made));
}

call narrow_call(node_emitter& out, view_write const& w) {
    argument const* const start = find_argument(w.view, "start");
    argument const* const length = find_argument(w.view, "length");
    bool const plain = start != nullptr && length != nullptr && start->kind == argument_kind::number &&
                       length->kind == argument_kind::number;
    if (!plain)
        throw error(describe(out.owner(), w.cause) +
                    ": writes to a slice whose start is a tensor; use an integer start");
    argument end = end_of(out, *start, *length, w.cause);
    return {"aten::slice_scatter",
            scatter_arguments(
                w.whole, w.part, {number_argument("dim", integer_of(w.view, "dim", 0)), *start, std::move(end)})};
}

call diagonal_call(view_write const& w) {
    bool const last = w.view.op == "aten::linalg_diagonal";
    return {"aten::diagonal_scatter",
            scatter_arguments(w.whole,
                              w.part,
                              {number_argument("offset", integer_of(w.view, "offset", 0)),
                               number_argument("dim1", integer_of(w.view, "dim1", last ? -2 : 0)),
                               number_argument("dim2", integer_of(w.view, "dim2", last ? -1 : 1))})};
}

call transposed_call(view_write const& w) {
    std::vector<argument> arguments = geometry(w.view);
    arguments.insert(arguments.begin(), tensor_argument("self", w.part));
    return {w.view.op, std::move(arguments)};
}

std::optional<call> permute_call(view_write const& w) {
    argument const* dims = find_argument(w.view, "dims");
    if (dims == nullptr) dims = find_argument(w.view, "permutation"); // of prims::transpose
    if (dims == nullptr) return {};
    return call{"aten::permute", {tensor_argument("self", w.part), renamed(inverse_permutation(*dims), "dims")}};
}

std::optional<call> move_dimensions_call(view_write const& w) {
    argument const* const from = find_argument(w.view, "source");
    argument const* const to = find_argument(w.view, "destination");
    if (from == nullptr || to == nullptr) return {};
    return call{w.view.op, {tensor_argument("self", w.part), renamed(*to, "source"), renamed(*from, "destination")}};
}

call unbind_call(view_write const& w) {
    return {"aten::select_scatter",
            scatter_arguments(w.whole,
                              w.part,
                              {number_argument("dim", integer_of(w.view, "dim", 0)),
                               number_argument("index", static_cast<std::int64_t>(w.element))})};
}

std::int64_t split_dimension(program const& p, node const& view, value_index whole) {
    if (view.op.starts_with("aten::hsplit")) return p.values[whole].sizes.size() > 1 ? 1 : 0;
    if (view.op.starts_with("aten::vsplit")) return 0;
    if (view.op.starts_with("aten::dsplit")) return 2;
    return integer_of(view, "dim", 0);
}

call pieces_call(program const& p, view_write const& w) {
    std::vector<value_index> joined = w.parts;
    joined[w.element] = w.part;
    std::int64_t const dim = split_dimension(p, w.view, w.whole);
    return {"aten::cat", {tensors_argument("tensors", joined), number_argument("dim", dim)}};
}

/// A scatter operator with the arguments of the view.
call scatter_call(std::string_view op, view_write const& w) {
    return {op, scatter_arguments(w.whole, w.part, geometry(w.view))};
}

/// The call that computes the new value of the viewed tensor; nothing if there is none.
std::optional<call> inverse_call(node_emitter& out, view_write const& w) {
    switch (w.rule) {
    case view_rule::reshape: return reshape_call(out.owner(), w.whole, w.part);
    case view_rule::self_inverse: return transposed_call(w);
    case view_rule::permute: return permute_call(w);
    case view_rule::move_dimensions: return move_dimensions_call(w);
    case view_rule::select: return scatter_call("aten::select_scatter", w);
    case view_rule::slice: return scatter_call("aten::slice_scatter", w);
    case view_rule::narrow: return narrow_call(out, w);
    case view_rule::diagonal: return diagonal_call(w);
    case view_rule::as_strided: return scatter_call("aten::as_strided_scatter", w);
    case view_rule::unbind: return unbind_call(w);
    case view_rule::pieces: return pieces_call(out.owner(), w);
    default: return {};
    }
}

} // namespace

value_index write_through_view(node_emitter& out, view_write const& w) {
    if (w.rule == view_rule::same) return w.part;
    value_index const made = out.fresh(w.whole);
    if (std::optional<call> c = inverse_call(out, w)) return out.emit(c->op, w.cause, std::move(c->arguments), made);
    if (w.rule == view_rule::unknown)
        throw error(describe(out.owner(), w.cause) + ": writes to the result of " + w.view.op +
                    ", but the program does not tell whether it is a copy; write to a clone() of it");
    throw error(describe(out.owner(), w.cause) + ": writes through " + w.view.op +
                ", which is not invertible; write to a clone() of it");
}

} // namespace ATON_NAMESPACE::program
