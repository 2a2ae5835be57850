// SPDX-License-Identifier: MIT
// aton with the runtime, as in a wheel (ATON_LINK_VERIFY).
#include "commands.hpp"
#include "verify_command.hpp"

namespace aton::tool {

int run_verify(char** argv) {
    int argc = 0;
    while (argv[argc] != nullptr) ++argc;
    return verify_main(argc, argv);
}

} // namespace aton::tool
