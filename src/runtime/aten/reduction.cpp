// SPDX-License-Identifier: MIT
// ATen operators: reductions.
#include <vector>

#include "runtime/compute/norms.hpp"
#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

#include "reducing.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

axis_list axes_of(call const& c, tensor const& x) {
    axis_list const axes = c.has_argument("dim") ? c.ints("dim") : axis_list();
    return axes.empty() ? all_axes(x) : axes;
}

bool keeps(call const& c) { return c.has_argument("keepdim") && c.b("keepdim"); }

tensor one_axis::finish(tensor const& result) const {
    return keep && result.rank() == 0 ? reshape(result, sizes(rank, 1)) : result;
}

one_axis axis_of(call const& c) {
    tensor const x = c.t("self");
    if (c.has_argument("dim") && c.given("dim")) return {x, c.i("dim"), keeps(c), x.rank()};
    return {flatten(x), 0, false, 0};
}

sizes reduced_sizes(tensor const& x, axis_list const& axes, bool keep) {
    std::vector<bool> is_reduced(x.rank());
    for (std::int64_t axis : axes)
        if (x.rank() != 0) is_reduced[axis_at(axis, x.rank())] = true;
    sizes out;
    for (std::size_t i = 0; i != x.rank(); ++i)
        if (!is_reduced[i] || keep) out.push_back(is_reduced[i] ? 1 : x.size(i));
    return out;
}

std::int64_t count_along(tensor const& x, axis_list const& axes) {
    std::int64_t n = 1;
    for (std::int64_t axis : axes)
        if (std::size_t const at = axis_at(axis, x.rank()); x.rank() != 0) n *= x.size(at);
    return n;
}

tensor gathered(tensor const& x, axis_list const& axes) {
    std::vector<bool> is_reduced(x.rank());
    for (std::int64_t axis : axes)
        if (x.rank() != 0) is_reduced[axis_at(axis, x.rank())] = true;
    std::vector<std::size_t> order;
    for (bool const last : {false, true})
        for (std::size_t i = 0; i != x.rank(); ++i)
            if (is_reduced[i] == last) order.push_back(i);
    sizes to = reduced_sizes(x, axes, false);
    to.push_back(count_along(x, axes));
    return reshape(x.permuted(order), to);
}

tensor fold(binary_op op, tensor const& x, scalar const& identity) {
    std::size_t const last = x.rank() - 1;
    tensor left = x;
    if (x.size(last) == 0) {
        sizes to = x.sizes();
        to.pop_back();
        return full(identity, x.dtype(), to, x.where());
    }
    while (left.size(last) > 1) {
        std::int64_t const half = left.size(last) / 2;
        tensor const met = binary(op, left.sliced(last, 0, half), left.sliced(last, half, half));
        if (left.size(last) % 2 == 0) {
            left = met;
            continue;
        }
        std::vector<tensor> const parts = {met, left.sliced(last, 2 * half, 1)};
        left = concat(parts, static_cast<std::int64_t>(last));
    }
    return left.squeezed(last);
}

