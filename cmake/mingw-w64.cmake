# SPDX-License-Identifier: MIT
# Toolchain of the preset `windows`: MinGW-w64's GCC with POSIX threads, as Debian's g++-mingw-w64-x86-64-posix has it. Libraries come from
# ATON_WINDOWS_DEPENDENCIES, which packaging/windows/ builds; nothing of the machine is searched but programs.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
find_program(ATON_MINGW_CXX NAMES x86_64-w64-mingw32-g++-posix x86_64-w64-mingw32-g++ REQUIRED)
find_program(ATON_MINGW_C NAMES x86_64-w64-mingw32-gcc-posix x86_64-w64-mingw32-gcc REQUIRED)
find_program(ATON_MINGW_RC NAMES x86_64-w64-mingw32-windres REQUIRED)
set(CMAKE_CXX_COMPILER "${ATON_MINGW_CXX}")
set(CMAKE_C_COMPILER "${ATON_MINGW_C}")
set(CMAKE_RC_COMPILER "${ATON_MINGW_RC}")

get_filename_component(aton_checkout "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(ATON_WINDOWS_DEPENDENCIES "${aton_checkout}/build/windows-dependencies/installed" CACHE PATH "What packaging/windows/ installs")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ATON_WINDOWS_DEPENDENCIES)
set(CMAKE_FIND_ROOT_PATH "${ATON_WINDOWS_DEPENDENCIES}" /usr/x86_64-w64-mingw32)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# Programs and plugins need no DLL but those of Windows: GCC's libraries are part of them.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)
# Tables of one translation unit may have more sections than COFF's first format counts.
set(CMAKE_CXX_FLAGS_INIT -Wa,-mbig-obj)
