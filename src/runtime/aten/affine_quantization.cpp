// SPDX-License-Identifier: MIT
// Operators of torchao: quantization of blocks, as torchao/quantization/quant_primitives.py writes it in torch's operators.
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

void require_float(tensor const& x) {
    if (x.dtype() != dtype::float32 && x.dtype() != dtype::float16 && x.dtype() != dtype::bfloat16)
        throw error("the input is not float32, float16 or bfloat16");
}

/// _get_reduction_params, and the sizes of the parameters.
struct block_sizes {
    sizes split;
    sizes parameters;
    sizes counts;
    axis_list inside;
};
block_sizes blocks_of(tensor const& x, std::vector<std::int64_t> const& block) {
    if (block.size() != x.rank()) throw error("block_size has another rank than the tensor");
    block_sizes out;
    for (std::size_t i = 0; i != block.size(); ++i) {
        std::int64_t const size = x.sizes()[i];
        if (block[i] < 1 || size % block[i] != 0) throw error("the blocks do not divide the tensor");
        out.counts.push_back(size / block[i]);
        auto const axis = static_cast<std::int64_t>(out.split.size());
        if (block[i] != size && block[i] > 1) {
            for (std::int64_t const part : {size / block[i], block[i]}) out.split.push_back(part);
            for (std::int64_t const part : {size / block[i], std::int64_t{1}}) out.parameters.push_back(part);
            out.inside.push_back(axis + 1);
            continue;
        }
        out.split.push_back(size);
        out.parameters.push_back(block[i] == 1 ? size : 1);
        if (block[i] != 1) out.inside.push_back(axis);
    }
    return out;
}

struct number_range {
    double low;
    double high;
};
number_range range_of(call const& c, dtype type) {
    bool const is_known = type == dtype::uint8 || type == dtype::int8 || type == dtype::int16 || type == dtype::int32;
    if (!is_known && type != dtype::uint16) throw error("the dtype is not one of quantized numbers");
    double const greatest = std::exp2(bits(type) - (is_signed_integral(type) ? 1 : 0)) - 1;
    double const least = is_signed_integral(type) ? -greatest - 1 : 0;
    number_range const out{c.given("quant_min") ? c.f("quant_min") : least,
                           c.given("quant_max") ? c.f("quant_max") : greatest};
    if (out.low < least || out.high > greatest) throw error("the range does not fit the dtype");
    return out;
}

tensor rounded(tensor const& x) { return cast(round(cast(x, compute_type(x.dtype()))), x.dtype()); }

results quantized(call const& c) {
    tensor const x = c.t("input");
    require_float(x);
    dtype const type = c.type("output_dtype");
    number_range const range = range_of(c, type);
    block_sizes const b = blocks_of(x, c.ints("block_size"));
    by_operators const run(c);
    tensor const inverse = run("aten::reciprocal", reshape(c.t("scale"), b.parameters));
    tensor const number = rounded(run("aten::mul.Tensor", reshape(x, b.split), inverse));
    if (!c.given("zero_point")) throw error("there is no zero point");
    tensor const moved = run("aten::add.Tensor", number, reshape(c.t("zero_point"), b.parameters));
    return cast(reshape(clamp(moved, range.low, range.high), x.sizes()), type);
}

results dequantized(call const& c) {
    tensor const x = c.t("input");
    if (x.dtype() != c.type("input_dtype")) throw error("input_dtype is not the dtype of the input");
    (void)range_of(c, x.dtype());
    dtype const out = c.type("output_dtype");
    if (out != dtype::float32 && out != dtype::float16 && out != dtype::bfloat16)
        throw error("output_dtype is not float32, float16 or bfloat16");
    block_sizes const b = blocks_of(x, c.ints("block_size"));
    by_operators const run(c);
    tensor number = cast(reshape(x, b.split), out);
    if (c.given("zero_point"))
        number = run("aten::sub.Tensor", number, cast(reshape(c.t("zero_point"), b.parameters), out));
    return cast(reshape(run("aten::mul.Tensor", number, reshape(c.t("scale"), b.parameters)), x.sizes()), out);
}

/// torch.clamp(x, min=least).
tensor at_least(tensor const& x, double least) {
    tensor const bound = full(scalar(least), x.dtype(), {}, x.where());
    return cast(maximum(cast(x, compute_type(x.dtype())), cast(bound, compute_type(x.dtype()))), x.dtype());
}

