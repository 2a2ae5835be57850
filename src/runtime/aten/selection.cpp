// SPDX-License-Identifier: MIT
// ATen operators: elements chosen by conditions and bounds.
#include "positions.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

results masked_select(call const& c) {
    tensor const x = c.t("self");
    tensor const mask = c.t("mask");
    sizes const to = broadcast(x.sizes(), mask.sizes());
    return take(x.expanded(to), true_positions(mask.expanded(to)));
}

tensor checked_mask(call const& c) {
    tensor const mask = c.t("mask");
    if (mask.dtype() != dtype::bool_) throw error("a mask must be bool, not " + std::string(name(mask.dtype())));
    return mask;
}

results masked_fill(call const& c) {
    tensor const x = c.t("self");
    if (c.argument("value").kind == aten::argument_kind::tensor && c.t("value").rank() != 0)
        throw error("the value of masked_fill must be a 0-d tensor");
    return contiguous(where(checked_mask(c), operand(c, "value", x.dtype()), x));
}

results masked_scatter(call const& c) {
    tensor const mask = checked_mask(c);
    sizes const to = broadcast(c.t("self").sizes(), mask.sizes());
    tensor const source = flatten(c.t("source"));
    tensor const at = true_positions(mask.expanded(to));
    if (at.count() > source.count()) throw error("source has fewer elements than the mask has true elements");
    return put(c.t("self").expanded(to), at, source.sliced(0, 0, at.count()));
}

results where_of(call const& c) {
    dtype const type = result_type(c, {"self", "other"});
    tensor const condition = c.t("condition");
    if (condition.dtype() != dtype::bool_ && condition.dtype() != dtype::uint8)
        throw error("a condition must be bool, not " + std::string(name(condition.dtype())));
    return where(cast(condition, dtype::bool_), operand(c, "self", type), operand(c, "other", type));
}

results nonzero_rows(call const& c) { return contiguous(transpose(nonzero(c.t("self")), 0, 1)); }

/// One vector per dimension.
results nonzero_columns(call const& c) {
    tensor const found = nonzero(at_least_1d(c.t(c.has_argument("condition") ? "condition" : "self")));
    std::vector<tensor> out;
    for (std::int64_t i = 0; i != found.size(0); ++i) out.push_back(selected(found, 0, i));
    return value(std::move(out));
}

results nonzero_static(call const& c) {
    tensor const rows = transpose(nonzero(c.t("self")), 0, 1);
    std::int64_t const size = c.i("size");
    if (size < 0) throw error("a size must not be negative");
    return pad(rows, {0, 0}, {size - rows.size(0), 0}, c.number("fill_value"));
}

/// Clamps to numbers or tensors, either of which may be missing. NaN in any operand gives NaN.
results clamp_between(call const& c) {
    auto const has = [&](std::string_view name) { return c.has_argument(name) && c.given(name); };
    bool const low = has("min");
    bool const high = has("max");
    if (!low && !high) throw error("at least one of min and max is required");
    dtype const type = low && high ? result_type(c, {"self", "min", "max"})
                       : low       ? result_type(c, {"self", "min"})
                                   : result_type(c, {"self", "max"});
    dtype const in = compute_type(type);
    tensor x = operand(c, "self", in);
    if (low) x = maximum(x, operand(c, "min", in));
    if (high) x = minimum(x, operand(c, "max", in));
    return cast(x, type);
}

} // namespace

rows selection() {
    static constexpr row all[] = {
        {"masked_select", masked_select},
        {"masked_fill.Scalar", masked_fill},
        {"masked_fill.Tensor", masked_fill},
        {"masked_scatter", masked_scatter},
        {"where.self", where_of},
        {"where.Scalar", where_of},
        {"where.ScalarOther", where_of},
        {"where.ScalarSelf", where_of},
        {"where", nonzero_columns},
        {"nonzero", nonzero_rows},
        {"argwhere", nonzero_rows},
        {"nonzero_numpy", nonzero_columns},
        {"nonzero_static", nonzero_static},
        {"clamp", clamp_between},
        {"clamp.Tensor", clamp_between},
        {"clamp_max", clamp_between},
        {"clamp_max.Tensor", clamp_between},
        {"clamp_min", clamp_between},
        {"clamp_min.Tensor", clamp_between},
        {"clip", clamp_between},
        {"clip.Tensor", clamp_between},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
