// SPDX-License-Identifier: MIT
// Selecting elements by conditions and bounds: aten's where, clamp, masked_fill, masked_select, nonzero ...
// Public header.
#pragma once

#include <algorithm>

#include <aton/mappings/elementwise_binary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline constexpr auto choose_promoted = [](graph<9> g, value condition, value a, value b) -> value {
    auto const [x, y, type] = promoted(g, a, b);
    return choose(g, g.cast(condition, dtype::bool_), x, y);
};

/// As in ATen, the bounds take part in type promotion, NaN stays NaN, and if the bounds cross, the upper one is the result.
inline value clamp_of(graph<7> g, value self, optional_value lower, optional_value upper) {
    dtype const type = promote(self, lower, upper);
    value x = g.cast(self, type);
    if (lower) x = maximum(g, x, g.cast(*lower, type));
    if (upper) x = minimum(g, x, g.cast(*upper, type));
    return x;
}

/// Clip if the bounds are in order; its result is undefined if they cross or are NaN. ONNX Runtime does not support Clip of
/// bfloat16.
inline value clamp_to_numbers(graph<7> g, value self, std::optional<number> lower, std::optional<number> upper) {
    optional_value const lo = lower ? wrapped_number(g, *lower) : optional_value();
    optional_value const hi = upper ? wrapped_number(g, *upper) : optional_value();
    dtype const type = promote(self, lo, hi);
    for (auto const& bound : {lower, upper})
        if (bound && bound->is_constant() && !fits(as_element(bound->constant(), type), type))
            dsl::detail::refuse_constant(bound->constant(), type); // as in ATen
    bool const in_order = lower && upper && *lower <= *upper;
    if (!in_order || type == dtype::bfloat16) return clamp_of(g, self, lo, hi);
    return clip(g, g.cast(self, type), element(g, *lower, type), element(g, *upper, type));
}

inline value masked_select(graph<9> g, value self, value mask) {
    // Compress does not support bfloat16.
    value const x = self.dtype() == dtype::bfloat16 ? g.cast(self, dtype::float32) : self;
    return g.cast(g.op<"Compress">(in_one_dimension(g, broadcast_with(g, x, mask)),
                                   in_one_dimension(g, broadcast_with(g, mask, x))),
                  self.dtype());
}

/// Replaces the element at the n-th true element of the mask by the n-th element of source.
inline constexpr auto masked_scatter =
    symbolic<"aten::masked_scatter(self, mask, source)">([](graph<11> g, value self, value mask,
                                                            value source) -> value {
        value const target = broadcast_with(g, self, mask);
        if (target.shape().element_count_or(-1) == 0) return target;
        value const positions = g.op<"Transpose">(g.op<"NonZero">(in_one_dimension(g, broadcast_with(g, mask, self))),
                                                  attr::perm_i({1, 0}));
        value const count = g.op<"Slice">(g.op<"Shape">(positions), g.ints({0}), g.ints({1}));
        value const taken = g.op<"Slice">(in_one_dimension(g, source), g.ints({0}), count, g.ints({0}));
        return g.op<"Reshape">(g.op<"ScatterND">(in_one_dimension(g, target), positions, taken), g.op<"Shape">(target));
    }).by_parts<"self", "source">();

/// Indices as [n, rank]; for a 0-d tensor [n, 0], where n is 1 or 0.
inline value nonzero_of(graph<9> g, value self) {
    if (self.rank() != 0) return g.op<"Transpose">(g.op<"NonZero">(self), attr::perm_i({1, 0}));
    value const count = g.op<"Reshape">(g.cast(g.cast(self, dtype::bool_), dtype::int64), g.ints({1}));
    return g.cast(g.op<"ConstantOfShape">(g.op<"Concat">(safe_vector<value>{count, g.ints({0})}, attr::axis_i(0))),
                  dtype::int64);
}

inline constexpr auto nonzero = [](graph<9> g, value self) -> value { return nonzero_of(g, self); };
inline constexpr auto clamp = [](graph<7> g, value self, optional_value lower, optional_value upper) -> value {
    return clamp_of(g, self, lower, upper);
};
inline constexpr auto clamp_numbers_row = [](graph<7> g, value self, std::optional<number> lower,
                                             std::optional<number> upper) -> value {
    return clamp_to_numbers(g, self, lower, upper);
};

inline constexpr auto where_scalar_other =
    symbolic<"aten::where.ScalarOther(condition, self, other)">([](graph<9> g, value condition, value a,
                                                                   number b) -> value {
        return choose_promoted(g, condition, a, wrapped_number(g, b));
    }).by_parts<"self", "other">();

