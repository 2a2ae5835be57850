// SPDX-License-Identifier: MIT
// ONNX operators: functions of one operand, including activations.
#include "call.hpp"

#include <cfloat>
#include <cmath>
#include <limits>
#include <string>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

template <unary_op Op>
results unary_function(call const& c) {
    return unary(Op, c.in(0));
}

/// A function of floats with this attribute as its parameter.
tensor with_alpha(call const& c, unary_op op, double otherwise) {
    return unary(op, c.in(0), {c.f("alpha", otherwise), 0, 0});
}

bool is_narrow(dtype t) { return is_floating(t) && bits(t) <= 8; }

/// 8-bit floats as float32, in which they are tested.
tensor testable(tensor const& x) { return is_narrow(x.dtype()) ? cast(x, dtype::float32) : x; }

// Opset 9 also supports integers.
results erf(call const& c) {
    tensor const& x = c.in(0);
    if (!is_integral(x.dtype())) return unary(unary_op::erf, x);
    return cast(unary(unary_op::erf, cast(x, dtype::float32)), x.dtype());
}

results celu(call const& c) { return with_alpha(c, unary_op::celu, 1); }
results leaky_relu(call const& c) { return with_alpha(c, unary_op::leaky_relu, 0.01F); }
results swish(call const& c) { return with_alpha(c, unary_op::swish, 1); }

results elu(call const& c) { return unary(unary_op::elu, c.in(0), {c.f("alpha", 1), 1, 1}); }

results selu(call const& c) {
    double const alpha = c.f("alpha", c.opset() < 6 ? 1.6732F : 1.67326319217681884765625F);
    double const gamma = c.f("gamma", c.opset() < 6 ? 1.0507F : 1.05070102214813232421875F);
    return unary(unary_op::elu, c.in(0), {alpha, gamma, 1});
}

results gelu(call const& c) {
    std::string const approximate = c.s("approximate", "none");
    if (approximate != "none" && approximate != "tanh") throw error("unknown approximation '" + approximate + "'");
    return unary(approximate == "tanh" ? unary_op::gelu_tanh : unary_op::gelu, c.in(0));
}

results hard_sigmoid(call const& c) {
    return unary(unary_op::hard_sigmoid, c.in(0), {c.f("alpha", 0.2F), c.f("beta", 0.5F), 0});
}

results softplus(call const& c) {
    return unary(unary_op::softplus, c.in(0), {1, std::numeric_limits<double>::infinity(), 0});
}

// NaN is not greater than alpha and becomes 0.
results thresholded_relu(call const& c) {
    tensor const& x = c.in(0);
    return where(greater(x, scalar(c.f("alpha", 1))), x, scalar(0));
}

results shrink(call const& c) {
    tensor const& x = c.in(0);
    double bias = c.f("bias", 0);
    if (is_integral(x.dtype())) bias = std::trunc(bias); // is converted to the dtype of the input
    tensor const y = unary(unary_op::shrink, x, {bias, c.f("lambd", 0.5), 0});
    return is_floating(x.dtype()) ? where(isnan(x), scalar(0), y) : y; // NaN is beyond neither bound
}

results swiglu(call const& c) {
    tensor const& gate = c.in(0);
    tensor const& linear = c.in(1);
    if (gate.sizes() != linear.sizes())
        throw error("the inputs must have the same shape, not " + to_string(gate.sizes()) + " and " +
                    to_string(linear.sizes()));
    return unary(unary_op::swish, gate, {c.f("alpha", 1), 0, 0}) * linear;
}

results is_inf(call const& c) {
    double const negative = c.i("detect_negative", 1) != 0 ? 1 : 0;
    double const positive = c.i("detect_positive", 1) != 0 ? 1 : 0;
    return unary(unary_op::isinf, testable(c.in(0)), {negative, positive, 0});
}

results is_nan(call const& c) { return isnan(testable(c.in(0))); }

results negation(call const& c) {
    if (c.in(0).dtype() != dtype::bool_) throw error("Not requires a bool input");
    return logical_not(c.in(0));
}

/// A bound of Clip: one element.
tensor bound(call const& c, std::size_t i) {
    if (c.in(i).count() != 1) throw error("a bound must have one element, not shape " + to_string(c.in(i).sizes()));
    return reshape(c.in(i), {});
}

// Bounds are attributes before opset 11; in opset 1 they may be missing.
results clip(call const& c) {
    tensor out = c.in(0);
    if (c.opset() < 11) {
        double const none = c.opset() < 6 ? std::numeric_limits<double>::infinity() : static_cast<double>(FLT_MAX);
        return clamp(out, c.f("min", -none), c.f("max", none));
    }
    if (c.has(1)) out = maximum(out, bound(c, 1));
    if (c.has(2)) out = minimum(out, bound(c, 2));
    return out;
}

} // namespace

rows elementwise() {
    using enum unary_op;
    static constexpr row all[] = {
        {"Abs", unary_function<abs>},
        {"Acos", unary_function<acos>},
        {"Acosh", unary_function<acosh>},
        {"Asin", unary_function<asin>},
        {"Asinh", unary_function<asinh>},
        {"Atan", unary_function<atan>},
        {"Atanh", unary_function<atanh>},
        {"BitwiseNot", unary_function<bitwise_not>},
        {"Ceil", unary_function<ceil>},
        {"Celu", onnx_kernels::celu},
        {"Clip", clip},
        {"Cos", unary_function<cos>},
        {"Cosh", unary_function<cosh>},
        {"Elu", onnx_kernels::elu},
        {"Erf", onnx_kernels::erf},
        {"Exp", unary_function<exp>},
        {"Floor", unary_function<floor>},
        {"Gelu", onnx_kernels::gelu},
        {"HardSigmoid", onnx_kernels::hard_sigmoid},
        {"HardSwish", unary_function<hard_swish>},
        {"IsInf", is_inf},
        {"IsNaN", is_nan},
        {"LeakyRelu", onnx_kernels::leaky_relu},
        {"Log", unary_function<log>},
        {"Mish", unary_function<mish>},
        {"Neg", unary_function<neg>},
        {"Not", negation},
        {"Reciprocal", unary_function<reciprocal>},
        {"Relu", unary_function<relu>},
        {"Round", unary_function<round>},
        {"Selu", selu},
        {"Shrink", onnx_kernels::shrink},
        {"Sigmoid", unary_function<sigmoid>},
        {"Sign", unary_function<sign>},
        {"Sin", unary_function<sin>},
        {"Sinh", unary_function<sinh>},
        {"Softplus", onnx_kernels::softplus},
        {"Softsign", unary_function<softsign>},
        {"Sqrt", unary_function<sqrt>},
        {"SwiGLU", swiglu},
        {"Swish", onnx_kernels::swish},
        {"Tan", unary_function<tan>},
        {"Tanh", unary_function<tanh>},
        {"ThresholdedRelu", thresholded_relu},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