results chosen(call const& c) {
    if (!c.given("input")) throw error("there is no input");
    tensor const x = c.t("input");
    require_float(x);
    if (x.count() == 0) throw error("the input is empty");
    std::string_view const mapping = c.text("mapping_type");
    bool const is_symmetric = mapping == "SYMMETRIC" || mapping == "SYMMETRIC_NO_CLIPPING_ERR";
    if (!is_symmetric && mapping != "ASYMMETRIC") throw error("the mapping type is unknown");
    number_range const range = range_of(c, c.type("target_dtype"));
    block_sizes const b = blocks_of(x, c.ints("block_size"));
    bool const keep = c.b("keepdim");
    by_operators const run(c);
    tensor const split = reshape(x, b.split);
    tensor const wide = cast(split, compute_type(x.dtype()));
    tensor const least = cast(clamp(min(wide, b.inside, keep), -infinity, 0), x.dtype());
    tensor const greatest = cast(clamp(max(wide, b.inside, keep), 0, infinity), x.dtype());
    bool const is_half = x.dtype() == dtype::float16;
    double const smallest = is_half ? std::exp2(-14) : static_cast<double>(std::numeric_limits<float>::min());
    double const eps = c.maybe_f("eps").value_or(smallest);
    tensor scale;
    tensor zero;
    if (mapping == "SYMMETRIC") {
        tensor const most = cast(maximum(cast(-least, wide.dtype()), cast(greatest, wide.dtype())), x.dtype());
        scale = run("aten::div.Scalar", most, (range.high - range.low) / 2);
    } else if (is_symmetric) {
        tensor const below = run("aten::div.Scalar", least, range.low);
        tensor const above = run("aten::div.Scalar", greatest, range.high);
        scale = where(greater(below, above), below, above);
    } else {
        tensor const span = run("aten::sub.Tensor", greatest, least);
        scale = run("aten::div.Scalar", span, range.high - range.low);
    }
    scale = at_least(scale, eps);
    if (is_symmetric) {
        zero = full(scalar(std::trunc((range.high + range.low + 1) / 2)), scale.dtype(), scale.sizes(), x.where());
    } else {
        tensor const steps = rounded(run("aten::div.Tensor", least, scale));
        tensor const from = full(scalar(range.low), steps.dtype(), {}, x.where());
        zero = clamp(run("aten::sub.Tensor", from, steps), range.low, range.high);
    }
    if (keep) {
        scale = reshape(scale, b.counts);
        zero = reshape(zero, b.counts);
    }
    dtype const zeros = c.type("zero_point_dtype", is_symmetric ? zero.dtype() : dtype::int32);
    return {cast(scale, c.type("scale_dtype", x.dtype())), cast(zero, zeros)};
}

double greatest_of(dtype type) {
    if (type == dtype::float8_e4m3fn) return 448;
    if (type == dtype::float8_e4m3fnuz) return 240;
    if (type == dtype::float8_e5m2 || type == dtype::float8_e5m2fnuz) return 57344;
    throw error("float8_dtype is not float8");
}

/// _maybe_expand_scale_to_tensor_shape
tensor expanded_scale(tensor const& scale, tensor const& x) {
    if (scale.count() == 1) return reshape(scale, {});
    if (scale.rank() != x.rank()) throw error("the scale has another rank than the tensor");
    bool broadcasts = true;
    for (std::size_t i = 0; i != x.rank(); ++i)
        broadcasts = broadcasts && (scale.sizes()[i] == 1 || scale.sizes()[i] == x.sizes()[i]);
    if (broadcasts) return scale;
    sizes apart;
    sizes wide;
    for (std::size_t i = 0; i != x.rank(); ++i) {
        std::int64_t const n = scale.sizes()[i];
        if (n == 0 || x.sizes()[i] % n != 0) throw error("the sizes of the scale do not divide those of the tensor");
        for (std::int64_t const part : {n, std::int64_t{1}}) apart.push_back(part);
        for (std::int64_t const part : {n, x.sizes()[i] / n}) wide.push_back(part);
    }
    return reshape(reshape(scale, apart).expanded(wide), x.sizes());
}

results float8_scale(call const& c) {
    tensor const x = c.t("tensor");
    if (!is_floating(x.dtype()) || is_float8(x.dtype()) || x.count() == 0)
        throw error("the tensor is empty, or has no floats");
    if (c.type("scale_dtype") != dtype::float32) throw error("the dtype of the scale is not float32");
    block_sizes const b = blocks_of(x, c.ints("block_size"));
    tensor most = max(abs(reshape(x, b.split)), b.inside, true);
    if (c.given("hp_value_lb") || c.given("hp_value_ub"))
        most = clamp(most, c.maybe_f("hp_value_lb").value_or(-infinity), c.maybe_f("hp_value_ub").value_or(infinity));
    tensor const scale = by_operators(c)("aten::div.Scalar", most, greatest_of(c.type("float8_dtype")));
    return cast(reshape(scale, b.counts), dtype::float32);
}

results quantized_float8(call const& c) {
    dtype const type = c.type("float8_dtype");
    double const most = greatest_of(type);
    tensor const x = cast(c.t("tensor"), dtype::float32);
    if (c.t("scale").dtype() != dtype::float32) throw error("the scale is not float32");
    return cast(clamp(x / expanded_scale(c.t("scale"), x), -most, most), type);
}

results dequantized_float8(call const& c) {
    if (!is_float8(c.t("tensor").dtype())) throw error("the tensor is not float8");
    tensor const x = cast(c.t("tensor"), dtype::float32);
    tensor const scale = expanded_scale(c.t("scale"), x);
    return cast(by_operators(c)("aten::mul.Tensor", x, scale), c.type("output_dtype"));
}

} // namespace

rows affine_quantization() {
    static constexpr row all[] = {
        {"torchao::choose_qparams_affine", chosen},
        {"torchao::choose_scale_float8", float8_scale},
        {"torchao::dequantize_affine", dequantized},
        {"torchao::dequantize_affine_float8_non_decomposed", dequantized_float8},
        {"torchao::quantize_affine", quantized},
        {"torchao::quantize_affine_float8_non_decomposed", quantized_float8},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
