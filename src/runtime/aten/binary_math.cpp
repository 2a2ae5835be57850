// SPDX-License-Identifier: MIT
// ATen operators: mathematical functions of two numbers.
#include <cstdint>
#include <limits>

#include <aton/core/error.hpp>

#include "elementwise.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// x * log(y), or x * log(1 + y): 0 if x is 0, unless y is NaN.
template <unary_op Log>
results times_log(call const& c) {
    operand_pair const p = promoted_to_real(c);
    tensor const product = where(equal(p.x, 0), scalar(0), p.x * unary(Log, p.y));
    return p.finish(where(isnan(p.y), scalar(no_number), product));
}

/// log(b^x + b^y) for b = e or 2, without overflow.
template <unary_op Exp, unary_op Log>
results add_in_logs(call const& c) {
    operand_pair const p = promoted_to_real(c);
    if (is_complex(p.type)) { // relative to the larger real part
        tensor const first = greater_equal(real_part(p.x), real_part(p.y));
        tensor const highest = where(first, p.x, p.y);
        tensor const other = where(first, p.y, p.x) - highest;
        return p.finish(highest + unary(Log, unary(Exp, other) + scalar(1)));
    }
    tensor const highest = maximum(p.x, p.y);
    tensor const apart = unary(Exp, -abs(p.x - p.y));
    tensor const extra =
        unary(unary_op::log1p, apart) * scalar(Exp == unary_op::exp ? 1.0 : 1.44269504088896340736); // 1 / log(2)
    return p.finish(where(logical_and(equal(p.x, p.y), unary(unary_op::isinf, p.x, {1, 1, 0})), p.x, highest + extra));
}

/// nextafter of 16-bit floats by their codes: 0 steps to the smallest number of the sign, others by one code.
tensor next_half(tensor const& x, tensor const& towards) {
    sizes const to = broadcast(x.sizes(), towards.sizes());
    tensor const from = contiguous(x.expanded(to));
    tensor const code = from.reinterpreted(dtype::int16);
    tensor const grows = less(from, towards);
    tensor const away = equal(grows, greater(from, 0)); // from 0
    tensor const moved = where(away, code + scalar(1), code - scalar(1));
    tensor const from_zero = where(grows, scalar(1), full_like(code, INT16_MIN + 1));
    tensor const next = where(equal(from, 0), from_zero, moved).reinterpreted(x.dtype());
    tensor const stays = where(equal(from, towards), towards.expanded(to), next);
    return where(isnan(from), from, where(isnan(towards), towards.expanded(to), stays));
}

results next_number(call const& c) {
    dtype const type = result_type(c, {"self", "other"});
    tensor const x = operand(c, "self", type);
    tensor const y = operand(c, "other", type);
    return compute_type(type) == type ? binary(binary_op::nextafter, x, y) : next_half(x, y);
}

} // namespace

rows binary_math() {
    using enum binary_op;
    static constexpr row all[] = {
        {"arctan2", common_real<atan2>},
        {"atan2", common_real<atan2>},
        {"copysign.Scalar", common_real<copysign>},
        {"copysign.Tensor", common_real<copysign>},
        {"gcd", common_type<gcd>},
        {"hypot", common_type<hypot>},
        {"lcm", common_type<lcm>},
        {"logaddexp", add_in_logs<unary_op::exp, unary_op::log>},
        {"logaddexp2", add_in_logs<unary_op::exp2, unary_op::log2>},
        {"nextafter", next_number},
        {"special_xlog1py", times_log<unary_op::log1p>},
        {"special_xlog1py.other_scalar", times_log<unary_op::log1p>},
        {"special_xlog1py.self_scalar", times_log<unary_op::log1p>},
        {"special_xlogy", times_log<unary_op::log>},
        {"special_xlogy.other_scalar", times_log<unary_op::log>},
        {"special_xlogy.self_scalar", times_log<unary_op::log>},
        {"xlogy.Scalar_Other", times_log<unary_op::log>},
        {"xlogy.Scalar_Self", times_log<unary_op::log>},
        {"xlogy.Tensor", times_log<unary_op::log>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
