// SPDX-License-Identifier: MIT
// Quantization in operators of libraries: quanto, ModelOpt (tensorrt), Quark and bitsandbytes, as those compute on a CPU.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/compute/quantization.hpp"
#include <aton/core/error.hpp>

#include "by_operators.hpp"
#include "libraries.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

double greatest_of(dtype type) {
    if (type == dtype::float8_e4m3fn) return 448;
    if (type == dtype::float8_e4m3fnuz) return 240;
    if (type == dtype::float8_e5m2 || type == dtype::float8_e5m2fnuz) return 57344;
    throw error("the dtype is not float8");
}

tensor clamped_to(tensor const& x, dtype type) {
    double const most = greatest_of(type);
    return cast(clamp(x, -most, most), type);
}

/// The int32 product of the rows of two matrices.
tensor product_of_rows(tensor const& a, tensor const& b) {
    if (a.dtype() != dtype::int8 || b.dtype() != dtype::int8 || b.rank() != 2 || a.rank() == 0)
        throw error("the operands are not int8");
    if (a.sizes().back() != b.sizes()[1]) throw error("the rows have different lengths");
    return matmul(cast(a, dtype::int32), transpose(cast(b, dtype::int32), 0, 1));
}

// quanto

results qbytes_product(call const& c) {
    tensor const a = c.t("A");
    tensor const b = c.t("B");
    tensor const scales = c.t("scales");
    if (b.rank() != 2 || scales.sizes() != sizes{b.sizes()[0], 1})
        throw error("there must be one scale for each row of B");
    if (!is_floating(scales.dtype()) || is_float8(scales.dtype()) || bits(scales.dtype()) > 32)
        throw error("the scales are not floats");
    by_operators const run(c);
    tensor const row = transpose(scales, 0, 1);
    if (a.dtype() == dtype::int8 && b.dtype() == dtype::int8) {
        tensor const product = cast(product_of_rows(a, b), dtype::float32);
        return cast(run("aten::mul.Tensor", product, row), scales.dtype());
    }
    if (!is_floating(a.dtype())) throw error("A is not a tensor of floats or int8");
    tensor const weight = run("aten::mul.Tensor", scales, cast(b, scales.dtype()));
    return run("aten::matmul", cast(a, scales.dtype()), transpose(weight, 0, 1));
}

results quantized_symmetric(call const& c) {
    tensor const x = c.t("base");
    tensor const scale = c.t("scale");
    dtype const type = c.type("dtype");
    if (!is_floating(x.dtype()) || !is_floating(scale.dtype())) throw error("the tensor and its scale are not floats");
    if (c.given("axis")) {
        std::int64_t axis = c.i("axis");
        auto const rank = static_cast<std::int64_t>(x.rank());
        if (axis == rank - 1) axis = -1;
        if (rank < 2 || (axis != 0 && axis != -1)) throw error("the axis is not the first or the last");
        if (x.sizes()[axis == 0 ? 0 : x.rank() - 1] == 1 || scale.rank() != x.rank())
            throw error("the scale does not fit");
    } else if (scale.rank() != 0) {
        throw error("the scale is not a number");
    }
    tensor const quotient = by_operators(c)("aten::div.Tensor", x, scale);
    if (is_float8(type)) return clamped_to(quotient, type);
    if (!is_integral(type) || bits(type) > 16) throw error("the dtype is not one of quantized numbers");
    double const greatest = std::exp2(bits(type) - (is_signed_integral(type) ? 1 : 0)) - 1;
    tensor const number = cast(round(cast(quotient, compute_type(quotient.dtype()))), quotient.dtype());
    return cast(clamp(number, is_signed_integral(type) ? -greatest - 1 : 0, greatest), type);
}

results unpacked(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const width = c.i("bits");
    if (x.dtype() != dtype::uint8 || x.rank() == 0 || (width != 2 && width != 4))
        throw error("the bytes are not packed");
    tensor const wide = cast(x, dtype::int32);
    std::vector<tensor> fields;
    for (std::int64_t i = 0; i != 8 / width; ++i) {
        double const shift = std::exp2(static_cast<double>(width * i));
        double const more = std::exp2(static_cast<double>(width * (i + 1)));
        tensor const above = wide / scalar(static_cast<std::int32_t>(more)) * scalar(static_cast<std::int32_t>(more));
        fields.push_back((wide - above) / scalar(static_cast<std::int32_t>(shift)));
    }
    return cast(concat(fields, 0), dtype::uint8);
}

// ModelOpt: the kernel of CUDA for integers, and the one of Python for float8.

