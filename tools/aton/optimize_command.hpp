// SPDX-License-Identifier: MIT
// aton optimize: ONNX files of any producer.
#pragma once

#include "options.hpp"

namespace aton::tool {

[[nodiscard]] command add_optimize(CLI::App& app);

} // namespace aton::tool
