# SPDX-License-Identifier: MIT
# libaton.so: the command as a C library, include/aton/c/aton.h. Nothing but the functions of that header is visible in it.
file(STRINGS "${PROJECT_SOURCE_DIR}/include/aton/c/aton.h" aton_abi_line REGEX "^#define ATON_ABI_VERSION [0-9]+$")
string(REGEX MATCH "[0-9]+$" aton_abi_version "${aton_abi_line}")
set(aton_c_sources c_interface.cpp c_task.cpp kept_console.cpp large_stack.cpp)
if(ATON_BUILD_RUNTIME)
    list(APPEND aton_c_sources linked_verify.cpp without_torch.cpp verify_command.cpp)
else()
    list(APPEND aton_c_sources no_verify.cpp)
endif()
add_library(aton_c SHARED ${aton_c_sources})
add_library(aton::c ALIAS aton_c)
aton_unity(aton_c)
target_include_directories(aton_c PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_include_directories(aton_c INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
target_compile_definitions(aton_c PRIVATE ATON_C_BUILDS_LIBRARY)
target_compile_options(aton_c PRIVATE "$<$<CONFIG:Release,RelWithDebInfo>:-O1>")
target_link_libraries(aton_c PRIVATE aton_options aton_subcommands)
if(ATON_BUILD_RUNTIME)
    target_link_libraries(aton_c PRIVATE aton_verify_line)
endif()
target_link_options(aton_c PRIVATE "LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/c_library.map" LINKER:--gc-sections)
set_target_properties(aton_c PROPERTIES OUTPUT_NAME aton EXPORT_NAME c VERSION "${aton_abi_version}" SOVERSION "${aton_abi_version}"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}" LINK_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/c_library.map")
if(TARGET aton_cuda)
    target_link_libraries(aton_c PRIVATE aton_cuda)
endif()

# The command as a caller of the library, for wheels.
aton_executable(aton_launcher SOURCES c_launcher.cpp LIBRARIES aton_c)
set_target_properties(aton_launcher PROPERTIES OUTPUT_NAME aton-launcher BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib")
