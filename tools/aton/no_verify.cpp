// SPDX-License-Identifier: MIT
// The library without the runtime.
#include <aton/core/error.hpp>

#include "commands.hpp"

namespace aton::tool {

int run_verify(char** /*argv*/) {
    throw error("verify: this libaton has no runtime; build it with -DATON_BUILD_RUNTIME=ON, or run the command aton");
}

} // namespace aton::tool
