# SPDX-License-Identifier: MIT
# Toolchain of the preset `clang`: ATON_CLANG if set (-DATON_CLANG=clang++-16), otherwise the newest one found.
if(NOT ATON_CLANG)
    find_program(ATON_CLANG NAMES clang++-19 clang++-18 clang++-17 clang++-16 clang++ REQUIRED)
endif()
set(CMAKE_CXX_COMPILER "${ATON_CLANG}")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ATON_CLANG)
