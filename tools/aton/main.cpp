// SPDX-License-Identifier: MIT
#include "commands.hpp"

int main(int argc, char** argv) { return aton::tool::guarded(aton::tool::run_command, argc, argv); }
