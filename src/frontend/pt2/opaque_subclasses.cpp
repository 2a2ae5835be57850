// SPDX-License-Identifier: MIT
// The classes that are known: what their tensors stand for, as their libraries compute it.
#include "opaque_subclasses.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <aton/core/error.hpp>

#include "call_writer.hpp"

namespace ATON_NAMESPACE::pt2 {

namespace {

/// A weight of a known class that cannot be read: the rest of a sentence about it.
class refused_weight {
public:
    explicit refused_weight(std::string what) : what_(std::move(what)) {}
    [[nodiscard]] std::string const& what() const { return what_; }

private:
    std::string what_;
};

class weight_reader {
public:
    using kind = subclass_attribute::kind;
    using value = program::value_index;

    explicit weight_reader(opaque_weight& from)
        : from_(from),
          write_(from.in, from.nodes, from.user.origin, from.in.values[from.value].name) {}

    /// MXTensor of torchao: blocks of float8 or float4 with a power of two each.
    value mx() {
        std::vector<std::int64_t> const& sizes = matrix();
        std::int64_t const block = number("block_size", 1);
        std::string const type = text("elem_dtype");
        expect_blocks(sizes[1], block);
        bool const is_float4 = type == "torch.float4_e2m1fn_x2";
        if (!is_float4 && type != "torch.float8_e4m3fn" && type != "torch.float8_e5m2")
            throw refused_weight(", whose elements are " + type);
        value const elements = is_float4 ? float4("qdata", sizes) : write_.cast(tensor("qdata", sizes), dtype::float32);
        value const exponents = write_.cast(scales(sizes[0], sizes[1] / block, dtype::float8_e8m0), dtype::float32);
        value const factors = power_of_two(write_.integers("aten::sub.Scalar", exponents, 127));
        if (from_.tensor.find("act_quant_kwargs").is != kind::none) quantize_activations(block);
        return scaled(elements, factors, sizes, block);
    }

    /// NVFP4Tensor of torchao: blocks of 16 float4 with a scale in float8 each, and one scale for all.
    value nvfp4() {
        std::vector<std::int64_t> const& sizes = matrix();
        std::int64_t const block = number("block_size", 16);
        expect_blocks(sizes[1], block);
        if (from_.tensor.find("act_quant_kwargs").is != kind::none)
            throw refused_weight(" with quantized activations, which only its kernels for CUDA compute");
        value factors = write_.cast(scales(sizes[0], sizes[1] / block, dtype::float8_e4m3fn), dtype::float32);
        if (subclass_attribute const all = from_.tensor.find("per_tensor_scale"); all.is == kind::tensor) {
            if (all.tensor.type != dtype::float32 || all.tensor.element_count() != 1)
                throw refused_weight(", whose per_tensor_scale is not one float32 number");
            value const one = write_.reshape(from_.add("per_tensor_scale", all.tensor), {1, 1});
            factors = write_.call("aten::mul.Tensor", factors, one);
        }
        return scaled(float4("qdata", sizes), factors, sizes, block);
    }

    /// WeightQBitsTensor of quanto: fields of a byte, with a scale and a shift for each row of groups.
    value qbits() {
        std::vector<std::int64_t> const& sizes = from_.tensor.sizes();
        std::int64_t const axis = number("_axis", 0);
        if (axis != 0) throw refused_weight(", which is quantized along axis " + std::to_string(axis));
        std::int64_t const width = number("_data._bits", 0);
        if (width != 2 && width != 4) throw refused_weight(", whose integers do not have 2 or 4 bits");
        stored_tensor const packed = stored("_data._data");
        stored_tensor const scale = stored("_scale");
        stored_tensor const shift = stored("_shift");
        std::int64_t const fields = 8 / width;
        bool const fits = packed.type == dtype::uint8 && packed.sizes.size() == 2 && scale.sizes.size() == 2 &&
                          scale.sizes[1] == 1 && shift.sizes == scale.sizes &&
                          (scale.sizes[0] + fields - 1) / fields == packed.sizes[0] &&
                          scale.sizes[0] * packed.sizes[1] == count_of(sizes);
        if (!fits) throw refused_weight(", whose packed data does not have its sizes");
        value const bytes = from_.add("_data._data", packed);
        value all = field(bytes, 0, width);
        for (std::int64_t i = 1; i != fields; ++i) all = write_.join("aten::cat", {all, field(bytes, i, width)}, 0);
        value data = write_.first(all, 0, scale.sizes[0]);
        value const step = from_.add("_scale", scale);
        value const zero = from_.add("_shift", shift);
        if (is_floating(shift.type)) {
            data = write_.call("aten::sub.Tensor", write_.call("aten::mul.Tensor", step, data), zero);
        } else {
            value const moved =
                write_.call("aten::sub.Tensor", write_.cast(data, dtype::int8), write_.cast(zero, dtype::int8));
            data = write_.call("aten::mul.Tensor", step, moved);
        }
        return write_.cast(write_.reshape(data, sizes), from_.tensor.element_type());
    }

