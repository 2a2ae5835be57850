// SPDX-License-Identifier: MIT
// Operators of quantized_decomposed: quantization with parameters that are numbers or tensors.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "by_operators.hpp"
#include "libraries.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

void require_range(call const& c) {
    dtype const type = c.type("dtype");
    if (!is_integral(type) || bits(type) > 32 || type == dtype::uint32)
        throw error("the dtype is not one of quantized numbers");
    double const greatest = std::exp2(bits(type) - (is_signed_integral(type) ? 1 : 0)) - 1;
    double const least = is_signed_integral(type) ? -greatest - 1 : 0;
    if (c.f("quant_min") < least || c.f("quant_max") > greatest) throw error("the range does not fit the dtype");
}

/// A parameter: one number, or one for each channel, with sizes of 1 along the other dimensions.
tensor channel_parameter(call const& c, std::string_view name, tensor const& x) {
    tensor const given = c.t(name);
    if (!c.has_argument("axis")) return reshape(given, {});
    sizes to(x.rank(), 1);
    std::int64_t const axis = c.i("axis") < 0 ? c.i("axis") + static_cast<std::int64_t>(x.rank()) : c.i("axis");
    if (axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) throw error("the axis is out of range");
    if (given.rank() != 1 || given.count() != x.sizes()[static_cast<std::size_t>(axis)])
        throw error("there must be one parameter for each channel");
    to[static_cast<std::size_t>(axis)] = given.count();
    return reshape(given, to);
}

results quantized(call const& c) {
    tensor const input = c.t("input");
    if (!is_floating(input.dtype()) || bits(input.dtype()) > 32) throw error("the input is not float32 or narrower");
    require_range(c);
    tensor const x = cast(input, dtype::float32);
    bool const channels = c.has_argument("axis");
    tensor const scale = channels ? cast(channel_parameter(c, "scales", x), dtype::float32)
                                  : reshape(operand(c, "scale", dtype::float64), {});
    if (!channels && to_host(scale).item().to<double>() == 0) throw error("the scale is 0");
    tensor const inverse = cast(scalar(1) / scale, dtype::float32);
    tensor const zero = cast(channel_parameter(c, channels ? "zero_points" : "zero_point", x), dtype::float32);
    tensor const number = clamp(round(x * inverse) + zero, c.f("quant_min"), c.f("quant_max"));
    return cast(number, c.type("dtype"));
}

results dequantized(call const& c) {
    tensor const x = c.t("input");
    if (x.dtype() != c.type("dtype")) throw error("dtype is not that of the input");
    if (!is_integral(x.dtype()) || bits(x.dtype()) > 32) throw error("the dtype is not one of quantized numbers");
    dtype const out = c.type("out_dtype", dtype::float32);
    if (!is_floating(out)) throw error("out_dtype is not a floating-point dtype");
    dtype const wide = compute_type(out);
    tensor const scale = cast(reshape(operand(c, "scale", dtype::float64), {}), wide);
    tensor const zero = cast(reshape(c.t("zero_point"), {}), wide);
    tensor const difference = cast(cast(cast(x, out), wide) - zero, out); // rounded
    return cast(cast(difference, wide) * scale, out);
}

/// The differences are integers, and the product is float32.
results dequantized_channels(call const& c) {
    tensor const x = c.t("input");
    if (x.dtype() != c.type("dtype")) throw error("dtype is not that of the input");
    require_range(c);
    if (c.given("zero_points") && is_floating(c.t("zero_points").dtype())) {
        by_operators const run(c);
        tensor const moved = run("aten::sub.Tensor", x, channel_parameter(c, "zero_points", x));
        return cast(run("aten::mul.Tensor", moved, channel_parameter(c, "scales", x)),
                    c.type("out_dtype", dtype::float32));
    }
    tensor const whole = cast(x, dtype::int64);
    tensor const moved =
        c.given("zero_points") ? whole - cast(channel_parameter(c, "zero_points", x), dtype::int64) : whole;
    tensor const scales = channel_parameter(c, "scales", x);
    if (scales.dtype() != dtype::float32) throw error("scales are float32");
    return cast(cast(moved, dtype::float32) * scales, c.type("out_dtype", dtype::float32));
}

