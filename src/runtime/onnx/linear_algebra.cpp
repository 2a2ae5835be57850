// SPDX-License-Identifier: MIT
// ONNX operators: linear algebra.
#include <string>

#include "runtime/compute/contraction.hpp"
#include "runtime/compute/normalization.hpp"
#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

results matmul(call const& c) { return runtime::matmul(c.in(0), c.in(1)); }

/// A product with a float; integers are truncated.
tensor scaled(tensor const& x, double by) {
    if (by == 1) return x;
    if (is_floating(x.dtype())) return x * scalar(by);
    return cast(cast(x, dtype::float64) * scalar(by), x.dtype());
}

results gemm(call const& c) {
    auto const operand = [&](std::size_t i, char const* transposes) {
        if (c.in(i).rank() != 2) throw error("matrices are expected, not " + to_string(c.in(i).sizes()));
        return c.i(transposes, 0) != 0 ? transpose(c.in(i), 0, 1) : c.in(i);
    };
    tensor const a = operand(0, "transA");
    tensor const b = operand(1, "transB");
    if (a.size(1) != b.size(0))
        throw error("matrices of shapes " + to_string(a.sizes()) + " and " + to_string(b.sizes()) +
                    " cannot be multiplied");
    bool const narrow = a.dtype() == dtype::float16 || a.dtype() == dtype::bfloat16; // rounded once
    auto const wide = [&](tensor const& t) { return narrow ? cast(t, dtype::float32) : t; };
    tensor const y = scaled(runtime::matmul(wide(a), wide(b)), c.f("alpha", 1));
    double const beta = c.f("beta", 1);
    if (!c.has(2) || beta == 0) return cast(y, a.dtype());
    tensor const sum = y + scaled(wide(c.in(2)), beta);
    if (sum.sizes() != y.sizes())
        throw error("shape " + to_string(c.in(2).sizes()) + " does not broadcast to " + to_string(y.sizes()));
    return cast(sum, a.dtype());
}

results det(call const& c) { return cast(determinant(widened(c.in(0))), c.in(0).dtype()); }

results einsum(call const& c) {
    std::vector<tensor> const operands = c.tensors();
    return runtime::einsum(c.s("equation"), operands);
}

} // namespace

rows linear_algebra() {
    static constexpr row all[] = {
        {"Det", det},
        {"Einsum", einsum},
        {"Gemm", gemm},
        {"MatMul", matmul},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