    /// WeightQBytesTensor of quanto: int8 or float8 with a scale for each row.
    value qbytes() {
        stored_tensor data = stored("_data");
        stored_tensor scale = stored("_scale");
        if (data.sizes != from_.tensor.sizes()) throw refused_weight(", whose data does not have its sizes");
        dtype const type = scale.type;
        value const wide = write_.cast(from_.add("_data", std::move(data)), type);
        value const step = from_.add("_scale", std::move(scale));
        return write_.cast(write_.call("aten::mul.Tensor", step, wide), from_.tensor.element_type());
    }

private:
    [[nodiscard]] static std::int64_t count_of(std::vector<std::int64_t> const& sizes) {
        std::int64_t n = 1;
        for (std::int64_t const s : sizes) n *= s;
        return n;
    }

    [[nodiscard]] std::vector<std::int64_t> const& matrix() const {
        if (from_.tensor.sizes().size() != 2) throw refused_weight(", which is not a matrix");
        return from_.tensor.sizes();
    }
    static void expect_blocks(std::int64_t size, std::int64_t block) {
        if (block < 1 || size < 1 || size % block != 0)
            throw refused_weight(", whose rows of " + std::to_string(size) + " are not blocks of " +
                                 std::to_string(block));
    }
    [[nodiscard]] std::int64_t number(std::string_view path, std::int64_t otherwise) const {
        subclass_attribute const found = from_.tensor.find(path);
        return found.is == kind::number ? found.number : otherwise;
    }
    [[nodiscard]] std::string text(std::string_view path) const { return from_.tensor.find(path).text; }
    [[nodiscard]] stored_tensor stored(std::string_view path) const {
        subclass_attribute found = from_.tensor.find(path);
        if (found.is != kind::tensor) throw refused_weight(" without a tensor '" + std::string(path) + "'");
        return std::move(found.tensor);
    }
    value tensor(std::string_view path, std::vector<std::int64_t> const& sizes) {
        stored_tensor found = stored(path);
        if (found.sizes != sizes) throw refused_weight(", whose '" + std::string(path) + "' does not have its sizes");
        return from_.add(path, std::move(found));
    }

    /// Bits [i * width, (i + 1) * width) of each byte.
    value field(value bytes, std::int64_t i, std::int64_t width) {
        value const shifted =
            i == 0 ? bytes : write_.integers("aten::bitwise_right_shift.Tensor_Scalar", bytes, i * width);
        return write_.integers("aten::bitwise_and.Scalar", shifted, (1 << width) - 1);
    }

    /// Two float4 in each byte, the first in the low bits: 0, 0.5, 1, 1.5, 2, 3, 4, 6, and a sign.
    value float4(std::string_view path, std::vector<std::int64_t> const& sizes) {
        value const bytes = tensor(path, {sizes[0], sizes[1] / 2});
        value const codes = write_.join("aten::stack", {field(bytes, 0, 4), field(bytes, 1, 4)}, -1);
        value const sign =
            write_.cast(write_.integers("aten::bitwise_right_shift.Tensor_Scalar", codes, 3), dtype::float32);
        value const size = write_.cast(write_.integers("aten::bitwise_and.Scalar", codes, 7), dtype::float32);
        value const low = write_.call("aten::mul.Scalar", size, 0.5);
        value const middle = write_.call("aten::sub.Scalar", size, 2.0);
        value const high = write_.call("aten::sub.Scalar", write_.call("aten::mul.Scalar", size, 2.0), 8.0);
        value const number = write_.call("aten::maximum", write_.call("aten::maximum", low, middle), high);
        value const factor = write_.call("aten::rsub.Scalar", write_.call("aten::mul.Scalar", sign, 2.0), 1.0);
        return write_.reshape(write_.call("aten::mul.Tensor", number, factor), sizes);
    }

