// SPDX-License-Identifier: MIT
// Products with quantized weights as MatMulNBits, which is ONNX Runtime's.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <aton/model_io/bit_packer.hpp>

#include "quantized_nodes.hpp"
#include "quantized_product.hpp"

namespace ATON_NAMESPACE::exporter {

namespace ir = quantized_ir;

namespace {

// Of blocks above 256 elements ONNX Runtime computes zeros; in longer ones than 128 it rounds the other operand less precisely.
constexpr std::int64_t smallest_block = 16;
constexpr std::int64_t largest_block = 128;

/// The operands of DequantizeLinear as a matrix with a row for each output.
class weight_rows {
public:
    tensor numbers;
    tensor scales;
    std::optional<tensor> zeros;
    std::size_t across = 0; ///< the axis of the outputs
    std::int64_t block = 0; ///< of the program; 0: a row has one scale
    std::int64_t bits = 8;
    std::int64_t offset = 0; ///< to the numbers without a sign
    std::int64_t stored = 0; ///< the block of MatMulNBits

    [[nodiscard]] std::int64_t outputs() const { return numbers.sizes[across]; }
    [[nodiscard]] std::int64_t length() const { return numbers.sizes[1 - across]; }
    [[nodiscard]] std::int64_t blocks() const { return (length() + stored - 1) / stored; }
    [[nodiscard]] std::int64_t number(std::int64_t row, std::int64_t k) const {
        std::int64_t const at = across == 0 ? row * length() + k : k * outputs() + row;
        return numbers.at(static_cast<std::size_t>(at)).to<std::int64_t>() + offset;
    }
    /// Where the scale of an element is.
    [[nodiscard]] std::size_t place(tensor const& of, std::int64_t row, std::int64_t k) const {
        if (of.element_count() == 1) return 0;
        if (block == 0) return static_cast<std::size_t>(row);
        std::int64_t const b = k / block;
        return static_cast<std::size_t>(across == 0 ? row * of.sizes[1] + b : b * outputs() + row);
    }
    [[nodiscard]] std::int64_t zero(std::int64_t row, std::int64_t k) const {
        return zeros ? zeros->at(place(*zeros, row, k)).to<std::int64_t>() + offset : offset;
    }
    [[nodiscard]] bool fits(tensor const& of) const {
        if (of.element_count() == 1) return true;
        if (block == 0) return of.sizes.size() == 1 && of.sizes[0] == outputs();
        std::vector<std::int64_t> wanted = numbers.sizes;
        wanted[1 - across] = (length() + block - 1) / block;
        return of.sizes == wanted;
    }

