// SPDX-License-Identifier: MIT
// Products of groups of rows or columns with a matrix each, as in mixtures of experts.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Splits x at the ends of the groups. What comes after the last group is one more piece.
inline safe_vector<value> split_groups(graph<7> g, value x, value ends, std::size_t groups, std::int64_t axis) {
    value const all =
        g.op<"Concat">(safe_vector<value>{g.ints({0}), ends, as_list(g, g.size(x, axis))}, attr::axis_i(0));
    value const sizes = g.op<"Sub">(slice(g, all, 0, 1, to_the_end), slice(g, all, 0, 0, -1));
    if (g.opset() < 13) refuse_below(13, "a product of groups whose sizes are computed");
    return g.within<13>().op<"Split">(x, sizes, attr::axis_i(axis), output_list(groups + 1));
}

/// The matrices of x, each with a leading dimension of size 1.
inline safe_vector<value> each_matrix(graph<7> g, value x, std::size_t groups) {
    if (groups == 1) return {x};
    return split(g, x, safe_vector<std::int64_t>(groups, 1), 0);
}

inline std::size_t group_count(value offs) {
    if (offs.rank() != 1 || !offs.size(0).is_static() || offs.size(0).size() < 1)
        throw unsupported_error("a number of groups that is not static");
    budget::expect("a list", offs.size(0).size(), static_cast<std::int64_t>(budget::max_nodes));
    return static_cast<std::size_t>(offs.size(0).size());
}

/// self @ mat2 for each group. `offs` are the ends of the groups: of rows of a 2-d self, of columns of a 2-d mat2, or
/// of the dimension that is summed if both are 2-d. Rows and columns after the last group are 0.
inline value grouped_product(graph<7> g, value a, value b, value offs) {
    auto const is_operand = [](value v) { return v.rank() == 2 || v.rank() == 3; };
    if (!is_operand(a) || !is_operand(b) || a.rank() + b.rank() == 6)
        throw unsupported_error("offsets of operands that are not one 2-d and one 3-d tensor, or two 2-d tensors");
    std::size_t const groups = group_count(offs);
    value const ends = g.cast(offs, dtype::int64);
    bool const rows = b.rank() == 3;
    bool const columns = a.rank() == 3;
    safe_vector<value> const left =
        columns ? each_matrix(g, a, groups) : split_groups(g, a, ends, groups, rows ? 0 : 1);
    safe_vector<value> const right =
        rows ? each_matrix(g, b, groups) : split_groups(g, b, ends, groups, columns ? 1 : 0);
    safe_vector<value> products;
    for (std::size_t i = 0; i != groups; ++i) {
        value const product = g.op<"MatMul">(left[i], right[i]);
        products.push_back(rows || columns ? product : unsqueeze(g, product, 0));
    }
    std::int64_t const axis = rows ? 1 : columns ? 2 : 0;
    if (!rows && !columns) return g.op<"Concat">(products, attr::axis_i(axis));
    value const rest = rows ? left[groups] : right[groups];
    sym_int const size = g.size(rest, rows ? 0 : 1);
    sym_int const sizes[] = {1, rows ? size : g.size(a, 1), rows ? g.size(b, 2) : size};
    products.push_back(filled(g, sizes, 0, a.dtype()));
    return squeeze(g, g.op<"Concat">(products, attr::axis_i(axis)), std::int64_t{0});
}

inline constexpr auto grouped_mm = [](graph<7> g, value self, value mat2, optional_value offs, optional_value bias,
                                      optional_dtype out_dtype) -> value {
    if (bias) return g.unsupported("a bias, which ATen does not support either");
    if (!offs && (self.rank() != 3 || mat2.rank() != 3)) return g.unsupported("operands without groups");
    value const y = offs ? grouped_product(g, self, mat2, *offs) : value(g.op<"MatMul">(self, mat2));
    return out_dtype ? g.cast(y, *out_dtype) : y;
};

inline void expect_experts(value rows, value weight) {
    if (rows.rank() != 2 || weight.rank() != 3)
        throw unsupported_error("operands that are not rows and one matrix per expert");
}

/// transformers' mixtures of experts where aten::_grouped_mm cannot run: rows of `input`, sorted by expert, times the
/// weights of each.
inline constexpr auto experts = [](graph<7> g, value input, value weight, value offs) -> value {
    expect_experts(input, weight);
    return grouped_product(g, input, weight, offs);
};
/// The gradients of `input` and of `weight`.
inline constexpr auto experts_backward = [](graph<7> g, value input, value weight, value offs, value grad) {
    expect_experts(input, weight);
    expect_experts(grad, weight);
    value const by_row = g.op<"Transpose">(weight, attr::perm_i({0, 2, 1}));
    value const by_column = g.op<"Transpose">(input, attr::perm_i({1, 0}));
    return std::tuple(grouped_product(g, grad, by_row, offs), grouped_product(g, by_column, grad, offs));
};

} // namespace ATON_NAMESPACE::mappings::detail
