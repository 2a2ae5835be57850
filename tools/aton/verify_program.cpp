// SPDX-License-Identifier: MIT
// aton-verify, which aton executes, so that it does not link the runtime.
#include "commands.hpp"
#include "verify_command.hpp"

int main(int argc, char** argv) { return aton::tool::guarded(aton::tool::verify_main, argc, argv); }
