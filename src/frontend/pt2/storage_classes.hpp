// SPDX-License-Identifier: MIT
// The classes of storages in pickles, which name the dtype of the elements.
#pragma once

#include <optional>
#include <string_view>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE::pt2 {

/// The dtype of the elements of a storage, `undefined` for bytes; nullopt for another class.
inline std::optional<dtype> dtype_of_storage(std::string_view module, std::string_view name) {
    struct storage_class {
        std::string_view name;
        dtype type;
    };
    static constexpr storage_class all[] = {{"FloatStorage", dtype::float32},
                                            {"DoubleStorage", dtype::float64},
                                            {"HalfStorage", dtype::float16},
                                            {"BFloat16Storage", dtype::bfloat16},
                                            {"LongStorage", dtype::int64},
                                            {"IntStorage", dtype::int32},
                                            {"ShortStorage", dtype::int16},
                                            {"CharStorage", dtype::int8},
                                            {"ByteStorage", dtype::uint8},
                                            {"BoolStorage", dtype::bool_},
                                            {"ComplexHalfStorage", dtype::complex32},
                                            {"ComplexFloatStorage", dtype::complex64},
                                            {"ComplexDoubleStorage", dtype::complex128},
                                            {"UntypedStorage", dtype::undefined}};
    if (module != "torch" && module != "torch.storage") return {};
    for (storage_class const& each : all)
        if (each.name == name) return each.type;
    return {};
}

/// The same, and for storages of quantized dtypes that of their integers.
inline std::optional<dtype> dtype_of_any_storage(std::string_view module, std::string_view name) {
    if (module != "torch" || !name.starts_with('Q')) return dtype_of_storage(module, name);
    if (name == "QInt8Storage") return dtype::int8;
    if (name == "QUInt8Storage") return dtype::uint8;
    if (name == "QInt32Storage") return dtype::int32;
    return {};
}

} // namespace ATON_NAMESPACE::pt2
