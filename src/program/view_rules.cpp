// SPDX-License-Identifier: MIT
#include "view_rules.hpp"

#include <algorithm>
#include <string_view>

#include <aton/aten/function_schema.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

/// The condition under which a result is a view.
enum class when : std::uint8_t {
    always,
    viewable,     ///< a copy if the strides do not allow a view
    contiguous,   ///< a copy if the argument is not contiguous
    same_layout,  ///< a copy if dtype or strides change
    not_training, ///< the argument itself unless dropout is active
    not_complex,  ///< the argument itself for real tensors
    no_reduction, ///< einsum of one operand that keeps every dimension
};

struct view_row {
    std::string_view op; ///< without overload
    view_rule rule;
    when condition = when::always;
};

/// Sorted. Annotated operators that are not here are opaque.
constexpr view_row rows[] = {
    {"aten::_reshape_alias", view_rule::reshape},
    {"aten::_unsafe_view", view_rule::reshape},
    {"aten::adjoint", view_rule::self_inverse},
    {"aten::alias", view_rule::same},
    {"aten::alpha_dropout", view_rule::same, when::not_training},
    {"aten::as_strided", view_rule::as_strided},
    {"aten::atleast_1d", view_rule::reshape},
    {"aten::atleast_2d", view_rule::reshape},
    {"aten::atleast_3d", view_rule::reshape},
    {"aten::broadcast_tensors", view_rule::expand},
    {"aten::broadcast_to", view_rule::expand},
    {"aten::chunk", view_rule::pieces},
    {"aten::conj", view_rule::opaque, when::not_complex},
    {"aten::contiguous", view_rule::same, when::same_layout},
    {"aten::detach", view_rule::same},
    {"aten::diagonal", view_rule::diagonal},
    {"aten::dropout", view_rule::same, when::not_training},
    {"aten::dsplit", view_rule::pieces},
    {"aten::einsum", view_rule::opaque, when::no_reduction},
    {"aten::expand", view_rule::expand},
    {"aten::expand_as", view_rule::expand},
    {"aten::feature_alpha_dropout", view_rule::same, when::not_training},
    {"aten::feature_dropout", view_rule::same, when::not_training},
    {"aten::flatten", view_rule::reshape, when::viewable},
    {"aten::hsplit", view_rule::pieces},
    {"aten::lift_fresh", view_rule::same},
    {"aten::linalg_diagonal", view_rule::diagonal},
    {"aten::mH", view_rule::self_inverse},
    {"aten::mT", view_rule::self_inverse},
    {"aten::matrix_H", view_rule::self_inverse},
    {"aten::meshgrid", view_rule::overlapping},
    {"aten::moveaxis", view_rule::move_dimensions},
    {"aten::movedim", view_rule::move_dimensions},
    {"aten::narrow", view_rule::narrow},
    {"aten::numpy_T", view_rule::self_inverse},
    {"aten::permute", view_rule::permute},
    {"aten::positive", view_rule::same},
    {"aten::ravel", view_rule::reshape, when::contiguous},
    {"aten::real", view_rule::opaque, when::not_complex},
    {"aten::reshape", view_rule::reshape, when::viewable},
    {"aten::reshape_as", view_rule::reshape, when::viewable},
    {"aten::resolve_conj", view_rule::opaque, when::not_complex},
    {"aten::resolve_neg", view_rule::opaque, when::not_complex},
    {"aten::select", view_rule::select},
    {"aten::slice", view_rule::slice},
    {"aten::split", view_rule::pieces},
    {"aten::split_with_sizes", view_rule::pieces},
    {"aten::squeeze", view_rule::reshape},
    {"aten::swapaxes", view_rule::self_inverse},
    {"aten::swapdims", view_rule::self_inverse},
    {"aten::t", view_rule::self_inverse},
    {"aten::tensor_split", view_rule::pieces},
    {"aten::to", view_rule::same, when::same_layout},
    {"aten::transpose", view_rule::self_inverse},
    {"aten::type_as", view_rule::same, when::same_layout},
    {"aten::unbind", view_rule::unbind},
    {"aten::unflatten", view_rule::reshape},
    {"aten::unfold", view_rule::overlapping},
    {"aten::unsafe_chunk", view_rule::pieces},
    {"aten::unsafe_split", view_rule::pieces},
    {"aten::unsafe_split_with_sizes", view_rule::pieces},
    {"aten::unsqueeze", view_rule::reshape},
    {"aten::view", view_rule::reshape},
    {"aten::view_as", view_rule::reshape},
    {"aten::vsplit", view_rule::pieces},
    {"prims::collapse_view", view_rule::reshape},
    {"prims::split_dim", view_rule::reshape},
    {"prims::squeeze", view_rule::reshape},
    {"prims::transpose", view_rule::permute},
    {"prims::view_of", view_rule::same},
};
static_assert(std::is_sorted(std::begin(rows), std::end(rows),
                             [](view_row const& a, view_row const& b) { return a.op < b.op; }));

view_row const* find_row(std::string_view op) {
    op = op.substr(0, op.find('.'));
    auto const* const at = std::lower_bound(
        std::begin(rows), std::end(rows), op, [](view_row const& row, std::string_view name) { return row.op < name; });
    return at != std::end(rows) && at->op == op ? at : nullptr;
}

