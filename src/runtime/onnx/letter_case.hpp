// SPDX-License-Identifier: MIT
// Upper and lower case of UTF-8.
#pragma once

#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

/// Converts letters of the Latin, Greek, Cyrillic and Armenian alphabets, each to one letter; everything else stays,
/// including bytes that are not UTF-8.
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string upper_case(std::string_view text);

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
