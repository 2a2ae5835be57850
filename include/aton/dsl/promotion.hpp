// SPDX-License-Identifier: MIT
// ATen's type promotion for values: tensors with dimensions take precedence over 0-d tensors, and these over Python numbers.
// Public header.
#pragma once

#include <span>

#include <aton/aten/promotion.hpp>
#include <aton/core/scalar.hpp>
#include <aton/dsl/number.hpp>
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
inline void add_operand(aten::promotion& p, number const& n) { p.add_number(n.dtype()); }
inline void add_operand(aten::promotion& p, optional_value const& v) {
    if (v) add_operand(p, *v);
}
inline void add_operand(aten::promotion& p, std::span<value const> list) {
    for (value const& v : list) add_operand(p, v);
}

} // namespace detail

/// The dtype in which ATen computes with these tensors, optional tensors, lists of tensors and numbers. Examples: a 1-d int64 and a 0-d
/// float32 give float32; a 1-d float16 and a 0-d float32 give float16; an int64 tensor and the number 0.5 give float32. Refuses the
/// conversion if a rank is unknown.
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
