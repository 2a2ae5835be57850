// SPDX-License-Identifier: MIT
// Element types, numbered as in ONNX's TensorProto.DataType (onnx/onnx.proto), and sets of tensor types. complex32 is PyTorch's alone.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// The element type of a tensor. The numbers are ONNX's; the names are PyTorch's. ONNX has no complex32, so no model contains it.
enum class dtype : std::uint8_t {
    undefined = 0,
    float32 = 1,
    uint8 = 2,
    int8 = 3,
    uint16 = 4,
    int16 = 5,
    int32 = 6,
    int64 = 7,
    string = 8,
    bool_ = 9,
    float16 = 10,
    float64 = 11,
    uint32 = 12,
    uint64 = 13,
    complex64 = 14,
    complex128 = 15,
    bfloat16 = 16,
    float8_e4m3fn = 17,
    float8_e4m3fnuz = 18,
    float8_e5m2 = 19,
    float8_e5m2fnuz = 20,
    uint4 = 21,
    int4 = 22,
    float4_e2m1 = 23,
    float8_e8m0 = 24,
    uint2 = 25,
    int2 = 26,
    float6_e2m3 = 27,
    float6_e3m2 = 28,
    complex32 = 29,
};

/// The number of dtypes, `undefined` included.
inline constexpr std::size_t dtype_count = 30;
/// The number of those that ONNX has, which come first.
inline constexpr std::size_t onnx_dtype_count = 29;

namespace detail {

struct dtype_facts {
    std::string_view torch;   // torch.float32
    std::string_view onnx;    // tensor(float)
    std::string_view printed; // Float(2, 3)
    std::uint8_t bits;        // per element; 0: no fixed size
};

inline constexpr dtype_facts dtype_table[dtype_count] = {
    {"undefined", "undefined", "Tensor", 0},
    {"float32", "float", "Float", 32},
    {"uint8", "uint8", "Byte", 8},
    {"int8", "int8", "Char", 8},
    {"uint16", "uint16", "UInt16", 16},
    {"int16", "int16", "Short", 16},
    {"int32", "int32", "Int", 32},
    {"int64", "int64", "Long", 64},
    {"string", "string", "String", 0},
    {"bool", "bool", "Bool", 8},
    {"float16", "float16", "Half", 16},
    {"float64", "double", "Double", 64},
    {"uint32", "uint32", "UInt32", 32},
    {"uint64", "uint64", "UInt64", 64},
    {"complex64", "complex64", "ComplexFloat", 64},
    {"complex128", "complex128", "ComplexDouble", 128},
    {"bfloat16", "bfloat16", "BFloat16", 16},
    {"float8_e4m3fn", "float8e4m3fn", "Float8_e4m3fn", 8},
    {"float8_e4m3fnuz", "float8e4m3fnuz", "Float8_e4m3fnuz", 8},
    {"float8_e5m2", "float8e5m2", "Float8_e5m2", 8},
    {"float8_e5m2fnuz", "float8e5m2fnuz", "Float8_e5m2fnuz", 8},
    {"uint4", "uint4", "UInt4", 4},
    {"int4", "int4", "Int4", 4},
    {"float4_e2m1fn", "float4e2m1", "Float4_e2m1fn", 4},
    {"float8_e8m0fnu", "float8e8m0", "Float8_e8m0fnu", 8},
    {"uint2", "uint2", "UInt2", 2},
    {"int2", "int2", "Int2", 2},
    {"float6_e2m3", "float6e2m3", "Float6_e2m3", 6},
    {"float6_e3m2", "float6e3m2", "Float6_e3m2", 6},
    {"complex32", "complex32", "ComplexHalf", 32},
};

constexpr dtype_facts const& facts(dtype t) {
    return dtype_table[static_cast<std::size_t>(t) < dtype_count ? static_cast<std::size_t>(t) : 0];
}

} // namespace detail

/// PyTorch's name: "float32", "bool".
constexpr std::string_view name(dtype t) { return detail::facts(t).torch; }
/// ONNX's name, as inside `tensor(...)`: "float", "double".
constexpr std::string_view onnx_name(dtype t) { return detail::facts(t).onnx; }
/// The name that a printed graph uses: "Float", "Long".
constexpr std::string_view printed_name(dtype t) { return detail::facts(t).printed; }
/// Bits of one element; 0 for strings and undefined. Elements below 8 bits are packed.
constexpr std::size_t bits(dtype t) { return detail::facts(t).bits; }

/// The dtype with this PyTorch name ("float32"), or undefined.
constexpr dtype dtype_from_name(std::string_view text) {
    for (std::size_t i = 1; i != dtype_count; ++i)
        if (detail::dtype_table[i].torch == text) return static_cast<dtype>(i);
    return dtype::undefined;
}

