// SPDX-License-Identifier: MIT
// ONNX operators: functions of several operands that broadcast: arithmetic, comparisons, logic and selection.
#include "call.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// The second operand. Before opset 7 it broadcasts only if the attribute 'broadcast' is set, along dimensions that
/// start at 'axis'.
tensor second(call const& c) {
    tensor const& x = c.in(0);
    tensor const& y = c.in(1);
    if (c.opset() >= 7 || x.sizes() == y.sizes()) return y;
    if (c.i("broadcast", 0) == 0)
        throw error("inputs of shapes " + to_string(x.sizes()) + " and " + to_string(y.sizes()) +
                    " do not broadcast without the attribute 'broadcast'");
    sizes to = y.sizes();
    if (y.count() == 1 && y.rank() > x.rank()) to.clear();
    if (c.has_attribute("axis") && y.count() != 1) {
        std::size_t const end = axis_at(c.i("axis"), x.rank()) + y.rank();
        if (end > x.rank()) throw error("the second input has more dimensions than the first has from 'axis' on");
        to.resize(to.size() + x.rank() - end, 1);
    }
    tensor const fitting = reshape(y, to);
    (void)fitting.expanded(x.sizes()); // throws if it does not fit
    return fitting;
}

template <binary_op Op>
results binary_function(call const& c) {
    return binary(Op, c.in(0), second(c));
}

/// A function of bools.
template <binary_op Op>
results logic(call const& c) {
    if (c.in(0).dtype() != dtype::bool_) throw error(std::string(c.op()) + " requires bool inputs");
    return binary(Op, c.in(0), second(c));
}

/// Integer powers modulo 2^bits.
tensor power(tensor const& x, tensor const& y) {
    dtype const t = x.dtype();
    if (t == y.dtype()) return binary(binary_op::pow, x, y);
    dtype wide = dtype::float64;
    if (is_integral(t) && is_integral(y.dtype())) wide = dtype::int64;
    else if (t == dtype::float16 || t == dtype::bfloat16) wide = dtype::float32;
    return cast(binary(binary_op::pow, cast(x, wide), cast(y, wide)), t);
}

/// ONNX does not define integer 0 to a negative power. The result here is x86's conversion of infinity, as in ONNX
/// Runtime, so that checks of mappings find those that rely on another value.
results pow(call const& c) {
    tensor const& x = c.in(0);
    tensor const y = second(c);
    bool const is_int32 = x.dtype() == dtype::int32;
    if ((!is_int32 && x.dtype() != dtype::int64) || !is_signed_integral(y.dtype())) return power(x, y);
    scalar const lowest(is_int32 ? std::numeric_limits<std::int32_t>::min() : std::numeric_limits<std::int64_t>::min());
    return where(binary(binary_op::logical_and, equal(x, 0), less(y, 0)), lowest, power(x, y));
}

results mod(call const& c) {
    tensor const& x = c.in(0);
    tensor const& y = c.in(1);
    if (c.i("fmod", 0) != 0) return binary(binary_op::fmod, x, y);
    tensor const rest = binary(binary_op::remainder, x, y);
    if (!is_floating(rest.dtype())) return rest;
    tensor const zero = full(0.0, rest.dtype(), {}, rest.where());
    return where(equal(rest, zero), where(less(y, zero), -zero, zero), rest); // 0 has the sign of the divisor
}

results bit_shift(call const& c) {
    std::string const direction = c.s("direction");
    if (direction != "LEFT" && direction != "RIGHT") throw error("unknown direction '" + direction + "'");
    return binary(direction == "LEFT" ? binary_op::shift_left : binary_op::shift_right, c.in(0), c.in(1));
}

// The slope broadcasts; before opset 7 it has one element, or one per channel.
results prelu(call const& c) {
    tensor const& x = c.in(0);
    tensor slope = c.in(1);
    if (c.opset() < 7 && slope.count() == 1) slope = reshape(slope, {});
    else if (c.opset() < 7 && slope.rank() == 1 && x.rank() > 1) {
        sizes to(x.rank() - 1, 1);
        to[0] = slope.count();
        slope = reshape(slope, to);
    }
    return binary(binary_op::prelu, x, slope.expanded(x.sizes()));
}

/// Folds all inputs from the left.
template <binary_op Op>
tensor folded(call const& c) {
    tensor out = c.in(0);
    for (std::size_t i = 1; i < c.inputs(); ++i) out = binary(Op, out, c.in(i));
    return out;
}

template <binary_op Op>
results fold(call const& c) {
    return folded<Op>(c);
}

results mean_of_inputs(call const& c) {
    dtype const t = c.in(0).dtype();
    bool const half = t == dtype::float16 || t == dtype::bfloat16;
    tensor total = half ? cast(c.in(0), dtype::float32) : c.in(0);
    for (std::size_t i = 1; i < c.inputs(); ++i) total = total + (half ? cast(c.in(i), dtype::float32) : c.in(i));
    tensor const out = total / scalar(static_cast<long long>(c.inputs()));
    return half ? cast(out, t) : out;
}

/// Expanded strings in row-major order.
tensor texts(tensor const& x, sizes const& to) { return x.expanded(to).contiguous(); }

// Strings are compared on the host.
results equality(call const& c) {
    tensor const& x = c.in(0);
    tensor const y = second(c);
    if (!x.is_strings() || !y.is_strings()) return equal(x, y);
    sizes const to = broadcast(x.sizes(), y.sizes());
    tensor const left = texts(x, to);
    tensor const right = texts(y, to);
    tensor const out = tensor::empty(dtype::bool_, to);
    for (std::size_t i = 0; i != left.strings().size(); ++i)
        out.data<bool>()[i] = left.strings()[i] == right.strings()[i];
    return to_device(out, c.where());
}

results choice(call const& c) { return where(c.in(0), c.in(1), c.in(2)); }

} // namespace

rows arithmetic() {
    using enum binary_op;
    static constexpr row all[] = {
        {"Add", binary_function<add>},
        {"And", logic<logical_and>},
        {"BitShift", bit_shift},
        {"BitwiseAnd", binary_function<bitwise_and>},
        {"BitwiseOr", binary_function<bitwise_or>},
        {"BitwiseXor", binary_function<bitwise_xor>},
        {"Div", binary_function<div>},
        {"Equal", equality},
        {"Greater", binary_function<gt>},
        {"GreaterOrEqual", binary_function<ge>},
        {"Less", binary_function<lt>},
        {"LessOrEqual", binary_function<le>},
        {"Max", fold<maximum>},
        {"Mean", mean_of_inputs},
        {"Min", fold<minimum>},
        {"Mod", mod},
        {"Mul", binary_function<mul>},
        {"Or", logic<logical_or>},
        {"PRelu", onnx_kernels::prelu},
        {"Pow", onnx_kernels::pow},
        {"Sub", binary_function<sub>},
        {"Sum", fold<add>},
        {"Where", choice},
        {"Xor", logic<logical_xor>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
