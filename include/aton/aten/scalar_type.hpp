// SPDX-License-Identifier: MIT
// The dtype that the default of a ScalarType argument denotes: torch's number for it, or one of the names that torch reads.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE::aten {

namespace detail {

struct scalar_type_facts {
    std::string_view name; // torch.int64
    dtype type;            // undefined: no dtype of ONNX
};

/// By the numbers of c10/core/ScalarType.h.
inline constexpr scalar_type_facts scalar_types[] = {{"uint8", dtype::uint8},
                                                     {"int8", dtype::int8},
                                                     {"int16", dtype::int16},
                                                     {"int32", dtype::int32},
                                                     {"int64", dtype::int64},
                                                     {"float16", dtype::float16},
                                                     {"float32", dtype::float32},
                                                     {"float64", dtype::float64},
                                                     {"complex32", dtype::complex32},
                                                     {"complex64", dtype::complex64},
                                                     {"complex128", dtype::complex128},
                                                     {"bool", dtype::bool_},
                                                     {"qint8", dtype::undefined},
                                                     {"quint8", dtype::undefined},
                                                     {"qint32", dtype::undefined},
                                                     {"bfloat16", dtype::bfloat16},
                                                     {"quint4x2", dtype::undefined},
                                                     {"quint2x4", dtype::undefined},
                                                     {"bits1x8", dtype::undefined},
                                                     {"bits2x4", dtype::undefined},
                                                     {"bits4x2", dtype::undefined},
                                                     {"bits8", dtype::undefined},
                                                     {"bits16", dtype::undefined},
                                                     {"float8_e5m2", dtype::float8_e5m2},
                                                     {"float8_e4m3fn", dtype::float8_e4m3fn},
                                                     {"float8_e5m2fnuz", dtype::float8_e5m2fnuz},
                                                     {"float8_e4m3fnuz", dtype::float8_e4m3fnuz},
                                                     {"uint16", dtype::uint16},
                                                     {"uint32", dtype::uint32},
                                                     {"uint64", dtype::uint64},
                                                     {"uint1", dtype::undefined},
                                                     {"uint2", dtype::undefined},
                                                     {"uint3", dtype::undefined},
                                                     {"uint4", dtype::undefined},
                                                     {"uint5", dtype::undefined},
                                                     {"uint6", dtype::undefined},
                                                     {"uint7", dtype::undefined},
                                                     {"int1", dtype::undefined},
                                                     {"int2", dtype::undefined},
                                                     {"int3", dtype::undefined},
                                                     {"int4", dtype::undefined},
                                                     {"int5", dtype::undefined},
                                                     {"int6", dtype::undefined},
                                                     {"int7", dtype::undefined},
                                                     {"float8_e8m0fnu", dtype::float8_e8m0},
                                                     {"float4_e2m1fn_x2", dtype::undefined}};

constexpr scalar_type_facts const* scalar_type_of(std::int64_t number) {
    constexpr auto count = static_cast<std::int64_t>(sizeof(scalar_types) / sizeof(*scalar_types));
    return number >= 0 && number < count ? &scalar_types[number] : nullptr;
}

} // namespace detail

/// The dtype with this number in c10/core/ScalarType.h (4 is int64); undefined for types that ONNX does not have.
constexpr dtype scalar_type(std::int64_t number) {
    detail::scalar_type_facts const* const found = detail::scalar_type_of(number);
    return found == nullptr ? dtype::undefined : found->type;
}

/// What torch calls the dtype with this number: 13 is quint8. Empty if there is none.
constexpr std::string_view scalar_type_name(std::int64_t number) {
    detail::scalar_type_facts const* const found = detail::scalar_type_of(number);
    return found == nullptr ? std::string_view() : found->name;
}

/// The dtype with this name in a schema; `long` and `int64` are the same.
constexpr dtype scalar_type(std::string_view name) {
    struct legacy_name {
        std::string_view name;
        dtype type;
    };
    constexpr legacy_name all[] = {{"half", dtype::float16},
                                   {"float", dtype::float32},
                                   {"double", dtype::float64},
                                   {"short", dtype::int16},
                                   {"int", dtype::int32},
                                   {"long", dtype::int64},
                                   {"chalf", dtype::complex32},
                                   {"complex", dtype::complex64},
                                   {"cfloat", dtype::complex64},
                                   {"cdouble", dtype::complex128}};
    for (legacy_name const& each : all)
        if (each.name == name) return each.type;
    return dtype_from_name(name);
}

} // namespace ATON_NAMESPACE::aten
