// SPDX-License-Identifier: MIT
// The command where libaton.so is installed with it, as in a wheel: one copy of the code.
#include <aton/c/aton.h>

int main(int argc, char** argv) { return aton_main(argc, argv); }
