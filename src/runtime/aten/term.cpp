// SPDX-License-Identifier: MIT
// Arithmetic with the promotion and rounding of ATen's operators.
#include "term.hpp"

#include <string>

#include "runtime/kernels/binary.hpp"
#include <aton/aten/promotion.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

dtype type_with(tensor const& x, double number) {
    aten::promotion types;
    types.add_tensor(x.dtype(), x.rank() != 0);
    types.add_number(scalar(number));
    return types.result();
}

bool compares(binary_op op) { return kernels::compares(op); }

/// Computes in the operands' common dtype, to which tensors are rounded first. An operand in the compute type is a
/// number, which is not rounded.
tensor rounded_binary(binary_op op, dtype type, tensor const& x, tensor const& y) {
    if (op == binary_op::div) type = to_real(type);
    dtype const in = compute_type(type);
    auto const operand = [&](tensor const& t) { return t.dtype() == in ? t : cast(cast(t, type), in); };
    tensor const out = binary(op, operand(x), operand(y));
    return compares(op) ? out : cast(out, type);
}

/// A number as an operand. ATen's kernels take it in the compute type, not as float64, but those of sums and differences in the dtype.
tensor number_operand(binary_op op, dtype type, double number, device where) {
    bool const is_rounded = op == binary_op::add || op == binary_op::sub;
    return to_device(tensor::of_scalar(number, is_rounded ? type : compute_type(type)), where);
}

/// at::sub does not support bools, even if they would be promoted.
void require_defined(binary_op op, tensor const& x, tensor const& y) {
    if (op == binary_op::sub && (x.dtype() == dtype::bool_ || y.dtype() == dtype::bool_))
        throw error("subtraction does not support bool");
}

bool is_of_integers(unary_op op) {
    using enum unary_op;
    return op == abs || op == neg || op == sign || op == square || op == relu || op == clamp || op == logical_not ||
           op == isnan || op == isinf || op == isfinite || op == bitwise_not;
}

} // namespace

dtype common_type(tensor const& x, tensor const& y) {
    aten::promotion types;
    types.add_tensor(x.dtype(), x.rank() != 0);
    types.add_tensor(y.dtype(), y.rank() != 0);
    return types.result();
}

term apply(binary_op op, term const& x, term const& y) {
    require_defined(op, *x, *y);
    return rounded_binary(op, common_type(x, y), x, y);
}
term apply(binary_op op, term const& x, double y) {
    require_defined(op, *x, *x);
    dtype const type = type_with(x, y);
    return rounded_binary(op, type, x, number_operand(op, type, y, x->where()));
}
term apply(binary_op op, double x, term const& y) {
    require_defined(op, *y, *y);
    dtype const type = type_with(y, x);
    return rounded_binary(op, type, number_operand(op, type, x, y->where()), y);
}

term apply(unary_op op, term const& x, unary_parameters const& p) {
    dtype const type = is_of_integers(op) ? x->dtype() : to_real(x->dtype());
    tensor const out = unary(op, cast(x, compute_type(type)), p);
    return out.dtype() == compute_type(type) ? cast(out, type) : out;
}

term total(term const& x, axis_list const& axes, bool keep) {
    return sum(cast(x, aten::to_accumulating(x->dtype())), axes, keep);
}

term average(term const& x, axis_list const& axes, bool keep) {
    if (!is_floating(x->dtype()) && !is_complex(x->dtype()))
        throw error("a mean requires a floating-point dtype, not " + std::string(name(x->dtype())));
    return mean(x, axes, keep);
}

void require_rank(tensor const& x, std::size_t rank, std::string_view what) {
    if (x.rank() != rank)
        throw error(std::string(what) + " has " + std::to_string(x.rank()) + " dimensions, not " +
                    std::to_string(rank));
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
