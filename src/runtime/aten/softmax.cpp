// SPDX-License-Identifier: MIT
// ATen operators: softmax, its logarithm and their gradients.
#include <limits>

#include <aton/core/error.hpp>

#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

void require_floats(tensor const& x) {
    if (!is_floating(x.dtype()))
        throw error("softmax requires a floating-point dtype, not " + std::string(name(x.dtype())));
}

} // namespace

tensor log_softmax_of(tensor const& x, std::int64_t axis) {
    require_floats(x);
    dtype const in = compute_type(x.dtype());
    bool const is_last = x.rank() != 0 && axis_at(axis, x.rank()) + 1 == x.rank();
    if (in == x.dtype() || !is_last || x.count() == 0) return log_softmax(x, axis);
    auto const rounded = [&](tensor const& t) { return cast(cast(t, x.dtype()), in); };
    tensor const wide = cast(x, in);
    tensor const below = wide - max(wide, {axis}, true);
    return cast(below - rounded(log(rounded(sum(exp(below), {axis}, true)))), x.dtype());
}

namespace {

template <bool Log>
tensor of_floats(tensor const& x, std::int64_t axis) {
    require_floats(x);
    return Log ? log_softmax_of(x, axis) : softmax(x, axis);
}

template <bool Log>
results softmax_in(call const& c) {
    tensor const x = c.t("self");
    return of_floats<Log>(cast(x, c.type("dtype", x.dtype())), c.i("dim"));
}

template <bool Log>
results softmax_of(call const& c) {
    tensor const x = c.t("self");
    if (c.b("half_to_float") && x.dtype() != dtype::float16) throw error("half_to_float requires float16");
    return of_floats<Log>(c.b("half_to_float") ? cast(x, dtype::float32) : x, c.i("dim"));
}

/// 0 for lines that are -inf everywhere.
results safe_softmax(call const& c) {
    tensor const x = c.t("self");
    tensor const out = of_floats<false>(cast(x, c.type("dtype", x.dtype())), c.i("dim"));
    if (!is_floating(x.dtype())) return out;
    tensor const masked = equal(x, scalar(-std::numeric_limits<double>::infinity()));
    return where(reduce(reduce_op::all, masked, {c.i("dim")}, true), scalar(0), out);
}

/// `input_dtype` has an effect only for a softmax of float16 that returned float32, as on GPUs.
template <bool Log>
results backward(call const& c) {
    tensor const gradient = c.t("grad_output");
    dtype const type = gradient.dtype();
    if (!is_floating(type)) throw error("softmax requires a floating-point dtype");
    if (c.t("output").dtype() != type) throw error("grad_output and output must have the same dtype");
    dtype const in = compute_type(type);
    tensor const g = cast(gradient, in);
    tensor const y = cast(c.t("output"), in);
    tensor const out = Log ? g - exp(y) * sum(g, {c.i("dim")}, true) : (g - sum(g * y, {c.i("dim")}, true)) * y;
    bool const was_half = type == dtype::float32 && c.type("input_dtype") == dtype::float16;
    return cast(out, was_half ? dtype::float16 : type);
}

} // namespace

rows softmax() {
    static constexpr row all[] = {
        {"softmax.int", softmax_in<false>},
        {"log_softmax.int", softmax_in<true>},
        {"special_softmax", softmax_in<false>},
        {"special_log_softmax", softmax_in<true>},
        {"_softmax", softmax_of<false>},
        {"_log_softmax", softmax_of<true>},
        {"_safe_softmax", safe_softmax},
        {"_softmax_backward_data", backward<false>},
        {"_log_softmax_backward_data", backward<true>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
