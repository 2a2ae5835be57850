// SPDX-License-Identifier: MIT
// ATen's type promotion: the dtype in which an operator computes (c10::promoteTypes, at::native::result_type).
// Internal header.
#pragma once

#include <aton/core/dtype.hpp>
#include <aton/core/scalar.hpp>

namespace ATON_NAMESPACE::aten {

/// torch.get_default_dtype(), which exported programs assume.
inline constexpr dtype default_dtype = dtype::float32;

/// Whether a conversion to this float8 type maps numbers out of its range to infinity or NaN. To float8_e4m3fn it saturates.
constexpr bool overflows(dtype to) { return is_float8(to) && to != dtype::float8_e4m3fn; }

/// The smallest dtype that both convert to (c10::promoteTypes). `undefined` is neutral.
constexpr dtype promote_types(dtype a, dtype b) {
    if (a == b || b == dtype::undefined) return a;
    if (a == dtype::undefined) return b;
    auto const rank = [](dtype t) { // of floating types; float16 and bfloat16 meet in float32
        return t == dtype::float64 ? 3 : t == dtype::float32 ? 2 : t == dtype::float16 || t == dtype::bfloat16 ? 1 : 0;
    };
    if (is_complex(a) || is_complex(b)) {
        auto const width = [](dtype t) { return is_complex(t) || is_floating(t) ? bits(part_type(to_complex(t))) : 0; };
        std::size_t const parts = width(a) > width(b) ? width(a) : width(b);
        return parts == 64 ? dtype::complex128 : parts == 32 ? dtype::complex64 : dtype::complex32;
    }
    if (is_floating(a) || is_floating(b)) {
        if (rank(a) == rank(b)) return dtype::float32;
        return rank(a) > rank(b) ? a : b;
    }
    if (a == dtype::bool_) return b;
    if (b == dtype::bool_) return a;
    bool const a_signed = is_signed_integral(a);
    if (a_signed == is_signed_integral(b)) return bits(a) > bits(b) ? a : b;
    dtype const with_sign = a_signed ? a : b;
    dtype const without = a_signed ? b : a;
    if (bits(with_sign) > bits(without)) return with_sign;
    return bits(without) == 8 ? dtype::int16 : bits(without) == 16 ? dtype::int32 : dtype::int64;
}

/// The dtype that a number has in promotion and as a tensor: its own, but complex64 or the default dtype in place of wider ones.
constexpr dtype number_dtype(dtype t) { return is_complex(t) ? dtype::complex64 : is_floating(t) ? default_dtype : t; }
constexpr dtype number_dtype(scalar const& number) { return number_dtype(dtype_of(number)); }

/// Collects operands like at::native::update_result_type_state: within a category (bool < integer < floating < complex), tensors with
/// dimensions take precedence over 0-d tensors, and these over Python numbers.
class promotion {
public:
    constexpr void add_tensor(dtype t, bool has_dimensions) {
        dtype& target = has_dimensions ? dimensioned_ : zero_dim_;
        target = promote_types(target, t);
    }
    constexpr void add_number(dtype t) { numbers_ = promote_types(numbers_, number_dtype(t)); }
    constexpr void add_number(scalar const& s) { add_number(dtype_of(s)); }
    [[nodiscard]] constexpr dtype result() const { return combine(dimensioned_, combine(zero_dim_, numbers_)); }

private:
    static constexpr dtype combine(dtype higher, dtype lower) {
        if (is_complex(higher)) return higher;
        if (is_floating(higher)) {
            return is_complex(lower) ? to_complex(higher) : higher;
        }
        if (higher == dtype::bool_ || is_floating(lower) || is_complex(lower)) return promote_types(higher, lower);
        return higher != dtype::undefined ? higher : lower;
    }

    dtype dimensioned_ = dtype::undefined;
    dtype zero_dim_ = dtype::undefined;
    dtype numbers_ = dtype::undefined;
};

/// The dtype in which operators such as sqrt and div compute; for integers and bools the default dtype.
constexpr dtype to_floating(dtype t) { return is_floating(t) || is_complex(t) ? t : default_dtype; }

/// The dtype in which sum, prod and cumsum accumulate; for integers and bools int64.
constexpr dtype to_accumulating(dtype t) { return is_integral(t) || t == dtype::bool_ ? dtype::int64 : t; }

} // namespace ATON_NAMESPACE::aten
