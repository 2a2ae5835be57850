// SPDX-License-Identifier: MIT
// Upper and lower case of UTF-8.
#pragma once

#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

/// Letters of the Latin, Greek, Cyrillic and Armenian alphabets, each as one other letter; all else, bytes that are no UTF-8 too, stays.
[[nodiscard]] std::string lower_case(std::string_view text);
[[nodiscard]] std::string upper_case(std::string_view text);

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