    /// The scales of the blocks of a matrix, [rows, columns]. Exponents are read as bytes, which every opset has.
    value scales(std::int64_t rows, std::int64_t columns, dtype type) {
        stored_tensor found = stored("scale");
        if (found.type != type) throw refused_weight(", whose scales are " + std::string(name(found.type)));
        if (type == dtype::float8_e8m0) found.type = dtype::uint8;
        bool const is_swizzled = number_of_boolean("is_swizzled_scales");
        std::int64_t const high = (rows + 127) / 128;
        std::int64_t const wide = (columns + 3) / 4;
        std::int64_t const expected = is_swizzled ? high * wide * 512 : rows * columns;
        if (found.element_count() != expected) throw refused_weight(", whose scales do not have its sizes");
        value made = from_.add("scale", std::move(found));
        if (type != dtype::float8_e8m0) made = write_.cast(made, dtype::float32); // few opsets reorder float8
        if (!is_swizzled) return write_.reshape(made, {rows, columns});
        // Blocks of 128 x 4 in a row: 32 rows of 4 x 4, of which the first 4 are 32 rows apart.
        value const blocks = write_.reshape(made, {high, wide, 32, 4, 4});
        value const matrix = write_.reshape(write_.permute(blocks, {0, 3, 2, 1, 4}), {high * 128, wide * 4});
        return write_.first(write_.first(matrix, 0, rows), 1, columns);
    }
    [[nodiscard]] bool number_of_boolean(std::string_view path) const {
        subclass_attribute const found = from_.tensor.find(path);
        return found.is == kind::boolean && found.number != 0;
    }

    value power_of_two(value exponents) { return write_.call("aten::exp2", exponents); }

    /// Elements times the factors of their blocks, in the dtype of the weight.
    value scaled(value elements, value factors, std::vector<std::int64_t> const& sizes, std::int64_t block) {
        value const blocks = write_.reshape(elements, {sizes[0], sizes[1] / block, block});
        value const product = write_.call("aten::mul.Tensor", blocks, write_.integers("aten::unsqueeze", factors, -1));
        return write_.cast(write_.reshape(product, sizes), from_.tensor.element_type());
    }

    /// The first operand of the product, rounded as the weight is.
    void quantize_activations(std::int64_t block) {
        std::string const type = text("act_quant_kwargs.elem_dtype");
        std::string const mode = text("act_quant_kwargs.scaling_mode.0");
        bool const is_float4 = type == "torch.float4_e2m1fn_x2";
        bool const is_known = type == "torch.float8_e4m3fn" && (mode == "rceil" || mode == "floor");
        if (from_.user.op != "aten::linear" || !(is_known || (is_float4 && mode == "rceil")))
            throw refused_weight(", whose activations are quantized to " + type + " by '" + mode + "'");
        if (number("act_quant_kwargs.block_size", block) != block)
            throw refused_weight(", whose activations have other blocks");
        value const input = from_.user.arguments[0].tensor;
        double const most = is_float4 ? 6 : 448;
        value const x = write_.cast(input, dtype::float32);
        value const blocks = write_.call(
            "aten::unflatten.int",
            x,
            {program::argument::of_number(std::int64_t{-1}), program::argument::of_numbers({std::int64_t{-1}, block})});
        value const largest =
            write_.call("aten::amax",
                        write_.call("aten::abs", blocks),
                        {program::argument::of_numbers({std::int64_t{-1}}), program::argument::of_number(true)});
        value const exponent = mode == "rceil" ? ceiling_of_log2(write_.call("aten::div.Scalar", largest, most))
                                               : write_.call("aten::sub.Scalar", floor_of_log2(largest), 8.0);
        value const bounded = clamp(exponent, -127, 127);
        value const inverse = power_of_two(write_.call("aten::neg", bounded));
        // A block of zeros keeps its numbers.
        value const is_least = write_.call("aten::le.Scalar", bounded, -127.0);
        value const factor = write_.choose(is_least, write_.call("aten::ones_like", inverse), inverse);
        value const numbers = clamp(write_.call("aten::mul.Tensor", blocks, factor), -most, most);
        value const rounded =
            is_float4 ? to_float4(numbers) : write_.cast(write_.cast(numbers, dtype::float8_e4m3fn), dtype::float32);
        value const y = write_.call(
            "aten::flatten.using_ints",
            write_.call("aten::mul.Tensor", rounded, power_of_two(bounded)),
            {program::argument::of_number(std::int64_t{-2}), program::argument::of_number(std::int64_t{-1})});
        from_.user.arguments[0].tensor = write_.cast(y, from_.tensor.element_type());
    }

