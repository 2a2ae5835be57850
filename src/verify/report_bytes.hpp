// SPDX-License-Identifier: MIT
// Calls and reports as bytes, to pass them from one process to another of the same program.
#pragma once

#include <string>
#include <string_view>

#include <aton/verify/check.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

[[nodiscard]] std::string to_bytes(sample s);
[[nodiscard]] std::string to_bytes(row_report r);

/// Throw aton::error if the bytes end too early.
[[nodiscard]] sample sample_of(std::string_view bytes);
[[nodiscard]] row_report report_of(std::string_view bytes);

} // namespace ATON_NAMESPACE::verify
