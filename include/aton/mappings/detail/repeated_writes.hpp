// SPDX-License-Identifier: MIT
// Writes that are combined where several have the same place: by ScatterElements, or by a Loop where it has no reduction.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Two tensors combined by "add", "mul", "max" or "min".
inline value combined(graph<11> g, value a, value b, std::string_view reduction) {
    if (reduction == "add") return g.op<"Add">(a, b);
    if (reduction == "mul") return g.op<"Mul">(a, b);
    return reduction == "max" ? max_of(g, a, b) : min_of(g, a, b);
}

/// The identity of a reduction.
inline scalar neutral(std::string_view reduction, dtype type) {
    if (reduction == "add") return 0;
    if (reduction == "mul") return 1;
    bool const highest = reduction == "min";
    if (is_floating(type))
        return highest ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
    if (type == dtype::bool_) return highest;
    std::size_t const width = bits(type) - (is_signed_integral(type) ? 1 : 0);
    std::int64_t const max = width >= 63 ? std::numeric_limits<std::int64_t>::max() : (std::int64_t{1} << width) - 1;
    return highest ? max : is_signed_integral(type) ? -max - 1 : std::int64_t{0};
}

/// ScatterElements with a reduction as a Loop along the axis: no two elements of one slice of the index have the same place.
inline value reduce_elements_by_loop(graph<11> g, value x, value index, value source, std::int64_t axis,
                                     std::string_view reduction) {
    dtype const type = arithmetic_type(x.dtype());
    value const from = g.cast(source, type);
    value const y = g.op<"Loop">(
        g.to_value(g.size(index, axis)),
        g.scalar(true, dtype::bool_), // ONNX's reference evaluator does not run a Loop without a condition
        g.cast(x, type),
        attr::body_g([&](graph<11> b, value step, value goes_on, value written) {
            value const at = unsqueeze(b, step, 0);
            value const to = b.op<"Gather">(index, at, attr::axis_i(axis));
            value const before = b.op<"GatherElements">(written.set_shape(x.shape()), to, attr::axis_i(axis));
            value const after = combined(b, before, b.op<"Gather">(from, at, attr::axis_i(axis)), reduction);
            return std::tuple(value(b.op<"Identity">(goes_on)),
                              value(b.op<"ScatterElements">(written, to, after, attr::axis_i(axis))));
        }));
    value typed = y;
    return g.cast(typed.set_shape(x.shape()), x.dtype());
}

/// The extremes of elements that are written to the same place, with NaN where one of them is NaN.
inline value with_written_nan(graph<18> g, value y, value into, value at, value from, std::int64_t axis) {
    auto const marks = [&](value x) { return g.cast(is_nan(g, x), dtype::float32); };
    value const found =
        g.op<"ScatterElements">(marks(into), at, marks(from), attr::axis_i(axis), attr::reduction_s("max"));
    return marked_as_nan(g, y, found);
}

/// The places in a flattened tensor of positions along its first axes, which may be negative: (..., axes) to (...).
inline value places_of(graph<9> g, value positions, safe_span<sym_int const> sizes) {
    std::int64_t const last = positions.rank() - 1;
    if (sizes.size() == 1) return squeeze(g, positions, last);
    safe_vector<sym_int> strides(sizes.size(), 1);
    for (std::size_t i = sizes.size() - 1; i != 0; --i) strides[i - 1] = strides[i] * sizes[i];
    value const from_end = g.op<"Add">(positions, g.ints(safe_vector<sym_int>(sizes.begin(), sizes.end())));
    value const from_start = g.op<"Where">(g.op<"Less">(positions, g.scalar(0, dtype::int64)), from_end, positions);
    return reduce_sum(g, g.op<"Mul">(from_start, g.ints(strides)), safe_vector<std::int64_t>{last}, false);
}

/// Adds parts (..., rest of x) at positions (..., axes) along the first axes of x. Not by ScatterND: that of ONNX
/// Runtime's CPU provider adds in several threads at once, and loses sums where positions are equal.
inline value add_at_positions(graph<16> g, value x, value positions, value source) {
    safe_vector<sym_int> const all = g.sizes(x);
    auto const axes = static_cast<std::size_t>(positions.size(-1).size());
    safe_vector<sym_int> to(all.begin() + static_cast<std::ptrdiff_t>(axes), all.end());
    value place = flat(g, places_of(g, positions, safe_span(all).first(axes)));
    to.insert(to.begin(), -1);
    value const from = reshape(g, source, to);
    for (std::size_t i = axes; i != all.size(); ++i) place = unsqueeze(g, place, 1);
    value const at = axes == all.size() ? place : expand(g, place, g.sizes(from));
    value const into = axes == 1 ? x : reshape(g, x, to);
    dtype const type = opmath_type(x.dtype()); // half-precision dtypes are rounded once
    value const sums =
        g.op<"ScatterElements">(g.cast(into, type), at, g.cast(from, type), attr::axis_i(0), attr::reduction_s("add"));
    return reshape(g, g.cast(sums, x.dtype()), all);
}

/// The same as a Loop over the positions, by ScatterND.
inline value add_at_positions_by_loop(graph<11> g, value x, value positions, value source) {
    dtype const type = arithmetic_type(x.dtype());
    safe_vector<sym_int> const of_positions = g.sizes(positions);
    safe_vector<sym_int> to = g.sizes(source);
    sym_int count = 1;
    for (std::size_t i = 0; i + 1 != of_positions.size(); ++i) count = count * of_positions[i];
    to.erase(to.begin(), to.begin() + (positions.rank() - 1));
    to.insert(to.begin(), count);
    value const from = reshape(g, g.cast(source, type), to);
    value const list = reshape(g, positions, {count, of_positions.back()});
    value const y = g.op<"Loop">(g.to_value(count),
                                 g.scalar(true, dtype::bool_),
                                 g.cast(x, type),
                                 attr::body_g([&](graph<11> b, value step, value goes_on, value written) {
                                     value const at = unsqueeze(b, step, 0);
                                     value const position = b.op<"Gather">(list, at, attr::axis_i(0));
                                     value const before = b.op<"GatherND">(written.set_shape(x.shape()), position);
                                     value const after = b.op<"Add">(before, b.op<"Gather">(from, at, attr::axis_i(0)));
                                     return std::tuple(value(b.op<"Identity">(goes_on)),
                                                       value(b.op<"ScatterND">(written, position, after)));
                                 }));
    value typed = y;
    return g.cast(typed.set_shape(x.shape()), x.dtype());
}

} // namespace ATON_NAMESPACE::mappings::detail
