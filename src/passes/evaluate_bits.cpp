// SPDX-License-Identifier: MIT
// Bits of constants: numbers that are packed in integers.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "evaluate.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

std::uint64_t mask_of(dtype type) {
    unsigned const width = static_cast<unsigned>(bits(type));
    return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

/// The bits of an element, without its sign beyond the width.
std::uint64_t bits_at(tensor const& t, std::size_t i) {
    if (t.type == dtype::uint64) return detail::read_bytes<std::uint64_t>(t.bytes, i);
    return static_cast<std::uint64_t>(t.at(i).to<std::int64_t>()) & mask_of(t.type);
}

void append_bits(tensor& to, std::uint64_t b) {
    std::size_t const width = static_cast<std::size_t>(bits(to.type)) / 8;
    for (std::size_t i = 0; i != width; ++i) to.bytes.push_back(static_cast<char>(b >> (8 * i)));
}

template <class Function>
evaluated by_bits(constant_call const& call, Function const& f) {
    tensor const* const a = call.input(0);
    tensor const* const b = call.input(1);
    if (a == nullptr || b == nullptr || a->type != b->type || !is_integral(a->type) || bits(a->type) < 8) return {};
    auto const sizes = broadcast(a->sizes, b->sizes);
    if (!sizes || !call.count(*sizes, a->type)) return {};
    tensor const x = broadcast_to(*a, *sizes);
    tensor const y = broadcast_to(*b, *sizes);
    tensor out{a->type, *sizes, {}};
    auto const count = static_cast<std::size_t>(out.element_count());
    out.bytes.reserve(count * static_cast<std::size_t>(bits(a->type)) / 8);
    for (std::size_t i = 0; i != count; ++i) append_bits(out, f(bits_at(x, i), bits_at(y, i)));
    return out;
}

evaluated bitwise_and(constant_call const& call) {
    return by_bits(call, [](std::uint64_t a, std::uint64_t b) { return a & b; });
}
evaluated bitwise_or(constant_call const& call) {
    return by_bits(call, [](std::uint64_t a, std::uint64_t b) { return a | b; });
}
evaluated bitwise_xor(constant_call const& call) {
    return by_bits(call, [](std::uint64_t a, std::uint64_t b) { return a ^ b; });
}
evaluated shift(constant_call const& call) {
    node_attribute const* const direction = call.node.attribute("direction");
    tensor const* const a = call.input(0);
    if (direction == nullptr || a == nullptr || !is_unsigned_integral(a->type)) return {};
    if (direction->s == "RIGHT")
        return by_bits(call, [](std::uint64_t x, std::uint64_t n) { return n < 64 ? x >> n : 0; });
    return by_bits(call, [](std::uint64_t x, std::uint64_t n) { return n < 64 ? x << n : 0; });
}

} // namespace

evaluator find_bit_evaluator(std::string_view op) {
    if (op == "BitwiseAnd") return bitwise_and;
    if (op == "BitwiseOr") return bitwise_or;
    if (op == "BitwiseXor") return bitwise_xor;
    return op == "BitShift" ? shift : nullptr;
}

} // namespace ATON_NAMESPACE::passes
