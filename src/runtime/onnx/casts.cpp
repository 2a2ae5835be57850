// SPDX-License-Identifier: MIT
// ONNX operators: Cast, CastLike and BitCast.
#include "call.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/runtime/numbers.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

// Casts to and from strings, which are on the host only.

/// The shortest string that parses to the same number; with an exponent if it would be long otherwise.
template <class Real>
std::string text_of(Real x) {
    if (std::isnan(x)) return "NaN";
    if (std::isinf(x)) return x < 0 ? "-INF" : "INF";
    Real const size = std::abs(x);
    bool const plain = size == 0 || (size >= Real(1e-4) && size < Real(1e16));
    std::array<char, 64> out{};
    auto const end = std::to_chars(
        out.data(), out.data() + out.size(), x, plain ? std::chars_format::fixed : std::chars_format::scientific);
    return {out.data(), end.ptr};
}

/// Like text_of, for types with fewer digits than float.
template <class Narrow>
std::string text_of_narrow(Narrow x) {
    auto const wide = static_cast<float>(x);
    float near = wide;
    std::array<char, 32> digits{};
    for (int precision = 0; precision != 9 && std::isfinite(wide); ++precision) {
        auto const end =
            std::to_chars(digits.data(), digits.data() + digits.size(), wide, std::chars_format::scientific, precision);
        std::from_chars(digits.data(), end.ptr, near);
        if (static_cast<float>(Narrow(near)) == wide) break;
    }
    return text_of(near);
}

template <class T>
inline constexpr bool is_narrow_integer = false;
template <dtype Type>
inline constexpr bool is_narrow_integer<narrow_integer<Type>> = true;

tensor to_strings(tensor const& x) {
    tensor const from = to_host(x).contiguous();
    std::vector<std::string> out(static_cast<std::size_t>(from.count()));
    visit(from.dtype(), [&]<class T>(type_tag<T> /*of*/) {
        if constexpr (std::is_void_v<T> || std::is_same_v<T, complex<float>> || std::is_same_v<T, complex<double>>)
            throw error(std::string(name(from.dtype())) + " cannot be cast to strings");
        else
            for (std::size_t i = 0; i != out.size(); ++i) {
                T const v = from.data<T const>()[i];
                if constexpr (std::is_integral_v<T>) out[i] = std::to_string(v);
                else if constexpr (std::is_floating_point_v<T>) out[i] = text_of(v);
                else if constexpr (is_narrow_integer<T>) out[i] = std::to_string(static_cast<std::int64_t>(v));
                else out[i] = text_of_narrow(v);
            }
    });
    return tensor::of_strings(std::move(out), from.sizes());
}

[[noreturn]] void refuse_text(std::string_view text) {
    throw error("'" + std::string(text.substr(0, 40)) + "' is not a number");
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view spaces = " \t\r\n\f\v";
    std::size_t const first = text.find_first_not_of(spaces);
    if (first == std::string_view::npos) return {};
    text = text.substr(first, text.find_last_not_of(spaces) - first + 1);
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    return text;
}

/// Accepts "INF" and "NaN" in any case.
double real_of(std::string_view text) {
    std::string_view const digits = trimmed(text);
    double out = 0;
    auto const [end, result] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (digits.empty() || end != digits.data() + digits.size()) refuse_text(text);
    if (result == std::errc::result_out_of_range) {
        bool const tiny = digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
        double const size = tiny ? 0 : HUGE_VAL;
        return digits[0] == '-' ? -size : size;
    }
    if (result != std::errc()) refuse_text(text);
    return out;
}

/// Rounds towards zero if the string is a real number.
template <class Integer>
Integer integer_of(std::string_view text) {
    std::string_view const digits = trimmed(text);
    Integer out = 0;
    auto const [end, result] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    if (result == std::errc() && end == digits.data() + digits.size()) return out;
    return scalar(real_of(text)).to_saturated<Integer>();
}

bool truth_of(std::string_view text) {
    std::string lower(trimmed(text));
    for (char& letter : lower) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    if (lower == "true" || lower == "false") return lower == "true";
    return real_of(text) != 0;
}

template <class T>
tensor parsed(tensor const& x, dtype type, T (*parse)(std::string_view)) {
    tensor const from = x.contiguous();
    tensor out = tensor::empty(type, from.sizes());
    T* to = out.data<T>();
    for (std::string const& text : from.strings()) *to++ = parse(text);
    return out;
}