    [[nodiscard]] bool choose_bits();
    [[nodiscard]] bool choose_block();
    [[nodiscard]] tensor packed_numbers() const;
    [[nodiscard]] tensor block_scales() const;
    [[nodiscard]] std::optional<tensor> packed_zeros() const;
};

/// Four bits if numbers and zero points have no more. Whether all are integers that MatMulNBits takes.
bool weight_rows::choose_bits() {
    bool is_signed_nibble = true;
    bool is_nibble = true;
    auto const see = [&](std::int64_t n) {
        is_signed_nibble = is_signed_nibble && ir::limits_of(dtype::int4).contain(n);
        is_nibble = is_nibble && ir::limits_of(dtype::uint4).contain(n);
    };
    ir::integer_limits const limits = ir::limits_of(numbers.type);
    for (std::size_t i = 0; i != static_cast<std::size_t>(numbers.element_count()); ++i)
        see(numbers.at(i).to<std::int64_t>());
    std::size_t const count = zeros ? static_cast<std::size_t>(zeros->element_count()) : 0;
    for (std::size_t i = 0; i != count; ++i) {
        double const z = zeros->at(i).to<double>();
        if (!(z >= static_cast<double>(limits.low) && z <= static_cast<double>(limits.high)) || std::nearbyint(z) != z)
            return false;
        see(static_cast<std::int64_t>(z));
    }
    if (!zeros) see(0);
    bits = is_signed_nibble || is_nibble ? 4 : 8;
    offset = bits == 4 ? (is_signed_nibble ? 8 : 0) : -limits.low;
    return true;
}

/// The longest block with the fewest bytes. Whether it is hardly larger than what the program has.
bool weight_rows::choose_block() {
    auto const bytes = [&](std::int64_t b) { return (length() + b - 1) / b * (b * bits / 8 + 4); };
    std::int64_t const own = block == 0 ? length() : block;
    std::int64_t best = 0;
    for (std::int64_t b = smallest_block; b <= largest_block; b *= 2)
        if ((block == 0 || block % b == 0) && (best == 0 || bytes(b) <= bytes(best))) best = b;
    stored = best;
    constexpr std::int64_t parts = 10; // a tenth more
    return best != 0 && bytes(best) * parts <= (length() + own - 1) / own * (own * bits / 8 + 4) * (parts + 1);
}

/// [outputs, blocks, bytes], filled up with zero points.
tensor weight_rows::packed_numbers() const {
    tensor out{dtype::uint8, {outputs(), blocks(), stored * bits / 8}, {}};
    bit_packer packer(static_cast<int>(bits));
    for (std::int64_t row = 0; row != outputs(); ++row)
        for (std::int64_t k = 0; k != blocks() * stored; ++k)
            packer.put(static_cast<unsigned>(k < length() ? number(row, k) : zero(row, length() - 1)), out.bytes);
    return out;
}

tensor weight_rows::block_scales() const {
    tensor out{scales.type, {outputs(), blocks()}, {}};
    for (std::int64_t row = 0; row != outputs(); ++row)
        for (std::int64_t b = 0; b != blocks(); ++b) out.append(scales.at(place(scales, row, b * stored)).to<double>());
    return out;
}

/// Nothing if all are the middle, which is what MatMulNBits assumes.
std::optional<tensor> weight_rows::packed_zeros() const {
    std::int64_t const middle = std::int64_t{1} << (bits - 1);
    bool is_middle = true;
    tensor out{dtype::uint8, {outputs(), (blocks() * bits + 7) / 8}, {}};
    bit_packer packer(static_cast<int>(bits));
    for (std::int64_t row = 0; row != outputs(); ++row) {
        for (std::int64_t b = 0; b != blocks(); ++b) {
            std::int64_t const z = zero(row, b * stored);
            is_middle = is_middle && z == middle;
            packer.put(static_cast<unsigned>(z), out.bytes);
        }
        packer.end_byte(out.bytes);
    }
    if (is_middle) return {};
    return out;
}

} // namespace

/// Whether the program has rounded the other operand: then a rounding by MatMulNBits would be a second one, and behind operators that only
/// move numbers, ONNX Runtime multiplies integers.
bool product::is_input_rounded() {
    constexpr std::array passed = {"Reshape",
                                   "Flatten",
                                   "Transpose",
                                   "Squeeze",
                                   "Unsqueeze",
                                   "Slice",
                                   "Gather",
                                   "MaxPool",
                                   "Cast",
                                   "Clip",
                                   "Min",
                                   "Max",
                                   "Mul",
                                   "Sub",
                                   "Add"};
    constexpr int most_nodes = 12;
    value_id at = n_.inputs[0];
    for (int i = 0; i != most_nodes; ++i) {
        graph_node const* const n = g_.producer(at);
        if (n == nullptr || n->inputs.empty()) return false;
        if (ir::is(*n, ir::dequantize)) return true;
        if (!n->domain.empty()) return false;
        if (n->op == "Round") return true;
        if (std::find(passed.begin(), passed.end(), n->op) == passed.end()) return false;
        at = n->inputs[0];
    }
    return false;
}

/// MatMulNBits in place of the product and of a bias behind it. False: the product stays, because something is not as the operator has it.
bool product::write_n_bits() {
    if (left_ != nullptr || is_input_rounded() || !is_weight() || right_->inputs.size() > ir::table || !is_plain_gemm())
        return false;
    value_id const x = n_.inputs[0];
    dtype const type = g_.type(x).dtype;
    shape const& operand = g_.type(x).shape;
    bool const is_known = operand.has_rank() && operand.rank() >= 2;
    if (!is_known || g_.type(n_.inputs[1]).dtype != type) return false;
    if (!has_bits_kernel("MatMulNBits", type, g_.graph().opset)) return false;
    auto const only_reader = [&](value_id id) {
        auto const all = g_.readers(id);
        return all && all->size() == 1;
    };
    if (!only_reader(right_->inputs[ir::data]) || !only_reader(right_->outputs[0])) return false;
    value_id const zero_point = ir::input_of(*right_, ir::zero_point);
    auto numbers = g_.constant(right_->inputs[ir::data]);
    auto scales = g_.constant(right_->inputs[ir::scale]);
    auto zeros = g_.constant(zero_point);
    if (!numbers || numbers->sizes.size() != 2 || numbers->element_count() == 0 || !scales) return false;
    if ((numbers->type != dtype::int8 && numbers->type != dtype::uint8) || scales->type != type) return false;
    if (zero_point != no_value && !zeros) return false;

    weight_rows w{std::move(*numbers), std::move(*scales), std::move(zeros)};
    w.across = n_.op == "Gemm" && int_of(n_, "transB") != 0 ? 0 : 1;
    w.block = ir::number(*right_, ir::block_attribute, 0);
    auto const along = static_cast<std::int64_t>(w.block != 0 ? 1 - w.across : w.across);
    if (ir::has_axis(*right_) && ir::number(*right_, ir::axis_attribute, 0) != along) return false;
    if (!w.fits(w.scales) || (w.zeros && !w.fits(*w.zeros)) || !w.choose_bits() || !w.choose_block()) return false;
    value_id bias = no_value;
    std::size_t const last = sum_after(bias);
    if (bias != no_value && !(g_.type(bias) == value_type{type, shape({dim(w.outputs())})})) return false;

    std::string const name = g_.graph().values[right_->inputs[ir::data]].name;
    graph_node made;
    made.domain = microsoft;
    made.op = "MatMulNBits";
    made.source = n_.source;
    made.origin = n_.origin;
    made.inputs = {x,
                   g_.add_constant(w.packed_numbers(), name.empty() ? "" : name + ".packed"),
                   g_.add_constant(w.block_scales())};
    auto packed = w.packed_zeros();
    if (packed || bias != no_value) made.inputs.push_back(packed ? g_.add_constant(std::move(*packed)) : no_value);
    if (bias != no_value) made.inputs.insert(made.inputs.end(), {no_value, bias}); // g_idx is obsolete
    made.attributes = {make_attribute("K", w.length()),
                       make_attribute("N", w.outputs()),
                       make_attribute("bits", w.bits),
                       make_attribute("block_size", w.stored)};
    if (style_.accuracy_level != 0)
        made.attributes.push_back(make_attribute("accuracy_level", std::int64_t{style_.accuracy_level}));
    made.outputs = g_.node(last).outputs;
    g_.graph().import_domain(microsoft, 1);
    g_.insert(last, std::move(made));
    g_.remove(last);
    g_.remove(at_);
    return true;
}

} // namespace ATON_NAMESPACE::exporter