    value clamp(value x, double low, double high) {
        return write_.call("aten::clamp", x, {program::argument::of_number(low), program::argument::of_number(high)});
    }

    /// The least n with 2^n >= x: a logarithm may be off by one at powers of two.
    value ceiling_of_log2(value x) {
        value const near = write_.call("aten::ceil", write_.call("aten::log2", x));
        value const below = power_of_two(write_.call("aten::sub.Scalar", near, 1.0));
        value const is_high = write_.cast(write_.call("aten::ge.Tensor", below, x), dtype::float32);
        value const is_low = write_.cast(write_.call("aten::lt.Tensor", power_of_two(near), x), dtype::float32);
        return write_.call("aten::add.Tensor", write_.call("aten::sub.Tensor", near, is_high), is_low);
    }
    /// The greatest n with 2^n <= x.
    value floor_of_log2(value x) {
        value const above = ceiling_of_log2(x);
        value const is_beyond = write_.cast(write_.call("aten::gt.Tensor", power_of_two(above), x), dtype::float32);
        return write_.call("aten::sub.Tensor", above, is_beyond);
    }

    /// Rounded to the nearest float4, halves to the even one.
    value to_float4(value x) {
        value const size = write_.call("aten::abs", x);
        auto const to_multiples = [&](double step) {
            return write_.call(
                "aten::mul.Scalar", write_.call("aten::round", write_.call("aten::mul.Scalar", size, 1 / step)), step);
        };
        value const high = write_.choose(write_.call("aten::lt.Scalar", size, 4.0), to_multiples(1), to_multiples(2));
        value const number = write_.choose(write_.call("aten::lt.Scalar", size, 2.0), to_multiples(0.5), high);
        return write_.call("aten::mul.Tensor", number, write_.call("aten::sign", x));
    }

    opaque_weight& from_;
    call_writer write_;
};

struct known_class {
    std::string_view name; ///< without its module, which moves between releases
    program::value_index (weight_reader::*read)();
};
constexpr known_class known_classes[] = {
    {"MXTensor", &weight_reader::mx},
    {"NVFP4Tensor", &weight_reader::nvfp4},
    {"WeightQBitsTensor", &weight_reader::qbits},
    {"WeightQBytesTensor", &weight_reader::qbytes},
};

} // namespace

std::optional<program::value_index> dequantize_opaque(opaque_weight& from, std::string& reason) {
    std::string_view const type = from.tensor.type();
    std::string_view const plain = type.substr(type.rfind('.') + 1);
    bool const is_of_library = type.starts_with("torchao.") || type.starts_with("optimum.quanto.");
    try {
        for (known_class const& each : known_classes)
            if (is_of_library && each.name == plain) return (weight_reader(from).*each.read)();
    } catch (refused_weight const& e) {
        reason = e.what();
        return std::nullopt;
    }
    reason = ", which " + (from.user.op.empty() ? std::string("the program returns") : from.user.op + " takes whole") +
             ": turn it into plain tensors before torch.export.export";
    return std::nullopt;
}

} // namespace ATON_NAMESPACE::pt2