/// The dtype with this number in ONNX's files and attributes; undefined if there is none.
constexpr dtype dtype_from_onnx(std::int64_t number) {
    return 0 < number && number < static_cast<std::int64_t>(onnx_dtype_count) ? static_cast<dtype>(number)
                                                                              : dtype::undefined;
}

/// Whether the dtype is complex32, complex64 or complex128.
constexpr bool is_complex(dtype t) { return t == dtype::complex32 || t == dtype::complex64 || t == dtype::complex128; }
/// The dtype of the real and imaginary parts: float32 of complex64. A real dtype is its own.
constexpr dtype part_type(dtype t) {
    return t == dtype::complex64    ? dtype::float32
           : t == dtype::complex128 ? dtype::float64
           : t == dtype::complex32  ? dtype::float16
                                    : t;
}
/// The complex dtype that a real tensor is promoted to beside complex numbers: complex128 of float64, complex32 of float16, else complex64.
constexpr dtype to_complex(dtype t) {
    return is_complex(t)         ? t
           : t == dtype::float64 ? dtype::complex128
           : t == dtype::float16 ? dtype::complex32
                                 : dtype::complex64;
}
/// Whether the dtype is an 8-bit float with a sign and a mantissa: float8_e4m3fn, float8_e5m2 and their variants fnuz, but not float8_e8m0.
constexpr bool is_float8(dtype t) { return t >= dtype::float8_e4m3fn && t <= dtype::float8_e5m2fnuz; }
/// Whether the dtype is a real floating-point type of any width; complex dtypes are not.
constexpr bool is_floating(dtype t) {
    return t == dtype::float32 || t == dtype::float64 || t == dtype::float16 || t == dtype::bfloat16 || is_float8(t) ||
           t == dtype::float4_e2m1 || t == dtype::float8_e8m0 || t == dtype::float6_e2m3 || t == dtype::float6_e3m2;
}
/// The largest finite number of float16, bfloat16, float32 or float64, or of the parts of a complex dtype.
constexpr double largest_number(dtype t) {
    switch (t) {
    case dtype::float16:
    case dtype::complex32: return 65504;
    case dtype::bfloat16: return 0x1.fep127;
    case dtype::float64:
    case dtype::complex128: return 0x1.fffffffffffffp1023;
    default: return 0x1.fffffep127;
    }
}
/// Whether the dtype is a signed integer of any width.
constexpr bool is_signed_integral(dtype t) {
    return t == dtype::int8 || t == dtype::int16 || t == dtype::int32 || t == dtype::int64 || t == dtype::int4 ||
           t == dtype::int2;
}
/// Whether the dtype is an unsigned integer of any width; bool is not.
constexpr bool is_unsigned_integral(dtype t) {
    return t == dtype::uint8 || t == dtype::uint16 || t == dtype::uint32 || t == dtype::uint64 || t == dtype::uint4 ||
           t == dtype::uint2;
}
/// Integers of any width, without bool. For ATen's "integral including bool", write `is_integral(t) || t == dtype::bool_`.
constexpr bool is_integral(dtype t) { return is_signed_integral(t) || is_unsigned_integral(t); }

/// A set of ONNX types: bit i of the low half of `plain` is tensor(dtype i), bit i of the high half seq(tensor(dtype i)).
/// `optionals` is the same for optional(...). Bit 31 represents every other type (maps, sparse tensors).
struct type_set {
    std::uint64_t plain = 0;
    std::uint64_t optionals = 0;

    /// The bit of `plain` for maps, sparse tensors and every other type.
    static constexpr std::uint64_t other_bit = std::uint64_t{1} << 31;

    /// Whether the set has no type at all.
    [[nodiscard]] constexpr bool empty() const { return plain == 0 && optionals == 0; }
    /// Whether every type of `s` is in this set.
    [[nodiscard]] constexpr bool contains(type_set s) const {
        return (s.plain & ~plain) == 0 && (s.optionals & ~optionals) == 0;
    }
    /// Whether the dense tensor of this dtype is in this set.
    [[nodiscard]] constexpr bool contains(dtype t) const { return (plain >> static_cast<unsigned>(t) & 1U) != 0; }
    /// The types that are in both sets.
    friend constexpr type_set operator&(type_set a, type_set b) {
        return {a.plain & b.plain, a.optionals & b.optionals};
    }
    /// The types that are in either set.
    friend constexpr type_set operator|(type_set a, type_set b) {
        return {a.plain | b.plain, a.optionals | b.optionals};
    }
    friend constexpr bool operator==(type_set const&, type_set const&) = default;
};

/// The set of dense tensors of the given dtypes: `tensors(dtype::float32, dtype::int64)`.
template <class... Dtypes>
constexpr type_set tensors(Dtypes... types) {
    return {(std::uint64_t{0} | ... | (std::uint64_t{1} << static_cast<unsigned>(types))), 0};
}

/// The set of all types.
inline constexpr type_set any_type{~std::uint64_t{0}, ~std::uint64_t{0}};

} // namespace ATON_NAMESPACE