results quantized_tokens(call const& c) {
    require_range(c);
    by_operators const run(c);
    tensor const x = c.t("input");
    if (!is_floating(x.dtype()) || !is_floating(c.t("scales").dtype())) throw error("the operands are not floats");
    tensor const inverse = run("aten::div.Tensor", constant(c, 1.0, c.t("scales").dtype()), c.t("scales"));
    tensor const number = round(run("aten::add.Tensor", run("aten::mul.Tensor", x, inverse), c.t("zero_points")));
    return cast(clamp(number, c.f("quant_min"), c.f("quant_max")), c.type("dtype"));
}

results dequantized_tokens(call const& c) {
    by_operators const run(c);
    tensor const moved = run("aten::sub.Tensor", c.t("input"), c.t("zero_points"));
    return cast(run("aten::mul.Tensor", moved, c.t("scales")), c.type("output_dtype"));
}

/// The smallest or largest number of the whole tensor, or of each token.
tensor extreme(call const& c, std::string_view overload, tensor const& x, bool of_tokens) {
    std::vector<aten_argument> arguments = {aten_argument::of_tensor(x).named("self")};
    if (of_tokens) {
        arguments.push_back(aten_argument::of_numbers({scalar(-1)}).named("dim"));
        arguments.push_back(aten_argument::of_number(true).named("keepdim"));
    }
    return c.run(overload, std::move(arguments)).results[0].one();
}
tensor amin(call const& c, tensor const& x, bool of_tokens) { return extreme(c, "aten::amin", x, of_tokens); }
tensor amax(call const& c, tensor const& x, bool of_tokens) { return extreme(c, "aten::amax", x, of_tokens); }

tensor float32_input(call const& c) {
    tensor const x = c.t("input");
    if (x.dtype() != dtype::float32 || x.count() == 0) throw error("the input is not float32, or empty");
    return x;
}

results chosen(call const& c) {
    tensor const x = float32_input(c);
    double const low = c.f("quant_min");
    double const high = c.f("quant_max");
    if (low >= high) throw error("quant_min is not less than quant_max");
    tensor const least = clamp(amin(c, x, false), -1e300, 0);
    tensor const greatest = clamp(amax(c, x, false), 0, 1e300);
    tensor const span = (greatest - least) / scalar(static_cast<double>(static_cast<float>(high - low)));
    tensor const scale = reshape(maximum(span, constant(c, c.f("eps"), dtype::float32)), {1});
    tensor const zero =
        constant(c, low, dtype::float64) - cast(cast(round(least / scale), dtype::int32), dtype::float64);
    return {cast(scale, dtype::float64), cast(clamp(zero, low, high), dtype::int64)};
}

results chosen_for_tokens(call const& c) {
    tensor const x = float32_input(c);
    if (x.rank() == 0) throw error("the input has no dimensions");
    tensor const least = clamp(amin(c, x, true), -1e300, 0);
    tensor const greatest = clamp(amax(c, x, true), 0, 1e300);
    tensor const smallest = constant(c, static_cast<double>(std::numeric_limits<float>::epsilon()), dtype::float32);
    tensor const scale = maximum((greatest - least) / scalar(255.0), smallest);
    tensor const low = least / scale;
    tensor const high = greatest / scale;
    tensor const error = (low + scalar(-128.0)) + (high + scalar(127.0));
    tensor const zero = where(greater(error, 0.0), scalar(-128.0) - low, scalar(127.0) - high);
    return {cast(scale, dtype::float64), cast(round(clamp(zero, -128, 127)), dtype::int64)};
}

} // namespace

rows decomposed_quantization() {
    static constexpr row all[] = {
        {"quantized_decomposed::choose_qparams.tensor", chosen},
        {"quantized_decomposed::choose_qparams_per_token_asymmetric", chosen_for_tokens},
        {"quantized_decomposed::dequantize_per_channel", dequantized_channels},
        {"quantized_decomposed::dequantize_per_tensor", dequantized},
        {"quantized_decomposed::dequantize_per_tensor.tensor", dequantized},
        {"quantized_decomposed::dequantize_per_token", dequantized_tokens},
        {"quantized_decomposed::quantize_per_channel", quantized},
        {"quantized_decomposed::quantize_per_tensor", quantized},
        {"quantized_decomposed::quantize_per_tensor.tensor", quantized},
        {"quantized_decomposed::quantize_per_token", quantized_tokens},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