results quantized_to_range(call const& c) {
    tensor const input = c.t("input");
    tensor const x = cast(input, dtype::float32);
    tensor const range = cast(c.t("amax"), dtype::float32);
    std::int64_t const width = c.i("num_bits");
    constexpr double epsilon = 1.0 / (1 << 24);
    if (!is_floating(input.dtype())) throw error("the input is not a tensor of floats");
    if (c.i("exponent_bits") != 0) {
        if (width != 8 || c.i("exponent_bits") != 4) throw error("the format of the floats is unknown");
        tensor const safe = where(less_equal(range, epsilon), scalar(1), range);
        tensor const factor = scalar(448) / safe;
        tensor const narrow = clamped_to(x * factor, dtype::float8_e4m3fn);
        return cast(cast(narrow, dtype::float32) * (scalar(1) / factor), input.dtype());
    }
    if (width < 2 || width > 16) throw error("num_bits is out of range");
    double const bound = std::exp2(static_cast<double>(width - 1 + (c.b("unsigned") ? 1 : 0))) - 1;
    tensor const factor = scalar(bound) / range;
    tensor const number = clamp(round(x * factor), -bound - (c.b("narrow_range") ? 0 : 1), bound);
    tensor const zero = full(scalar(0), dtype::float32, {}, x.where());
    return cast(where(less(range, epsilon), zero, number / factor), input.dtype());
}

// Quark

tensor fake_quantized(tensor const& x, tensor const& scale, tensor const& zero, double low, double high) {
    tensor const moved = round(x * (scalar(1) / scale)) + zero;
    return (clamp(moved, low, high) - zero) * scale;
}

results quark_fake_quantized(call const& c) {
    tensor const input = c.t("inputs");
    if (!is_floating(input.dtype()) || bits(input.dtype()) > 32) throw error("the input is not float32 or narrower");
    tensor const x = cast(input, dtype::float32);
    tensor const scale = cast(c.t("scale"), dtype::float32);
    std::string_view const type = c.text("quant_dtype");
    std::string_view const scheme = c.text("qscheme");
    if (type == "fp8_e4m3" || type == "fp8_e5m2") {
        if (scheme != "per_tensor") throw error("the scheme is not per_tensor");
        dtype const narrow = type == "fp8_e4m3" ? dtype::float8_e4m3fn : dtype::float8_e5m2;
        tensor const one = reshape(scale, {});
        return cast(cast(clamped_to(x / one, narrow), dtype::float32) * one, input.dtype());
    }
    if (!type.starts_with("int") && !type.starts_with("uint")) throw error("the dtype is unknown");
    double const low = std::trunc(c.f("quant_min"));
    double const high = std::trunc(c.f("quant_max"));
    if (low > high) throw error("quant_min is greater than quant_max");
    tensor const zero = cast(trunc(cast(c.t("zero_point"), dtype::float32)), dtype::float32);
    if (scheme == "per_tensor")
        return cast(fake_quantized(x, reshape(scale, {}), reshape(zero, {}), low, high), input.dtype());
    std::int64_t const axis = c.i("axis");
    if (scheme == "per_channel") {
        tensor const steps = quantization_parameter(scale, x, axis);
        return cast(fake_quantized(x, steps, quantization_parameter(zero, x, axis), low, high), input.dtype());
    }
    if (scheme != "per_group" || c.i("group_size") < 1 || x.rank() == 0) throw error("the scheme is unknown");
    tensor const moved = transpose(x, axis, -1);
    if (moved.count() % c.i("group_size") != 0) throw error("the groups do not divide the tensor");
    tensor const rows = reshape(moved, {moved.count() / c.i("group_size"), c.i("group_size")});
    auto const column = [&](tensor const& p) { return reshape(p, {rows.sizes()[0], 1}); };
    tensor const y = fake_quantized(rows, column(scale), column(zero), low, high);
    return cast(transpose(reshape(y, moved.sizes()), axis, -1), input.dtype());
}

// bitsandbytes

results quantized_rows(call const& c) {
    tensor const x = c.t("A");
    if (x.rank() != 2 || !is_floating(x.dtype()) || x.sizes()[1] == 0) throw error("A is not a matrix of floats");
    if (c.f("threshold") > 0) throw error("a threshold for outliers");
    tensor const most = cast(max(abs(x), {1}), dtype::float32);
    tensor const factor = scalar(127) / most.unsqueezed(1);
    tensor const number = round(by_operators(c)("aten::mul.Tensor", x, factor));
    return {cast(number, dtype::int8), most, value()};
}

