// SPDX-License-Identifier: MIT
// Numbers of ATen that the program may compute: constants, or 0-d values of the graph.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/scalar.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

/// ATen's `Scalar`, `float`, `int` or `bool`: a constant, or a 0-d value that the graph computes, such as `x.shape[0] * 0.5` or
/// `t.item()`. Usable as an operand of `g.op`, where it is converted to the dtype of the other operands. Arithmetic follows Python:
/// `/` is a true division, and the result of `%` has the sign of the divisor.
/// ```cpp
/// inline constexpr auto affine = symbolic<"aten::threshold(self, threshold, value)">(
///     [](graph<13> g, value x, number threshold, number replacement) -> value {
///         return g.op<"Where">(g.op<"Greater">(x, threshold), x, g.scalar_like(replacement, x));
///     });
/// ```
class number {
public:
    number() = default;
    // NOLINTBEGIN(google-explicit-constructor): a number of C++, a scalar, a size or a 0-d value is a number.
    /// From a number of C++, whose type decides the kind.
    template <class T>
        requires std::is_arithmetic_v<T>
    number(T n) : constant_(n) {}
    /// From a constant whose type is known at run time.
    number(scalar n) : constant_(n) {}
    /// From a size, which may be computed.
    number(sym_int const& n) : number(n.is_constant() ? number(n.constant()) : number(n.as_value())) {}
    /// From a 0-d value of any dtype. A constant value becomes its number; refuses one of several elements.
    number(value v) {
        if (v.is_constant()) constant_ = v.constant<scalar>();
        else value_ = v;
    }
    // NOLINTEND(google-explicit-constructor)

    /// Whether the number is known at export.
    [[nodiscard]] bool is_constant() const { return value_.id() == no_value; }
    /// The number; refuses the conversion if the graph computes it, and says where.
    [[nodiscard]] scalar const& constant() const {
        if (!is_constant()) detail::refuse_computed(label(), value_);
        return constant_;
    }
    /// The number as a `T`; refuses the conversion if the graph computes it.
    template <class T>
    [[nodiscard]] T constant() const {
        return constant().template to<T>();
    }
    /// The 0-d value of a number that is not constant.
    [[nodiscard]] dsl::value const& as_value() const { return value_; }
    /// The number as a size; refuses the conversion of a floating-point number.
    [[nodiscard]] sym_int to_size() const {
        if (is_floating()) throw unsupported_error(label() + " is a floating-point number, but a size is an integer");
        return is_constant() ? sym_int(constant_.to<std::int64_t>()) : sym_int(value_);
    }

    /// The dtype of the number in Python: bool, int64, float64 or complex128. A computed number has the dtype of its value.
    [[nodiscard]] aton::dtype dtype() const { return is_constant() ? dtype_of(constant_) : value_.dtype(); }
    /// Whether it is a real floating-point number.
    [[nodiscard]] bool is_floating() const { return aton::is_floating(dtype()); }
    /// Whether it is an integer; a bool is not.
    [[nodiscard]] bool is_integral() const { return aton::is_integral(dtype()); }
    /// Whether it is a bool.
    [[nodiscard]] bool is_bool() const { return dtype() == dtype::bool_; }
    /// Whether it is a complex number.
    [[nodiscard]] bool is_complex() const { return aton::is_complex(dtype()); }

    /// Names the argument that the number is, for messages. `name` must outlive the number.
    void set_name(std::string_view name) { name_ = name; }

private:
    [[nodiscard]] std::string label() const {
        return name_.empty() ? std::string("a number") : "argument '" + std::string(name_) + "'";
    }

    scalar constant_;
    dsl::value value_;
    std::string_view name_;
};

} // namespace ATON_NAMESPACE::dsl
