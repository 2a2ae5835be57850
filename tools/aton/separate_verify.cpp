// SPDX-License-Identifier: MIT
// aton without the runtime: aton-verify, in the same folder, compares.
#include "commands.hpp"

namespace aton::tool {

int run_verify(char** argv) { exec_sibling("aton-verify", argv); }

} // namespace aton::tool
