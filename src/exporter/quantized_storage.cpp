// SPDX-License-Identifier: MIT
// How weights of four bits are stored.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <aton/model_io/bit_packer.hpp>

#include "make_attribute.hpp"
#include "quantized_graph.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

namespace ir = quantized_ir;

constexpr int first_opset_with_nibbles = 21; ///< int4 and uint4
constexpr int first_opset_with_bits = 18;    ///< BitwiseAnd
constexpr std::int64_t half_of_nibbles = 8;

/// The numbers of a weight, and its zero points, with the same amount added.
struct small_numbers {
    tensor numbers;
    tensor zeros;
};

/// Two numbers in a byte, the first one in its lower half. Numbers are 0 to 15, or their lower halves are those of int4.
tensor packed(tensor const& from, dtype type) {
    constexpr int nibble = 4;
    tensor out{type, from.sizes, {}};
    bit_packer packer(nibble);
    for (char const byte : from.bytes) packer.put(static_cast<unsigned>(byte), out.bytes);
    packer.end_byte(out.bytes);
    return out;
}

bool are_within(tensor const& t, ir::integer_limits limits) {
    for (std::size_t i = 0; i != static_cast<std::size_t>(t.element_count()); ++i)
        if (!limits.contain(t.at(i).to<std::int64_t>())) return false;
    return true;
}

/// Numbers and zero points of four bits, both int4 or uint4 (`type`).
std::optional<dtype> nibble_type(small_numbers const& s) {
    for (dtype const t : {dtype::int4, dtype::uint4})
        if (are_within(s.numbers, ir::limits_of(t)) && are_within(s.zeros, ir::limits_of(t))) return t;
    return {};
}

class weight_packer {
public:
    weight_packer(quantized_graph& g, std::size_t at) : g_(g), at_(at), n_(g.node(at)) {}

    void pack() {
        if (!ir::is(n_, ir::dequantize) || n_.inputs.size() > ir::table || n_.inputs.size() <= ir::zero_point) return;
        value_id const id = n_.inputs[ir::data];
        bool const is_constant = g_.graph().values[id].initializer >= 0;
        auto const numbers = is_constant ? g_.constant(id) : std::nullopt;
        auto const zeros = g_.constant(n_.inputs[ir::zero_point]);
        if (!numbers || !zeros || bits(numbers->type) != 8 || numbers->element_count() < 16) return;
        if (!is_integral(numbers->type)) return;
        if (!is_integral(zeros->type)) {
            if (g_.graph().opset >= first_opset_with_bits && are_within(*numbers, {0, 15}))
                store_halves({*numbers, {}});
            return;
        }
        small_numbers const both{*numbers, *zeros};
        auto const type = nibble_type(both);
        if (!type) return;
        if (g_.graph().opset >= first_opset_with_nibbles) return store_nibbles(both, *type);
        if (g_.graph().opset >= first_opset_with_bits) store_halves(both);
    }

private:
    void set_type(dtype type) { ir::set_number(n_, ir::type_attribute, static_cast<std::int64_t>(type)); }

    void store_nibbles(small_numbers const& s, dtype type) {
        g_.set_input(at_, ir::data, g_.add_constant(packed(s.numbers, type)));
        g_.set_input(at_, ir::zero_point, g_.add_constant(packed(s.zeros.to(dtype::int8), type)));
        set_type(type);
    }

    /// Bytes whose lower halves are the first half of the numbers, and whose upper halves are the second.
    void store_halves(small_numbers const& s) {
        if (s.numbers.sizes.empty() || s.numbers.sizes[0] % 2 != 0) return;
        std::size_t const count = s.numbers.bytes.size() / 2;
        std::int64_t const shift = are_within(s.numbers, {0, 15}) ? 0 : half_of_nibbles;
        std::vector<std::int64_t> sizes = s.numbers.sizes;
        sizes[0] /= 2;
        tensor bytes{dtype::uint8, sizes, std::string(count, '\0')};
        auto const number = [&](std::size_t i) {
            return static_cast<unsigned>(s.numbers.at(i).to<std::int64_t>() + shift) & 15U;
        };
        for (std::size_t i = 0; i != count; ++i)
            bytes.bytes[i] = static_cast<char>(number(i) | number(i + count) << 4U);
        tensor zeros{dtype::uint8, s.zeros.sizes, {}};
        std::size_t const zero_count = s.zeros.bytes.empty() ? 0 : static_cast<std::size_t>(s.zeros.element_count());
        for (std::size_t i = 0; i != zero_count; ++i) {
            auto const z = s.zeros.at(i).to<std::int64_t>() + shift;
            if (z < 0 || z > 255) return;
            zeros.append(z);
        }
        value_type half{dtype::uint8, shape(std::vector<dim>(sizes.begin(), sizes.end()))};
        value_type whole = g_.type(n_.inputs[ir::data]);
        whole.dtype = dtype::uint8;
        value_id const stored = g_.add_constant(std::move(bytes));
        auto const one = [&](std::int64_t n) {
            tensor t{dtype::uint8, {}, {}};
            t.append(n);
            return g_.add_constant(std::move(t));
        };
        value_id const low = g_.add(at_, n_, "BitwiseAnd", {stored, one(15)}, half);
        value_id const high = g_.add(
            at_, n_, "BitShift", {stored, one(4)}, half, {make_attribute("direction", std::string_view("RIGHT"))});
        value_id const all =
            g_.add(at_, n_, "Concat", {low, high}, std::move(whole), {make_attribute("axis", std::int64_t{0})});
        g_.set_input(at_, ir::data, all);
        if (!s.zeros.bytes.empty()) g_.set_input(at_, ir::zero_point, g_.add_constant(std::move(zeros)));
        set_type(dtype::uint8);
    }

    quantized_graph& g_;
    std::size_t at_;
    graph_node& n_;
};

} // namespace

void pack_weights(quantized_graph& g) {
    for (std::size_t i = 0; i != g.size(); ++i) weight_packer(g, i).pack();
}

} // namespace ATON_NAMESPACE::exporter