inline constexpr auto where_scalar_self =
    symbolic<"aten::where.ScalarSelf(condition, self, other)">([](graph<9> g, value condition, number a,
                                                                  value b) -> value {
        return choose_promoted(g, condition, wrapped_number(g, a), b);
    }).by_parts<"self", "other">();

inline constexpr auto where_scalars =
    symbolic<"aten::where.Scalar(condition, self, other)">([](graph<9> g, value condition, number a,
                                                              number b) -> value {
        return choose_promoted(g, condition, wrapped_number(g, a), wrapped_number(g, b));
    }).by_parts<"self", "other">();

/// The columns of nonzero; a 0-d condition counts as 1-d.
inline constexpr auto where_condition = [](graph<9> g, value condition) -> safe_vector<value> {
    value const indices = g.op<"NonZero">(condition.rank() == 0 ? in_one_dimension(g, condition) : condition);
    safe_vector<value> rows;
    for (std::int64_t i = 0; i != std::max<std::int64_t>(condition.rank(), 1); ++i)
        rows.push_back(g.op<"Gather">(indices, g.scalar(i, dtype::int64), attr::axis_i(0)));
    return rows;
};

/// The first `size` rows of nonzero, followed by rows of a number if there are fewer.
inline constexpr auto nonzero_static = symbolic<"aten::nonzero_static(self, size, fill_value)">(
    [](graph<9> g, value self, sym_int size, std::int64_t filler) -> value {
        value const rows = nonzero_of(g, self);
        value const more = filled(g, safe_vector<sym_int>{size, self.rank()}, filler, dtype::int64);
        return slice(g, g.op<"Concat">(safe_vector<value>{rows, more}, attr::axis_i(0)), 0, 0, size);
    });

inline constexpr auto masked_fill =
    symbolic<"aten::masked_fill.Scalar(self, mask, value)">([](graph<9> g, value self, value mask, number n) -> value {
        return choose(g, mask, element(g, n, self.dtype()), self);
    }).by_parts<"self", "value">();

inline constexpr auto masked_fill_tensor =
    symbolic<"aten::masked_fill.Tensor(self, mask, value)">([](graph<9> g, value self, value mask,
                                                               value filler) -> value {
        return choose(g, mask, g.cast(filler, self.dtype()), self);
    }).for_complex([](graph<9> g, complex_value self, value mask, complex_value filler) -> complex_value {
        if (!is_complex(self.tensor().dtype())) return g.unsupported("a complex number in a real tensor");
        complex_value const same = g.cast(filler, self.dtype());
        return g.complex(choose(g, mask, g.real(same), g.real(self)), choose(g, mask, g.imag(same), g.imag(self)));
    });

} // namespace detail

inline constexpr auto selection = table(
    symbolic<"aten::where.self(condition, self, other)">(detail::choose_promoted).by_parts<"self", "other">(),
    detail::where_scalar_other, detail::where_scalar_self, detail::where_scalars,
    symbolic<"aten::where(condition)">(detail::where_condition).for_complex(detail::of_truth<detail::where_condition>),
    detail::masked_fill, detail::masked_fill_tensor, symbolic<"aten::clamp(self, min, max)">(detail::clamp_numbers_row),
    symbolic<"aten::clamp.Tensor(self, min, max)">(detail::clamp),
    symbolic<"aten::clip(self, min, max)">(detail::clamp_numbers_row),
    symbolic<"aten::clip.Tensor(self, min, max)">(detail::clamp),
    symbolic<"aten::clamp_min(self, min)">(detail::with_number<maximum>),
    symbolic<"aten::clamp_min.Tensor(self, min)">(detail::of_tensors<maximum>),
    symbolic<"aten::clamp_max(self, max)">(detail::with_number<minimum>),
    symbolic<"aten::clamp_max.Tensor(self, max)">(detail::of_tensors<minimum>),
    symbolic<"aten::masked_select(self, mask)">(detail::of_tensors<detail::masked_select>).by_parts<"self">(),
    detail::masked_scatter,
    symbolic<"aten::nonzero_numpy(self)">(detail::where_condition)
        .for_complex(detail::of_truth<detail::where_condition>),
    detail::nonzero_static,
    symbolic<"aten::nonzero(self)">(detail::nonzero).for_complex(detail::of_truth<detail::nonzero>),
    symbolic<"aten::argwhere(self)">(detail::nonzero).for_complex(detail::of_truth<detail::nonzero>));

} // namespace ATON_NAMESPACE::mappings
