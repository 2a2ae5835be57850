// SPDX-License-Identifier: MIT
// Parses a file of TorchScript's code.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "syntax.hpp"

namespace ATON_NAMESPACE::torchscript {

/// `name` is that of the member, "code/__torch__/a/b.py"; classes get the qualified names "__torch__.a.b.X". Throws aton::error,
/// "archive: name:LINE: ...".
[[nodiscard]] std::unique_ptr<code_file> parse(std::string_view code, std::string name, std::string_view archive);

} // namespace ATON_NAMESPACE::torchscript