/// Whether the schema declares that a result shares memory with an argument.
bool is_annotated(std::string_view schema) {
    aten::schema_return each;
    for (aten::return_cursor returns{schema}; returns.next(each);)
        if (!each.type.alias.empty()) return true;
    return false;
}

/// The argument that the results are views of: the one with an alias annotation, otherwise the first tensor.
std::size_t find_source(node const& n) {
    aten::schema_argument each;
    for (aten::argument_cursor arguments{n.schema}; arguments.next(each);) {
        if (each.type.base != aten::base_type::tensor || each.type.alias.empty()) continue;
        for (std::size_t i = 0; i != n.arguments.size(); ++i)
            if (n.arguments[i].name == each.name) return i;
    }
    for (std::size_t i = 0; i != n.arguments.size(); ++i) {
        argument_kind const kind = n.arguments[i].kind;
        if (kind == argument_kind::tensor || kind == argument_kind::tensors) return i;
    }
    return n.arguments.size();
}

/// Whether each letter of the operand occurs in the result: "ij->ji", "...ii->...i".
bool keeps_dimensions(std::string_view equation) {
    std::size_t const arrow = equation.find("->");
    if (arrow == std::string_view::npos) return false;
    std::string_view const operand = equation.substr(0, arrow);
    std::string_view const kept = equation.substr(arrow + 2);
    return std::all_of(
        operand.begin(), operand.end(), [&](char c) { return c == ' ' || kept.find(c) != std::string_view::npos; });
}

/// Whether a result is a view; nullopt if the program does not tell.
std::optional<bool> is_view(layouts const& layout, node const& n, when condition, value_index from, value_index to) {
    switch (condition) {
    case when::always: return true;
    case when::viewable:
    case when::contiguous: {
        auto const before = layout.of(from);
        auto const after = layout.of(to);
        if (!before || !after) return {};
        return condition == when::viewable ? layouts::is_viewable(*before, after->sizes)
                                           : layouts::is_contiguous(*before);
    }
    case when::same_layout: {
        if (boolean_of(n, "copy", false)) return false;
        if (!layout.same_type(from, to)) return false;
        if (argument const* const type = find_argument(n, "dtype");
            type != nullptr && type->kind == argument_kind::type && !layout.has_type(from, type->type))
            return false; // the recorded dtype of the result is wrong
        auto const before = layout.of(from);
        auto const after = layout.of(to);
        if (!before || !after) return {};
        return layouts::same_order(*before, *after);
    }
    case when::not_training: {
        argument const* const p_drop = find_argument(n, "p");
        bool const keeps_all = p_drop != nullptr && p_drop->kind == argument_kind::number &&
                               !p_drop->number.is_computed() && p_drop->number.constant == scalar(0.0);
        return keeps_all || !boolean_of(n, "train", false);
    }
    case when::not_complex: return true;
    case when::no_reduction: {
        argument const* const equation = find_argument(n, "equation");
        argument const* const tensors = find_argument(n, "tensors");
        return equation != nullptr && tensors != nullptr && tensors->tensors.size() == 1 &&
               keeps_dimensions(equation->text);
    }
    }
    return {};
}

/// Whether a view is the whole viewed tensor: it has the same sizes, and the operator cannot reorder elements.
bool is_whole(layouts const& layout, node const& n, view_rule rule, value_index from, value_index to) {
    if (!layout.same_type(from, to) || !layout.same_sizes(from, to)) return false;
    switch (rule) {
    case view_rule::reshape:
    case view_rule::expand:
    case view_rule::narrow: return true;
    case view_rule::slice: return integer_of(n, "step", 1) == 1;
    default: return false;
    }
}

} // namespace

std::optional<view_of> find_view(program const& p, layouts const& layout, node const& n, std::size_t r,
                                 std::size_t element) {
    view_row const* const row = find_row(n.op);
    if (row == nullptr && !is_annotated(n.schema)) return {};
    view_of out;
    out.rule = row == nullptr ? view_rule::opaque : row->rule;
    out.argument = find_source(n);
    if (out.argument == n.arguments.size()) return {};
    argument const& source = n.arguments[out.argument];
    auto const sources = tensors_of(source);
    out.element = source.kind == argument_kind::tensors && sources.size() > 1 ? element : 0;
    if (out.element >= sources.size()) return {};
    value_index const from = sources[out.element];
    value_index const to = n.results[r].values[element];
    if (from == no_value) return {};

    value const& before = p.values[from];
    value const& after = p.values[to];
    if (after.kind != value_kind::tensor || before.kind != value_kind::tensor) return {};
    bool const new_type = before.has_type && after.has_type && before.type != after.type;
    when const condition = row == nullptr ? when::always : row->condition;
    std::optional<bool> const view = is_view(layout, n, condition, from, to);
    if (view && !*view) return {};
    bool const is_real = before.has_type && !is_complex(before.type);
    if (!view) out.rule = view_rule::unknown;
    else if (new_type) out.rule = view_rule::opaque; // view.dtype
    else if ((condition == when::not_complex && is_real) || is_whole(layout, n, out.rule, from, to))
        out.rule = view_rule::same;
    else if (out.rule == view_rule::expand)
        out.rule = layout.same_after_ones(from, to) ? view_rule::reshape : view_rule::overlapping;
    return out;
}

} // namespace ATON_NAMESPACE::program