/// gemv_4bit of bitsandbytes: the kernel in Python, and for CPUs that of C++ with the layout of _convert_weight_packed_for_cpu.
results four_bit_product(call const& c) {
    std::vector<std::int64_t> const shape = c.ints("shapeB");
    tensor const absmax = c.t("absmax");
    tensor const code = c.t("code");
    std::int64_t const block = c.i("blocksize");
    bool const is_packed = absmax.rank() == 2;
    if (shape.size() != 2 || shape[0] < 1 || shape[1] < 2 || shape[0] > 1 << 20 || shape[1] > 1 << 20 ||
        shape[1] % 2 != 0)
        throw error("the shape is not that of a matrix");
    std::int64_t const rows = shape[0];
    std::int64_t const columns = shape[1];
    if (block < 1 || columns % block != 0 || (is_packed && rows % 32 != 0))
        throw error("the blocks do not divide the rows");
    tensor const b = c.t("B");
    if (b.dtype() != dtype::uint8 || b.count() * 2 != rows * columns || absmax.count() * block != rows * columns)
        throw error("the weight does not have its sizes");
    if (code.count() != 16 || code.dtype() != dtype::float32 ||
        absmax.dtype() != (is_packed ? dtype::bfloat16 : dtype::float32))
        throw error("the table or the factors have another dtype");
    tensor const a = c.t("A");
    if (!is_floating(a.dtype()) || a.rank() == 0 || a.sizes().back() != columns)
        throw error("A has rows of another length");
    tensor const wide = cast(b, dtype::int32);
    tensor const high = wide / scalar(16);
    tensor const low = wide - high * scalar(16);
    std::int64_t const width = is_packed ? 32 : 1;
    sizes const lines = {b.count() / width, width};
    std::vector<tensor> const halves = {reshape(is_packed ? low : high, lines), reshape(is_packed ? high : low, lines)};
    tensor index = concat(halves, 1);
    if (is_packed) index = transpose(reshape(index, {rows / 32, columns / 2, 32, 2}), 1, 2);
    auto const narrow = [&](tensor const& x) { return cast(cast(x, dtype::bfloat16), dtype::float32); };
    tensor const table = reshape(is_packed ? narrow(code) : code, {16});
    by_operators const run(c);
    tensor const numbers =
        c.run("aten::index_select",
              {aten_argument::of_tensor(table).named("self"),
               aten_argument::of_number(scalar(0)).named("dim"),
               aten_argument::of_tensor(reshape(cast(index, dtype::int64), {rows * columns})).named("index")})
            .results[0]
            .one();
    tensor const scales = cast(is_packed ? transpose(absmax, 0, 1) : absmax, dtype::float32);
    tensor const blocks =
        reshape(numbers, {rows, columns / block, block}) * reshape(scales, {rows, columns / block, 1});
    tensor const weight = transpose(reshape(blocks, {rows, columns}), 0, 1);
    if (!is_packed) return run("aten::matmul", a, cast(weight, a.dtype()));
    return cast(cast(matmul(narrow(a), weight), dtype::bfloat16), a.dtype());
}

tensor dequantized_product(call const& c, tensor const& product) {
    tensor const rows = c.t("row_stats");
    tensor const columns = c.t("col_stats");
    if (rows.dtype() != dtype::float32 || columns.dtype() != dtype::float32)
        throw error("the statistics are not float32");
    tensor const scale = reshape(rows, {rows.count(), 1}) * reshape(columns, {1, columns.count()});
    std::int64_t const width = product.sizes().back();
    tensor const matrix = reshape(product, {width == 0 ? 0 : product.count() / width, width});
    tensor y = cast(matrix, dtype::float32) * scale * scalar(6.200124e-05);
    if (c.given("bias")) y = y + cast(c.t("bias"), dtype::float32);
    return cast(y, c.type("dtype", dtype::float16));
}

results scaled_product_of_rows(call const& c) {
    if (c.t("A").rank() != 2) throw error("A is not a matrix");
    return dequantized_product(c, product_of_rows(c.t("A"), c.t("B")));
}
results product_of_int8(call const& c) { return product_of_rows(c.t("A"), c.t("B")); }
results dequantized(call const& c) {
    if (c.t("A").dtype() != dtype::int32 || c.t("A").rank() == 0) throw error("A is not int32");
    return dequantized_product(c, c.t("A"));
}

} // namespace

rows library_quantization() {
    static constexpr row all[] = {
        {"bitsandbytes::gemv_4bit", four_bit_product},
        {"bitsandbytes::int8_linear_matmul", product_of_int8},
        {"bitsandbytes::int8_mm_dequant", dequantized},
        {"bitsandbytes::int8_scaled_mm", scaled_product_of_rows},
        {"bitsandbytes::int8_vectorwise_quant", quantized_rows},
        {"quanto::qbytes_mm", qbytes_product},
        {"quanto::quantize_symmetric", quantized_symmetric},
        {"quanto::unpack", unpacked},
        {"quark::scaled_fake_quantize", quark_fake_quantized},
        {"tensorrt::quantize_op", quantized_to_range},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