namespace {

dtype accumulating(call const& c, tensor const& x) { return c.type("dtype", aton::aten::to_accumulating(x.dtype())); }

/// A sum; if bools are requested, whether any element is true.
tensor total_of(tensor const& x, axis_list const& axes, bool keep) {
    return reduce(x.dtype() == dtype::bool_ ? reduce_op::any : reduce_op::sum, x, axes, keep);
}

results summed(call const& c) {
    tensor const x = c.t("self");
    return total_of(cast(x, accumulating(c, x)), axes_of(c, x), keeps(c));
}

/// A sum that ignores NaN.
results nansum(call const& c) {
    tensor x = c.t("self");
    if (is_complex(x.dtype())) throw error("this function does not support complex numbers");
    if (is_floating(x.dtype())) x = where(isnan(x), scalar(0), x);
    return total_of(cast(x, accumulating(c, x)), axes_of(c, x), keeps(c));
}

tensor averaged(call const& c) {
    tensor const x = c.t("self");
    dtype const type = c.type("dtype", x.dtype());
    if (!is_floating(type) && !is_complex(type)) throw error("a mean requires a floating-point dtype");
    return cast(mean(cast(x, compute_type(type)), axes_of(c, x), keeps(c)), type); // rounded once
}
results average(call const& c) { return averaged(c); }

results nanmean(call const& c) {
    tensor const x = c.t("self");
    dtype const type = c.type("dtype", x.dtype());
    if (!is_floating(x.dtype()) || !is_floating(type)) throw error("a mean requires a floating-point dtype");
    dtype const in = compute_type(type);
    tensor const there = logical_not(isnan(x));
    tensor const total = sum(where(there, cast(cast(x, type), in), scalar(0)), axes_of(c, x), keeps(c));
    return cast(cast(cast(total, type), in) / sum(cast(there, in), axes_of(c, x), keeps(c)), type);
}

results product_of(call const& c) {
    tensor const x = c.t("self");
    tensor const v = cast(x, accumulating(c, x));
    axis_list const axes = axes_of(c, x);
    if (v.dtype() == dtype::bool_) return reduce(reduce_op::all, v, axes, keeps(c));
    if (!is_complex(v.dtype())) return reduce(reduce_op::prod, v, axes, keeps(c));
    return reshape(fold(binary_op::mul, gathered(v, axes), 1), reduced_sizes(x, axes, keeps(c)));
}

/// Reduces to a shape that broadcasts to that of the operand.
results summed_to_size(call const& c) {
    tensor const x = c.t("self");
    sizes const to = c.ints("size");
    if (to.size() > x.rank() || broadcast(x.sizes(), to) != x.sizes())
        throw error("shape " + to_string(to) + " does not expand to " + to_string(x.sizes()));
    std::size_t const extra = x.rank() - to.size();
    axis_list axes;
    for (std::size_t i = 0; i != x.rank(); ++i)
        if (i < extra || (to[i - extra] == 1 && x.size(i) != 1)) axes.push_back(static_cast<std::int64_t>(i));
    if (axes.empty() && !to.empty()) return x;
    return reshape(sum(cast(x, aton::aten::to_accumulating(x.dtype())), axes), to);
}

void require_elements(tensor const& x, axis_list const& axes) {
    if (count_along(x, axes) == 0) throw error("an empty axis has no maximum or minimum");
}

template <reduce_op Op>
tensor extreme(call const& c) {
    tensor const x = c.t("self");
    axis_list const axes = axes_of(c, x);
    require_elements(x, axes);
    return reduce(Op, x, axes, keeps(c));
}
template <reduce_op Op>
results extreme_value(call const& c) {
    return extreme<Op>(c);
}
results both_extremes(call const& c) { return {extreme<reduce_op::min>(c), extreme<reduce_op::max>(c)}; }

tensor arg_extreme(reduce_op op, tensor const& x, std::int64_t axis, bool keep) {
    return op == reduce_op::max ? arg_max(x, axis, keep) : arg_min(x, axis, keep);
}

template <reduce_op Op>
results extreme_index(call const& c) {
    tensor const x = c.t("self");
    if (is_complex(x.dtype()) || x.dtype() == dtype::bool_)
        throw error("this function does not support bool or complex numbers");
    if (c.given("dim")) return arg_extreme(Op, x, c.i("dim"), keeps(c));
    tensor const at = arg_extreme(Op, flatten(x), 0, false);
    return keeps(c) ? reshape(at, sizes(x.rank(), 1)) : at;
}

template <reduce_op Op>
results extreme_and_index(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const axis = c.i("dim");
    tensor const at = arg_extreme(Op, x, axis, keeps(c));
    return {reduce(Op, x, {axis}, keeps(c)), at};
}

/// any and all; uint8 stays uint8.
template <reduce_op Op>
results truth(call const& c) {
    tensor const x = c.t("self");
    dtype const type = x.dtype() == dtype::uint8 ? dtype::uint8 : dtype::bool_;
    tensor const v = unequal(x, scalar(0));
    bool const none = c.has_argument("dim") && c.given("dim") && c.ints("dim").empty();
    return cast(none ? v : reduce(Op, v, axes_of(c, x), keeps(c)), type);
}

results count_of_nonzero(call const& c) {
    tensor const x = c.t("self");
    return sum(cast(unequal(x, scalar(0)), dtype::int64), axes_of(c, x));
}

/// Complex numbers are computed relative to the largest real part.
results log_of_sum(call const& c) {
    tensor const x = c.t("self");
    axis_list const axes = axes_of(c, x);
    if (!is_complex(x.dtype())) return log_sum_exp(cast(x, to_real(x.dtype())), axes, keeps(c));
    tensor const highest = max(real_part(x), axes, true);
    tensor const shift = cast(where(unary(unary_op::isfinite, highest), highest, scalar(0)), x.dtype());
    tensor const total = log(sum(exp(x - shift), axes, keeps(c)));
    return total + reshape(shift, total.sizes());
}

/// The exclusive or of the bits of all numbers, as int64 or float64.
results hashed(call const& c) {
    tensor const x = c.t("self");
    if (c.i("mode") != 0) throw error("unknown reduction mode");
    if (is_complex(x.dtype())) throw error("this function does not support complex numbers");
    tensor const wide = cast(x, is_floating(x.dtype()) ? dtype::float64 : dtype::int64);
    axis_list const axes = axes_of(c, x);
    tensor const bits = contiguous(wide).reinterpreted(dtype::uint64);
    return reshape(fold(binary_op::bitwise_xor, gathered(bits, axes), 0), reduced_sizes(x, axes, keeps(c)));
}

} // namespace

rows reduction() {
    using enum reduce_op;
    static constexpr row all_rows[] = {
        {"all", truth<all>},
        {"all.dim", truth<all>},
        {"all.dims", truth<all>},
        {"amax", extreme_value<max>},
        {"amin", extreme_value<min>},
        {"aminmax", both_extremes},
        {"any", truth<any>},
        {"any.dim", truth<any>},
        {"any.dims", truth<any>},
        {"argmax", extreme_index<max>},
        {"argmin", extreme_index<min>},
        {"count_nonzero", count_of_nonzero},
        {"count_nonzero.dim_IntList", count_of_nonzero},
        {"hash_tensor", hashed},
        {"logsumexp", log_of_sum},
        {"max", extreme_value<max>},
        {"max.dim", extreme_and_index<max>},
        {"mean", average},
        {"mean.dim", average},
        {"min", extreme_value<min>},
        {"min.dim", extreme_and_index<min>},
        {"nanmean", nanmean},
        {"nansum", nansum},
        {"prod", product_of},
        {"prod.dim_int", product_of},
        {"special_logsumexp", log_of_sum},
        {"sum", summed},
        {"sum.dim_IntList", summed},
        {"sum_to_size", summed_to_size},
    };
    return all_rows;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
