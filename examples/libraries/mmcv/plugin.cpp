// SPDX-License-Identifier: MIT
#include <aton/plugin.hpp>

#include "mappings.hpp"

ATON_PLUGIN(mmcv::mappings)