tensor from_strings(tensor const& x, dtype to) {
    if (to == dtype::bool_) return parsed<bool>(x, to, truth_of);
    if (to == dtype::uint64) return parsed<std::uint64_t>(x, to, integer_of<std::uint64_t>);
    if (is_integral(to)) return parsed<std::int64_t>(x, dtype::int64, integer_of<std::int64_t>);
    return parsed<double>(x, dtype::float64, real_of);
}

/// float8_e8m0: the exponent of float32 after rounding its fraction. Signs are dropped.
tensor to_powers(tensor const& x, bool saturate, std::string const& mode) {
    constexpr int min_bits = 0x400000; // 2^-127, which is subnormal in float32
    constexpr int max_bits = 0x7f000000;
    constexpr int infinity = 0x7f800000;
    tensor const all = cast(x, dtype::float32).reinterpreted(dtype::int32);
    tensor const bits = binary(binary_op::bitwise_and, all, scalar(0x7fffffff));
    tensor rounded = bits;
    tensor lowest = less_equal(bits, scalar(min_bits));
    if (mode == "up") {
        rounded = bits + scalar(0x7fffff);
    } else if (mode == "nearest") {
        rounded = bits + scalar(0x400000);
        lowest = less(bits, scalar(min_bits + min_bits / 2));
    } else if (mode != "down") throw error("unknown round_mode '" + mode + "'");
    tensor codes = binary(binary_op::shift_right, rounded, scalar(23));
    codes = where(lowest, scalar(0), codes);
    if (saturate) {
        codes = minimum(codes, scalar(254));
    } else {
        tensor const outside = logical_or(less(bits, scalar(min_bits)), greater(bits, scalar(max_bits)));
        codes = where(outside, scalar(255), codes);
    }
    codes = where(greater(bits, scalar(infinity)), scalar(255), codes);
    return cast(codes, dtype::uint8).reinterpreted(dtype::float8_e8m0);
}

results convert(call const& c, dtype to) {
    tensor x = c.in(0);
    bool const saturate = c.i("saturate", 1) != 0;
    if (x.is_strings() && to == dtype::string) return x;
    if (to == dtype::string) return to_strings(x);
    if (x.is_strings()) x = to_device(from_strings(x, to), c.where());
    if (to == dtype::float8_e8m0 && x.dtype() != to) return to_powers(x, saturate, c.s("round_mode", "up"));
    return runtime::cast(x, to, saturate);
}

/// The dtype of a name such as "FLOAT", as in opset 1.
dtype named(std::string wanted) {
    for (char& letter : wanted) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    for (std::size_t i = 1; i != onnx_dtype_count; ++i)
        if (onnx_name(static_cast<dtype>(i)) == wanted) return static_cast<dtype>(i);
    throw error("unknown data type '" + wanted + "'");
}

results cast_to(call const& c) {
    node_attribute const* const to = c.attribute("to");
    if (to != nullptr && to->type == onnx::attr_type::s) return convert(c, named(to->s));
    if (to == nullptr) throw error("attribute 'to' is missing");
    return convert(c, c.type("to", dtype::undefined));
}

results cast_like(call const& c) { return convert(c, c.in(1).dtype()); }

/// Codes below 8 bits, which take a byte each: signed ones are sign-extended, others zero-extended.
tensor filled(tensor const& x, dtype as) {
    auto const beyond = static_cast<int>(8 - bits(as));
    bool const is_signed = is_signed_integral(as);
    tensor const high = binary(binary_op::shift_left, x.reinterpreted(dtype::uint8), scalar(beyond));
    tensor const codes = high.reinterpreted(is_signed ? dtype::int8 : dtype::uint8);
    return binary(binary_op::shift_right, codes, scalar(beyond)).reinterpreted(as);
}

results same_bits(call const& c) {
    tensor const& x = c.in(0);
    dtype const to = c.type("to", dtype::undefined);
    if (bits(to) != bits(x.dtype()) || x.is_strings())
        throw error(std::string(name(x.dtype())) + " does not have the same number of bits as " +
                    std::string(name(to)));
    if (bits(to) < 8) return filled(x, to);
    if (to == dtype::bool_) return cast(x.reinterpreted(dtype::uint8), to); // any nonzero byte is true
    return x.reinterpreted(to);
}

} // namespace

rows casts() {
    static constexpr row all[] = {
        {"BitCast", same_bits},
        {"Cast", cast_to},
        {"CastLike", cast_like},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
