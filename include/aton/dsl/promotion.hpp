// SPDX-License-Identifier: MIT
// Type promotion on values, as ATen promotes: tensors with dimensions before 0-d tensors before Python numbers.
// Public header.
#pragma once

#include <span>

#include <aton/aten/promotion.hpp>
#include <aton/core/scalar.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

inline void add_operand(aten::promotion& p, value const& v) {
    if (v.is_wrapped_number()) {
        p.add_number(v.dtype());
    } else {
        p.add_tensor(v.dtype(), v.rank() != 0);
    }
}
inline void add_operand(aten::promotion& p, scalar const& s) { p.add_number(s); }
inline void add_operand(aten::promotion& p, optional_value const& v) {
    if (v) add_operand(p, *v);
}
inline void add_operand(aten::promotion& p, std::span<value const> list) {
    for (value const& v : list) add_operand(p, v);
}

} // namespace detail

/// The dtype that ATen computes in for these tensors, optional tensors, lists of tensors and numbers: int64 with dimensions and a
/// float32 of none is float32, float16 with dimensions and a float32 of none float16, int64 and the number 0.5 float32. Refuses the
/// conversion where a rank is not known.
/// ```cpp body
/// dtype const type = promote(x, y);
/// value const sum = g.op<"Add">(g.cast(x, type), g.cast(y, type));
/// ```
template <class... Operands>
dtype promote(Operands const&... operands) {
    aten::promotion p;
    (detail::add_operand(p, operands), ...);
    return p.result();
}

} // namespace ATON_NAMESPACE::dsl
