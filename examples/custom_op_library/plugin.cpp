// SPDX-License-Identifier: MIT
// The mappings as a plugin: `aton export --plugin libcustom_ops_onnx.so model.pt2`.
#include <aton/plugin.hpp>

#include "mappings.hpp"

ATON_PLUGIN(custom_ops::mappings)
