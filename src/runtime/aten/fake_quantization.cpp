// SPDX-License-Identifier: MIT
// ATen operators: fake quantization.
#include <string>

#include "runtime/compute/quantization.hpp"
#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// A scale or zero point, per index of `axis` if the operator has one.
tensor parameter(call const& c, std::string_view name, tensor const& x) {
    tensor const given = operand(c, name, dtype::float32);
    return c.has_argument("axis") ? quantization_parameter(given, x, c.i("axis")) : reshape(given, {});
}

/// Rounded numbers, and a mask of those that were not clamped.
results rounded(call const& c, bool masked) {
    tensor const x = c.t("self");
    if (!is_floating(x.dtype())) throw error("this function requires a floating-point dtype");
    double const low = static_cast<double>(c.i("quant_min"));
    double const high = static_cast<double>(c.i("quant_max"));
    if (low > high) throw error("quant_min is greater than quant_max");
    if (c.has_argument("fake_quant_enabled") && c.i("fake_quant_enabled") == 0)
        return {x, full(true, dtype::bool_, x.sizes(), x.where())};
    tensor const scale = parameter(c, "scale", x);
    tensor const zero = parameter(c, "zero_point", x);
    tensor const v = cast(x, compute_type(x.dtype()));
    tensor const inverse = cast(scalar(1) / scale, v.dtype());
    bool const is_real =
        c.argument("zero_point").kind == aten::argument_kind::tensor && is_floating(c.t("zero_point").dtype());
    bool const rounds_sum = is_real && c.has_argument("axis");
    tensor const shift = cast(is_real && !rounds_sum ? trunc(zero) : zero, v.dtype()); // the only one is truncated
    tensor const number = rounds_sum ? round(v * inverse + shift) : round(v * inverse) + shift;
    dtype const product = c.has_argument("axis") ? v.dtype() : dtype::float32;
    tensor const y = cast(clamp(number, low, high) - shift, product) * cast(scale, product);
    if (!masked) return cast(y, x.dtype());
    return {cast(y, x.dtype()), logical_and(greater_equal(number, low), less_equal(number, high))};
}
results only_rounded(call const& c) { return rounded(c, false); }
results rounded_and_mask(call const& c) { return rounded(c, true); }

} // namespace

rows fake_quantization() {
    static constexpr row all[] = {
        {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", rounded_and_mask},
        {"fake_quantize_per_channel_affine", only_rounded},
        {"fake_quantize_per_channel_affine_cachemask", rounded_and_mask},
        {"fake_quantize_per_tensor_affine", only_rounded},
        {"fake_quantize_per_tensor_affine.tensor_qparams", only_rounded},
        {"fake_quantize_per_tensor_affine_cachemask", rounded_and_mask},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
