// SPDX-License-Identifier: MIT
// ONNX operators: reductions, scans and sorting along axes.
#include "call.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compute/norms.hpp"
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// Axes are an input, or an attribute before opset 18 (ReduceSum: 13). Empty means all, unless the attribute says that
/// nothing is reduced.
axis_list axes_of(call const& c) {
    axis_list axes = c.has(1) ? c.integers(1) : c.ints("axes");
    if (axes.empty() && c.i("noop_with_empty_axes", 0) == 0) return all_axes(c.in(0));
    return axes;
}

bool keeps(call const& c) { return c.i("keepdims", 1) != 0; }

bool is_half(dtype t) { return t == dtype::float16 || t == dtype::bfloat16; }

/// The dtype in which sums of roots and logarithms are computed.
dtype wide(dtype t) {
    if (is_integral(t)) return dtype::float64;
    return is_half(t) ? dtype::float32 : t;
}

results reduce_l1(call const& c) { return sum(abs(c.in(0)), axes_of(c), keeps(c)); }

results reduce_l2(call const& c) {
    tensor const& x = c.in(0);
    return cast(norm(cast(x, wide(x.dtype())), 2, axes_of(c), keeps(c)), x.dtype());
}

results reduce_log_sum(call const& c) {
    tensor const& x = c.in(0);
    return cast(log(sum(cast(x, wide(x.dtype())), axes_of(c), keeps(c))), x.dtype());
}

results reduce_log_sum_exp(call const& c) {
    tensor const& x = c.in(0);
    return cast(log_sum_exp(cast(x, wide(x.dtype())), axes_of(c), keeps(c)), x.dtype());
}

// False is less than true.
results reduce_max(call const& c) {
    bool const truth = c.in(0).dtype() == dtype::bool_;
    return reduce(truth ? reduce_op::any : reduce_op::max, without_nan(c.in(0), true), axes_of(c), keeps(c));
}
results reduce_min(call const& c) {
    bool const truth = c.in(0).dtype() == dtype::bool_;
    return reduce(truth ? reduce_op::all : reduce_op::min, without_nan(c.in(0), false), axes_of(c), keeps(c));
}

// Integers round towards zero. The specification leaves the mean of no elements undefined: 0 as in ONNX Runtime, not ATen's NaN, so that a
// mapping that needs NaN has to write it.
results reduce_mean(call const& c) {
    tensor const& x = c.in(0);
    axis_list const axes = axes_of(c);
    if (x.count() == 0) return sum(x, axes, keeps(c));
    if (!is_integral(x.dtype())) return mean(x, axes, keeps(c));
    tensor const total = sum(x, axes, keeps(c));
    return total / scalar(static_cast<long long>(x.count() / total.count()));
}

results reduce_prod(call const& c) { return reduce(reduce_op::prod, c.in(0), axes_of(c), keeps(c)); }
results reduce_sum(call const& c) { return sum(c.in(0), axes_of(c), keeps(c)); }

results reduce_sum_square(call const& c) {
    tensor const& x = c.in(0);
    dtype const type = is_half(x.dtype()) ? dtype::float32 : x.dtype();
    return cast(sum(square(cast(x, type)), axes_of(c), keeps(c)), x.dtype());
}

results index_of_largest(call const& c) {
    return arg_max(without_nan(c.in(0), true), c.i("axis", 0), keeps(c), c.i("select_last_index", 0) != 0);
}
results index_of_smallest(call const& c) {
    return arg_min(without_nan(c.in(0), false), c.i("axis", 0), keeps(c), c.i("select_last_index", 0) != 0);
}

results cumulated(call const& c, scan_op op) {
    std::vector<std::int64_t> const axis = c.integers(1);
    if (axis.size() != 1) throw error("one axis is expected");
    return scan(op, c.in(0), axis[0], c.i("exclusive", 0) != 0, c.i("reverse", 0) != 0);
}
results cum_sum(call const& c) { return cumulated(c, scan_op::sum); }
results cum_prod(call const& c) { return cumulated(c, scan_op::prod); }

tensor hardened(tensor const& x, std::int64_t axis) {
    if (x.count() == 0) return x;
    std::size_t const at = axis_at(axis, x.rank());
    sizes numbered(x.rank(), 1);
    if (x.rank() != 0) numbered[at] = x.size(at);
    tensor const numbers = reshape(range(x.rank() == 0 ? 1 : x.size(at), 0, 1, x.where()), numbered);
    return cast(equal(numbers, arg_max(x, axis, true)), x.dtype());
}

/// Along the axis; before opset 13, along all dimensions from the axis on, merged into one.
template <tensor (*Function)(tensor const&, std::int64_t)>
results normalized(call const& c) {
    tensor const& x = c.in(0);
    if (c.opset() >= 13) return Function(x, c.i("axis", -1));
    std::int64_t const axis = c.i("axis", 1);
    auto const rank = static_cast<std::int64_t>(x.rank());
    std::size_t const at = axis == rank ? x.rank() : axis_at(axis, x.rank());
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    for (std::size_t i = 0; i != x.rank(); ++i) (i < at ? rows : columns) *= x.size(i);
    return reshape(Function(reshape(x, {rows, columns}), 1), x.sizes());
}

} // namespace

rows reduction() {
    static constexpr row all[] = {
        {"ArgMax", index_of_largest},
        {"ArgMin", index_of_smallest},
        {"CumProd", cum_prod},
        {"CumSum", cum_sum},
        {"Hardmax", normalized<hardened>},
        {"LogSoftmax", normalized<log_softmax>},
        {"ReduceL1", reduce_l1},
        {"ReduceL2", reduce_l2},
        {"ReduceLogSum", reduce_log_sum},
        {"ReduceLogSumExp", reduce_log_sum_exp},
        {"ReduceMax", reduce_max},
        {"ReduceMean", reduce_mean},
        {"ReduceMin", reduce_min},
        {"ReduceProd", reduce_prod},
        {"ReduceSum", reduce_sum},
        {"ReduceSumSquare", reduce_sum_square},
        {"Softmax", normalized<softmax>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
