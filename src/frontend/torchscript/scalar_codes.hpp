// SPDX-License-Identifier: MIT
// The numbers of dtypes in TorchScript's code.
#pragma once

#include <cstdint>

#include <aton/aten/scalar_type.hpp>
#include <aton/core/dtype.hpp>
#include <aton/version.hpp>

namespace ATON_NAMESPACE::torchscript {

/// The inverse of aten::scalar_type(); -1 if the dtype has no number.
constexpr std::int64_t code_of(dtype type) {
    for (std::int64_t code = 0; code != 48; ++code)
        if (aten::scalar_type(code) == type) return code;
    return -1;
}

} // namespace ATON_NAMESPACE::torchscript
