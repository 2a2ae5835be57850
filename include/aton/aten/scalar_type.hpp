// SPDX-License-Identifier: MIT
// The dtype that the default of a ScalarType argument denotes: torch's number for it, or one of the names that torch reads.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE::aten {

/// The dtype with this number in c10/core/ScalarType.h (4 is int64); undefined for types that ONNX does not have.
constexpr dtype scalar_type(std::int64_t number) {
    constexpr dtype none = dtype::undefined;
    constexpr dtype all[] = {dtype::uint8,
                             dtype::int8,
                             dtype::int16,
                             dtype::int32,
                             dtype::int64,
                             dtype::float16,
                             dtype::float32,
                             dtype::float64,
                             dtype::complex32,
                             dtype::complex64,
                             dtype::complex128,
                             dtype::bool_,
                             none,
                             none,
                             none,
                             dtype::bfloat16,
                             none,
                             none,
                             none,
                             none,
                             none,
                             none,
                             none,
                             dtype::float8_e5m2,
                             dtype::float8_e4m3fn,
                             dtype::float8_e5m2fnuz,
                             dtype::float8_e4m3fnuz,
                             dtype::uint16,
                             dtype::uint32,
                             dtype::uint64};
    return number >= 0 && number < static_cast<std::int64_t>(sizeof(all) / sizeof(*all)) ? all[number] : none;
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
