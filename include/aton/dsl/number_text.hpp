// SPDX-License-Identifier: MIT
// Numbers in messages, and refusals of numbers that do not fit a dtype or an attribute.
// Internal header.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/scalar.hpp>
#include <aton/core/tensor.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// A number in its shortest form, for messages: 300, 1e+300, True, (1+2j).
template <class Scalar = scalar>
std::string to_text(Scalar const& s) {
    if (s.is_bool()) return s.template to<bool>() ? "True" : "False";
    if (s.is_integral()) return std::to_string(s.template to<std::int64_t>());
    std::string out;
    auto const real = [&out](double d) {
        char text[32];
        out.append(text, std::to_chars(text, text + sizeof(text), d).ptr);
    };
    if (s.is_complex()) out += '(';
    real(s.template to<double>());
    if (!s.is_complex()) return out;
    if (!(s.imaginary() < 0)) out += '+';
    real(s.imaginary());
    return out += "j)";
}

/// Refuses a constant: "the number 300 does not fit int8".
template <class Scalar = scalar>
[[noreturn]] void refuse_constant(Scalar const& s, dtype type) {
    if (type == dtype::undefined) throw unsupported_error("the dtype of the constant " + to_text(s) + " is not known");
    if (!tensor::can_hold(type)) throw unsupported_error("a constant of " + std::string(name(type)));
    throw unsupported_error("the number " + to_text(s) + " does not fit " + std::string(name(type)));
}

/// Refuses an attribute: "attribute alpha: 1e+300 does not fit float32".
template <class Number>
[[noreturn]] void refuse_attribute(std::string_view attribute, Number const& number, std::string_view type) {
    throw unsupported_error("attribute " + std::string(attribute) + ": " + number + " does not fit " +
                            std::string(type));
}

} // namespace ATON_NAMESPACE::dsl::detail
